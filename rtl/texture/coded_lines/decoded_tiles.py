# SPDX-License-Identifier: BSD-2-Clause
"""Decoded tiles: a few of them on chip, and the lines that are taken from them, in order."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import TRANSFER
from fixfunc.rtl.lib.bits import choose, named
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.coded_lines.layouts import CodedLinesParams
from fixfunc.spec.colours import EDGE, decoded
from fixfunc.spec.payloads import COLOUR
from fixfunc.spec.textures.cache import LINE
from fixfunc.spec.textures.coded_lines import HALVES, TILE_LINES

# Transfers of a tile, line by line, and whether it could not be decoded.
ROW = StructLayout({"transfers": ArrayLayout(TRANSFER, HALVES * TILE_LINES), "wrong": 1})
TEXELS = 8 * LINE // COLOUR  # of a line


def _lane(n):
    """Lane of texel ``n`` of a tile whose lines follow one another: all of it in Morton order."""
    x = sum((n >> 2 * bit & 1) << bit for bit in range(3))
    y = sum((n >> 2 * bit + 1 & 1) << bit for bit in range(3))
    return EDGE * y + x


class DecodedTiles(wiring.Component):
    """Take lines from tiles: two transfers each, without a pause while tiles are on chip.

    A tile is put on chip when the line that missed it has its turn.

    Parameters
    ----------
    params : CodedLinesParams

    Members
    -------
    i : In(stream.Signature(params.ordered))
    tiles : In(stream.Signature(layout(decoded(COLOUR))))
        Those of the lines that missed, in their order.
    o : Out(stream.Signature(layout(params.transfer)))
        A clock later at the earliest.
    """

    def __init__(self, params: CodedLinesParams) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(params.ordered)),
                "tiles": In(stream.Signature(layout(decoded(COLOUR)))),
                "o": Out(stream.Signature(layout(params.transfer))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.rows = rows = Memory(shape=ROW, depth=self._params.tiles, init=[])
        write = rows.write_port()
        read = rows.read_port(transparent_for=(write,))
        line = self.i.payload
        tile = self.tiles.payload
        current = Signal(self._params.ordered)
        is_second = Signal()
        out = self.o.payload
        ends = named(m, ~self.o.valid | (self.o.ready & is_second), "ends")
        moves = named(m, self.i.valid & ends & (~line.missed | self.tiles.valid), "moves")
        lanes = Cat(tile[f"colour{_lane(n)}"] for n in range(TEXELS * TILE_LINES))
        place = Cat(is_second, current.square)
        m.d.comb += [
            self.i.ready.eq(ends & (~line.missed | self.tiles.valid)),
            self.tiles.ready.eq(self.i.valid & ends & line.missed),
            write.en.eq(moves & line.missed),
            write.addr.eq(line.slot),
            write.data.transfers.eq(lanes),
            write.data.wrong.eq(tile.wrong),
            read.en.eq(moves),
            read.addr.eq(line.slot),
            out.id.eq(current.id),
            out.last.eq(is_second),
            out.error.eq(read.data.wrong),
            Cat(out[name] for name in out.shape().members if name.startswith("data")).eq(
                choose(place, list(read.data.transfers))
            ),
        ]
        with m.If(ends):
            m.d.sync += [self.o.valid.eq(moves), current.eq(line)]
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += is_second.eq(Mux(is_second, 0, 1))
        return m
