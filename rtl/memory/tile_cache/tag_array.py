# SPDX-License-Identifier: BSD-2-Clause
"""Tag array: which tile is in which slot."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import leading_zeros, named, number
from fixfunc.rtl.memory.tile_cache.layouts import TAG_COMMAND
from fixfunc.rtl.payload import layout
from fixfunc.spec.memory import caching
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import SlotOp


def set_layout(ways: int) -> StructLayout:
    """One set. The victim is the oldest way; a dirty tile may have been written."""
    way = StructLayout({"valid": 1, "dirty": 1, "number": TILE_NUMBER})
    return StructLayout({"victim": range(ways), "ways": ArrayLayout(way, ways)})


class TagArray(wiring.Component):
    """Look tiles up, and turn each into slot commands.

    One command a clock, in order: a USE. Of a miss it is also the EVICT of a victim that is dirty,
    and a FILL if the tile's values are needed. The set of a tile is the lowest bits of its x and y.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    sets, ways : int
        Powers of two.

    Members
    -------
    i : In(stream.Signature(layout(caching.cache_request(edge))))
        Requests whose ``op`` is USE.
    o : Out(stream.Signature(TAG_COMMAND))
        One clock later at the earliest.
    idle : Out(1)
        No request is being looked up.
    walk : In(1)
        A flush walks the sets that are in use, the lowest first. Only while ``idle``.
    more : Out(1)
        There is a further one.
    take : In(1)
        It is taken: nothing is in its slots from now on. Only with ``walk`` and ``more``.
    set, entry : Out(range(sets)), Out(set_layout(ways))
        The set that was taken last, and what was in it; from the clock after ``take`` on.
    forget : In(1)
        Nothing is in any slot from now on.
    """

    def __init__(self, edge: int, sets: int, ways: int) -> None:
        self._sets = sets
        self._ways = ways
        super().__init__(
            {
                "i": In(stream.Signature(layout(caching.cache_request(edge)))),
                "o": Out(stream.Signature(TAG_COMMAND)),
                "idle": Out(1),
                "walk": In(1),
                "more": Out(1),
                "take": In(1),
                "set": Out(range(sets)),
                "entry": Out(set_layout(ways)),
                "forget": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.sets = sets = Memory(shape=set_layout(self._ways), depth=self._sets, init=[])
        write = sets.write_port()
        read = sets.read_port(transparent_for=(write,))

        # Of a set that is not in use what lies in memory says nothing: all are forgotten at once.
        used = Signal(self._sets)
        following = Signal(range(self._sets))
        others = named(m, used & ~(self.walk << following), "others")
        first_on_top = named(m, others[::-1], "first_on_top")
        with m.If(self.take | ~self.walk):
            m.d.sync += [
                self.more.eq(others.any()),
                following.eq(leading_zeros(first_on_top)),
            ]

        # The set of the next request is read in the last clock of the one before, whose update the
        # read port forwards.
        request = Signal(self.i.payload.shape())
        pending = Signal()
        index = Signal(range(self._sets))
        next_index = Signal(range(self._sets))
        done = Signal()
        updated = Signal(self.entry.shape())
        bits = self._sets.bit_length() - 1
        x_bits = bits - bits // 2
        coming = self.i.payload
        m.d.comb += [
            self.i.ready.eq(~self.walk & (~pending | done)),
            self.idle.eq(~pending),
            next_index.eq(Cat(coming.x[:x_bits], coming.y[: bits // 2])),
            read.addr.eq(Mux(self.walk, following, next_index)),
            read.en.eq(self.take | self.i.ready),
            write.addr.eq(index),
            write.en.eq(done),
            write.data.eq(updated),
        ]
        in_use = Signal()
        with m.If(read.en):
            m.d.sync += in_use.eq(
                used.bit_select(read.addr, 1) | (done & (index == read.addr) & ~self.walk)
            )
        with m.If(in_use):
            m.d.comb += self.entry.eq(read.data)
        with m.If(done):
            m.d.sync += used.eq(used | (1 << index))
        with m.If(self.take):
            m.d.sync += [
                used.eq(others),
                self.set.eq(following),
            ]
        with m.If(self.forget):
            m.d.sync += used.eq(0)
        with m.If(self.i.ready):
            m.d.sync += [
                request.eq(coming),
                index.eq(next_index),
                pending.eq(self.i.valid),
            ]
        self._look_up(m, request, pending, index, done, updated)
        return m

    def _look_up(self, m, request, pending, index, done, updated):
        """Compare a request with its set; its command updates the set."""
        entry = self.entry
        hits = Signal(self._ways)
        hit = Signal()
        victim = Array(entry.ways)[entry.victim]
        evict = Signal()
        fill = Signal()
        m.d.comb += [
            hits.eq(Cat(way.valid & (way.number == request.number) for way in entry.ways)),
            hit.eq(hits.any()),
            evict.eq(~hit & victim.valid & victim.dirty),
            fill.eq(~hit & request.needed),
            done.eq(pending & self.o.ready),
        ]
        m.d.comb += [
            self.o.valid.eq(pending),
            self.o.payload.op.eq(
                SlotOp.USE | Mux(evict, SlotOp.EVICT, 0) | Mux(fill, SlotOp.FILL, 0)
            ),
            self.o.payload.slot.eq(Cat(Mux(hit, number(hits), entry.victim), index)),
            self.o.payload.number.eq(request.number),
            self.o.payload.victim.eq(victim.number),
        ]
        m.d.comb += [
            updated.eq(entry),
            updated.victim.eq(entry.victim + ~hit),
        ]
        for n, way in enumerate(updated.ways):
            with m.If(hits[n] & request.writes):
                m.d.comb += way.dirty.eq(1)
            with m.If(~hit & (entry.victim == n)):
                m.d.comb += [
                    way.valid.eq(1),
                    way.dirty.eq(request.writes),
                    way.number.eq(request.number),
                ]
