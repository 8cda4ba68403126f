# SPDX-License-Identifier: BSD-2-Clause
"""Reads of lines: memory answers in any order, and lines are taken in the order of requests."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import Axi
from fixfunc.rtl.lib.bits import named
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.textures.cache import LINE, LINE_NUMBER

BEATS = 8 * LINE // TRANSFER  # transfers of a line


class LineReads(wiring.Component):
    """Read lines of 64 bytes, each under an id of its own, into a ring of places.

    Since no two reads in flight have the same id, memory may answer them in any order, and their
    transfers may be mixed; a place is free again when its line has been taken.

    Parameters
    ----------
    places : int
        Most reads in flight: a power of two.

    Members
    -------
    i : In(stream.Signature(...))
        ``line``, and the ``id`` of its read: one more than that of the read before.
    present : Out(1)
        The oldest line that has not been taken is there.
    take : In(1)
        Take it. Allowed while ``present``.
    data, error : Out(8 * LINE), Out(1)
        The last line taken, from the clock after ``take`` on; whether memory failed.
    memory : Out(Axi(...))
        Read channels alone are used.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        read = StructLayout({"line": LINE_NUMBER, "id": range(places)})
        super().__init__(
            {
                "i": In(stream.Signature(read)),
                "present": Out(1),
                "take": In(1),
                "data": Out(8 * LINE),
                "error": Out(1),
                "memory": Out(Axi((places - 1).bit_length())),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        port = self.memory
        m.d.comb += [
            port.arlen.eq(BEATS - 1),
            port.arsize.eq((TRANSFER // 8).bit_length() - 1),
            port.arburst.eq(1),
            port.rready.eq(1),
            self.i.ready.eq(~port.arvalid | port.arready),
        ]
        with m.If(self.i.ready):
            m.d.sync += [
                port.arvalid.eq(self.i.valid),
                port.araddr.eq(self.i.payload.line << (LINE - 1).bit_length()),
                port.arid.eq(self.i.payload.id),
            ]

        arrived = Signal(self._places)
        failed = Signal(self._places)
        second = Signal(self._places)  # the first transfer has come
        oldest = Signal(range(self._places))
        is_second = named(m, second.bit_select(port.rid, 1), "is_second")
        halves = []
        for n in range(BEATS):
            m.submodules[f"half_{n}"] = half = Memory(shape=TRANSFER, depth=self._places, init=[])
            write = half.write_port()
            read = half.read_port()
            m.d.comb += [
                write.en.eq(port.rvalid & (is_second == n)),
                write.addr.eq(port.rid),
                write.data.eq(port.rdata),
                read.en.eq(self.take),
                read.addr.eq(oldest),
            ]
            halves.append(read.data)
        m.d.comb += [
            self.present.eq(arrived.bit_select(oldest, 1)),
            self.data.eq(Cat(halves)),
        ]
        for place in range(self._places):
            with m.If(port.rvalid & (port.rid == place)):
                m.d.sync += [
                    second[place].eq(~second[place]),
                    arrived[place].eq(second[place]),
                    failed[place].eq((port.rresp != 0) | (second[place] & failed[place])),
                ]
            with m.Elif(self.take & (oldest == place)):
                m.d.sync += arrived[place].eq(0)
        with m.If(self.take):
            m.d.sync += [
                oldest.eq(oldest + 1),
                self.error.eq(failed.bit_select(oldest, 1)),
            ]
        return m
