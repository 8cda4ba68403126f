# SPDX-License-Identifier: BSD-2-Clause
"""Triangle setup: culls, edge functions, box and depth plane of snapped triangles."""

from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.geometry.bounds import Bounds
from fixfunc.rtl.geometry.edges import Edges
from fixfunc.rtl.geometry.plane import Plane
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import beat, layout
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
        Greatest number of triangles and control beats in flight. Full rate needs more than the
        latency.
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
# Fields of a draw state that the block does not read.
UNREAD = ("target", *payloads.DEPTH_STATE, *payloads.OUTPUT_STATE)

# All fields but those of the plane, which takes a division.
EARLY_FIELDS = tuple(f for f in payloads.SETUP if f.name not in ("z", "zx", "zy"))
EARLY = UnionLayout({"setup": layout(EARLY_FIELDS), "draw_state": layout(payloads.DRAW_STATE)})


class TriangleSetup(wiring.Component):
    """Set up triangles for the rasterizer.

    One triangle per clock, in order, :attr:`latency` clocks later; culled ones are left out. STATE,
    CLEAR and FENCE beats pass through in order. A STATE holds for the triangles behind it; until
    the first one nothing is drawn.

    Parameters
    ----------
    params : TriangleSetupParams

    Members
    -------
    i : In(stream.Signature(beat(triangle=..., draw_state=..., clear=..., fence=...)))
        Triangles as :data:`fixfunc.spec.payloads.TRIANGLE`, with depths no more than 1.0, and
        control beats.
    o : Out(stream.Signature(beat(setup=..., draw_state=..., clear=..., fence=...)))
        Triangles that may cover a sample, as :data:`fixfunc.spec.payloads.SETUP`, and the control
        beats.
    """

    def __init__(self, params: TriangleSetupParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(beat(triangle=payloads.TRIANGLE, **payloads.CONTROL))),
                "o": Out(stream.Signature(beat(setup=payloads.SETUP, **payloads.CONTROL))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a triangle at ``i`` to its beat at ``o``: input register, plane, FIFO."""
        return 1 + Plane.LATENCY + CreditedFIFO.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        m.submodules.fifo = fifo = CreditedFIFO(self.o.payload.shape(), self._params.queue)
        m.submodules.bounds = bounds = Bounds()
        m.submodules.edges = edges = Edges(self._params)
        m.submodules.plane = plane = Plane()

        # Clock 0: a beat that has a place in the FIFO, so that the pipeline never stalls.
        request = Signal(self.i.payload.shape())
        request_valid = Signal()
        m.d.comb += [
            self.i.ready.eq(fifo.available),
            fifo.consume.eq(self.i.valid & self.i.ready),
        ]
        m.d.sync += [
            request.eq(self.i.payload),
            request_valid.eq(fifo.consume),
        ]
        t.enter(0, valid=request_valid, work=request.kind == Kind.WORK)

        # Clock 1: the draw state in force. A triangle right behind a STATE sees it.
        new_state = request_valid & (request.kind == Kind.STATE)
        samples = Signal(2)
        cull = Signal(2)
        front_ccw = Signal()
        with m.If(new_state):
            m.d.sync += [
                samples.eq(request.draw_state.samples),
                cull.eq(request.draw_state.cull),
                front_ccw.eq(request.draw_state.front_ccw),
            ]
        t.enter(1, samples=samples, cull=cull, front_ccw=front_ccw)
        m.d.comb += [
            bounds.triangle.eq(request.triangle),
            bounds.draw_state.eq(request.draw_state),
            bounds.new_state.eq(new_state),
            bounds.samples.eq(samples),
            edges.triangle.eq(request.triangle),
            edges.samples.eq(samples),
            edges.x.eq(bounds.x0),
            edges.y.eq(bounds.y0),
            plane.triangle.eq(request.triangle),
            plane.side_01.eq(edges.side_01),
            plane.side_02.eq(edges.side_02),
            plane.origin_0.eq(edges.origin_0),
            plane.ccw.eq(edges.ccw),
            plane.area.eq(edges.area),
        ]

        # Area and box are known: a culled triangle gives its place in the FIFO back.
        t.enter(Bounds.BOX + 1, empty=bounds.empty)
        decided = t[Edges.AREA]
        front = edges.ccw == decided.front_ccw
        faced_away = Mux(decided.cull == Cull.FRONT, front, (decided.cull == Cull.BACK) & ~front)
        culled = decided.work & (edges.zero_area | faced_away | decided.empty)
        t.enter(Edges.AREA, back=~front, push=decided.valid & ~culled)
        m.d.comb += fifo.cancel.eq(decided.valid & culled)

        # Edges are ready long before the plane, and wait for it in block RAM.
        m.submodules.early_line = early_line = DelayLine(EARLY.size, Plane.LATENCY - Edges.LATENCY)
        m.d.comb += early_line.i.eq(self._early(m, t, request, bounds, edges))
        early = EARLY(early_line.o)
        result = Signal(fifo.i.shape())
        with m.If(early.setup.kind == Kind.WORK):
            m.d.comb += [result.setup[f.name].eq(early.setup[f.name]) for f in EARLY_FIELDS]
            m.d.comb += [
                result.setup.z.eq(plane.z),
                result.setup.zx.eq(plane.slope[0]),
                result.setup.zy.eq(plane.slope[1]),
            ]
        with m.Else():
            m.d.comb += result.draw_state.eq(early.draw_state)
        m.d.comb += [
            fifo.push.eq(t[Plane.LATENCY].push),
            fifo.i.eq(result),
        ]
        wiring.connect(m, fifo.o, wiring.flipped(self.o))
        return m

    @staticmethod
    def _early(m, t, request, bounds, edges):
        """A triangle without its plane, or a control beat, in clock :attr:`Edges.LATENCY`."""
        t.enter(Bounds.BOX, x0=bounds.x0, y0=bounds.y0, x1=bounds.x1, y1=bounds.y1)
        t.enter(Bounds.DEPTH, zmin=bounds.zmin, zmax=bounds.zmax)
        m.submodules.request_line = request_line = DelayLine(
            payloads.width(payloads.DRAW_STATE), Edges.LATENCY
        )
        m.d.comb += request_line.i.eq(request)
        draw_state = layout(payloads.DRAW_STATE)(request_line.o)
        header = {f.name: draw_state[f.name] for f in payloads.HEADER}
        delayed = {
            name: t.value(name, Edges.LATENCY)
            for name in ("samples", "back", "x0", "y0", "x1", "y1", "zmin", "zmax")
        }
        edge_fields = {
            f"{name}{k}": getattr(edges, name)[k]
            for name in ("a", "b", "reach", "c")
            for k in range(3)
        }
        values = header | delayed | edge_fields
        early = Signal(EARLY)
        m.d.comb += early.draw_state.eq(draw_state)
        with m.If(draw_state.kind == Kind.WORK):
            m.d.comb += [early.setup[f.name].eq(values[f.name]) for f in EARLY_FIELDS]
        return early
