# SPDX-License-Identifier: BSD-2-Clause
"""Triangle setup: culls, edge functions, box and depth plane of snapped triangles."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.geometry._bounds import Bounds
from fixfunc.rtl.geometry._edges import Edges
from fixfunc.rtl.geometry._plane import Plane
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.pipeline import Credit, DelayLine, Queue, delay
from fixfunc.spec import payloads
from fixfunc.spec.state import Cull, Kind


@dataclass(frozen=True)
class TriangleSetupParams:
    """Shape of a :class:`TriangleSetup`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    queue : int
        Triangles and control beats that may be under way at once; full rate needs more than the latency.
    """

    edge: int = 8
    queue: int = 128

    def __post_init__(self):
        if self.edge not in (4, 8):
            raise ValueError(f"edge must be 4 or 8, not {self.edge!r}")
        if not 2 <= self.queue <= 1024:
            raise ValueError(f"queue must be 2 to 1024, not {self.queue!r}")


CONFIGS = {"default": TriangleSetupParams(), "tiny": TriangleSetupParams(edge=4, queue=8)}
PURPOSE = {  # of each configuration
    "default": "for tiles of 8x8",
    "tiny": "for benches: tiles of 4x4, a short queue",
}
UNREAD = ("target", *payloads.DEPTH_STATE, *payloads.OUTPUT_STATE)  # of a draw state

EARLY = tuple(f for f in payloads.SETUP if f.name not in ("z", "zx", "zy"))  # those wait for the division
WAITING = UnionLayout({"setup": layout(EARLY), "draw_state": layout(payloads.DRAW_STATE)})


class TriangleSetup(wiring.Component):
    """Set up triangles for the rasterizer.

    One triangle per clock, in order, culled ones left out, :attr:`latency` clocks later. STATE, CLEAR and FENCE
    beats pass through in order; a STATE holds for the triangles behind it. Until the first one nothing is drawn.

    Parameters
    ----------
    params : TriangleSetupParams

    Members
    -------
    i : In(stream.Signature(beat(triangle=..., draw_state=..., clear=..., fence=...)))
        Triangles as :data:`fixfunc.spec.payloads.TRIANGLE`, depths no more than 1.0, and control beats.
    o : Out(stream.Signature(beat(setup=..., draw_state=..., clear=..., fence=...)))
        Those with something to draw, as :data:`fixfunc.spec.payloads.SETUP`, and the control beats.
    """

    def __init__(self, params: TriangleSetupParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__({
            "i": In(stream.Signature(beat(triangle=payloads.TRIANGLE, **payloads.CONTROL))),
            "o": Out(stream.Signature(beat(setup=payloads.SETUP, **payloads.CONTROL))),
        })

    @property
    def latency(self) -> int:
        """Clocks from a triangle at ``i`` to its beat at ``o``: input register, plane, queue."""
        return 1 + Plane.LATENCY + Queue.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.credit = credit = Credit(self._params.queue)
        m.submodules.bounds = bounds = Bounds()
        m.submodules.edges = edges = Edges(self._params)
        m.submodules.plane = plane = Plane()

        # A beat enters only if the queues have a place for it: from here on nothing ever waits.
        now, valid = Signal(self.i.payload.shape()), Signal()
        m.d.comb += [self.i.ready.eq(credit.any), credit.take.eq(self.i.valid & self.i.ready)]
        m.d.sync += [now.eq(self.i.payload), valid.eq(credit.take)]

        # The state is read in the first clock behind a beat, so that a triangle right behind a STATE sees it.
        new_state = valid & (now.kind == Kind.STATE)
        samples, mode = Signal(2), Signal(3)
        with m.If(new_state):
            m.d.sync += [samples.eq(now.draw_state.samples), mode.eq(Cat(now.draw_state.cull, now.draw_state.front_ccw))]

        m.d.comb += [
            bounds.triangle.eq(now.triangle), bounds.draw_state.eq(now.draw_state), bounds.new_state.eq(new_state),
            bounds.samples.eq(samples),
            edges.triangle.eq(now.triangle), edges.samples.eq(samples), edges.x.eq(bounds.x0), edges.y.eq(bounds.y0),
            plane.triangle.eq(now.triangle), plane.u.eq(edges.u), plane.v.eq(edges.v), plane.from_0.eq(edges.from_0),
            plane.flip.eq(edges.flip), plane.area.eq(edges.area),
        ]

        # Culled once its area and its box are known; its place in the queues is free again.
        at = Edges.AREA
        work, here = (delay(m, s, at, name) for s, name in ((now.kind == Kind.WORK, "work"), (valid, "valid")))
        ccw = delay(m, mode, at - 1, "mode")
        front = edges.flip == ccw[2]
        faced_away = Mux(ccw[:2] == Cull.FRONT, front, (ccw[:2] == Cull.BACK) & ~front)
        culled = work & (edges.zero | faced_away | delay(m, bounds.empty, at - Bounds.BOX - 1, "empty"))
        m.d.comb += credit.drop.eq(here & culled)

        # Edges are ready long before the plane, and wait for it.
        m.submodules.early = early = DelayLine(WAITING.size, Plane.LATENCY - Edges.LATENCY)
        m.d.comb += early.i.eq(self._early(m, now, samples, ~front, bounds, edges))
        waiting, whole = WAITING(early.o), Signal(self.o.payload.shape())
        with m.If(waiting.setup.kind == Kind.WORK):
            m.d.comb += [whole.setup[f.name].eq(waiting.setup[f.name]) for f in EARLY]
            m.d.comb += [whole.setup.z.eq(plane.z), whole.setup.zx.eq(plane.slope[0]), whole.setup.zy.eq(plane.slope[1])]
        with m.Else():
            m.d.comb += whole.draw_state.eq(waiting.draw_state)
        m.submodules.queue = queue = Queue(whole.shape(), self._params.queue)
        m.d.comb += [queue.valid.eq(delay(m, here & ~culled, Plane.LATENCY - at, "kept")), queue.i.eq(whole)]
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        m.d.comb += credit.free.eq(self.o.valid & self.o.ready)
        return m

    def _early(self, m, now, samples, back, bounds, edges):
        """All of a beat but its plane, :attr:`Edges.LATENCY` clocks behind ``now``; control beats as they came."""
        at = Edges.LATENCY
        m.submodules.beats = beats = DelayLine(payloads.width(payloads.DRAW_STATE), at)
        m.d.comb += beats.i.eq(now)
        raw = layout(payloads.DRAW_STATE)(beats.o)
        made = Signal(WAITING)
        m.d.comb += made.draw_state.eq(raw)
        known = {f.name: raw[f.name] for f in payloads.HEADER}
        known["samples"] = delay(m, samples, at - 1, "samples")
        known["back"] = delay(m, back, at - Edges.AREA, "back")
        known |= {name: delay(m, getattr(bounds, name), at - Bounds.BOX, name) for name in ("x0", "y0", "x1", "y1")}
        known |= {name: delay(m, getattr(bounds, name), at - Bounds.DEPTH, name) for name in ("zmin", "zmax")}
        known |= {f"{name}{k}": getattr(edges, name)[k] for name in ("a", "b", "reach", "c") for k in range(3)}
        with m.If(raw.kind == Kind.WORK):
            m.d.comb += [made.setup[f.name].eq(known[f.name]) for f in EARLY]
        return made
