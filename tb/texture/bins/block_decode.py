# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the block decoder: modes and partitions of every format, ends of their fields."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.reference.block_decode import SUPPORTED
from fixfunc.models.payload import dtype
from fixfunc.rtl.texture.block_decode import BlockDecodeParams
from fixfunc.spec.colours import TEXTURE_BLOCK, texels
from fixfunc.tb.coverage.bins import Seen, cross, equal, flag
from fixfunc.tb.texture.block_decode import cells

CONFIG = "small"
COUNT = 2000


def bins(seen: Seen, params: BlockDecodeParams) -> dict[str, int]:
    """Counts of one batch."""
    records = codec.unpack(seen.rows, TEXTURE_BLOCK, dtype(TEXTURE_BLOCK))
    names = [form.name for form in params.formats]
    counts = {}
    for name in names:
        own = records[records["format"] == SUPPORTED.index(name)]
        counts |= _modes(name, own) if name.startswith(("BC6", "BC7")) else _plain(name, own)
    formats = equal(records["format"], {name: SUPPORTED.index(name) for name in names})
    none = ~np.logical_or.reduce(list(formats.values())) if len(records) else records["srgb"] > 0
    out = codec.unpack(seen.out["o"], texels(params.lanes), dtype(texels(params.lanes)))
    pairs = {
        "format x the one before": (
            {name: hit[1:] for name, hit in formats.items()},
            {name: hit[:-1] for name, hit in formats.items()},
        )
    }
    counts |= {k: v for title, axes in pairs.items() for k, v in cross(title, *axes).items()}
    return (
        counts
        | cross("format x sRGB", formats, flag(records["srgb"], "linear", "sRGB"))
        | cross("number that is no format's", {"refused": none})
        | cross("texels", flag(out["error"], "decoded", "error"))
    )


def _bits(records, first, count):
    """A field of blocks, by its place among their 128 bits."""
    low, high = (records[name].astype(object) for name in ("low", "high"))
    whole = low + (high << 64) if len(records) else low
    return np.array([int(value) >> first & (1 << count) - 1 for value in whole], int)


def _modes(name, records):
    """A cell is a mode with its partition, or rotation and selector: see ``cells`` of the bench."""
    counts = {}
    words = np.stack([records["low"], records["high"]], -1).astype(np.uint64)
    for mask, value in cells(name):
        halves = [(np.uint64(v & (1 << 64) - 1), np.uint64(v >> 64)) for v in (mask, value)]
        hit = (words & np.array(halves[0])) == np.array(halves[1]) if len(words) else words > 0
        mode, part = _label(name, value)
        label = f"{name} mode x partition: {mode}, {part}"
        counts[label] = counts.get(label, 0) + int(np.count_nonzero(hit.all(-1)))
    return counts


def _label(name, value):
    if name == "BC7":
        mode = next((n for n in range(8) if value >> n & 1), 8)
        return ("reserved" if mode == 8 else f"{mode}"), value >> mode + 1
    width = 2 if value & 3 < 2 else 5
    return f"{value & (1 << width) - 1:#x}", value >> 77 & 31


def _plain(name, records):
    """Order of the end points, which chooses the palette; every selector is met by any block."""
    counts = {}
    if name in ("BC1", "BC2", "BC3"):
        first = 0 if name == "BC1" else 64
        a, b = _bits(records, first, 16), _bits(records, first + 16, 16)
        counts |= cross(f"{name} end points", {"a < b": a < b, "a = b": a == b, "a > b": a > b})
    if name.startswith(("BC3", "BC4", "BC5")):
        for channel, first in enumerate((0, 64) if name.startswith("BC5") else (0,)):
            a, b = (_bits(records, first + 8 * n, 8) for n in range(2))
            if name.endswith("S"):
                a, b = (np.where(v > 127, v - 256, v) for v in (a, b))
            low = -128 if name.endswith("S") else 0
            counts |= cross(
                f"{name} end points of channel {channel}",
                {"a < b": a < b, "a = b": a == b, "a > b": a > b},
            )
            counts |= cross(
                f"{name} channel {channel}", {"least": a == low, "greatest": a == low + 255}
            )
    return counts
