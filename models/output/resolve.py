# SPDX-License-Identifier: BSD-2-Clause
"""Resolve of a coded target in memory, tile by tile, as the unit does it."""

import numpy as np

from fixfunc.models.memory.coded_tiles import CodedTiles
from fixfunc.models.memory.sample_grids import EDGE
from fixfunc.models.output.averages import mean
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.spec.colours import ResolveError
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import TARGET_LIMIT

TEXEL = 4  # bytes


def resolve(memory: np.ndarray, request: np.void, most: int = 3, srgb: bool = True) -> ResolveError:
    """Average the samples of each pixel of a target of four bytes a texel, alpha the highest.

    Parameters
    ----------
    memory : ndarray of uint8
        Written in place.
    request : numpy.void
        :data:`fixfunc.spec.colours.RESOLVE`. Both targets lie as a tile cache leaves them: tiles
        row by row, the mode table right behind them.
    most : int
        log2 of the most samples of a pixel that are known.
    srgb : bool
        sRGB is known.

    Returns
    -------
    ResolveError
        ``REFUSED``: a side of no pixels or more than D3D11's greatest, 2^22 tiles or more, too many
        samples, or sRGB that is not known. ``WRONG_TILE``: one of the source cannot be. Then
        nothing is written.

    Where a tile of the target reaches beyond the tiles of the source, its pixels have the colour
    that the source was cleared to. The mean is that of
    :func:`fixfunc.models.output.averages.mean`.

    Source: [fs 5.6.6, 19.2.4].
    """
    lx, ly = LANE_SHAPE[request["samples"]]
    width, height = int(request["width"]), int(request["height"])
    rows, columns = -(-height // EDGE), -(-width // EDGE)
    whole = -(-height // (EDGE >> ly)), -(-width // (EDGE >> lx))
    sides = all(1 <= side <= TARGET_LIMIT for side in (width, height))
    known = request["samples"] <= most and (srgb or not request["srgb"])
    if not sides or not known or whole[0] * whole[1] >> TILE_NUMBER:
        return ResolveError.REFUSED
    source = _surface(memory, request, "source", whole, int(request["samples"]))
    target = _surface(memory, request, "target", (rows, columns), 0)
    try:
        stored = source.read()
    except InputError:
        return ResolveError.WRONG_TILE
    colour = np.array([request["source_cleared"]], "<u4").view(np.uint8)
    tiles = np.empty((rows << ly, columns << lx, EDGE, EDGE, TEXEL), np.uint8)
    tiles[:] = colour
    tiles[: whole[0], : whole[1]] = stored
    form = Format.R8G8B8A8_UNORM_SRGB if request["srgb"] else Format.R8G8B8A8_UNORM
    target.write(mean(_pixels(tiles, lx, ly), form).reshape(rows, columns, EDGE, EDGE, TEXEL))
    return ResolveError.NONE


def written(request: np.void) -> tuple[int, int]:
    """The first byte of what a resolve writes, and the one behind it, as far as one is not refused.

    What they hold is anything when it has failed.
    """
    rows, columns = (-(-int(request[side]) // EDGE) for side in ("height", "width"))
    begin = int(request["target"])
    return begin, begin + CodedTiles.bytes_of(rows, columns, TEXEL, np.zeros(TEXEL, np.uint8))


def _surface(memory, request, name, shape, samples):
    base = int(request[name])
    cleared = np.array([request[f"{name}_cleared"]], "<u4").view(np.uint8)
    size = CodedTiles.bytes_of(*shape, TEXEL, cleared)
    if base + size > len(memory):
        raise InputError(name, f"end within memory, at {len(memory)}", base + size)
    return CodedTiles(memory[base : base + size], *shape, TEXEL, samples, cleared)


def _pixels(tiles, lx, ly):
    """Samples of the pixels of tiles: 2^lx by 2^ly tiles of samples become one."""
    rows, columns = tiles.shape[0] >> ly, tiles.shape[1] >> lx
    # Tile, tile of its group, pixel, sample of it: of rows, then of columns.
    split = tiles.transpose(0, 2, 1, 3, 4).reshape(
        rows, EDGE, 1 << ly, columns, EDGE, 1 << lx, TEXEL
    )
    return split.transpose(0, 3, 1, 4, 2, 5, 6).reshape(rows, columns, EDGE, EDGE, -1, TEXEL)
