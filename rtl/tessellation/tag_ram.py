# SPDX-License-Identifier: BSD-2-Clause
"""TagRAM: points of the newest waves, all compared at once."""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, ShapeLike, Signal
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import number
from fixfunc.rtl.lib.delay import register

COORDINATE = 17


def tag_layout(patch_bits):
    """A domain point: the number of its patch, and its coordinates."""
    return StructLayout({"patch": patch_bits, "u": COORDINATE, "v": COORDINATE})


def place_layout(rows, lanes, waves):
    """A place in the vertex buffer, and the TagRAM's row of its wave, one bit for each row."""
    return StructLayout({"lane": range(lanes), "wave": range(waves), "row": rows})


class TagWrite(wiring.Signature):
    """Write port of the TagRAM, seen from the writer."""

    def __init__(self, lanes: int, waves: int, tag: ShapeLike) -> None:
        super().__init__(
            {
                "valid": Out(1),
                "new_wave": Out(1),  # the oldest row is evicted, and becomes this wave's
                "wave": Out(range(waves)),
                "lane": Out(range(lanes)),
                "tag": Out(tag),
            }
        )


class TagRam(wiring.Component):
    """Find a point among those of the newest waves: two clocks.

    A row holds the tags of one wave. Rows are evicted in turn.

    Parameters
    ----------
    rows : int
        Waves.
    lanes : int
        Points of a wave.
    waves : int
        Waves of the vertex buffer.
    patch_bits : int
        Bits of a patch's number.

    Members
    -------
    enable : In(1)
        The lookup pipeline moves. Writes do not depend on it.
    i : In(tag_layout(patch_bits))
        The tag to look up.
    hit : Out(1)
        The tag was found; two enabled clocks later.
    place : Out(place_layout(rows, lanes, waves))
        The place of the tag that was found.
    write : In(TagWrite(lanes, waves, tag_layout(patch_bits)))
        A tag, compared with from the next clock but one on.
    newest : Out(rows)
        The row of the newest wave.
    oldest : Out(rows)
        The row that the next wave evicts.
    evicted : Out(rows)
        The row that is evicted in this clock.
    """

    def __init__(self, rows, lanes, waves, patch_bits):
        self._rows = rows
        self._lanes = lanes
        self._waves = waves
        self._tag = tag_layout(patch_bits)
        super().__init__(
            {
                "enable": In(1),
                "i": In(self._tag),
                "hit": Out(1),
                "place": Out(place_layout(rows, lanes, waves)),
                "write": In(TagWrite(lanes, waves, self._tag)),
                "newest": Out(rows, init=1),
                "oldest": Out(rows),
                "evicted": Out(rows),
            }
        )

    def elaborate(self, platform):
        m = Module()
        new_wave = self.write.valid & self.write.new_wave
        m.d.comb += [
            self.oldest.eq(self.newest.rotate_left(1) if self._rows > 1 else 1),
            self.evicted.eq(Mux(new_wave, self.oldest, 0)),
        ]
        with m.If(new_wave):
            m.d.sync += self.newest.eq(self.oldest)

        # Writes take a clock of their own, because the decision ahead of them has a long path.
        row = Mux(self.write.new_wave, self.oldest, self.newest)
        write_valid = register(m, self.write.valid, 1, "write_valid")
        write_row = register(m, row, self._rows, "write_row")
        write_wave = register(m, self.write.wave, len(self.place.wave), "write_wave")
        write_lane = register(m, self.write.lane, len(self.place.lane), "write_lane")
        write_tag = register(m, self.write.tag, self._tag, "write_tag")
        previously_evicted = register(m, self.evicted, self._rows, "previously_evicted")

        lane_matches = []
        row_waves = []
        row_hits = []
        for r in range(self._rows):
            wave = Signal(range(self._waves), name=f"wave_{r}")
            valid = Signal(self._lanes, name=f"valid_{r}")
            tags = [Signal(self._tag, name=f"tag_{r}_{n}") for n in range(self._lanes)]
            with m.If(write_valid & write_row[r]):
                m.d.sync += [
                    wave.eq(write_wave),
                    valid.eq(Mux(previously_evicted[r], 0, valid) | 1 << write_lane),
                ]
            for n, tag in enumerate(tags):
                with m.If(write_valid & write_row[r] & (write_lane == n)):
                    m.d.sync += tag.eq(write_tag)

            # The row may be another wave's when the point is decided, so the wave is read with the
            # comparison, and a row that is evicted meanwhile does not hit.
            match = Signal(self._lanes, name=f"match_{r}")
            match_wave = Signal.like(wave, name=f"match_wave_{r}")
            row_valid = Signal(name=f"row_valid_{r}")
            with m.If(self.enable):
                m.d.sync += [
                    match.eq(Cat(valid[n] & (tag == self.i) for n, tag in enumerate(tags))),
                    match_wave.eq(wave),
                    row_valid.eq(~previously_evicted[r] & ~self.evicted[r]),
                ]
            lane_matches.append(match)
            row_waves.append(match_wave)
            row_hits.append(match.any() & row_valid)

        hits = Cat(row_hits)
        hit_waves = (Mux(hit, wave, 0) for hit, wave in zip(row_hits, row_waves, strict=True))
        with m.If(self.enable):
            m.d.sync += [
                self.hit.eq((hits & ~self.evicted).any()),
                self.place.row.eq(hits & ~self.evicted),
                self.place.lane.eq(number(reduce(or_, lane_matches))),
                self.place.wave.eq(reduce(or_, hit_waves)),
            ]
        return m
