# SPDX-License-Identifier: BSD-2-Clause
"""Write buffer: rows that are pushed before it is known whether they are needed."""

from amaranth.hdl import Module, Mux, ShapeLike, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import NO_COLLISION
from fixfunc.spec.errors import InputError


class WriteBuffer(wiring.Component):
    """A FIFO of wide rows, each of which is committed a clock after its push, or dropped.

    A wide value need not be delayed until it is known whether it has to be written.

    Parameters
    ----------
    shape : ShapeLike
        Of a row.
    depth : int
        Rows, a power of two.

    Members
    -------
    push, i : In(1), In(shape)
        A row. Allowed while ``available``.
    commit : In(1)
        The row that was pushed in the clock before stays. Without it, the next push overwrites
        that row.
    available : Out(1)
        There is room for a row, whether or not the one before it is committed.
    o : Out(stream.Signature(shape))
        Committed rows in order, two clocks after their commit at the earliest; one a clock. A row
        keeps its place until it moves.
    """

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        if depth < 4 or depth & depth - 1:
            raise InputError("depth", "be a power of two above 3", depth)
        self._depth = depth
        super().__init__(
            {
                "push": In(1),
                "i": In(shape),
                "commit": In(1),
                "available": Out(1),
                "o": Out(stream.Signature(shape)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.rows = rows = Memory(
            shape=Value.cast(self.i).shape(), depth=self._depth, init=[], attrs=NO_COLLISION
        )
        write = rows.write_port()
        read = rows.read_port()
        tail = Signal(range(self._depth))
        next_tail = Signal(range(self._depth))
        head = Signal(range(self._depth))
        next_head = Signal(range(self._depth))
        level = Signal(range(self._depth + 1))
        pop = Signal()
        m.d.comb += [
            pop.eq(self.o.valid & self.o.ready),
            self.available.eq(level < self._depth - 1),
            next_tail.eq(tail + self.commit),
            write.en.eq(self.push),
            write.addr.eq(next_tail),
            write.data.eq(self.i),
            next_head.eq(head + pop),
            read.en.eq(1),
            read.addr.eq(next_head),
            self.o.payload.eq(read.data),
        ]
        m.d.sync += [
            tail.eq(next_tail),
            head.eq(next_head),
            level.eq(level + self.commit - pop),
            self.o.valid.eq(Mux(pop, level > 1, level != 0)),
        ]
        return m
