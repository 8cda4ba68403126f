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

CHUNK = 1 << 15  # tiles evaluated at a time; it bounds the memory


def rasterize(records: np.ndarray, edge: int = 8, coarse: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Covered tiles of set-up triangles.

    Parameters
    ----------
    records : ndarray of :data:`fixfunc.models.geometry.triangle_setup.DTYPE`, shape (n,)
        From :func:`fixfunc.models.geometry.triangle_setup.setup`; all with the same ``samples``.
    edge : int
        Samples along a tile's edge: 8, or 4.
    coarse : int
        Tiles along a block's edge, and blocks along a superblock's: 8, or 4. The order of the
        tiles depends on it.

    Returns
    -------
    tiles : ndarray of ``dtype(payloads.tile(edge))``, shape (m,)
        Triangles in their order. A triangle's tiles are in zigzag: superblocks, within them
        blocks, within them tiles, each level from the first tile of the box, odd rows backwards.
        Tiles without a covered sample are left out; a triangle that covers no sample has none.
    owner : ndarray of intp, shape (m,)
        Index of the record that each tile belongs to.

    Source: [trip 6], numerics: positions and edges.
    """
    tile_chunks = [np.zeros(0, dtype(payloads.tile(edge)))]
    owner_chunks = [np.zeros(0, np.intp)]
    for indices in _chunks(records, edge, coarse):
        owner, x, y = _candidates(records, indices, edge, coarse)
        for start in range(0, len(owner), CHUNK):
            chunk = slice(start, start + CHUNK)
            tiles = _tiles(records, owner[chunk], x[chunk], y[chunk], edge)
            covered = tiles["mask"] != 0
            tile_chunks.append(tiles[covered])
            owner_chunks.append(owner[chunk][covered])
    tiles = np.concatenate(tile_chunks)
    owner = np.concatenate(owner_chunks)
    tiles["last"] = np.append(owner[1:] != owner[:-1], True)[: len(owner)]
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
        A size, a sample count or a coordinate that breaks its rule; positions in pixels, which
        :func:`fixfunc.models.geometry.viewport.snap` takes.
    """
    state = draw_state(width, height, samples)
    triangles = np.asarray(triangles)
    if triangles.ndim != 3 or triangles.shape[1:] != (3, 2):
        raise InputError("triangles", "have shape (n, 3, 2)", triangles.shape)
    if triangles.dtype.kind not in "iu" and triangles.size:
        rule = "be integers, 1/256 pixel, as viewport.snap makes them of pixels"
        raise InputError("triangles", rule, triangles.dtype.name)
    vertices = np.zeros(len(triangles), [(f.name, np.int64) for f in payloads.TRIANGLE])
    for k in range(3):
        vertices[f"x{k}"] = triangles[:, k, 0]
        vertices[f"y{k}"] = triangles[:, k, 1]
    triangle_records = triangle_setup.setup(vertices, state)
    tiles, owner = rasterize(triangle_records.records)
    lx, ly = LANE_SHAPE[state["samples"]]
    images = np.zeros(
        (
            len(triangles),
            -(-height // (8 >> ly)) * (8 >> ly),
            -(-width // (8 >> lx)) * (8 >> lx),
            samples,
        ),
        bool,
    )
    image = triangle_records.index[owner]
    write_tiles(images, image, tiles["x"], tiles["y"], unpack(tiles["mask"]), samples)
    return images[:, :height, :width]


def write_tiles(
    images: np.ndarray,
    image: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    lanes: np.ndarray,
    samples: int,
) -> None:
    """Write the lanes of tiles into images, in place.

    Parameters
    ----------
    images : ndarray, shape (n, height, width, samples)
        Height and width are multiples of a tile's.
    image, x, y : ndarray of int, shape (m,)
        Which image, and which tile of it.
    lanes : ndarray, shape (m, edge, edge)
        Indexed [tile, j, i].
    samples : int
        Samples of a pixel.
    """
    lx, ly = LANE_SHAPE[SAMPLE_COUNTS.index(samples)]
    count = len(lanes)
    edge = lanes.shape[1]
    high = edge >> ly
    wide = edge >> lx
    pixels = (
        lanes.reshape(count, high, 1 << ly, wide, 1 << lx)
        .transpose(0, 1, 3, 2, 4)
        .reshape(count, high, wide, samples)
    )
    n, h, w, _ = images.shape
    grid = images.reshape(n, h // high, high, w // wide, wide, samples)
    grid[image, y, :, x] = pixels


def _grid(records, edge):
    """First and last tile of each record's box, and the shape of a tile in pixels."""
    lx, ly = (
        LANE_SHAPE[SAMPLE_COUNTS.index(1)]
        if not len(records)
        else LANE_SHAPE[records["samples"][0]]
    )
    wide = edge >> lx
    high = edge >> ly
    first = np.stack([records["x0"] // wide, records["y0"] // high]).astype(np.int64)
    last = np.stack([records["x1"] // wide, records["y1"] // high]).astype(np.int64)
    return first, last, (wide, high)


def _chunks(records, edge, coarse):
    """Indices of consecutive records whose boxes hold about CHUNK blocks."""
    first, last, _ = _grid(records, edge)
    blocks = np.cumsum(((last - first) // coarse + 1).prod(0))
    bounds = np.unique(
        np.searchsorted(blocks, np.arange(CHUNK, blocks[-1] if len(blocks) else 0, CHUNK))
    )
    return [chunk for chunk in np.split(np.arange(len(records)), bounds) if len(chunk)]


def _candidates(records, indices, edge, coarse):
    """Tiles that no edge rejects, in order: owner, x, y.

    Blocks are tested first, so that wide boxes stay cheap.
    """
    first, last, _ = _grid(records, edge)
    count = last - first + 1
    blocks = -(-count // coarse)
    owner, block_x, block_y = _cells(indices, *blocks[:, indices])
    touched = _touched(records, owner, block_x * coarse, block_y * coarse, coarse, edge)
    owner = owner[touched]
    block_x = block_x[touched]
    block_y = block_y[touched]
    inner = np.arange(coarse * coarse)
    owner = np.repeat(owner, len(inner))
    x = block_x[:, None] * coarse + inner % coarse
    y = block_y[:, None] * coarse + inner // coarse
    x = x.ravel()
    y = y.ravel()
    in_box = (x < count[0, owner]) & (y < count[1, owner])
    owner = owner[in_box]
    x = x[in_box]
    y = y[in_box]
    touched = _touched(records, owner, x, y, 1, edge)
    owner = owner[touched]
    x = x[touched]
    y = y[touched]
    order = np.lexsort((_zigzag(x, y, coarse), owner))
    return owner[order], (x + first[0, owner])[order], (y + first[1, owner])[order]


def _cells(indices, columns, rows):
    """Every cell of boxes of so many columns and rows of cells: owner, x, y."""
    size = columns * rows
    box = np.repeat(np.arange(len(indices)), size)
    n = np.arange(size.sum()) - np.repeat(np.cumsum(size) - size, size)
    return indices[box], n % columns[box], n // columns[box]


def _touched(records, owner, x, y, size, edge):
    """Whether no edge rejects a cell of ``size`` by ``size`` tiles.

    ``x`` and ``y`` are in tiles from the first one of the box. An edge rejects a cell if E is
    negative at its reject corner, where E is greatest.
    """
    _, _, (wide, high) = _grid(records, edge)
    ly = LANE_SHAPE[records["samples"][0]][1]
    touched = np.ones(len(owner), bool)
    for k in range(3):
        a = records[f"a{k}"].astype(np.int64)[owner]
        b = records[f"b{k}"].astype(np.int64)[owner]
        c = records[f"c{k}"].astype(np.int64)[owner]
        corner_x = x + np.where(a > 0, size - 1, 0)
        corner_y = y + np.where(b > 0, size - 1, 0)
        touched &= (c >> ly) + 16 * wide * a * corner_x + 16 * high * b * corner_y >= 0
    return touched


def _zigzag(x, y, coarse):
    """Sort key of tiles: rows of superblocks, blocks, tiles; odd rows backwards."""
    key = np.zeros_like(x)
    for size, limit in ((coarse * coarse, 1 << 14), (coarse, coarse), (1, coarse)):
        row = y // size % limit
        column = x // size % limit
        key = (key * limit + row) * limit + np.where(row % 2, limit - 1 - column, column)
    return key


def _tiles(records, owner, x, y, edge):
    """Tile beats of (owner, x, y), those without a covered sample included."""
    r = records[owner]
    lx, ly = LANE_SHAPE[r["samples"][0]]
    wide = edge >> lx
    high = edge >> ly
    tiles = np.zeros(len(owner), dtype(payloads.tile(edge)))
    for name in ("kind", "state", "slot", "back", "zmin", "zmax", "steep", "exponent"):
        tiles[name] = r[name]
    tiles["x"] = x
    tiles["y"] = y

    # Pixels from the first tile of the box.
    right = (x - r["x0"] // wide) * wide
    down = (y - r["y0"] // high) * high
    column = np.arange(edge) >> lx
    row = np.arange(edge) >> ly
    pixel_x = (x * wide)[:, None] + column
    pixel_y = (y * high)[:, None] + row
    columns_in_box = (pixel_x >= r["x0"][:, None]) & (pixel_x <= r["x1"][:, None])
    rows_in_box = (pixel_y >= r["y0"][:, None]) & (pixel_y <= r["y1"][:, None])
    inside = columns_in_box[:, None, :] & rows_in_box[:, :, None]
    for k in range(3):
        a = r[f"a{k}"].astype(np.int64)
        b = r[f"b{k}"].astype(np.int64)
        c = r[f"c{k}"].astype(np.int64)
        reach = r[f"reach{k}"].astype(np.int64)
        first_pixel = (c >> ly) - reach + 16 * (a * right + b * down)
        inside &= evaluate(r["samples"][0], a, b, first_pixel, edge) >= 0
    tiles["mask"] = pack(inside)
    tiles["full"] = inside.all((1, 2))
    tiles["z0"], tiles["dx"], tiles["dy"] = tile_plane(r, right, down)
    return tiles


def tile_plane(
    records: np.ndarray, right: np.ndarray, down: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Depth planes of triangles at tiles of their boxes.

    Parameters
    ----------
    records : structured ndarray with ``z``, ``zx``, ``zy``, shape (n,)
        Planes at the first tile of the box, as in :data:`fixfunc.spec.payloads.SETUP`.
    right, down : ndarray of int64, shape (n,)
        Pixels from the first tile of the box.

    Returns
    -------
    z0, dx, dy : ndarray, shape (n,)
        Planes at the tiles, as in :func:`fixfunc.spec.payloads.tile`.
    """
    z = (
        records["z"]
        + records["zx"].view(np.uint64) * right.astype(np.uint64)
        + records["zy"].view(np.uint64) * down.astype(np.uint64)
    )
    # What is above a field's bits is shifted out at the top, its sign in at the bottom.
    z0 = ((z + np.uint64(1 << 15)) << np.uint64(64 - triangle_setup.START)).view(
        np.int64
    ) >> 80 - triangle_setup.START
    half = 1 << triangle_setup.SLOPE - 17
    return z0, *(
        (((records[name] + (1 << 15)) >> 16) + half) % (2 * half) - half for name in ("zx", "zy")
    )
