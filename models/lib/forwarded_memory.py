# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the forwarded memory: rows are up to date at once."""

from collections import deque

import numpy as np


class ForwardedMemory:
    """Rows that are read, modified and written every clock.

    Parameters
    ----------
    depth : int
        Rows.
    latency, write_delay : int
        Clocks from an operation to its row; from a result to the row that read ports see.
    fill_latency : int
        Clocks from an operation to its fill.
    """

    def __init__(self, depth: int, latency: int, write_delay: int, fill_latency: int) -> None:
        self.rows = np.zeros(depth, np.int64)  # with every result so far
        self._memory = np.zeros(depth, np.int64)  # without those on their way
        self._latency = latency
        self._fill_latency = fill_latency
        self._operations = deque({"valid": 0, "address": 0} for _ in range(latency))
        self._writes = deque([None] * write_delay)
        self._written = 0
        self._read = 0

    @property
    def operation(self) -> dict:
        """The operation whose row is ``value`` in this clock: ``valid``, ``address``."""
        return self._operations[0]

    @property
    def value(self) -> int:
        """Its row."""
        return self._row(self._operations[0])

    def _row(self, operation):
        return int(operation.get("filled", self.rows[operation["address"]]))

    def step(
        self,
        valid: int,
        address: int,
        result: int,
        fill: int = 0,
        filled: int = 0,
        read_address: int = 0,
    ) -> dict[str, int]:
        """One clock: ``value`` and ``replaced``, its row without a fill, if it is of an operation;
        ``written``; ``read`` of a read port; ``early``, ``repeat`` of the operation behind that.
        """
        outputs = {"written": self._written, "read": self._read}
        following = self._operations[1]
        outputs["repeat"] = int(
            bool(self.operation["valid"])
            and self.operation["address"] == following["address"]
            and "filled" not in following
        )
        outputs["early"] = self._row(following)
        if self.operation["valid"]:
            outputs["value"] = self.value
            outputs["replaced"] = int(self.rows[self.operation["address"]])

        self._read = int(self._memory[read_address])
        done = self._operations.popleft()
        self._writes.append((done["address"], result) if done["valid"] else None)
        if done["valid"]:
            self.rows[done["address"]] = result
        write = self._writes.popleft()
        if write:
            self._memory[write[0]] = write[1]
        self._written = result
        self._operations.append({"valid": valid, "address": address})
        if fill:
            self._operations[-1 - self._fill_latency]["filled"] = filled
        return outputs
