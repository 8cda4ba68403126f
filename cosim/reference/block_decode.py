# SPDX-License-Identifier: BSD-2-Clause
"""Golden block decoder as packed beats."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.block_decode import CHANNELS, FORMATS, decode_blocks
from fixfunc.models.texture.texture import Texture
from fixfunc.rtl.texture.block_decode import BlockDecodeParams
from fixfunc.spec.colours import TEXTURE_BLOCK, texels

SUPPORTED = tuple(FORMATS)  # names of formats, by number


def of_texture(texture: Texture) -> np.ndarray:
    """Packed blocks of a texture, level by level."""
    data = np.concatenate(
        [level.reshape(-1, FORMATS[texture.format].size) for level in texture.levels]
    )
    records = np.zeros(len(data), dtype(TEXTURE_BLOCK))
    records["format"] = SUPPORTED.index(texture.format)
    halves = data.view("<u8").reshape(len(data), -1).T
    records["low"] = halves[0]
    records["high"] = halves[-1] if len(halves) == 2 else 0
    return codec.pack(records, TEXTURE_BLOCK)


def expected(rows: np.ndarray, params: BlockDecodeParams) -> dict[str, np.ndarray]:
    """Packed texels of packed blocks."""
    blocks = codec.unpack(
        np.ascontiguousarray(rows, np.uint64), TEXTURE_BLOCK, dtype(TEXTURE_BLOCK)
    )
    names = {int(value): value.name for value in params.formats}
    decoded = decode_blocks(blocks, names, params.lanes, params.srgb)
    return {"o": codec.pack(decoded, texels(params.lanes))}


def describe(row: np.ndarray, params: BlockDecodeParams) -> str:
    """Texels in words."""
    record = codec.unpack(row[None], texels(params.lanes), dtype(texels(params.lanes)))[0]
    colours = " ".join(
        ",".join(f"{record[f'{channel}{n}']:04x}" for channel in CHANNELS)
        for n in range(params.lanes)
    )
    return f"error={record['error']} texels from {record['first']}: {colours}"
