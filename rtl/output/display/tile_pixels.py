# SPDX-License-Identifier: BSD-2-Clause
"""Tile pixels: coded tiles become red, green and blue."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.output.compression.colour_decoder import ColourDecoder
from fixfunc.rtl.output.compression.colour_order import ColourOrder
from fixfunc.rtl.output.display.tile_fetch import CODED
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import BUFFERS, LANES, SCAN_SETUP, WORDS

PIXEL = 24
PIXELS = StructLayout({"wrong": 1, "buffer": 2, "pixels": PIXEL * LANES})


class TilePixels(wiring.Component):
    """Decode tiles of one sample a pixel. One a clock, :attr:`latency` clocks later.

    Members
    -------
    setup : In(layout(SCAN_SETUP))
        Constant while tiles are in flight.
    i_valid, i : In(1), In(CODED)
    o_valid, o : Out(1), Out(PIXELS)
        Pixel (x, y) at number 8 y + x, red lowest. A tile that cannot be is ``wrong``, and black.
    """

    def __init__(self) -> None:
        self._decoder = ColourDecoder(ColourOrder(1))
        super().__init__(
            {
                "setup": In(layout(SCAN_SETUP)),
                "i_valid": In(1),
                "i": In(CODED),
                "o_valid": Out(1),
                "o": Out(PIXELS),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a code to its pixels."""
        return 1 + self._decoder.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.decoder = decoder = self._decoder
        # What the decoder sees changes with whole tiles alone, not with each transfer of them: most
        # of it rests in most clocks.
        coded = Signal(CODED)
        valid = Signal()
        m.d.sync += valid.eq(self.i_valid)
        with m.If(self.i_valid):
            m.d.sync += coded.eq(self.i)
        cleared = Array(self.setup[f"cleared{n}"] for n in range(BUFFERS))[coded.buffer]
        m.d.comb += [
            decoder.i.samples.eq(0),
            decoder.i.cleared.eq(cleared),
            decoder.i.code.eq(coded.code),
            *(decoder.i[f"data{n}"].eq(coded.data.word_select(n, 32)) for n in range(WORDS)),
            self.o_valid.eq(delay(m, valid, self._decoder.latency, "valid")),
            self.o.buffer.eq(delay(m, coded.buffer, self._decoder.latency, "buffer")),
            self.o.wrong.eq(decoder.o.wrong),
        ]
        for n in range(LANES):
            colour = named(m, decoder.o[f"colour{n}"], f"colour_{n}")
            low, green, high = colour[:8], colour[8:16], colour[16:24]
            swapped = Mux(self.setup.blue_first, Cat(high, green, low), colour[:24])
            m.d.comb += self.o.pixels.word_select(n, PIXEL).eq(swapped)
        return m
