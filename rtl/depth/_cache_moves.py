# SPDX-License-Identifier: BSD-2-Clause
"""What must be known, and done, before a tile comes or goes."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._tile_table import MODE, TileTable
from fixfunc.rtl.pipeline import Credit, delay
from fixfunc.spec.payloads import SLOT, TILE_NUMBER
from fixfunc.spec.state import LineOp

MOVE = StructLayout({"op": 2, "slot": SLOT, "number": TILE_NUMBER})  # LineOp; of FILL the tile that comes, of EVICT the one that goes
TOKEN = StructLayout({"op": 2, "slot": SLOT})
TILE = StructLayout({"number": TILE_NUMBER, "mode": MODE})
COMING = 4  # that wait to be looked up
AWAY = 32  # most tiles on their way to memory: above what waits there for answers
PLACES = 16  # above what is looked up at a time


class CacheMoves(wiring.Component):
    """Look up the modes of tiles that come and go; one a clock, in order, those that stay on chip among them.

    A tile that left comes back only when it is in memory, and leaves again only then. A tile leaves only while the transfer
    of its mode is on chip, where it may be changed.

    Members
    -------
    i : In(stream.Signature(MOVE))
    o : Out(stream.Signature(TOKEN))
    fetch, leaves : Out(stream.Signature(TILE))
        A tile to be read; one that may have to be written; and its mode.
    looks, tile, here, asks, asked, mode, misses, brought, quiet
        As of :class:`~fixfunc.rtl.depth._tile_table.TileTable`.
    left : In(1)
        A tile's mode is changed no more.
    frees, freed : In
        A tile is in memory.
    idle : Out(1)
        Nothing is looked up, and no tile's mode may change.
    """

    def __init__(self):
        super().__init__({
            "i": In(stream.Signature(MOVE)), "o": Out(stream.Signature(TOKEN)),
            "fetch": Out(stream.Signature(TILE)), "leaves": Out(stream.Signature(TILE)),
            "looks": Out(1), "tile": Out(TILE_NUMBER), "here": In(1), "asks": Out(1), "asked": Out(TILE_NUMBER), "mode": In(MODE),
            "misses": Out(1), "brought": In(1), "quiet": Out(1),
            "left": In(1), "frees": In(1), "freed": In(TILE_NUMBER), "idle": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.coming = coming = fifo.SyncFIFOBuffered(width=MOVE.size, depth=COMING)
        m.d.comb += [coming.w_en.eq(self.i.valid & self.i.ready), coming.w_data.eq(self.i.payload)]
        m.d.sync += self.i.ready.eq(coming.level < COMING - 1)
        head, following, given, comes, waits, here, enters = MOVE(coming.r_data), Signal(MOVE), Signal(MOVE), *(Signal() for _ in range(4))
        m.d.comb += [self.looks.eq(coming.r_en), self.tile.eq(head.number), self.asked.eq(given.number), coming.r_en.eq(enters | ~waits)]
        with m.If(coming.r_en):
            m.d.sync += [following.eq(head), comes.eq(coming.r_rdy), given.eq(following), waits.eq(comes), here.eq(self.here)]
        with m.Elif(self.brought):
            m.d.sync += here.eq(1)

        # One enters when its transfer of the table is on chip and none of its number is on its way to memory.
        m.submodules.credit = credit = Credit(PLACES)
        moves, evicts = Signal(), Signal()
        blocked = self._blocked(m, (given, following, head), evicts, coming.r_en)
        m.d.comb += [moves.eq(waits & ((given.op == LineOp.FILL) | (given.op == LineOp.EVICT))), evicts.eq(enters & (given.op == LineOp.EVICT)),
                     self.misses.eq(moves & ~here), self.asks.eq(enters & moves),
                     enters.eq(waits & credit.any & (~moves | (here & ~blocked))), credit.take.eq(enters)]

        # Looked up, and on.
        m.submodules.ready = ready = fifo.SyncFIFOBuffered(width=MOVE.size + MODE, depth=PLACES)
        out, late = StructLayout({"move": MOVE, "mode": MODE})(ready.r_data), TileTable.LATENCY
        m.d.comb += [ready.w_en.eq(delay(m, enters, late, "entered")), ready.w_data[:MOVE.size].eq(delay(m, given, late, "given")),
                     ready.w_data[MOVE.size:].eq(self.mode), credit.free.eq(ready.r_en)]
        goes, room = Signal(), Signal()
        fills, leaves = out.move.op == LineOp.FILL, out.move.op == LineOp.EVICT
        m.d.comb += [room.eq((~fills | self.fetch.ready) & (~leaves | self.leaves.ready)), goes.eq(ready.r_rdy & room & self.o.ready),
                     ready.r_en.eq(goes), self.o.valid.eq(ready.r_rdy & room), self.o.payload.op.eq(out.move.op),
                     self.o.payload.slot.eq(out.move.slot), self.fetch.valid.eq(ready.r_rdy & fills & self.o.ready),
                     self.leaves.valid.eq(ready.r_rdy & leaves & self.o.ready)]
        for port in (self.fetch, self.leaves):
            m.d.comb += [port.payload.number.eq(out.move.number), port.payload.mode.eq(out.mode)]

        under_way = Signal(range(512))  # tiles that leave: below what queues hold
        m.d.sync += [under_way.eq(under_way + evicts - self.left), self.quiet.eq((under_way == 0) & ~evicts)]
        m.d.comb += self.idle.eq(credit.all & ~waits & ~comes & ~coming.level.any() & self.quiet & ~under_way.any())
        return m

    def _blocked(self, m, tiles, evicts, comes):
        """Whether the one that came, or stayed, has to wait: its tile left, and is not in memory yet, or too many did.

        One that has just left is not the next: others come first. Which of those away a tile equals is found out as it comes,
        two clocks before that is asked for, and kept.
        """
        given, following, head = (tile.number for tile in tiles)
        item = StructLayout({"valid": 1, "number": TILE_NUMBER})
        away, turn, begun, freed = Signal(AWAY), Signal(AWAY, init=1), Signal(item), Signal(item)
        numbers = [Signal(TILE_NUMBER, name=f"away_{n}") for n in range(AWAY)]
        begins, ends = turn & begun.valid.replicate(AWAY), Cat(freed.valid & (freed.number == number) for number in numbers)
        m.d.sync += [begun.valid.eq(evicts), begun.number.eq(given), freed.valid.eq(self.frees), freed.number.eq(self.freed),
                     away.eq((away & ~ends) | begins)]
        with m.If(begun.valid):
            m.d.sync += turn.eq(turn.rotate_left(1))
        for n, number in enumerate(numbers):
            with m.If(begins[n]):
                m.d.sync += number.eq(begun.number)

        just = {"head": begun.number == head, "following": begun.number == following}
        at_following, at_given, every = Signal(AWAY), Signal(AWAY), comes.replicate(AWAY)

        def now(equal, begins_equal):
            return (equal & ~begins) | (begins & begins_equal.replicate(AWAY))

        coming, there = now(Cat(number == head for number in numbers), just["head"]), now(at_following, just["following"])
        m.d.sync += [at_following.eq((coming & every) | (there & ~every)), at_given.eq((there & every) | (at_given & ~begins & ~every))]

        crowded = (away & (turn | turn.rotate_left(1) | turn.rotate_left(2))).any()  # places of those about to leave, and of the next
        came, other, same = Signal(), Signal(), Signal()  # chosen from late: that one goes on is known late too
        m.d.sync += [came.eq(comes), other.eq((away & at_following).any() | (begun.valid & just["following"]) | crowded),
                     same.eq((away & at_given).any() | crowded)]
        return Mux(came, other, same)
