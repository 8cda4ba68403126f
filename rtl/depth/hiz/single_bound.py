# SPDX-License-Identifier: BSD-2-Clause
"""Single bound: which bound of depths is kept, where there is memory for one alone."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.test.rule import signs
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Bound


class SingleBound(wiring.Component):
    """Which bound is kept: that of the first draw that can use one; none, once draws write both
    ways.

    Parameters
    ----------
    bits : int
        Of a stored bound.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
    tests : In(1)
        A tile of it is looked up.
    new_epoch : In(1)
        All of the target is cleared.
    clear, value : In
        A rectangle is cleared: it chooses by its value if no draw has chosen.
    restores, restored : In
        A bound that had been chosen is restored, if none has been chosen since.
    bound : Out(Bound)
        A clock later.
    """

    def __init__(self, bits):
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "tests": In(1),
                "new_epoch": In(1),
                "clear": In(1),
                "value": In(bits),
                "restores": In(1),
                "restored": In(Bound),
                "bound": Out(Bound),
            }
        )

    def elaborate(self, platform):
        m = Module()
        state = self.state
        passing = signs(state.depth_compare) & state.depth_test.replicate(3)
        writes = state.depth_write
        less = passing[0]
        greater = passing[2]
        usable = Signal(Bound)
        opposes = Signal()
        m.d.comb += opposes.eq(
            writes & Mux(self.bound == Bound.MIN, less & ~greater, greater & ~less)
        )
        with m.If(less & (~greater | writes)):
            m.d.comb += usable.eq(Bound.MAX)
        with m.Elif(greater & ~less):
            m.d.comb += usable.eq(Bound.MIN)

        with m.If(self.new_epoch):
            m.d.sync += self.bound.eq(Bound.OPEN)
        with m.Elif(self.bound == Bound.OPEN):
            with m.If(self.restores):
                m.d.sync += self.bound.eq(self.restored)
            with m.Elif(self.tests):
                m.d.sync += self.bound.eq(usable)
            with m.Elif(self.clear):
                m.d.sync += self.bound.eq(Mux(self.value[-1], Bound.MAX, Bound.MIN))
        with m.Elif(self.tests & opposes):
            m.d.sync += self.bound.eq(Bound.NONE)
        return m
