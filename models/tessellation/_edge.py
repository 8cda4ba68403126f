# SPDX-License-Identifier: BSD-2-Clause
"""Points along an edge of a patch, in 16.16 fixed point."""

from dataclasses import dataclass

import numpy as np

ONE = 1 << 16
HALF_POINTS = 33  # most points of half an edge, its middle left out


def newest(count):
    """Index of the point that half an edge of so many points gets next: the halves of a binary tree, from the edge's end on."""
    return ((count ^ 1 << count.bit_length() - 1) << 1) + 1


def _ranks():
    ranks = [0]
    for count in range(1, HALF_POINTS):
        ranks.insert(newest(count), count)
    return tuple(ranks)


RANKS = _ranks()  # of every possible point of half an edge: how many came before it


@dataclass(frozen=True)
class Edge:
    """An edge divided by a factor.

    A factor between two whole ones puts the points of the smaller number of segments and of the greater one, which has one
    point more in each half, together and moves them from the one place to the other.

    Parameters
    ----------
    factor : int
        16.16, as :func:`fixfunc.models.tessellation.tessellator.tessellate` rounds and cuts it.
    odd : bool
        An odd number of segments: no point lies in the middle.
    """

    factor: int
    odd: bool

    @property
    def _half(self):
        """Half the segments, 16.16; of an odd number half a segment counts as a whole one."""
        half = self.factor + 1 >> 1
        return half + ONE // 2 if self.odd or half == ONE // 2 else half

    @property
    def half_points(self):
        """Points of half the edge, its middle left out."""
        return -(-self._half // ONE)

    @property
    def count(self):
        """Points of the edge, with both ends."""
        return 2 * self.half_points + (not self.odd)

    @property
    def places(self):
        """Where its points lie: 1.16, ndarray of int64, shape (count,); u and 1 - u are exact complements."""
        fewer, share = divmod(self._half, ONE)
        after = np.arange(self.half_points)
        halves = fewer - self.odd  # of the smaller number of segments: points of a half, the first not counted
        before = after - (after > (newest(halves) if halves else 0)) if share else after
        near = before * _step(2 * fewer - self.odd) * (ONE - share) + after * _step(2 * self.half_points - self.odd) * share + ONE // 2 >> 16
        return np.concatenate([near, [] if self.odd else [ONE // 2], ONE - near[::-1]]).astype(np.int64)


def _step(segments):
    """One of so many segments, 0.16, rounded."""
    return (2 * ONE + segments) // (2 * segments)


STEPS = {  # a triangle of a strip between points o, o+1, ... outside and i, i+1, ... inside; and on which side one goes on
    "o": (("o", 0), ("o", 1), ("i", 0)), "m": (("i", 0), ("o", 0), ("o", 1)),
    "i": (("i", 0), ("o", 0), ("i", 1)), "a": (("o", 0), ("i", 1), ("i", 0)),
}
OUTSIDE = "om"


def triangles(steps, outside, inside):
    """The triangles of a strip: list of (a, b, c), from the points of its two sides."""
    sides, at, found = {"o": outside, "i": inside}, {"o": 0, "i": 0}, []
    for step in steps:
        found.append(tuple(sides[side][at[side] + further] for side, further in STEPS[step]))
        at["o" if step in OUTSIDE else "i"] += 1
    return found


def even_strip(segments):
    """Steps between two edges of the same division, the inner one of so many segments, the outer one of two more."""
    return "o" + "ao" * (segments - segments // 2) + "mi" * (segments // 2) + "o"


def strip(inside, outside):
    """Steps between two edges that divide the same length differently.

    Parameters
    ----------
    inside, outside : Edge

    Returns
    -------
    str
        Steps, as of :data:`STEPS`: those of each half come in the order of the ranks of their points, those of the second
        mirror those of the first.
    """
    within, without = (edge.half_points - edge.odd for edge in (inside, outside))
    half = "".join("i" * (n > 0 and rank < within) + "o" * (rank < without) for n, rank in enumerate(RANKS))
    middle = {(True, True): "im", (False, True): "m", (True, False): "i", (False, False): ""}[inside.odd, outside.odd]
    return half + middle + half[::-1]
