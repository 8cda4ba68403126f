# SPDX-License-Identifier: BSD-2-Clause
"""Triangle setup: culls, edge functions, box and depth plane of snapped triangles."""

from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.geometry.block_depths import BlockDepths
from fixfunc.rtl.geometry.bounds import Bounds
from fixfunc.rtl.geometry.edges import Edges
from fixfunc.rtl.geometry.plane import Plane
from fixfunc.rtl.lib.arithmetic.interval_register import IntervalRegister
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import beat, fields_of, layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Cull, DepthFormat, Kind


@dataclass(frozen=True)
class TriangleSetupParams:
    """Shape of a :class:`TriangleSetup`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    conservative : bool
        Triangles may cover all pixels of which they have a point.
    interval : int
        Clocks from one triangle to the next, at least: 1, 2 or 4. Multipliers and dividers are
        shared by what a longer one leaves time for.
    queue : int
        Greatest number of triangles and control beats in flight. Full rate needs more than the
        latency by ``interval``.
    """

    edge: int = 8
    conservative: bool = True
    interval: int = 1
    queue: int = 128

    def __post_init__(self):
        if self.edge not in (4, 8):
            raise ValueError(f"edge must be 4 or 8, not {self.edge!r}")
        if self.interval not in (1, 2, 4):
            raise ValueError(f"interval must be 1, 2 or 4, not {self.interval!r}")
        if not 3 <= self.queue <= 1024:
            raise ValueError(f"queue must be 3 to 1024, not {self.queue!r}")


CONFIGS = {
    "default": TriangleSetupParams(),
    "half": TriangleSetupParams(interval=2, queue=64),
    "quarter": TriangleSetupParams(conservative=False, interval=4, queue=32),
    "tiny": TriangleSetupParams(edge=4, queue=8),
}
PURPOSE = {  # of each configuration
    "default": "for tiles of 8x8, a triangle a clock",
    "half": "a triangle every two clocks, half of the multipliers and dividers",
    "quarter": "a triangle every four clocks, a quarter of them; no conservative coverage",
    "tiny": "for benches: tiles of 4x4, a short queue",
}
# Fields of a draw state that the block does not read.
UNREAD = (
    "target",
    *(name for name in payloads.DEPTH_STATE if name != "depth_format"),
    *payloads.OUTPUT_STATE,
)

# All fields but those of the plane, which takes a division.
EARLY_FIELDS = tuple(f for f in payloads.SETUP if f.name not in ("z", "zx", "zy", "steep"))
EARLY = UnionLayout({"setup": layout(EARLY_FIELDS), "draw_state": layout(payloads.DRAW_STATE)})


