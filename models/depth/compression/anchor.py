# SPDX-License-Identifier: BSD-2-Clause
"""Anchor coding: a depth, the slope to two neighbours, and differences from that plane."""

import numpy as np

from fixfunc.models.memory.bit_planes import signed

# signed
SLOPE = 15
CORRECTION = 5
BLOCK_BITS = 24 + 2 * SLOPE + 13 * CORRECTION
LANES = np.ones((4, 4), bool)
LANES[0, :2] = LANES[1, 0] = False  # the three that need no correction


def _plane(anchor, dx, dy):
    """Prediction, shape (..., 4, 4)."""
    j, i = np.mgrid[:4, :4]
    anchor = np.asarray(anchor)[..., None, None]
    dx = np.asarray(dx)[..., None, None]
    dy = np.asarray(dy)[..., None, None]
    return anchor + i * dx + j * dy


def encode_block(blocks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Code blocks of 4 by 4 depths.

    Parameters
    ----------
    blocks : ndarray of int64, shape (..., 4, 4)
        D24.

    Returns
    -------
    fits : ndarray of bool, shape (...)
    bits : ndarray of uint8, shape (..., 119)
        Lowest first: anchor, dx, dy, corrections row by row. Of those that do not fit, anything.
    """
    anchor = blocks[..., 0, 0]
    dx = signed(blocks[..., 0, 1] - anchor, 24)
    dy = signed(blocks[..., 1, 0] - anchor, 24)
    corrections = signed(blocks - _plane(anchor, dx, dy), 24)[..., LANES]
    fits = (
        (signed(dx, SLOPE) == dx)
        & (signed(dy, SLOPE) == dy)
        & (signed(corrections, CORRECTION) == corrections).all(-1)
    )
    fields = [
        (anchor[..., None], 24),
        (dx[..., None], SLOPE),
        (dy[..., None], SLOPE),
        (corrections, CORRECTION),
    ]
    bits = [
        (value[..., None] >> np.arange(width) & 1).reshape(*fits.shape, -1)
        for value, width in fields
    ]
    return fits, np.concatenate(bits, -1).astype(np.uint8)


def decode_block(bits: np.ndarray) -> np.ndarray:
    """Depths of blocks: int64, shape (..., 4, 4)."""
    anchor, dx, dy, *corrections = (
        np.asarray(part) @ (1 << np.arange(part.shape[-1]))
        for part in np.split(
            bits.astype(np.int64),
            [24, 24 + SLOPE, *range(24 + 2 * SLOPE, BLOCK_BITS, CORRECTION)],
            -1,
        )
    )
    out = _plane(anchor, signed(dx, SLOPE), signed(dy, SLOPE))
    out[..., LANES] += signed(np.stack(corrections, -1), CORRECTION)
    return out & (1 << 24) - 1


def encode_anchor(tiles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The same for tiles of blocks: all of them fit; their bits one after the other, row by row."""
    n, edge, _ = tiles.shape
    fits, bits = encode_block(tiles.reshape(n, edge // 4, 4, edge // 4, 4).swapaxes(2, 3))
    return fits.all((1, 2)), bits.reshape(n, -1)


def decode_anchor(bits: np.ndarray, edge: int) -> np.ndarray:
    """Depths of tiles: int64, shape (n, edge, edge)."""
    side = edge // 4
    return (
        decode_block(bits.reshape(-1, side, side, BLOCK_BITS))
        .swapaxes(2, 3)
        .reshape(-1, edge, edge)
    )
