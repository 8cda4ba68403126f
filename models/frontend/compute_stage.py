# SPDX-License-Identifier: BSD-2-Clause
"""Compute stage: a port to a shader that takes thread groups in waves of 32."""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

import numpy as np

from fixfunc.models.annotations import check_types
from fixfunc.models.frontend.vertex_stage import LANES
from fixfunc.models.frontend.work_distributor import MOST_GROUPS
from fixfunc.models.payload import integer

MOST_THREADS = 1024  # of a group [fs 18.6.4]
MOST_ALONG = (1024, 1024, 64)  # of a group, along each axis
PART = 1 << 20  # threads that are given away at a time


class ComputeWaves(NamedTuple):
    """Waves of thread groups, in API order: a group's threads fill waves of their own."""

    group: np.ndarray  # uint32, shape (w, 3): SV_GroupID
    thread: np.ndarray  # uint32, shape (w, 32, 3): SV_GroupThreadID
    index: np.ndarray  # uint32, shape (w, 32): SV_GroupIndex
    mask: np.ndarray  # bool, shape (w, 32)
    threads: tuple[int, int, int]  # of a group

    @property
    def dispatched(self) -> np.ndarray:
        """SV_DispatchThreadID: uint32, shape (w, 32, 3)."""
        return self.group[:, None] * np.array(self.threads, np.uint32) + self.thread


@dataclass(frozen=True)
class ComputeShader:
    """A compute shader and what it declares [fs 18].

    Parameters
    ----------
    function : callable
        Takes :class:`ComputeWaves`, and writes to what is bound for unordered access.
    threads : (int, int, int)
        Of a group.

    Raises
    ------
    InputError
        More than 1024 threads, or more than 1024, 1024, 64 along an axis.
    """

    function: Callable[..., object]
    threads: tuple[int, int, int] = (32, 1, 1)

    def __post_init__(self):
        check_types(self)
        for axis, count, most in zip("xyz", self.threads, MOST_ALONG, strict=True):
            integer(f"threads along {axis}", count, 1, most)
        integer("threads of a group", prod(self.threads), 1, MOST_THREADS)


def dispatch(
    shader: ComputeShader,
    function: Callable[[ComputeWaves], object],
    groups: tuple[int, int, int],
) -> int:
    """Send thread groups to a shader: x fastest, then y, then z [fs 18.6].

    Parameters
    ----------
    shader : ComputeShader
    function : callable
        Its function, with what is bound to it.
    groups : (int, int, int)

    Returns
    -------
    int
        Threads: CSInvocations.

    Raises
    ------
    InputError
        More than 65535 groups along an axis.
    """
    for axis, count in zip("xyz", groups, strict=True):
        integer(f"groups along {axis}", count, 0, MOST_GROUPS)
    size = prod(shader.threads)
    waves = -(-size // LANES)
    index = np.arange(waves * LANES).reshape(waves, LANES)
    mask = index < size
    x, y, _ = shader.threads
    index = np.where(mask, index, 0)
    thread = np.stack([index % x, index // x % y, index // (x * y)], -1).astype(np.uint32)
    many = max(PART // size, 1)
    for first in range(0, prod(groups), many):
        number = np.arange(first, min(first + many, prod(groups)))
        group = np.stack(
            [number % groups[0], number // groups[0] % groups[1], number // prod(groups[:2])], -1
        )
        count = len(number)
        function(
            ComputeWaves(
                group.astype(np.uint32).repeat(waves, 0),
                np.tile(thread, (count, 1, 1)),
                np.tile(index.astype(np.uint32), (count, 1)),
                np.tile(mask, (count, 1)),
                shader.threads,
            )
        )
    return prod(groups) * size
