# SPDX-License-Identifier: BSD-2-Clause
"""Recorded fragments of a draw, found by pixel and by order."""

from typing import NamedTuple

import numpy as np

from fixfunc.cosim.recorded.frame import RecordedFrame
from fixfunc.models.depth.compare import COMPARE
from fixfunc.models.pixel.pixel_inputs import PixelQuads
from fixfunc.models.pixel.pixel_shader import PixelResults
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.state import Compare

NONE = -1  # no fragment was recorded


class Differing(NamedTuple):
    """Pixels of which a draw has other fragments than were recorded."""

    x: np.ndarray  # int64, shape (n,)
    y: np.ndarray  # rows bottom up
    apart: np.ndarray  # int64: how many too many; below 0 too few
    near: np.ndarray  # bool: of a triangle that is clipped, or beside one


class Lookup:
    """Fragments of a draw, for a pixel shader.

    The n-th fragment of a pixel that is asked for is the n-th that was recorded. Where a program's
    shader discards, those are recorded that are left: all fragments of the draw are collected
    first, and of a pixel those are chosen whose depths are the nearest, in order.

    Parameters
    ----------
    frame : RecordedFrame
    draw : numpy.void
        Of :data:`fixfunc.cosim.recorded.frame.DRAW`.
    """

    def __init__(self, frame: RecordedFrame, draw: np.void) -> None:
        self._draw = draw
        self._width, _ = frame.size(draw)
        fragments = frame.draw_fragments(draw)
        pixel = fragments["y"].astype(np.int64) * self._width + fragments["x"]
        order = np.argsort(pixel, kind="stable")  # of a pixel they lie in order
        self._fragments = fragments[order]
        # Pixels that have some, ascending; by pixel the first one, how many were recorded, and how
        # many have been asked for.
        self._pixels, self._first, self._count = np.unique(
            pixel[order], return_index=True, return_counts=True
        )
        self._next = np.zeros(len(self._pixels), np.int64)
        self._is_closed = False
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        # When all have been asked for: pixel and triangle of each, ascending, and which one it is.
        self._keys = np.zeros(0, np.int64)
        self._found = np.zeros(0, np.int64)

    @property
    def discards(self) -> bool:
        """Some fragments are left out: by their shader, by alpha, or since none was recorded.

        It is known when all have been asked for.
        """
        tested = self._draw["alpha_func"] != Compare.ALWAYS
        return bool(tested or self._draw["discards"] or (self._found == NONE).any())

    def collect(self, quads: PixelQuads, _bound: object) -> PixelResults:
        """Note fragments and their depths: the function of a pixel shader that draws nothing."""
        covered, _, keys = self._asked(quads)
        self._parts.append((keys, quads.position[..., 2][covered]))
        colours = np.zeros((*covered.shape, 4), np.float32)
        depths = np.zeros(covered.shape, np.float32) if self._draw["shader_depth"] else None
        return PixelResults(colours, np.ones(covered.shape, bool), depths)

    def choose(self) -> None:
        """Of the fragments that have been collected, find those that were recorded."""
        keys, depths = self._joined(np.float32)
        pixel, begins, lengths = np.unique(keys >> 32, return_index=True, return_counts=True)
        at, known = self._places(pixel)
        found = np.full(len(keys), NONE)
        for n in np.flatnonzero(known):
            begin, length = begins[n], lengths[n]
            first, count = self._first[at[n]], min(self._count[at[n]], length)
            recorded = self._fragments["depth"][first : first + count]
            chosen = nearest(depths[begin : begin + length], recorded)
            found[begin + chosen] = first + np.arange(count)
        self._close(keys, found)

    def recorded(self, quads: PixelQuads) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Find what was recorded of quads, the next fragments of their pixels.

        Returns
        -------
        covered : ndarray of bool, shape (q, 2, 2)
            Pixels that are fragments.
        found : ndarray of int64, shape (n,)
            Of these: a number of a fragment, or :data:`NONE`.
        colour : ndarray of float32, shape (n, 4)
            Zeros, where none was recorded.
        """
        covered, pixel, keys = self._asked(quads)
        if self._is_closed:
            found = self._found[np.searchsorted(self._keys, keys)]
        else:
            found = self._next_ones(pixel, keys)
            self._parts.append((keys, found))
        known = found != NONE
        colour = np.zeros((len(found), 4), np.float32)
        colour[known] = self._fragments["colour"][found[known]]
        return covered, found, colour

    def shade(self, quads: PixelQuads, _bound: object) -> PixelResults:
        """What was recorded of fragments: the function of a pixel shader."""
        covered, found, colour = self.recorded(quads)
        known = found != NONE
        discarded = np.zeros(covered.shape, bool)
        discarded[covered] = ~known | ~self.visible(colour[:, 3])
        colours = np.zeros((*covered.shape, 4), np.float32)
        colours[covered] = colour
        if not self._draw["shader_depth"]:
            return PixelResults(colours, discarded)
        depth = np.zeros(len(found), np.float32)
        depth[known] = self._fragments["depth"][found[known]]
        depths = np.zeros(covered.shape, np.float32)
        depths[covered] = depth
        return PixelResults(colours, discarded, depths)

    def _asked(self, quads):
        """Which pixels of quads are fragments, their pixels of the target, and keys."""
        covered = quads.covered.any(3)
        pixel = (quads.y * self._width + quads.x)[covered]
        primitive = np.broadcast_to(quads.primitive[:, None, None], covered.shape)[covered]
        return covered, pixel, pixel << 32 | primitive.astype(np.int64)

    def _next_ones(self, pixel, keys):
        """Which fragments are next: of one pixel in the order of triangles."""
        order = np.argsort(keys)
        begins = np.flatnonzero(np.diff(pixel[order], prepend=-1))
        rank = np.empty(len(pixel), np.int64)
        lengths = np.diff(begins, append=len(pixel))
        rank[order] = np.arange(len(pixel)) - np.repeat(begins, lengths)
        at, known = self._places(pixel)
        found = np.full(len(pixel), NONE)
        at = at[known]
        turn = self._next[at] + rank[known]
        np.add.at(self._next, at, 1)
        found[known] = np.where(turn < self._count[at], self._first[at] + turn, NONE)
        return found

    def _places(self, pixel):
        """Places of pixels among those that have recorded fragments, and which of them have."""
        at = np.searchsorted(self._pixels, pixel)
        known = at < len(self._pixels)
        known[known] = self._pixels[at[known]] == pixel[known]
        return at, known

    def visible(self, alpha: np.ndarray) -> np.ndarray:
        """The test of alpha, bool: of formats of 8 bits as they are stored."""
        compare = Compare(int(self._draw["alpha_func"]))
        reference = np.float32(self._draw["alpha_ref"])
        form = Format(int(self._draw["form"]))
        if form != Format.UNKNOWN and FORMATS[form].bytes == 4 and "8B8" in form.name:
            alpha = np.rint(alpha * 255)
            reference = np.rint(reference * 255)
        return COMPARE[compare](alpha, reference)

    def _joined(self, kind):
        """What has been noted, by ascending keys."""
        keys, values = (
            np.concatenate([np.zeros(0, its), *(part[n] for part in self._parts)])
            for n, its in enumerate((np.int64, kind))
        )
        self._parts.clear()
        order = np.argsort(keys)
        return keys[order], values[order]

    def _close(self, keys, found):
        self._keys = keys
        self._found = found
        self._is_closed = True

    def finish(self, beyond: np.ndarray) -> Differing:
        """All fragments have been asked for: from now on they are found by their triangle.

        Parameters
        ----------
        beyond : ndarray of bool, shape (n,)
            Triangles that reach beyond the window or the near plane.
        """
        if not self._is_closed:
            self._close(*self._joined(np.int64))
        drawn = self._keys >> 32
        pixel, at = np.unique(np.concatenate([self._pixels, drawn]), return_inverse=True)
        apart = np.bincount(at[len(self._pixels) :], minlength=len(pixel))
        apart[at[: len(self._pixels)]] -= self._count
        if self._draw["discards"]:
            apart = np.minimum(apart, 0)
        differs = apart != 0
        pixel = pixel[differs]
        clipped = np.unique(drawn[beyond[self._keys & 0xFFFFFFFF]])
        near = np.zeros(len(pixel), bool)
        for step in (-self._width, 0, self._width):
            for side in (-1, 0, 1):
                near |= np.isin(pixel + step + side, clipped)
        y, x = np.divmod(pixel, self._width)
        return Differing(x, y, apart[differs], near)


def nearest(depths: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Which of some depths, in their order, are the nearest to others, which are no more.

    Parameters
    ----------
    depths, wanted : ndarray of float32, shapes (n,) and (k,)

    Returns
    -------
    ndarray of intp, shape (k,)
        Ascending: of all such choices that of the least sum of differences.
    """
    if len(depths) == len(wanted):
        return np.arange(len(wanted))
    apart = np.abs(np.subtract.outer(wanted, depths))
    # By number of wanted ones, and of depths that may be chosen: the least sum.
    least = np.full((len(wanted) + 1, len(depths) + 1), np.inf)
    least[0] = 0
    for k in range(1, len(wanted) + 1):
        for n in range(k, len(depths) + 1):
            least[k, n] = min(least[k, n - 1], least[k - 1, n - 1] + apart[k - 1, n - 1])
    chosen = np.zeros(len(wanted), np.intp)
    n = len(depths)
    for k in range(len(wanted), 0, -1):
        while least[k, n - 1] == least[k, n]:
            n -= 1
        n -= 1
        chosen[k - 1] = n
    return chosen
