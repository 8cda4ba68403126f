# SPDX-License-Identifier: BSD-2-Clause
"""Wave allocator: places of the vertex buffer, lane by lane and wave by wave."""

from itertools import pairwise

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out


class WaveAllocator(wiring.Component):
    """Allocate the newest wave's next lane, or the first lane of the next wave.

    Parameters
    ----------
    rows : int
        Waves in the TagRAM: so many newest waves are live.
    lanes : int
        Points of a wave.
    waves : int
        Waves of the vertex buffer, which are allocated in turn.
    across : bool
        Waves go on from patch to patch; otherwise each patch begins one.

    Members
    -------
    new_patch : In(1)
        The point is the first of its patch.
    allocate : In(1)
        The point takes the place at ``lane`` and ``wave``.
    end_draw : In(1)
        A draw ends, and its last wave with it.
    new_wave : Out(1)
        The point needs a new wave.
    lane, wave : Out
        The place to be allocated.
    next_wave : Out(range(waves))
        The wave that the next new one will be.
    live : Out(waves)
        Waves that a point may hit, one bit for each.
    partial_wave : Out(1)
        A patch or a draw ends, and leaves the newest wave unfinished.
    """

    def __init__(self, rows, lanes, waves, across):
        self._rows = rows
        self._lanes = lanes
        self._waves = waves
        self._across = across
        super().__init__(
            {
                "new_patch": In(1),
                "allocate": In(1),
                "end_draw": In(1),
                "new_wave": Out(1),
                "lane": Out(range(lanes)),
                "wave": Out(range(waves)),
                "next_wave": Out(range(waves)),
                "live": Out(waves),
                "partial_wave": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        newest = [
            Signal(range(self._waves), name=f"newest_{n}", init=-1 - n & self._waves - 1)
            for n in range(self._rows)
        ]
        lanes_used = Signal(range(self._lanes + 1), init=self._lanes)
        full = lanes_used == self._lanes
        draw_ended = Signal()
        closed = draw_ended if self._across else self.new_patch | draw_ended
        m.d.comb += [
            self.new_wave.eq(closed | full),
            self.lane.eq(Mux(self.new_wave, 0, lanes_used)),
            self.wave.eq(Mux(self.new_wave, self.next_wave, newest[0])),
            self.live.eq(Cat(Cat(wave == n for wave in newest).any() for n in range(self._waves))),
            self.partial_wave.eq(((self.allocate & closed) | self.end_draw) & ~full & ~draw_ended),
        ]
        with m.If(self.allocate):
            m.d.sync += lanes_used.eq(self.lane + 1)
            with m.If(self.new_wave):
                m.d.sync += [
                    self.next_wave.eq(self.next_wave + 1),
                    draw_ended.eq(0),
                    newest[0].eq(self.next_wave),
                ]
                m.d.sync += [old.eq(new) for new, old in pairwise(newest)]
        with m.If(self.end_draw):
            m.d.sync += draw_ended.eq(1)
        return m
