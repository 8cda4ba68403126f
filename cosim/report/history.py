# SPDX-License-Identifier: BSD-2-Clause
"""What every stage decided about each pixel of each triangle, as the golden machine told it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fixfunc.cosim.report.embedding import column
from fixfunc.cosim.report.maps import by_pixel
from fixfunc.models.back_half.back_half import Found
from fixfunc.models.depth.cached_depth import TestedTiles
from fixfunc.models.depth.depth_test import Tested
from fixfunc.models.formats import MOST
from fixfunc.models.pixel.quads import pixels_of
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.spec.state import DepthFormat, Outcome

MOST_VISITS = 1 << 20  # that are kept while a frame is drawn
# Masks have a bit a sample. Depths and colours are of the first sample that is covered or written.
VISIT = np.dtype(
    [
        ("pixel", "u4"),  # y * width + x
        ("draw", "u4"),
        ("triangle", "u4"),  # PrimitiveID
        ("instance", "u4"),
        ("outcome", "u1"),  # spec.state.Outcome
        ("late", "u1"),  # the shader is asked between an early and a late test
        ("tested", "u1"),  # depths are tested
        ("covered", "u1"),
        ("shaded", "u1"),
        ("left", "u1"),  # tested in the end
        ("stencil", "u1"),  # of these, that pass the stencil test
        ("depth", "u1"),  # and the depth test
        ("passed", "u1"),
        ("written", "u1"),
        ("drawn", "f4"),  # depths, NaN where none are tested
        ("stored", "f4"),
        ("source", "u4"),  # RGBA8
        ("target", "u4"),  # RGBA8, behind the merger
    ]
)


class History:
    """Visits of triangles to pixels.

    Parameters
    ----------
    width, height : int
        Of the picture, pixels.
    samples : int
        log2 of a pixel's.
    pixels : sequence of (int, int)
        Those that are kept whatever there is.

    Attributes
    ----------
    step : int
        Else pixels are kept whose x and y are its multiples.
    """

    def __init__(
        self, width: int, height: int, samples: int, pixels: Sequence[tuple[int, int]] = ()
    ) -> None:
        self._width = width
        self._samples = samples
        self.samples = 1 << samples
        self._is_named = np.zeros((height, width), bool)
        for x, y in pixels:
            self._is_named[y, x] = True
        self.step = 1
        self._kept = [np.zeros(0, VISIT)]
        self._count = 0

    def begin(self, found: Found, late: bool) -> None:
        """Tiles have been found."""
        covered = by_pixel(unpack(found.tiles["mask"]), self._samples)
        tile, j, i = np.nonzero(covered.any(3))
        wide, high = pixels_of(self._samples)
        x = found.tiles["x"][tile].astype(np.int64) * wide + i
        y = found.tiles["y"][tile].astype(np.int64) * high + j
        kept = self._is_kept(x, y)
        while self._count + kept.sum() > MOST_VISITS and self.step < self._width:
            self.thin()
            kept = self._is_kept(x, y)
        self._at = tile[kept], j[kept], i[kept]
        self._first = np.searchsorted(self._at[0], np.arange(len(found.tiles) + 1))
        mask = covered[self._at]
        self._sample = mask.argmax(1)
        self._visits = np.zeros(len(mask), VISIT)
        self._visits["pixel"] = y[kept] * self._width + x[kept]
        self._visits["covered"] = bits(mask)
        self._visits["late"] = late
        self._visits["drawn"] = self._visits["stored"] = np.nan

    def _is_kept(self, x, y):
        height, width = self._is_named.shape
        inside = (x < width) & (y < height)
        named = self._is_named[np.minimum(y, height - 1), np.minimum(x, width - 1)]
        return inside & (named | ((x % self.step == 0) & (y % self.step == 0)))

    def thin(self) -> None:
        """Keep a pixel of four."""
        self.step *= 2
        visits = np.concatenate(self._kept)
        y, x = np.divmod(visits["pixel"].astype(np.int64), self._width)
        self._kept = [visits[self._is_kept(x, y)]]
        self._count = len(self._kept[0])

    def tested(
        self, numbers: np.ndarray, left: np.ndarray, found: Tested, form: DepthFormat
    ) -> None:
        """Tiles with these numbers have been tested; depths are of a format."""
        lengths = self._first[numbers + 1] - self._first[numbers]
        of = np.repeat(np.arange(len(numbers)), lengths)
        starts = np.cumsum(lengths) - lengths
        rows = np.arange(len(of)) + np.repeat(self._first[numbers] - starts, lengths)
        at = of, self._at[1][rows], self._at[2][rows]
        visits = self._visits
        visits["tested"][rows] = True
        decided = {
            "left": left,
            "stencil": left & np.asarray(found.stencil_passed, bool),
            "depth": left & found.depth_passed,
            "passed": found.passed,
        }
        for name, lanes in decided.items():
            visits[name][rows] = bits(by_pixel(lanes, self._samples)[at])
        for name, lanes in (("drawn", found.drawn), ("stored", found.before)):
            values = by_pixel(lanes, self._samples)[(*at, self._sample[rows])]
            visits[name][rows] = depth_values(values, form)

    def end(
        self,
        tested: TestedTiles,
        written: np.ndarray,
        source: np.ndarray | None,
        target: np.ndarray | None,
    ) -> np.ndarray:
        """The list is drawn; returns its visits, of which the caller knows draw and triangle.

        Parameters
        ----------
        tested : TestedTiles
        written : ndarray of bool, shape (n, edge, edge)
        source, target : ndarray of uint32, shape (n, edge, edge), optional
            RGBA8 of the shader, and what targets hold then.
        """
        visits = self._visits
        tile = self._at[0]
        visits["outcome"] = tested.outcome[tile]
        visits["shaded"] = bits(by_pixel(tested.shaded, self._samples)[self._at])
        untested = visits["tested"] == 0
        passed = bits(by_pixel(tested.passed, self._samples)[self._at])
        visits["passed"] = np.where(untested, passed, visits["passed"])
        mask = by_pixel(written, self._samples)[self._at]
        visits["written"] = bits(mask)
        sample = np.where(mask.any(1), mask.argmax(1), self._sample)
        for name, lanes in (("source", source), ("target", target)):
            if lanes is not None:
                visits[name] = by_pixel(lanes, self._samples)[(*self._at, sample)]
        for name in ("tested", "left", "stencil", "depth", "passed", "shaded"):
            visits[name][visits["outcome"] == Outcome.DROP] = 0
        self._kept.append(visits)
        self._count += len(visits)
        return visits

    @property
    def tiles(self) -> np.ndarray:
        """Which tile of the list each of its visits is of."""
        return self._at[0]

    def visits(self) -> np.ndarray:
        """All of :data:`VISIT`, pixel by pixel, in the order of drawing."""
        every = np.concatenate(self._kept)
        return every[np.argsort(every["pixel"], kind="stable")]

    def coded(self, room: int) -> dict[str, Any]:
        """Visits for a page, in at most so many characters, unless named pixels have more."""
        while True:
            visits = self.visits()
            columns = {
                name: column(np.ascontiguousarray(visits[name]), differences=name == "pixel")
                for name in VISIT.names
            }
            fits = sum(len(it["data"]) for it in columns.values()) <= room
            if fits or self.step > max(self._is_named.shape):
                return columns
            self.thin()


def bits(mask: np.ndarray) -> np.ndarray:
    """Masks of samples, bool of shape (n, samples), as uint8."""
    return (mask << np.arange(mask.shape[1])).sum(1).astype(np.uint8)


def depth_values(stored: np.ndarray, form: DepthFormat) -> np.ndarray:
    """Stored depths to look at: float32."""
    if form == DepthFormat.D32F:
        return np.ascontiguousarray(stored, np.uint32).view(np.float32)
    return (stored / np.float64(MOST[form])).astype(np.float32)
