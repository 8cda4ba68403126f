# SPDX-License-Identifier: BSD-2-Clause
"""Coding of depth tiles without loss, by the planes that made them or by differences."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.depth.compression.anchor import decode_anchor, encode_anchor
from fixfunc.models.depth.compression.codes import (
    BY_DIFFERENCES,
    CODES,
    MASK_BITS,
    Coding,
    bits,
    check_coding,
    size,
)
from fixfunc.models.depth.compression.differences import decode_differences, encode_differences
from fixfunc.models.depth.compression.planes import (
    MOST,
    PLANE,
    by_planes,
    evaluate,
    fields_of,
    planes_of,
    values_of,
)
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DIFFERENCES, SAMPLE_COUNTS, TileMode


class Encoded(NamedTuple):
    """A coded tile: what the mode table keeps of it, and what lies in memory."""

    mode: TileMode
    data: bytes


def compress(
    tile: np.ndarray,
    planes: np.ndarray | None = None,
    mask: np.ndarray | None = None,
    samples: int = 1,
    cleared: int | None = None,
    coding: Coding = "differences",
) -> Encoded:
    """Code one tile, without loss, in as few transfers of 32 bytes as possible.

    Planes go before differences where both need as many.

    Parameters
    ----------
    tile : ndarray of int, shape (8, 8), or (4, 4)
        D24, indexed [j, i].
    planes : structured ndarray of :data:`PLANE`, shape (k,), optional
        Planes of triangles that have been written to it.
    mask : ndarray of int, shape (8, 8), optional
        Which of them each sample belongs to.
    samples : int
        Samples of a pixel.
    cleared : int, optional
        Value of the last clear.
    coding : {"differences", "anchor", "raw"}
        How tiles go that no planes give; raw: none is coded.

    Returns
    -------
    Encoded

    Raises
    ------
    InputError
        A depth beyond 24 bits, a sample of no plane, a number of samples that there is not; 4 by 4
        depths by differences.

    Equal planes become one; those of no sample go; more than four that are left, or any that does
    not give the tile's depths, count as none. Source: [trip 7], numerics: depth tile coding.
    """
    tile = np.asarray(tile)
    planes = np.zeros(0, PLANE) if planes is None else np.asarray(planes, PLANE)
    mask = np.zeros(tile.shape, np.int64) if mask is None else np.asarray(mask)
    _check(tile, planes, mask, samples)
    modes, data = encode(
        tile[None],
        planes[None],
        np.array([len(planes)]),
        mask[None],
        SAMPLE_COUNTS.index(samples),
        cleared,
        coding,
    )
    mode = TileMode(modes[0])
    return Encoded(mode, data[0, : size(mode, len(tile))].tobytes())


def decompress(
    encoded: Encoded,
    samples: int = 1,
    cleared: int = 0,
    edge: int = 8,
    coding: Coding = "differences",
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Decode a tile.

    Parameters
    ----------
    encoded : Encoded
    samples : int
        Samples of a pixel.
    cleared : int
        Value of the last clear.
    edge : int
        Samples along a tile's edge.
    coding : {"differences", "anchor", "raw"}

    Returns
    -------
    tile : ndarray of uint32, shape (edge, edge)
    planes : structured ndarray of :data:`PLANE`, shape (k,)
        None are known of a tile coded by differences or not at all.
    mask : ndarray of uint8, shape (edge, edge)

    Raises
    ------
    InputError
        A mode that the coding does not have, data of another size, bits set where none may be, a
        sample of no plane, widths of differences that are too large, or go on beyond the data.
    """
    check_coding(coding, edge)
    if encoded.mode not in CODES[coding]:
        known = ", ".join(str(int(code)) for code in sorted(CODES[coding]))
        raise InputError("mode", f"be one of {known}", int(encoded.mode))
    if len(encoded.data) != size(encoded.mode, edge):
        raise InputError(
            "data",
            f"be {size(encoded.mode, edge)} bytes of mode {TileMode(encoded.mode).name}",
            f"{len(encoded.data)} bytes",
        )
    data = np.zeros((1, size(TileMode.RAW, edge)), np.uint8)
    data[0, : len(encoded.data)] = np.frombuffer(encoded.data, np.uint8)
    tiles, planes, counts, masks, wrong = decode(
        np.array([encoded.mode]), data, SAMPLE_COUNTS.index(samples), cleared, edge, coding
    )
    if wrong[0]:
        rule = (
            "hold differences of no code above 12, and nothing beyond them"
            if encoded.mode in BY_DIFFERENCES
            else "name one of the tile's planes, and hold nothing beyond them"
        )
        raise InputError("data", rule, encoded.data.hex())
    return tiles[0], planes[0, : counts[0]], masks[0]


def _check(tile, planes, mask, samples):
    if samples not in SAMPLE_COUNTS:
        raise InputError("samples", f"be one of {', '.join(map(str, SAMPLE_COUNTS))}", samples)
    for name, values, limit in (
        ("tile", tile, (1 << 24) - 1),
        ("mask", mask, max(0, len(planes) - 1)),
    ):
        if values.shape not in ((len(tile), len(tile)), (8, 8)) or len(values) not in (4, 8):
            raise InputError(name, "be 8 by 8", " by ".join(map(str, values.shape)))
        if values.min() < 0 or values.max() > limit:
            raise InputError(
                name, f"lie in 0..{limit}", int(values.min() if values.min() < 0 else values.max())
            )


