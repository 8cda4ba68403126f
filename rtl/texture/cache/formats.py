# SPDX-License-Identifier: BSD-2-Clause
"""Formats of textures: where the channels of a texel lie, which decoder a block needs."""

from typing import NamedTuple

from amaranth.hdl import Cat, Value
from amaranth.lib.data import View

from fixfunc.spec.state import BlockFormat
from fixfunc.spec.textures.cache import LINE, StoredFormat


class Channel(NamedTuple):
    """A channel of a texel: its lowest bit, and how many; ``raw``: none is repeated, and so many
    zeros are put below.
    """

    first: int
    bits: int
    raw: bool = False
    zeros: int = 0


class Plain(NamedTuple):
    """A format without blocks: bytes of a texel; red, green, blue, alpha; None: it lacks that."""

    size: int
    channels: tuple[Channel | None, ...]


def _plain(size, order, *bits):
    """Channels in the order in which they lie, from the lowest bit on; ``x`` is none."""
    found = dict.fromkeys("rgba")
    first = 0
    for name, count in zip(order, bits, strict=True):
        found[name] = Channel(first, count)
        first += count
    return Plain(size, tuple(found[name] for name in "rgba"))


PLAIN = {
    StoredFormat.R8G8B8A8_UNORM: _plain(4, "rgba", 8, 8, 8, 8),
    StoredFormat.R8G8B8A8_UNORM_SRGB: _plain(4, "rgba", 8, 8, 8, 8),
    StoredFormat.B8G8R8A8_UNORM: _plain(4, "bgra", 8, 8, 8, 8),
    StoredFormat.B8G8R8A8_UNORM_SRGB: _plain(4, "bgra", 8, 8, 8, 8),
    StoredFormat.B8G8R8X8_UNORM: _plain(4, "bgr", 8, 8, 8),
    StoredFormat.B8G8R8X8_UNORM_SRGB: _plain(4, "bgr", 8, 8, 8),
    StoredFormat.R10G10B10A2_UNORM: _plain(4, "rgba", 10, 10, 10, 2),
    StoredFormat.R16G16_UNORM: _plain(4, "rg", 16, 16),
    StoredFormat.R8G8_UNORM: _plain(2, "rg", 8, 8),
    StoredFormat.R16_UNORM: _plain(2, "r", 16),
    StoredFormat.B5G6R5_UNORM: _plain(2, "bgr", 5, 6, 5),
    StoredFormat.B5G5R5A1_UNORM: _plain(2, "bgra", 5, 5, 5, 1),
    StoredFormat.B4G4R4A4_UNORM: _plain(2, "bgra", 4, 4, 4, 4),
    StoredFormat.R8_UNORM: _plain(1, "r", 8),
    StoredFormat.A8_UNORM: _plain(1, "a", 8),
    StoredFormat.R16G16B16A16_UNORM: _plain(8, "rgba", 16, 16, 16, 16),
}
# What is compared, or sampled by points: the upper half of each word is the next channel's.
WORDS = {
    StoredFormat.R24_UNORM_X8_TYPELESS: Plain(
        4, (Channel(0, 16), Channel(16, 8, True), None, None)
    ),
    StoredFormat.R32_FLOAT: Plain(4, (Channel(0, 16), Channel(16, 16), None, None)),
    StoredFormat.R32G32_FLOAT: _plain(8, "rgba", 16, 16, 16, 16),
}
# As PLAIN, with a sign.
SIGNED = {
    StoredFormat.R8_SNORM: _plain(1, "r", 8),
    StoredFormat.R8G8_SNORM: _plain(2, "rg", 8, 8),
    StoredFormat.R8G8B8A8_SNORM: _plain(4, "rgba", 8, 8, 8, 8),
    StoredFormat.R16_SNORM: _plain(2, "r", 16),
    StoredFormat.R16G16_SNORM: _plain(4, "rg", 16, 16),
    StoredFormat.R16G16B16A16_SNORM: _plain(8, "rgba", 16, 16, 16, 16),
}
# Halves, and floats that lack a sign and the lowest bits of one.
SMALL_FLOATS = {
    StoredFormat.R16_FLOAT: _plain(2, "r", 16),
    StoredFormat.R16G16_FLOAT: _plain(4, "rg", 16, 16),
    StoredFormat.R16G16B16A16_FLOAT: _plain(8, "rgba", 16, 16, 16, 16),
    StoredFormat.R11G11B10_FLOAT: Plain(
        4, (Channel(0, 11, True, 4), Channel(11, 11, True, 4), Channel(22, 10, True, 5), None)
    ),
}
# Mantissas of nine bits, the exponent of all above them: each becomes a half.
SHARED_EXPONENT = {
    StoredFormat.R9G9B9E5_SHAREDEXP: Plain(4, (Channel(0, 9), Channel(9, 9), Channel(18, 9), None)),
}
UNBLOCKED = PLAIN | WORDS | SIGNED | SMALL_FLOATS | SHARED_EXPONENT
BLOCKS = {
    StoredFormat.BC1_UNORM: BlockFormat.BC1,
    StoredFormat.BC1_UNORM_SRGB: BlockFormat.BC1,
    StoredFormat.BC2_UNORM: BlockFormat.BC2,
    StoredFormat.BC2_UNORM_SRGB: BlockFormat.BC2,
    StoredFormat.BC3_UNORM: BlockFormat.BC3,
    StoredFormat.BC3_UNORM_SRGB: BlockFormat.BC3,
    StoredFormat.BC4_UNORM: BlockFormat.BC4U,
    StoredFormat.BC4_SNORM: BlockFormat.BC4S,
    StoredFormat.BC5_UNORM: BlockFormat.BC5U,
    StoredFormat.BC5_SNORM: BlockFormat.BC5S,
    StoredFormat.BC6H_UF16: BlockFormat.BC6HU,
    StoredFormat.BC6H_SF16: BlockFormat.BC6HS,
    StoredFormat.BC7_UNORM: BlockFormat.BC7,
    StoredFormat.BC7_UNORM_SRGB: BlockFormat.BC7,
}
SRGB = tuple(form for form in StoredFormat if form.name.endswith("_SRGB"))
BYTES = (BlockFormat.BC1, BlockFormat.BC2, BlockFormat.BC3, BlockFormat.BC7)  # decoded to UNORM8
HALF_BLOCKS = (BlockFormat.BC1, BlockFormat.BC4U, BlockFormat.BC4S)  # of 8 bytes


def format_of(state: View) -> Value:
    """Number of the format of a state."""
    return Cat(state.format, state.extended)


def _bytes(form):
    if form in UNBLOCKED:
        return 16 * UNBLOCKED[form].size
    return 8 if BLOCKS[form] in HALF_BLOCKS else 16


# Of a line, which a block takes; -1: it takes two lines.
HALVINGS = {form: (LINE // _bytes(form)).bit_length() - 1 for form in StoredFormat}
WIDE = tuple(form for form in StoredFormat if HALVINGS[form] < 0)
# Bits of the unit that a channel's bits are repeated to: a multiple of them.
UNIT = {1: 16, 2: 16, 4: 16, 5: 10, 6: 12, 8: 16, 10: 10, 16: 16}
