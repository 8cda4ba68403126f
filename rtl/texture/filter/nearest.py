# SPDX-License-Identifier: BSD-2-Clause
"""A quotient by the unit of a format, and the nearest float32."""

from amaranth.hdl import Cat, Const, Module, Mux
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, named
from fixfunc.rtl.lib.delay import delay, register
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.texture.filter.channel_sum import FRACTION, Widths
from fixfunc.spec.textures.filter import Unit

GUARD = 4  # bits below the quotient
ABOVE = 5  # units of the guard bits: more than all that is cut below
PERIODS = {  # bits of a unit
    Unit.UNORM16: 16,
    Unit.UNORM12: 12,
    Unit.UNORM10: 10,
    Unit.SNORM15: 15,
    Unit.SNORM14: 14,
}


def parts(widths: Widths) -> StructLayout:
    """What becomes a float32."""
    return StructLayout(
        {
            "quotient": widths.quotient,
            "inexact": 1,
            "negative": 1,
            "zeros": 6,
            "halvings": 3,
            "unit": 3,
        }
    )


class Nearest(wiring.Component):
    """The float32 nearest to a number by 2^p - 1, ties to even; free-running.

    1 / (2^p - 1) is 2^-p (1 + 2^-p) (1 + 2^-2p) (1 + 2^-4p) and so on. Three sums give the quotient
    to within five units, which are added at the start: so it lies above the exact one, but by less
    than eight. An exact quotient that is no multiple of 2^20 lies 2^20 / (2^16 - 1) units away from
    all of them, so that all bits are right from there on, and bits 3 to 19 tell whether it is one.
    Of one sample, which has no bits below its sum, this is so of 2^19, and bits 3 to 18.

    Parameters
    ----------
    widths : Widths
        Of the quotient.
    units : tuple of Unit
        Those that there are.

    Members
    -------
    i : In(parts(widths))
        The quotient has at most six zeros above its highest bit, of one sample none; or is zero.
    o : Out(32)
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 5

    def __init__(self, widths: Widths, units: tuple[Unit, ...]) -> None:
        self._units = units
        self._width = widths.quotient + GUARD + 1
        # Bits that only tell whether something is left, and doublings that bring the highest to the
        # top; the exponent of a sum without zeros above it, of a unit of no bits.
        self._cut, self._doublings = (20, 3) if widths.several else (19, 1)
        self._exponent = FLOAT32.bias + widths.magnitude - 3 * FRACTION
        super().__init__({"i": In(parts(widths)), "o": Out(32)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        value = Cat(Const(ABOVE, GUARD), self.i.quotient)
        unit = self.i.unit
        for step in range(3):
            moved = self._by_unit(unit, lambda p, v=value, k=step: v >> (p << k))
            value = register(m, value + moved, self._width, f"sum_{step}")
            unit = delay(m, unit, 1, f"unit_{step}")
        period = self._by_unit(self.i.unit, lambda p: Const(p, 5))
        exponent = register(m, self._exponent - period - self.i.zeros, 9, "exponent")
        lower = register(m, exponent - delay(m, self.i.halvings, 1, "halvings"), 8, "lower")
        exponent = delay(m, lower, 1, "held_exponent")
        inexact = delay(m, self.i.inexact, 3, "inexact")
        negative = delay(m, self.i.negative, 4, "negative")
        nothing = delay(m, register(m, ~self.i.quotient.any(), 1, "nothing"), 3, "nothing")
        self._round(m, value, exponent, inexact, negative, nothing)
        return m

    def _by_unit(self, unit, function):
        """What a function of a unit's bits gives."""
        known = [PERIODS.get(n) if n in self._units else None for n in Unit]
        return choose(unit, [function(p) if p else None for p in known])

    def _round(self, m, value, exponent, inexact, negative, nothing):
        """The highest bit on top, then the nearest; two clocks."""
        head = self._width - self._cut
        shifted = value[self._cut :]
        zeros = []
        for k in reversed(range(self._doublings)):
            empty = named(m, ~shifted[head - (1 << k) :].any(), f"empty_{k}")
            shifted = named(m, Mux(empty, shifted << (1 << k), shifted)[:head], f"by_{k}")
            zeros.append(empty)
        discarded = value[ABOVE.bit_length() : self._cut].any() | inexact
        kept = register(m, shifted, head, "kept")
        sticky = register(m, discarded, 1, "sticky")
        normal = register(m, exponent - Cat(reversed(zeros)), 8, "normal")
        least = head - FLOAT32.mantissa
        mantissa = kept[least:]
        half = kept[least - 1]
        below = kept[: least - 1].any() | sticky
        nearest = named(m, mantissa + (half & (below | mantissa[0])), "nearest")
        carry = nearest[FLOAT32.mantissa]
        bits = Cat(nearest[: FLOAT32.fraction], (normal + carry)[:8], negative)
        m.d.sync += self.o.eq(Mux(nothing, 0, bits))
