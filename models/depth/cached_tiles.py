# SPDX-License-Identifier: BSD-2-Clause
"""Tiles on chip: depths, with what is known of their planes, or stencil values."""

from typing import Self

import numpy as np

from fixfunc.models.depth.compression.codes import TRANSFER, Coding, check_coding, size
from fixfunc.models.depth.compression.planes import MOST, PLANE
from fixfunc.models.depth.depth_compression import decode, encode
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TileMode


class DepthTile:
    """Depths of a tile, and the planes that give them.

    Planes are kept as few as they would be in memory, and are known only as long as they give the
    depth of every sample: so it makes no difference how often a tile goes to memory and comes back.

    Parameters
    ----------
    values : ndarray of uint32, shape (edge, edge)
    planes : list of (z0, dx, dy)
        As in :data:`fixfunc.models.depth.compression.planes.PLANE`, at most four; none, if they are
        not known.
    mask : ndarray of int, shape (edge, edge)
        Which of them each sample belongs to.
    """

    size = staticmethod(size)
    check = staticmethod(check_coding)

    def __init__(self, values: np.ndarray, planes: list, mask: np.ndarray) -> None:
        self.values = values
        self.planes = planes
        self.mask = mask

    @classmethod
    def blank(cls, edge: int) -> Self:
        """A tile that has not been filled."""
        return cls(np.zeros((edge, edge), np.uint32), [], np.zeros((edge, edge), np.int64))

    @classmethod
    def load(
        cls, mode: int, data: bytes, samples: int, cleared: int, edge: int, coding: Coding
    ) -> Self:
        """The tile that :meth:`encode` put into memory.

        :class:`~fixfunc.spec.errors.InputError` if it cannot be one.
        """
        if mode == TileMode.CLEARED:
            return cls(
                np.full((edge, edge), cleared, np.uint32),
                [cls.flat(cleared)],
                np.zeros((edge, edge), np.int64),
            )
        row = np.zeros((1, size(TileMode.RAW, edge)), np.uint8)
        row[0, : len(data)] = np.frombuffer(data, np.uint8)
        tiles, planes, counts, masks, wrong = decode(
            np.array([mode]), row, samples, cleared, edge, coding
        )
        if wrong[0]:
            raise InputError("tile in memory", f"be one of mode {int(mode)}", bytes(data).hex())
        return cls(
            tiles[0], [tuple(p) for p in planes[0, : counts[0]].tolist()], masks[0].astype(np.int64)
        )

    @staticmethod
    def flat(value: int) -> tuple:
        """The plane of a cleared tile."""
        return value << 8, 0, 0

    def write(self, values: np.ndarray, written: np.ndarray, plane: object = None) -> None:
        """Write samples that a triangle brought.

        Parameters
        ----------
        values : ndarray of uint32, shape (edge, edge)
        written : ndarray of bool, shape (edge, edge)
        plane : (z0, dx, dy), optional
            It gives those depths; by default nothing is known that does.
        """
        self.values = np.where(written, values, self.values)
        if plane is None or not (self.planes or written.all()):
            self.planes = []
            return
        planes = self.planes if plane in self.planes else [*self.planes, plane]
        mask = np.where(written, planes.index(plane), self.mask if self.planes else 0)
        used = np.bincount(mask.ravel(), minlength=len(planes)) > 0
        self.planes = [p for p, is_used in zip(planes, used, strict=True) if is_used]
        self.mask = (np.cumsum(used) - 1)[mask]
        if len(self.planes) > MOST:
            self.planes = []

    def coded(self, coding: Coding) -> Self:
        """The tile as it is after a write-back and a fill: it has planes only if it is coded."""
        return DepthTile(self.values, [] if coding == "raw" else self.planes, self.mask)

    def copy(self) -> Self:
        """A copy that is written apart; it shares arrays, which are replaced, never written."""
        return DepthTile(self.values, self.planes, self.mask)

    @classmethod
    def encode(cls, tiles: list, samples: int, cleared: int, coding: Coding) -> list:
        """Mode and bytes of each tile, as it goes to memory.

        A tile is coded as cleared only if its one plane is that of the clear.
        """
        if not tiles:
            return []
        planes, counts = (
            np.zeros((len(tiles), MOST), PLANE),
            np.array([len(tile.planes) for tile in tiles]),
        )
        for row, tile in zip(planes, tiles, strict=True):
            row[: len(tile.planes)] = tile.planes
        masks = np.stack([tile.mask if tile.planes else np.zeros_like(tile.mask) for tile in tiles])
        is_clear = np.array(
            [cleared is not None and tile.planes == [cls.flat(cleared)] for tile in tiles]
        ) & (coding != "raw")
        values = np.stack([tile.values for tile in tiles])
        modes, data = encode(
            values,
            planes,
            counts,
            masks,
            samples,
            np.where(is_clear, 0 if cleared is None else cleared, -1),
            coding,
        )
        return [
            (mode, row[: size(mode, values.shape[1])].tobytes())
            for mode, row in zip(map(TileMode, modes), data, strict=True)
        ]


