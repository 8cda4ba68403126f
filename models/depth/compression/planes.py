# SPDX-License-Identifier: BSD-2-Clause
"""Plane coding: the planes that made a tile, and which of them each sample belongs to."""

from math import prod

import numpy as np

from fixfunc.models.depth.compression.codes import MASK_BITS
from fixfunc.models.raster.edge_evaluator import lane_positions
from fixfunc.spec.state import TileMode

MOST = 4  # planes of a tile
PLANE = np.dtype(
    [("z0", "u4"), ("dx", "i4"), ("dy", "i4")]
)  # u24.8 modulo 2^24, s23.8, s23.8: as in fixfunc.spec.payloads.tile


def evaluate(planes: np.ndarray, masks: np.ndarray, samples: int) -> np.ndarray:
    """Depths of tiles, each sample by its plane: uint32, shape (n, edge, edge).

    Parameters
    ----------
    planes : structured ndarray of :data:`PLANE`, shape (n, k)
    masks : ndarray of int, shape (n, edge, edge)
    samples : int
        log2 of the samples of a pixel.
    """
    x, y = lane_positions(samples, masks.shape[1])
    z0 = planes["z0"].astype(np.int64)[np.arange(len(masks))[:, None, None], masks]
    dx = planes["dx"].astype(np.int64)[np.arange(len(masks))[:, None, None], masks]
    dy = planes["dy"].astype(np.int64)[np.arange(len(masks))[:, None, None], masks]
    return ((z0 << 4) + x * dx + y * dy + (1 << 11) >> 12 & (1 << 24) - 1).astype(np.uint32)


def canonical(
    planes: np.ndarray, counts: np.ndarray, masks: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merge equal planes and drop those of no sample, in order.

    Returns planes, counts and masks of the same shapes.
    """
    n, k = planes.shape
    raw = np.stack([planes[name].astype(np.int64) for name in PLANE.names], -1)
    equal = (raw[:, :, None] == raw[:, None]).all(-1)
    first = equal.argmax(2)  # of those equal to it
    shape = masks.shape
    masks = np.take_along_axis(first, masks.reshape(n, -1).astype(np.int64), 1)
    used = (masks[:, :, None] == np.arange(k)).any(1) & (counts > 0)[:, None]
    order = np.argsort(~used, axis=1, kind="stable")
    place = np.argsort(order, axis=1, kind="stable")
    distinct = np.where(
        np.sort(~used, axis=1), np.zeros((), PLANE), np.take_along_axis(planes, order, 1)
    )
    return distinct, used.sum(1), np.take_along_axis(place, masks, 1).reshape(shape)


def by_planes(
    tiles: np.ndarray, planes: np.ndarray, counts: np.ndarray, masks: np.ndarray, samples: int
) -> list[tuple[TileMode, np.ndarray, np.ndarray]]:
    """Code tiles by planes.

    Parameters
    ----------
    tiles, masks : ndarray of int, shape (n, edge, edge)
    planes : structured ndarray of :data:`PLANE`, shape (n, k)
    counts : ndarray of int, shape (n,)
        Planes of each tile.
    samples : int
        log2 of the samples of a pixel.

    Returns
    -------
    list of (TileMode, ndarray of bool, shape (n,), ndarray of uint8, shape (those, bits))
        By the number of planes: which tiles it takes, and their bits, lowest first.
    """
    n = len(tiles)
    distinct, count, index = canonical(
        planes if planes.shape[1] else np.zeros((n, 1), PLANE), counts, masks
    )
    exact = (evaluate(distinct, index, samples) == tiles).all((1, 2))
    out = []
    for k in range(1, min(MOST, distinct.shape[1]) + 1):
        selected = exact & (count == k)
        mask = fields_of(index[selected], MASK_BITS[k])
        fields = [
            _plane_bits(distinct[selected, :k]),
            mask.reshape(len(mask), prod(mask.shape[1:])),
        ]
        out.append((TileMode(k), selected, np.concatenate(fields, 1)))
    return out


def fields_of(values: np.ndarray, width: int) -> np.ndarray:
    """Bits of values, lowest first: uint8, one axis more."""
    return (np.asarray(values, np.int64)[..., None] >> np.arange(width) & 1).astype(np.uint8)


def values_of(bits: np.ndarray, width: int) -> np.ndarray:
    """Values of so many bits each, shape (n, values)."""
    return bits.reshape(len(bits), bits.shape[1] // width, width).astype(np.int64) @ (
        1 << np.arange(width)
    )


def _plane_bits(planes):
    fields = [fields_of(planes[name], 32) for name in PLANE.names]
    return np.concatenate(fields, -1).reshape(len(planes), 96 * planes.shape[1])


def planes_of(bits: np.ndarray, k: int) -> np.ndarray:
    """Planes of tiles that have ``k`` each: structured ndarray of :data:`PLANE`, shape (n, k)."""
    out = np.zeros((len(bits), k), PLANE)
    fields = values_of(bits, 32).reshape(len(bits), k, 3)
    for n, name in enumerate(PLANE.names):
        out[name] = fields[..., n].astype(np.uint32).view(np.int32) if n else fields[..., n]
    return out
