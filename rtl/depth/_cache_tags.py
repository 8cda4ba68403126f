# SPDX-License-Identifier: BSD-2-Clause
"""Which tiles are on chip, and what must happen before one is."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._cache_moves import MOVE
from fixfunc.rtl.depth._tile_table import LINE
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import CacheOp, LineOp


class CacheTags(wiring.Component):
    """Turn requests into what the lines of the cache have to do, in order, a move a clock: a hit takes one, a miss up to three.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    sets, ways : int
        Powers of two.

    Members
    -------
    i : In(stream.Signature(layout(payloads.cache_request(edge))))
    o : Out(stream.Signature(MOVE))
    samples, cleared, base, count, last : Out
        Of the target; its last tile.
    forgets, flushes, flushed
        As of :class:`~fixfunc.rtl.depth._tile_table.TileTable`.
    clears, line, cleared_line : Out, Out, In
        A transfer of the table is to be written for a cleared target; it is there.
    idle : In(1)
        All that left is in memory, and all that was read is here, as of the clock before.
    """

    def __init__(self, edge, sets, ways):
        self._edge, self._sets, self._ways = edge, sets, ways
        self._way = StructLayout({"valid": 1, "writes": 1, "number": TILE_NUMBER})
        super().__init__({
            "i": In(stream.Signature(layout(payloads.cache_request(edge)))), "o": Out(stream.Signature(MOVE)),
            "samples": Out(2), "cleared": Out(payloads.COLOUR), "base": Out(32), "count": Out(TILE_NUMBER), "last": Out(TILE_NUMBER),
            "forgets": Out(1), "flushes": Out(1), "flushed": In(1), "clears": Out(1), "line": Out(LINE), "cleared_line": In(1), "idle": In(1),
        })

    def elaborate(self, platform):
        m = Module()
        entry = StructLayout({"next": range(self._ways), "ways": ArrayLayout(self._way, self._ways)})
        m.submodules.tags = tags = Memory(shape=entry, depth=self._sets, init=[])
        read, write, out = tags.read_port(domain="comb"), tags.write_port(), self.o.payload
        here, there, turn = Signal(entry), write.data, Signal(range(self._ways))

        # A request, its set, by which a flush goes through all of them, and what there is of that.
        given, waits, ends, index = Signal(self.i.payload.shape()), Signal(), Signal(), Signal(range(self._sets))
        first, wiped, walks, steps, halves, replaced = *(Signal() for _ in range(4)), Signal(2 * self._ways), Signal(self._ways)
        m.d.comb += [steps.eq(wiped & (~waits | ends)), write.addr.eq(index), there.eq(here)]
        ahead = self._ahead(m, read, write, index, walks, steps, wiped)
        again = write.en & (index == ahead.index)  # known late, and so is what is replaced: all are compared, and then one is chosen
        every, gets, comes = again.replicate(2 * self._ways), Cat(replaced, replaced), self._equal(given, ahead.given)
        old, kept, new = self._halves(ahead.entry, ahead.given), self._halves(here, ahead.given), Cat(flag.replicate(self._ways) for flag in comes)
        with m.If(steps):
            m.d.sync += [waits.eq(ahead.valid), given.eq(ahead.given), index.eq(ahead.index), here.eq(Mux(again, there, ahead.entry)),
                         halves.eq((old & ~every) | (((kept & ~gets) | (new & gets)) & every))]
        with m.Elif(first):
            m.d.sync += index.eq(0)

        m.d.sync += self.last.eq(self.count - 1)
        request = {"given": given, "ends": ends, "index": index, "read": read, "replaced": replaced}
        with m.FSM(init="WIPE"):
            self._wipe(m, write, index, wiped)
            with m.State("LOOK"), m.If(waits), m.Switch(given.op):
                with m.Case(CacheOp.USE):
                    self._use(m, request, write, here, halves[:self._ways] & halves[self._ways:])
                with m.Case(CacheOp.CLEAR), m.If(self.idle):
                    self._begin(m, given, first)
                with m.Case(CacheOp.FLUSH):
                    m.d.comb += first.eq(1)
                    m.d.sync += walks.eq(1)
                    m.next = "READ"
            self._forget(m, request, write, out)
            self._flush(m, request, write, here, turn, walks)
        return m

    def _ahead(self, m, read, write, index, walks, steps, wiped):
        """The request that comes next, and its set as it is now: what is written meanwhile is written here too."""
        bits, coming = self._sets.bit_length() - 1, self.i.payload
        ahead = Signal(StructLayout({"valid": 1, "given": coming.shape(), "index": range(self._sets), "entry": write.data.shape()}))
        m.d.comb += [self.i.ready.eq(wiped & ~walks & (~ahead.valid | steps)),
                     read.addr.eq(Mux(walks, index, Cat(coming.x[:bits - bits // 2], coming.y[:bits // 2])))]
        with m.If(self.i.ready):
            m.d.sync += [ahead.valid.eq(self.i.valid), ahead.given.eq(coming), ahead.index.eq(read.addr),
                         ahead.entry.eq(Mux(write.en & (index == read.addr), write.data, read.data))]
        with m.Else():
            m.d.sync += ahead.valid.eq(ahead.valid & ~steps)
            with m.If(write.en & (index == ahead.index)):
                m.d.sync += ahead.entry.eq(write.data)
        return ahead

    def _wipe(self, m, write, index, wiped):
        """A reset leaves memories as they are: nothing is on chip before all tags have been written."""
        with m.State("WIPE"):
            m.d.comb += write.en.eq(1)
            m.d.sync += index.eq(index + 1)
            with m.If(index == self._sets - 1):
                m.d.sync += wiped.eq(1)
                m.next = "LOOK"

    def _begin(self, m, given, first):
        """A target begins, and what is on chip of the one before is forgotten."""
        m.d.sync += [self.samples.eq(given.samples), self.cleared.eq(given.cleared), self.base.eq(given.base),
                     self.count.eq(given.number), self.line.eq(0)]
        m.d.comb += [self.forgets.eq(1), first.eq(1)]
        m.next = "FORGET"

    def _halves(self, entry, given):
        """Which way may hold a tile, by the lower half of its number, and then by the upper: all in one clock were the longest path."""
        equal = [self._equal(way, given) for way in entry.ways]
        return Cat(*(way.valid & low for way, (low, _) in zip(entry.ways, equal, strict=True)), *(high for _, high in equal))

    def _equal(self, one, other):
        """Whether two tiles' numbers are equal, in the lower half, and in the upper."""
        middle = TILE_NUMBER // 2
        return one.number[:middle] == other.number[:middle], one.number[middle:] == other.number[middle:]

    def _use(self, m, request, write, here, hits):
        """A tile that is on chip; another takes the place of the oldest, which leaves first, if it may have been written."""
        given, out, oldest = request["given"], self.o.payload, Array(here.ways)[here.next]
        hit, way, leaves, fills, left, filled = Signal(), Signal(range(self._ways)), Signal(), Signal(), Signal(), Signal()
        m.d.comb += [hit.eq(hits.any()), way.eq(sum(Mux(flag, n, 0) for n, flag in enumerate(hits))),
                     leaves.eq(~hit & ~left & oldest.valid & oldest.writes), fills.eq(~hit & ~filled & given.needed)]
        m.d.comb += [self.o.valid.eq(1), out.op.eq(Mux(leaves, LineOp.EVICT, Mux(fills, LineOp.FILL, LineOp.USE))),
                     out.slot.eq(Cat(Mux(hit, way, here.next), request["index"])), out.number.eq(Mux(leaves, oldest.number, given.number)),
                     request["ends"].eq(self.o.ready & ~leaves & ~fills), write.en.eq(request["ends"]), write.data.next.eq(here.next + ~hit)]
        with m.If(self.o.ready):
            m.d.sync += [left.eq(~request["ends"] & (left | leaves)), filled.eq(~request["ends"] & (filled | (~leaves & fills)))]
        for n, (kept, flag) in enumerate(zip(write.data.ways, hits, strict=True)):
            replaced = request["replaced"][n]
            m.d.comb += replaced.eq(~hit & (here.next == n))
            with m.If(flag & given.writes):
                m.d.comb += kept.writes.eq(1)
            with m.Elif(replaced):
                m.d.comb += [kept.valid.eq(1), kept.writes.eq(given.writes), kept.number.eq(given.number)]

    def _forget(self, m, request, write, out):
        """Of a cleared target nothing is on chip, and the table says so in memory."""
        with m.State("FORGET"):
            m.d.comb += [write.en.eq(1), write.data.eq(0)]
            m.d.sync += request["index"].eq(request["index"] + 1)
            with m.If(request["index"] == self._sets - 1):
                m.d.sync += self.clears.eq(1)
                m.next = "CLEAR"
        with m.State("CLEAR"), m.If(self.cleared_line):
            m.d.sync += self.line.eq(self.line + 1)
            with m.If(self.line == self.last[-LINE:]):
                m.d.sync += self.clears.eq(0)
                m.next = "DONE"
        with m.State("DONE"):
            m.d.comb += [self.o.valid.eq(self.idle), out.op.eq(LineOp.DONE), request["ends"].eq(self.idle & self.o.ready)]
            with m.If(request["ends"]):
                m.next = "LOOK"

    def _flush(self, m, request, write, here, turn, walks):
        """Every tile that may have been written leaves, set by set, the oldest first; then the table."""
        count, index, tile, out = Signal(range(self._ways)), request["index"], Array(here.ways)[turn], self.o.payload
        with m.State("READ"):
            m.d.sync += here.eq(request["read"].data)
            m.next = "FLUSH"
        with m.State("FLUSH"):
            m.d.sync += turn.eq(here.next + count)
            m.next = "FLUSH_WAY"
            with m.If(~Cat(way.valid & way.writes for way in here.ways).any()):
                self._next_set(m, write, index, count)
        with m.State("FLUSH_WAY"):
            leaves = tile.valid & tile.writes
            m.d.comb += [self.o.valid.eq(leaves), out.op.eq(LineOp.EVICT), out.slot.eq(Cat(turn, index)), out.number.eq(tile.number)]
            with m.If(self.o.ready | ~leaves):
                m.d.sync += count.eq(count + 1)
                m.next = "FLUSH"
                with m.If(count == self._ways - 1):
                    self._next_set(m, write, index, count)
        with m.State("FLUSH_TABLE"):
            m.d.comb += self.flushes.eq(self.idle)
            m.d.sync += walks.eq(0)
            with m.If(self.flushed):
                m.next = "DONE"

    def _next_set(self, m, write, index, count):
        """A set is empty; the table comes after the last."""
        m.d.comb += [write.en.eq(1), write.data.eq(0)]
        m.d.sync += [count.eq(0), index.eq(index + 1)]
        m.next = "READ"
        with m.If(index == self._sets - 1):
            m.next = "FLUSH_TABLE"
