# SPDX-License-Identifier: BSD-2-Clause
"""Depth and stencil test."""

from dataclasses import dataclass

from amaranth.hdl import Array, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.bits import named
from fixfunc.rtl.depth._bias import DepthBias
from fixfunc.rtl.depth._front import Front
from fixfunc.rtl.depth._late import OutForShading
from fixfunc.rtl.depth._place import TilePlace
from fixfunc.rtl.depth._rectangle import RECTANGLE, Within
from fixfunc.rtl.depth._rule import RULE, clear_rule, draw_rule
from fixfunc.rtl.depth._samples import BITS, DEPTH, MOST, SampleDepths, heads
from fixfunc.rtl.depth._tiles import DepthRange, TestedTiles
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.pipeline import Credit, DelayLine, Queue, delay
from fixfunc.rtl.raster._addends import Addends
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.spec import payloads
from fixfunc.spec.state import DepthFormat, Kind, Outcome

PLACES = 128  # of each queue: above what is under way


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
            raise ValueError(f"formats must be some of {', '.join(f.name for f in DepthFormat)}, not {self.formats!r}")

    @property
    def depth_bits(self) -> int:
        """Of a stored depth."""
        return max(BITS[form] for form in self.formats)

    # What a plane asks of its addends.
    unit, width, step_bits = 16, DEPTH, 32

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
UNREAD = (*payloads.RASTER_STATE, *payloads.OUTPUT_STATE, "hiz_drop", "hiz_accept")  # of a draw state


