# SPDX-License-Identifier: BSD-2-Clause
"""Points along an edge of a patch, in 16.16 fixed point."""

from dataclasses import dataclass

import numpy as np

ONE = 1 << 16
HALF_POINTS = 33  # most points of half an edge, its middle left out


def newest(count):
    """Index at which half an edge of so many points gets its next point.

    Points are inserted in the order of a binary tree, from the edge's end on.
    """
    return ((count ^ 1 << count.bit_length() - 1) << 1) + 1


def _ranks():
    ranks = [0]
    for count in range(1, HALF_POINTS):
        ranks.insert(newest(count), count)
    return tuple(ranks)


RANKS = _ranks()  # rank of every possible point of half an edge in the order of insertion


@dataclass(frozen=True)
class Edge:
    """An edge divided by a factor.

    A factor between two integers blends two divisions: that of the smaller number of segments, and
    that of the greater one, which has one point more in each half.

    Parameters
    ----------
    factor : int
        16.16, clamped and rounded by :func:`fixfunc.models.tessellation.tessellator.tessellate`.
    odd : bool
        The number of segments is odd, so that no point lies in the middle.
    """

    factor: int
    odd: bool

    @property
    def _half(self):
        """Half the segments, 16.16; of an odd number half a segment counts as one."""
        half = self.factor + 1 >> 1
        return half + ONE // 2 if self.odd or half == ONE // 2 else half

    @property
    def half_points(self):
        """Points of half the edge without its middle."""
        return -(-self._half // ONE)

    @property
    def count(self):
        """Points of the edge, with both ends."""
        return 2 * self.half_points + (not self.odd)

    @property
    def places(self):
        """Positions of the points: 1.16, ndarray of int64, shape (count,).

        u and 1 - u are exact complements.
        """
        fewer, share = divmod(self._half, ONE)
        fine = np.arange(self.half_points)  # index of each point in the finer division
        inserted = fewer - self.odd  # points of half the coarser division, without its end
        coarse = fine - (fine > (newest(inserted) if inserted else 0)) if share else fine
        half = (
            coarse * _step(2 * fewer - self.odd) * (ONE - share)
            + fine * _step(2 * self.half_points - self.odd) * share
            + ONE // 2
            >> 16
        )
        middle = [] if self.odd else [ONE // 2]
        return np.concatenate([half, middle, ONE - half[::-1]]).astype(np.int64)


def _step(segments):
    """Length of one of so many segments, 0.16, rounded."""
    return (2 * ONE + segments) // (2 * segments)


# Corners of a triangle of a strip, as (side, offset): points o, o+1, ... lie outside, points i,
# i+1, ... inside. OUTSIDE has the steps that advance on the outer side; the others advance on the
# inner one.
STEPS = {
    "o": (("o", 0), ("o", 1), ("i", 0)),
    "m": (("i", 0), ("o", 0), ("o", 1)),
    "i": (("i", 0), ("o", 0), ("i", 1)),
    "a": (("o", 0), ("i", 1), ("i", 0)),
}
OUTSIDE = "om"


def triangles(steps, outside, inside):
    """The triangles of a strip: list of (a, b, c), from the points of its two sides."""
    sides = {"o": outside, "i": inside}
    position = {"o": 0, "i": 0}
    faces = []
    for step in steps:
        faces.append(tuple(sides[side][position[side] + offset] for side, offset in STEPS[step]))
        position["o" if step in OUTSIDE else "i"] += 1
    return faces


def even_strip(segments):
    """Steps between two edges of the same division.

    The inner edge has so many segments, the outer one two more.
    """
    return "o" + "ao" * (segments - segments // 2) + "mi" * (segments // 2) + "o"


def strip(inside, outside):
    """Steps between two edges that divide the same length differently.

    Parameters
    ----------
    inside, outside : Edge

    Returns
    -------
    str
        Steps of :data:`STEPS`. Those of the first half are in the order of the ranks of their
        points; those of the second half mirror them.
    """
    inner_count = inside.half_points - inside.odd
    outer_count = outside.half_points - outside.odd
    half = "".join(
        "i" * (n > 0 and rank < inner_count) + "o" * (rank < outer_count)
        for n, rank in enumerate(RANKS)
    )
    middle = {(True, True): "im", (False, True): "m", (True, False): "i", (False, False): ""}[
        inside.odd, outside.odd
    ]
    return half + middle + half[::-1]
