# SPDX-License-Identifier: BSD-2-Clause
"""Block-compressed textures: 4 by 4 texels in 8 or 16 bytes."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import dtype
from fixfunc.models.texture.blocks import bc6h, bc7
from fixfunc.spec.colours import texels
from fixfunc.spec.errors import InputError

CHANNELS = "red", "green", "blue", "alpha"
EDGE = 4  # texels along a block's edge
BATCH = 16384  # blocks decoded at a time, so that intermediate values fit the processor's cache


class Form(NamedTuple):
    """Properties of a format."""

    size: int  # bytes of a block
    channels: int
    kind: type  # of a channel


FORMATS = {
    "BC1": Form(8, 4, np.uint8),
    "BC2": Form(16, 4, np.uint8),
    "BC3": Form(16, 4, np.uint8),
    "BC4U": Form(8, 1, np.uint16),
    "BC4S": Form(8, 1, np.int16),
    "BC5U": Form(16, 2, np.uint16),
    "BC5S": Form(16, 2, np.int16),
    "BC6HU": Form(16, 3, np.float16),
    "BC6HS": Form(16, 3, np.float16),
    "BC7": Form(16, 4, np.uint8),
}


def decode(name: str, blocks: np.ndarray) -> np.ndarray:
    """Decode blocks.

    Parameters
    ----------
    name : str
        BC1, BC2, BC3, BC4U, BC4S, BC5U, BC5S, BC6HU, BC6HS or BC7.
    blocks : ndarray of uint8, shape (n, 8) or (n, 16)
        Blocks as they lie in memory.

    Returns
    -------
    ndarray, shape (n, 4, 4, channels), indexed [block, y, x, channel]
        BC1 to BC3 and BC7 have red, green, blue, alpha as uint8. BC4U and BC5U have uint16, up to
        65535; BC4S and BC5S have int16, up to 32767. BC6HU and BC6HS have red, green, blue as
        float16; their alpha is one. A block of a reserved mode is zeros.

    Raises
    ------
    InputError
        The format is unknown, or the blocks have another shape or type.

    Source: numerics: BC1 to BC5 are exact rationals between end points, rounded to nearest, ties
    up; BC6H and BC7 are those of the functional specification, to the bit [fs 19.5.2].
    """
    if name not in FORMATS:
        raise InputError("format", f"be one of {', '.join(FORMATS)}", name)
    form = FORMATS[name]
    blocks = np.asarray(blocks)
    if blocks.dtype != np.uint8 or blocks.ndim != 2 or blocks.shape[1] != form.size:
        raise InputError(
            "blocks", f"be uint8 of shape (n, {form.size})", f"{blocks.dtype} of {blocks.shape}"
        )
    out = np.empty((len(blocks), EDGE, EDGE, form.channels), form.kind)
    for n in range(0, len(blocks), BATCH):
        out[n : n + BATCH] = _decode(name, blocks[n : n + BATCH])
    return out


def _decode(name, blocks):
    """Texels of blocks, not yet of the format's type."""
    if name == "BC7":
        return bc7.decode(blocks)
    if name.startswith("BC6H"):
        return bc6h.decode(blocks, name == "BC6HS")
    if name in ("BC1", "BC2", "BC3"):
        texels = _colours(blocks[:, -8:], name == "BC1")
        if name == "BC2":
            nibbles = np.stack([blocks[:, :8] & 15, blocks[:, :8] >> 4], -1)
            texels[..., 3] = nibbles.reshape(-1, EDGE, EDGE) * 17
        elif name == "BC3":
            texels[..., 3] = _channel(blocks[:, :8], 255, False)
    else:
        maximum, signed = (32767, True) if name.endswith("S") else (65535, False)
        starts = range(0, FORMATS[name].size, 8)
        texels = np.stack([_channel(blocks[:, n : n + 8], maximum, signed) for n in starts], -1)
    return texels


