# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the scoreboard."""

from collections import Counter, deque


class Scoreboard:
    """Counts of what is in flight, by key, one of which is watched.

    Parameters
    ----------
    threshold : int
        ``above`` tells that more are in flight to the watched key.
    """

    SETTLED = 2  # clocks before events are in the settled counts

    def __init__(self, threshold: int = 0) -> None:
        self.in_flight = Counter()
        self.watched = 0
        self._threshold = threshold
        self._history = deque([Counter()] * self.SETTLED)

    def step(
        self,
        increment: int,
        increment_key: int,
        decrement: int,
        decrement_key: int,
        lookup: int,
        lookup_key: int,
    ) -> dict[str, int]:
        """One clock: ``above`` of the key watched so far, ``settled`` of ``lookup_key``."""
        outputs = {
            "above": int(self.in_flight[self.watched] > self._threshold),
            "settled": self._history[0][lookup_key],
        }
        self.in_flight[increment_key] += increment
        self.in_flight[decrement_key] -= decrement
        if lookup:
            self.watched = lookup_key
        self._history.popleft()
        self._history.append(self.in_flight.copy())
        return outputs
