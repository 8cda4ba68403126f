# SPDX-License-Identifier: BSD-2-Clause
"""Decoder of block-compressed textures."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import among
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.linear import Linear
from fixfunc.rtl.texture.palette_blocks import PaletteBlocks
from fixfunc.rtl.texture.subset_blocks import SubsetBlocks
from fixfunc.spec.colours import TEXTURE_BLOCK, texels
from fixfunc.spec.state import BlockFormat

HALF = {BlockFormat.BC6HU, BlockFormat.BC6HS}
SUBSET_FORMATS = HALF | {BlockFormat.BC7}
UNORM8 = {BlockFormat.BC1, BlockFormat.BC2, BlockFormat.BC3, BlockFormat.BC7}


@dataclass(frozen=True)
class BlockDecodeParams:
    """Shape of a :class:`BlockDecode`.

    Parameters
    ----------
    lanes : int
        Texels a clock: 16, 8 or 4.
    formats : tuple of BlockFormat
        Formats to decode.
    srgb : bool
        Blocks of UNORM8 may have sRGB colours, which become linear.
    """

    lanes: int = 16
    formats: tuple = tuple(BlockFormat)
    srgb: bool = False

    def __post_init__(self):
        if self.lanes not in (16, 8, 4):
            raise ValueError(f"lanes must be 16, 8 or 4, not {self.lanes!r}")
        if not self.formats or not all(isinstance(value, BlockFormat) for value in self.formats):
            raise ValueError(f"formats must be some of BlockFormat, not {self.formats!r}")
        if self.srgb and not UNORM8 & set(self.formats):
            raise ValueError("srgb must be False without a format of UNORM8, not True")


FIRST_THREE = BlockFormat.BC1, BlockFormat.BC2, BlockFormat.BC3
CONFIGS = {
    "default": BlockDecodeParams(),
    "srgb": BlockDecodeParams(srgb=True),
    "small": BlockDecodeParams(lanes=4, srgb=True),
    "bc1_3": BlockDecodeParams(formats=FIRST_THREE),
    "bc7": BlockDecodeParams(formats=(BlockFormat.BC7,)),
    "bc6h": BlockDecodeParams(formats=(BlockFormat.BC6HU, BlockFormat.BC6HS)),
    "bc4_5": BlockDecodeParams(
        formats=(BlockFormat.BC4U, BlockFormat.BC4S, BlockFormat.BC5U, BlockFormat.BC5S)
    ),
    "tiny": BlockDecodeParams(lanes=4, formats=(BlockFormat.BC1, BlockFormat.BC7)),
}
PURPOSE = {  # of each configuration
    "default": "BC1 to BC7, 16 texels a clock",
    "srgb": "the same, sRGB to linear",
    "small": "BC1 to BC7 and sRGB, 4 texels a clock",
    "bc1_3": "BC1, BC2, BC3",
    "bc7": "BC7 alone",
    "bc6h": "BC6H alone",
    "bc4_5": "BC4 and BC5",
    "tiny": "for benches: BC1 and BC7, 4 texels a clock",
}


class Decoder(wiring.Component):
    """Decode blocks of all formats side by side; free-running.

    Parameters
    ----------
    params : BlockDecodeParams

    Members
    -------
    i : In(StructLayout({"block": layout(TEXTURE_BLOCK), "row": ...}))
        A block, and which ``params.lanes`` of its texels to decode.
    o : Out(layout(texels(params.lanes)))
        Texels, :attr:`latency` clocks later.
    """

    def __init__(self, params: BlockDecodeParams) -> None:
        self._params = params
        formats = set(params.formats)
        self._palettes = PaletteBlocks(params.lanes, formats) if formats - SUBSET_FORMATS else None
        self._subsets = (
            SubsetBlocks(params.lanes, bool(formats & HALF), BlockFormat.BC7 in formats)
            if formats & SUBSET_FORMATS
            else None
        )
        self._units = [unit for unit in (self._palettes, self._subsets) if unit]
        self._decoded = max(unit.latency for unit in self._units)
        rows = range(max(16 // params.lanes, 2))
        super().__init__(
            {
                "i": In(StructLayout({"block": layout(TEXTURE_BLOCK), "row": rows})),
                "o": Out(layout(texels(params.lanes))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a block to its texels: units, selection, sRGB to linear if there is any."""
        return self._decoded + 1 + (Linear.LATENCY if self._params.srgb else 0)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        block = self.i.block
        lanes = self._params.lanes
        t.enter(0, request=self.i.as_value(), row=self.i.row)
        t.enter(
            0,
            supported=among(block.format, set(self._params.formats)),
            from_subsets=among(block.format, SUBSET_FORMATS),
            srgb=block.srgb & among(block.format, UNORM8),
        )
        self._decode(m, t)

        # Texels of the unit that the format belongs to.
        decoded = t[self._decoded]
        texels = Signal(ArrayLayout(ArrayLayout(16, 4), lanes))
        for n in range(lanes):
            by_unit = [unit.o[n].as_value() for unit in self._units]
            selected = Mux(decoded.from_subsets, by_unit[-1], by_unit[0])
            m.d.sync += texels[n].eq(Mux(decoded.supported, selected, 0))
        if self._params.srgb:
            m.submodules.linear = linear = Linear(lanes)
            clock = t[self._decoded + 1]
            m.d.comb += [
                linear.i.eq(texels),
                linear.enable.eq(clock.srgb & clock.supported),
            ]
            texels = linear.o
        m.d.comb += [
            self.o.error.eq(~t[self.latency].supported),
            self.o.first.eq(t[self.latency].row * lanes),
        ]
        for n in range(lanes):
            m.d.comb += [
                self.o[f"{channel}{n}"].eq(texels[n][c])
                for c, channel in enumerate(("red", "green", "blue", "alpha"))
            ]
        return m

    def _decode(self, m, t):
        """Inputs of the units. The one with the shorter latency begins later."""
        requests = [self.i.shape()(t[self._decoded - unit.latency].request) for unit in self._units]
        for unit, request in zip(self._units, requests, strict=True):
            m.d.comb += [
                unit.i.eq(Cat(request.block.low, request.block.high)),
                unit.row.eq(request.row),
            ]
        if self._palettes:
            m.submodules.palettes = self._palettes
            m.d.comb += self._palettes.format.eq(requests[0].block.format)
        if self._subsets:
            m.submodules.subsets = self._subsets
            block_format = requests[-1].block.format
            m.d.comb += [
                self._subsets.half.eq(among(block_format, HALF)),
                self._subsets.signed.eq(block_format == BlockFormat.BC6HS),
            ]


