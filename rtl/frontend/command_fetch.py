# SPDX-License-Identifier: BSD-2-Clause
"""Command fetch: the transfers of a command stream, read ahead of their use."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import ADDRESS, TRANSFER, Axi, constants
from fixfunc.rtl.lib.fifo import StreamFIFO

BURST = 16  # transfers: 512 bytes, so that no burst crosses a page
FETCHED = StructLayout(
    {
        "error": 1,  # the transfer could not be read
        "data": TRANSFER,
    }
)


class FetchControl(wiring.Signature):
    """Control of a :class:`CommandFetch`, seen from its user."""

    def __init__(self) -> None:
        super().__init__(
            {
                "start": Out(1),  # begin to read; not allowed while busy
                "address": Out(ADDRESS),  # of the first transfer, in bytes
                "transfers": Out(24),  # number of transfers to read
                "stop": Out(1),  # request no more bursts
                "busy": In(1),  # a transfer is to be read, in flight, or in the FIFO
            }
        )


class CommandFetch(wiring.Component):
    """Read consecutive transfers of memory, as far ahead as the FIFO has room.

    Parameters
    ----------
    depth : int
        Transfers in the FIFO, a multiple of :data:`BURST` above it.

    Members
    -------
    control : In(FetchControl())
        What to read.
    o : Out(stream.Signature(FETCHED))
        Transfers, in order.
    memory : Out(Axi())
        Read channels alone are used.
    """

    def __init__(self, depth: int) -> None:
        self._depth = depth
        super().__init__(
            {
                "control": In(FetchControl()),
                "o": Out(stream.Signature(FETCHED)),
                "memory": Out(Axi()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        port = self.memory
        control = self.control
        m.submodules.fifo = fifo = StreamFIFO(FETCHED, self._depth)
        constants(m, port)
        wiring.connect(m, fifo.o, wiring.flipped(self.o))
        m.d.comb += [
            port.rready.eq(fifo.i.ready),
            fifo.i.valid.eq(port.rvalid),
            fifo.i.payload.data.eq(port.rdata),
            fifo.i.payload.error.eq(port.rresp != 0),
        ]

        # The size of the next burst is a register, one clock behind the request before it.
        address = Signal(ADDRESS - 5)
        remaining = Signal(24)
        to_boundary = Signal(range(BURST + 1))
        size = Signal(range(BURST + 1))
        size_valid = Signal()
        request = Signal()
        m.d.comb += to_boundary.eq(BURST - address[:4])
        m.d.sync += [
            size.eq(Mux(remaining < to_boundary, remaining, to_boundary)),
            size_valid.eq((remaining != 0) & ~request & ~control.stop & ~control.start),
        ]

        # A burst is requested if the FIFO has room for the longest one. Places are reserved by
        # bursts and released by transfers.
        reserved = Signal(range(self._depth + 1))
        leave = self.o.valid & self.o.ready
        request_ready = ~port.arvalid | port.arready
        m.d.comb += request.eq(
            size_valid & ~control.stop & request_ready & (reserved <= self._depth - BURST)
        )
        with m.If(request_ready):
            m.d.sync += [
                port.arvalid.eq(request),
                port.araddr.eq(address << 5),
                port.arlen.eq(size - 1),
            ]
        m.d.sync += reserved.eq(reserved + Mux(request, size, 0) - leave)
        m.d.comb += control.busy.eq((remaining != 0) | (reserved != 0))

        with m.If(request):
            m.d.sync += [
                remaining.eq(remaining - size),
                address.eq(address + size),
            ]
        with m.If(control.stop):
            m.d.sync += remaining.eq(0)
        with m.If(control.start):
            m.d.sync += [
                remaining.eq(control.transfers),
                address.eq(control.address >> 5),
            ]
        return m
