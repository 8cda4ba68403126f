# SPDX-License-Identifier: BSD-2-Clause
"""Tile cache and mode table between a test and memory, whatever its tiles hold."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fixfunc.models.depth.compression.codes import TRANSFER
from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.memory.surface import samples_within, tile_grid
from fixfunc.models.payload import enumerated
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TileMode

PER_TRANSFER = 64  # tiles of the table, four bits each


class TrafficKind(NamedTuple):
    """Cause of memory traffic, and the mode of the tile that was transferred."""

    cause: str  # fill, write_back, clear, table_fill, table_write_back
    mode: TileMode | None  # of a tile


class Slot:
    """A place of the cache for one tile.

    Attributes
    ----------
    tile : int
        Its number.
    content : object
        Its values, by the ``TILE`` of the cache; None before it is filled.
    may_be_dirty : bool
        A draw may have written it, as far as is known before its tests.
    dirty : bool
        It has been written.
    """

    def __init__(self, tile: int) -> None:
        self.tile = tile
        self.content = None
        self.may_be_dirty = False
        self.dirty = False


class Transfer(NamedTuple):
    """A fill or a write-back that is not counted yet."""

    tile: int
    content: object  # what a write-back sends to memory; None for a fill


class TileCache:
    """Values of a target's samples in memory, behind a cache that codes them.

    ``TILE`` of each kind of cache is a tile on chip and its code in memory. Tiles are coded many at
    a time: a write-back waits until its mode matters, which is when its transfer of the table is
    evicted. A fill of such a tile takes the values that were written back: coding loses nothing.

    Parameters
    ----------
    state : numpy.void
        Of a draw: size, samples and format of the target.
    shape : CacheShape
    edge : int
        Samples along a tile's edge.
    memory : ndarray of uint8, optional
        Memory of the target, from its first tile on.

    Attributes
    ----------
    memory : ndarray of uint8
        Tiles row by row, each in a room of a power of two, which holds it raw; then the table.
    uses, hits : int
        How often a tile was used; how often it was on chip.
    """

    def __init__(
        self,
        state: np.void,
        shape: CacheShape | None = None,
        edge: int = 8,
        memory: np.ndarray | None = None,
    ) -> None:
        shape = shape or CacheShape()
        self._state = state
        self._shape = shape
        self._edge = edge
        self.TILE = self.kind(state, shape)
        self.TILE.check(shape.coding, edge)
        self._columns, self._rows = tile_grid(state, edge)
        count = self._columns * self._rows
        self._room = 1 << (self.TILE.size(TileMode.RAW, edge) - 1).bit_length()
        size = count * self._room + -(-count // PER_TRANSFER) * TRANSFER
        self.memory = np.zeros(size, np.uint8) if memory is None else memory[:size]
        if len(self.memory) < size:
            raise InputError("memory", f"hold {size} bytes from there on", len(self.memory))
        self._modes = np.full(count, TileMode.RAW, np.uint8)
        self._cleared = 0
        # by place: the transfer, and whether it is to be written
        self._sets = [[] for _ in range(shape.sets)]
        self._table = {}
        # places of the table where memory holds zeros, since the clear, of all transfers
        self._zeros = np.zeros(shape.table_lines, bool)
        self._traffic = Counter()
        self._size = Counter()
        self.uses = 0
        self.hits = 0
        # transfers not yet counted; by tile: what was written back last
        self._pending = []
        self._written_back = {}

    @classmethod
    def kind(cls, _state: np.void, _shape: CacheShape) -> type:
        """The kind of its tiles: ``TILE``, unless state or shape ask for another."""
        return cls.TILE

    def clear(self, rectangle: Sequence[int], value: int) -> None:
        """Clear a rectangle (x0, y0, x1, y1) of pixels.

        A clear of all of the target writes the table alone. A smaller one does not fetch tiles that
        it covers; where it reaches the target's edge it goes on beyond it.
        """
        samples = int(self._state["samples"])
        shape = (self._rows, self._columns, self._edge, self._edge)
        sides = ("width", "height")
        if any(
            first >= min(end, self._state[f"target_{side}"])
            for first, end, side in zip(rectangle[:2], rectangle[2:], sides, strict=True)
        ):
            return
        x1, y1 = (
            end if end < self._state[f"target_{side}"] else 1 << 15
            for end, side in zip(rectangle[2:], sides, strict=True)
        )
        inside = samples_within((*rectangle[:2], x1, y1), shape, samples).reshape(-1, *shape[2:])
        covered = inside.all((1, 2))
        if covered.all() and self._shape.fast_clear:
            self._encode_pending()
            self._written_back.clear()
            self._sets = [[] for _ in self._sets]
            self._table = {}
            self._zeros[:] = True
            self._cleared = value
            self._modes[:] = TileMode.CLEARED
            self._write_table(slice(None))
            self._count(
                "clear",
                TileMode.CLEARED,
                len(self.memory) - len(self._modes) * self._room,
                len(self._modes),
            )
            return
        for tile in np.flatnonzero(inside.any((1, 2))):
            self.use(tile, not covered[tile], writes=True)
            self.write(tile, np.full(shape[2:], value), inside[tile], self.TILE.flat(value))

    def use(self, tile: int, needed: bool, writes: bool) -> np.ndarray:
        """Bring a tile on chip, and return its values.

        Parameters
        ----------
        tile : int
            Its number, row by row.
        needed : bool
            Values are fetched; they are not where every sample will be written.
        writes : bool
            The draw may write it, as far as is known before its tests.
        """
        slot = self._slot(tile)
        self.uses = self.uses + 1
        self.hits = self.hits + (slot.content is not None)
        if slot.content is None and needed:
            slot.content = (
                self._written_back[tile].copy()
                if tile in self._written_back
                else self.content(tile)
            )
            self._look_up(tile)
            self._pending.append(Transfer(tile, None))
        elif slot.content is None:
            slot.content = self.TILE.blank(self._edge)
        slot.may_be_dirty |= writes
        return slot.content.values

    def write(
        self,
        tile: int,
        values: np.ndarray,
        written: np.ndarray,
        plane: object = None,
    ) -> None:
        """Write samples of a tile in use.

        ``plane`` is that of :meth:`fixfunc.models.depth.cached_tiles.DepthTile.write`.
        """
        if written.any():
            slot = self._slot(tile)
            slot.content.write(values, written, plane)
            slot.dirty = True

    def flush(self) -> None:
        """Write back all that memory does not have yet."""
        for ways in self._sets:
            while ways:
                self._evict(ways)
        self._encode_pending()
        for place in list(self._table):
            self._evict_transfer(place)

    @property
    def traffic(self) -> Counter:
        """Tiles and transfers of the table so far: a Counter by :class:`TrafficKind`."""
        self._encode_pending()
        return self._traffic

    @property
    def bytes(self) -> Counter:
        """Bytes so far: a Counter by :class:`TrafficKind`."""
        self._encode_pending()
        return self._size

    def load_modes(self, cleared: int) -> None:
        """Load the modes of a target that was cleared to a value, and flushed."""
        count = len(self._modes)
        self._cleared = cleared
        table = self.memory[count * self._room :]
        self._modes[:] = np.stack([table & 15, table >> 4], -1).ravel()[:count]

    def counts(self) -> Counter:
        """Counts as the hardware keeps them: :attr:`traffic`, with clears in transfers."""
        cleared = TrafficKind("clear", TileMode.CLEARED)
        return Counter(self.traffic | {cleared: self.bytes[cleared] // TRANSFER})

    def values(self) -> np.ndarray:
        """Values in memory, decoded: ndarray, shape (rows, columns, edge, edge).

        After :meth:`flush`.
        """
        contents = [self.content(tile) for tile in range(len(self._modes))]
        return np.stack([content.values for content in contents]).reshape(
            self._rows, self._columns, self._edge, self._edge
        )

    def content(self, tile: int) -> object:
        """Contents of a tile in memory, decoded, by its number."""
        return self.TILE.load(
            *self._bytes(tile),
            int(self._state["samples"]),
            self._cleared,
            self._edge,
            self._shape.coding,
        )

    def stored(self) -> list:
        """Code and bytes of each tile in memory; after :meth:`flush`."""
        return [self._bytes(tile) for tile in range(len(self._modes))]

    def _numbers(self, tiles):
        """Of tiles, row by row."""
        return tiles["y"].astype(np.int64) * self._columns + tiles["x"]

    def _set(self, tile):
        """By the lowest bits of x and y in turn."""
        y, x = divmod(int(tile), self._columns)
        bits = self._shape.sets.bit_length() - 1
        return (x & (1 << (bits + 1) // 2) - 1) | (y & (1 << bits // 2) - 1) << (bits + 1) // 2

    def _slot(self, tile):
        """The slot of a tile; a new one, after an eviction if need be, on a miss."""
        ways = self._sets[self._set(tile)]
        for slot in ways:
            if slot.tile == tile:
                return slot
        if len(ways) == self._shape.ways:
            self._evict(ways)
        ways.append(Slot(tile))
        return ways[-1]

    def _bytes(self, tile):
        mode = self._code(tile)
        first_byte = int(tile) * self._room
        return mode, bytes(self.memory[first_byte : first_byte + self.TILE.size(mode, self._edge)])

    def _code(self, tile):
        return enumerated(TileMode, self._modes[tile], "code of a tile")

    def _evict(self, ways):
        """Evict the tile of the oldest way, and write it back if it is dirty."""
        slot = ways.pop(0)
        if slot.may_be_dirty:
            self._look_up(slot.tile)
        if slot.dirty:
            self._pending.append(Transfer(slot.tile, slot.content))
            self._written_back[slot.tile] = slot.content.coded(self._shape.coding)

    def _encode_pending(self):
        """Code pending write-backs, and count all that is pending, in order."""
        pending = self._pending
        self._pending = []
        contents = [content for _, content in pending if content]
        coded = iter(
            self.TILE.encode(
                contents,
                int(self._state["samples"]),
                self._cleared if self._shape.fast_clear else None,
                self._shape.coding,
            )
        )
        for tile, content in pending:
            if not content:
                mode = self._code(tile)
                self._count("fill", mode, self.TILE.size(mode, self._edge))
                continue
            mode, data = next(coded)
            first_byte = int(tile) * self._room
            self.memory[first_byte : first_byte + len(data)] = np.frombuffer(data, np.uint8)
            self._count("write_back", mode, len(data))
            if self._modes[tile] != mode:
                self._modes[tile] = mode
                self._table[self._place(tile)] = tile // PER_TRANSFER, True

    def _look_up(self, tile):
        """Look up a tile's mode, which brings its transfer of the table on chip.

        It is known without memory if the table has been cleared, and no transfer of its place has
        been written since.
        """
        place = self._place(tile)
        transfer = tile // PER_TRANSFER
        if self._table.get(place, (None,))[0] != transfer:
            self._evict_transfer(place)
            if not self._zeros[place]:
                self._count("table_fill", None, TRANSFER)
            self._table[place] = transfer, False

    def _place(self, tile):
        return tile // PER_TRANSFER % self._shape.table_lines

    def _evict_transfer(self, place):
        """Evict a transfer of the table."""
        self._encode_pending()
        transfer, dirty = self._table.pop(place, (None, False))
        if dirty:
            self._zeros[place] = False
            self._write_table(slice(transfer * PER_TRANSFER, (transfer + 1) * PER_TRANSFER))
            self._count("table_write_back", None, TRANSFER)

    def _write_table(self, tiles):
        """Modes go to memory, two a byte."""
        modes = np.zeros(-(-len(self._modes) // PER_TRANSFER) * PER_TRANSFER, np.uint8)
        modes[: len(self._modes)] = self._modes
        first_byte = len(self._modes) * self._room
        first = tiles.start or 0
        data = (modes[tiles][::2] | modes[tiles][1::2] << 4).tobytes()
        self.memory[first_byte + first // 2 : first_byte + first // 2 + len(data)] = np.frombuffer(
            data, np.uint8
        )

    def _count(self, cause, mode, byte_count, times=1):
        self._traffic[TrafficKind(cause, mode)] += times
        self._size[TrafficKind(cause, mode)] += byte_count
