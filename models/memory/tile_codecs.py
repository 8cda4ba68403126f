# SPDX-License-Identifier: BSD-2-Clause
"""Codecs of coded tiles: colours, depths of 24 bits, and values that are raw or cleared."""

from typing import NamedTuple, Protocol

import numpy as np

from fixfunc.models.depth import depth_compression
from fixfunc.models.depth.compression import codes as depth_codes
from fixfunc.models.depth.plane_table import PlaneTable
from fixfunc.models.memory.sample_grids import EDGE, LANES
from fixfunc.models.output import colour_coder, colour_compression, colour_decoder
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TileMode

CHANNELS = {4: np.dtype(np.uint8), 8: np.dtype(np.uint16)}  # of colours, by bytes of a sample


class Decoded(NamedTuple):
    """Tiles that have been decoded."""

    tiles: np.ndarray  # uint8, shape (n, 8, 8, bytes)
    wrong: np.ndarray  # bool, shape (n,): a code that there is not, or bits that it does not allow


class TileCodec(Protocol):
    """How samples of some bytes are coded, tile by tile."""

    def encode(
        self, tiles: np.ndarray, samples: int, cleared: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Codes, uint8 of shape (n,), and bytes, shape (n, room), of tiles as in ``Decoded``.

        ``samples`` is log2 of those of a pixel, ``cleared`` the bytes of a cleared sample.
        """

    def decode(
        self, codes: np.ndarray, data: np.ndarray, samples: int, cleared: np.ndarray
    ) -> Decoded:
        """The inverse."""

    def size(self, code: int) -> int:
        """Bytes of a tile by its code; one that there is not raises ``InputError``."""


class ColourCodec:
    """Colours of 4 bytes as RGBA8, of 8 as RGBA16F: see ``models/output/colour_compression.py``."""

    def __init__(self, octets: int) -> None:
        self._kind = CHANNELS[octets]

    def encode(
        self, tiles: np.ndarray, samples: int, cleared: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`TileCodec`."""
        flat = np.ascontiguousarray(tiles).view(self._kind)
        return colour_coder.encode(flat, samples, cleared.view(self._kind))

    def decode(
        self, codes: np.ndarray, data: np.ndarray, samples: int, cleared: np.ndarray
    ) -> Decoded:
        """See :class:`TileCodec`."""
        found = colour_decoder.decode(codes, data, samples, cleared.view(self._kind))
        return Decoded(found.tiles.view(np.uint8), found.wrong)

    def size(self, code: int) -> int:
        """See :class:`TileCodec`."""
        return colour_compression.size(code, colour_compression.DEPTHS[self._kind])


class DepthCodec:
    """Depths of 24 bits in words, by planes that are known: ``models/depth/depth_compression.py``.

    ``planes`` of :meth:`encode` tells of the tiles; without it none are known.
    """

    def encode(
        self,
        tiles: np.ndarray,
        samples: int,
        cleared: np.ndarray,
        planes: PlaneTable | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`TileCodec`."""
        values = np.ascontiguousarray(tiles).view("<u4")[..., 0]
        if planes is None:
            planes = self._unknown(values)
        masks = np.where(planes.counts[:, None, None] > 0, planes.masks, 0)
        value = int(cleared.view("<u4")[0])
        codes, data = depth_compression.encode(
            values, planes.planes, planes.counts, masks, samples, value
        )
        return codes, np.pad(data, ((0, 0), (0, 4 * LANES - data.shape[1])))

    def decode(
        self, codes: np.ndarray, data: np.ndarray, samples: int, cleared: np.ndarray
    ) -> Decoded:
        """See :class:`TileCodec`."""
        values, *_, wrong = self._decoded(codes, data, samples, cleared)
        return Decoded(values.astype("<u4")[..., None].view(np.uint8), wrong)

    def planes(
        self, codes: np.ndarray, data: np.ndarray, samples: int, cleared: np.ndarray
    ) -> PlaneTable:
        """Planes that tiles are coded by; arguments as of :meth:`decode`."""
        _, planes, counts, masks, _ = self._decoded(codes, data, samples, cleared)
        return PlaneTable(planes, counts, masks.astype(np.int64))

    @staticmethod
    def _unknown(values):
        """No planes of tiles."""
        none = np.zeros((len(values), depth_compression.MOST), depth_compression.PLANE)
        return PlaneTable(none, np.zeros(len(values), np.int64), np.zeros(values.shape, np.int64))

    def _decoded(self, codes, data, samples, cleared):
        # What lies behind a tile's bytes is nobody's.
        known = depth_codes.CODES["differences"]
        size = np.array([self.size(c) if c in known else 0 for c in codes.tolist()], np.int64)
        own = data[:, : self.size(TileMode.RAW)]
        own = np.where(np.arange(own.shape[1]) < size[:, None], own, 0).astype(np.uint8)
        value = int(cleared.view("<u4")[0])
        return depth_compression.decode(codes, own, samples, value)

    def size(self, code: int) -> int:
        """See :class:`TileCodec`."""
        return depth_codes.size(int(code))


class RawCodec:
    """Values that have no code but that of a clear: stencil values, and depths of 32 bits."""

    def __init__(self, octets: int) -> None:
        self._octets = octets

    def encode(
        self, tiles: np.ndarray, _samples: int, cleared: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`TileCodec`."""
        is_clear = (tiles == cleared).all((1, 2, 3))
        codes = np.where(is_clear, TileMode.CLEARED, TileMode.RAW).astype(np.uint8)
        return codes, tiles.reshape(len(tiles), -1)

    def decode(
        self, codes: np.ndarray, data: np.ndarray, _samples: int, cleared: np.ndarray
    ) -> Decoded:
        """See :class:`TileCodec`."""
        raw = data.reshape(-1, EDGE, EDGE, self._octets)
        tiles = np.where((codes == TileMode.RAW)[:, None, None, None], raw, cleared)
        return Decoded(tiles, ~np.isin(codes, (TileMode.RAW, TileMode.CLEARED)))

    def size(self, code: int) -> int:
        """See :class:`TileCodec`."""
        if code not in (TileMode.RAW, TileMode.CLEARED):
            raise InputError("code of a tile", "be RAW or CLEARED", int(code))
        return LANES * self._octets if code == TileMode.RAW else 0
