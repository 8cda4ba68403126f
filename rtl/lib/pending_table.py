# SPDX-License-Identifier: BSD-2-Clause
"""Pending table: which keys are in flight, two bits a key, in memory."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.spec.errors import InputError


class PendingTable(wiring.Component):
    """One bit of a key turns when the key is inserted, another follows it when it is removed.

    The key is pending while the two differ, so each memory is written by one event alone. After a
    reset all rows are swept, one a clock.

    Parameters
    ----------
    rows, columns : int
        Powers of two, above 1. The lowest bits of a key are its column.

    Members
    -------
    lookup : In(1)
        ``lookup_0`` and ``lookup_1`` are looked up. What is said of them, from the next clock until
        the next lookup, is true of that moment.
    lookup_0, lookup_1 : In(bits)
    pending_0, pending_1 : Out(1)
        The key is pending: from the clock after its insertion until the second after its removal.
    any_0, any_1 : Out(1)
        A key of its row is.
    insert : In(1)
        The key of the last ``lookup_1`` is inserted. Allowed while ``ready`` and not ``pending_1``.
    remove : In(1)
        ``removed``, which is pending, is removed.
    removed : In(bits)
    ready : Out(1)
        The rows have been swept.
    """

    def __init__(self, rows: int, columns: int) -> None:
        for name, value in (("rows", rows), ("columns", columns)):
            if value < 2 or value & value - 1:
                raise InputError(name, "be a power of two above 1", value)
        self._rows = rows
        self._columns = columns
        bits = (rows * columns - 1).bit_length()
        super().__init__(
            {
                "lookup": In(1),
                "lookup_0": In(bits),
                "lookup_1": In(bits),
                "pending_0": Out(1),
                "pending_1": Out(1),
                "any_0": Out(1),
                "any_1": Out(1),
                "insert": In(1),
                "remove": In(1),
                "removed": In(bits),
                "ready": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        shape = ArrayLayout(1, self._columns)
        m.submodules.inserted = inserted = Memory(shape=shape, depth=self._rows, init=[])
        m.submodules.followed = followed = Memory(shape=shape, depth=self._rows, init=[])
        insert = inserted.write_port(granularity=1)
        follow = followed.write_port(granularity=1)

        watched = []
        for n in range(2):
            key = Signal.like(self.removed, name=f"key_{n}")
            wanted = Mux(self.lookup, getattr(self, f"lookup_{n}"), key)
            m.d.sync += key.eq(wanted)
            bits = []
            for memory, write in ((inserted, insert), (followed, follow)):
                read = memory.read_port(transparent_for=(write,))
                m.d.comb += read.addr.eq(self._row(wanted))
                bits.append(read.data.as_value())
            differ = Signal(self._columns, name=f"differ_{n}")
            m.d.comb += [
                differ.eq(bits[0] ^ bits[1]),
                getattr(self, f"pending_{n}").eq(differ.bit_select(self._column(key), 1)),
                getattr(self, f"any_{n}").eq(differ.any()),
            ]
            watched.append((key, bits[0]))

        # What is removed is read, and followed a clock later: nothing is inserted there meanwhile.
        key, turned = watched[1]
        leaving = Signal.like(self.removed)
        leaves = Signal()
        leaving_bits = inserted.read_port(transparent_for=(insert,))
        m.d.sync += [
            leaving.eq(self.removed),
            leaves.eq(self.remove),
        ]
        m.d.comb += [
            leaving_bits.addr.eq(self._row(self.removed)),
            insert.addr.eq(self._row(key)),
            insert.en.eq(self.insert << self._column(key)),
            insert.data.as_value().eq(~turned),
            follow.addr.eq(self._row(leaving)),
            follow.en.eq(leaves << self._column(leaving)),
            follow.data.eq(leaving_bits.data),
        ]
        self._sweep(m, insert, follow)
        return m

    def _sweep(self, m, *ports):
        """A reset leaves memories as they are."""
        row = Signal(range(self._rows))
        with m.If(~self.ready):
            m.d.sync += Cat(row, self.ready).eq(row + 1)
            for port in ports:
                m.d.comb += [
                    port.addr.eq(row),
                    port.en.eq(~0),
                    port.data.as_value().eq(0),
                ]

    def _column(self, key):
        return key[: (self._columns - 1).bit_length()]

    def _row(self, key):
        return key[(self._columns - 1).bit_length() :]
