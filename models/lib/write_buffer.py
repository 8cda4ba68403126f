# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the write buffer."""

from collections import deque


class WriteBuffer:
    """Rows, each of which is committed in the clock after its push, or forgotten."""

    LATENCY = 2  # clocks from a commit to the stream

    def __init__(self, depth: int) -> None:
        self.pushed = None  # the row of the clock before
        self._rows = deque()  # (row, first clock in which it can be seen)
        self._depth = depth
        self._clock = 0

    @property
    def level(self) -> int:
        """Committed rows that have not moved."""
        return len(self._rows)

    @property
    def available(self) -> int:
        """A row may be pushed, be the one before it committed or not."""
        return int(self.level + 1 < self._depth)

    def step(self, push: int, i: int, commit: int, ready: int) -> dict[str, int]:
        """One clock: ``available``, ``valid``, and the ``payload`` if it is valid."""
        valid = bool(self._rows) and self._rows[0][1] <= self._clock
        outputs = {"available": self.available, "valid": int(valid)}
        if valid:
            outputs["payload"] = self._rows[0][0]
            if ready:
                self._rows.popleft()
        if commit:
            self._rows.append((self.pushed, self._clock + self.LATENCY))
        self.pushed = i if push else None
        self._clock += 1
        return outputs
