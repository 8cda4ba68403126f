# SPDX-License-Identifier: BSD-2-Clause
"""Coded lines: lines of a coded surface as those of a plain texture."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.axi import Axi, join
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.output.compression.colour_decoder import ColourDecoder
from fixfunc.rtl.output.differences.colour_order import ColourOrder
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.coded_lines.decoded_tiles import DecodedTiles
from fixfunc.rtl.texture.coded_lines.layouts import MISSED, CodedLinesParams
from fixfunc.rtl.texture.coded_lines.tile_lookup import TileLookup
from fixfunc.rtl.texture.coded_lines.tile_modes import TileModes
from fixfunc.rtl.texture.coded_lines.tile_reads import TileReads

CONFIGS = {
    "default": CodedLinesParams(),
    "tiny": CodedLinesParams(places=8, tiles=2, mode_lines=2, reads=3),
}
PURPOSE = {  # of each configuration
    "default": "64 lines under way, 8 decoded tiles on chip",
    "tiny": "for benches: 8 lines under way, 2 decoded tiles on chip",
}


class CodedLines(wiring.Component):
    """Read lines of 64 bytes of a surface as if it lay in memory as squares of 4x4 texels.

    A tile of the surface is four lines. Those of a tile on chip take two clocks each; another tile
    is read as far as its mode says, and decoded: up to eight clocks, if memory keeps up. Lines come
    in the order of their requests; no memory, and no byte of it, stops them.

    Parameters
    ----------
    params : CodedLinesParams

    Members
    -------
    i : In(stream.Signature(layout(params.read)))
        A line, in a surface whose tiles lie row by row, 256 bytes each.
    o : Out(stream.Signature(layout(params.transfer)))
        Two transfers a line, with its id.
    memory : Out(Axi())
        Read channels alone are used.
    forget : In(1)
        Memory may have changed: nothing is on chip. While no line is under way.
    """

    def __init__(self, params: CodedLinesParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(layout(params.read))),
                "o": Out(stream.Signature(layout(params.transfer))),
                "memory": Out(Axi()),
                "forget": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        params = self._params
        m.submodules.lookup = lookup = TileLookup(params)
        # As many as there are lines under way: a line that misses stops no line behind it.
        m.submodules.ordered = ordered = StreamFIFO(params.ordered, params.places)
        m.submodules.missed = missed = StreamFIFO(MISSED, params.places)
        m.submodules.modes = modes = TileModes(params.mode_lines)
        m.submodules.reads = reads = TileReads(params.reads)
        m.submodules.decoder = decoder = ColourDecoder(ColourOrder(samples=1))
        m.submodules.tiles = tiles = DecodedTiles(params)
        wiring.connect(m, wiring.flipped(self.i), lookup.i)
        wiring.connect(m, lookup.ordered, ordered.i)
        wiring.connect(m, lookup.missed, missed.i)
        wiring.connect(m, missed.o, modes.i)
        wiring.connect(m, modes.line_request, reads.line_request)
        wiring.connect(m, reads.fetched, modes.fetched)
        wiring.connect(m, modes.o, reads.i)
        wiring.connect(m, reads.o, decoder.i)
        wiring.connect(m, decoder.o, tiles.tiles)
        wiring.connect(m, ordered.o, tiles.i)
        wiring.connect(m, tiles.o, wiring.flipped(self.o))
        join(m, self.memory, reads.memory)
        m.d.comb += [unit.forget.eq(self.forget) for unit in (lookup, modes)]
        return m
