# SPDX-License-Identifier: BSD-2-Clause
"""What the parts of the texture cache hand to each other."""

from dataclasses import dataclass

from amaranth.hdl import ShapeLike
from amaranth.lib.data import ArrayLayout, StructLayout

from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.cache.formats import UNBLOCKED, WIDE
from fixfunc.rtl.texture.coded_lines.layouts import CodedLinesParams
from fixfunc.spec.errors import InputError
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.cache import (
    CACHE_QUAD,
    CODED_STATE,
    COLOURS,
    FORMAT,
    LAYER,
    LEVELS,
    LINE,
    LINE_NUMBER,
    PITCH,
    StoredFormat,
)
from fixfunc.spec.textures.coded_lines import CODED_FORMATS, TILE_ADDRESS
from fixfunc.spec.textures.filter import CHANNELS, CORNERS

PIXELS = 4
TAPS = PIXELS * CORNERS  # tap 4 p + c is corner c of pixel p
QUARTERS = 4  # of the first level, each of which looks up a block a clock
OFFSET = 3  # bits: where a block begins in its line, in 8 bytes
TEXEL = ArrayLayout(16, len(CHANNELS))
BLOCK = ArrayLayout(TEXEL, 16)  # texel (x, y) is number 4 y + x
# Texels of a footprint within their blocks: their lowest two bits; the quarter of each.
FOOTPRINT = StructLayout(
    {
        "x": ArrayLayout(2, 2),
        "y": ArrayLayout(2, 2),
        "selected": CORNERS,
        "quarter": ArrayLayout(2, CORNERS),
        "u": 8,
        "v": 8,
    }
)
READS = ArrayLayout(FOOTPRINT, PIXELS)
# Of a texture whether it is a coded surface; that, and its first tile.
SURFACE = StructLayout(dict(layout(CODED_STATE).members) | {"first": TILE_ADDRESS})


