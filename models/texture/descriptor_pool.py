# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the descriptor pool: textures and samplers by number, from memory."""

from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import dtype, unpack
from fixfunc.models.texture.unit.texture_rules import TextureRules
from fixfunc.spec.commands import CommandError
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.textures.cache import LINE
from fixfunc.spec.textures.descriptors import DESCRIPTOR, STRIDE, Refusal
from fixfunc.spec.textures.unit import NO_FORMAT, TEXTURE_STATE

TEXTURE = dtype((TEXTURE_STATE[0], *DESCRIPTOR))
BYTES = 3 * TRANSFER // 8  # of a descriptor that are read
BROKEN = {CommandError.STATE: Refusal.STATE, CommandError.ADDRESS: Refusal.ADDRESS}


class Selected(NamedTuple):
    """What a number stands for."""

    state: np.void  # fields of TEXTURE_STATE, ARRAY_STATE and EXTENDED
    refusal: Refusal | None


class DescriptorPool:
    """Descriptors of textures, each read from memory once.

    Parameters
    ----------
    memory : ndarray of uint8
        Reads beyond its end fail.
    rules : TextureRules
        What textures there may be; others are refused.
    size : int
        Most descriptors.
    unreadable : int, optional
        A byte whose transfer cannot be read.

    Source: [trip 4].
    """

    def __init__(
        self,
        memory: np.ndarray,
        rules: TextureRules,
        size: int,
        unreadable: int | None = None,
    ) -> None:
        self._memory = memory
        self._rules = rules
        self._size = size
        self._unreadable = unreadable
        self.place(base=0, count=0, limit=0)

    def place(self, base: int, count: int, limit: int) -> None:
        """The pool lies elsewhere, or has changed: nothing of it is on chip.

        Parameters
        ----------
        base : int
            Address of descriptor 0, in 128 bytes.
        count : int
            Its descriptors.
        limit : int
            Levels lie below this address, in 64 bytes.
        """
        self._base = base * STRIDE
        self._count = min(count, self._size)
        self._limit = limit * LINE
        self._known = {}

    def select(self, number: int) -> Selected:
        """The texture state of a descriptor; that of a refused one reads no texel."""
        if number >= self._count:
            return Selected(_empty(), Refusal.NUMBER)
        if number not in self._known:
            first = self._base + number * STRIDE
            if not self._readable(first):
                return Selected(_empty(), Refusal.MEMORY)
            data = self._memory[first : first + BYTES]
            record = unpack(data.reshape(1, -1), DESCRIPTOR)[0]
            if broken := self._rules.broken(record, self._limit):
                return Selected(_empty(), BROKEN[broken])
            state = np.zeros((), TEXTURE)
            for name in record.dtype.names:
                state[name] = record[name]
            state["distance"] *= self._rules.layers
            for name in ("mode_table", "cleared"):
                state[name] *= self._rules.coded
            self._known[number] = state
        return Selected(self._known[number], None)

    def _readable(self, first):
        broken = self._unreadable is not None and first <= self._unreadable < first + BYTES
        return first + BYTES <= len(self._memory) and not broken


def _empty():
    state = np.zeros((), TEXTURE)
    state["width"] = state["height"] = 1
    state["format"] = NO_FORMAT
    return state
