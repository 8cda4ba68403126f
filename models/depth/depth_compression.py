# SPDX-License-Identifier: BSD-2-Clause
"""Coding of depth tiles without loss, by the planes that made them or by differences."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.depth.compression.anchor import BLOCK_BITS, decode_anchor, encode_anchor
from fixfunc.models.raster.edge_evaluator import lane_positions
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, TileMode

MOST = 4  # planes of a tile
TRANSFER = 32  # bytes
PLANE = np.dtype(
    [("z0", "u4"), ("dx", "i4"), ("dy", "i4")]
)  # u24.8 modulo 2^24, s23.8, s23.8: as in fixfunc.spec.payloads.tile
MASK_BITS = (0, 0, 1, 2, 2)  # a sample, by planes


def bits(mode: int, edge: int = 8) -> int:
    """Bits of a tile so coded; the tile table alone tells that one is cleared."""
    if mode in (TileMode.CLEARED, TileMode.RAW):
        return 24 * edge**2 * (mode == TileMode.RAW)
    return (
        BLOCK_BITS * (edge // 4) ** 2
        if mode == TileMode.ANCHOR
        else 96 * mode + MASK_BITS[mode] * edge**2
    )


def size(mode: int, edge: int = 8) -> int:
    """Bytes moved, in transfers of 32: of an 8 by 8 tile 0, 32, 32, 64, 64, 64 and 192."""
    return -(-bits(mode, edge) // (8 * TRANSFER)) * TRANSFER


class Encoded(NamedTuple):
    """A coded tile: what the tile table keeps of it, and what lies in memory."""

    mode: TileMode
    data: bytes


def compress(
    tile: np.ndarray,
    planes: np.ndarray | None = None,
    mask: np.ndarray | None = None,
    samples: int = 1,
    cleared: int | None = None,
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

    Returns
    -------
    Encoded

    Raises
    ------
    InputError
        A depth beyond 24 bits, a sample of no plane, a number of samples that there is not.

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
    )
    mode = TileMode(modes[0])
    return Encoded(mode, data[0, : size(mode, len(tile))].tobytes())


def decompress(
    encoded: Encoded, samples: int = 1, cleared: int = 0, edge: int = 8
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

    Returns
    -------
    tile : ndarray of uint32, shape (edge, edge)
    planes : structured ndarray of :data:`PLANE`, shape (k,)
        None are known of a tile coded by differences or not at all.
    mask : ndarray of uint8, shape (edge, edge)

    Raises
    ------
    InputError
        A mode that there is not, data of another size, bits set where none may be, a sample of no
        plane.
    """
    if encoded.mode not in list(TileMode):
        raise InputError("mode", f"lie in 0..{max(TileMode)}", int(encoded.mode))
    if len(encoded.data) != size(encoded.mode, edge):
        raise InputError(
            "data",
            f"be {size(encoded.mode, edge)} bytes of mode {TileMode(encoded.mode).name}",
            f"{len(encoded.data)} bytes",
        )
    data = np.zeros((1, size(TileMode.RAW, edge)), np.uint8)
    data[0, : len(encoded.data)] = np.frombuffer(encoded.data, np.uint8)
    tiles, planes, counts, masks, wrong = decode(
        np.array([encoded.mode]), data, SAMPLE_COUNTS.index(samples), cleared, edge
    )
    if wrong[0]:
        raise InputError(
            "data",
            "name one of the tile's planes, and hold nothing beyond them",
            encoded.data.hex(),
        )
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


