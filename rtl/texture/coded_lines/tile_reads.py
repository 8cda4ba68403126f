# SPDX-License-Identifier: BSD-2-Clause
"""Tile reads: coded tiles, and lines of mode tables, from memory."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import TRANSFER, AxiRead, AxiReader
from fixfunc.rtl.lib.bits import choose, named
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.coded_lines.layouts import MODE, TILE
from fixfunc.rtl.texture.coded_lines.tile_modes import FETCHED
from fixfunc.spec.colours import EDGE, stored
from fixfunc.spec.payloads import COLOUR
from fixfunc.spec.textures.cache import TABLE

SURFACE = Surface(EDGE, COLOUR, differences=True)
NO_MODE = 7  # no tile's: the decoder refuses what memory could not give


class TileReads(wiring.Component):
    """Read the transfers that a tile has by its mode; several reads at once, in order.

    A transfer a clock. A tile without transfers, be it cleared or of a mode that there is not,
    takes a clock, too.

    Parameters
    ----------
    reads : int
        Most reads in flight, above 2.

    Members
    -------
    i : In(stream.Signature(TILE))
    line_request : In(stream.Signature(TABLE))
        A line of a mode table, which goes before a tile.
    fetched : Out(stream.Signature(FETCHED))
        That line. The receiver is always ready.
    o : Out(stream.Signature(layout(stored(COLOUR))))
        The tiles, for the decoder.
    memory : Out(AxiRead())
    """

    def __init__(self, reads: int) -> None:
        self._reads = reads
        super().__init__(
            {
                "i": In(stream.Signature(TILE)),
                "line_request": In(stream.Signature(TABLE)),
                "fetched": Out(stream.Signature(FETCHED)),
                "o": Out(stream.Signature(layout(stored(COLOUR)))),
                "memory": Out(AxiRead()),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        tag = StructLayout({"is_line": 1, "mode": MODE, "cleared": COLOUR, "failed": 1})
        m.submodules.reader = reader = AxiReader(SURFACE.most, self._reads, tag)
        wiring.connect(m, reader.memory, wiring.flipped(self.memory))
        tile = self.i.payload
        request = reader.request.payload
        modes = SURFACE.modes
        sizes = [SURFACE.transfers(n) if n in modes else 0 for n in range(1 << MODE)]
        is_line = self.line_request.valid
        m.d.comb += [
            reader.request.valid.eq(self.i.valid | is_line),
            self.line_request.ready.eq(reader.request.ready),
            self.i.ready.eq(reader.request.ready & ~is_line),
            request.tag.is_line.eq(is_line),
            request.tag.mode.eq(tile.mode),
            request.tag.cleared.eq(tile.cleared),
            request.tag.failed.eq(tile.failed),
        ]
        with m.If(is_line):
            m.d.comb += [
                request.address.eq(self.line_request.payload << (TRANSFER // 8 - 1).bit_length()),
                request.transfers.eq(1),
            ]
        with m.Else():
            m.d.comb += [
                request.address.eq(SURFACE.tile_address(Const(0), tile.address)),
                request.transfers.eq(Mux(tile.failed, 0, choose(tile.mode, sizes))),
            ]
        self._receive(m, reader.o)
        return m

    def _receive(self, m, answer):
        """Transfers of a tile are put together; the tile is offered from the clock behind its last
        one on.
        """
        transfer = answer.payload
        is_line = transfer.tag.is_line
        free = named(m, ~self.o.valid | self.o.ready, "free")
        failed = Signal()
        fails = named(m, transfer.error | Mux(transfer.index == 0, 0, failed), "fails")
        accepts = named(m, answer.valid & free & ~is_line, "accepts")
        tile = self.o.payload
        m.d.comb += [
            answer.ready.eq(is_line | free),
            self.fetched.valid.eq(answer.valid & is_line),
            self.fetched.payload.data.eq(transfer.data),
            self.fetched.payload.error.eq(transfer.error),
        ]
        with m.If(free):
            m.d.sync += self.o.valid.eq(accepts & transfer.last)
        with m.If(accepts):
            m.d.sync += [
                failed.eq(fails),
                tile.cleared.eq(transfer.tag.cleared),
                tile.code.eq(Mux(fails | transfer.tag.failed, NO_MODE, transfer.tag.mode)),
            ]
            data = Cat(tile[name] for name in tile.shape().members if name.startswith("data"))
            for n in range(SURFACE.most):
                # The decoder does not look at what another tile left behind the last transfer.
                with m.If((transfer.index == n) & ~transfer.empty):
                    m.d.sync += data.word_select(n, TRANSFER).eq(transfer.data)
        return m