class BlockDecode(wiring.Component):
    """Decode blocks of textures; formats may change from block to block.

    One beat of ``params.lanes`` texels a clock, in order; with 16 lanes a beat is a block. The
    whole pipeline moves or stalls together.

    Parameters
    ----------
    params : BlockDecodeParams

    Members
    -------
    i : In(stream.Signature(layout(TEXTURE_BLOCK)))
        A block. One of a reserved mode decodes to zeros; so does one of a format that ``params``
        do not name, with an error.
    o : Out(stream.Signature(layout(texels(params.lanes))))
        Texels of a block, row by row, :attr:`latency` clocks later at the earliest.
    """

    def __init__(self, params: BlockDecodeParams = CONFIGS["default"]) -> None:
        self._params = params
        self._decoder = Decoder(params)
        super().__init__(
            {
                "i": In(stream.Signature(layout(TEXTURE_BLOCK))),
                "o": Out(stream.Signature(layout(texels(params.lanes)))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a block to its first texels."""
        return self._decoder.latency + StallablePipeline.AROUND

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pipeline = pipeline = StallablePipeline(self._decoder, self._decoder.latency)
        wiring.connect(m, pipeline.o, wiring.flipped(self.o))

        # A block stays at the input until all of its rows have entered.
        rows = 16 // self._params.lanes
        row = Signal(range(max(rows, 2)))
        last = Signal()
        m.d.comb += [
            pipeline.i.valid.eq(self.i.valid),
            pipeline.i.payload.block.eq(self.i.payload),
            pipeline.i.payload.row.eq(row),
            last.eq(row == rows - 1),
            self.i.ready.eq(pipeline.i.ready & last),
        ]
        with m.If(self.i.valid & pipeline.i.ready):
            m.d.sync += row.eq(Mux(last, 0, row + 1))
        return m
