# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of a slice of a target in memory: coded, with their mode table, or raw."""

import numpy as np

from fixfunc.models.depth.compression.codes import TRANSFER
from fixfunc.models.depth.hiz import rounds
from fixfunc.models.memory.sample_grids import LANES
from fixfunc.models.memory.tile_codecs import ColourCodec, RawCodec, TileCodec
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TileMode

HEAD = 32  # bytes before the table: what the slice has been cleared to, the rest is spare
PER_TRANSFER = 64  # tiles of the table, four bits each


def table_bytes(count: int) -> int:
    """Bytes of the mode table of some tiles, in whole transfers."""
    return -(-count // PER_TRANSFER) * TRANSFER


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

    Attributes
    ----------
    memory, samples, cleared, codec
        Those parameters; ``cleared`` wherever it lies.
    shape : (int, int)
        Rows and columns.
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
        self.memory = memory
        self.shape = rows, columns
        self.samples = samples
        self.codec = codec or ColourCodec(texel)
        end = count * self.codec.room
        self._places = memory[:end].reshape(count, -1)
        self.cleared = memory[end : end + texel] if cleared is None else cleared
        table = end + (HEAD if cleared is None else 0)
        self._table = memory[table : table + table_bytes(count)]

    @staticmethod
    def bytes_of(rows: int, columns: int, texel: int, cleared: np.ndarray | None = None) -> int:
        """Bytes of a slice: places, colour and table, in whole transfers."""
        count = rows * columns
        return count * LANES * texel + (HEAD if cleared is None else 0) + table_bytes(count)

    @property
    def codes(self) -> np.ndarray:
        """Codes of all tiles: uint8, shape (rows, columns)."""
        pairs = np.stack([self._table & 15, self._table >> 4], -1).reshape(-1)
        return pairs[: len(self._places)].reshape(self.shape)

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
        columns = self.shape[1]
        numbers = np.arange(len(self._places)).reshape(self.shape)[first:end]
        tiles = self.tiles(numbers.reshape(-1))["values"]
        return tiles.reshape(-1, columns, *tiles.shape[1:])

    def tiles(
        self, numbers: np.ndarray | None = None, codes: np.ndarray | None = None
    ) -> np.ndarray:
        """Decode tiles by their numbers, by default all: as the codec's ``tile``, shape (n,).

        Parameters
        ----------
        numbers : ndarray of int, shape (n,), optional
        codes : ndarray of uint8, optional
            Of all tiles, where a cache knows them; by default those of the table.

        Raises
        ------
        InputError
            A tile that cannot be.
        """
        numbers = np.arange(len(self._places)) if numbers is None else numbers
        codes = (self.codes.reshape(-1) if codes is None else codes)[numbers]
        found = self.codec.decode(codes, self._places[numbers], self.samples, self.cleared)
        if found.wrong.any():
            n = int(found.wrong.argmax())
            row, column = divmod(int(numbers[n]), self.shape[1])
            rule = "have a code that there is, and bits that it allows"
            raise InputError(f"tile {(column, row)} of a coded target", rule, int(codes[n]))
        return found.tiles

    def place(self, tile: int) -> np.ndarray:
        """The place of a tile, by its number: uint8, as many bytes as it takes raw."""
        return self._places[tile]

    def write(self, tiles: np.ndarray, changed: np.ndarray | None = None) -> None:
        """Code tiles: uint8, shape (rows, columns, 8, 8, bytes); by default all of them.

        Parameters
        ----------
        tiles : ndarray of uint8
        changed : ndarray of bool, shape (rows, columns), optional
        """
        chosen = np.arange(len(self._places)) if changed is None else np.flatnonzero(changed)
        known = np.zeros(len(chosen), self.codec.tile)
        known["values"] = tiles.reshape(-1, *known["values"].shape[1:])[chosen]
        is_clear = (known["values"] == self.cleared).all((1, 2, 3))
        known[is_clear] = self.clear_tile()
        codes, data = self.codec.encode(known, self.samples, self.cleared)
        self.store(chosen, codes, data)
        every = self.codes.reshape(-1)
        every[chosen] = codes
        self.write_table(every)

    def store(self, numbers: np.ndarray, codes: np.ndarray, data: np.ndarray) -> None:
        """Put bytes of coded tiles into memory, as if one after the other; not their codes.

        Parameters
        ----------
        numbers : ndarray of int, shape (n,)
            Which tile each is; one may come again.
        codes, data
            From :meth:`fixfunc.models.memory.tile_codecs.TileCodec.encode`.
        """
        # What lies behind a tile's bytes stays.
        beyond = np.arange(data.shape[1]) >= self._sizes(codes)[:, None]
        for batch in rounds(numbers):
            at = numbers[batch]
            self._places[at] = np.where(beyond[batch], self._places[at], data[batch])

    def clear(self, texel: np.ndarray) -> None:
        """Clear all tiles to a colour, uint8 of shape (bytes,): the table alone is written."""
        self.cleared[:] = texel
        self.write_table(np.full(len(self._places), TileMode.CLEARED, np.uint8))

    def clear_tile(self) -> np.ndarray:
        """A tile as the last clear has left it: as the codec's ``tile``, shape ()."""
        code = np.array([TileMode.CLEARED])
        data = np.zeros((1, self.codec.room), np.uint8)
        return self.codec.decode(code, data, self.samples, self.cleared).tiles[0]

    @property
    def table_size(self) -> int:
        """Bytes of the mode table."""
        return len(self._table)

    def write_table(self, codes: np.ndarray, transfer: int | None = None) -> None:
        """Write codes of all tiles, uint8 of shape (n,), or one transfer of them."""
        even = np.zeros(2 * len(self._table), np.uint8)
        even[: len(codes)] = codes
        first, end = (0, None) if transfer is None else (transfer, transfer + 1)
        part = slice(first * TRANSFER, end and end * TRANSFER)
        self._table[part] = (even[0::2] | even[1::2] << 4)[part]

    def _sizes(self, codes):
        """Bytes of tiles, by their codes."""
        known, number = np.unique(codes, return_inverse=True)
        found = np.array([self.codec.size(code) for code in known], np.int64)
        return found[number].reshape(codes.shape)


class RawTiles(CodedTiles):
    """A slice of a target, or a plane of it, whose tiles lie raw: there is no table.

    Parameters
    ----------
    tiles : ndarray of uint8, shape (rows, columns, 8, 8, bytes)
        The memory, read and written in place.
    samples : int
        log2 of the samples of a pixel.
    """

    def __init__(self, tiles: np.ndarray, samples: int) -> None:
        rows, columns, _, _, texel = tiles.shape
        codec = RawCodec(texel, clears=False)
        cleared = np.zeros(texel, np.uint8)
        super().__init__(tiles.reshape(-1), rows, columns, texel, samples, cleared, codec)

    @property
    def codes(self) -> np.ndarray:
        """Codes of all tiles: uint8, shape (rows, columns)."""
        return np.full(self.shape, TileMode.RAW, np.uint8)

    def write_table(self, _codes: np.ndarray, _transfer: int | None = None) -> None:
        """Memory keeps no codes."""
