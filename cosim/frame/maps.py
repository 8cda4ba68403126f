# SPDX-License-Identifier: BSD-2-Clause
"""Maps of a frame: a colour a tile."""

import numpy as np

from fixfunc.models.scene.render import Frame
from fixfunc.spec.state import DIFFERENCES, Outcome, TileMode

TILE = ((8, 8), (8, 4), (4, 4), (4, 2))  # pixels, by log2 of the samples of a pixel
RAMP = np.array(
    [(12, 10, 30), (92, 22, 110), (214, 70, 66), (250, 180, 60), (252, 252, 220)], float
)
CODED = np.zeros((16, 3), int)  # by TileMode
CODED[: TileMode.RAW + 1] = (
    (12, 10, 30),
    (40, 120, 80),
    (90, 190, 110),
    (190, 210, 80),
    (250, 220, 60),
    (240, 150, 50),
    (214, 70, 66),
)
CODED[DIFFERENCES + 1 :] = CODED[TileMode.ANCHOR]
OUTCOME_COLOURS = {
    Outcome.DROP: (214, 70, 66),
    Outcome.ACCEPT: (90, 190, 110),
    Outcome.TEST: (70, 110, 220),
}


def tile_size(frame: Frame) -> tuple[int, int]:
    """Pixels of a tile: (width, height)."""
    return TILE[int(frame.state["samples"])]


def triangles(frame: Frame) -> np.ndarray:
    """Triangles per tile, dark to bright on a logarithmic scale: uint8 (height, width, 3)."""
    per_tile = count(frame, frame.tiles)
    place = np.log1p(per_tile) / np.log1p(max(per_tile.max(), 1)) * (len(RAMP) - 1)
    low = np.minimum(place.astype(int), len(RAMP) - 2)
    return _spread(frame, RAMP[low] + (place - low)[..., None] * (RAMP[low + 1] - RAMP[low]))


def outcomes(frame: Frame) -> np.ndarray:
    """What HiZ found per tile: red dropped, green accepted unread, blue tested, mixed by how often.

    Uint8, shape (height, width, 3).
    """
    counts = {
        outcome: count(frame, frame.tiles[frame.outcome == outcome]) for outcome in OUTCOME_COLOURS
    }
    total = sum(counts.values())
    mixed = (
        sum(
            per_tile[..., None] * np.array(OUTCOME_COLOURS[outcome])
            for outcome, per_tile in counts.items()
        )
        / np.maximum(total, 1)[..., None]
    )
    return _spread(frame, np.where(total[..., None] > 0, mixed, RAMP[0]))


def modes(frame: Frame, coded: np.ndarray) -> np.ndarray:
    """How each tile of depths lies in memory: uint8, shape (height, width, 3).

    Dark: cleared. Green to yellow: coded by one to four planes. Orange: by differences. Red: raw.

    Parameters
    ----------
    coded : ndarray of uint8
        :class:`~fixfunc.spec.state.TileMode` of every tile, row by row.
    """
    wide, high = tile_size(frame)
    height, width = frame.colour.shape[:2]
    return _spread(frame, CODED[coded.reshape(-(-height // high), -(-width // wide))])


def count(frame: Frame, tiles: np.ndarray) -> np.ndarray:
    """How many of these tiles lie at each place."""
    height, width = frame.colour.shape[:2]
    wide, high = tile_size(frame)
    out = np.zeros((-(-height // high), -(-width // wide)), np.int64)
    np.add.at(out, (tiles["y"], tiles["x"]), 1)
    return out


def _spread(frame, colour):
    """A colour a tile as one a pixel."""
    height, width = frame.colour.shape[:2]
    wide, high = tile_size(frame)
    return np.repeat(np.repeat(colour.astype(np.uint8), high, 0), wide, 1)[:height, :width]
