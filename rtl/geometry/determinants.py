# SPDX-License-Identifier: BSD-2-Clause
"""Determinants of two by two."""

from amaranth.hdl import Module, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.shared_multiplier import SharedMultiplier


class Determinants(wiring.Component):
    """``p[0] * q[1] - p[1] * q[0]`` of several pairs of rows, a set every ``interval`` clocks.

    Parameters
    ----------
    count : int
        Pairs of rows in a set.
    p_bits, q_bits, out_bits : int
        Widths of the rows and of a determinant.
    interval : int
        Clocks from one set of rows to the next.

    Members
    -------
    start : In(1)
        First clock of a set of rows, which holds for ``interval`` clocks.
    p, q : In(ArrayLayout(ArrayLayout(signed(...), 2), count))
    o, negated : Out(ArrayLayout(signed(out_bits), count))
        The determinants, and their negations, :attr:`latency` clocks after ``start``. A choice
        between the two is shorter than a negation.
    """

    def __init__(self, count, p_bits, q_bits, out_bits, interval):
        self._products = SharedMultiplier(2 * count, p_bits, q_bits, interval=interval)
        super().__init__(
            {
                "start": In(1),
                "p": In(ArrayLayout(ArrayLayout(signed(p_bits), 2), count)),
                "q": In(ArrayLayout(ArrayLayout(signed(q_bits), 2), count)),
                "o": Out(ArrayLayout(signed(out_bits), count)),
                "negated": Out(ArrayLayout(signed(out_bits), count)),
            }
        )

    @property
    def latency(self):
        """Clocks from rows to determinants: the products, their difference."""
        return self._products.latency + 1

    def elaborate(self, platform):
        m = Module()
        m.submodules.products = products = self._products
        m.d.comb += products.start.eq(self.start)
        for k in range(len(self.o)):
            for n in range(2):
                m.d.comb += [
                    products.a[2 * k + n].eq(self.p[k][n]),
                    products.b[2 * k + n].eq(self.q[k][1 - n]),
                ]
            first = products.o[2 * k]
            second = products.o[2 * k + 1]
            m.d.sync += [
                self.o[k].eq(first - second),
                self.negated[k].eq(second - first),
            ]
        return m
