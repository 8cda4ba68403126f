# SPDX-License-Identifier: BSD-2-Clause
"""Warps whose threads go different ways: masks of lanes, and the instructions they cost."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError


@dataclass(frozen=True)
class Straight:
    """Instructions without a branch."""

    instructions: int

    def __post_init__(self):
        integer("instructions", self.instructions, 0, 1 << 30)


@dataclass(frozen=True)
class Branch:
    """Threads go one way where their condition holds, and the other way where it does not."""

    condition: str
    then: tuple = ()
    otherwise: tuple = ()


@dataclass(frozen=True)
class Loop:
    """Threads execute a body as often as their count says."""

    count: str
    body: tuple = ()


Program = tuple[Straight | Branch | Loop, ...]


@dataclass(frozen=True)
class Execution:
    """What warps have issued.

    Parameters
    ----------
    issued : ndarray of int64, shape (warps,)
        Instructions of each warp.
    active : ndarray of int64, shape (warps,)
        Instructions of each warp's threads, all of them together.
    lanes : int
    """

    issued: np.ndarray
    active: np.ndarray
    lanes: int

    @property
    def efficiency(self) -> float:
        """Share of the lanes' slots in which a thread is active; 1 of nothing."""
        slots = int(self.issued.sum()) * self.lanes
        return int(self.active.sum()) / slots if slots else 1.0


def execute(program: Program, values: Mapping[str, np.ndarray], mask: np.ndarray) -> Execution:
    """Execute a program by warps in lock step.

    A way that no thread of a warp goes costs nothing; one that some go is issued for all, with the
    others masked. A loop ends with the thread that stays the longest.

    Parameters
    ----------
    program : tuple of Straight, Branch, Loop
    values : mapping of str to ndarray, shape (warps, lanes)
        Conditions, bool, and counts, integers of 0 or more, by name.
    mask : ndarray of bool, shape (warps, lanes)
        Lanes that have a thread.

    Raises
    ------
    InputError
        A name without values, values of another shape, or a count below 0.
    """
    mask = np.asarray(mask, bool)
    issued = np.zeros(len(mask), np.int64)
    active = np.zeros(len(mask), np.int64)
    _run(program, values, mask, issued, active)
    return Execution(issued, active, mask.shape[1])


def _run(program, values, mask, issued, active):
    for node in program:
        if isinstance(node, Straight):
            issued += node.instructions * mask.any(1)
            active += node.instructions * mask.sum(1)
        elif isinstance(node, Branch):
            holds = _values(values, node.condition, mask).astype(bool)
            _run(node.then, values, mask & holds, issued, active)
            _run(node.otherwise, values, mask & ~holds, issued, active)
        elif isinstance(node, Loop):
            left = np.where(mask, _values(values, node.count, mask), 0)
            if left.min(initial=0) < 0:
                raise InputError(node.count, "be at least 0", int(left.min()))
            while left.any():
                _run(node.body, values, left > 0, issued, active)
                left = np.maximum(left - 1, 0)
        else:
            raise InputError("program", "be of Straight, Branch and Loop", node)


def _values(values, name, mask):
    if name not in values:
        raise InputError("values", f"have {name}", ", ".join(values))
    found = np.asarray(values[name])
    if found.shape != mask.shape:
        raise InputError(name, f"have shape {mask.shape}", found.shape)
    return found
