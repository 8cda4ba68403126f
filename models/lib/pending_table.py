# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the pending table."""


class PendingTable:
    """Keys of what is in flight, and what was last asked for.

    Parameters
    ----------
    rows, columns : int
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.keys = set()
        self._columns = columns
        self._sweep = rows  # clocks until it is ready
        self._removed = None  # it is still pending in the clock after its removal
        self._looked_up = 0, 0

    def step(
        self, lookup: int, lookup_0: int, lookup_1: int, insert: int, remove: int, removed: int
    ) -> dict[str, int]:
        """One clock: :meth:`said`, before what this clock brings."""
        outputs = self.said()
        self._sweep -= self._sweep > 0
        self.keys.discard(self._removed)
        self._removed = removed if remove else None
        if insert:
            self.keys.add(self._looked_up[1])
        if lookup:
            self._looked_up = lookup_0, lookup_1
        return outputs

    def said(self) -> dict[str, int]:
        """What is said of the two keys that were looked up last; ``ready``."""
        outputs = {"ready": int(not self._sweep)}
        rows = {key // self._columns for key in self.keys}
        for n, key in enumerate(self._looked_up):
            outputs[f"pending_{n}"] = int(key in self.keys)
            outputs[f"any_{n}"] = int(key // self._columns in rows)
        return outputs
