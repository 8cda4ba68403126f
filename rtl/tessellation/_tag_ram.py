# SPDX-License-Identifier: BSD-2-Clause
"""Points of the newest waves, all compared at once."""

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.bits import number
from fixfunc.rtl.pipeline import held

COORDINATE = 17


def tag(bits):
    """A point: the patch that it is of, by so many bits, and where."""
    return StructLayout({"patch": bits, "u": COORDINATE, "v": COORDINATE})


class TagRam(wiring.Component):
    """Finds a point among those of the newest waves: two clocks.

    Parameters
    ----------
    rows, lanes, waves : int
    patch : int
        Bits of a patch's number.

    Members
    -------
    moves : In(1)
        The clocks that count.
    i : In(tag)
    found, row, wave, lane : Out
        Two clocks later: it is there, and where; the row by one bit for each.
    takes, begins, wave_taken, lane_taken, tag_taken : In
        A point becomes a tag: compared with from the next clock but one on.
    newest, oldest, dies : Out(rows)
        The row of the newest wave; the one that the next one takes, and takes now.
    """

    def __init__(self, rows, lanes, waves, patch):
        self._rows, self._lanes, self._waves, self._tag = rows, lanes, waves, tag(patch)
        super().__init__({
            "moves": In(1), "i": In(self._tag), "found": Out(1), "row": Out(rows), "wave": Out(range(waves)), "lane": Out(range(lanes)),
            "takes": In(1), "begins": In(1), "wave_taken": In(range(waves)), "lane_taken": In(range(lanes)), "tag_taken": In(self._tag),
            "newest": Out(rows, init=1), "oldest": Out(rows), "dies": Out(rows),
        })

    def elaborate(self, platform):
        m = Module()
        dies, died, matches, waves = self.dies, Signal(self._rows), [], []
        m.d.comb += [self.oldest.eq(self.newest.rotate_left(1) if self._rows > 1 else 1), dies.eq(Mux(self.takes & self.begins, self.oldest, 0))]
        m.d.sync += died.eq(dies)
        with m.If(self.takes & self.begins):
            m.d.sync += self.newest.eq(self.oldest)

        # A clock later, so that the decision has not far to go.
        takes, row = held(m, self.takes, 1, "takes_late"), held(m, Mux(self.begins, self.oldest, self.newest), self._rows, "row_late")
        wave, lane = held(m, self.wave_taken, len(self.wave), "wave_late"), held(m, self.lane_taken, len(self.lane), "lane_late")
        put = Signal(self._tag)
        m.d.sync += put.eq(self.tag_taken)
        for r in range(self._rows):
            kept, valid, match, same = (Signal(shape, name=f"{name}_{r}") for name, shape in (
                ("kept", range(self._waves)), ("valid", self._lanes), ("match", self._lanes), ("same", 1)))
            entries = [Signal(self._tag, name=f"entry_{r}_{n}") for n in range(self._lanes)]
            before, then = Signal.like(kept, name=f"before_{r}"), takes & row[r]
            with m.If(then):
                m.d.sync += [kept.eq(wave), valid.eq(Mux(died[r], 0, valid) | 1 << lane)]
            for n, entry in enumerate(entries):
                with m.If(then & (lane == n)):
                    m.d.sync += entry.eq(put)
            with m.If(self.moves):  # the wave too: the row may be another's when the point is decided
                m.d.sync += [match.eq(Cat(valid[n] & (entry == self.i) for n, entry in enumerate(entries))), before.eq(kept),
                             same.eq(~died[r] & ~dies[r])]
            matches.append(match)
            waves.append((match.any() & same, before))
        found = Cat(flag for flag, _ in waves) & ~dies
        with m.If(self.moves):
            m.d.sync += [self.found.eq(found.any()), self.row.eq(found), self.lane.eq(number(reduce(or_, matches))),
                         self.wave.eq(reduce(or_, (Mux(flag, before, 0) for flag, before in waves)))]
        return m
