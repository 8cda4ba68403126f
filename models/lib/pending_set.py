# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the pending set."""


class PendingSet:
    """Keys of what is in flight."""

    def __init__(self, places: int) -> None:
        self.keys = set()
        self._places = places

    @property
    def available(self) -> int:
        """There is a place."""
        return int(len(self.keys) < self._places)

    def step(
        self, insert: int, key: int, remove: int, removed: int, **lookups: int
    ) -> dict[str, int]:
        """One clock: whether each ``lookup_<n>`` is ``pending_<n>``; ``available``."""
        outputs = {
            name.replace("lookup", "pending"): int(lookup in self.keys)
            for name, lookup in lookups.items()
        }
        outputs["available"] = self.available
        if remove:
            self.keys.discard(removed)
        if insert:
            self.keys.add(key)
        return outputs
