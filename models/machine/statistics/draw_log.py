# SPDX-License-Identifier: BSD-2-Clause
"""The latest draws of a machine: what was counted of each, and why nothing was drawn."""

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

from fixfunc.models.machine.back_state import BackState
from fixfunc.models.machine.statistics import reasons

MOST = 1024  # draws that are kept


class DrawStatistics(NamedTuple):
    """A draw, and what became of its primitives and samples.

    ``str`` of it is a line: its number, its triangles, the samples that colours and depths took,
    and why these are none.
    """

    number: int  # of the machine's draws, from 0 on
    counts: Mapping[str, int]  # by the names of docs/machine/host.md; what is not there is 0
    state: BackState | None  # None: a predicate left the draw out

    @property
    def reason(self) -> str:
        """Why nothing was drawn, in words: see :func:`reasons.reason`; else empty."""
        return reasons.reason(self.counts, self.state)

    def __str__(self) -> str:
        coloured, deep = (self.counts[f"samples_{it}"] for it in ("coloured", "in_depths"))
        line = (
            f"draw {self.number}: {self.counts['triangles']} triangles, "
            f"samples: {coloured} in colours, {deep} in depths"
        )
        return f"{line}; {self.reason}" if self.reason else line


class DrawLog:
    """Draws in order, of which the latest are kept.

    Attributes
    ----------
    latest : deque of DrawStatistics
        At most :data:`MOST`.
    """

    def __init__(self) -> None:
        self.latest: deque[DrawStatistics] = deque(maxlen=MOST)

    def add(self, counts: Mapping[str, int], state: BackState | None) -> None:
        """Note a draw that has been made, or left out."""
        number = self.latest[-1].number + 1 if self.latest else 0
        self.latest.append(DrawStatistics(number, counts, state))

    def saved(self) -> tuple[DrawStatistics, ...]:
        """What is kept."""
        return tuple(self.latest)

    def restore(self, saved: tuple[DrawStatistics, ...]) -> None:
        """Forget what has been noted since."""
        self.latest.clear()
        self.latest.extend(saved)
