# SPDX-License-Identifier: BSD-2-Clause
"""FIFOs in block RAM."""

from amaranth.hdl import Module, ShapeLike, Value
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.credit import CreditCounter
from fixfunc.spec.errors import InputError


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
        One beat a clock, or every other clock if ``depth`` is 2. From ``i`` to ``o`` in
        :attr:`LATENCY` clocks at the earliest.
    occupied : Out(1)
        The FIFO holds a beat.
    """

    LATENCY = 3  # memory, its output, the register

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


class CreditedFIFO(wiring.Component):
    """FIFO at the end of a pipeline that cannot stall, and the credits for its places.

    A beat consumes a credit as it enters the pipeline; the credit is released when the beat leaves
    ``o``, or when it is cancelled on the way. The FIFO therefore never overflows, and needs no
    ``ready`` on the side of the pipeline. For a beat every clock it must have as many places as
    there are clocks from a credit consumed to the beat that leaves.

    Parameters
    ----------
    shape : ShapeLike
        Of a beat.
    depth : int
        Beats, and credits; above 2, since a FIFO of 2 does not take a beat every clock.
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

    LATENCY = StreamFIFO.LATENCY

    def __init__(self, shape: ShapeLike, depth: int, lookahead: int = 1) -> None:
        if depth < 3:
            raise InputError("depth", "be above 2", depth)
        self._credit = CreditCounter(depth, lookahead)
        self._fifo = StreamFIFO(shape, depth)
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
        m.submodules.fifo = queue = self._fifo
        m.d.comb += [
            queue.i.valid.eq(self.push),
            queue.i.payload.eq(self.i),
            credit.consume.eq(self.consume),
            credit.cancel.eq(self.cancel),
            credit.release.eq(self.o.valid & self.o.ready),
            self.available.eq(credit.available),
            self.idle.eq(credit.idle),
        ]
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        return m
