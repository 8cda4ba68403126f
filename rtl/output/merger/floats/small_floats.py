# SPDX-License-Identifier: BSD-2-Clause
"""float32 as a float of 16, 11 or 10 bits.

All have five bits of exponent; those of 16 bits alone have a sign.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named, pick
from fixfunc.rtl.lib.float32.convert import FRACTIONS, INFINITE, SMALL_BIAS, SMALL_EXPONENT
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.control import FLOAT_WIDTHS


class Narrow(wiring.Component):
    """float32 in one of :data:`FLOAT_WIDTHS`: towards zero; free-running.

    What is too great is the greatest finite value, and infinity alone is infinity [fs 3.2.2]. Of 32
    bits all bits pass. Without a sign what is below zero is zero. NaN is the canonical one, but of
    what stays, which :func:`~fixfunc.rtl.lib.float32.convert.widened` has made.

    Members
    -------
    i : In(32)
    width : In(4)
        Which of :data:`FLOAT_WIDTHS`, one clock after ``i``.
    stays : In(1)
        The channel is not written; one clock after ``i``.
    o : Out(32)
        :attr:`LATENCY` clocks after ``i``.
    """

    LATENCY = 2
    i: In(32)
    width: In(len(FLOAT_WIDTHS))
    stays: In(1)
    o: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        t.enter(0, value=self.i, nan=FLOAT32.is_nan(self.i))
        exponent = self.i[23:31]
        least = FLOAT32.bias - SMALL_BIAS + 1  # of a normal number
        below = named(m, exponent < least, "below")
        distance = named(m, least - exponent, "distance")
        distance = Mux(distance[:8] > FLOAT32.mantissa, FLOAT32.mantissa, distance[:5])
        mantissa = Cat(self.i[: FLOAT32.mantissa - 1], Const(1, 1))
        shifted = Signal(FLOAT32.mantissa)
        high = Signal(8)
        m.d.sync += [
            shifted.eq(Mux(below, mantissa >> distance, mantissa)),
            high.eq(Mux(below, 0, exponent - least)),
        ]
        value = t[1].value
        negative = value[31]
        options = []
        for width, fraction in FRACTIONS.items():
            infinite = INFINITE << fraction
            cut = FLOAT32.mantissa - 1 - fraction
            encoded = named(m, (high << fraction) + shifted[cut:], f"encoded_{width}")
            finite = Mux(encoded >= infinite, infinite - 1, encoded)
            number = Mux(value[23:31] == 255, infinite, finite)
            if width == 16:
                number = Cat(number[: width - 1], negative)
            else:
                number = Mux(negative, 0, number)
            top = Const(INFINITE, SMALL_EXPONENT)
            same = Cat(value[cut : FLOAT32.mantissa - 1], top, negative)[:width]
            nan = Mux(self.stays, same, infinite | 1 << fraction - 1)
            options.append(Mux(t[1].nan, nan, number))
        m.d.sync += self.o.eq(pick(self.width, [value, *options]))
        return m
