# SPDX-License-Identifier: BSD-2-Clause
"""Depth and stencil test, tiles on chip."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.late.late_z import LateZScoreboard
from fixfunc.rtl.depth.test.datapath import DepthDatapath
from fixfunc.rtl.depth.test.new_depths import test_clock
from fixfunc.rtl.depth.test.sample_depths import BITS, PLANE
from fixfunc.rtl.depth.test.test_output import TILES, TestOutput, tested_beat
from fixfunc.rtl.depth.test.tested_tiles import DepthRange, TestedTiles
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.surface.front import SurfaceFront
from fixfunc.rtl.memory.surface.tile_number import TileNumber
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.spec import payloads
from fixfunc.spec.state import DepthFormat, Kind

PLACE_BITS = 4  # of x and of y: tiles 16 rows and columns apart wait for one another


@dataclass(frozen=True)
class DepthTestParams:
    """Shape of a :class:`DepthTest`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    tiles : int
        Tiles on chip, a power of two.
    formats : tuple of DepthFormat
        Those that it knows: each costs in every lane, D32F most.
    stencil : bool
        It tests and keeps stencil values.
    shader_depths : bool
        Shaders may put out depths.
    """

    edge: int = 8
    samples: int = 8
    tiles: int = 512
    formats: tuple = tuple(DepthFormat)
    stencil: bool = True
    shader_depths: bool = True

    def __post_init__(self):
        EdgeEvaluatorParams(self.edge, self.samples)  # the same rules hold here
        if self.tiles < 2 or self.tiles & self.tiles - 1:
            raise ValueError(f"tiles must be a power of two above 1, not {self.tiles!r}")
        if not self.formats or not set(self.formats) <= set(DepthFormat):
            raise ValueError(
                f"formats must be some of {', '.join(f.name for f in DepthFormat)}, not "
                f"{self.formats!r}"
            )

    @property
    def depth_bits(self) -> int:
        """Of a stored depth."""
        return max(BITS[form] for form in self.formats)

    # What a plane asks of its addends.
    unit = 16
    width = PLANE
    step_bits = 44

    @property
    def modes(self) -> range:
        """log2 of every sample count that this unit knows."""
        return range(self.samples.bit_length())


CONFIGS = {
    "default": DepthTestParams(),
    "d24": DepthTestParams(formats=(DepthFormat.D24,), shader_depths=False),
    "tiny": DepthTestParams(edge=4, tiles=256),
}
PURPOSE = {  # of each configuration
    "default": "D16, D24, D32F, stencil, depths from the shader; tiles on chip",
    "d24": "D24 and stencil alone",
    "tiny": "for benches: 256 tiles of 4x4",
}
UNREAD = (
    *payloads.RASTER_STATE,
    *payloads.OUTPUT_STATE,
    "hiz_drop",
    "hiz_accept",
)  # of a draw state


class DepthTest(wiring.Component):
    """Test the samples of tiles against depths and stencil values on chip, and write those that
    pass.

    One tile per clock, in order, the same place again at once; a tile leaves :attr:`latency` clocks
    later at the earliest, without those of its samples that failed. Tiles of which nothing is left
    are left out, unless they are their triangle's last. CLEAR and FENCE beats wait until the tiles
    before them have been tested, and so do STATE beats, but for those of the same target between
    draws that write early; a CLEAR takes a clock a tile. A target, its size, its samples and its
    format are known from a CLEAR of all of it, both planes, which must come before anything else.
    Tiles that a wrong state, another target or their place forbids pass nothing and write nothing,
    and the next FENCE tells.

    Where a draw does not let its tiles be written early, all of them go out, without the samples
    that an early test may leave out, and come back from the shader in their order: they are tested
    again and written, by the same pipeline, before anything else. An early test waits while a tile
    of its place is out; anything but tiles waits until none is.

    Parameters
    ----------
    params : DepthTestParams

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Tiles as :func:`fixfunc.spec.payloads.tile`; those that HiZ dropped pass nothing.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        The same, ``mask`` now those that passed; FENCE with what has passed since the last one that
        began to count.
    shaded : In(stream.Signature(layout(payloads.shaded(params.edge, params.shader_depths))))
        Tiles that went out of a draw that is written late, without the samples that its shader has
        discarded.
    answers : Out(stream.Signature(layout(payloads.tile(params.edge))))
        One for each of them, ``mask`` now those that passed, also if none did.
    feedback : Out(stream.Signature(layout(payloads.feedback(params.edge))))
        For HiZ: what a tile holds after a test that its draw lets write; of one that was refused,
        nothing.
    """

    def __init__(self, params: DepthTestParams = CONFIGS["default"]) -> None:
        self._params = params
        self._tile = layout(payloads.tile(params.edge))
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(tested_beat(params.edge))),
                "feedback": Out(stream.Signature(layout(payloads.feedback(params.edge)))),
                "shaded": In(
                    stream.Signature(layout(payloads.shaded(params.edge, params.shader_depths)))
                ),
                "answers": Out(stream.Signature(self._tile)),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a tile to what is left of it: input, test, output, FIFO."""
        return 1 + test_clock(self._params) + 2 + CreditedFIFO.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        latency = test_clock(p) + DepthRange.latency(p.edge**2) + 6
        m.submodules.front = front = SurfaceFront(p, latency, persistent=True)
        m.submodules.datapath = datapath = DepthDatapath(p, fills=False)
        m.submodules.output = output = TestOutput(p)
        m.submodules.answer = answer = CreditedFIFO(self._tile, TILES, lookahead=2)
        wiring.connect(m, wiring.flipped(self.i), front.i)
        wiring.connect(m, output.o, wiring.flipped(self.o))
        wiring.connect(m, output.feedback, wiring.flipped(self.feedback))
        wiring.connect(m, answer.o, wiring.flipped(self.answers))
        late_draw = ~front.state.early_write
        for unit in (datapath, output):
            m.d.comb += [
                unit.state.eq(front.state),
                unit.late_draw.eq(late_draw),
            ]
        m.d.comb += [
            datapath.legal.eq(front.legal),
            datapath.state_changes.eq(front.state_changes),
            output.state_trails.eq(front.state_trails),
        ]
        m.d.comb += output.retain.eq(late_draw)
        for name in ("clear", "tile_valid", "tile", "clearing", "is_late"):
            m.d.comb += getattr(datapath, name).eq(getattr(front, name))
        m.d.sync += front.room.eq(output.room)
        m.d.comb += [
            front.visit_tiles.eq(1),
            front.outside.eq(datapath.o.valid & ~datapath.o.touchable),
            output.beat_enters.eq(self.i.valid & self.i.ready),
            output.report_enters.eq(front.accept | front.late_enters),
            output.i.eq(datapath.o),
            output.depth.eq(datapath.depth),
            output.control_valid.eq(front.control_passes),
            output.control.eq(front.control),
            output.fence_error.eq(front.fence_error),
        ]
        self._come_back(m, front, datapath, output, answer)
        self._find(m, front, datapath)
        return m

    def _come_back(self, m, front, datapath, output, answer):
        """Tiles that come back from the shader are tested and written before anything else."""
        state = front.state
        offered = self.i.payload.tile
        back = self.shaded.payload
        transfer = self.shaded.valid & self.shaded.ready
        m.submodules.late_z = late_z = LateZScoreboard(
            TILES, 1 << 2 * PLACE_BITS, self._params.edge**2
        )
        m.d.comb += [
            self.shaded.ready.eq(answer.available & output.report_room),
            front.late_offered.eq(transfer),
            front.late_enters.eq(transfer),
            front.late_tile.eq(back.as_value()[: self._tile.size]),
            front.stall.eq(late_z.stall),
            front.drained.eq(late_z.idle),
        ]
        m.d.comb += [
            late_z.late_draw.eq(~state.early_write),
            late_z.is_held.eq(state.early_reject),
            late_z.tests.eq(state.early_reject),
            late_z.offered.eq(self.i.valid & (self.i.payload.kind == Kind.WORK)),
            late_z.place.eq(Cat(offered.x[:PLACE_BITS], offered.y[:PLACE_BITS])),
            late_z.mask.eq(offered.mask),
            late_z.accept.eq(front.accept),
            late_z.back.eq(transfer),
            late_z.back_held.eq(state.early_reject),
            late_z.back_place.eq(Cat(back.x[:PLACE_BITS], back.y[:PLACE_BITS])),
        ]
        answered = Signal()
        m.d.sync += answered.eq(datapath.o.valid & datapath.o.is_late)
        m.d.comb += [
            answer.consume.eq(transfer),
            answer.push.eq(answered),
            answer.i.eq(output.passed_tile),
        ]
        if self._params.shader_depths:
            m.d.comb += datapath.shader.replaces.eq(back.replaces & transfer)
            for n in range(self._params.edge**2):
                m.d.comb += datapath.shader.depths[n].eq(back[f"depth{n}"])

    def _find(self, m, front, datapath):
        """The slot of a tile is its number in the target."""
        p = self._params
        slot_clock = test_clock(p) - TestedTiles.EARLY
        m.submodules.number = number = TileNumber(p.edge)
        timeline = Timeline(m)
        timeline.enter(0, valid=front.tile_valid, x=front.tile.x, y=front.tile.y)
        start = timeline[slot_clock - TileNumber.LATENCY]
        touchable = ~number.outside & (number.number < p.tiles)
        valid = timeline[slot_clock].valid & touchable
        m.d.comb += [
            number.state.eq(front.state),
            number.x.eq(start.x),
            number.y.eq(start.y),
        ]
        m.d.sync += datapath.touchable.eq(touchable)
        for plane in ("depth", "stencil") if p.stencil else ("depth",):
            m.d.comb += [
                getattr(datapath, f"{plane}_slot").eq(number.number),
                getattr(datapath, f"{plane}_valid").eq(valid),
            ]
