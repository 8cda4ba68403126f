# SPDX-License-Identifier: BSD-2-Clause
"""FIFOs in block RAM."""

from amaranth.hdl import Module, ShapeLike, Signal, Value
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.rtl.lib.delay import NO_COLLISION, delay
from fixfunc.spec.errors import InputError


def not_empty(m: Module, depth: int, push: Value, popped: Value) -> Value:
    """Whether a FIFO of so many places holds a beat.

    ``popped`` is ``pop`` of the clock before: no counter depends combinationally on the reader.
    """
    level = Signal(range(depth + 1))
    next_level = Signal(range(depth + 1))
    exactly_one = Signal()
    more_than_one = Signal()
    m.d.comb += next_level.eq(level + push - popped)
    m.d.sync += [
        level.eq(next_level),
        exactly_one.eq(next_level == 1),
        more_than_one.eq(next_level > 1),
    ]
    return more_than_one | (exactly_one & ~popped)


class CreditedFIFO(wiring.Component):
    """FIFO at the end of a pipeline that cannot stall, and the credits for its places.

    A beat consumes a credit as it enters the pipeline; the credit is released when the beat leaves
    ``o``, or when it is cancelled on the way. The FIFO therefore never overflows, and needs no
    ``ready`` on the side of the pipeline.

    Block RAM is slow and lies far apart, so only addresses reach it directly. It is prefetched,
    through a register, into :attr:`PREFETCH` places of distributed RAM; only those depend on
    ``o.ready``.

    Parameters
    ----------
    shape : ShapeLike
        Of a beat.
    depth : int
        Beats, and credits.
    lookahead : int
        See :class:`~fixfunc.rtl.lib.credit.CreditCounter`.

    Members
    -------
    consume, cancel, available, idle : In, In, Out, Out
        See :class:`~fixfunc.rtl.lib.credit.CreditCounter`.
    push, i : In(1), In(shape)
        A beat arrives at the end of the pipeline.
    o : Out(stream.Signature(shape))
        :attr:`LATENCY` clocks later at the earliest; one beat a clock.
    """

    LATENCY = 5
    PREFETCH = 16  # fewer places cost as much: they are one row of look-up tables

    def __init__(self, shape: ShapeLike, depth: int, lookahead: int = 1) -> None:
        self._credit = CreditCounter(depth, lookahead)
        self._depth = 1 << (depth - 1).bit_length()  # addresses then wrap by themselves
        super().__init__(
            {
                "consume": In(1),
                "cancel": In(1),
                "available": Out(1),
                "idle": Out(1),
                "push": In(1),
                "i": In(shape),
                "o": Out(stream.Signature(shape)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.credit = credit = self._credit
        m.d.comb += [
            credit.consume.eq(self.consume),
            credit.cancel.eq(self.cancel),
            credit.release.eq(self.o.valid & self.o.ready),
            self.available.eq(credit.available),
            self.idle.eq(credit.idle),
        ]
        arrives, data, popped = self._prefetch(m)
        self._read(m, arrives, data, popped)
        return m

    def _prefetch(self, m):
        """Read block RAM while there is something to read, and room in the distributed RAM."""
        width = len(Value.cast(self.i))
        m.submodules.memory = memory = Memory(
            shape=width, depth=self._depth, init=[], attrs=NO_COLLISION
        )
        write = memory.write_port()
        read = memory.read_port()
        level = Signal(range(self._depth + 1))
        next_level = Signal(range(self._depth + 1))
        reserved = Signal(range(self.PREFETCH + 1))  # places filled, or about to be
        reading = Signal()
        room = Signal(init=1)
        popped = Signal()
        data = Signal(width)
        m.d.comb += [
            write.en.eq(self.push),
            write.data.eq(self.i),
            next_level.eq(level + self.push - reading),
        ]
        m.d.sync += [
            write.addr.eq(write.addr + self.push),
            read.addr.eq(read.addr + reading),
            level.eq(next_level),
            reading.eq((next_level != 0) & room),
            reserved.eq(reserved + reading - popped),
            room.eq(reserved < self.PREFETCH - 3),
            data.eq(read.data),
        ]
        return delay(m, reading, 2, "arrives"), data, popped

    def _read(self, m, arrives, data, popped):
        """Distributed RAM to the output register."""
        m.submodules.prefetched = memory = Memory(shape=len(data), depth=self.PREFETCH, init=[])
        write = memory.write_port()
        read = memory.read_port(domain="comb")
        filled = not_empty(m, self.PREFETCH, write.en, popped)
        pop = Signal()
        m.d.comb += [
            write.en.eq(arrives),
            write.data.eq(data),
            pop.eq(filled & (~self.o.valid | self.o.ready)),
        ]
        m.d.sync += [
            write.addr.eq(write.addr + write.en),
            popped.eq(pop),
            read.addr.eq(read.addr + pop),
        ]
        with m.If(~self.o.valid | self.o.ready):
            m.d.sync += [
                self.o.valid.eq(filled),
                self.o.payload.eq(read.data),
            ]


class StreamFIFO(wiring.Component):
    """FIFO between two streams, in block RAM, with a register at its end.

    Parameters
    ----------
    shape : ShapeLike
        Of a beat.
    depth : int
        Beats, above 1; the register at the end holds one more.

    Members
    -------
    i, o : In, Out(stream.Signature(shape))
        One beat a clock; from ``i`` to ``o`` three clocks at the earliest.
    occupied : Out(1)
        The FIFO holds a beat.
    """

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        if depth < 2:
            raise InputError("depth", "be above 1", depth)
        self._depth = depth
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(shape)),
                "occupied": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = Value.cast(self.i.payload).shape().width
        m.submodules.fifo = rows = fifo.SyncFIFOBuffered(width=width, depth=self._depth)
        wiring.connect(m, wiring.flipped(self.i), rows.w_stream)
        m.d.comb += [
            rows.r_en.eq(~self.o.valid | self.o.ready),
            self.occupied.eq(self.o.valid | (rows.level != 0)),
        ]
        with m.If(rows.r_en):
            m.d.sync += [
                self.o.valid.eq(rows.r_rdy),
                self.o.payload.eq(rows.r_data),
            ]
        return m
