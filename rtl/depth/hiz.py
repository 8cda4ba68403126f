"""Hierarchical depth and stencil."""

from dataclasses import dataclass

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from rtl.depth._flight import KEY, InFlight
from rtl.depth._front import Front
from rtl.depth._query import Query
from rtl.depth._ranges import BANKS, RangeMemory
from rtl.depth._rectangle import RECTANGLE, last_tile
from rtl.depth._samples import BITS
from rtl.depth._verdict import depth_op, depth_verdict, impossible_signs, stencil_fails, stencil_op
from rtl.payload import beat, layout
from rtl.pipeline import Credit, DelayLine, Multiplier, Queue, delay
from rtl.raster.edge_evaluator import EdgeEvaluatorParams
from spec import payloads
from spec.state import DepthFormat, Kind, Outcome

PLACES = 128  # of the output's queue, and most tiles in flight
PLACE = 15
NOTE = StructLayout({"serial": 8, "kept": 1, "place": PLACE})  # clears so far; whether and where the tile has an entry


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
    """

    edge: int = 8
    samples: int = 8
    entries: int = 1 << 16
    clears: int = 4
    stencil: bool = True
    formats: tuple = tuple(DepthFormat)

    def __post_init__(self):
        EdgeEvaluatorParams(self.edge, self.samples)  # the same rules hold here
        if not 8 <= self.entries <= BANKS << PLACE or self.entries & self.entries - 1:
            raise ValueError(f"entries must be a power of two in 8..{BANKS << PLACE}, not {self.entries!r}")
        if not 1 <= self.clears <= 8:
            raise ValueError(f"clears must be 1 to 8, not {self.clears!r}")

    @property
    def modes(self):
        """log2 of every sample count that this unit knows."""
        return range(self.samples.bit_length())


CONFIGS = {
    "default": HizParams(),
    "small": HizParams(entries=1 << 12),
    "tiny": HizParams(edge=4, entries=128, clears=2),
}


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
        Tiles as :func:`spec.payloads.tile`.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        The same, with ``outcome`` and ``note``; those dropped are left out, unless they are their triangle's last: their
        mask is empty.
    feedback : In(stream.Signature(layout(payloads.feedback(params.edge))))
        Of every tile that may be written, once it has been tested.
    heard : Out(1)
        A report counts.
    """

    LOOK_UP = Query.LATENCY + 1 - RangeMemory.LATENCY - 2  # clocks from a tile to its look-up, stencil values first
    READ = LOOK_UP + 2 + RangeMemory.READ - 1  # and to the first report that counts too late for it

    def __init__(self, params=CONFIGS["default"]):
        self._params = params
        self._tile = layout(payloads.tile(params.edge))
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        super().__init__({
            "i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape)),
            "feedback": In(stream.Signature(layout(payloads.feedback(params.edge)))), "heard": Out(1),
        })

    @property
    def latency(self):
        """Clocks from a tile to its outcome: input, query, operation, comparison, outcome, queue."""
        return 1 + Query.LATENCY + 3 + Queue.LATENCY

    def elaborate(self, platform):
        m = Module()
        p, at = self._params, Query.LATENCY + 1  # where depths are compared
        m.submodules.front = front = Front(p, at + 7)
        wiring.connect(m, wiring.flipped(self.i), front.i)
        m.submodules.credit, m.submodules.flying = credit, flying = Credit(PLACES), Credit(PLACES - 1)
        m.submodules.queue = queue = Queue(self.o.payload.shape(), PLACES)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        widths = {"depth": payloads.HIZ_BITS} | ({"stencil": 8} if p.stencil else {})
        ranges = {plane: RangeMemory(bits, p.entries, p.edge, p.clears) for plane, bits in widths.items()}
        for plane, memory in ranges.items():
            m.submodules[plane] = memory
        depth = ranges["depth"]
        taken = self.i.valid & self.i.ready
        # Clears are counted modulo 256: at half of that nothing may be under way that an older number still belongs to.
        busy = Cat(memory.busy for memory in ranges.values()).any()
        serial = self._clear(m, front, ranges)
        m.d.comb += [front.go.eq(credit.any & flying.any & ~busy & ~front.switches & (flying.all | ~serial[:7].all())), credit.take.eq(taken),
                     credit.free.eq(self.o.valid & self.o.ready), flying.take.eq(taken & (self.i.payload.kind == Kind.WORK))]

        # The tile waits for its bounds: until it is looked up, and until its outcome is known.
        m.submodules.query = query = Query(p.edge)
        m.d.comb += [query.state.eq(front.state), query.tile.eq(front.tile)]
        before, waits = self.LOOK_UP - 4, StructLayout({"tile": self._tile, "clearing": 1})
        m.submodules.waiting, m.submodules.found = waiting, found = DelayLine(waits.size, before), DelayLine(waits.size, at + 2 - before)
        m.d.comb += [waits(waiting.i).tile.eq(front.tile), waits(waiting.i).clearing.eq(front.clearing), found.i.eq(waiting.o)]
        here, valid = waits(waiting.o), delay(m, front.valid, before, "valid")
        kept, place, refused = self._look_up(m, front, here.tile, valid, ranges)

        given = {"clearing": (here.clearing, before), "back": (here.tile.back, before), "valid": (valid, before),
                 "kept": (kept, self.LOOK_UP), "refused": (refused, self.LOOK_UP)}
        outcome, leaves, works, begins, now = self._judge(m, front, query, ranges, given)

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
        front.report(m, queue.i, works & delay(m, now["refused"], 1, "late_refused"))
        self._feedback(m, rest, begins, valid, here.tile, depth, serial, flying)
        return m

    def _judge(self, m, front, query, ranges, given):
        """Outcomes; ``given``: what is known of a tile, and since when."""
        # Stencil first, then depths: two clocks later, since they stay as they are where the stencil test fails.
        at, depth = Query.LATENCY + 1, ranges["depth"]
        tile = {clock: {name: delay(m, value, at + clock - since, f"{name}_{clock + 3}") for name, (value, since) in given.items()}
                for clock in (-3, -2, -1, 1)}
        fails = Signal()
        if self._params.stencil:
            stencil_op(m, front.state, ranges["stencil"], *self._writers(front, tile[-3], "stencil"), tile[-3]["back"])
            fails_now = stencil_fails(front.state, ranges["stencil"].range, tile[-2]["back"]) & tile[-2]["kept"]
            m.d.comb += ranges["stencil"].keep.eq(fails_now & ~tile[-2]["clearing"])
            m.d.sync += fails.eq(fails_now)
        tests, clears = self._writers(front, tile[-1], "depth")
        depth_op(m, front.state, query, depth, tests & ~fails, clears)

        # What cannot be, and a clock later what follows from it.
        signs, outcome, leaves, works, begins = Signal(3), Signal(Outcome), Signal(), Signal(), Signal()
        m.d.sync += signs.eq(impossible_signs(m, depth, delay(m, query.low_ones, 1, "low_ones"), delay(m, query.high_zeros, 1, "high_zeros")))
        now = tile[1]
        drop, accept = depth_verdict(front.state, signs, now["back"])
        dropped = now["refused"] | ~front.legal | (now["kept"] & (drop | delay(m, fails, 2, "fails")))
        m.d.sync += [leaves.eq(~dropped), works.eq(now["valid"] & ~now["clearing"]),
                     outcome.eq(Mux(dropped, Outcome.DROP, Mux(now["kept"] & accept, Outcome.ACCEPT, Outcome.TEST))),
                     begins.eq(now["valid"] & ~now["clearing"] & ~dropped & front.state.depth_test & front.state.depth_write)]
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
        state, entries = front.state, self._params.entries // BANKS
        last = last_tile(m, state, self._params.edge)
        m.submodules.row = row = Multiplier(15, 15)
        columns, full, beyond = Signal(13), Signal(28), Signal()
        m.d.sync += [columns.eq((last[0] >> 1) + 1), beyond.eq((tile.x > last[0]) | (tile.y > last[1]))]
        m.d.comb += [row.a.eq(tile.y >> 1), row.b.eq(columns)]
        m.d.sync += full.eq(row.o + delay(m, tile.x >> 1, row.latency, "half_x"))
        kept, place, refused = Signal(), Signal(range(entries)), Signal()
        m.d.sync += [kept.eq(full < entries), place.eq(full), refused.eq(delay(m, beyond, row.latency, "beyond"))]
        x, y, enters = (delay(m, value, row.latency + 2, f"entry_{name}") for value, name in ((tile.x, "x"), (tile.y, "y"), (valid, "valid")))
        entry = {"valid": enters & kept, "x": x, "y": y, "place": place, "bank": Cat(x[0], y[0])}
        for plane, memory in ranges.items():
            m.d.comb += [getattr(memory, name).eq(delay(m, value, 2 if plane == "depth" else 0, f"{plane}_{name}")) for name, value in entry.items()]
        return kept, place, refused

    def _writers(self, front, tile, plane):
        """Whether a tile is tested, and whether it is cleared."""
        entry = tile["valid"] & tile["kept"]
        return entry & ~tile["clearing"] & ~tile["refused"] & front.legal, entry & tile["clearing"] & self._visits[plane]

    def _feedback(self, m, rest, begins, valid, tile, depth, serial, flying):
        """A report counts where no other write is under way, and no tile that shares its count between look-up and outcome."""
        m.submodules.flight = flight = InFlight(PLACES)
        waits, given, pending, moves = Signal(), Signal(self.feedback.payload.shape()), Signal(), self.heard
        note = NOTE(given.note)
        m.d.comb += [flight.take.eq(begins), flight.taken.x.eq(rest.x), flight.taken.y.eq(rest.y)]
        stages, key = Query.LATENCY + 3 - self.LOOK_UP + 5, Signal(KEY)
        m.d.comb += [key.x.eq(tile.x), key.y.eq(tile.y)]
        keys, valids = [key.as_value()], [valid]
        for n in range(1, stages):
            keys.append(delay(m, keys[-1], 1, f"key_{n}"))
            valids.append(delay(m, valids[-1], 1, f"key_valid_{n}"))
        begun = 4 + self.READ - self.LOOK_UP
        following = list(zip(valids, keys, strict=True))[begun - 1:-1]  # where they are in the next clock

        def will_wait(report):
            return Cat(v & (k == Cat(report.x[:3], report.y[:3])) for v, k in following).any()

        offered, bank = self.feedback.payload, Cat(given.x[0], given.y[0])
        m.d.comb += [moves.eq(waits & ~depth.busy & (flight.crowded | ~(pending | depth.taken.bit_select(bank, 1)))),
                     self.feedback.ready.eq(~waits | moves), flight.free.eq(moves), flying.free.eq(delay(m, moves, 1, "landed"))]
        m.d.comb += [flight.next.eq(self.feedback.ready), flight.next_key.x.eq(offered.x), flight.next_key.y.eq(offered.y)]
        m.d.sync += pending.eq(Mux(self.feedback.ready, will_wait(offered), will_wait(given)))
        with m.If(self.feedback.ready):
            m.d.sync += [waits.eq(self.feedback.valid), given.eq(offered)]
        m.d.comb += [depth.put.eq(moves & ~flight.many & note.kept & (note.serial == serial)), depth.put_bank.eq(bank),
                     depth.put_place.eq(note.place), depth.put_range.low.eq(given.low), depth.put_range.high.eq(given.high)]


def heads(depth, form):
    """The highest bits of a stored depth."""
    return Array(depth >> BITS[f] - payloads.HIZ_BITS for f in DepthFormat)[form]