def _colours(blocks, punch_through):
    """Texels out of two colours of 5, 6 and 5 bits and two between: int64, shape (n, 4, 4, 4).

    With ``punch_through``, a block whose first colour is not the greater has one colour between,
    and transparent black.
    """
    words = blocks[:, :4].astype(np.int64)
    endpoints = words[:, 0::2] | words[:, 1::2] << 8
    red = endpoints >> 11
    green = endpoints >> 5 & 63
    blue = endpoints & 31
    first, second = np.moveaxis(
        np.stack([red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2], -1), 1, 0
    )
    four = np.stack(
        [first, second, (2 * first + second + 1) // 3, (first + 2 * second + 1) // 3], 1
    )
    three = np.stack([first, second, (first + second + 1) // 2, 0 * first], 1)
    transparent = punch_through & (endpoints[:, 0] <= endpoints[:, 1])
    palette = np.full((len(blocks), 4, 4), 255, np.int64)
    palette[..., :3] = np.where(transparent[:, None, None], three, four)
    palette[transparent, 3, 3] = 0
    index = blocks[:, 4:, None] >> np.arange(0, 8, 2) & 3
    return palette[np.arange(len(blocks))[:, None, None], index]


def _channel(blocks, maximum, signed):
    """Texels out of two values of 8 bits and six between: int64, shape (n, 4, 4).

    They are scaled to ``maximum``. A block whose first value is not the greater has four between,
    and both ends of the range.
    """
    endpoints = blocks[:, :2].astype(np.int64)
    if signed:
        endpoints -= (endpoints > 127) * 256
    # The raw bytes are compared: -128 is less than -127, though both mean -1.
    eight = endpoints[:, :1] > endpoints[:, 1:]
    unit = 127 if signed else 255
    first = np.maximum(endpoints[:, 0 : 0 + 1], -unit)
    second = np.maximum(endpoints[:, 1 : 1 + 1], -unit)
    sevenths, fifths = (
        np.concatenate(
            [
                parts * first,
                parts * second,
                *((parts - k) * first + k * second for k in range(1, parts)),
            ],
            1,
        )
        for parts in (7, 5)
    )
    limits = np.broadcast_to([-maximum if signed else 0, maximum], (len(blocks), 2))
    palette = np.where(
        eight,
        _rounded(sevenths * maximum, 7 * unit),
        np.concatenate([_rounded(fifths * maximum, 5 * unit), limits], 1),
    )
    bits = np.zeros(len(blocks), np.uint64)
    for n in range(6):
        bits |= blocks[:, 2 + n].astype(np.uint64) << np.uint64(8 * n)
    index = (bits[:, None] >> np.arange(0, 48, 3, dtype=np.uint64) & np.uint64(7)).astype(np.int64)
    return np.take_along_axis(palette, index, 1).reshape(-1, EDGE, EDGE)


def _rounded(numerator, denominator):
    """A quotient rounded to nearest, ties up."""
    return (2 * numerator + denominator) // (2 * denominator)


def linear(texels: np.ndarray) -> np.ndarray:
    """Convert texels of UNORM8 with sRGB colours to UNORM16 with linear ones.

    Parameters
    ----------
    texels : ndarray of uint8, shape (..., 4)
        Red, green, blue, alpha.

    Returns
    -------
    ndarray of uint16, shape (..., 4)

    Source: numerics: round(65535 * EOTF(s / 255)); alpha keeps its value.
    """
    texels = np.asarray(texels)
    if texels.dtype != np.uint8 or texels.shape[-1:] != (4,):
        raise InputError(
            "texels", "be uint8 of shape (..., 4)", f"{texels.dtype} of {texels.shape}"
        )
    return np.concatenate([_LINEAR[texels[..., :3]], texels[..., 3:] * np.uint16(257)], -1)


_SHARES = np.arange(256) / 255
_LINEAR = np.rint(
    65535 * np.where(_SHARES <= 0.04045, _SHARES / 12.92, ((_SHARES + 0.055) / 1.055) ** 2.4)
).astype(np.uint16)


def decode_blocks(
    blocks: np.ndarray, formats: Mapping[int, str], lanes: int, srgb: bool = True
) -> np.ndarray:
    """Decode a stream of blocks of mixed formats.

    Parameters
    ----------
    blocks : structured ndarray, shape (n,)
        Fields of :data:`fixfunc.spec.colours.TEXTURE_BLOCK`.
    formats : mapping of int to str
        Names of the formats that are known, by number.
    lanes : int
        Texels of a beat.
    srgb : bool
        Blocks that are marked as sRGB become linear; else the mark has no effect.

    Returns
    -------
    structured ndarray, shape (n * 16 / lanes,)
        Fields of :func:`fixfunc.spec.colours.texels`: ``error`` is set, and channels are 0, for a
        block of an unknown format.
    """
    supported = np.isin(blocks["format"], list(formats))
    marked = blocks["srgb"].astype(bool) & srgb
    data = np.stack([blocks["low"], blocks["high"]], 1).view(np.uint8)
    channels = np.zeros((len(blocks), 16, 4), np.uint16)
    for number, name in formats.items():
        selected = np.flatnonzero(blocks["format"] == number)
        values = decode(name, data[selected, : FORMATS[name].size])
        if values.dtype == np.uint8:
            values = np.where(marked[selected, None, None, None], linear(values), values)
            values = values.astype(np.uint16)
        values = values.view(np.uint16).reshape(len(selected), 16, values.shape[-1])
        channels[selected, :, : values.shape[-1]] = values
    beats = 16 // lanes
    out = np.zeros(len(blocks) * beats, dtype(texels(lanes)))
    out["error"] = np.repeat(~supported, beats)
    out["first"] = np.tile(np.arange(beats) * lanes, len(blocks))
    by_lane = channels.reshape(-1, lanes, 4)
    for n in range(lanes):
        for c, channel in enumerate(CHANNELS):
            out[f"{channel}{n}"] = by_lane[:, n, c]
    return out
