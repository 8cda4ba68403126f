# SPDX-License-Identifier: BSD-2-Clause
"""Rays through a tree of boxes, alone or gathered: nodes that are fetched [rtr 23.11]."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from fixfunc.models.architecture.ray_boxes import BOX, FAR, check_boxes, hits, reduced
from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError

CELLS = 4  # bits of the cell of an origin, on each axis


@dataclass(frozen=True)
class BoxTree:
    """A complete binary tree: a box encloses those of its two children.

    Parameters
    ----------
    levels : tuple of ndarray of BOX
        From the root down, as nodes hold them: level n has 2^n boxes, and the children of number k
        are 2k and 2k + 1.
    order : ndarray of int64, shape (leaves,)
        Which of the given boxes each leaf is.
    """

    levels: tuple[np.ndarray, ...]
    order: np.ndarray

    @classmethod
    def of(cls, boxes: np.ndarray, bits: int = 16) -> Self:
        """A tree of boxes, whose neighbours are in Morton order of their centres.

        Parameters
        ----------
        boxes : ndarray of BOX, shape (leaves,)
            A power of two of them.
        bits : int
            Of each side of a box in its node: see
            :func:`~fixfunc.models.architecture.ray_boxes.reduced`.
        """
        check_boxes(boxes)
        if boxes.ndim != 1 or not len(boxes) or len(boxes) & len(boxes) - 1:
            raise InputError("boxes", "be a power of two", boxes.shape)
        order = np.argsort(interleaved((boxes["low"] + boxes["high"]) // 2, 17), kind="stable")
        exact = [boxes[order]]
        while len(exact[0]) > 1:
            pairs = exact[0].reshape(-1, 2)
            parents = np.empty(len(pairs), BOX)
            parents["low"] = pairs["low"].min(1)
            parents["high"] = pairs["high"].max(1)
            exact.insert(0, parents)
        levels = [exact[0]]
        for children in exact[1:]:
            levels.append(reduced(children, np.repeat(levels[-1], 2), bits))
        return cls(tuple(levels), order)

    def tested(self, rays: np.ndarray, bits: int = 12) -> tuple[np.ndarray, np.ndarray]:
        """Nodes that are tested for each ray, and leaves that it may meet.

        A child is tested for the rays that meet its parent.

        Parameters
        ----------
        rays : ndarray of RAY, shape (n,)
        bits : int
            Of the reciprocals.

        Returns
        -------
        tested : ndarray of bool, shape (n, nodes)
            Level by level, from the root.
        met : ndarray of bool, shape (n, leaves)
            By the numbers of the given boxes.
        """
        reached = np.ones((len(rays), 1), bool)
        tested = []
        for level in self.levels:
            tested.append(reached)
            met = np.zeros(reached.shape, bool)
            ray, node = np.nonzero(reached)
            met[ray, node] = hits(rays[ray], level[node], bits)
            reached = np.repeat(met, 2, axis=1)
        found = np.empty_like(met)
        found[:, self.order] = met
        return np.concatenate(tested, axis=1), found


def interleaved(values: np.ndarray, bits: int) -> np.ndarray:
    """Morton order in three dimensions: bits of x, y and z in turn, x lowest; int64.

    Parameters
    ----------
    values : ndarray of int64, shape (n, 3)
        0 or more, of so many bits, at most 21.
    """
    found = np.zeros(len(values), np.int64)
    for bit in range(bits):
        for axis in range(3):
            found |= (values[:, axis] >> bit & 1) << 3 * bit + axis
    return found


def gathered(rays: np.ndarray) -> np.ndarray:
    """An order of rays in which neighbours go alike: int64, shape (n,).

    First by the signs of the direction, then by the cell of the origin, then by the direction
    itself, to an eighth of its longest component; cells and directions in Morton order. Rays that
    are alike in all stay in order.

    Parameters
    ----------
    rays : ndarray of RAY, shape (n,)
    """
    direction = np.abs(rays["direction"])
    signs = interleaved((rays["direction"] < 0).astype(np.int64), 1)
    cells = (rays["origin"] + FAR) * (1 << CELLS) // (2 * FAR + 1)
    ways = direction * 8 // direction.max(1, keepdims=True)
    return np.lexsort((interleaved(ways, 4), interleaved(cells, CELLS), signs))


def fetches(tested: np.ndarray, order: np.ndarray, packet: int) -> int:
    """Nodes that are fetched, where the rays of a packet share what they fetch.

    Parameters
    ----------
    tested : ndarray of bool, shape (n, nodes)
    order : ndarray of int, shape (n,)
        In which rays come.
    packet : int
        Rays that are taken together, 1 or more.
    """
    integer("packet", packet, 1, 1 << 20)
    begins = np.arange(0, len(order), packet)
    if not len(begins):
        return 0
    return int(np.logical_or.reduceat(tested[order], begins).sum())