class RawTile:
    """Values of a tile that has no planes: raw, or as they were cleared.

    Parameters
    ----------
    values : ndarray of :attr:`TYPE`, shape (edge, edge)
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @staticmethod
    def check(_coding: Coding, _edge: int) -> None:
        """Every coding leaves such tiles raw or cleared, of any edge."""

    @classmethod
    def size(cls, mode: int, edge: int) -> int:
        """Bytes moved, in transfers of 32."""
        return (
            -(-(edge**2) * np.dtype(cls.TYPE).itemsize // TRANSFER) * TRANSFER
            if mode == TileMode.RAW
            else 0
        )

    @classmethod
    def blank(cls, edge: int) -> Self:
        """A tile that has not been filled."""
        return cls(np.zeros((edge, edge), cls.TYPE))

    @classmethod
    def load(
        cls, mode: int, data: bytes, _samples: int, cleared: int, edge: int, _coding: Coding
    ) -> Self:
        """The tile that :meth:`encode` put into memory.

        :class:`~fixfunc.spec.errors.InputError` if it cannot be one.
        """
        if mode not in (TileMode.CLEARED, TileMode.RAW):
            raise InputError("tile's mode", "be CLEARED or RAW", int(mode))
        values = (
            np.full(edge**2, cleared, cls.TYPE)
            if mode == TileMode.CLEARED
            else np.frombuffer(data, cls.TYPE)[: edge**2]
        )
        return cls(values.reshape(edge, edge))

    @staticmethod
    def flat(_value: int) -> None:
        """There are no planes."""

    def write(self, values: np.ndarray, written: np.ndarray, _plane: object = None) -> None:
        """Write samples."""
        self.values = np.where(written, values, self.values).astype(self.TYPE)

    def coded(self, _coding: Coding) -> Self:
        """The tile as it is after a write-back and a fill."""
        return self

    def copy(self) -> Self:
        """A copy that is written apart; it shares arrays, which are replaced, never written."""
        return type(self)(self.values)

    @classmethod
    def encode(cls, tiles: list, _samples: int, cleared: int, coding: Coding) -> list:
        """Mode and bytes of each tile, as it goes to memory."""
        if not tiles:
            return []
        values = np.stack([tile.values for tile in tiles])
        is_clear = (
            (values == cleared).all((1, 2))
            if coding != "raw" and cleared is not None
            else np.zeros(len(tiles), bool)
        )
        raw_size = cls.size(TileMode.RAW, values.shape[1])
        return [
            (TileMode.CLEARED, b"")
            if clear
            else (TileMode.RAW, row.tobytes().ljust(raw_size, b"\0"))
            for clear, row in zip(is_clear, values, strict=True)
        ]


class StencilTile(RawTile):
    """Stencil values."""

    TYPE = np.uint8


class FloatDepthTile(RawTile):
    """D32F: floats of 0 to 1."""

    TYPE = np.dtype("<u4")
    BITS = 30  # none above is set

    @classmethod
    def load(
        cls, mode: int, data: bytes, samples: int, cleared: int, edge: int, coding: Coding
    ) -> Self:
        """The tile that :meth:`encode` put into memory.

        :class:`~fixfunc.spec.errors.InputError` if it cannot be one.
        """
        tile = super().load(mode, data, samples, cleared, edge, coding)
        if (tile.values >> cls.BITS).any():
            raise InputError("tile in memory", "hold floats of 0 to 1", bytes(data).hex())
        return tile
