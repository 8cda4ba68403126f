# SPDX-License-Identifier: BSD-2-Clause
"""Tag arrays of a cache with sets: which keys hit, of many lookups at a time."""

import numpy as np


class TagArray:
    """Keys of lines on chip; of each set the least recently used one is the victim.

    Parameters
    ----------
    sets, ways : int

    Attributes
    ----------
    sets : int

    A set is a stack of its keys, most recently used first. A lookup that is not found above a place
    of the stack moves there what was one place higher; any other leaves it as it is. So the content
    of a place, behind every lookup, is that of the place above before the last such lookup: one
    pass a way over all lookups at once, and none over lookups one by one.
    """

    def __init__(self, sets: int, ways: int) -> None:
        # Keys are positive: those below zero stand for places that are empty.
        self.sets = sets
        self._held = np.tile(-1 - np.arange(ways), (sets, 1))

    def look_up(self, number: np.ndarray, key: np.ndarray) -> np.ndarray:
        """Look up keys one after the other; those that miss are held from then on.

        Parameters
        ----------
        number : ndarray of int64, shape (n,)
            The set of each.
        key : ndarray of int64, shape (n,)
            0 or more.

        Returns
        -------
        ndarray of bool, shape (n,)
            Which of them missed.
        """
        used = np.flatnonzero(np.bincount(number, minlength=len(self._held)))
        ways = self._held.shape[1]
        # What is held comes first, as if it were looked up, the oldest first.
        number = np.concatenate([np.repeat(used, ways), number])
        key = np.concatenate([self._held[used, ::-1].reshape(-1), key])
        order = np.argsort(number.astype(np.int32), kind="stable")
        key = key[order]
        place = np.arange(len(key))
        begins = np.diff(number[order], prepend=-1) != 0
        ends = np.append(np.flatnonzero(begins)[1:], len(key))[: len(used)] - 1
        content = key
        found = np.zeros(len(key), bool)
        for way in range(ways):
            self._held[used, way] = content[ends]
            above = np.where(begins, -1 - ways, np.roll(content, 1))
            found |= above == key
            content = above[np.maximum.accumulate(np.where(found, 0, place))]
        missed = np.empty(len(key), bool)
        missed[order] = ~found
        return missed[len(used) * ways :]
