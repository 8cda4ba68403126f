# SPDX-License-Identifier: BSD-2-Clause
"""State slots: pieces of state that work in flight still needs, beside newer ones."""

from collections import deque

from fixfunc.models.payload import integer
from fixfunc.spec.ring import STATE_KINDS, Strategy

POOL = 32  # slots of a kind


class StateSlots:
    """Slots of every kind of state: work holds those that it began with until it is over.

    Parameters
    ----------
    strategy : Strategy
        FLUSH has one slot of a kind, TWO has two, POOL as many as ``pool``.
    pool : int
        2..1024.

    Attributes
    ----------
    current : list of int
        The slot of each kind for work from now on; -1 before the first.
    flushes : int
        Changes that had to wait for work.
    """

    def __init__(self, strategy: Strategy = Strategy.POOL, pool: int = POOL) -> None:
        integer("pool", pool, 2, 1024)
        count = {Strategy.FLUSH: 1, Strategy.TWO: 2, Strategy.POOL: pool}[strategy]
        self.current = [-1] * STATE_KINDS
        self.flushes = 0
        self._free = [deque(range(count)) for _ in range(STATE_KINDS)]
        self._users = [[0] * count for _ in range(STATE_KINDS)]
        self._values = [[b""] * count for _ in range(STATE_KINDS)]
        self._waits = False

    def change(self, kind: int, value: bytes) -> bool:
        """Put a piece of state into a free slot; False if none is, and nothing has changed.

        A slot is free if no work uses it and it is not the current one; the current one is free,
        too, if no work uses it.
        """
        old = self.current[kind]
        if old >= 0 and not self._users[kind][old]:
            self._values[kind][old] = value
            self._waits = False
            return True
        if not self._free[kind]:
            self.flushes += not self._waits
            self._waits = True
            return False
        self.current[kind] = self._free[kind].popleft()
        self._values[kind][self.current[kind]] = value
        self._waits = False
        return True

    def hold(self) -> tuple[int, ...]:
        """Slots for a piece of work: they keep their values until it is over."""
        for kind, slot in enumerate(self.current):
            if slot >= 0:
                self._users[kind][slot] += 1
        return tuple(self.current)

    def release(self, slots: tuple[int, ...]) -> None:
        """A piece of work is over."""
        for kind, slot in enumerate(slots):
            if slot >= 0:
                self._users[kind][slot] -= 1
                if not self._users[kind][slot] and slot != self.current[kind]:
                    self._free[kind].append(slot)

    def value(self, kind: int, slot: int) -> bytes:
        """What a slot holds."""
        return self._values[kind][slot]
