# SPDX-License-Identifier: BSD-2-Clause
"""State rows: texture states on chip, for parts that need them at different times."""

from collections.abc import Iterable

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.unit.layouts import STATES
from fixfunc.spec import payloads
from fixfunc.spec.payloads import Field

# How a part reads: the row of a STATE that waits before it, and whether one does; a clock later
# what is in that row.
ASKING = StructLayout({"row": range(STATES), "valid": 1})


def found(table: Iterable[Field]) -> StructLayout:
    """Layout of what a part finds, of states of a field table."""
    return StructLayout({"state": layout(table), "valid": 1})


class StateRows(wiring.Component):
    """Texture states, in rows that are used in turn.

    Parameters
    ----------
    readers : int
    table : tuple of Field
        A state.

    Members
    -------
    write, state : In(1), In(layout(table))
        Put it in the next row; when ``free``.
    free, row : Out(1), Out(range(STATES))
        That row is free; its number.
    release : In(1)
        The oldest row has been read by all.
    asking, found : In, Out
        Of each reader. ``found.valid`` stays until ``asking.valid`` falls, or ``taken``.
    taken : In(readers)
        The reader needs its row no more.
    """

    def __init__(self, readers: int, table: tuple[Field, ...]) -> None:
        self._readers = readers
        self._bits = payloads.width(table)
        super().__init__(
            {
                "write": In(1),
                "state": In(layout(table)),
                "free": Out(1),
                "row": Out(range(STATES)),
                "release": In(1),
                "asking": In(ArrayLayout(ASKING, readers)),
                "found": Out(ArrayLayout(found(table), readers)),
                "taken": In(readers),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.rows = rows = Memory(shape=self._bits, depth=STATES, init=[])
        used = Signal(range(STATES + 1))
        port = rows.write_port()
        m.d.comb += [
            self.free.eq(used != STATES),
            port.en.eq(self.write),
            port.addr.eq(self.row),
            port.data.eq(self.state),
        ]
        m.d.sync += [
            self.row.eq(self.row + self.write),
            used.eq(used + self.write - self.release),
        ]
        for n in range(self._readers):
            read = rows.read_port()
            known = Signal(name=f"known_{n}")
            wanted = named(m, self.asking[n].valid & ~self.taken[n], f"wanted_{n}")
            m.d.sync += known.eq(wanted)
            m.d.comb += [
                read.addr.eq(self.asking[n].row),
                self.found[n].valid.eq(known),
                Value.cast(self.found[n].state).eq(read.data),
            ]
        return m
