# SPDX-License-Identifier: BSD-2-Clause
"""Reads the command stream ahead."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.axi import ADDRESS, TRANSFER, Axi, constants
from fixfunc.rtl.pipeline import Buffer

BURST = 16  # transfers: 512 bytes, so that no burst crosses a page
FETCHED = StructLayout({"wrong": 1, "data": TRANSFER})


class CommandFetch(wiring.Component):
    """Transfers of memory, in order, read ahead as far as there is room.

    Parameters
    ----------
    ahead : int
        Transfers.

    Members
    -------
    start, address, transfers : In
        Begin; not while :attr:`busy`.
    stop : In(1)
        Nothing more is asked for.
    busy : Out(1)
        Something is still to come.
    o : Out(stream.Signature(FETCHED))
        ``wrong``: it could not be read.
    memory : Out(Axi())
        It only reads.
    """

    def __init__(self, ahead=4 * BURST):
        self._ahead = ahead
        super().__init__({"start": In(1), "address": In(ADDRESS), "transfers": In(24), "stop": In(1), "busy": Out(1),
                          "o": Out(stream.Signature(FETCHED)), "memory": Out(Axi())})

    def elaborate(self, platform):
        m = Module()
        port = self.memory
        m.submodules.queue = queue = Buffer(FETCHED, self._ahead)
        constants(m, port)
        wiring.connect(m, queue.o, wiring.flipped(self.o))

        # What is asked for has a place in the queue: places are taken by bursts, and given back by transfers. The next
        # burst's size is known a clock after the last.
        address, left, taken, coming = Signal(ADDRESS - 5), Signal(24), Signal(range(self._ahead + 1)), Signal(range(self._ahead + 1))
        to_boundary, size, fresh, asks = Signal(range(BURST + 1)), Signal(range(BURST + 1)), Signal(), Signal()
        m.d.comb += to_boundary.eq(BURST - address[:4])
        m.d.sync += [size.eq(Mux(left < to_boundary, left, to_boundary)), fresh.eq((left != 0) & ~asks & ~self.stop & ~self.start)]
        arrives, leaves = port.rvalid & port.rready, self.o.valid & self.o.ready
        m.d.comb += [asks.eq(fresh & ~self.stop & (~port.arvalid | port.arready) & (taken <= self._ahead - BURST))]
        with m.If(~port.arvalid | port.arready):
            m.d.sync += [port.arvalid.eq(asks), port.araddr.eq(address << 5), port.arlen.eq(size - 1)]
        m.d.sync += [taken.eq(taken + Mux(asks, size, 0) - leaves), coming.eq(coming + Mux(asks, size, 0) - arrives)]
        with m.If(asks):
            m.d.sync += [left.eq(left - size), address.eq(address + size)]
        with m.If(self.stop):
            m.d.sync += left.eq(0)
        with m.If(self.start):
            m.d.sync += [left.eq(self.transfers), address.eq(self.address >> 5)]
        into = queue.i.payload
        m.d.comb += [port.rready.eq(queue.i.ready), queue.i.valid.eq(port.rvalid), into.data.eq(port.rdata), into.wrong.eq(port.rresp != 0),
                     self.busy.eq((left != 0) | (coming != 0) | (taken != 0))]
        return m
