# SPDX-License-Identifier: BSD-2-Clause
"""Codecs of coded tiles: colours, depths of 24 bits, and values that are raw or cleared."""

from typing import NamedTuple, Protocol

import numpy as np

from fixfunc.models.depth import depth_compression
from fixfunc.models.depth.compression import codes as depth_codes
from fixfunc.models.depth.compression.codes import TRANSFER, Coding, check_coding
from fixfunc.models.depth.compression.planes import MOST, PLANE
from fixfunc.models.memory.sample_grids import EDGE
from fixfunc.models.output import colour_coder, colour_compression, colour_decoder
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TileMode

CHANNELS = {4: np.dtype(np.uint8), 8: np.dtype(np.uint16)}  # of colours, by bytes of a sample
FLOAT_BITS = 30  # of D32F: floats of 0 to 1 have none above


class Decoded(NamedTuple):
    """Tiles that have been decoded."""

    tiles: np.ndarray  # structured, as TileCodec.tile, shape (n,)
    wrong: np.ndarray  # bool, shape (n,): a code that there is not, or bits that it does not allow


class TileCodec(Protocol):
    """How samples of some bytes are coded, tile by tile.

    Attributes
    ----------
    tile : numpy.dtype
        All that is known of a tile: ``values``, uint8 of shape (edge, edge, bytes), and what the
        codec needs besides.
    room : int
        Bytes of a tile's place in memory.
    """

    tile: np.dtype
    room: int

    def encode(
        self, tiles: np.ndarray, samples: int, cleared: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Codes, uint8 of shape (n,), and bytes, shape (n, room), of tiles as in ``Decoded``.

        ``samples`` is log2 of those of a pixel, ``cleared`` the bytes of a cleared sample; None: no
        tile is told by its code alone.
        """

    def decode(
        self, codes: np.ndarray, data: np.ndarray, samples: int, cleared: np.ndarray
    ) -> Decoded:
        """The inverse."""

    def size(self, code: int) -> int:
        """Bytes of a tile by its code; one that there is not raises ``InputError``."""


def _tile(octets, edge=EDGE, more=()):
    """A tile's type: values of some bytes a sample, and more."""
    return np.dtype([("values", np.uint8, (edge, edge, octets)), *more])


class ColourCodec:
    """Colours of 4 bytes as RGBA8, of 8 as RGBA16F: see ``models/output/colour_compression.py``."""

    def __init__(self, octets: int, edge: int = EDGE) -> None:
        if edge != EDGE:
            raise InputError("edge", f"be {EDGE} where colours are coded by differences", edge)
        self._kind = CHANNELS[octets]
        self.tile = _tile(octets)
        self.room = self.size(TileMode.RAW)

    def encode(
        self, tiles: np.ndarray, samples: int, cleared: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`TileCodec`."""
        flat = np.ascontiguousarray(tiles["values"]).view(self._kind)
        return colour_coder.encode(
            flat, samples, None if cleared is None else cleared.view(self._kind)
        )

    def decode(
        self, codes: np.ndarray, data: np.ndarray, samples: int, cleared: np.ndarray
    ) -> Decoded:
        """See :class:`TileCodec`."""
        found = colour_decoder.decode(codes, data, samples, cleared.view(self._kind))
        tiles = np.zeros(len(codes), self.tile)
        tiles["values"] = found.tiles.view(np.uint8)
        return Decoded(tiles, found.wrong)

    def size(self, code: int) -> int:
        """See :class:`TileCodec`."""
        return colour_compression.size(code, colour_compression.DEPTHS[self._kind])


class DepthCodec:
    """Depths of 24 bits in words, by planes that are known: ``models/depth/depth_compression.py``.

    A tile has its planes, how many these are, and which of them each sample belongs to. They are
    known as long as they give the depth of every sample, and none are if there are more than four:
    so it makes no difference how often a tile goes to memory and comes back. It is coded as cleared
    only if its one plane is that of the clear.

    Parameters
    ----------
    coding : {"differences", "anchor", "raw"}
        How tiles go that no planes give. Raw: none is coded.
    edge : int
        Samples along a tile's edge.
    """

    def __init__(self, coding: Coding = "differences", edge: int = EDGE) -> None:
        check_coding(coding, edge)
        self._coding = coding
        self._edge = edge
        known = ("planes", PLANE, MOST), ("counts", np.uint8), ("masks", np.uint8, (edge, edge))
        self.tile = _tile(4, edge, known)
        self.room = 4 * edge**2

    def encode(
        self, tiles: np.ndarray, samples: int, cleared: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`TileCodec`."""
        counts = tiles["counts"]
        codes, data = depth_compression.encode(
            tiles["values"].view("<u4")[..., 0],
            tiles["planes"],
            counts,
            np.where(counts[:, None, None] > 0, tiles["masks"], 0),
            samples,
            self._clears(tiles, cleared),
            self._coding,
        )
        return codes, np.pad(data, ((0, 0), (0, self.room - data.shape[1])))

    def _clears(self, tiles, cleared):
        """What each tile has been cleared to; -1 of those that are not told by their code alone."""
        if cleared is None or self._coding == "raw":
            return np.full(len(tiles), -1)
        value = int(cleared.view("<u4")[0])
        flat = np.array((value << 8, 0, 0), PLANE)
        is_clear = (tiles["counts"] == 1) & (tiles["planes"][:, 0] == flat)
        return np.where(is_clear, value, -1)

    def decode(
        self, codes: np.ndarray, data: np.ndarray, samples: int, cleared: np.ndarray
    ) -> Decoded:
        """See :class:`TileCodec`."""
        # What lies behind a tile's bytes is nobody's.
        known = depth_codes.CODES[self._coding]
        size = np.array([self.size(c) if c in known else 0 for c in codes.tolist()], np.int64)
        own = data[:, : self.size(TileMode.RAW)]
        own = np.where(np.arange(own.shape[1]) < size[:, None], own, 0).astype(np.uint8)
        value = int(cleared.view("<u4")[0])
        values, planes, counts, masks, wrong = depth_compression.decode(
            codes, own, samples, value, self._edge, self._coding
        )
        tiles = np.zeros(len(codes), self.tile)
        tiles["values"] = values.astype("<u4")[..., None].view(np.uint8)
        tiles["planes"] = planes
        tiles["counts"] = counts
        tiles["masks"] = masks
        return Decoded(tiles, wrong)

    def size(self, code: int) -> int:
        """See :class:`TileCodec`."""
        return depth_codes.size(int(code), self._edge)


class RawCodec:
    """Values that have no code but that of a clear: stencil values, and depths of 32 bits.

    Parameters
    ----------
    octets : int
        Bytes of a sample.
    edge : int
        Samples along a tile's edge.
    clears : bool
        The code of a clear is used.
    """

    def __init__(self, octets: int, edge: int = EDGE, clears: bool = True) -> None:
        self._clears = clears
        self._raw = edge**2 * octets
        self.tile = _tile(octets, edge)
        self.room = self.size(TileMode.RAW)

    def encode(
        self, tiles: np.ndarray, _samples: int, cleared: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`TileCodec`."""
        values = tiles["values"]
        codes = np.full(len(tiles), TileMode.RAW, np.uint8)
        if self._clears and cleared is not None:
            codes[(values == cleared).all((1, 2, 3))] = TileMode.CLEARED
        data = np.zeros((len(tiles), self.room), np.uint8)
        data[:, : self._raw] = values.reshape(len(tiles), self._raw)
        return codes, data

    def decode(
        self, codes: np.ndarray, data: np.ndarray, _samples: int, cleared: np.ndarray
    ) -> Decoded:
        """See :class:`TileCodec`."""
        tiles = np.zeros(len(codes), self.tile)
        raw = data[:, : self._raw].reshape(tiles["values"].shape)
        is_raw = codes == TileMode.RAW
        tiles["values"] = np.where(is_raw[:, None, None, None], raw, cleared)
        return Decoded(tiles, ~(is_raw | (codes == TileMode.CLEARED)))

    def size(self, code: int) -> int:
        """See :class:`TileCodec`."""
        if code not in (TileMode.RAW, TileMode.CLEARED):
            raise InputError("code of a tile", "be RAW or CLEARED", int(code))
        return -(-self._raw // TRANSFER) * TRANSFER if code == TileMode.RAW else 0


class FloatCodec(RawCodec):
    """Depths of D32F in the hardware's memory: floats of 0 to 1, any other bits are wrong."""

    def decode(
        self, codes: np.ndarray, data: np.ndarray, samples: int, cleared: np.ndarray
    ) -> Decoded:
        """See :class:`TileCodec`."""
        tiles, wrong = super().decode(codes, data, samples, cleared)
        beyond = tiles["values"].view("<u4")[..., 0] >> FLOAT_BITS
        return Decoded(tiles, wrong | beyond.any((1, 2)))
