# SPDX-License-Identifier: BSD-2-Clause
"""Tiled caching: triangles are binned, and a tile's targets stay in the last level of cache."""

import numpy as np

from fixfunc.models.architecture.frame_work import MOST, FrameWork
from fixfunc.models.memory.dram.accesses import ACCESS, COLUMN
from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

SAMPLE = 4  # bytes of a colour, or of a depth
WIDE = COLUMN // SAMPLE  # pixels of a column of memory


def binned(frame: FrameWork, tile: int, batch: int) -> np.ndarray:
    """Fragments tile by tile, of so many triangles at a time: their numbers, int64.

    Between fragments of a tile, and so of a pixel, the order of drawing stays. The triangles of a
    batch wait in the cache until all of its tiles are done [rtr 23.10.2].

    Parameters
    ----------
    frame : FrameWork
    tile : int
        Pixels of a side.
    batch : int
        Triangles.
    """
    integer("tile", tile, 1, MOST)
    integer("batch", batch, 1, 1 << 30)
    found = frame.fragments
    row = found["y"].astype(np.int64) // tile
    column = found["x"].astype(np.int64) // tile
    return np.lexsort((column, row, found["triangle"] // batch))


def accesses(frame: FrameWork, order: np.ndarray | None = None) -> np.ndarray:
    """What fragments ask of memory: ACCESS, two reads and two writes each, all passing.

    Depths are client 0, colours client 1 and behind them; lines of pixels follow each other, each
    padded to whole columns of eight pixels.

    Parameters
    ----------
    frame : FrameWork
    order : ndarray of int, optional
        Numbers of fragments; in the order of drawing by default.
    """
    found = frame.fragments
    if order is not None:
        if not (np.sort(order) == np.arange(len(found))).all():
            raise InputError("order", "have every fragment once", len(order))
        found = found[order]
    pitch = -(-frame.width // WIDE)
    column = found["y"].astype(np.int64) * pitch + found["x"] // WIDE
    plane = pitch * frame.height
    out = np.zeros((len(found), 4), ACCESS)
    for n, (client, write) in enumerate(((0, False), (0, True), (1, False), (1, True))):
        out["address"][:, n] = COLUMN * (column + client * plane)
        out["client"][:, n] = client
        out["write"][:, n] = write
    out["clock"] = np.arange(len(found))[:, None]
    return out.reshape(-1)
