# SPDX-License-Identifier: BSD-2-Clause
"""Point lookup: whether a domain point is in one of the newest waves, and at which place."""

from itertools import pairwise

from amaranth.hdl import Cat, Module, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.rtl.tessellation.tag_ram import TagRam, place_layout, tag_layout
from fixfunc.spec import points
from fixfunc.spec.state import PointKind

STAGES = 2  # clocks from the comparison with all tags to the decision
RECENT = STAGES + 1  # points ahead that may not be tags yet when a point is compared with all tags


def stage_layout(tag: ShapeLike) -> StructLayout:
    """A point in the lookup pipeline."""
    return StructLayout(
        {
            "valid": 1,
            "new_patch": 1,  # first of its patch
            "beat": layout(points.DOMAIN_POINT),
            "tag": tag,
            "matches": RECENT,  # bit n: equal to the point n + 1 places ahead
        }
    )


class PointLookup(wiring.Component):
    """Look points up in the TagRAM, and among the points ahead that are no tags yet.

    A point is decided :data:`STAGES` + 1 enabled clocks after it enters. Its place is fed back in
    the same clock.

    Parameters
    ----------
    rows, lanes, waves : int
        Parameters of the :class:`~fixfunc.rtl.tessellation.tag_ram.TagRam`.
    patch_bits : int
        Bits of a patch's number in a tag.

    Members
    -------
    i : In(stream.Signature(layout(points.DOMAIN_POINT)))
        Points, and ENDs of draws.
    enable : In(1)
        The pipeline moves: the point at its end has been decided, or there is none.
    point : Out(stage_layout(tag))
        The point to decide.
    hit : Out(1)
        ``point`` has a place already.
    hit_place : Out(place_layout(rows, lanes, waves))
        The place that ``point`` has, if ``hit``.
    place : In(place_layout(rows, lanes, waves))
        The place that the point gets: its own, or a new one.
    allocate : In(1)
        The place is a new one, so the point becomes a tag.
    new_wave : In(1)
        The place is the first of a new wave.
    newest, oldest : Out(rows)
        Rows of the newest and of the next wave, as in the TagRAM.
    """

    def __init__(self, rows, lanes, waves, patch_bits):
        self._tags = TagRam(rows, lanes, waves, patch_bits)
        self._patch_bits = patch_bits
        self._place = place_layout(rows, lanes, waves)
        self._stage = stage_layout(tag_layout(patch_bits))
        super().__init__(
            {
                "i": In(stream.Signature(layout(points.DOMAIN_POINT))),
                "enable": In(1),
                "point": Out(self._stage),
                "hit": Out(1),
                "hit_place": Out(self._place),
                "place": In(self._place),
                "allocate": In(1),
                "new_wave": In(1),
                "newest": Out(rows),
                "oldest": Out(rows),
            }
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.tags = tags = self._tags
        m.d.comb += [
            tags.enable.eq(self.enable),
            tags.write.valid.eq(self.allocate),
            tags.write.new_wave.eq(self.new_wave),
            tags.write.wave.eq(self.place.wave),
            tags.write.lane.eq(self.place.lane),
            tags.write.tag.eq(self.point.tag),
            self.newest.eq(tags.newest),
            self.oldest.eq(tags.oldest),
        ]
        self._stages(m, tags)
        self._forward(m, tags)
        return m

    def _stages(self, m, tags):
        """Points on their way, compared with all tags and with the points ahead."""
        stages = [Signal(self._stage, name=f"stage_{n}") for n in range(1 + RECENT)]
        first = stages[0]
        following = stages[1:]
        beat = self.i.payload
        patch = Signal(self._patch_bits)
        after_end = Signal(init=1)
        new_patch = Signal()
        m.d.comb += [
            self.i.ready.eq(self.enable),
            tags.i.eq(first.tag),
            new_patch.eq((beat.kind == PointKind.POINT) & (beat.first | after_end)),
            self.point.eq(following[STAGES - 1]),
        ]
        with m.If(self.enable & self.i.valid):
            m.d.sync += [
                patch.eq(patch + new_patch),
                after_end.eq(beat.kind == PointKind.END),
            ]
        with m.If(self.enable):
            m.d.sync += [
                first.valid.eq(self.i.valid),
                first.new_patch.eq(new_patch),
                first.beat.eq(beat),
                first.tag.eq(Cat((patch + new_patch)[: self._patch_bits], beat.u, beat.v)),
            ]
            m.d.sync += [later.eq(earlier) for earlier, later in pairwise(stages)]
            m.d.sync += following[0].matches.eq(Cat(point.tag == first.tag for point in following))

    def _forward(self, m, tags):
        """Hit, and its place: from the TagRAM, or from a point that was decided too late for it.

        A recent point's place is void once its wave's row has been evicted.
        """
        recent = [
            Signal(StructLayout({"valid": 1, "place": self._place}), name=f"recent_{n}")
            for n in range(RECENT)
        ]
        with m.If(self.enable):
            m.d.sync += [
                recent[0].valid.eq(self.point.valid & (self.point.beat.kind == PointKind.POINT)),
                recent[0].place.eq(self.place),
            ]
            for earlier, later in pairwise(recent):
                m.d.sync += [
                    later.valid.eq(earlier.valid & ~(tags.evicted & earlier.place.row).any()),
                    later.place.eq(earlier.place),
                ]
        recent_hits = Cat(point.valid & self.point.matches[n] for n, point in enumerate(recent))
        m.d.comb += [
            self.hit.eq(recent_hits.any() | tags.hit),
            self.hit_place.eq(tags.place),
        ]
        for recent_hit, point in zip(recent_hits, recent, strict=True):
            with m.If(recent_hit):
                m.d.comb += self.hit_place.eq(point.place)
