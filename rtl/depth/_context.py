# SPDX-License-Identifier: BSD-2-Clause
"""What HiZ knows of tiles, read and put back."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._ranges import range_layout
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import Credit, DelayLine, Queue, delay
from fixfunc.spec import payloads
from fixfunc.spec.state import Bound

PLACES = 64  # of the answers' queue: more than requests under way at one a clock


class Contexts(wiring.Component):
    """Requests, beside the tiles that stand for them in the pipeline.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    clocks : int
        From the clock in which a request enters to the one in which its range of stencil values is written.

    Members
    -------
    i, o : In, Out(stream.Signature(layout(payloads.context(edge))))
        Requests; their answers, each ready to put back what it tells.
    open, enters : In, Out(1)
        A tile may enter the pipeline; a request's does.
    early, late : Out(layout(payloads.context(edge)))
        The request, when its range of stencil values is written, and two clocks later, when that of depths is.
    asked, known : In(1)
        Two clocks after that: it has reached its end, and the tile's ranges are known.
    bound : In(Bound)
        Three clocks before: a request may have brought it back.
    holds : In(1)
        Depths are known too.
    depth, stencil : In(range)
        What they are from now on: in that clock, and two clocks before.
    """

    def __init__(self, edge, clocks):
        self._clocks, self._request = clocks, layout(payloads.context(edge))
        both = stream.Signature(self._request)
        super().__init__({
            "i": In(both), "o": Out(both), "open": In(1), "enters": Out(1), "early": Out(self._request), "late": Out(self._request),
            "asked": In(1), "known": In(1), "bound": In(Bound), "holds": In(1),
            "depth": In(range_layout(payloads.HIZ_BITS)), "stencil": In(range_layout(8)),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.credit, m.submodules.line = credit, line = Credit(PLACES), DelayLine(self._request.size, self._clocks)
        m.submodules.queue = queue = Queue(self._request, PLACES)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        m.d.comb += [self.i.ready.eq(self.open & credit.any), self.enters.eq(self.i.valid & self.i.ready), credit.take.eq(self.enters),
                     credit.free.eq(self.o.valid & self.o.ready), line.i.eq(self.i.payload), self.early.eq(line.o)]
        late, answer = self._request(delay(m, line.o, 2, "late")), Signal(self._request)
        m.d.comb += self.late.eq(late)

        # What is not known could be anything.
        for prefix, pair, known in (("", self.depth, self.known & self.holds), ("stencil_", delay(m, self.stencil, 2, "stencil"), self.known)):
            m.d.sync += [answer[f"{prefix}low"].eq(Mux(known, pair.low, 0)), answer[f"{prefix}high"].eq(Mux(known, pair.high, -1))]
        place = delay(m, late, 2, "place")
        m.d.sync += [answer.x.eq(place.x), answer.y.eq(place.y), answer.restore.eq(1), queue.valid.eq(self.asked),
                     answer.bound.eq(delay(m, self.bound, 3, "bound"))]
        m.d.comb += queue.i.eq(answer)
        return m
