# SPDX-License-Identifier: BSD-2-Clause
"""Context switch: bounds of tiles, saved and restored."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.pending_clears import bounds_layout
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Bound

ANSWERS = 64  # places: more than requests in flight at one a clock


class ContextBounds(wiring.Signature):
    """Requests beside the bounds of their tiles.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.

    Members
    -------
    stencil_request : Out(layout(payloads.context(edge)))
        The request, when the stencil bounds of its tile are written.
    depth_request : Out(layout(payloads.context(edge)))
        The same request two clocks later, when the depth bounds are written.
    bound : In(Bound)
        Which bound is stored, one clock before ``depth_request``: a request may have restored it.
    depth_known : In(1)
        Bounds of depths are known.
    depth : In(bounds_layout(payloads.HIZ_BITS))
        The updated depth bounds, two clocks after ``depth_request``.
    stencil : In(bounds_layout(8))
        The updated stencil bounds, two clocks after ``stencil_request``.
    """

    def __init__(self, edge: int) -> None:
        request = layout(payloads.context(edge))
        super().__init__(
            {
                "stencil_request": Out(request),
                "depth_request": Out(request),
                "bound": In(Bound),
                "depth_known": In(1),
                "depth": In(bounds_layout(payloads.HIZ_BITS)),
                "stencil": In(bounds_layout(8)),
            }
        )


class ContextSwitch(wiring.Component):
    """Save and restore bounds of tiles: requests, beside the tiles that stand for them.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    clocks : int
        Clocks from a request that enters to its stencil bounds, which are written.

    Members
    -------
    i : In(stream.Signature(layout(payloads.context(edge))))
        Requests.
    o : Out(stream.Signature(layout(payloads.context(edge))))
        An answer for each, in order: the bounds, as the request that restores them.
    open : In(1)
        A tile may enter the pipeline.
    accept : Out(1)
        The tile of a request enters.
    bounds : Out(ContextBounds(edge))
        Requests beside the bounds of their tiles.
    complete : In(1)
        A request is at its end, four clocks after its ``stencil_request``.
    entry_known : In(1)
        The bounds of its tile are known; in the same clock.
    """

    def __init__(self, edge, clocks):
        self._clocks = clocks
        self._request = layout(payloads.context(edge))
        both = stream.Signature(self._request)
        super().__init__(
            {
                "i": In(both),
                "o": Out(both),
                "open": In(1),
                "accept": Out(1),
                "bounds": Out(ContextBounds(edge)),
                "complete": In(1),
                "entry_known": In(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.line = line = DelayLine(self._request.size, self._clocks)
        m.submodules.answers = answers = CreditedFIFO(self._request, ANSWERS)
        wiring.connect(m, answers.o, wiring.flipped(self.o))
        m.d.comb += [
            self.i.ready.eq(self.open & answers.available),
            self.accept.eq(self.i.valid & self.i.ready),
            answers.consume.eq(self.accept),
            line.i.eq(self.i.payload),
            self.bounds.stencil_request.eq(line.o),
        ]
        # Clocks are counted from the stencil request.
        t = Timeline(m)
        t.enter(0, request=self._request(line.o))
        t.enter(1, bound=self.bounds.bound)
        t.enter(2, stencil=self.bounds.stencil)
        end = t[4]
        answer = Signal(self._request)
        m.d.comb += self.bounds.depth_request.eq(t[2].request)

        # Unknown bounds are the widest.
        for prefix, pair, known in (
            ("", self.bounds.depth, self.entry_known & self.bounds.depth_known),
            ("stencil_", end.stencil, self.entry_known),
        ):
            m.d.sync += [
                answer[f"{prefix}low"].eq(Mux(known, pair.low, 0)),
                answer[f"{prefix}high"].eq(Mux(known, pair.high, -1)),
            ]
        m.d.sync += [
            answer.x.eq(end.request.x),
            answer.y.eq(end.request.y),
            answer.restore.eq(1),
            answers.push.eq(self.complete),
            answer.bound.eq(end.bound),
        ]
        m.d.comb += answers.i.eq(answer)
        return m
