# SPDX-License-Identifier: BSD-2-Clause
"""The domain-matching unit."""

from dataclasses import dataclass
from itertools import pairwise

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import delay, held
from fixfunc.rtl.tessellation._tag_ram import TagRam
from fixfunc.rtl.tessellation._vertex_holds import VertexHolds
from fixfunc.rtl.tessellation._wave_rows import WaveRows
from fixfunc.spec import payloads, points
from fixfunc.spec.state import PointKind

STAGES = 2  # from the comparison with all tags to the decision
AHEAD = STAGES + 1  # points that may not be tags yet when one is compared with all tags


@dataclass(frozen=True)
class DomainMatchingParams:
    """Shape of a :class:`DomainMatching`.

    Parameters
    ----------
    rows, lanes : int
        Of the TagRAM: the newest waves, and points of each; lanes, a power of two above 1.
    waves : int
        Rows of the vertex buffer, a power of two: at least 8, and four times ``rows``.
    references : int
        Bits of a wave's count of references.
    across : bool
        Waves go on from patch to patch; otherwise each patch begins one.
    """

    rows: int = 2
    lanes: int = 32
    waves: int = 64
    references: int = 8
    across: bool = False

    def __post_init__(self):
        if self.rows < 1:
            raise ValueError(f"rows must be at least 1, not {self.rows!r}")
        for name, least in (("lanes", 2), ("waves", max(8, 4 * self.rows))):
            value = getattr(self, name)
            if value < least or value & value - 1:
                raise ValueError(f"{name} must be a power of two of at least {least}, not {value!r}")
        if self.references < 4:
            raise ValueError(f"references must be at least 4 bits, not {self.references!r}")
        if self.lanes * self.waves > 1 << 16:
            raise ValueError(f"lanes times waves must be at most 65536, not {self.lanes * self.waves}")

    @property
    def patch(self) -> int:
        """Bits of a patch's number in a tag: each has a point at least, so that none of the same number is left."""
        return (self.rows * self.lanes + AHEAD).bit_length() + 1


CONFIGS = {
    "default": DomainMatchingParams(),
    "across": DomainMatchingParams(across=True),
    "tiny": DomainMatchingParams(lanes=4, waves=8, references=4),
    "tiny_across": DomainMatchingParams(lanes=4, waves=8, references=4, across=True),
}
PURPOSE = {  # of each configuration
    "default": "64 waves of 32 points; each patch begins a wave",
    "across": "the same; waves go on from patch to patch",
    "tiny": "for benches: 8 waves of 4 points",
    "tiny_across": "for benches: the same, waves go on from patch to patch",
}


