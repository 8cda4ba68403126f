# SPDX-License-Identifier: BSD-2-Clause
"""Difference coding: second differences of sample 0, and differences of the others' offsets."""

import numpy as np

from fixfunc.models.memory.bit_planes import (
    put_fields,
    put_groups,
    signed,
    starts,
    take_fields,
    take_groups,
    widths,
)
from fixfunc.models.memory.sample_grids import EDGE, LANES, grids, groups_of, lanes
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE

DEPTH = 24  # bits
STEP = 256  # bits of a transfer
LEAST, MOST = 2, 5  # transfers of a tile
GREATEST = 12  # code of a group; its width is twice the code
CODE = 4  # bits of a code; as many in front of the codes: the turn, and three that are zero
PART = 4096  # tiles that are coded, or decoded, at a time


def header_bits(samples: int) -> int:
    """Bits in front of the payload; ``samples`` is log2 of the samples of a pixel."""
    groups = sum(map(len, groups_of(samples)))
    return max(64, CODE * groups)


def encode_differences(tiles: np.ndarray, samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Code tiles.

    Parameters
    ----------
    tiles : ndarray of int64, shape (n, 8, 8)
        D24.
    samples : int
        log2 of the samples of a pixel.

    Returns
    -------
    transfers : ndarray of int, shape (n,)
        That each needs, at least :data:`LEAST`; those that need more than :data:`MOST` do not fit.
    bits : ndarray of uint8, shape (n, 1280)
        Lowest first. Of those that do not fit, zeros.
    """
    transfers = np.zeros(len(tiles), np.int64)
    bits = np.zeros((len(tiles), MOST * STEP), np.uint8)
    for first in range(0, len(tiles), PART):
        part = slice(first, first + PART)
        _encode(tiles[part], samples, transfers[part], bits[part])
    return transfers, bits


def _encode(tiles, samples, transfers, bits):
    """Code some tiles, in place."""
    pixels = grids(tiles, samples)
    along = [_measured(_residuals(pixels, turn), samples) for turn in (0, 1)]
    turn = along[1][2] < along[0][2]
    # The shorter turn, x if equal.
    residuals, codes, length = (
        np.where(turn.reshape(-1, *(1,) * (x.ndim - 1)), y, x) for x, y in zip(*along, strict=True)
    )
    transfers[:] = np.maximum(-(-length // STEP), LEAST)
    fits = transfers <= MOST
    bits[fits] = _placed(residuals[fits], codes[fits], turn[fits], samples)


def _residuals(pixels, turn):
    """What is coded, signed: shape (n, lanes of the grids)."""
    values = pixels.swapaxes(2, 3) if turn else pixels
    out = values - values[:, :1]
    first = values[:, 0]
    out[:, 0] = _twice(first)
    rest = out[:, 1:].copy()
    out[:, 1:, :, 1:] = rest[..., 1:] - rest[..., :-1]
    out[:, 1:, 1:, 0] = rest[..., 1:, 0] - rest[..., :-1, 0]
    out = out.swapaxes(2, 3) if turn else out
    return signed(out.reshape(len(pixels), LANES), DEPTH)


def _twice(first):
    """Second differences of sample 0, shape (n, rows, columns).

    Its first column and its slopes from there differ downwards.
    """
    out = first.copy()
    out[..., 2:] = first[..., 2:] - 2 * first[..., 1:-1] + first[..., :-2]
    slope = first[..., 1] - first[..., 0]
    out[..., 0, 1] = slope[..., 0]
    out[..., 1:, 1] = slope[..., 1:] - slope[..., :-1]
    column = first[..., 0]
    out[..., 1, 0] = column[..., 1] - column[..., 0]
    out[..., 2:, 0] = column[..., 2:] - 2 * column[..., 1:-1] + column[..., :-2]
    return out


def _measured(residuals, samples):
    """Residuals, the code of every group but the first, and the bits of all."""
    groups = groups_of(samples)
    codes = [-(-widths(residuals[:, places]) // 2) for places in groups]
    lengths = [2 * its * places.shape[1] for its, places in zip(codes, groups, strict=True)]
    payload = np.concatenate(lengths, 1)[:, 1:].sum(1)
    length = header_bits(samples) + DEPTH * groups.squares.shape[1] + payload
    return residuals, np.concatenate(codes, 1)[:, 1:], length


def _placed(residuals, codes, turn, samples):
    """Bits of tiles that fit."""
    count = len(residuals)
    groups = groups_of(samples)
    bits = np.zeros((count, MOST * STEP), np.uint8)
    bits[:, 0] = turn
    put_fields(bits, np.full(count, CODE), codes, CODE)
    at = np.full(count, header_bits(samples))
    for places, width in zip(groups, _widths(codes, groups), strict=True):
        lengths = width * places.shape[1]
        put_groups(bits, starts(at, lengths), residuals[:, places], width)
        at = at + lengths.sum(1)
    return bits


def _widths(codes, groups):
    """Widths of groups, the first included: of the squares, of the others."""
    every = np.concatenate([np.full((len(codes), 1), DEPTH), 2 * codes], 1)
    return every[:, : len(groups.squares)], every[:, len(groups.squares) :]


def decode_differences(
    bits: np.ndarray, transfers: np.ndarray, samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Decode tiles.

    Parameters
    ----------
    bits : ndarray of uint8, shape (n, bits of a raw tile)
    transfers : ndarray of int, shape (n,)
    samples : int
        log2 of the samples of a pixel.

    Returns
    -------
    tiles : ndarray of int64, shape (n, 8, 8)
        Of those that cannot be, anything.
    wrong : ndarray of bool, shape (n,)
        A code is above the greatest, spare bits or bits behind the payload are set, or the payload
        is longer than the transfers. A width that is larger than needed is no error.
    """
    tiles = np.zeros((len(bits), EDGE, EDGE), np.int64)
    wrong = np.zeros(len(bits), bool)
    for first in range(0, len(bits), PART):
        part = slice(first, first + PART)
        tiles[part], wrong[part] = _decode(bits[part].astype(np.int64), transfers[part], samples)
    return tiles, wrong


def _decode(bits, transfers, samples):
    """Decode some tiles."""
    count = len(bits)
    groups = groups_of(samples)
    coded = sum(map(len, groups)) - 1
    header = header_bits(samples)
    codes = take_fields(bits, np.full(count, CODE), (coded,), CODE)
    spare = bits[:, 1:CODE].any(1) | bits[:, CODE * (1 + coded) : header].any(1)
    at = np.full(count, header)
    residuals = np.zeros((count, LANES), np.int64)
    for places, width in zip(groups, _widths(np.minimum(codes, GREATEST), groups), strict=True):
        lengths = width * places.shape[1]
        residuals[:, places] = take_groups(bits, starts(at, lengths), width, places.shape[1])
        at = at + lengths.sum(1)
    trailing = (bits * (np.arange(bits.shape[1]) >= at[:, None])).any(1)
    wrong = (codes > GREATEST).any(1) | spare | trailing | (at > STEP * transfers)
    return _restored(residuals, bits[:, 0] == 1, samples), wrong


def _restored(residuals, turn, samples):
    """Depths from residuals."""
    lx, ly = LANE_SHAPE[samples]
    out = residuals.reshape(-1, 1 << samples, EDGE >> ly, EDGE >> lx).copy()
    for turned in (False, True):
        rows = turn == turned
        part = out[rows].swapaxes(2, 3) if turned else out[rows]
        # A slope in the second column, from there on its changes; above each slope its change.
        part[:, 0, :, 1] = np.cumsum(part[:, 0, :, 1], 1)
        part[:, 0, 1:, 0] = np.cumsum(part[:, 0, 1:, 0], 1)
        part[:, 0, :, 1:] = np.cumsum(part[:, 0, :, 1:], 2)
        part[..., 0] = np.cumsum(part[..., 0], 2)
        part = np.cumsum(part, 3)
        part[:, 1:] += part[:, :1]
        out[rows] = part.swapaxes(2, 3) if turned else part
    return lanes(out & (1 << DEPTH) - 1, samples)
