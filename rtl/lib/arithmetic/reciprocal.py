# SPDX-License-Identifier: BSD-2-Clause
"""Reciprocals of normalised integers, exact."""

from amaranth.hdl import Const, Module, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, named
from fixfunc.rtl.lib.timeline import Steps
from fixfunc.spec.errors import InputError


class Reciprocal(wiring.Component):
    """The floor of 2^power / divisor, for divisors whose highest bit is set; one a clock.

    A table gives the first bits, and two steps of Newton's method four times as many. No step goes
    beyond the exact value, since every product is cut towards it from below; so the quotient is
    the floor or one less, which its remainder tells. Free-running.

    Parameters
    ----------
    bits : int
        Of the divisor, 3 or more.
    power : int
        Above ``bits``, and at most ``bits`` + 27 and twice ``bits`` + 3.
    latency : int
        1 to :attr:`STEPS` clocks.

    Members
    -------
    divisor : In(bits)
        Its highest bit is taken as set.
    o : Out(power - bits + 2)
        ``latency`` clocks later.
    """

    STEPS = 8

    def __init__(self, bits: int, power: int, latency: int = STEPS) -> None:
        if bits < 3:
            raise InputError("bits", "be 3 or more", bits)
        most = bits + min(27, bits + 3)
        if not bits < power <= most:
            raise InputError("power", f"be {bits + 1} to {most}", power)
        self._bits = bits
        self._power = power
        self.latency = latency
        super().__init__({"divisor": In(bits), "o": Out(power - bits + 2)})

    @property
    def _quotient(self):
        """Bits of a quotient behind the point, of a divisor from 1 to 2."""
        return self._power - self._bits + 1

    @property
    def _index(self):
        """Bits that the table is asked with: a fourth of those that its entry leads to."""
        return min(max(2, -(-(self._quotient + 1) // 4)), self._bits - 1)

    def table(self) -> list[int]:
        """Reciprocals of the middles of ranges, with two bits more than the index has."""
        index = self._index
        twice = 1 << index + 1  # halves of a range
        return [(2 * twice << index + 2) // (twice + 2 * n + 1) + 1 >> 1 for n in range(1 << index)]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Steps(m, self.STEPS, self.latency)
        index = self._index
        table = index + 2
        first = 2 * index + 3
        second = max(self._quotient + 4, first)
        start = self.divisor[self._bits - 1 - index : self._bits - 1]
        t.put(
            0,
            divisor=self.divisor,
            x=choose(start, [Const(entry, table + 1) for entry in self.table()]),
        )
        # How far the product of divisor and guess lies from 1: little, so that high bits are known.
        self._error(t, 1, "x", table, first, index - 1)
        x = (t[2].x << first - table) + (t[2].x * t[2].x_error >> table)
        t.put(2, y=x[: first + 1])
        self._error(t, 3, "y", first, second, 2 * index - 3)
        t.put(4, correction=t[4].y * t[4].y_error >> first)
        y = (t[5].y << second - first) + t[5].correction
        t.put(5, quotient=named(m, y, "last")[second - self._quotient : second + 1])
        product = (t[6].quotient * t[6].divisor)[: self._bits + 1]
        t.put(6, product=product, most=t[6].divisor - 1)
        # The remainder is 2^power less the product, of which the lowest bits tell; it is never 0,
        # since no guess reaches the exact value. Complemented it is one less, without a carry.
        now = t[7]
        rest = named(m, ~now.product, "rest")
        t.put(7, o=(now.quotient + (rest >= now.most))[: len(self.o)])
        m.d.comb += self.o.eq(t[8].o)
        return m

    def _error(self, t: Steps, step: int, name: str, fraction: int, kept: int, small: int) -> None:
        """1 less divisor times guess, in a step: signed, ``kept`` bits behind the point.

        It is less than 2^-small, so that bits above that need not be found. A complement is less by
        the least bit, and takes no carry.
        """
        guess: Value = getattr(t[step], name)
        exact = self._bits - 1 + fraction  # bits behind the point
        product = guess * t[step].divisor
        width = max(exact - small + 1, 2)
        error = (~product)[:width].as_signed()
        shifted = error >> exact - kept if exact > kept else error << kept - exact
        t.put(step, **{f"{name}_error": shifted})
