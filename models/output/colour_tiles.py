# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of colours on chip, raw or coded in memory."""

from typing import Self

import numpy as np

from fixfunc.models.depth.cached_tiles import RawTile
from fixfunc.models.depth.compression.codes import Coding
from fixfunc.models.memory.sample_grids import EDGE
from fixfunc.models.output import colour_compression
from fixfunc.models.output.colour_coder import encode
from fixfunc.models.output.colour_decoder import decode
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TileMode

CHANNEL = np.dtype(np.uint8)
DEPTH = colour_compression.DEPTHS[CHANNEL]


class ColourTile(RawTile):
    """Colours of 32 bits, lowest byte first; raw in memory, or as it was cleared."""

    TYPE = np.dtype("<u4")


class CodedColourTile(ColourTile):
    """The same of 8 by 8 samples, by a palette or by differences where that takes fewer bytes."""

    @staticmethod
    def check(_coding: Coding, edge: int) -> None:
        """Raise :class:`~fixfunc.spec.errors.InputError` if no tiles of an edge are coded."""
        if edge != EDGE:
            raise InputError("edge", f"be {EDGE} where colours are coded by differences", edge)

    @classmethod
    def size(cls, mode: int, edge: int) -> int:
        """Bytes moved, in transfers of 32."""
        if mode == TileMode.RAW:
            return super().size(mode, edge)
        return colour_compression.size(mode, DEPTH)

    @classmethod
    def load(
        cls, mode: int, data: bytes, samples: int, cleared: int, edge: int, coding: Coding
    ) -> Self:
        """The tile that :meth:`encode` put into memory.

        :class:`~fixfunc.spec.errors.InputError` if it cannot be one.
        """
        if mode in (TileMode.CLEARED, TileMode.RAW):
            return super().load(mode, data, samples, cleared, edge, coding)
        row = np.zeros((1, cls.size(TileMode.RAW, edge)), CHANNEL)
        row[0, : len(data)] = np.frombuffer(data, CHANNEL)
        colour = np.array([cleared], cls.TYPE).view(CHANNEL)
        found = decode(np.array([mode]), row, samples, colour)
        if found.wrong[0]:
            raise InputError("tile in memory", f"be one of mode {int(mode)}", bytes(data).hex())
        return cls(found.tiles.view(cls.TYPE).reshape(edge, edge))

    @classmethod
    def encode(cls, tiles: list, samples: int, cleared: int | None, _coding: Coding) -> list:
        """Mode and bytes of each tile, as it goes to memory."""
        if not tiles:
            return []
        values = np.stack([tile.values for tile in tiles]).astype(cls.TYPE)
        colour = None if cleared is None else np.array([cleared], cls.TYPE).view(CHANNEL)
        modes, data = encode(values[..., None].view(CHANNEL), samples, colour)
        return [
            (mode, row[: cls.size(mode, EDGE)].tobytes())
            for mode, row in zip(map(TileMode, modes), data, strict=True)
        ]
