# SPDX-License-Identifier: BSD-2-Clause
"""State queue: draw states on their way along a pipeline, between the tiles of a target."""

from amaranth.hdl import Module
from amaranth.lib import fifo, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads

SPACING = 4  # clocks from one draw state to the next, at least


class StateQueue(wiring.Component):
    """Give a draw state back as late as a tile of its clock leaves the pipeline.

    Parameters
    ----------
    latency : int
        Clocks, above 2.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
    enters : In(1)
        ``state`` enters: at most once in :data:`SPACING` clocks.
    leaves : Out(1)
        ``o`` has entered :attr:`latency` clocks before.
    o : Out(layout(payloads.DRAW_STATE))
    """

    def __init__(self, latency: int) -> None:
        self._latency = latency
        state = layout(payloads.DRAW_STATE)
        super().__init__({"state": In(state), "enters": In(1), "leaves": Out(1), "o": Out(state)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.states = states = fifo.SyncFIFOBuffered(
            width=self.o.shape().size, depth=2 + self._latency // SPACING
        )
        m.d.comb += [
            states.w_en.eq(self.enters),
            states.w_data.eq(self.state),
            self.leaves.eq(delay(m, self.enters, self._latency, "leaves")),
            states.r_en.eq(self.leaves),
            self.o.eq(states.r_data),
        ]
        return m
