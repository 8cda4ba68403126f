# SPDX-License-Identifier: BSD-2-Clause
"""Recorded fragments of a draw, found by pixel and by order."""

import numpy as np

from fixfunc.cosim.recorded.frame import RecordedFrame
from fixfunc.models.pixel.pixel_inputs import PixelQuads
from fixfunc.models.pixel.pixel_shader import PixelResults
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.state import Compare

# Depths of one fragment, ours and as it was recorded, differ by less; only where a shader discards.
NEAR = 2.0**-16
NONE = -1  # no fragment was recorded


class Lookup:
    """Fragments of a draw, for a pixel shader.

    The n-th fragment of a pixel that is asked for is the n-th that was recorded. Where a shader
    discards, fragments were recorded that are left: the next one is that of the first triangle
    whose depth it has.

    Parameters
    ----------
    frame : RecordedFrame
    draw : numpy.void
        Of :data:`fixfunc.cosim.recorded.frame.DRAW`.

    Attributes
    ----------
    keys, found : ndarray of int64
        By :meth:`close`, ascending: triangle and pixel of every fragment, and which one it is.
    """

    def __init__(self, frame: RecordedFrame, draw: np.void) -> None:
        self._draw = draw
        self._width, self._height = frame.size(draw)
        fragments = frame.draw_fragments(draw)
        pixel = fragments["y"].astype(np.int64) * self._width + fragments["x"]
        order = np.argsort(pixel, kind="stable")  # of a pixel they lie in order
        self._fragments = fragments[order]
        pixels = self._width * self._height
        self._count = np.bincount(pixel, minlength=pixels)
        self._first = np.cumsum(self._count) - self._count
        self._next = np.zeros(pixels, np.int64)
        self._is_closed = False
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        self.keys = np.zeros(0, np.int64)
        self.found = np.zeros(0, np.int64)

    def shade(self, quads: PixelQuads, _bound: object) -> PixelResults:
        """What was recorded of fragments: the function of a pixel shader."""
        covered = quads.covered.any(3)
        pixel = (quads.y * self._width + quads.x)[covered]
        primitive = np.broadcast_to(quads.primitive[:, None, None], covered.shape)[covered]
        keys = primitive.astype(np.int64) << 32 | pixel
        if self._is_closed:
            at = np.searchsorted(self.keys, keys)
            found = self.found[np.minimum(at, len(self.found) - 1)]
        else:
            found = self._next_ones(pixel, primitive, quads.position[..., 2][covered])
            self._parts.append((keys, found))
        there = found != NONE
        colour = np.zeros((len(found), 4), np.float32)
        colour[there] = self._fragments["colour"][found[there]]
        discarded = np.ones(covered.shape, bool)
        discarded[covered] = ~there | ~self._visible(colour[:, 3])
        colours = np.zeros((*covered.shape, 4), np.float32)
        colours[covered] = colour
        depths = None
        if self._draw["shader_depth"]:
            depth = np.zeros(len(found), np.float32)
            depth[there] = self._fragments["depth"][found[there]]
            depths = np.zeros(covered.shape, np.float32)
            depths[covered] = depth
        return PixelResults(colours, discarded, depths)

    def _next_ones(self, pixel, primitive, depth):
        """Which fragments are next: one of each pixel at a time, in the order of triangles."""
        order = np.lexsort((primitive, pixel))
        ordered = pixel[order]
        begins = np.flatnonzero(np.diff(ordered, prepend=-1))
        rank = np.empty(len(pixel), np.int64)
        lengths = np.diff(begins, append=len(pixel))
        rank[order] = np.arange(len(pixel)) - np.repeat(begins, lengths)
        found = np.full(len(pixel), NONE)
        for turn in range(int(lengths.max(initial=0))):
            some = np.flatnonzero(rank == turn)
            place = pixel[some]
            there = self._next[place] < self._count[place]
            at = self._first[place] + self._next[place]
            if self._draw["discards"]:
                recorded = self._fragments["depth"][np.minimum(at, len(self._fragments) - 1)]
                there &= np.abs(recorded - depth[some]) <= NEAR
                self._next[place] += there
            else:
                self._next[place] += 1
            found[some] = np.where(there, at, NONE)
        return found

    def _visible(self, alpha):
        """The test of alpha: of formats of 8 bits as they are stored."""
        compare = Compare(int(self._draw["alpha_func"]))
        reference = np.float32(self._draw["alpha_ref"])
        form = Format(int(self._draw["form"]))
        if form != Format.UNKNOWN and FORMATS[form].bytes == 4 and "8B8" in form.name:
            alpha = np.rint(alpha * 255)
            reference = np.rint(reference * 255)
        return {
            Compare.NEVER: np.zeros(len(alpha), bool),
            Compare.LESS: alpha < reference,
            Compare.EQUAL: alpha == reference,
            Compare.LESS_EQUAL: alpha <= reference,
            Compare.GREATER: alpha > reference,
            Compare.NOT_EQUAL: alpha != reference,
            Compare.GREATER_EQUAL: alpha >= reference,
            Compare.ALWAYS: np.ones(len(alpha), bool),
        }[compare]

    def close(self) -> None:
        """Every fragment has been asked for: from now on they are found by their triangle."""
        keys, found = (
            np.concatenate([np.zeros(0, np.int64), *(part[n] for part in self._parts)])
            for n in range(2)
        )
        order = np.argsort(keys)
        self.keys = keys[order]
        self.found = found[order]
        self._parts.clear()
        self._is_closed = True

    def differences(self, beyond: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Fragments too many of each pixel, below 0 too few, and where triangles are clipped.

        Parameters
        ----------
        beyond : ndarray of bool, shape (n,)
            Triangles that reach beyond the window or the near plane.

        Returns
        -------
        ndarray of int64, ndarray of bool, shape (height, width)
            The second has pixels of such triangles, and those beside them.
        """
        apart = self._next - self._count
        if self._draw["discards"]:
            apart = np.minimum(apart, 0)
        near = np.zeros((self._height + 2, self._width + 2), bool)
        of_these = beyond[self.keys >> 32]
        y, x = np.divmod(self.keys[of_these] & 0xFFFFFFFF, self._width)
        for dy in range(3):
            for dx in range(3):
                near[y + dy, x + dx] = True
        return apart.reshape(self._height, self._width), near[1:-1, 1:-1]
