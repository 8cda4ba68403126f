# SPDX-License-Identifier: BSD-2-Clause
"""The choice of one bound."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._rule import signs
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Bound


class OneBound(wiring.Component):
    """Which bound is kept: that of the first draw that can use one; none, once draws write both ways.

    Parameters
    ----------
    bits : int
        Of a stored bound.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
    looks : In(1)
        A tile of it is looked up.
    whole, part, value : In
        All of the target is cleared, or a rectangle, which chooses by its value if no draw has.
    restores, restored : In
        A bound that had been chosen comes back, if none has been since.
    bound : Out(Bound)
        A clock later.
    """

    def __init__(self, bits):
        super().__init__({
            "state": In(layout(payloads.DRAW_STATE)), "looks": In(1), "whole": In(1), "part": In(1), "value": In(bits),
            "restores": In(1), "restored": In(Bound), "bound": Out(Bound),
        })

    def elaborate(self, platform):
        m = Module()
        state = self.state
        lets, writes = signs(state.depth_compare) & state.depth_test.replicate(3), state.depth_write
        less, greater = lets[0], lets[2]
        wanted, opposes = Signal(Bound), Signal()
        m.d.comb += opposes.eq(writes & Mux(self.bound == Bound.MIN, less & ~greater, greater & ~less))
        with m.If(less & (~greater | writes)):
            m.d.comb += wanted.eq(Bound.MAX)
        with m.Elif(greater & ~less):
            m.d.comb += wanted.eq(Bound.MIN)

        with m.If(self.whole):
            m.d.sync += self.bound.eq(Bound.OPEN)
        with m.Elif(self.bound == Bound.OPEN):
            with m.If(self.restores):
                m.d.sync += self.bound.eq(self.restored)
            with m.Elif(self.looks):
                m.d.sync += self.bound.eq(wanted)
            with m.Elif(self.part):
                m.d.sync += self.bound.eq(Mux(self.value[-1], Bound.MAX, Bound.MIN))
        with m.Elif(self.looks & opposes):
            m.d.sync += self.bound.eq(Bound.NONE)
        return m
