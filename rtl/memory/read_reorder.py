# SPDX-License-Identifier: BSD-2-Clause
"""Reads of one id, for a memory that answers in any order."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import TRANSFER, AxiRead
from fixfunc.rtl.lib.bits import choose, named
from fixfunc.spec.errors import InputError

RESPONSE = 2  # bits


class ReadReorder(wiring.Component):
    """Give each read an id of its own, and what was read in the order of the reads.

    Memory may answer reads in any order, transfer by transfer; what comes early waits on chip,
    where every read has room for ``most`` transfers, so that memory never waits. One transfer a
    clock; each takes :attr:`LATENCY` clocks more.

    Parameters
    ----------
    most : int
        Most transfers of a read.
    in_flight : int
        Reads that may be under way, which whoever asks must keep to: a power of two above 1.

    Members
    -------
    reads : In(AxiRead())
        The reader's side: one id, answers in order.
    memory : Out(AxiRead(...))
        As many ids as there are reads in flight.
    """

    LATENCY = 2

    def __init__(self, most: int, in_flight: int) -> None:
        if in_flight < 2 or in_flight & in_flight - 1:
            raise InputError("in_flight", "be a power of two above 1", in_flight)
        self._most = most
        self._ids = in_flight
        self._column = (most - 1).bit_length()  # bits
        super().__init__(
            {"reads": In(AxiRead()), "memory": Out(AxiRead((in_flight - 1).bit_length()))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        reads, memory = self.reads, self.memory
        newest = Signal.like(memory.arid)
        with m.If(memory.arvalid & memory.arready):
            m.d.sync += newest.eq(newest + 1)
        m.d.comb += [
            *(
                getattr(memory, name).eq(getattr(reads, name))
                for name in ("arvalid", "araddr", "arlen", "arsize", "arburst")
            ),
            memory.arid.eq(newest),
            reads.arready.eq(memory.arready),
            memory.rready.eq(1),
        ]
        self._give(m, *self._take(m))
        return m

    def _take(self, m):
        """Transfers go to their read's row; returns the port that reads them, and for each read how
        many it has, whether these are all, and a flag that forgets them.
        """
        memory = self.memory
        kept = StructLayout({"data": TRANSFER, "resp": RESPONSE})
        rows = Memory(shape=kept, depth=self._ids << self._column, init=[])
        m.submodules.rows = rows
        write = rows.write_port()
        have = [Signal(range(self._most + 1), name=f"have_{n}") for n in range(self._ids)]
        whole = Signal(self._ids)
        forget = Signal(self._ids)
        m.d.comb += [
            write.addr.eq(Cat(choose(memory.rid, have)[: self._column], memory.rid)),
            write.data.data.eq(memory.rdata),
            write.data.resp.eq(memory.rresp),
            write.en.eq(memory.rvalid),
        ]
        for n in range(self._ids):
            with m.If(forget[n]):
                m.d.sync += have[n].eq(0)
                m.d.sync += whole[n].eq(0)
            with m.Elif(memory.rvalid & (memory.rid == n)):
                m.d.sync += have[n].eq(have[n] + 1)
                m.d.sync += whole[n].eq(memory.rlast)
        return rows.read_port(), have, whole, forget

    def _give(self, m, read, have, whole, forget):
        """The oldest read's transfers, as far as they have come."""
        reads = self.reads
        oldest = Signal.like(self.memory.arid)
        column = Signal.like(have[0])
        known = named(m, choose(oldest, have), "known")
        vacant = named(m, ~reads.rvalid | reads.rready, "vacant")
        has_next = named(m, column != known, "has_next")
        is_last = named(m, whole.bit_select(oldest, 1) & (column + 1 == known), "is_last")
        fetch = named(m, vacant & has_next, "fetch")
        m.d.comb += [
            read.addr.eq(Cat(column[: self._column], oldest)),
            read.en.eq(fetch),
            forget.bit_select(oldest, 1).eq(fetch & is_last),
            reads.rdata.eq(read.data.data),
            reads.rresp.eq(read.data.resp),
        ]
        with m.If(vacant):
            m.d.sync += [
                reads.rvalid.eq(has_next),
                reads.rlast.eq(is_last),
            ]
        with m.If(fetch):
            m.d.sync += column.eq(column + 1)
            with m.If(is_last):
                m.d.sync += [
                    column.eq(0),
                    oldest.eq(oldest + 1),
                ]
