# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the descriptor pool: textures and samplers by number, from memory."""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import dtype, unpack
from fixfunc.models.texture.unit.texture_rules import BLOCK, TILE, broken_rule
from fixfunc.spec.commands import CommandError
from fixfunc.spec.payloads import TRANSFER
from fixfunc.spec.textures.cache import LINE, StoredFormat
from fixfunc.spec.textures.cube import FACES
from fixfunc.spec.textures.descriptors import DESCRIPTOR, STRIDE, Refusal
from fixfunc.spec.textures.unit import LAST_CUBE, NO_FORMAT, TEXTURE_STATE

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
    formats : collection of StoredFormat
        Known ones.
    extent : int
        log2 of the greatest width and height.
    anisotropy : int
        Most samples along a footprint that there may be.
    size : int
        Most descriptors.
    layers : bool
        Textures may be arrays.
    cubes : bool
        Textures may be cubes.
    coded : bool
        Textures may be coded surfaces.
    linear : bool
        Textures may lie as rows of texels.
    unreadable : int, optional
        A byte whose transfer cannot be read.

    Source: [trip 4].
    """

    def __init__(
        self,
        memory: np.ndarray,
        formats: Collection[StoredFormat],
        extent: int,
        anisotropy: int,
        size: int,
        layers: bool = True,
        cubes: bool = True,
        coded: bool = False,
        linear: bool = False,
        unreadable: int | None = None,
    ) -> None:
        self._memory = memory
        self._formats = formats
        self._extent = extent
        self._anisotropy = anisotropy
        self._size = size
        self._layers = layers
        self._cubes = cubes
        self._coded = coded
        self._linear = linear
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
            last = int(record["last_layer"])
            if (last > 0 and not self._layers) or not self._is_cube_known(record):
                return Selected(_empty(), Refusal.STATE)
            if (record["coded"] and not self._coded) or (record["linear"] and not self._linear):
                return Selected(_empty(), Refusal.STATE)
            if record["cube"]:
                last = FACES * last + FACES - 1
            if record["coded"]:
                last = (int(record["height"]) - 1) // TILE
            if record["linear"]:
                last = (int(record["height"]) - 1) | (BLOCK - 1)  # of a block all rows are read
            span = last * int(record["distance"])
            rules = self._formats, self._extent, self._anisotropy, self._limit, span
            if broken := broken_rule(record, *rules):
                return Selected(_empty(), BROKEN[broken])
            state = np.zeros((), TEXTURE)
            for name in record.dtype.names:
                state[name] = record[name]
            state["distance"] *= self._layers
            for name in ("mode_table", "cleared"):
                state[name] *= self._coded
            self._known[number] = state
        return Selected(self._known[number], None)

    def _is_cube_known(self, record):
        """A texture is no cube, or one that there may be: faces are square."""
        fits = record["width"] == record["height"] and record["last_layer"] <= LAST_CUBE
        return not record["cube"] or (self._cubes and fits)

    def _readable(self, first):
        broken = self._unreadable is not None and first <= self._unreadable < first + BYTES
        return first + BYTES <= len(self._memory) and not broken


def _empty():
    state = np.zeros((), TEXTURE)
    state["width"] = state["height"] = 1
    state["format"] = NO_FORMAT
    return state
