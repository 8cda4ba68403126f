# SPDX-License-Identifier: BSD-2-Clause
"""Coded tiles in memory: a slice of a target, its mode table, and what it has been cleared to."""

import numpy as np

from fixfunc.models.depth.plane_table import PlaneTable
from fixfunc.models.memory.sample_grids import EDGE, LANES
from fixfunc.models.memory.tile_codecs import ColourCodec, DepthCodec, TileCodec
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TileMode

HEAD = 32  # bytes before the table: what the slice has been cleared to, the rest is spare


class CodedTiles:
    """A slice of a target, or a plane of it, whose tiles are coded.

    A tile lies where it would lie if it were raw, and takes as many bytes of its place as its code
    says. Behind all places lie the value of the last clear and the mode table: four bits a tile,
    the first one lowest. Other colours than RGBA8 and RGBA16F are coded as their bits.

    Parameters
    ----------
    memory : ndarray of uint8, shape (bytes,)
        The slice: :meth:`bytes_of` of it. Read and written in place.
    rows, columns : int
        Tiles.
    texel : int
        Bytes of a sample: of colours 4 or 8.
    samples : int
        log2 of the samples of a pixel.
    cleared : ndarray of uint8, shape (texel,), optional
        The colour of the last clear, where it does not lie in memory: then the table begins right
        behind all places, as a :class:`~fixfunc.models.memory.tile_cache.TileCache` leaves it.
    codec : TileCodec, optional
        By default that of colours.
    """

    def __init__(
        self,
        memory: np.ndarray,
        rows: int,
        columns: int,
        texel: int,
        samples: int,
        cleared: np.ndarray | None = None,
        codec: TileCodec | None = None,
    ) -> None:
        count = rows * columns
        end = count * LANES * texel
        self._shape = rows, columns
        self._samples = samples
        self._codec = codec or ColourCodec(texel)
        self._places = memory[:end].reshape(count, -1)
        self._clear = memory[end : end + texel] if cleared is None else cleared
        table = end + (HEAD if cleared is None else 0)
        self._table = memory[table : table + -(-count // 64) * 32]

    @staticmethod
    def bytes_of(rows: int, columns: int, texel: int, cleared: np.ndarray | None = None) -> int:
        """Bytes of a slice: places, colour and table, in whole transfers."""
        count = rows * columns
        return count * LANES * texel + (HEAD if cleared is None else 0) + -(-count // 64) * 32

    @property
    def codes(self) -> np.ndarray:
        """Codes of all tiles: uint8, shape (rows, columns)."""
        pairs = np.stack([self._table & 15, self._table >> 4], -1).reshape(-1)
        return pairs[: len(self._places)].reshape(self._shape)

    @property
    def sizes(self) -> np.ndarray:
        """Bytes of all tiles: int64, shape (rows, columns).

        Raises
        ------
        InputError
            A code that there is not.
        """
        return self._sizes(self.codes)

    def read(self, first: int = 0, end: int | None = None) -> np.ndarray:
        """Decode rows of tiles: uint8, shape (rows, columns, 8, 8, bytes).

        Raises
        ------
        InputError
            A tile that cannot be.
        """
        codes = self.codes[first:end]
        columns = self._shape[1]
        places = self._places[first * columns : first * columns + codes.size]
        found = self._codec.decode(codes.reshape(-1), places, self._samples, self._clear)
        if found.wrong.any():
            n = int(found.wrong.argmax())
            where = (n % columns, first + n // columns)
            rule = "have a code that there is, and bits that it allows"
            raise InputError(f"tile {where} of a coded target", rule, int(codes.reshape(-1)[n]))
        return found.tiles.reshape(*codes.shape, EDGE, EDGE, -1)

    def place(self, tile: int) -> np.ndarray:
        """The place of a tile, by its number: uint8, as many bytes as it takes raw."""
        return self._places[tile]

    def planes(self) -> PlaneTable | None:
        """Planes that depths of 24 bits are coded by; None of other tiles."""
        if not isinstance(self._codec, DepthCodec):
            return None
        return self._codec.planes(self.codes.reshape(-1), self._places, self._samples, self._clear)

    def write(
        self,
        tiles: np.ndarray,
        changed: np.ndarray | None = None,
        planes: PlaneTable | None = None,
    ) -> None:
        """Code tiles: uint8, shape (rows, columns, 8, 8, bytes); by default all of them.

        Parameters
        ----------
        tiles : ndarray of uint8
        changed : ndarray of bool, shape (rows, columns), optional
        planes : PlaneTable, optional
            Of all tiles: what is known of depths of 24 bits.
        """
        chosen = np.arange(len(self._places)) if changed is None else np.flatnonzero(changed)
        if not len(chosen):
            return
        flat = tiles.reshape(-1, EDGE, EDGE, tiles.shape[-1])[chosen]
        known = () if planes is None else (planes.take(chosen),)
        codes, data = self._codec.encode(flat, self._samples, self._clear, *known)
        # What lies behind a tile's bytes stays.
        beyond = np.arange(data.shape[1]) >= self._sizes(codes)[:, None]
        self._places[chosen] = np.where(beyond, self._places[chosen], data)
        every = self.codes.reshape(-1)
        every[chosen] = codes
        self._put(every)

    def clear(self, texel: np.ndarray) -> None:
        """Clear all tiles to a colour, uint8 of shape (bytes,): the table alone is written."""
        self._clear[:] = texel
        self._put(np.full(len(self._places), TileMode.CLEARED, np.uint8))

    def _put(self, codes):
        """Write the table."""
        even = np.zeros(2 * len(self._table), np.uint8)
        even[: len(codes)] = codes
        self._table[:] = even[0::2] | even[1::2] << 4

    def _sizes(self, codes):
        """Bytes of tiles, by their codes."""
        known, number = np.unique(codes, return_inverse=True)
        found = np.array([self._codec.size(code) for code in known])
        return found[number].reshape(codes.shape)
