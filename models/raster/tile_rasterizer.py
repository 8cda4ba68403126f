# SPDX-License-Identifier: BSD-2-Clause
"""Tile rasterizer: the covered tiles of each triangle, in order."""

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.models.geometry import triangle_setup
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE, evaluate, pack, unpack
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS

CHUNK = 1 << 15  # tiles evaluated at a time: bounds the memory


def rasterize(records: np.ndarray, edge: int = 8, coarse: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Covered tiles of set-up triangles.

    Parameters
    ----------
    records : ndarray of :data:`fixfunc.models.geometry.triangle_setup.DTYPE`, shape (n,)
        From :func:`fixfunc.models.geometry.triangle_setup.setup`; all with the same ``samples``.
    edge : int
        Samples along a tile's edge: 8, or 4.
    coarse : int
        Tiles along a block's edge, and blocks along a superblock's: 8, or 4. It sets the order.

    Returns
    -------
    tiles : ndarray of ``dtype(payloads.tile(edge))``, shape (m,)
        Triangles in their order; a triangle's tiles in zigzag: superblocks, within them blocks, within
        them tiles, each level from the first tile of the box, odd rows backwards. Empty tiles are left
        out, and a triangle that covers no sample has none.
    owner : ndarray of intp, shape (m,)
        Which record each tile belongs to.

    Source: [trip 6], numerics: positions and edges.
    """
    out, owners = [np.zeros(0, dtype(payloads.tile(edge)))], [np.zeros(0, np.intp)]
    for part in _chunks(records, edge, coarse):
        owner, x, y = _candidates(records, part, edge, coarse)
        for start in range(0, len(owner), CHUNK):
            those = slice(start, start + CHUNK)
            tiles = _tiles(records, owner[those], x[those], y[those], edge)
            covered = tiles["mask"] != 0
            out.append(tiles[covered])
            owners.append(owner[those][covered])
    tiles, owner = np.concatenate(out), np.concatenate(owners)
    tiles["last"] = np.append(owner[1:] != owner[:-1], True)[:len(owner)]
    return tiles, owner


def coverage(triangles: ArrayLike, width: int, height: int, samples: int = 1) -> np.ndarray:
    """Samples that triangles cover, both windings drawn.

    Parameters
    ----------
    triangles : array_like of int32, shape (n, 3, 2)
        Snapped vertices, 1/256 pixel, y down; 24 bits signed.
    width, height : int
        Size of the target, pixels.
    samples : int
        Samples of a pixel: 1, 2, 4 or 8.

    Returns
    -------
    ndarray of bool, shape (n, height, width, samples)

    Raises
    ------
    InputError
        A size, a sample count or a coordinate that breaks its rule.
    """
    state = draw_state(width, height, samples)
    triangles = np.asarray(triangles, np.int64)
    if triangles.ndim != 3 or triangles.shape[1:] != (3, 2):
        raise InputError("triangles", "have shape (n, 3, 2)", triangles.shape)
    vertices = np.zeros(len(triangles), [(f.name, np.int64) for f in payloads.TRIANGLE])
    for k in range(3):
        vertices[f"x{k}"], vertices[f"y{k}"] = triangles[:, k, 0], triangles[:, k, 1]
    made = triangle_setup.setup(vertices, state)
    tiles, owner = rasterize(made.records)
    lx, ly = LANE_SHAPE[state["samples"]]
    out = np.zeros((len(triangles), -(-height // (8 >> ly)) * (8 >> ly), -(-width // (8 >> lx)) * (8 >> lx), samples), bool)
    put(out, made.index[owner], tiles["x"], tiles["y"], unpack(tiles["mask"]), samples)
    return out[:, :height, :width]


def put(images: np.ndarray, image: np.ndarray, x: np.ndarray, y: np.ndarray, lanes: np.ndarray, samples: int) -> None:
    """Write lanes of tiles into images, in place.

    Parameters
    ----------
    images : ndarray, shape (n, height, width, samples)
        Height and width whole tiles.
    image, x, y : ndarray of int, shape (m,)
        Which image, and which tile of it.
    lanes : ndarray, shape (m, edge, edge)
        Indexed [tile, j, i].
    samples : int
        Samples of a pixel.
    """
    lx, ly = LANE_SHAPE[SAMPLE_COUNTS.index(samples)]
    count, edge = len(lanes), lanes.shape[1]
    high, wide = edge >> ly, edge >> lx
    pixels = lanes.reshape(count, high, 1 << ly, wide, 1 << lx).transpose(0, 1, 3, 2, 4).reshape(count, high, wide, samples)
    n, h, w, _ = images.shape
    grid = images.reshape(n, h // high, high, w // wide, wide, samples)
    grid[image, y, :, x] = pixels


def _grid(records, edge):
    """First and last tile of each record's box, and the shape of a tile in pixels."""
    lx, ly = LANE_SHAPE[SAMPLE_COUNTS.index(1)] if not len(records) else LANE_SHAPE[records["samples"][0]]
    wide, high = edge >> lx, edge >> ly
    first = np.stack([records["x0"] // wide, records["y0"] // high]).astype(np.int64)
    last = np.stack([records["x1"] // wide, records["y1"] // high]).astype(np.int64)
    return first, last, (wide, high)


def _chunks(records, edge, coarse):
    """Runs of records whose boxes hold about CHUNK blocks."""
    first, last, _ = _grid(records, edge)
    blocks = np.cumsum(((last - first) // coarse + 1).prod(0))
    bounds = np.unique(np.searchsorted(blocks, np.arange(CHUNK, blocks[-1] if len(blocks) else 0, CHUNK)))
    return [part for part in np.split(np.arange(len(records)), bounds) if len(part)]


def _candidates(records, part, edge, coarse):
    """Tiles that no edge rejects: owner, x, y, in order. Blocks are tried first, so that wide boxes stay cheap."""
    first, last, _ = _grid(records, edge)
    count = last - first + 1
    blocks = -(-count // coarse)
    owner, bx, by = _cells(part, *blocks[:, part])
    keep = _touched(records, owner, bx * coarse, by * coarse, coarse, edge)
    owner, bx, by = owner[keep], bx[keep], by[keep]
    inner = np.arange(coarse * coarse)
    owner, x, y = np.repeat(owner, len(inner)), bx[:, None] * coarse + inner % coarse, by[:, None] * coarse + inner // coarse
    x, y = x.ravel(), y.ravel()
    keep = (x < count[0, owner]) & (y < count[1, owner])
    owner, x, y = owner[keep], x[keep], y[keep]
    keep = _touched(records, owner, x, y, 1, edge)
    owner, x, y = owner[keep], x[keep], y[keep]
    order = np.lexsort((_zigzag(x, y, coarse), owner))
    return owner[order], (x + first[0, owner])[order], (y + first[1, owner])[order]


def _cells(part, nx, ny):
    """Every cell of boxes of nx by ny cells: owner, x, y."""
    size = nx * ny
    owner = np.repeat(np.arange(len(part)), size)
    n = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return part[owner], n % nx[owner], n // nx[owner]


def _touched(records, owner, x, y, size, edge):
    """Cells of ``size`` by ``size`` tiles, x and y tiles from the box's first, whose best corner no edge rejects."""
    _, _, (wide, high) = _grid(records, edge)
    ly = LANE_SHAPE[records["samples"][0]][1]
    keep = np.ones(len(owner), bool)
    for k in range(3):
        a, b, c = (records[f"{name}{k}"].astype(np.int64)[owner] for name in "abc")
        best_x = x + np.where(a > 0, size - 1, 0)
        best_y = y + np.where(b > 0, size - 1, 0)
        keep &= (c >> ly) + 16 * wide * a * best_x + 16 * high * b * best_y >= 0
    return keep


def _zigzag(x, y, coarse):
    """Sort key of tiles: rows of superblocks, blocks, tiles; odd rows backwards."""
    key = np.zeros_like(x)
    for size, limit in ((coarse * coarse, 1 << 14), (coarse, coarse), (1, coarse)):
        row, column = y // size % limit, x // size % limit
        key = (key * limit + row) * limit + np.where(row % 2, limit - 1 - column, column)
    return key


def _tiles(records, owner, x, y, edge):
    """The tile beats of (owner, x, y), empty ones included."""
    r = records[owner]
    lx, ly = LANE_SHAPE[r["samples"][0]]
    wide, high = edge >> lx, edge >> ly
    out = np.zeros(len(owner), dtype(payloads.tile(edge)))
    for name in ("kind", "state", "slot", "back", "zmin", "zmax"):
        out[name] = r[name]
    out["x"], out["y"] = x, y

    right, down = (x - r["x0"] // wide) * wide, (y - r["y0"] // high) * high  # pixels from the box's first tile
    column, row = np.arange(edge) >> lx, np.arange(edge) >> ly
    px, py = (x * wide)[:, None] + column, (y * high)[:, None] + row
    inside = ((px >= r["x0"][:, None]) & (px <= r["x1"][:, None]))[:, None, :]
    inside = inside & ((py >= r["y0"][:, None]) & (py <= r["y1"][:, None]))[:, :, None]
    for k in range(3):
        a, b, c, reach = (r[f"{name}{k}"].astype(np.int64) for name in ("a", "b", "c", "reach"))
        inside &= evaluate(r["samples"][0], a, b, (c >> ly) - reach + 16 * (a * right + b * down), edge) >= 0
    out["mask"] = pack(inside)
    out["full"] = inside.all((1, 2))

    out["z0"], out["dx"], out["dy"] = tile_plane(r, right, down)
    return out


def tile_plane(records: np.ndarray, right: np.ndarray, down: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Depth planes of triangles at tiles ``right`` and ``down`` pixels from their boxes' first tile.

    Parameters
    ----------
    records : structured ndarray with ``z``, ``zx``, ``zy``, shape (n,)
        As in :data:`fixfunc.spec.payloads.SETUP`.
    right, down : ndarray of int64, shape (n,)

    Returns
    -------
    z0, dx, dy : ndarray, shape (n,)
        As in :func:`fixfunc.spec.payloads.tile`.
    """
    z = records["z"] + records["zx"].view(np.uint64) * right.astype(np.uint64) + records["zy"].view(np.uint64) * down.astype(np.uint64)
    z0 = (z + np.uint64(1 << 15)) >> np.uint64(16) & np.uint64(0xFFFFFFFF)
    return z0, *((records[name] + (1 << 15)) >> 16 for name in ("zx", "zy"))
