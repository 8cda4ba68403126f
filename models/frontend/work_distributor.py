# SPDX-License-Identifier: BSD-2-Clause
"""Work distributor: batches and thread groups to clusters of shaders, and back in order."""

from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.spec.errors import Stalled
from fixfunc.spec.state import Compare

MOST_CLUSTERS = 64
MOST_GROUPS = 65535  # of a dispatch, along an axis


class Assignment(NamedTuple):
    """A batch on a cluster."""

    ticket: int  # its place in API order
    cluster: int
    batch: Hashable


@dataclass
class Distributor:
    """Gives batches away, round robin over clusters that have room, and puts results in order.

    Parameters
    ----------
    clusters : int
        1 to 64.
    room : int
        Batches that a cluster takes at a time.
    ordered : bool
        Batches leave in the order in which they were given: see :func:`order_needed`.

    Source: [ia], [trip 7].
    """

    clusters: int
    room: int = 2
    ordered: bool = True
    _in_flight: list[deque] = field(init=False)
    _next: int = field(default=0, init=False)  # cluster that is asked first
    _tickets: int = field(default=0, init=False)
    _leaving: int = field(default=0, init=False)  # ticket that leaves next
    _finished: dict = field(default_factory=dict, init=False)

    def __post_init__(self):
        integer("clusters", self.clusters, 1, MOST_CLUSTERS)
        integer("room", self.room, 1, 1 << 16)
        self._in_flight = [deque() for _ in range(self.clusters)]

    def give(self, batch: Hashable) -> Assignment:
        """Give a batch to the next cluster with room.

        Raises
        ------
        Stalled
            No cluster has room.
        """
        for step in range(self.clusters):
            cluster = (self._next + step) % self.clusters
            if len(self._in_flight[cluster]) < self.room:
                assignment = Assignment(self._tickets, cluster, batch)
                self._in_flight[cluster].append(assignment)
                self._tickets += 1
                self._next = (cluster + 1) % self.clusters
                return assignment
        raise Stalled("no cluster has room")

    def finish(self, assignment: Assignment) -> list[Assignment]:
        """A batch is shaded; returns those that leave now, in their order.

        With ``ordered`` none leaves before all that were given before it.
        """
        self._in_flight[assignment.cluster].remove(assignment)
        if not self.ordered:
            return [assignment]
        self._finished[assignment.ticket] = assignment
        leaving = []
        while self._leaving in self._finished:
            leaving.append(self._finished.pop(self._leaving))
            self._leaving += 1
        return leaving

    @property
    def waiting(self) -> int:
        """Batches that are shaded and wait for older ones."""
        return len(self._finished)


def order_needed(
    *,
    colour_written: bool = True,
    logic_operation: bool = False,
    blend: bool = False,
    accumulates: bool = False,
    depth_test: bool = False,
    depth_write: bool = False,
    depth_compare: Compare = Compare.LESS,
    occlusion_query: bool = False,
    stencil_test: bool = False,
) -> bool:
    """Whether primitives must be drawn in API order.

    Parameters
    ----------
    colour_written : bool
        Any channel of any target.
    logic_operation, blend : bool
    accumulates : bool
        The blending is a sum, a least or a greatest value: any order gives the same.
    depth_test, depth_write : bool
    depth_compare : Compare
    occlusion_query : bool
        One is counting samples.
    stencil_test : bool
        Counts as order that is needed: the documents leave it open.

    Source: [ia]. Of colours and depths each is looked at alone, and together: a colour that is
    drawn in any order needs depths that do not choose it.
    """
    if stencil_test:
        return True
    colour = colour_written and (logic_operation or not blend or not accumulates)
    depth = depth_test and depth_write
    order_of_depth = depth and (
        depth_compare in (Compare.ALWAYS, Compare.NOT_EQUAL)
        or (occlusion_query and depth_compare not in (Compare.ALWAYS, Compare.NEVER))
    )
    # Which of two colours is added depends on the depth that was there.
    chosen = colour_written and depth and depth_compare != Compare.NEVER
    return bool(colour or order_of_depth or chosen)


def thread_groups(x: int, y: int, z: int) -> np.ndarray:
    """Thread groups of a dispatch, in their order: x runs first.

    Parameters
    ----------
    x, y, z : int
        0..65535 each; a dispatch with a zero has none.

    Returns
    -------
    ndarray of uint32, shape (x * y * z, 3)

    Raises
    ------
    InputError
        A number out of range, or more than 2^24 groups in all.
    """
    for name, count in (("x", x), ("y", y), ("z", z)):
        integer(name, count, 0, MOST_GROUPS)
    integer("x * y * z", x * y * z, 0, 1 << 24)
    number = np.arange(x * y * z)
    columns = max(x, 1)
    rows = max(y, 1)
    return np.stack(
        [number % columns, number // columns % rows, number // (columns * rows)], 1
    ).astype(np.uint32)