class TriangleSetup(wiring.Component):
    """Set up triangles for the rasterizer.

    One triangle every ``params.interval`` clocks, in order, :attr:`latency` clocks later; culled
    ones are left out. STATE,
    CLEAR and FENCE beats pass through in order. A STATE holds for the triangles behind it; until
    the first one nothing is drawn.

    Parameters
    ----------
    params : TriangleSetupParams

    Members
    -------
    i : In(stream.Signature(beat(triangle=..., draw_state=..., clear=..., fence=...)))
        Triangles as :data:`fixfunc.spec.payloads.TRIANGLE`, and control beats.
    o : Out(stream.Signature(beat(setup=..., draw_state=..., clear=..., fence=...)))
        Triangles that may cover a sample, as :data:`fixfunc.spec.payloads.SETUP`, and the control
        beats.
    """

    def __init__(self, params: TriangleSetupParams = CONFIGS["default"]) -> None:
        self._params = params
        self._edges = Edges(params)
        self._plane = Plane(params.interval, self._edges.area_clock)
        super().__init__(
            {
                "i": In(stream.Signature(beat(triangle=payloads.TRIANGLE, **payloads.CONTROL))),
                "o": Out(stream.Signature(beat(setup=payloads.SETUP, **payloads.CONTROL))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a triangle at ``i`` to its beat at ``o``: input register, plane, FIFO."""
        return 1 + self._plane.latency + CreditedFIFO.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        m.submodules.fifo = fifo = CreditedFIFO(self.o.payload.shape(), self._params.queue)
        m.submodules.bounds = bounds = Bounds(self._params.conservative)
        m.submodules.edges = edges = self._edges
        m.submodules.depths = depths = BlockDepths()
        m.submodules.plane = plane = self._plane

        # Clock 0: a beat that has a place in the FIFO, so that the pipeline never stalls.
        m.submodules.intake = intake = IntervalRegister(
            self.i.payload.shape(), self._params.interval
        )
        wiring.connect(m, wiring.flipped(self.i), intake.i)
        m.d.comb += [
            intake.room.eq(fifo.available),
            fifo.consume.eq(intake.accept),
        ]
        request = intake.o
        request_valid = intake.start
        t.enter(0, valid=request_valid, work=request.kind == Kind.WORK)

        # Clock 1: the draw state in force. A triangle right behind a STATE sees it.
        new_state = request_valid & (request.kind == Kind.STATE)
        samples = Signal(2)
        conservative = Signal()
        cull = Signal(2)
        front_ccw = Signal()
        is_float = Signal()
        with m.If(new_state):
            m.d.sync += [
                is_float.eq(request.draw_state.depth_format == DepthFormat.D32F),
                samples.eq(request.draw_state.samples),
                conservative.eq(request.draw_state.conservative),
                cull.eq(request.draw_state.cull),
                front_ccw.eq(request.draw_state.front_ccw),
            ]
        t.enter(1, samples=samples, cull=cull, front_ccw=front_ccw)
        m.d.comb += [
            depths.triangle.eq(request.triangle),
            depths.is_float.eq(is_float),
            bounds.triangle.eq(request.triangle),
            bounds.z.eq(depths.z),
            bounds.draw_state.eq(request.draw_state),
            bounds.new_state.eq(new_state),
            bounds.samples.eq(samples),
            bounds.conservative.eq(conservative),
            edges.start.eq(request_valid),
            edges.triangle.eq(request.triangle),
            edges.samples.eq(samples),
            edges.conservative.eq(conservative),
            edges.x.eq(bounds.x0),
            edges.y.eq(bounds.y0),
            plane.start.eq(request_valid),
            plane.depths.eq(depths.z),
            plane.side_01.eq(edges.side_01),
            plane.side_02.eq(edges.side_02),
            plane.origin_0.eq(edges.origin_0),
            plane.ccw.eq(edges.ccw),
            plane.area.eq(edges.area),
        ]

        # Area and box are known: a culled triangle gives its place in the FIFO back.
        t.enter(Bounds.BOX + 1, empty=bounds.empty)
        decided = t[edges.area_clock]
        front = edges.ccw == decided.front_ccw
        faced_away = Mux(decided.cull == Cull.FRONT, front, (decided.cull == Cull.BACK) & ~front)
        culled = decided.work & (edges.zero_area | faced_away | decided.empty)
        t.enter(edges.area_clock, back=~front, push=decided.valid & ~culled)
        m.d.comb += fifo.cancel.eq(decided.valid & culled)

        t.enter(BlockDepths.LATENCY, exponent=depths.exponent)
        early = self._early(m, t, request, bounds, edges)
        m.d.comb += [
            fifo.push.eq(t[plane.latency].push),
            fifo.i.eq(self._result(m, early, edges, plane)),
        ]
        wiring.connect(m, fifo.o, wiring.flipped(self.o))
        return m

    def _result(self, m, early, edges, plane):
        """A beat with its plane. Edges are ready long before it, and wait in block RAM."""
        m.submodules.early_line = early_line = DelayLine(EARLY.size, plane.latency - edges.latency)
        m.d.comb += early_line.i.eq(early)
        early = EARLY(early_line.o)
        result = Signal(self.o.payload.shape())
        with m.If(early.setup.kind == Kind.WORK):
            m.d.comb += [result.setup[f.name].eq(early.setup[f.name]) for f in EARLY_FIELDS]
            m.d.comb += [
                result.setup.z.eq(plane.z),
                result.setup.zx.eq(plane.slope[0]),
                result.setup.zy.eq(plane.slope[1]),
                result.setup.steep.eq(plane.steep),
            ]
        with m.Else():
            m.d.comb += result.draw_state.eq(early.draw_state)
        return result

    @staticmethod
    def _early(m, t, request, bounds, edges):
        """A triangle without its plane, or a control beat, in the clock of its edges."""
        t.enter(Bounds.BOX, x0=bounds.x0, y0=bounds.y0, x1=bounds.x1, y1=bounds.y1)
        t.enter(Bounds.DEPTH, zmin=bounds.zmin, zmax=bounds.zmax)
        m.submodules.request_line = request_line = DelayLine(
            payloads.width(payloads.DRAW_STATE), edges.latency
        )
        m.d.comb += request_line.i.eq(request)
        draw_state = layout(payloads.DRAW_STATE)(request_line.o)
        triangle = fields_of(request_line.o, payloads.HEADER)
        header = {f.name: triangle[f.name] for f in payloads.HEADER}
        delayed = {
            name: t.value(name, edges.latency)
            for name in ("samples", "back", "x0", "y0", "x1", "y1", "zmin", "zmax", "exponent")
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