class DepthTest(wiring.Component):
    """Test the samples of tiles against depths and stencil values on chip, and write those that pass.

    One tile per clock, in order, the same place again at once; a tile leaves :attr:`latency` clocks later at the
    earliest, without those of its samples that failed. Tiles of which nothing is left are left out, unless they are
    their triangle's last. STATE, CLEAR and FENCE beats wait until the tiles before them have been tested; a CLEAR
    takes a clock a tile. A target, its size, its samples and its format are known from a CLEAR of all of it, both
    planes, which must come before anything else. Tiles that a wrong state, another target or their place forbids pass
    nothing and write nothing, and the next FENCE tells.

    Where a draw does not let its tiles be written early, all of them go out, without the samples that an early test
    may leave out, and come back from the shader in their order: they are tested again and written, by the same
    pipeline, before anything else. An early test waits while a tile of its place is out; anything but tiles waits
    until none is.

    Parameters
    ----------
    params : DepthTestParams

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Tiles as :func:`fixfunc.spec.payloads.tile`; those that HiZ dropped pass nothing.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        The same, ``mask`` now those that passed; FENCE with what has passed since the last one that began to count.
    shaded : In(stream.Signature(layout(payloads.shaded(params.edge, params.shader_depths))))
        Tiles that went out of a draw that is written late, without the samples that its shader has discarded.
    answers : Out(stream.Signature(layout(payloads.tile(params.edge))))
        One for each of them, ``mask`` now those that passed, also if none did.
    feedback : Out(stream.Signature(layout(payloads.feedback(params.edge))))
        For HiZ: what a tile holds after a test that its draw lets write; of one that was refused, nothing.
    """

    def __init__(self, params: DepthTestParams = CONFIGS["default"]) -> None:
        self._params = params
        self._tile = layout(payloads.tile(params.edge))
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        super().__init__({
            "i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape)),
            "feedback": Out(stream.Signature(layout(payloads.feedback(params.edge)))),
            "shaded": In(stream.Signature(layout(payloads.shaded(params.edge, params.shader_depths)))),
            "answers": Out(stream.Signature(self._tile)),
        })

    @property
    def _test_at(self):
        """Clocks from a tile to its test: bias, depths, and what a clear puts in their place."""
        return DepthBias.LATENCY - Addends.moves(self._params) + SampleDepths.latency(self._params) + 1

    @property
    def latency(self) -> int:
        """Clocks from a tile to what is left of it: input, test, output, queue."""
        return 1 + self._test_at + 2 + Queue.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p, at = self._params, self._test_at
        m.submodules.front = front = Front(p, at + DepthRange.latency(p.edge**2) + 6, keeps=True)
        m.submodules.tiles = self._tiles = TestedTiles(p)
        wiring.connect(m, wiring.flipped(self.i), front.i)
        ports = ("beat", self.o), ("report", self.feedback), ("answer", self.answers)
        (credit, queue), (report_credit, report_queue), (answer_credit, answers) = (self._queue(m, *port) for port in ports)
        m.d.sync += front.go.eq(credit.any & report_credit.any)
        m.d.comb += [front.walk.eq(1), credit.take.eq(self.i.valid & self.i.ready),
                     report_credit.take.eq(front.enters | front.late), answer_credit.take.eq(front.late)]
        late_draw = self._late(m, front, answer_credit.any & report_credit.any)

        # The plane waits for the bias, and the tile for its depths: until six clocks before the test.
        depths = self._new_depths(m, front)
        early, waits = at - 6, StructLayout({"tile": self._tile, "clearing": 1, "is_late": 1})
        m.submodules.waiting, m.submodules.tested = waiting, tested = DelayLine(waits.size, early), DelayLine(waits.size, 7)
        here, rest, valid = waits(waiting.o), waits(tested.o), delay(m, front.valid, early, "valid")
        m.d.comb += [waits(waiting.i)[name].eq(getattr(front, name)) for name in waits.members]
        m.d.comb += tested.i.eq(waiting.o)
        inside = self._place(m, front.state, here.tile, valid)
        seen = self._covered(m, front, here, inside, depths, late_draw)

        # A clock after the test: what is left of the tile.
        tests, passed, late_inside = delay(m, valid, 7, "tests") & ~rest.clearing, self._tiles.passed, delay(m, inside, 3, "inside")
        keep, gone, made = Signal(), Signal(), Signal(queue.i.shape())
        early, ends = tests & ~rest.is_late, tests & (rest.is_late | ~late_draw)
        some = passed.any() | rest.tile.last | late_draw
        m.d.sync += [keep.eq(early & some), gone.eq(early & ~some), made.eq(0), answers.valid.eq(tests & rest.is_late)]
        m.d.sync += [made.tile.eq(rest.tile), made.tile.mask.eq(passed), made.tile.full.eq(passed.all())]
        m.d.comb += [credit.drop.eq(gone), queue.valid.eq(keep | front.control), queue.i.eq(Mux(keep, made, front.beat)), answers.i.eq(made.tile)]
        self._count(m, front, queue, named(m, Mux(ends, passed, 0), "passed_in_the_end"))
        front.report(m, queue.i, tests & ~late_inside)
        self._report(m, front.state, rest.tile, (tests, ends), late_inside & front.legal, seen, report_credit, report_queue)
        return m

    def _queue(self, m, name, port):
        """The queue at an output, and the credit for its places."""
        m.submodules[f"{name}_credit"] = credit = Credit(PLACES, ahead=2)
        m.submodules[f"{name}_queue"] = queue = Queue(port.payload.shape(), PLACES)
        wiring.connect(m, queue.o, wiring.flipped(port))
        m.d.comb += credit.free.eq(port.valid & port.ready)
        return credit, queue

    def _late(self, m, front, go):
        """Tiles that come back are written before anything else; returns whether the draw's tiles are to come back."""
        state, offered, back = front.state, self.i.payload.tile, self.shaded.payload
        m.submodules.out = out = OutForShading(PLACES, len(offered.x))
        m.d.comb += [self.shaded.ready.eq(go),
                     front.back.eq(front.late), front.late.eq(self.shaded.valid & go), front.late_tile.eq(back.as_value()[:self._tile.size])]
        m.d.comb += [out.late.eq(~state.early_write), out.tests.eq(state.early_reject), out.enters.eq(front.enters),
                     out.offers.eq(self.i.valid & (self.i.payload.kind == Kind.WORK)),
                     front.waits.eq(out.waits), front.idle.eq(out.none),
                     out.x.eq(offered.x), out.y.eq(offered.y), out.back.eq(front.late), out.back_x.eq(back.x), out.back_y.eq(back.y)]
        return ~state.early_write

    def _new_depths(self, m, front):
        """What tiles bring: depths of their planes, or what is cleared to."""
        m.submodules.bias = self._bias = bias = DepthBias()
        m.submodules.depths = depths = SampleDepths(self._params)
        self._exact = depths.exact
        state, tile = front.state, front.tile
        one, most = Array(MOST[form] for form in DepthFormat)[state.depth_format], Signal(32)
        m.d.sync += most.eq(Mux(state.depth_max < one, state.depth_max, one))
        m.d.comb += [bias.form.eq(state.depth_format), bias.constant.eq(state.bias_constant), bias.slope.eq(state.bias_slope),
                     bias.clamp.eq(state.bias_clamp), depths.samples.eq(state.samples), depths.form.eq(state.depth_format),
                     depths.least.eq(state.depth_min), depths.most.eq(most), depths.bias.eq(bias.o)]
        m.d.comb += [getattr(bias, name).eq(tile[name]) for name in ("dx", "dy", "zmax")]
        plane = StructLayout({"z0": 32, "dx": 32, "dy": 32})
        m.submodules.planes = planes = DelayLine(plane.size, DepthBias.LATENCY - Addends.moves(self._params))
        for name in plane.members:
            m.d.comb += [plane(planes.i)[name].eq(tile[name]), getattr(depths, name).eq(plane(planes.o)[name])]
        if self._params.shader_depths:
            self._shader_depths(m, depths)
        return depths.o

    def _shader_depths(self, m, depths):
        """A shader's depths wait until those of the plane are ready to be cut to their range."""
        back, bits, lanes = self.shaded.payload, self._params.depth_bits, self._params.edge**2
        held = StructLayout({"replaces": 1, "depths": ArrayLayout(bits, lanes)})
        m.submodules.shader_depths = line = DelayLine(held.size, self._test_at - 1)
        into, out = held(line.i), held(line.o)
        m.d.comb += [into.replaces.eq(back.replaces & self.shaded.valid & self.shaded.ready), depths.replaces.eq(out.replaces)]
        for n in range(lanes):
            m.d.comb += [into.depths[n].eq(back[f"depth{n}"]), depths.given[n].eq(out.depths[n])]

    def _place(self, m, state, tile, valid):
        """Where a tile is kept, from 6 clocks before its test to 3; returns a clock later whether it lies on the target and on chip."""
        m.submodules.number = number = TilePlace(self._params.edge)
        inside, known = Signal(), ~number.outside & (number.place < self._params.tiles)
        m.d.comb += [number.state.eq(state), number.x.eq(tile.x), number.y.eq(tile.y)]
        m.d.sync += inside.eq(known)
        placed = delay(m, valid, TilePlace.LATENCY, "placed") & known
        for prefix in ("", "stencil_") if self._params.stencil else ("",):
            m.d.comb += [getattr(self._tiles, f"{prefix}place").eq(number.place), getattr(self._tiles, f"{prefix}valid").eq(placed)]
        return inside

    def _covered(self, m, front, here, inside, depths, late_draw):
        """Samples to test, or to clear, by what rule; returns, 1 clock after the test, the samples that lie on the target."""
        state, edge = front.state, self._params.edge
        m.submodules.within = within = Within(edge)
        target = {"x0": 0, "y0": 0, "x1": state.target_width, "y1": state.target_height}
        clearing = delay(m, here.clearing, 1, "clearing")
        m.d.comb += [within.rectangle[name].eq(Mux(clearing, front.clear[name], target[name])) for name in RECTANGLE.members]
        m.d.comb += [within.samples.eq(state.samples), within.x.eq(delay(m, here.tile.x, 1, "within_x")),
                     within.y.eq(delay(m, here.tile.y, 1, "within_y"))]

        late = delay(m, clearing, within.LATENCY, "late_clearing")
        mask, back, outcome = (delay(m, here.tile[name], 5, name) for name in ("mask", "back", "outcome"))
        allowed = delay(m, inside, 1, "allowed") & front.legal & (outcome != Outcome.DROP)
        covered, rule = Signal(edge**2), Signal(RULE)
        m.d.comb += covered.eq(Mux(late, within.o, Mux(allowed, mask, 0)))
        ahead = late_draw & ~delay(m, here.is_late, 5, "is_late")
        of_draw, of_clear = draw_rule(state, back, ahead), clear_rule(front.clear)
        m.d.comb += [rule[name].eq(Mux(late, of_clear[name], of_draw[name])) for name in RULE.members]
        covered, rule = self._overrule(m, covered, rule, here.tile)
        m.d.comb += [self._tiles.against.eq(rule.against), self._tiles.read.eq(rule.read)]
        m.d.sync += [self._tiles.covered.eq(covered), self._tiles.rule.eq(rule)]
        for n, lane in enumerate(self._tiles.lanes):  # by themselves, so that nothing but a comparison is between them and the verdict
            signs = rule.depth.as_value()
            m.d.sync += [lane.passes.eq(Mux(covered[n], signs, 0)), lane.writes.eq(Mux(covered[n] & rule.write, signs, 0))]
        for n, depth in enumerate(depths):
            m.d.comb += self._tiles.new[n].eq(self._stored(n, Mux(late, front.clear.depth_value, depth)))
        return delay(m, within.o, 2, "seen")

    def _overrule(self, _m, covered, rule, _tile):
        """Samples to test, and the rule: as they are."""
        return covered, rule

    def _stored(self, _n, depth):
        """A depth, or what is put in its place: nothing."""
        return depth

    def _count(self, m, front, queue, passed):
        """Fences tell how many samples have passed."""
        groups = [Signal(range(9), name=f"passed_{n}") for n in range(len(passed) // 8)]
        m.d.sync += [group.eq(sum(passed[8 * n:8 * n + 8])) for n, group in enumerate(groups)]
        tile, total, any_passed = Signal(range(len(passed) + 1)), Signal(64), Signal()
        m.d.sync += [tile.eq(sum(groups)), total.eq(total + tile), any_passed.eq(any_passed | (tile != 0))]
        with m.If(front.control & (front.beat.kind == Kind.FENCE)):
            fence = queue.i.fence
            m.d.comb += [fence.passed.eq(total), fence.any.eq(any_passed)]
            with m.If(front.beat.fence.begin):
                m.d.sync += [total.eq(0), any_passed.eq(0)]

    def _report(self, m, state, tile, tests, known, seen, credit, queue):
        """Least and greatest depth of a tile, to HiZ, after a test that may have written; ``tests``: any, and the last of a tile.

        HiZ waits for all that it let through: a tile that was refused has a report too, with bounds that tell nothing.
        """
        m.submodules.range = bounds = DepthRange(payloads.HIZ_BITS, self._params.edge**2)
        latency = DepthRange.latency(self._params.edge**2)
        m.d.comb += [bounds.i[n].eq(heads(depth, state.depth_format, self._params.formats)) for n, depth in enumerate(self._tiles.depth)]
        writes, told = (tile.outcome != Outcome.DROP) & state.depth_test & state.depth_write, delay(m, known, latency, "told")
        m.d.comb += [bounds.seen.eq(seen), credit.drop.eq(tests[0] & ~(tests[1] & writes)),
                     queue.valid.eq(delay(m, tests[1] & writes, latency, "reports")),
                     queue.i.low.eq(Mux(told, bounds.low, 0)), queue.i.high.eq(Mux(told, bounds.high, -1))]
        m.d.comb += [queue.i[name].eq(delay(m, tile[name], latency, f"report_{name}")) for name in ("x", "y", "note")]
