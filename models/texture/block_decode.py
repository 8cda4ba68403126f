# SPDX-License-Identifier: BSD-2-Clause
"""Block-compressed textures: 4 by 4 texels in 8 or 16 bytes."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.texture import _bc6h, _bc7
from fixfunc.spec.errors import InputError

EDGE = 4  # texels along a block's edge
BATCH = 16384  # blocks at once: what they need in between stays in the processor's cache


class Form(NamedTuple):
    """Of a format: bytes of a block, channels, and their type."""

    size: int
    channels: int
    kind: type


FORMATS = {
    "BC1": Form(8, 4, np.uint8), "BC2": Form(16, 4, np.uint8), "BC3": Form(16, 4, np.uint8), "BC4U": Form(8, 1, np.uint16),
    "BC4S": Form(8, 1, np.int16), "BC5U": Form(16, 2, np.uint16), "BC5S": Form(16, 2, np.int16),
    "BC6HU": Form(16, 3, np.float16), "BC6HS": Form(16, 3, np.float16), "BC7": Form(16, 4, np.uint8),
}


def decode(name: str, blocks: np.ndarray) -> np.ndarray:
    """Decode blocks.

    Parameters
    ----------
    name : str
        BC1, BC2, BC3, BC4U, BC4S, BC5U, BC5S, BC6HU, BC6HS or BC7.
    blocks : ndarray of uint8, shape (n, 8) or (n, 16)

    Returns
    -------
    ndarray, shape (n, 4, 4, channels), indexed [block, y, x, channel]
        uint8 for BC1 to BC3 and BC7: red, green, blue, alpha. uint16 for BC4U and BC5U, of 65535; int16 for BC4S and BC5S, of
        32767. float16 for BC6HU and BC6HS: red, green, blue; their alpha is one. A block of a reserved mode is zeros.

    Raises
    ------
    InputError
        An unknown format, or blocks of another shape or type.

    Source: numerics: BC1 to BC5 are the exact rational between end points, rounded to the nearest, ties up; BC6H and BC7 are
    the functional specification's, to the bit [fs 19.5.2].
    """
    if name not in FORMATS:
        raise InputError("format", f"be one of {', '.join(FORMATS)}", name)
    form, blocks = FORMATS[name], np.asarray(blocks)
    if blocks.dtype != np.uint8 or blocks.ndim != 2 or blocks.shape[1] != form.size:
        raise InputError("blocks", f"be uint8 of shape (n, {form.size})", f"{blocks.dtype} of {blocks.shape}")
    out = np.empty((len(blocks), EDGE, EDGE, form.channels), form.kind)
    for n in range(0, len(blocks), BATCH):
        out[n:n + BATCH] = _decode(name, blocks[n:n + BATCH])
    return out


def _decode(name, blocks):
    """Texels, of the type that was at hand."""
    if name == "BC7":
        return _bc7.decode(blocks)
    if name.startswith("BC6H"):
        return _bc6h.decode(blocks, name == "BC6HS")
    if name in ("BC1", "BC2", "BC3"):
        texels = _colours(blocks[:, -8:], name == "BC1")
        if name == "BC2":
            nibbles = np.stack([blocks[:, :8] & 15, blocks[:, :8] >> 4], -1)
            texels[..., 3] = nibbles.reshape(-1, EDGE, EDGE) * 17
        elif name == "BC3":
            texels[..., 3] = _channel(blocks[:, :8], 255, False)
    else:
        most, signed = (32767, True) if name.endswith("S") else (65535, False)
        texels = np.stack([_channel(blocks[:, n:n + 8], most, signed) for n in range(0, FORMATS[name].size, 8)], -1)
    return texels


def _colours(blocks, punches):
    """Two colours of 5, 6 and 5 bits, and those between: int64, shape (n, 4, 4, 4). With ``punches``, three and transparent
    black where the first is not the greater."""
    words = blocks[:, :4].astype(np.int64)
    ends = words[:, 0::2] | words[:, 1::2] << 8
    red, green, blue = ends >> 11, ends >> 5 & 63, ends & 31
    first, second = np.moveaxis(np.stack([red << 3 | red >> 2, green << 2 | green >> 4, blue << 3 | blue >> 2], -1), 1, 0)
    four = np.stack([first, second, (2 * first + second + 1) // 3, (first + 2 * second + 1) // 3], 1)
    three = np.stack([first, second, (first + second + 1) // 2, 0 * first], 1)
    cut = punches & (ends[:, 0] <= ends[:, 1])
    palette = np.full((len(blocks), 4, 4), 255, np.int64)
    palette[..., :3] = np.where(cut[:, None, None], three, four)
    palette[cut, 3, 3] = 0
    index = blocks[:, 4:, None] >> np.arange(0, 8, 2) & 3
    return palette[np.arange(len(blocks))[:, None, None], index]


def _channel(blocks, most, signed):
    """Two values of 8 bits and six between, or four, the least and the greatest: int64, shape (n, 4, 4), of ``most``."""
    ends = blocks[:, :2].astype(np.int64)
    if signed:
        ends -= (ends > 127) * 256
    eight = ends[:, :1] > ends[:, 1:]  # of the raw bytes: -128 is less than -127, though both mean -1
    unit = 127 if signed else 255
    first, second = (np.maximum(ends[:, n:n + 1], -unit) for n in range(2))
    between = [np.concatenate([first, second, *(((steps - k) * first + k * second) for k in range(1, steps))], 1) for steps in (7, 5)]
    seventh, fifth = (_rounded(values * most, scale * unit) for values, scale in (
        (np.concatenate([7 * between[0][:, :2], between[0][:, 2:]], 1), 7), (np.concatenate([5 * between[1][:, :2], between[1][:, 2:]], 1), 5)))
    ends_of_range = np.broadcast_to([-most if signed else 0, most], (len(blocks), 2))
    palette = np.where(eight, seventh, np.concatenate([fifth, ends_of_range], 1))
    bits = np.zeros(len(blocks), np.uint64)
    for n in range(6):
        bits |= blocks[:, 2 + n].astype(np.uint64) << np.uint64(8 * n)
    index = (bits[:, None] >> np.arange(0, 48, 3, dtype=np.uint64) & np.uint64(7)).astype(np.int64)
    return np.take_along_axis(palette, index, 1).reshape(-1, EDGE, EDGE)


def _rounded(numerator, denominator):
    """To the nearest, ties up."""
    return (2 * numerator + denominator) // (2 * denominator)


def linear(texels: np.ndarray) -> np.ndarray:
    """Texels of UNORM8 whose colours are sRGB: uint8 (..., 4) -> UNORM16, uint16 (..., 4), colours linear.

    Source: numerics: round(65535 * EOTF(s / 255)), alpha as it is.
    """
    texels = np.asarray(texels)
    if texels.dtype != np.uint8 or texels.shape[-1:] != (4,):
        raise InputError("texels", "be uint8 of shape (..., 4)", f"{texels.dtype} of {texels.shape}")
    return np.concatenate([_LINEAR[texels[..., :3]], texels[..., 3:] * np.uint16(257)], -1)


_SHARES = np.arange(256) / 255
_LINEAR = np.rint(65535 * np.where(_SHARES <= 0.04045, _SHARES / 12.92, ((_SHARES + 0.055) / 1.055) ** 2.4)).astype(np.uint16)
