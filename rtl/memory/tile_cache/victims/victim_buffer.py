# SPDX-License-Identifier: BSD-2-Clause
"""Victim buffer: codes of the last victims, for those that come back."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import TRANSFER
from fixfunc.rtl.memory.surface.address import Surface


def victim_transfer(surface: Surface) -> StructLayout:
    """A transfer of a victim's code; a tile of a mode that takes none is one ``empty`` beat."""
    return StructLayout(
        {
            "data": TRANSFER,
            "index": range(surface.most + 1),
            "last": 1,
            "empty": 1,
            "mode": surface.mode_bits,
        }
    )


class VictimRows(wiring.Signature):
    """Codes of victims on their way to memory, in order, seen from where they come."""

    def __init__(self, surface: Surface) -> None:
        super().__init__(
            {
                "push": Out(1),  # a transfer of the row of the next victim,
                "data": Out(TRANSFER),
                "index": Out(range(max(2, surface.most))),  # and its place there
                "complete": Out(1),  # that row is, maybe with this transfer
                "mode": Out(surface.mode_bits),  # of the row
            }
        )


class VictimBuffer(wiring.Component):
    """A ring of rows, one of each victim, dirty or not, in the order in which they leave.

    A row is written as its transfers go to memory, and stays until as many victims have followed.
    A tile that is read here asks nothing of memory, however far that is.

    Parameters
    ----------
    surface : Surface
        Whose modes there are.
    victims : int
        Rows, a power of two.
    sequence : int
        Bits of a victim's number: victims are counted from 0, and the count wraps.

    Members
    -------
    is_float : In(1)
        Depths are D32F.
    rows : In(VictimRows(surface))
    i : In(stream.Signature(sequence))
        A victim whose row is read. It stays until its last transfer moves, and waits for a row that
        is not complete. No more than ``victims`` have left since.
    o : Out(stream.Signature(victim_transfer(surface)))
        A transfer a clock, the first a clock after its victim at the earliest.
    """

    def __init__(self, surface: Surface, victims: int, sequence: int) -> None:
        self._surface = surface
        self._victims = victims
        self._sequence = sequence
        super().__init__(
            {
                "is_float": In(1),
                "rows": In(VictimRows(surface)),
                "i": In(stream.Signature(sequence)),
                "o": Out(stream.Signature(victim_transfer(surface))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        coming = self.rows
        columns = len(coming.index)
        bits = (self._victims - 1).bit_length()
        m.submodules.rows = rows = Memory(shape=TRANSFER, depth=self._victims << columns, init=[])
        m.submodules.modes = modes = Memory(
            shape=self._surface.mode_bits, depth=self._victims, init=[]
        )
        row_write, row_read = rows.write_port(), rows.read_port()
        mode_write, mode_read = modes.write_port(), modes.read_port()
        count = Signal(self._sequence)  # of complete rows
        m.d.comb += [
            row_write.en.eq(coming.push),
            row_write.addr.eq(Cat(coming.index, count[:bits])),
            row_write.data.eq(coming.data),
            mode_write.en.eq(coming.complete),
            mode_write.addr.eq(count[:bits]),
            mode_write.data.eq(coming.mode),
        ]
        m.d.sync += count.eq(count + coming.complete)

        # A row is complete if it is below the count, on a circle of which less than half is used.
        ahead = Signal(self._sequence)
        column = Signal(columns)
        following = Signal(columns)
        loaded = Signal()
        transfers = self._surface.sizes(self.is_float)[mode_read.data]
        moves = self.o.valid & self.o.ready
        m.d.comb += [
            ahead.eq(count - self.i.payload - 1),
            row_read.addr.eq(Cat(following, self.i.payload[:bits])),
            mode_read.addr.eq(self.i.payload[:bits]),
            following.eq(column + moves),
            self.o.valid.eq(loaded & self.i.valid),
            self.o.payload.data.eq(row_read.data),
            self.o.payload.index.eq(column),
            self.o.payload.empty.eq(transfers == 0),
            self.o.payload.last.eq(self.o.payload.empty | (column == transfers - 1)),
            self.o.payload.mode.eq(mode_read.data),
            self.i.ready.eq(moves & self.o.payload.last),
        ]
        ends = self.i.ready | ~self.i.valid
        m.d.sync += [
            loaded.eq(~ends & ~ahead[-1]),
            column.eq(Mux(ends, 0, following)),
        ]
        return m
