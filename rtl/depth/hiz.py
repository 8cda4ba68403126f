# SPDX-License-Identifier: BSD-2-Clause
"""Hierarchical depth and stencil."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._bound import OneBound
from fixfunc.rtl.depth._context import Contexts
from fixfunc.rtl.depth._front import Front
from fixfunc.rtl.depth._place import TilePlace
from fixfunc.rtl.depth._query import Query
from fixfunc.rtl.depth._ranges import BANKS, RangeMemory
from fixfunc.rtl.depth._rectangle import RECTANGLE
from fixfunc.rtl.depth._reports import NOTE, PLACE, Reports
from fixfunc.rtl.depth._samples import heads
from fixfunc.rtl.depth._verdict import depth_op, depth_verdict, impossible_signs, restore_op, stencil_fails, stencil_op
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.pipeline import Credit, DelayLine, Queue, delay
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.spec import payloads
from fixfunc.spec.state import Bound, DepthFormat, Kind, Outcome

PLACES = 128  # of the output's queue, and most tiles in flight


@dataclass(frozen=True)
class HizParams:
    """Shape of a :class:`Hiz`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    entries : int
        Tiles on chip, a power of two; of a larger target the others are always tested.
    clears : int
        Clears of rectangles, between two of the whole target, that take a few clocks; any more visit their tiles.
    stencil : bool
        It keeps ranges of stencil values too; without, it refuses draws that test them.
    formats : tuple of DepthFormat
        Those of the depth test behind it.
    bounds : str
        ``"both"``: of depths, zmin and zmax of each tile. ``"max"``: one bound, in half of the memory: the one that the
        first draw after a clear of the whole target can use; a draw that writes the other way makes it rest until the
        next such clear.
    """

    edge: int = 8
    samples: int = 8
    entries: int = 1 << 16
    clears: int = 4
    stencil: bool = True
    formats: tuple = tuple(DepthFormat)
    bounds: str = "both"

    def __post_init__(self):
        EdgeEvaluatorParams(self.edge, self.samples)  # the same rules hold here
        if not 8 <= self.entries <= BANKS << PLACE or self.entries & self.entries - 1:
            raise ValueError(f"entries must be a power of two in 8..{BANKS << PLACE}, not {self.entries!r}")
        if not 1 <= self.clears <= 8:
            raise ValueError(f"clears must be 1 to 8, not {self.clears!r}")
        if self.bounds not in ("both", "max"):
            raise ValueError(f"bounds must be 'both' or 'max', not {self.bounds!r}")

    @property
    def modes(self) -> range:
        """log2 of every sample count that this unit knows."""
        return range(self.samples.bit_length())


CONFIGS = {
    "default": HizParams(),
    "small": HizParams(entries=1 << 12),
    "one_bound": HizParams(entries=1 << 12, bounds="max"),
    "tiny": HizParams(edge=4, entries=128, clears=2),
    "tiny_one_bound": HizParams(edge=4, entries=128, clears=2, bounds="max"),
}
PURPOSE = {  # of each configuration
    "default": "65,536 tiles, both bounds",
    "small": "4,096 tiles, both bounds",
    "one_bound": "4,096 tiles, one bound chosen by the draws",
    "tiny": "for benches: 128 tiles of 4x4",
    "tiny_one_bound": "for benches: the same with one bound",
}
UNREAD = (*payloads.RASTER_STATE, *payloads.OUTPUT_STATE)  # of a draw state


class Hiz(wiring.Component):
    """Find tiles of which no sample can pass, and tiles of which every sample must.

    One tile and one report per clock, in order. A report counts a clock after it has been taken at the earliest: it
    waits while a tile that shares its count is being looked up. STATE, CLEAR and FENCE beats wait until the tiles before
    them have been looked up; a CLEAR takes a few clocks, but for every 32nd of the whole target, and for rectangles
    beyond ``params.clears``.

    Parameters
    ----------
    params : HizParams

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Tiles as :func:`fixfunc.spec.payloads.tile`.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        The same, with ``outcome`` and ``note``; those dropped are left out, unless they are their triangle's last: their
        mask is empty.
    feedback : In(stream.Signature(layout(payloads.feedback(params.edge))))
        Of every tile that may be written, once it has been tested.
    heard : Out(1)
        A report counts.
    wipes : Out(1)
        Its memory is being wiped, after a reset or at a clear; tiles wait.
    context, saved : In, Out(stream.Signature(layout(payloads.context(params.edge))))
        Requests to tell what is known of a tile, or to put it back, one a clock, while no write is in flight; before any
        tile that is offered. Each has its answer, in order: what was known, as the request that puts it back.
    """

    LOOK_UP = Query.LATENCY + 1 - RangeMemory.LATENCY - 2  # clocks from a tile to its look-up, stencil values first
    READ = LOOK_UP + 2 + RangeMemory.READ - 1  # and to the first report that counts too late for it

    def __init__(self, params: HizParams = CONFIGS["default"]) -> None:
        self._params = params
        self._tile = layout(payloads.tile(params.edge))
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        super().__init__({
            "i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape)),
            "feedback": In(stream.Signature(layout(payloads.feedback(params.edge)))), "heard": Out(1), "wipes": Out(1),
            "context": In(stream.Signature(layout(payloads.context(params.edge)))),
            "saved": Out(stream.Signature(layout(payloads.context(params.edge)))),
        })

    @property
    def latency(self) -> int:
        """Clocks from a tile to its outcome: input, query, operation, comparison, outcome, queue."""
        return 1 + Query.LATENCY + 3 + Queue.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p, at = self._params, Query.LATENCY + 1  # where depths are compared
        m.submodules.front = front = Front(p, at + 7)
        wiring.connect(m, wiring.flipped(self.i), front.i)
        m.submodules.credit, m.submodules.flying = credit, flying = Credit(PLACES, ahead=2), Credit(PLACES - 1, ahead=2)
        m.submodules.queue = queue = Queue(self.o.payload.shape(), PLACES)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        widths = {"depth": payloads.HIZ_BITS} | ({"stencil": 8} if p.stencil else {})
        ranges = {plane: RangeMemory(bits, p.entries, p.edge, p.clears, plane == "depth" and p.bounds == "max") for plane, bits in widths.items()}
        for plane, memory in ranges.items():
            m.submodules[plane] = memory
        m.submodules.contexts = contexts = Contexts(p.edge, at - 2)
        wiring.connect(m, wiring.flipped(self.context), contexts.i)
        wiring.connect(m, contexts.o, wiring.flipped(self.saved))
        m.d.comb += [contexts.open.eq(front.open), front.back.eq(self.context.valid), front.late.eq(contexts.enters),
                     front.late_tile.eq(self.i.payload.tile), front.late_tile.x.eq(self.context.payload.x),
                     front.late_tile.y.eq(self.context.payload.y)]
        serial = self._clear(m, front, ranges)
        busy, taken = Cat(memory.busy for memory in ranges.values()).any(), self.i.valid & self.i.ready
        m.d.comb += self.wipes.eq(busy)
        m.d.sync += front.go.eq(credit.any & flying.any & ~busy)
        # Clears are counted modulo 256: at half of that nothing may be under way that an older number still belongs to.
        m.d.sync += front.idle.eq(flying.all | ~serial[:7].all())
        m.d.comb += [credit.take.eq(taken), credit.free.eq(self.o.valid & self.o.ready), flying.take.eq(taken & (self.i.payload.kind == Kind.WORK))]

        # The tile waits for its bounds: until it is looked up, and until its outcome is known.
        m.submodules.query = query = Query(p.edge)
        m.d.comb += [query.state.eq(front.state), query.tile.eq(front.tile)]
        before, waits = self.LOOK_UP - 4, StructLayout({"tile": self._tile, "clearing": 1})
        m.submodules.waiting, m.submodules.found = waiting, found = DelayLine(waits.size, before), DelayLine(waits.size, at + 2 - before)
        m.d.comb += [waits(waiting.i).tile.eq(front.tile), waits(waiting.i).clearing.eq(front.clearing), found.i.eq(waiting.o)]
        here, valid = waits(waiting.o), delay(m, front.valid, before, "valid")
        kept, place, refused = self._look_up(m, front, here.tile, valid, ranges)

        given = {"clearing": (here.clearing, before), "back": (here.tile.back, before), "valid": (valid, before),
                 "asks": (delay(m, front.is_late, before, "asks"), before), "kept": (kept, self.LOOK_UP), "refused": (refused, self.LOOK_UP)}
        self._choose(m, front, ranges, contexts, given)
        outcome, leaves, works, begins, now = self._judge(m, front, query, ranges, contexts, given)

        # Out it goes, two clocks after the comparison.
        rest, made = waits(found.o).tile, Signal(self.o.payload.shape())
        note = Signal(NOTE)
        m.d.comb += [made.tile.eq(rest), made.tile.mask.eq(Mux(leaves, rest.mask, 0)), made.tile.full.eq(leaves & rest.full),
                     made.tile.outcome.eq(outcome), made.tile.note.eq(Mux(leaves, note, 0))]
        m.d.comb += [note.serial.eq(serial), note.kept.eq(delay(m, now["kept"], 1, "noted")),
                     note.place.eq(delay(m, place, at + 2 - self.LOOK_UP, "noted_place"))]
        keep = works & (leaves | rest.last)
        m.d.comb += [credit.drop.eq(works & ~keep), flying.drop.eq(works & ~begins), queue.valid.eq(keep | front.control),
                     queue.i.eq(Mux(keep, made, front.beat))]
        asked = delay(m, now["asks"], 1, "asked")
        front.report(m, queue.i, (works | asked) & delay(m, now["refused"], 1, "late_refused"))
        first = 4 + self.READ - self.LOOK_UP
        m.submodules.reports = reports = Reports(p.edge, PLACES, first, at + 3 - before)
        m.d.comb += [reports.begins.eq(begins), reports.begun.x.eq(rest.x), reports.begun.y.eq(rest.y), reports.serial.eq(serial),
                     reports.holds.eq(delay(m, contexts.holds, first - 4, "holds")), flying.free.eq(delay(m, reports.heard, 1, "landed"))]
        self._feedback(m, reports, ranges["depth"], here.tile, valid)
        return m

    def _choose(self, m, front, ranges, contexts, given):
        """Of one bound, which one; ``contexts.holds``: bounds of depths are known."""
        depth, request = ranges["depth"], contexts.early
        if self._params.bounds == "both":
            m.d.comb += contexts.holds.eq(1)
            return
        m.submodules.bound = bound = OneBound(payloads.HIZ_BITS)
        looked_up, restored = self._tile_at(m, given, self.LOOK_UP, "looked_up"), self._tile_at(m, given, Query.LATENCY - 2, "restored")
        m.d.comb += [bound.state.eq(front.state), bound.looks.eq(self._writers(front, looked_up, "depth")[0]), bound.whole.eq(depth.begin),
                     bound.part.eq(depth.clear), bound.value.eq(depth.value), bound.restores.eq(self._restores(front, restored, request)),
                     bound.restored.eq(request.bound), depth.least.eq(bound.bound == Bound.MIN), contexts.bound.eq(bound.bound),
                     contexts.holds.eq((bound.bound == Bound.MAX) | (bound.bound == Bound.MIN))]

    @staticmethod
    def _tile_at(m, given, clock, name):
        """What is ``given`` of a tile, at a clock."""
        return {key: delay(m, value, clock - since, f"{name}_{key}") for key, (value, since) in given.items()}

    def _judge(self, m, front, query, ranges, contexts, given):
        """Outcomes; ``given``: what is known of a tile, and since when."""
        # Stencil first, then depths: two clocks later, since they stay as they are where the stencil test fails.
        at, depth = Query.LATENCY + 1, ranges["depth"]
        tile = {clock: self._tile_at(m, given, at + clock, f"at_{clock + 3}") for clock in (-3, -2, -1, 1)}
        fails = Signal()
        if self._params.stencil:
            stencil_op(m, front.state, ranges["stencil"], *self._writers(front, tile[-3], "stencil"), tile[-3]["back"])
            fails_now = stencil_fails(front.state, ranges["stencil"].range, tile[-2]["back"]) & tile[-2]["kept"]
            m.d.comb += ranges["stencil"].keep.eq(fails_now & ~tile[-2]["clearing"] & ~tile[-2]["asks"])
            m.d.sync += fails.eq(fails_now)
            early, puts_back = contexts.early, tile[-3]["kept"] & self._restores(front, tile[-3], contexts.early)
            restore_op(m, ranges["stencil"], puts_back, early.stencil_low, early.stencil_high)
        tests, clears = self._writers(front, tile[-1], "depth")
        depth_op(m, front.state, query, depth, tests & ~fails, clears)
        fits = contexts.holds & (contexts.late.bound == contexts.bound) if self._params.bounds == "max" else 1
        puts_back = tile[-1]["kept"] & self._restores(front, tile[-1], contexts.late) & fits
        restore_op(m, depth, puts_back, contexts.late.low, contexts.late.high)

        # What cannot be, and a clock later what follows from it.
        signs, outcome, leaves, works, begins = Signal(3), Signal(Outcome), Signal(), Signal(), Signal()
        m.d.sync += signs.eq(impossible_signs(m, depth, delay(m, query.low_ones, 1, "low_ones"), delay(m, query.high_zeros, 1, "high_zeros")))
        now = tile[1]
        drop, accept = depth_verdict(front.state, signs, now["back"])
        refused, known, is_tile = now["refused"] | ~front.legal, now["kept"] & contexts.holds, now["valid"] & ~now["clearing"] & ~now["asks"]
        dropped = refused | (known & drop) | (now["kept"] & delay(m, fails, 2, "fails"))
        m.d.sync += [leaves.eq(~dropped), works.eq(is_tile),
                     outcome.eq(Mux(dropped, Outcome.DROP, Mux(known & accept, Outcome.ACCEPT, Outcome.TEST))),
                     begins.eq(is_tile & ~dropped & front.state.depth_test & front.state.depth_write)]
        m.d.comb += [contexts.asked.eq(now["asks"]), contexts.known.eq(now["kept"] & ~refused), contexts.depth.eq(depth.written)]
        m.d.comb += contexts.stencil.eq(ranges["stencil"].written if self._params.stencil else 0xFF00)  # 0..255
        return outcome, leaves, works, begins, now

    def _clear(self, m, front, ranges):
        """Clears, and other targets, of which nothing is known; returns how many there have been."""
        state, clear, serial = front.state, front.clear, Signal(8)
        whole = Signal()
        m.d.sync += whole.eq((clear.x0 == 0) & (clear.y0 == 0) & (clear.x1 == state.target_width) & (clear.y1 == state.target_height))
        walks, self._visits = [], {}
        for plane, memory in ranges.items():
            value, clears, visits = Signal(memory.value.shape(), name=f"{plane}_value"), front.clears & clear[plane], Signal(name=f"{plane}_visits")
            m.d.comb += [value.eq(heads(clear.depth_value, state.depth_format) if plane == "depth" else clear.stencil_value), memory.value.eq(value)]
            m.d.comb += [memory.begin.eq(front.switches | (clears & whole)), memory.clear.eq(clears & ~whole),
                         memory.first.low.eq(Mux(front.switches, 0, value)), memory.first.high.eq(Mux(front.switches, -1, value)),
                         memory.samples.eq(state.samples), memory.width.eq(state.target_width), memory.height.eq(state.target_height)]
            m.d.comb += [memory.rectangle[name].eq(clear[name]) for name in RECTANGLE.members]
            walks.append(clear[plane] & ~whole & ~memory.room)
            with m.If(front.clears):
                m.d.sync += visits.eq(walks[-1])
            self._visits[plane] = visits
        m.d.comb += front.walk.eq(Cat(walks).any())
        with m.If(front.switches | (front.clears & clear.depth)):
            m.d.sync += serial.eq(serial + 1)
        return serial

    def _look_up(self, m, front, tile, valid, ranges):
        """Where a tile's entry is, from four clocks before its look-up; returns then whether it has one, where, and whether the tile is refused."""
        entries = self._params.entries // BANKS
        m.submodules.number = number = TilePlace(self._params.edge, halves=1)
        m.d.comb += [number.state.eq(front.state), number.x.eq(tile.x), number.y.eq(tile.y)]
        kept, place, refused = Signal(), Signal(range(entries)), Signal()
        m.d.sync += [kept.eq(number.place < entries), place.eq(number.place), refused.eq(number.outside)]
        x, y, enters = (delay(m, value, TilePlace.LATENCY + 1, f"entry_{name}") for value, name in ((tile.x, "x"), (tile.y, "y"), (valid, "valid")))
        entry = {"valid": enters & kept & ~refused, "x": x, "y": y, "place": place, "bank": Cat(x[0], y[0])}
        for plane, memory in ranges.items():
            m.d.comb += [getattr(memory, name).eq(delay(m, value, 2 if plane == "depth" else 0, f"{plane}_{name}")) for name, value in entry.items()]
        return kept, place, refused

    def _writers(self, front, tile, plane):
        """Whether a tile is tested, and whether it is cleared."""
        entry = tile["valid"] & tile["kept"]
        return entry & ~tile["clearing"] & ~tile["asks"] & ~tile["refused"] & front.legal, entry & tile["clearing"] & self._visits[plane]

    @staticmethod
    def _restores(front, tile, request):
        """Whether a request puts back what was known."""
        return tile["asks"] & request.restore & ~tile["refused"] & front.legal

    def _feedback(self, m, reports, depth, tile, valid):
        """Reports, beside the tiles that are looked up."""
        wiring.connect(m, wiring.flipped(self.feedback), reports.i)
        m.d.comb += [reports.valid.eq(valid), reports.key.x.eq(tile.x), reports.key.y.eq(tile.y), reports.busy.eq(depth.busy),
                     reports.taken.eq(depth.taken), self.heard.eq(reports.heard)]
        m.d.comb += [getattr(depth, f"put_{name}").eq(getattr(reports, name)) for name in ("fits", "bank", "place", "range")]
        m.d.comb += depth.put.eq(reports.heard)
