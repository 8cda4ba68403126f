# SPDX-License-Identifier: BSD-2-Clause
"""Decoder of block-compressed textures."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import Stallable, delay
from fixfunc.rtl.texture._linear import Linear
from fixfunc.rtl.texture._palette_blocks import PaletteBlocks
from fixfunc.rtl.texture._subset_blocks import SubsetBlocks
from fixfunc.spec import payloads
from fixfunc.spec.state import BlockFormat

HALF = {BlockFormat.BC6HU, BlockFormat.BC6HS}
IN_SUBSETS = HALF | {BlockFormat.BC7}
UNORM8 = {BlockFormat.BC1, BlockFormat.BC2, BlockFormat.BC3, BlockFormat.BC7}


@dataclass(frozen=True)
class BlockDecodeParams:
    """Shape of a :class:`BlockDecode`.

    Parameters
    ----------
    lanes : int
        Texels a clock: 16, 8 or 4.
    formats : tuple of BlockFormat
        Those that are decoded.
    srgb : bool
        Whether blocks of UNORM8 may ask for linear colours.
    """

    lanes: int = 16
    formats: tuple = tuple(BlockFormat)
    srgb: bool = False

    def __post_init__(self):
        if self.lanes not in (16, 8, 4):
            raise ValueError(f"lanes must be 16, 8 or 4, not {self.lanes!r}")
        if not self.formats or not all(isinstance(known, BlockFormat) for known in self.formats):
            raise ValueError(f"formats must be some of BlockFormat, not {self.formats!r}")
        if self.srgb and not UNORM8 & set(self.formats):
            raise ValueError("srgb must be False without a format of UNORM8, not True")


FIRST_THREE = BlockFormat.BC1, BlockFormat.BC2, BlockFormat.BC3
CONFIGS = {
    "default": BlockDecodeParams(), "srgb": BlockDecodeParams(srgb=True), "small": BlockDecodeParams(lanes=4, srgb=True),
    "bc1_3": BlockDecodeParams(formats=FIRST_THREE), "bc7": BlockDecodeParams(formats=(BlockFormat.BC7,)),
    "bc6h": BlockDecodeParams(formats=(BlockFormat.BC6HU, BlockFormat.BC6HS)),
    "bc4_5": BlockDecodeParams(formats=(BlockFormat.BC4U, BlockFormat.BC4S, BlockFormat.BC5U, BlockFormat.BC5S)),
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
    """All formats side by side; free-running.

    Members
    -------
    i : In(StructLayout({"block": layout(payloads.TEXTURE_BLOCK), "row": ...}))
        A block, and which of its texels.
    o : Out(layout(payloads.texels(params.lanes)))
        :attr:`latency` clocks later.
    """

    def __init__(self, params: BlockDecodeParams) -> None:
        self._params, formats = params, set(params.formats)
        self._units = []
        if formats - IN_SUBSETS:
            self._units.append(("palettes", PaletteBlocks(params.lanes, formats)))
        if formats & IN_SUBSETS:
            self._units.append(("subsets", SubsetBlocks(params.lanes, bool(formats & HALF), BlockFormat.BC7 in formats)))
        self._decoded = max(unit.latency for _, unit in self._units)
        rows = range(max(16 // params.lanes, 2))
        super().__init__({
            "i": In(StructLayout({"block": layout(payloads.TEXTURE_BLOCK), "row": rows})), "o": Out(layout(payloads.texels(params.lanes))),
        })

    @property
    def latency(self) -> int:
        """Clocks from a block to its texels."""
        return self._decoded + 1 + (Linear.LATENCY if self._params.srgb else 0)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        block, row, lanes = self.i.block, self.i.row, self._params.lanes
        for name, unit in self._units:
            m.submodules[name] = unit
            ahead = self._decoded - unit.latency
            given = delay(m, self.i.as_value(), ahead, f"{name}_block")
            given = self.i.shape()(given)
            m.d.comb += [unit.i.eq(Cat(given.block.low, given.block.high)), unit.row.eq(given.row)]
            self._tell(m, unit, given.block.format)

        # What the format says goes along with its texels.
        is_half = _among(block.format, HALF)
        in_subsets, known, linear = (delay(m, value, self._decoded, name) for name, value in (
            ("in_subsets", is_half | (block.format == BlockFormat.BC7)), ("known", _among(block.format, set(self._params.formats))),
            ("linear", block.srgb & _among(block.format, UNORM8))))
        texels, flags = Signal(ArrayLayout(ArrayLayout(16, 4), lanes)), [~known, delay(m, row, self._decoded, "row")]
        for n in range(lanes):
            of_units = [unit.o[n].as_value() for _, unit in self._units]
            m.d.sync += texels[n].eq(Mux(known, Mux(in_subsets, of_units[-1], of_units[0]), 0))
        flags = delay(m, Cat(*flags), 1, "flags")
        if self._params.srgb:
            m.submodules.table = table = Linear(lanes)
            m.d.comb += [table.i.eq(texels), table.applies.eq(delay(m, linear & known, 1, "applies"))]
            texels, flags = table.o, delay(m, flags, Linear.LATENCY, "late_flags")
        m.d.comb += [self.o.error.eq(flags[0]), self.o.first.eq(flags[1:] * lanes)]
        for n in range(lanes):
            m.d.comb += [self.o[f"{channel}{n}"].eq(texels[n][c]) for c, channel in enumerate(("red", "green", "blue", "alpha"))]
        return m

    @staticmethod
    def _tell(m, unit, given):
        """A unit what kind of block it is."""
        if isinstance(unit, PaletteBlocks):
            m.d.comb += unit.format.eq(given)
        else:
            m.d.comb += [unit.half.eq(_among(given, HALF)), unit.signed.eq(given == BlockFormat.BC6HS)]


def _among(value, formats):
    return Cat(value == known for known in formats).any()


class BlockDecode(wiring.Component):
    """Decode blocks of textures, of any format one after the other.

    A beat of ``params.lanes`` texels a clock: with 16, a block. In order. Beats wait for ``o.ready`` all together.

    Parameters
    ----------
    params : BlockDecodeParams

    Members
    -------
    i : In(stream.Signature(layout(payloads.TEXTURE_BLOCK)))
        A block of a reserved mode is zeros; one of a format that ``params`` do not name as well, and an error.
    o : Out(stream.Signature(layout(payloads.texels(params.lanes))))
        Its texels, row by row; :attr:`latency` clocks later at the earliest.
    """

    def __init__(self, params: BlockDecodeParams = CONFIGS["default"]) -> None:
        self._params, self._decoder = params, Decoder(params)
        super().__init__({
            "i": In(stream.Signature(layout(payloads.TEXTURE_BLOCK))), "o": Out(stream.Signature(layout(payloads.texels(params.lanes)))),
        })

    @property
    def latency(self) -> int:
        """Clocks from a block to its first texels."""
        return self._decoder.latency + Stallable.AROUND

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.pipeline = pipeline = Stallable(self._decoder, self._decoder.latency)
        wiring.connect(m, pipeline.o, wiring.flipped(self.o))

        # A block stays until all of its texels are asked for.
        row, rows = pipeline.i.payload.row, 16 // self._params.lanes
        asked, last = Signal(range(max(rows, 2))), Signal()
        m.d.comb += [pipeline.i.valid.eq(self.i.valid), pipeline.i.payload.block.eq(self.i.payload), row.eq(asked), last.eq(asked == rows - 1),
                     self.i.ready.eq(pipeline.i.ready & last)]
        with m.If(self.i.valid & pipeline.i.ready):
            m.d.sync += asked.eq(Mux(last, 0, asked + 1))
        return m
