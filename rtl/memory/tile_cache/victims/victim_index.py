# SPDX-License-Identifier: BSD-2-Clause
"""Victim index: which tiles are in the victim buffer, and where."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.pending_table import PendingTable
from fixfunc.spec.payloads import TILE_NUMBER

ENTRIES = 16  # for each row of the buffer, so that few victims find their entry in use


class VictimIndex(wiring.Component):
    """A table of tiles whose write-backs are pending, by the lowest bits of their numbers.

    A tile enters when it is evicted, if its entry is free, and leaves when memory holds it: so
    numbers of victims that are in the table are never as far apart as half of the circle on which
    they are counted.

    Parameters
    ----------
    victims : int
        Rows of the victim buffer, a power of two.
    sequence : int
        Bits of a victim's number.

    Members
    -------
    lookup : In(1)
        Look up ``lookup_tile``, and the entry of ``lookup_victim``.
    lookup_tile, lookup_victim : In(TILE_NUMBER)
    kept : Out(1)
        The tile of the last lookup is a victim whose row will be in the buffer when it is its turn.
    number : Out(sequence)
        Of that victim.
    insert : In(1)
        The tile of the last ``lookup_victim`` is evicted. Only while ``ready``.
    acknowledged, acknowledged_tile : In(1), In(TILE_NUMBER)
        Memory holds a tile.
    ready : Out(1)
        The table has been swept since the last reset.
    """

    def __init__(self, victims: int, sequence: int) -> None:
        self._victims = victims
        self._sequence = sequence
        super().__init__(
            {
                "lookup": In(1),
                "lookup_tile": In(TILE_NUMBER),
                "lookup_victim": In(TILE_NUMBER),
                "kept": Out(1),
                "number": Out(sequence),
                "insert": In(1),
                "acknowledged": In(1),
                "acknowledged_tile": In(TILE_NUMBER),
                "ready": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        entries = ENTRIES * self._victims
        bits = (entries - 1).bit_length()
        row = StructLayout({"tag": TILE_NUMBER - bits, "number": self._sequence})
        m.submodules.pending = pending = PendingTable(entries // 2, 2)
        m.submodules.rows = rows = Memory(shape=row, depth=entries, init=[])
        write = rows.write_port()
        found = rows.read_port(transparent_for=(write,))
        leaving = rows.read_port(transparent_for=(write,))
        tile = Signal(TILE_NUMBER)
        victim = Signal(TILE_NUMBER)
        wanted = Mux(self.lookup, self.lookup_tile, tile)
        with m.If(self.lookup):
            m.d.sync += victim.eq(self.lookup_victim)
        m.d.sync += tile.eq(wanted)

        # The number of the last victim; that of the one that is evicted is the next.
        last = Signal(self._sequence, init=-1)
        age = Signal(self._sequence)
        enters = self.insert & ~pending.pending_1
        m.d.sync += last.eq(last + self.insert)
        m.d.comb += [
            write.en.eq(enters),
            write.addr.eq(victim[:bits]),
            write.data.tag.eq(victim[bits:]),
            write.data.number.eq(last + 1),
            found.addr.eq(wanted[:bits]),
            age.eq(last - found.data.number),
            self.number.eq(found.data.number),
            self.kept.eq(
                pending.pending_0 & (found.data.tag == tile[bits:]) & (age < self._victims)
            ),
            pending.lookup.eq(self.lookup),
            pending.lookup_0.eq(self.lookup_tile[:bits]),
            pending.lookup_1.eq(self.lookup_victim[:bits]),
            pending.insert.eq(enters),
            self.ready.eq(pending.ready),
        ]

        # Whose entry it is must be read before it leaves.
        acknowledged = Signal()
        acknowledged_tile = Signal(TILE_NUMBER)
        m.d.sync += [
            acknowledged.eq(self.acknowledged),
            acknowledged_tile.eq(self.acknowledged_tile),
        ]
        m.d.comb += [
            leaving.addr.eq(self.acknowledged_tile[:bits]),
            pending.remove.eq(acknowledged & (leaving.data.tag == acknowledged_tile[bits:])),
            pending.removed.eq(acknowledged_tile[:bits]),
        ]
        return m
