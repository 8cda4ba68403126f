# SPDX-License-Identifier: BSD-2-Clause
"""Colour decoder: tiles of colours from memory, and what cannot be one."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.memory.bit_planes import starts, take_fields, take_groups
from fixfunc.models.memory.sample_grids import EDGE, LANES, groups_of, lanes
from fixfunc.models.output.colour_compression import (
    COLOURS,
    DEPTHS,
    PART,
    channels,
    room,
)
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.spec.state import DIFFERENCES, TileMode


class Decoded(NamedTuple):
    """Tiles as they came back."""

    tiles: np.ndarray  # uint8 or uint16, shape (n, 8, 8, 4): zeros where it cannot be
    wrong: np.ndarray  # bool, shape (n,)


def decode(
    codes: np.ndarray,
    data: np.ndarray,
    samples: int,
    cleared: np.ndarray,
) -> Decoded:
    """The inverse of encoding, and what memory holds by mistake.

    See :func:`fixfunc.models.output.colour_coder.encode`.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n,)
    data : ndarray of uint8, shape (n, bytes of a raw tile)
        What lies behind a tile's bytes is not looked at.
    samples : int
        log2 of the samples of a pixel.
    cleared : ndarray of uint8, or of uint16 for halves, shape (4,)

    Returns
    -------
    Decoded
        A tile cannot be if there is no such code, if spare or trailing bits are set, or if
        differences go on beyond its bytes.
    """
    depth = DEPTHS[cleared.dtype]
    tiles = np.zeros((len(codes), EDGE, EDGE, 4), cleared.dtype)
    wrong = np.ones(len(codes), bool)
    for first in range(0, len(codes), PART):
        part = slice(first, first + PART)
        _decode(codes[part], data[part], samples, cleared, depth, tiles[part], wrong[part])
    tiles[wrong] = 0
    return Decoded(tiles, wrong)


def _decode(codes, data, samples, cleared, depth, tiles, wrong):
    """Decode some tiles, in place."""
    tiles[codes == TileMode.CLEARED] = cleared
    raw = codes == TileMode.RAW
    tiles[raw] = data[raw].view(cleared.dtype).reshape(-1, EDGE, EDGE, 4)
    wrong[(codes == TileMode.CLEARED) | raw] = False
    chosen = np.flatnonzero(codes == TileMode.PALETTE)
    if len(chosen):
        tiles[chosen], wrong[chosen] = _looked_up(data[chosen], depth, cleared.dtype)
    steps = codes.astype(np.int64) - DIFFERENCES
    chosen = np.flatnonzero((steps >= 1) & (steps <= depth.most))
    if len(chosen):
        tiles[chosen], wrong[chosen] = _summed(
            data[chosen], steps[chosen] * depth.step, samples, depth
        )


def _looked_up(data, depth, kind):
    """Tiles of palettes, and which cannot be."""
    colours, index, trailing = np.split(
        data[:, : depth.step // 8], np.cumsum([COLOURS * 4 * depth.bits // 8, 2 * LANES // 8]), 1
    )
    index = (index[:, :, None] >> np.arange(0, 8, 2) & 3).reshape(-1, LANES)
    made = colours.view(kind).reshape(-1, COLOURS, 4)[np.arange(len(data))[:, None], index]
    return made.reshape(-1, EDGE, EDGE, 4), trailing.any(1)


def _bits(data, length, depth):
    """Bits of tiles, zeros behind their bytes."""
    bits = np.zeros((len(data), room(depth)), np.int64)
    found = np.unpackbits(data, axis=1, bitorder="little")
    bits[:, : found.shape[1]] = found * (np.arange(found.shape[1]) < length[:, None])
    return bits


def _summed(data, length, samples, depth):
    """Tiles of differences, and which cannot be."""
    count = len(data)
    groups = groups_of(samples)
    bits = _bits(data, length, depth)
    corner = take_fields(bits, np.zeros(count, int), (4,), depth.bits)
    flags = bits[:, 4 * depth.bits : 4 * depth.bits + 4]
    with_alpha = flags[:, 0].astype(bool)
    header = np.full(count, 4 * depth.bits + 4)
    g, h = len(groups.squares), len(groups.others)
    colour_codes = take_fields(bits, header, (3 * g + h,), depth.code)
    at = header + (3 * g + h) * depth.code
    alpha_codes = take_fields(bits, at, (g + h,), depth.code) * with_alpha[:, None]
    at += np.where(with_alpha, (g + h) * depth.code, 0)
    squares = np.concatenate(
        [colour_codes[:, : 3 * g].reshape(count, g, 3), alpha_codes[:, :g, None]], 2
    )
    others = np.repeat(colour_codes[:, 3 * g :, None], 3, 2)
    others = np.concatenate([others, alpha_codes[:, g:, None]], 2)
    residuals = np.zeros((count, LANES, 4), np.int64)
    widths = np.array(depth.widths)
    for channel in range(4):
        for places, its in zip(groups, (squares, others), strict=True):
            width = widths[its[..., channel]]
            lengths = width * places.shape[1]
            residuals[:, places, channel] = take_groups(
                bits, starts(at, lengths), width, places.shape[1]
            )
            at = at + lengths.sum(1)
    trailing = bits * (np.arange(bits.shape[1]) >= at[:, None])
    wrong = (at > length) | flags[:, 2:].any(1) | trailing.any(1)
    return _restored(residuals, corner, flags[:, 1].astype(bool), samples, depth), wrong


def _restored(residuals, corner, turn, samples, depth):
    """Colours from differences."""
    lx, ly = LANE_SHAPE[samples]
    shape = len(residuals), 1 << samples, EDGE >> ly, EDGE >> lx, 4
    out = residuals.reshape(shape).copy()
    begin = channels(corner, depth)
    first = out[:, 0]
    for turned in (False, True):
        rows = turn == turned
        part = first[rows].swapaxes(1, 2) if turned else first[rows]
        part[:, 0, 0] = begin[rows]
        part[:, :, 0] = np.cumsum(part[:, :, 0], 1)
        part = np.cumsum(part, 2)
        first[rows] = part.swapaxes(1, 2) if turned else part
    out[:, 1:] += first[:, None]
    green, red, blue, alpha = np.moveaxis(out, -1, 0)
    colours = np.stack([red + green, green, blue + green, alpha], -1) & (1 << depth.bits) - 1
    return lanes(colours, samples)
