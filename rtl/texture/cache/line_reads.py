# SPDX-License-Identifier: BSD-2-Clause
"""Reads of lines: memory answers in any order, and lines are taken in the order of requests."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import Axi
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.payload import carried
from fixfunc.rtl.texture.cache.layouts import TextureCacheParams
from fixfunc.rtl.texture.coded_lines.coded_lines import CodedLines
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.textures.cache import LINE

BEATS = 8 * LINE // TRANSFER  # transfers of a line
SIZE = (TRANSFER // 8).bit_length() - 1  # of a transfer, as AXI4 says it
LINE_BITS = (LINE - 1).bit_length()


class LineReads(wiring.Component):
    """Read lines of 64 bytes, each under an id of its own, into a ring of places.

    Since no two reads in flight have the same id, memory may answer them in any order, and their
    transfers may be mixed; a place is free again when its line has been taken.

    Lines of coded surfaces come from :class:`~fixfunc.rtl.texture.coded_lines.coded_lines
    .CodedLines`, whose reads share the port under an id above all others. Its lines wait for those
    of plain textures, which memory may give in any clock: as many as there are places, and so not
    for ever.

    Parameters
    ----------
    params : TextureCacheParams

    Members
    -------
    i : In(stream.Signature(params.read))
        ``line``, and the ``id`` of its read: one more than that of the read before.
    present : Out(1)
        The oldest line that has not been taken is there.
    take : In(1)
        Take it. Allowed while ``present``.
    data, error : Out(8 * LINE), Out(1)
        The last line taken, from the clock after ``take`` on; whether memory failed, or its tile
        cannot be.
    memory : Out(Axi(params.ids))
        Read channels alone are used.
    forget : In(1)
        Nothing is on chip; while no line is under way. Absent without coded surfaces.
    """

    def __init__(self, params: TextureCacheParams) -> None:
        self._params = params
        self._places = params.in_flight
        self._transfer = StructLayout({"id": range(params.in_flight), "data": TRANSFER, "error": 1})
        super().__init__(
            {
                "i": In(stream.Signature(params.read)),
                "present": Out(1),
                "take": In(1),
                "data": Out(8 * LINE),
                "error": Out(1),
                "memory": Out(Axi(params.ids)),
            }
            | ({"forget": In(1)} if params.coded else {})
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        port = self.memory
        arrival = Signal(self._transfer)
        arrives = Signal()
        vacant = named(m, ~port.arvalid | port.arready, "vacant")
        m.d.comb += [
            arrives.eq(port.rvalid),
            arrival.id.eq(port.rid),
            arrival.data.eq(port.rdata),
            arrival.error.eq(port.rresp != 0),
            port.arsize.eq(SIZE),
            port.arburst.eq(1),
        ]
        if self._params.coded:
            self._share(m, vacant, arrives, arrival)
        else:
            m.d.comb += [port.arlen.eq(BEATS - 1), port.rready.eq(1), self.i.ready.eq(vacant)]
            with m.If(vacant):
                m.d.sync += port.arvalid.eq(self.i.valid)
                m.d.sync += self._request(self.i.payload)
        self._keep(m, arrives, arrival)
        return m

    def _request(self, read):
        """A line of a plain texture."""
        return [
            self.memory.araddr.eq(read.line << LINE_BITS),
            self.memory.arid.eq(read.id),
        ]

    def _share(self, m, vacant, arrives, arrival):
        """The port is shared with reads of coded surfaces, the ring with their lines."""
        port, read = self.memory, self.i.payload
        m.submodules.coded = coded = CodedLines(self._params.coded_lines)
        tiles = coded.memory
        is_tile = named(m, port.rvalid & port.rid[-1], "is_tile")
        line = coded.o.payload
        m.d.comb += [
            coded.forget.eq(self.forget),
            *carried(coded.i.payload, read),
            coded.i.valid.eq(self.i.valid & read.coded),
            tiles.arready.eq(vacant),
            self.i.ready.eq(Cat(vacant & ~tiles.arvalid, coded.i.ready).bit_select(read.coded, 1)),
            *(getattr(tiles, name).eq(getattr(port, name)) for name in ("rdata", "rresp", "rlast")),
            tiles.rvalid.eq(is_tile),
            port.rready.eq(~is_tile | tiles.rready),
        ]
        with m.If(vacant):
            m.d.sync += [
                port.arvalid.eq(tiles.arvalid | (self.i.valid & ~read.coded)),
                port.arlen.eq(BEATS - 1),
                *self._request(read),
            ]
            with m.If(tiles.arvalid):
                m.d.sync += [
                    port.arlen.eq(tiles.arlen),
                    port.araddr.eq(tiles.araddr),
                    port.arid.eq(1 << len(port.arid) - 1),
                ]
        with m.If(~port.rvalid | is_tile):
            words = (line[name] for name in line.shape().members if name.startswith("data"))
            m.d.comb += [
                coded.o.ready.eq(1),
                arrives.eq(coded.o.valid),
                arrival.id.eq(line.id),
                arrival.error.eq(line.error),
                arrival.data.eq(Cat(*words)),
            ]

    def _keep(self, m, arrives, arrival):
        """Transfers go to their places, from which lines are taken in order."""
        arrived = Signal(self._places)
        failed = Signal(self._places)
        second = Signal(self._places)  # the first transfer has come
        oldest = Signal(range(self._places))
        is_second = named(m, second.bit_select(arrival.id, 1), "is_second")
        halves = []
        for n in range(BEATS):
            m.submodules[f"half_{n}"] = half = Memory(shape=TRANSFER, depth=self._places, init=[])
            write = half.write_port()
            read = half.read_port()
            m.d.comb += [
                write.en.eq(arrives & (is_second == n)),
                write.addr.eq(arrival.id),
                write.data.eq(arrival.data),
                read.en.eq(self.take),
                read.addr.eq(oldest),
            ]
            halves.append(read.data)
        m.d.comb += [
            self.present.eq(arrived.bit_select(oldest, 1)),
            self.data.eq(Cat(halves)),
        ]
        for place in range(self._places):
            with m.If(arrives & (arrival.id == place)):
                m.d.sync += [
                    second[place].eq(~second[place]),
                    arrived[place].eq(second[place]),
                    failed[place].eq(arrival.error | (second[place] & failed[place])),
                ]
            with m.Elif(self.take & (oldest == place)):
                m.d.sync += arrived[place].eq(0)
        with m.If(self.take):
            m.d.sync += [
                oldest.eq(oldest + 1),
                self.error.eq(failed.bit_select(oldest, 1)),
            ]
