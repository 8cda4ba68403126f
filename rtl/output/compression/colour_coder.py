# SPDX-License-Identifier: BSD-2-Clause
"""From tiles of colours to what lies in memory."""

from amaranth.hdl import Cat, EnableInserter, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.skid_buffer import SkidBuffer
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.compression.palette import PaletteCoder, palette_bits
from fixfunc.rtl.output.differences.colour_order import ALPHA, CHANNELS, ColourOrder
from fixfunc.rtl.output.differences.difference_coder import DifferenceCoder
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import LANES, coded, uncoded
from fixfunc.spec.state import DIFFERENCES, TileMode


class ColourCoder(wiring.Component):
    """Cleared, or a palette, or what a tile takes otherwise: a palette never takes more.

    A tile that has none stays at the end of the palette coder for the four clocks that its
    differences take. All results take as long from there, so that their order is that of the tiles.
    One enable stops everything.

    Parameters
    ----------
    order : ColourOrder

    Members
    -------
    i : In(stream.Signature(layout(uncoded(order.colour))))
    o : Out(stream.Signature(layout(coded(order.colour))))
        :attr:`latency` clocks later at the earliest.
    """

    def __init__(self, order: ColourOrder) -> None:
        self._order = order
        self._differences = DifferenceCoder(order)
        super().__init__(
            {
                "i": In(stream.Signature(layout(uncoded(order.colour)))),
                "o": Out(stream.Signature(layout(coded(order.colour)))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks: palette, differences, the skid buffer."""
        return PaletteCoder.LATENCY + self._differences.latency + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.skid = skid = SkidBuffer(self.o.payload.shape())
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        front = Module()
        back = Module()
        timeline = Timeline(front)
        tile = self.i.payload
        timeline.enter(
            0,
            valid=self.i.valid,
            samples=tile.samples,
            is_clear=tile.clears & (tile.colour0 == tile.cleared),
        )
        front.submodules.palette = palette = PaletteCoder(self._order.colour)
        front.d.comb += palette.i.eq(Cat(tile[f"colour{n}"] for n in range(LANES)))
        now = timeline[palette.LATENCY]
        valid, samples = now.valid, now.samples
        is_clear = named(m, now.is_clear & palette.o.one, "is_clear")
        is_found = named(m, valid & (is_clear | palette.o.fits), "is_found")
        is_slow = named(m, valid & ~is_found, "is_slow")

        channel = Signal(2)
        enable = Signal()
        m.d.comb += enable.eq(skid.enable & (~is_slow | (channel == ALPHA)))
        with back.If(is_slow):
            back.d.sync += channel.eq(channel + 1)
        m.submodules.front = EnableInserter(enable)(front)
        back.submodules.differences = differences = self._differences
        back.d.comb += [
            differences.samples.eq(samples),
            differences.lanes.eq(palette.o.lanes),
            differences.channel.eq(channel),
        ]
        known = Timeline(back)
        known.enter(0, found=is_found, is_clear=is_clear, coded=is_slow & (channel == CHANNELS[0]))
        self._put_out(back, known, palette.o, differences, skid)
        m.submodules.back = EnableInserter(skid.enable)(back)
        m.d.comb += self.i.ready.eq(enable)
        return m

    def _put_out(self, m, known, palette, differences, skid):
        """What was found, differences, or the tile as it is."""
        order = self._order
        latency = differences.latency
        beginning = known[0]
        end = known[latency]
        # Tiles whose differences are under way wait in case that they are raw.
        m.submodules.tiles = tiles = fifo.SyncFIFOBuffered(
            width=LANES * order.colour, depth=-(-latency // len(CHANNELS)) + 1
        )
        m.submodules.palettes = palettes = DelayLine(palette_bits(order.colour), latency, near=True)
        is_raw = named(m, end.coded & ~differences.o.fits, "is_raw")
        is_coded = named(m, end.coded & differences.o.fits, "is_coded")
        is_palette = named(m, end.found & ~end.is_clear, "is_palette")
        data = 0
        for flag, value in (
            (is_palette, palettes.o),
            (is_coded, differences.o.data),
            (is_raw, tiles.r_data),
        ):
            data = data | gated(value, flag)
        otherwise = Mux(differences.o.fits, DIFFERENCES + differences.o.steps, TileMode.RAW)
        code = Mux(end.is_clear, TileMode.CLEARED, TileMode.PALETTE)
        m.d.comb += [
            palettes.i.eq(palette.data),
            tiles.w_en.eq(beginning.coded),
            tiles.w_data.eq(palette.lanes),
            tiles.r_en.eq(end.coded),
            skid.push.eq(end.found | end.coded),
            skid.i.code.eq(Mux(end.found, code, otherwise)),
            Cat(skid.i[f"data{n}"] for n in range(order.words)).eq(data),
        ]