@dataclass(frozen=True)
class TextureCacheParams:
    """Shape of a :class:`~fixfunc.rtl.texture.cache.texture_cache.TextureCache`.

    Parameters
    ----------
    sets, ways : int
        Of the first level, whose lines are blocks of 4x4 texels.
    line_sets, line_ways : int
        Of the second level, whose lines are 64 bytes of memory.
    in_flight : int
        Most lines that are read from memory and have not been used.
    queue : int
        Most rounds of quads between lookup and texels, and most misses between the lookup of their
        line and its use: as many as the clocks of memory's latency that are to be hidden.
    formats : tuple of StoredFormat
        Formats of textures; others are refused.
    layers : bool
        Layers count; else each is layer 0.
    coded : int
        Decoded tiles on chip, of textures that are coded surfaces, above 1; 0: all are plain.
    linear : bool
        Textures may lie as rows of texels; else each lies in Morton order.

    Numbers are powers of two.
    """

    sets: int = 16
    ways: int = 4
    line_sets: int = 64
    line_ways: int = 8
    in_flight: int = 64
    queue: int = 256
    formats: tuple = COLOURS
    layers: bool = False
    coded: int = 0
    linear: bool = False

    def __post_init__(self):
        for name, least in (
            ("sets", 2 * QUARTERS),
            ("ways", 2),
            ("line_sets", 2),
            ("line_ways", 2),
            ("in_flight", 4),
            ("queue", 4),
        ):
            value = getattr(self, name)
            if value < least or value & value - 1:
                raise InputError(name, f"be a power of two from {least} on", value)
        if not self.formats or not set(self.formats) <= set(StoredFormat):
            raise InputError("formats", "be some of StoredFormat", self.formats)
        if self.coded < 0 or self.coded == 1 or self.coded & self.coded - 1:
            raise InputError("coded", "be 0 or a power of two from 2 on", self.coded)

    @property
    def blocks(self) -> int:
        """Blocks of the first level."""
        return self.sets * self.ways

    @property
    def lines(self) -> int:
        """Lines of the second level."""
        return self.line_sets * self.line_ways

    @property
    def slot(self) -> range:
        """Numbers of blocks of a quarter: its set, and its way above."""
        return range(self.blocks // QUARTERS)

    @property
    def format(self) -> int:
        """Bits of numbers of formats that are known."""
        return FORMAT + bool(max(self.formats) >> FORMAT)

    @property
    def wide(self) -> tuple[StoredFormat, ...]:
        """Formats whose blocks take two lines: the upper half of a block, and the lower one."""
        return tuple(form for form in self.formats if form in WIDE)

    @property
    def surfaces(self) -> tuple[StoredFormat, ...]:
        """Formats of textures that may be coded surfaces."""
        return tuple(form for form in self.formats if form in CODED_FORMATS and self.coded)

    @property
    def rows(self) -> tuple[StoredFormat, ...]:
        """Formats of textures that may lie as rows of texels."""
        return tuple(form for form in self.formats if form in UNBLOCKED and self.linear)

    @property
    def coded_lines(self) -> CodedLinesParams:
        """The shape of what reads lines of coded surfaces."""
        return CodedLinesParams(places=self.in_flight, tiles=self.coded)

    @property
    def ids(self) -> int:
        """Bits of ids of reads: above those of lines, whether a coded surface is read."""
        return (self.in_flight - 1).bit_length() + bool(self.coded)

    @property
    def halves(self) -> int:
        """Parts of a word of a bank that are filled one by one."""
        return 2 if self.wide or self.linear else 1

    @property
    def offset(self) -> int:
        """Bits of where a block begins in its line: in 8 bytes; a row of it may in 4."""
        return OFFSET + self.linear

    @property
    def pitch(self) -> dict[str, int]:
        """Whether a texture lies as rows of texels, and its pitch, or 0; where that may be."""
        return {"linear": 1, "pitch": PITCH} if self.linear else {}

    @property
    def quad(self) -> StructLayout:
        """A quad with what is the same for all of its rounds."""
        beside = {"first_set": 8, "format": self.format, "refused": 1}
        return StructLayout({"quad": layout(CACHE_QUAD), **beside})

    @property
    def round(self) -> StructLayout:
        """Blocks that are looked up in a clock, by their columns and rows."""
        place = {"x": EXTENT - 2, "y": EXTENT - 2, "level": range(LEVELS)}
        layer = {"layer": LAYER} if self.layers else {}
        return StructLayout(
            {
                "places": ArrayLayout(StructLayout(place | layer), QUARTERS),
                "wanted": QUARTERS,  # quarters that look up a block
                "reads": READS,
                "first": 1,  # of its quad
                "last": 1,
                "refused": 1,
                "format": self.format,
                "first_set": 8,
            }
        )

    @property
    def pending(self) -> StructLayout:
        """A round between lookup and texels."""
        return StructLayout(
            {
                "reads": READS,
                "slots": ArrayLayout(self.slot, QUARTERS),
                "lookups": 3,
                "misses": 3,
                "first": 1,
                "last": 1,
                "refused": 1,
            }
            | ({"wide": 1} if self.wide else {})
            | ({"linear": 1} if self.linear else {})
        )

    @property
    def missed(self) -> StructLayout:
        """Blocks of a round that are not on chip."""
        of_quarter = StructLayout({"line": LINE_NUMBER, "offset": self.offset, "slot": self.slot})
        return StructLayout(
            {
                "missing": QUARTERS,
                "format": self.format,
                "blocks": ArrayLayout(of_quarter, QUARTERS),
            }
            | ({"surface": SURFACE} if self.coded else {})
            | self.pitch
        )

    @property
    def read(self) -> StructLayout:
        """A line that is to be read from memory, under an id of its own."""
        coded = {"coded": 1} if self.coded else {}
        beside = dict(layout(self.coded_lines.read).members) if self.coded else {}
        return StructLayout({"line": LINE_NUMBER, "id": range(self.in_flight)} | beside | coded)

    @property
    def target(self) -> StructLayout:
        """Where a block goes; where it may take several lines, which halves or rows of it."""
        halves = {"halves": self.halves} if self.wide else {}
        parts = {"rows": 4} if self.linear else halves
        return StructLayout({"quarter": range(QUARTERS), "slot": self.slot} | parts)

    @property
    def source(self) -> dict[str, ShapeLike]:
        """How a line becomes texels: where the block begins in it, and how it lies."""
        linear = {"linear": 1} if self.linear else {}
        return {"offset": self.offset, "format": self.format, "target": self.target} | linear

    @property
    def ordered(self) -> StructLayout:
        """A fill, in the order of misses: the line's place, whether it is read from memory."""
        return StructLayout({"index": range(self.lines), "fetched": 1} | self.source)

    @property
    def filling(self) -> StructLayout:
        """A line, and the block that is made of it."""
        return StructLayout({"data": 8 * LINE, "error": 1, "fetched": 1} | self.source)

    @property
    def filled(self) -> StructLayout:
        """A block of texels on its way to the first level."""
        return StructLayout({"texels": BLOCK, "error": 1, "fetched": 1, "target": self.target})
