"""Which tiles are on chip, and what must happen before one is."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl.depth._tile_fetch import MODE
from rtl.depth._tile_table import LINE, TILES
from rtl.payload import layout
from rtl.pipeline import held
from spec import payloads
from spec.payloads import SLOT, TILE_NUMBER
from spec.state import CacheOp, LineOp

TOKEN = StructLayout({"op": 2, "slot": SLOT})
AWAY = 256  # tiles whose numbers differ by a multiple of it wait for one another


class CacheTags(wiring.Component):
    """Turn requests into what the lines of the cache have to do, in order; one hit a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    sets, ways : int
        Powers of two.

    Members
    -------
    i : In(stream.Signature(layout(payloads.cache_request(edge))))
    o : Out(stream.Signature(TOKEN))
    samples, cleared, base, count : Out
        Of the target.
    wants, tile, has, mode, forgets, flushes, flushed
        As of :class:`~rtl.depth._tile_table.TileTable`.
    clears, line, cleared_line : Out, Out, In
        A transfer of the table is to be written for a cleared target; it is there.
    fetch : Out(stream.Signature(...))
        A tile to be read, and its mode.
    leaves : Out(stream.Signature(TILE_NUMBER))
        A tile that may have to be written.
    frees, freed : In
        A tile is in memory.
    idle : In(1)
        All that left is in memory, and all that was read is here.
    """

    def __init__(self, edge, sets, ways):
        self._edge, self._sets, self._ways = edge, sets, ways
        self._way = StructLayout({"valid": 1, "writes": 1, "number": TILE_NUMBER})
        super().__init__({
            "i": In(stream.Signature(layout(payloads.cache_request(edge)))), "o": Out(stream.Signature(TOKEN)),
            "samples": Out(2), "cleared": Out(payloads.COLOUR), "base": Out(32), "count": Out(TILE_NUMBER),
            "wants": Out(1), "tile": Out(TILE_NUMBER), "has": In(1), "mode": In(MODE), "forgets": Out(1), "flushes": Out(1), "flushed": In(1),
            "clears": Out(1), "line": Out(LINE), "cleared_line": In(1),
            "fetch": Out(stream.Signature(StructLayout({"number": TILE_NUMBER, "mode": MODE}))), "leaves": Out(stream.Signature(TILE_NUMBER)),
            "frees": In(1), "freed": In(TILE_NUMBER), "idle": In(1),
        })

    def elaborate(self, platform):
        m = Module()
        entry = StructLayout({"next": range(self._ways), "ways": ArrayLayout(self._way, self._ways)})
        m.submodules.tags = tags = Memory(shape=entry, depth=self._sets, init=[])
        read, write, token = tags.read_port(domain="comb"), tags.write_port(), self.o.payload
        here, there, turn = Signal(entry), write.data, Signal(range(self._ways))

        # A request, its set, by which a flush goes through all of them, and what there is of that.
        given, waits, ends, bits = Signal(self.i.payload.shape()), Signal(), Signal(), self._sets.bit_length() - 1
        index, first, coming = Signal(range(self._sets)), Signal(), self.i.payload
        wiped = Signal()
        m.d.comb += [self.i.ready.eq(wiped & (~waits | ends)), write.addr.eq(index), there.eq(here),
                     read.addr.eq(Cat(coming.x[:bits - bits // 2], coming.y[:bits // 2]))]
        with m.If(self.i.ready):
            m.d.sync += [waits.eq(self.i.valid), given.eq(coming), index.eq(read.addr),
                         here.eq(Mux(write.en & (index == read.addr), there, read.data))]
        with m.Elif(first):
            m.d.sync += index.eq(0)

        # Tiles that left, and are not in memory yet.
        away, begins, freed = (Signal(AWAY, name=name) for name in ("away", "begins", "freed"))
        hashed = (AWAY - 1).bit_length()
        m.d.sync += away.eq((away | begins) & ~freed)
        m.d.comb += freed.bit_select(self.freed[:hashed], 1).eq(self.frees)

        hits = [way.valid & (way.number == given.number) for way in here.ways]
        way, hit, victim = Signal(range(self._ways)), Signal(), Signal(StructLayout({"number": TILE_NUMBER, "slot": SLOT}))
        m.d.comb += [hit.eq(Cat(hits).any()), way.eq(sum(Mux(flag, n, 0) for n, flag in enumerate(hits)))]
        m.d.comb += [token.slot.eq(Cat(Mux(hit, way, here.next), index)), self.tile.eq(given.number), self.fetch.payload.number.eq(given.number),
                     self.fetch.payload.mode.eq(self.mode), self.leaves.payload.eq(victim.number)]
        request = {"given": given, "ends": ends, "index": index, "read": read}
        # Of the tile that comes, and of the one that leaves: a clock late, but the table takes longer to answer.
        still, leaving = (held(m, away.bit_select(number[:hashed], 1), 1, name)
                          for number, name in ((given.number, "still"), (victim.number, "leaving")))
        leaves = {"victim": victim, "begins": begins, "away": leaving}
        with m.FSM(init="WIPE"):
            self._wipe(m, write, index, wiped)
            with m.State("LOOK"), m.If(waits), m.Switch(given.op):
                with m.Case(CacheOp.USE):
                    self._hit(m, request, write, here, hit, hits, victim)
                with m.Case(CacheOp.CLEAR), m.If(self.idle):
                    self._begin(m, given, first)
                with m.Case(CacheOp.FLUSH):
                    m.d.comb += first.eq(1)
                    m.next = "READ"
            with m.State("EVICT"):
                self._evict(m, leaves, "FETCH")
            with m.State("FETCH"):
                self._fetch(m, given, still)
            with m.State("TAKE"):
                m.d.comb += [self.o.valid.eq(1), token.op.eq(LineOp.USE), ends.eq(self.o.ready), write.en.eq(ends), there.next.eq(here.next + 1)]
                for n, kept in enumerate(there.ways):
                    with m.If(here.next == n):
                        m.d.comb += [kept.valid.eq(1), kept.writes.eq(given.writes), kept.number.eq(given.number)]
                with m.If(self.o.ready):
                    m.next = "LOOK"
            self._forget(m, request, write, token)
            self._flush(m, request, write, here, leaves, turn)
        return m

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

    def _hit(self, m, request, write, here, hit, hits, victim):
        """A tile that is on chip; another takes the place of the oldest."""
        given, token, oldest = request["given"], self.o.payload, Array(here.ways)[here.next]
        m.d.comb += [self.o.valid.eq(hit), token.op.eq(LineOp.USE), request["ends"].eq(self.o.ready & hit), write.en.eq(request["ends"])]
        m.d.sync += [victim.number.eq(oldest.number), victim.slot.eq(Cat(here.next, request["index"]))]
        for kept, flag in zip(write.data.ways, hits, strict=True):
            with m.If(flag & given.writes):
                m.d.comb += kept.writes.eq(1)
        with m.If(~hit):
            m.next = "FETCH"
            with m.If(oldest.valid & oldest.writes):
                m.next = "EVICT"

    def _evict(self, m, leaves, then):
        """A tile leaves: its mode must be on chip, where it may be changed, and none of its kind under way."""
        victim, token = leaves["victim"], self.o.payload
        ready = self.has & ~leaves["away"] & self.leaves.ready & self.o.ready
        m.d.comb += [self.wants.eq(1), self.tile.eq(victim.number), token.op.eq(LineOp.EVICT), token.slot.eq(victim.slot),
                     self.o.valid.eq(ready), self.leaves.valid.eq(ready)]
        with m.If(ready):
            m.d.comb += leaves["begins"].bit_select(victim.number[:(AWAY - 1).bit_length()], 1).eq(1)
            m.next = then

    def _fetch(self, m, given, away):
        """What the tile holds is fetched, if it is needed, once it is in memory."""
        token = self.o.payload
        ready = self.has & self.o.ready & self.fetch.ready
        with m.If(~given.needed):
            m.next = "TAKE"
        with m.Elif(~away):  # only now asked: memory may answer before the table has the tile's new mode
            m.d.comb += [self.wants.eq(1), token.op.eq(LineOp.FILL), self.o.valid.eq(ready), self.fetch.valid.eq(self.has & self.o.ready)]
            with m.If(ready):
                m.next = "TAKE"

    def _forget(self, m, request, write, token):
        """Of a cleared target nothing is on chip, and the table says so in memory."""
        with m.State("FORGET"):
            m.d.comb += [write.en.eq(1), write.data.eq(0)]
            m.d.sync += request["index"].eq(request["index"] + 1)
            with m.If(request["index"] == self._sets - 1):
                m.next = "CLEAR"
        with m.State("CLEAR"):
            m.d.comb += self.clears.eq(1)
            with m.If(self.cleared_line):
                m.d.sync += self.line.eq(self.line + 1)
                with m.If(self.line == (self.count - 1) >> (TILES - 1).bit_length()):
                    m.next = "DONE"
        with m.State("DONE"):
            m.d.comb += [self.o.valid.eq(self.idle), token.op.eq(LineOp.DONE), request["ends"].eq(self.idle & self.o.ready)]
            with m.If(request["ends"]):
                m.next = "LOOK"

    def _flush(self, m, request, write, here, leaves, turn):
        """Every tile leaves, set by set, the oldest first; then the table."""
        count, victim, index, tile = Signal(range(self._ways)), leaves["victim"], request["index"], Array(here.ways)[turn]
        with m.State("READ"):
            m.d.comb += request["read"].addr.eq(index)
            m.d.sync += here.eq(request["read"].data)
            m.next = "FLUSH"
        with m.State("FLUSH"):
            m.d.sync += turn.eq(here.next + count)
            m.next = "FLUSH_WAY"
        with m.State("FLUSH_WAY"):
            m.d.sync += [victim.number.eq(tile.number), victim.slot.eq(Cat(turn, index))]
            m.next = "FLUSH_NEXT"
            with m.If(tile.valid & tile.writes):
                m.next = "FLUSH_EVICT"
        with m.State("FLUSH_EVICT"):
            self._evict(m, leaves, "FLUSH_NEXT")
        with m.State("FLUSH_NEXT"):
            m.d.sync += count.eq(count + 1)
            m.next = "FLUSH"
            with m.If(count == self._ways - 1):
                m.d.comb += [write.en.eq(1), write.data.eq(0)]
                m.d.sync += [count.eq(0), index.eq(index + 1)]
                m.next = "READ"
                with m.If(index == self._sets - 1):
                    m.next = "FLUSH_TABLE"
        with m.State("FLUSH_TABLE"):
            m.d.comb += self.flushes.eq(self.idle)
            with m.If(self.flushed):
                m.next = "DONE"
