# SPDX-License-Identifier: BSD-2-Clause
"""Triangle context RAM: what later stages look up of the triangles in flight."""

from amaranth.hdl import Module, ShapeLike, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import NO_COLLISION
from fixfunc.spec import payloads

# Fields of SETUP that are needed until a tile leaves. E itself (c) travels in the cells.
ATTRIBUTES = tuple(f for f in payloads.SETUP if f.name not in ("c0", "c1", "c2"))
ATTRIBUTE_BITS = payloads.width(ATTRIBUTES)

X_STEP_BITS = payloads.EDGE_STEP + 1
Y_STEP_BITS = payloads.EDGE_STEP
GAIN_BITS = X_STEP_BITS  # an x step and a y step that are above zero add up to less than 3 * 2^24


def steps_layout(grid: int) -> StructLayout:
    """Steps of a triangle's three edge functions, as the coarse test needs them.

    ``x`` and ``y`` are what E gains over 1/16 of a pixel. A tile is twice as wide as high in pixels
    at 2x and 8x; E is scaled so that only the x step shows it. ``corner_drop`` is E at the reject
    corner of a cell less E at the reject corner of its first child, in steps of the children's
    pitch.
    """
    return StructLayout(
        {
            "x": ArrayLayout(signed(X_STEP_BITS), 3),
            "y": ArrayLayout(signed(Y_STEP_BITS), 3),
            "corner_drop": ArrayLayout(unsigned(GAIN_BITS + grid.bit_length() - 1), 3),
        }
    )


class ContextWrite(wiring.Signature):
    """Write port of a context RAM, seen from the writer."""

    def __init__(self, index: ShapeLike, shape: ShapeLike) -> None:
        super().__init__({"valid": Out(1), "index": Out(index), "data": Out(shape)})


class ContextRead(wiring.Signature):
    """Read port of a context RAM, seen from the reader.

    ``data`` is the row at ``index`` of :attr:`TriangleContext.LATENCY` clocks before.
    """

    def __init__(self, index: ShapeLike, shape: ShapeLike) -> None:
        super().__init__({"index": Out(index), "data": In(shape)})


class TriangleContext(wiring.Component):
    """A row for each triangle in flight, in block RAM: written once, read by several stages.

    Parameters
    ----------
    contexts : int
        Rows: triangles and control beats in flight.
    shape : ShapeLike
        Shape of a row.
    readers : int
        Number of read ports.

    Members
    -------
    write : In(ContextWrite(range(contexts), shape))
        The triangle's first cell must not be read before its row has been written.
    read_0, read_1, ... : In(ContextRead(range(contexts), shape))
        One port for each reader.
    """

    LATENCY = 2  # clocks from index to data: block RAM, and a register behind it

    def __init__(self, contexts: int, shape: ShapeLike, readers: int) -> None:
        index = range(contexts)
        self._contexts = contexts
        self._shape = shape
        self._readers = readers
        super().__init__(
            {"write": In(ContextWrite(index, shape))}
            | {f"read_{n}": In(ContextRead(index, shape)) for n in range(readers)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(
            shape=self._shape, depth=self._contexts, init=[], attrs=NO_COLLISION
        )
        write = memory.write_port()
        m.d.comb += [
            write.en.eq(self.write.valid),
            write.addr.eq(self.write.index),
            write.data.eq(self.write.data),
        ]
        for n in range(self._readers):
            reader = getattr(self, f"read_{n}")
            read = memory.read_port()
            m.d.comb += read.addr.eq(reader.index)
            m.d.sync += reader.data.eq(read.data)
        return m
