# SPDX-License-Identifier: BSD-2-Clause
"""What a piece of work has changed, so that one that fails changes nothing."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from fixfunc.models.machine.statistics.draw_log import DrawStatistics


class Saved(NamedTuple):
    """What several pieces of work may change, so that all of them can be undone."""

    totals: dict[str, int]
    skips: bool
    memory: dict[int, np.ndarray]  # uint8, by address
    draws: tuple[DrawStatistics, ...]


class UndoLog:
    """How to bring back what was there before a piece of work.

    What writes tells it before; what fails is undone from the last entry to the first.
    """

    def __init__(self) -> None:
        self._known: set = set()
        self._restores: list[Callable[[], object]] = []

    def begin(self) -> None:
        """Forget what was before: from here on it is another piece of work."""
        self._known.clear()
        self._restores.clear()

    def is_first(self, key: object) -> bool:
        """Whether something is told for the first time in this piece of work."""
        is_first = key not in self._known
        self._known.add(key)
        return is_first

    def add(self, restore: Callable[[], object]) -> None:
        """Tell how to bring something back."""
        self._restores.append(restore)

    def keep(self, array: np.ndarray) -> None:
        """Keep a copy of an array that is going to be written in place."""
        if self.is_first((array.__array_interface__["data"][0], array.shape)):
            self.add(partial(np.copyto, array, array.copy()))

    def roll_back(self) -> None:
        """Bring everything back."""
        for restore in reversed(self._restores):
            restore()
        self.begin()
