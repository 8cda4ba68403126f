"""Modes of tiles, of which a part is on chip."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl.axi import TRANSFER
from rtl.pipeline import NEVER_COLLIDES
from spec.payloads import TILE_NUMBER

MODE = 4  # bits of a tile's mode
TILES = TRANSFER // MODE  # of a transfer
LINE = TILE_NUMBER - (TILES - 1).bit_length()  # bits of a transfer's number


class TileTable(wiring.Component):
    """Transfers of the tile table, direct-mapped; one thing at a time, a few clocks each.

    Parameters
    ----------
    lines : int
        Transfers on chip, a power of two.

    Members
    -------
    wants, tile : In
        The tile's mode is asked for; they hold until :attr:`has`.
    has, mode : Out
        Here it is, for one clock.
    quiet : In(1)
        No tile whose mode has been asked for is still to be changed: only then a transfer may leave.
    changes, changed, to, takes : In, In, In, Out
        A tile on chip gets another mode; taken.
    forgets : In(1)
        Nothing is on chip from now on.
    flushes, flushed : In, Out
        Write back what was changed, and forget; for as long as it takes; it is done, for one clock.
    fetches, fetched, data : Out, In, In
        Transfer :attr:`line` is wanted; here it is.
    stores, line, stored, old : Out, Out, In, Out
        It goes to memory; it is there.
    """

    def __init__(self, lines):
        self._lines = lines
        super().__init__({
            "wants": In(1), "tile": In(TILE_NUMBER), "has": Out(1), "mode": Out(MODE), "quiet": In(1),
            "changes": In(1), "changed": In(TILE_NUMBER), "to": In(MODE), "takes": Out(1), "forgets": In(1),
            "flushes": In(1), "flushed": Out(1), "line": Out(LINE),
            "fetches": Out(1), "fetched": In(1), "data": In(TRANSFER), "stores": Out(1), "stored": In(1), "old": Out(TRANSFER),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=TRANSFER, depth=self._lines, init=[], attrs=NEVER_COLLIDES)
        m.submodules.lines = lines = Memory(shape=LINE, depth=self._lines, init=[])
        read, write, read_line, write_line = memory.read_port(), memory.write_port(), lines.read_port(), lines.write_port()
        valid, dirty, at, changing, flushing = Signal(self._lines), Signal(self._lines), Signal(TILE_NUMBER), Signal(), Signal()
        wanted, place, column = at[-LINE:], at[-LINE:][:(self._lines - 1).bit_length()], at[:-LINE]
        here, gone = Signal(), Signal()  # what is looked up is known a clock before it is used, and comes from block RAM a clock before that
        m.d.sync += [here.eq(valid.bit_select(place, 1) & (read_line.data == wanted)), self.mode.eq(self.old.word_select(column, MODE)),
                     self.old.eq(read.data), gone.eq(~(valid & dirty).bit_select(place, 1))]
        m.d.comb += [read.addr.eq(place), write.addr.eq(place), read_line.addr.eq(place), write_line.addr.eq(place), write_line.data.eq(wanted)]
        with m.If(self.forgets):
            m.d.sync += valid.eq(0)
        with m.FSM():
            with m.State("REST"):
                m.d.sync += [changing.eq(self.changes), flushing.eq(0), at.eq(Mux(self.changes, self.changed, self.tile))]
                with m.If(self.changes | self.wants):
                    m.next = "READ"
                with m.Elif(self.flushes):
                    m.d.sync += [at.eq(0), flushing.eq(1)]
                    m.next = "READ"
            with m.State("READ"):
                m.next = "COMPARE"
            with m.State("COMPARE"):
                m.next = "SELECT"
            with m.State("SELECT"):
                m.next = "LOOK"
            with m.State("LOOK"):
                m.d.sync += self.line.eq(read_line.data)
                with m.If(changing):
                    m.next = "CHANGE"
                with m.Elif(here & ~flushing):
                    m.d.comb += self.has.eq(1)
                    m.next = "REST"
                with m.Elif(flushing | self.quiet):
                    m.next = "STORE"
                with m.Else():
                    m.next = "REST"
            with m.State("CHANGE"):
                m.d.comb += [write.en.eq(1), write.data.eq(self.old), write.data.word_select(column, MODE).eq(self.to), self.takes.eq(1)]
                with m.If(self.mode != self.to):
                    m.d.sync += dirty.bit_select(place, 1).eq(1)
                m.next = "REST"
            with m.State("STORE"):
                m.d.comb += self.stores.eq(~gone)
                with m.If(gone | self.stored):
                    m.d.sync += [valid.bit_select(place, 1).eq(0), self.line.eq(wanted)]
                    m.next = "FETCH"
                with m.If(flushing & (gone | self.stored)):
                    m.d.sync += at.eq(at + TILES)
                    m.d.comb += self.flushed.eq(place == self._lines - 1)
                    m.next = "READ"
                    with m.If(self.flushed):
                        m.next = "REST"
            with m.State("FETCH"):
                m.d.comb += [self.fetches.eq(1), write.en.eq(self.fetched), write_line.en.eq(self.fetched), write.data.eq(self.data)]
                with m.If(self.fetched):
                    m.d.sync += [valid.bit_select(place, 1).eq(1), dirty.bit_select(place, 1).eq(0)]
                    m.next = "REST"
        return m