class DomainMatching(wiring.Component):
    """Find domain points that are being shaded already; give every other one a place in the vertex buffer.

    One point a clock, hit or miss; out :attr:`LATENCY` clocks later at the earliest. A point waits for a row, or for a
    reference, until users release one; then a FLUSH goes ahead of it, once, so that they can.

    Parameters
    ----------
    params : DomainMatchingParams

    Members
    -------
    i : In(stream.Signature(layout(points.DOMAIN_POINT)))
        Points; END of a draw.
    release : In(stream.Signature(range(params.lanes * params.waves)))
        A dsid, by each of its users, once for each time that it came out, from the clock after on; always ready.
    o : Out(stream.Signature(layout(points.MATCHED_POINT)))
        The same points, and their places.
    counted : Out(stream.Signature(layout(points.MATCHES)))
        With every END.
    """

    LATENCY = STAGES + 2

    def __init__(self, params: DomainMatchingParams = CONFIGS["default"]) -> None:
        self._params = params
        self._place = StructLayout({"lane": range(params.lanes), "wave": range(params.waves), "row": params.rows})
        super().__init__({
            "i": In(stream.Signature(layout(points.DOMAIN_POINT))), "release": In(stream.Signature(range(params.lanes * params.waves))),
            "o": Out(stream.Signature(layout(points.MATCHED_POINT))), "counted": Out(stream.Signature(layout(points.MATCHES))),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.tags = tags = TagRam(p.rows, p.lanes, p.waves, p.patch)
        m.submodules.rows, m.submodules.holds = rows, holds = WaveRows(p.waves, p.references), VertexHolds(p.lanes * p.waves, p.references)
        m.submodules.counted = counted = fifo.SyncFIFO(width=payloads.width(points.MATCHES), depth=4)
        wiring.connect(m, counted.r_stream, wiring.flipped(self.counted))
        moves, place = Signal(), Signal(self._place)
        point = self._stages(m, tags, moves)
        recent = [Signal(range(p.waves), name=f"recent_{n}", init=-1 - n & p.waves - 1) for n in range(p.rows)]
        hit, found = self._find(m, tags, point, moves, place)

        # A miss takes the wave's next lane, or the next wave, which must be free; every point takes a reference.
        used, ended, following = Signal(range(p.lanes + 1), init=p.lanes), Signal(), Signal(range(p.waves))
        is_point, leaves, begins, done = point.beat.kind == PointKind.POINT, ~self.o.valid | self.o.ready, Signal(), Signal()
        cuts, waits, takes = (point.fresh if not p.across else 0) | ended, Signal(), Signal()
        m.d.comb += [begins.eq(~hit & (cuts | (used == p.lanes))), waits.eq(point.valid & is_point & ((begins & ~rows.free) | rows.full)),
                     done.eq(point.valid & leaves & Mux(is_point, ~waits, counted.level < 2)), moves.eq(~point.valid | done),
                     takes.eq(done & is_point & ~hit), rows.next.eq(following), rows.advances.eq(takes & begins)]
        m.d.comb += place.eq(Mux(hit, found, Cat(Mux(begins, 0, used)[:len(found.lane)], Mux(begins, following, recent[0]),
                                                 Mux(begins, tags.oldest, tags.newest))))
        with m.If(takes):
            m.d.sync += used.eq(Mux(begins, 0, used) + 1)
            with m.If(begins):
                m.d.sync += [following.eq(following + 1), ended.eq(0), *(new.eq(old) for old, new in zip([following, *recent], recent, strict=False))]
        with m.If(done & ~is_point):
            m.d.sync += ended.eq(1)
        m.d.comb += [tags.takes.eq(takes), tags.begins.eq(begins), tags.wave_taken.eq(place.wave), tags.lane_taken.eq(place.lane),
                     tags.tag_taken.eq(point.tag)]
        m.d.comb += [holds.takes.eq(held(m, done & is_point, 1, "takes")), holds.again.eq(held(m, hit, 1, "again")),
                     holds.taken.eq(held(m, Cat(place.lane, place.wave), len(holds.taken), "taken")),
                     rows.takes.eq(holds.takes), rows.wave.eq(holds.taken >> len(place.lane)),
                     self.release.ready.eq(1), holds.releases.eq(self.release.valid), holds.released.eq(self.release.payload),
                     rows.releases.eq(holds.right), rows.released.eq(holds.vertex >> len(place.lane)), rows.live.eq(self._one_hot(recent))]
        cut_short = (done & (~is_point | takes)) & (used != p.lanes) & ~ended & Mux(is_point, cuts, 1)
        self._leave(m, point, place, hit, done, waits, leaves)
        self._count(m, counted, done & ~is_point, {
            "points": done & is_point, "hits": done & is_point & hit, "misses": takes, "waves": takes & begins, "partial_waves": cut_short,
            "stalls": waits, "wrong": holds.wrong})
        return m

    def _stages(self, m, tags, moves):
        """Points on their way: compared with all tags, and with those ahead of them, which may not be tags yet."""
        bits = self._params.patch
        stage = StructLayout({"valid": 1, "fresh": 1, "beat": self.i.payload.shape(), "tag": tags.i.shape(), "same": AHEAD})
        came, *ahead = stages = [Signal(stage, name=f"stage_{n}") for n in range(1 + AHEAD)]
        given, patch, fresh, new = self.i.payload, Signal(bits), Signal(init=1), Signal()
        m.d.comb += [self.i.ready.eq(moves), tags.moves.eq(moves), tags.i.eq(came.tag),
                     new.eq((given.kind == PointKind.POINT) & (given.first | fresh))]
        with m.If(moves & self.i.valid):
            m.d.sync += [patch.eq(patch + new), fresh.eq(given.kind == PointKind.END)]
        with m.If(moves):
            m.d.sync += [came.valid.eq(self.i.valid), came.fresh.eq(new), came.beat.eq(given),
                         came.tag.eq(Cat((patch + new)[:bits], given.u, given.v))]
            m.d.sync += [later.eq(earlier) for earlier, later in pairwise(stages)]
            m.d.sync += ahead[0].same.eq(Cat(point.tag == came.tag for point in ahead))
        return ahead[STAGES - 1]

    def _find(self, m, tags, point, moves, place):
        """Whether, and where, a point is being shaded: by a tag, or by one that was ahead of it, unless its wave's row is another's by now."""
        decided = [Signal(StructLayout({"valid": 1, "place": self._place}), name=f"decided_{n}") for n in range(AHEAD)]
        with m.If(moves):
            m.d.sync += [decided[0].valid.eq(point.valid & (point.beat.kind == PointKind.POINT)), decided[0].place.eq(place)]
            for earlier, later in pairwise(decided):
                m.d.sync += [later.valid.eq(earlier.valid & ~(tags.dies & earlier.place.row).any()), later.place.eq(earlier.place)]
        hit, found = Signal(), Signal(self._place)
        flags = Cat(entry.valid & point.same[n] for n, entry in enumerate(decided))
        m.d.comb += [hit.eq(flags.any() | tags.found), found.eq(Cat(tags.lane, tags.wave, tags.row))]
        for flag, entry in zip(flags, decided, strict=True):
            with m.If(flag):
                m.d.comb += found.eq(entry.place)
        return hit, found

    def _leave(self, m, point, place, hit, done, waits, leaves):
        """A point with its place; or, ahead of one that waits, a FLUSH."""
        out, flushed = self.o.payload, Signal()
        with m.If(done | (leaves & waits)):
            m.d.sync += flushed.eq(~done)
        with m.If(leaves):
            m.d.sync += [self.o.valid.eq(done | (waits & ~flushed)), out.eq(0)]
            with m.If(done):
                m.d.sync += [out[name].eq(point.beat[name]) for name in point.beat.shape().members]
                with m.If(point.beat.kind == PointKind.POINT):
                    m.d.sync += [out.hit.eq(hit), out.dsid.eq(Cat(place.lane, place.wave))]
            with m.Elif(waits):
                m.d.sync += out.kind.eq(PointKind.FLUSH)

    def _count(self, m, told, ends, events):
        """How often what came to pass, told with every END, two clocks later."""
        counts = layout(points.MATCHES)(told.w_data)
        m.d.comb += told.w_en.eq(delay(m, ends, 2, "ends"))
        for name, happens in events.items():
            total = Signal(32, name=name)
            m.d.sync += total.eq(total + delay(m, happens, 1, f"{name}_now"))
            m.d.comb += counts[name].eq(total)

    def _one_hot(self, recent):
        """The waves that a point may be found in."""
        return Cat(Cat(wave == n for wave in recent).any() for n in range(self._params.waves))