def encode(
    tiles: np.ndarray,
    planes: np.ndarray,
    counts: np.ndarray,
    masks: np.ndarray,
    samples: int = 0,
    cleared: int | np.ndarray | None = None,
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

    Returns
    -------
    modes : ndarray of uint8, shape (n,)
    data : ndarray of uint8, shape (n, bytes of a raw tile)
        Zeros after what moves.
    """
    tiles, (n, edge, _) = np.asarray(tiles, np.int64), np.shape(tiles)
    if not n:
        return np.zeros(0, np.uint8), np.zeros((0, size(TileMode.RAW, edge)), np.uint8)
    fits, blocks = encode_anchor(tiles)
    distinct, count, index = canonical(
        planes if planes.shape[1] else np.zeros((n, 1), PLANE), np.asarray(counts), masks
    )
    exact = (evaluate(distinct, index, samples) == tiles).all((1, 2))
    coded = {
        TileMode.RAW: (np.ones(n, bool), _bits(tiles.reshape(n, -1), 24).reshape(n, -1)),
        TileMode.ANCHOR: (fits, blocks),
    }
    for k in range(1, min(MOST, distinct.shape[1]) + 1):
        mask = _bits(index.reshape(n, -1), MASK_BITS[k]).reshape(n, -1)
        coded[TileMode(k)] = (
            exact & (count == k),
            np.concatenate([_plane_bits(distinct[:, :k]), mask], 1),
        )
    coded[TileMode.CLEARED] = (
        (tiles == np.reshape(-1 if cleared is None else cleared, (-1, 1, 1))).all((1, 2)),
        np.zeros((n, 0), np.uint8),
    )

    # The last that fits stays: fewer transfers later, and planes after differences of as many.
    modes = np.zeros(n, np.uint8)
    out = np.zeros((n, 8 * size(TileMode.RAW, edge)), np.uint8)
    for mode in sorted(coded, reverse=True):
        selected, values = coded[mode]
        modes[selected] = mode
        out[selected] = 0
        out[selected, : values.shape[1]] = values[selected]
    return modes, np.packbits(out, axis=1, bitorder="little")


def decode(
    modes: np.ndarray,
    data: np.ndarray,
    samples: int = 0,
    cleared: int | np.ndarray = 0,
    edge: int = 8,
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

    Returns
    -------
    tiles : ndarray of uint32, shape (n, edge, edge)
    planes : structured ndarray of :data:`PLANE`, shape (n, 4)
    counts : ndarray of int, shape (n,)
    masks : ndarray of uint8, shape (n, edge, edge)
    wrong : ndarray of bool, shape (n,)
        The mode, or the data, cannot be; the tile is then zero, and no planes are known.
    """
    modes, n = np.asarray(modes), len(modes)
    code_bits = np.unpackbits(data, axis=1, bitorder="little")
    planes = np.zeros((n, MOST), PLANE)
    counts = np.zeros(n, np.int64)
    masks = np.zeros((n, edge, edge), np.uint8)
    tiles = np.zeros((n, edge, edge), np.uint32)
    wrong = ~np.isin(modes, list(TileMode))
    for mode in TileMode:
        wrong[modes == mode] = code_bits[modes == mode, bits(mode, edge) :].any(1)
    for k in range(1, MOST + 1):
        selected = modes == k
        planes[selected, :k] = _planes(code_bits[selected, : 96 * k], k)
        counts[selected] = k
        masks[selected] = (
            _values(code_bits[selected, 96 * k : bits(k, edge)], MASK_BITS[k]).reshape(
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
    selected = modes == TileMode.ANCHOR
    tiles[selected] = decode_anchor(code_bits[selected, : bits(TileMode.ANCHOR, edge)], edge)
    selected = modes == TileMode.RAW
    tiles[selected] = _values(code_bits[selected, : bits(TileMode.RAW, edge)], 24).reshape(
        -1, edge, edge
    )
    for values in (tiles, planes, counts, masks):
        values[wrong] = np.zeros((), values.dtype)
    return tiles, planes, counts, masks, wrong


def _bits(values, width):
    """Bits of values, lowest first: uint8, one axis more."""
    return (np.asarray(values, np.int64)[..., None] >> np.arange(width) & 1).astype(np.uint8)


def _values(bits, width):
    """Values of so many bits each, shape (n, values)."""
    return bits.reshape(len(bits), bits.shape[1] // width, width).astype(np.int64) @ (
        1 << np.arange(width)
    )


def _plane_bits(planes):
    return np.concatenate([_bits(planes[name], 32) for name in PLANE.names], -1).reshape(
        len(planes), -1
    )


def _planes(bits, k):
    out = np.zeros((len(bits), k), PLANE)
    fields = _values(bits, 32).reshape(len(bits), k, 3)
    for n, name in enumerate(PLANE.names):
        out[name] = fields[..., n].astype(np.uint32).view(np.int32) if n else fields[..., n]
    return out
