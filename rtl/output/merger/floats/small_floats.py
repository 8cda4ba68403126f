# SPDX-License-Identifier: BSD-2-Clause
"""Floats of 16, 11 and 10 bits as float32, and float32 as one of them.

All have five bits of exponent; those of 16 bits alone have a sign.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import leading_zeros, named, pick
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.control import FLOAT_WIDTHS

FRACTIONS = {16: 10, 11: 6, 10: 5}  # bits
EXPONENT = 5  # bits
INFINITE = (1 << EXPONENT) - 1
SMALL_BIAS = 15
WIDEST = FRACTIONS[16]


def widened(m: Module, word: Value, width: Value, name: str) -> Value:
    """A float of one of :data:`FLOAT_WIDTHS`, which one bit of ``width`` says, as float32.

    NaN keeps its bits.
    """
    exponent = named(
        m,
        pick(width[1:], [word[f : f + EXPONENT] for f in FRACTIONS.values()]),
        f"{name}_exponent",
    )
    fraction = named(
        m,
        pick(width[1:], [word[:f] << WIDEST - f for f in FRACTIONS.values()])[:WIDEST],
        f"{name}_fraction",
    )
    sign = width[1] & word[15]
    zeros = named(m, leading_zeros(fraction), f"{name}_zeros")
    shifted = named(m, (fraction << zeros)[: WIDEST - 1], f"{name}_shifted")
    pad = Const(0, FLOAT32.mantissa - 1 - WIDEST)
    least = FLOAT32.bias - SMALL_BIAS
    normal = Cat(pad, fraction, (exponent + least)[:8], sign)
    # Without the highest bit set.
    denormal = Cat(pad, Const(0, 1), shifted, (Const(least, 8) - zeros)[:8], sign)
    special = Cat(pad, fraction, Const(255, 8), sign)
    small = Mux(
        exponent == 0,
        Mux(fraction == 0, Cat(Const(0, 31), sign), denormal),
        Mux(exponent == INFINITE, special, normal),
    )
    return Mux(width[0], word, small)


class Narrow(wiring.Component):
    """float32 in one of :data:`FLOAT_WIDTHS`: towards zero; free-running.

    What is too great is the greatest finite value, and infinity alone is infinity [fs 3.2.2]. Of 32
    bits all bits pass. Without a sign what is below zero is zero. NaN is the canonical one, but of
    what stays, which :func:`widened` has made.

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
            same = Cat(value[cut : FLOAT32.mantissa - 1], Const(INFINITE, EXPONENT), negative)[
                :width
            ]
            nan = Mux(self.stays, same, infinite | 1 << fraction - 1)
            options.append(Mux(t[1].nan, nan, number))
        m.d.sync += self.o.eq(pick(self.width, [value, *options]))
        return m
