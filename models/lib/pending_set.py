# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the pending set."""

from collections.abc import Sequence


class PendingSet:
    """Keys of what is in flight."""

    def __init__(self, places: int, bits: int, lookups: Sequence[slice] = (slice(None),)) -> None:
        self.keys = set()
        self._masks = [sum(1 << n for n in range(bits)[compared]) for compared in lookups]
        self._shifts = [range(bits)[compared].start for compared in lookups]
        self._places = places

    @property
    def available(self) -> int:
        """There is a place."""
        return int(len(self.keys) < self._places)

    def step(
        self, insert: int, key: int, remove: int, removed: int, **lookups: int
    ) -> dict[str, int]:
        """One clock: whether each ``lookup_<n>`` is that of a pending key; ``available``."""
        outputs = {}
        for name, lookup in lookups.items():
            n = int(name.removeprefix("lookup_"))
            found = {key & self._masks[n] for key in self.keys}
            outputs[f"pending_{n}"] = int(lookup << self._shifts[n] in found)
        outputs["available"] = self.available
        if remove:
            self.keys.discard(removed)
        if insert:
            self.keys.add(key)
        return outputs
