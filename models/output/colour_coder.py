# SPDX-License-Identifier: BSD-2-Clause
"""Colour coder: tiles of colours by a palette or by differences, without loss."""

import math

import numpy as np

from fixfunc.models.memory.bit_planes import put_fields, put_groups, signed, starts, widths
from fixfunc.models.memory.sample_grids import LANES, grids, groups_of
from fixfunc.models.output.colour_compression import (
    COLOURS,
    DEPTHS,
    PART,
    behind,
    channels,
    room,
)
from fixfunc.spec.state import DIFFERENCES, TileMode


def encode(
    tiles: np.ndarray, samples: int, cleared: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Code tiles.

    Parameters
    ----------
    tiles : ndarray of uint8, or of uint16 for halves, shape (n, 8, 8, 4)
        Red, green, blue, alpha of each lane, [tile, j, i].
    samples : int
        log2 of the samples of a pixel.
    cleared : ndarray of that type, shape (4,), optional
        What the target has been cleared to.

    Returns
    -------
    codes : ndarray of uint8, shape (n,)
        Of the mode table: the fewest bytes win, a palette before differences of as many.
    data : ndarray of uint8, shape (n, bytes of a raw tile)
        Zeros behind what the code says.

    Source: tile coding: differences; [fb], [ndc] for what stands beside them.
    """
    depth = DEPTHS[tiles.dtype]
    codes = np.full(len(tiles), TileMode.RAW, np.uint8)
    size = math.prod(tiles.shape[1:])
    data = np.ascontiguousarray(tiles).reshape(len(tiles), size).view(np.uint8).copy()
    for first in range(0, len(tiles), PART):
        part = slice(first, first + PART)
        _encode(tiles[part], samples, cleared, depth, codes[part], data[part])
    return codes, data


def _encode(tiles, samples, cleared, depth, codes, data):
    """Code some tiles, in place.

    A palette takes one step, and differences take no less: so these are asked for the other tiles.
    """
    palette, has_palette = _palettes(tiles, depth)
    rows = np.flatnonzero(has_palette)
    _put(codes, data, rows, TileMode.PALETTE, palette[rows])
    if cleared is not None:
        is_clear = (tiles == cleared).all((1, 2, 3))
        codes[is_clear] = TileMode.CLEARED
        data[is_clear] = 0
    rows = np.flatnonzero(~has_palette)
    if not len(rows):
        return
    candidates = [_differences(tiles[rows], samples, depth, turn) for turn in (0, 1)]
    turned = candidates[1][1] < candidates[0][1]
    bits = np.where(turned[:, None], candidates[1][0], candidates[0][0])
    length = np.where(turned, candidates[1][1], candidates[0][1])
    steps = -(-length // depth.step)
    fits = steps <= depth.most
    _put(codes, data, rows[fits], DIFFERENCES + steps[fits], bits[fits])


def _put(codes, data, rows, code, bits):
    """Some tiles as these bits."""
    octets = np.packbits(bits, axis=1, bitorder="little")
    kept = min(octets.shape[1], data.shape[1])
    data[rows] = 0
    data[rows, :kept] = octets[:, :kept]
    codes[rows] = code


def _residuals(tiles, samples, depth, turn):
    """What is coded: shape (n, lanes of the grids, 4)."""
    values = channels(grids(tiles, samples), depth)
    if turn:
        values = values.swapaxes(2, 3)
    out = values - values[:, :1]
    first = values[:, 0]
    out[:, 0, :, 1:] = first[:, :, 1:] - first[:, :, :-1]
    out[:, 0, 1:, 0] = first[:, 1:, 0] - first[:, :-1, 0]
    out[:, 0, 0, 0] = 0
    if turn:
        out = out.swapaxes(2, 3)
    return signed(out.reshape(len(tiles), LANES, 4), depth.bits)


def _codes(residuals, groups, depth):
    """Codes of widths: of squares by channel, of the other groups, shape (n, g, 4), (n, h, 4)."""
    squares, others = (
        np.searchsorted(depth.widths, widths(residuals[:, places].swapaxes(2, 3)))
        for places in groups
    )
    if others.shape[1]:
        # One code for all three colour channels.
        others[..., :3] = others[..., :3].max(2, keepdims=True)
    return squares, others


def _differences(tiles, samples, depth, turn):
    """Bits of tiles as differences, and how many there are."""
    count = len(tiles)
    groups = groups_of(samples)
    residuals = _residuals(tiles, samples, depth, turn)
    squares, others = _codes(residuals, groups, depth)
    alpha = tiles[..., 3]
    with_alpha = (alpha != alpha[:, :1, :1]).any((1, 2))
    header = 4 * depth.bits + 4
    codes = np.concatenate([squares[..., :3].reshape(count, -1), others[..., 0]], 1)
    alphas = np.concatenate([squares[..., 3], others[..., 3]], 1)
    bits = np.zeros((count, room(depth)), np.uint8)
    put_fields(bits, np.zeros(count, int), tiles[:, 0, 0].astype(np.int64), depth.bits)
    bits[:, 4 * depth.bits] = with_alpha
    bits[:, 4 * depth.bits + 1] = turn
    put_fields(bits, np.full(count, header), codes, depth.code)
    at = np.full(count, header + codes.shape[1] * depth.code)
    put_fields(bits, np.where(with_alpha, at, behind(depth)), alphas, depth.code)
    at += np.where(with_alpha, alphas.shape[1] * depth.code, 0)
    by_code = np.array(depth.widths)
    for channel in range(4):
        chosen = with_alpha if channel == 3 else np.ones(count, bool)
        for places, its in zip(groups, (squares, others), strict=True):
            width = by_code[its[..., channel]] * chosen[:, None]
            lengths = width * places.shape[1]
            put_groups(bits, starts(at, lengths), residuals[:, places, channel], width)
            at = at + lengths.sum(1)
    return bits[:, : behind(depth)], at


def _palettes(tiles, depth):
    """Bits of tiles as palettes; whether they have few enough colours."""
    count = len(tiles)
    flat = np.ascontiguousarray(tiles).reshape(count, LANES, 4)
    word = flat.view(np.uint32 if depth.bits == 8 else np.uint64)[..., 0]
    left = np.ones((count, LANES), bool)
    index = np.zeros((count, LANES), np.int64)
    bits = np.zeros((count, COLOURS * 4 * depth.bits + 2 * LANES), np.uint8)
    for n in range(COLOURS):
        first = left.argmax(1)
        some = left.any(1)
        same = left & (word == word[np.arange(count), first][:, None])
        index[same] = n
        left &= ~same
        colour = np.where(some[:, None], flat[np.arange(count), first], 0).astype(np.int64)
        put_fields(bits, np.full(count, n * 4 * depth.bits), colour, depth.bits)
    put_fields(bits, np.full(count, COLOURS * 4 * depth.bits), index, 2)
    return bits, ~left.any(1)
