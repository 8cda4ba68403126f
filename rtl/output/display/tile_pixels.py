# SPDX-License-Identifier: BSD-2-Clause
"""Tile pixels: coded tiles become red, green and blue."""

from amaranth.hdl import Array, Cat, Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.output.compression.colour_decoder import ColourDecoder
from fixfunc.rtl.output.differences.colour_order import ColourOrder
from fixfunc.rtl.output.display.tile_fetch import CODED
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import BUFFERS, LANES, SCAN_SETUP, WORDS

PIXEL = 24
PIXELS = StructLayout({"wrong": 1, "buffer": 2, "pixels": PIXEL * LANES})


class TilePixels(wiring.Component):
    """Decode tiles of one sample a pixel: one a clock, by differences one in four. :attr:`latency`
    clocks later.

    Members
    -------
    setup : In(layout(SCAN_SETUP))
        Constant while tiles are in flight.
    i : In(stream.Signature(CODED))
    o_valid, o : Out(1), Out(PIXELS)
        Pixel (x, y) at number 8 y + x, red lowest. A tile that cannot be is ``wrong``, and black.
    """

    def __init__(self) -> None:
        self._decoder = ColourDecoder(ColourOrder(1))
        super().__init__(
            {
                "setup": In(layout(SCAN_SETUP)),
                "i": In(stream.Signature(CODED)),
                "o_valid": Out(1),
                "o": Out(PIXELS),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a code to its pixels."""
        return self._decoder.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.decoder = decoder = self._decoder
        tile = decoder.i.payload
        coded = self.i.payload
        m.d.comb += [
            decoder.i.valid.eq(self.i.valid),
            self.i.ready.eq(decoder.i.ready),
            tile.cleared.eq(Array(self.setup[f"cleared{n}"] for n in range(BUFFERS))[coded.buffer]),
            tile.code.eq(coded.code),
            *(tile[f"data{n}"].eq(coded.data.word_select(n, 32)) for n in range(WORDS)),
            decoder.o.ready.eq(1),
            self.o_valid.eq(decoder.o.valid),
            self.o.buffer.eq(delay(m, coded.buffer, self.latency, "buffer")),
            self.o.wrong.eq(decoder.o.payload.wrong),
        ]
        for n in range(LANES):
            colour = named(m, decoder.o.payload[f"colour{n}"], f"colour_{n}")
            low, green, high = colour[:8], colour[8:16], colour[16:24]
            swapped = Mux(self.setup.blue_first, Cat(high, green, low), colour[:24])
            m.d.comb += self.o.pixels.word_select(n, PIXEL).eq(swapped)
        return m