def encode(
    tiles: np.ndarray,
    planes: np.ndarray,
    counts: np.ndarray,
    masks: np.ndarray,
    samples: int = 0,
    cleared: int | np.ndarray | None = None,
    coding: Coding = "differences",
) -> tuple[np.ndarray, np.ndarray]:
    """Code tiles as :func:`compress` does.

    Parameters
    ----------
    tiles, masks : ndarray of int, shape (n, edge, edge)
    planes : structured ndarray of :data:`PLANE`, shape (n, k)
    counts : ndarray of int, shape (n,)
        Planes of each tile.
    samples : int
        log2 of the samples of a pixel.
    cleared : int, or ndarray, shape (n,), optional
    coding : {"differences", "anchor", "raw"}

    Returns
    -------
    modes : ndarray of uint8, shape (n,)
    data : ndarray of uint8, shape (n, bytes of a raw tile)
        Zeros after what moves.
    """
    tiles, (n, edge, _) = np.asarray(tiles, np.int64), np.shape(tiles)
    check_coding(coding, edge)
    modes = np.full(n, TileMode.RAW, np.uint8)
    out = np.zeros((n, 8 * size(TileMode.RAW, edge)), np.uint8)
    if not n:
        return modes, np.packbits(out, axis=1)

    def put(mode, selected, values):
        """Bits of the selected tiles: what fits later takes no more transfers, so it stays."""
        modes[selected] = mode
        out[selected] = 0
        out[selected, : values.shape[1]] = values

    fits = np.ones(n, bool)
    put(TileMode.RAW, fits, fields_of(tiles.reshape(n, -1), 24).reshape(n, -1))
    if coding != "raw":
        planar = by_planes(tiles, planes, np.asarray(counts), masks, samples)
        for _, selected, _ in planar:
            fits &= ~selected
        if fits.any():
            _put_rest(put, np.flatnonzero(fits), tiles[fits], samples, coding)
        for mode, selected, values in planar:
            put(mode, selected, values)
    is_clear = (tiles == np.reshape(-1 if cleared is None else cleared, (-1, 1, 1))).all((1, 2))
    put(TileMode.CLEARED, is_clear, np.zeros((is_clear.sum(), 0), np.uint8))
    return modes, np.packbits(out, axis=1, bitorder="little")


def _put_rest(put, numbers, tiles, samples, coding):
    """Put the numbered tiles, which no planes give, as far as they fit."""
    if coding == "anchor":
        fits, values = encode_anchor(tiles)
        put(TileMode.ANCHOR, numbers[fits], values[fits])
        return
    transfers, values = encode_differences(tiles, samples)
    for mode in BY_DIFFERENCES:
        fits = transfers == mode - DIFFERENCES
        put(mode, numbers[fits], values[fits])


def decode(
    modes: np.ndarray,
    data: np.ndarray,
    samples: int = 0,
    cleared: int | np.ndarray = 0,
    edge: int = 8,
    coding: Coding = "differences",
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Decode tiles as :func:`decompress` does.

    Parameters
    ----------
    modes : ndarray of int, shape (n,)
    data : ndarray of uint8, shape (n, bytes of a raw tile)
    samples : int
        log2 of the samples of a pixel.
    cleared : int, or ndarray, shape (n,)
        Value of the last clear.
    edge : int
        Samples along a tile's edge.
    coding : {"differences", "anchor", "raw"}

    Returns
    -------
    tiles : ndarray of uint32, shape (n, edge, edge)
    planes : structured ndarray of :data:`PLANE`, shape (n, 4)
    counts : ndarray of int, shape (n,)
    masks : ndarray of uint8, shape (n, edge, edge)
    wrong : ndarray of bool, shape (n,)
        The mode, or the data, cannot be; the tile is then zero, and no planes are known.
    """
    check_coding(coding, edge)
    modes, n = np.asarray(modes), len(modes)
    code_bits = np.unpackbits(data, axis=1, bitorder="little")
    planes = np.zeros((n, MOST), PLANE)
    counts = np.zeros(n, np.int64)
    masks = np.zeros((n, edge, edge), np.uint8)
    tiles = np.zeros((n, edge, edge), np.uint32)
    wrong = ~np.isin(modes, CODES[coding])
    for mode in CODES[coding]:
        wrong[modes == mode] = code_bits[modes == mode, bits(mode, edge) :].any(1)
    for k in range(1, MOST + 1):
        selected = modes == k
        planes[selected, :k] = planes_of(code_bits[selected, : 96 * k], k)
        counts[selected] = k
        masks[selected] = (
            values_of(code_bits[selected, 96 * k : bits(k, edge)], MASK_BITS[k]).reshape(
                -1, edge, edge
            )
            if k > 1
            else 0
        )
        wrong[selected] |= (masks[selected] >= k).any((1, 2))
    selected = modes == TileMode.CLEARED
    planes["z0"][selected, 0] = np.broadcast_to(cleared, n)[selected] << 8
    counts[selected] = 1
    coded = (counts > 0) & ~wrong
    tiles[coded] = evaluate(planes[coded], masks[coded], samples)
    selected = ~wrong & (modes == TileMode.ANCHOR)
    tiles[selected] = decode_anchor(code_bits[selected, : bits(TileMode.ANCHOR, edge)], edge)
    selected = np.flatnonzero(~wrong & np.isin(modes, BY_DIFFERENCES))
    if len(selected):
        transfers = modes[selected].astype(np.int64) - DIFFERENCES
        tiles[selected], wrong[selected] = decode_differences(
            code_bits[selected], transfers, samples
        )
    selected = modes == TileMode.RAW
    tiles[selected] = values_of(code_bits[selected, : bits(TileMode.RAW, edge)], 24).reshape(
        -1, edge, edge
    )
    for values in (tiles, planes, counts, masks):
        values[wrong] = np.zeros((), values.dtype)
    return tiles, planes, counts, masks, wrong
