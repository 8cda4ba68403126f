# SPDX-License-Identifier: BSD-2-Clause
"""Domain-matching unit: domain points that are shaded already are not shaded again."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.rtl.tessellation.match_counters import MatchCounters
from fixfunc.rtl.tessellation.point_lookup import RECENT, STAGES, PointLookup
from fixfunc.rtl.tessellation.vertex_references import VertexReferences
from fixfunc.rtl.tessellation.wave_allocator import WaveAllocator
from fixfunc.rtl.tessellation.wave_references import WaveReferences
from fixfunc.spec import points
from fixfunc.spec.state import PointKind


@dataclass(frozen=True)
class DomainMatchingParams:
    """Shape of a :class:`DomainMatching`.

    Parameters
    ----------
    rows : int
        Newest waves whose points are compared: rows of the TagRAM.
    lanes : int
        Points of a wave: a power of two above 1.
    waves : int
        Rows of the vertex buffer: a power of two, at least 8 and four times ``rows``.
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
                raise ValueError(
                    f"{name} must be a power of two of at least {least}, not {value!r}"
                )
        if self.references < 4:
            raise ValueError(f"references must be at least 4 bits, not {self.references!r}")
        if self.lanes * self.waves > 1 << 16:
            raise ValueError(
                f"lanes times waves must be at most 65536, not {self.lanes * self.waves}"
            )

    @property
    def patch(self) -> int:
        """Bits of a patch's number in a tag.

        Each patch has a point at least, so that no tag of an old patch of the same number remains.
        """
        return (self.rows * self.lanes + RECENT).bit_length() + 1


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
    """Find domain points that are being shaded, and allocate places for all others.

    A place is a lane of a wave in the vertex buffer. One point a clock, hit or miss,
    :attr:`LATENCY` clocks later at the earliest. A point stalls until users have released a wave,
    or a reference, that it needs. A FLUSH leaves ahead of it, once, so that they can go on. After a
    reset no point is taken until all places have been set free, one a clock.

    Parameters
    ----------
    params : DomainMatchingParams

    Members
    -------
    i : In(stream.Signature(layout(points.DOMAIN_POINT)))
        Points; END of a draw.
    release : In(stream.Signature(range(params.lanes * params.waves)))
        A dsid that a user no longer needs, once for each time that it left ``o``, from the clock
        after on; always ready.
    o : Out(stream.Signature(layout(points.MATCHED_POINT)))
        Points of ``i``, and their places.
    counted : Out(stream.Signature(layout(points.MATCHES)))
        Counters, with every END.
    """

    LATENCY = STAGES + 2

    def __init__(self, params: DomainMatchingParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(layout(points.DOMAIN_POINT))),
                "release": In(stream.Signature(range(params.lanes * params.waves))),
                "o": Out(stream.Signature(layout(points.MATCHED_POINT))),
                "counted": Out(stream.Signature(layout(points.MATCHES))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.lookup = lookup = PointLookup(p.rows, p.lanes, p.waves, p.patch)
        m.submodules.allocator = allocator = WaveAllocator(p.rows, p.lanes, p.waves, p.across)
        m.submodules.waves = waves = WaveReferences(p.waves, p.references)
        m.submodules.vertices = vertices = VertexReferences(p.lanes * p.waves, p.references)
        m.submodules.counters = counters = MatchCounters()
        m.d.comb += [
            lookup.i.payload.eq(self.i.payload),
            lookup.i.valid.eq(self.i.valid & ~vertices.initialising),
            self.i.ready.eq(lookup.i.ready & ~vertices.initialising),
        ]
        wiring.connect(m, counters.o, wiring.flipped(self.counted))

        # The decision: a point leaves with its place, or stalls. A miss allocates a place.
        point = lookup.point
        is_point = point.beat.kind == PointKind.POINT
        new_wave = Signal()
        stall = Signal()
        commit = Signal()
        allocate = Signal()
        output_ready = ~self.o.valid | self.o.ready
        m.d.comb += [
            new_wave.eq(~lookup.hit & allocator.new_wave),
            stall.eq(point.valid & is_point & ((new_wave & ~waves.next_free) | waves.full)),
            commit.eq(point.valid & output_ready & Mux(is_point, ~stall, counters.available)),
            allocate.eq(commit & is_point & ~lookup.hit),
            lookup.enable.eq(~point.valid | commit),
            lookup.allocate.eq(allocate),
            lookup.new_wave.eq(new_wave),
            allocator.new_patch.eq(point.new_patch),
            allocator.allocate.eq(allocate),
            allocator.end_draw.eq(commit & ~is_point),
        ]
        place = lookup.place
        m.d.comb += place.eq(lookup.hit_place)
        with m.If(~lookup.hit):
            m.d.comb += [
                place.lane.eq(allocator.lane),
                place.wave.eq(allocator.wave),
                place.row.eq(Mux(new_wave, lookup.oldest, lookup.newest)),
            ]

        self._references(m, lookup, allocator, waves, vertices, commit & is_point, new_wave)
        self._output(m, lookup, commit, stall, output_ready)
        m.d.comb += [
            counters.end_draw.eq(commit & ~is_point),
            counters.events.points.eq(commit & is_point),
            counters.events.hits.eq(commit & is_point & lookup.hit),
            counters.events.misses.eq(allocate),
            counters.events.waves.eq(allocate & new_wave),
            counters.events.partial_waves.eq(allocator.partial_wave),
            counters.events.stalls.eq(stall),
            counters.events.wrong.eq(vertices.wrong_release),
        ]
        return m

    def _references(self, m, lookup, allocator, waves, vertices, acquire, new_wave):
        """References to vertices and waves: acquired by every point, released by users.

        A reference is acquired a clock after the decision, which has a long path. A release counts
        for the wave once it has been checked.
        """
        lane_bits = len(lookup.place.lane)
        dsid = Cat(lookup.place.lane, lookup.place.wave)
        m.d.sync += [
            vertices.acquire.valid.eq(acquire),
            vertices.acquire.payload.vertex.eq(dsid),
            vertices.acquire.payload.hit.eq(lookup.hit),
        ]
        m.d.comb += [
            waves.acquire.valid.eq(vertices.acquire.valid),
            waves.acquire.payload.eq(vertices.acquire.payload.vertex >> lane_bits),
            self.release.ready.eq(1),
            vertices.release.valid.eq(self.release.valid),
            vertices.release.payload.eq(self.release.payload),
            waves.release.valid.eq(vertices.checked_release.valid),
            waves.release.payload.eq(vertices.checked_release.payload >> lane_bits),
            waves.live.eq(allocator.live),
            waves.next_wave.eq(allocator.next_wave),
            waves.next_allocated.eq(allocator.allocate & new_wave),
        ]

    def _output(self, m, lookup, commit, stall, output_ready):
        """A point with its place, or a FLUSH ahead of a point that stalls."""
        point = lookup.point
        flushed = Signal()
        with m.If(commit | (output_ready & stall)):
            m.d.sync += flushed.eq(~commit)
        with m.If(output_ready):
            m.d.sync += [
                self.o.valid.eq(commit | (stall & ~flushed)),
                self.o.payload.eq(0),
            ]
            with m.If(commit):
                m.d.sync += [
                    self.o.payload[name].eq(point.beat[name]) for name in point.beat.shape().members
                ]
                with m.If(point.beat.kind == PointKind.POINT):
                    m.d.sync += [
                        self.o.payload.hit.eq(lookup.hit),
                        self.o.payload.dsid.eq(Cat(lookup.place.lane, lookup.place.wave)),
                    ]
            with m.Elif(stall):
                m.d.sync += self.o.payload.kind.eq(PointKind.FLUSH)
