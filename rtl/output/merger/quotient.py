# SPDX-License-Identifier: BSD-2-Clause
"""Quotients by 2^n - 1."""

from amaranth.hdl import Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import pick
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.formats import FormatSet


class Quotient(wiring.Component):
    """Divide by 2^n - 1, exactly, to the integer below; free-running.

    With h = N >> n and l what remains, N = h (2^n - 1) + (h + l): so the quotient is h, and that of
    h + l, of which the same holds. What remains then is less than two divisors.

    Parameters
    ----------
    formats : FormatSet
    bits : int
        Of the dividend.
    quotient : int
        Bits of the quotient's magnitude.

    Members
    -------
    i : In(signed(bits))
        Its quotient fits.
    unit : In(len(formats.widths))
        Which of ``formats.widths`` is n.
    whole : In(1)
        Do not divide.
    o : Out(signed(quotient + 1))
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 3

    def __init__(self, formats: FormatSet, bits: int, quotient: int) -> None:
        self._formats = formats
        self._bits = quotient
        super().__init__(
            {
                "i": In(signed(bits)),
                "unit": In(len(formats.widths)),
                "whole": In(1),
                "o": Out(signed(quotient + 1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        bits = self._bits
        # Below 0 what is inverted is divided, and inverted again.
        negative = Signal()
        dividend = Signal(len(self.i) - 1)
        m.d.comb += [
            negative.eq(self.i[-1]),
            dividend.eq(self.i[:-1] ^ negative.replicate(len(self.i) - 1)),
        ]
        t = Timeline(m)
        t.enter(0, unit=self.unit, whole=self.whole, negative=negative, dividend=dividend[:bits])
        high = Signal(bits)
        folded = Signal(bits + 1)
        quotient = Signal(bits)
        remainder = Signal(bits)
        above, low = self._parts(dividend, self.unit)
        above_2, low_2 = self._parts(folded, t[1].unit)
        m.d.sync += [
            high.eq(above),
            folded.eq(above + low),
            quotient.eq(Mux(t[1].whole, t[1].dividend, high + above_2)),
            remainder.eq(Mux(t[1].whole, 0, above_2 + low_2)),
        ]
        more, _ = self._parts(remainder + 1, t[2].unit)
        magnitude = Signal(bits)
        m.d.comb += magnitude.eq(quotient + (~t[2].whole & more.any()))
        m.d.sync += self.o.eq(magnitude ^ t[2].negative.replicate(bits + 1))
        return m

    def _parts(self, value, unit):
        """What is above n bits, and those."""
        widths = self._formats.widths
        return (
            pick(unit, [value >> n for n in widths]),
            pick(unit, [value[:n] for n in widths]),
        )
