# SPDX-License-Identifier: BSD-2-Clause
"""Tile cache and mode table between a test and memory, whatever its tiles hold."""

from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from typing import NamedTuple, Self

import numpy as np

from fixfunc.models.depth.compression.codes import TRANSFER
from fixfunc.models.depth.compression.planes import PLANE
from fixfunc.models.depth.hiz import rounds
from fixfunc.models.depth.plane_table import PlaneTable
from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.memory.coded_tiles import CodedTiles, RawTiles, table_bytes
from fixfunc.models.memory.surface import samples_within, tile_grid
from fixfunc.models.memory.tile_codecs import TileCodec
from fixfunc.models.memory.tile_tags import (
    LOOK_UP,
    TABLE_WRITE_BACK,
    WRITE_BACK,
    ModeCache,
    Move,
    TileTags,
)
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import TileMode


class TrafficKind(NamedTuple):
    """Cause of memory traffic, and the mode of the tile that was transferred."""

    cause: str  # fill, write_back, clear, table_fill, table_write_back
    mode: TileMode | None  # of a tile


def write(
    tiles: np.ndarray,
    values: np.ndarray | int,
    written: np.ndarray,
    planes: np.ndarray | None = None,
    exact: np.ndarray | None = None,
) -> np.ndarray:
    """Write samples of tiles.

    Parameters
    ----------
    tiles : structured ndarray, shape (n,)
        As the ``tile`` of a codec, written in place.
    values : ndarray of uint32, shape (n, edge, edge)
    written : ndarray of bool, shape (n, edge, edge)
    planes : structured ndarray, shape (n,), optional
        Of tiles that keep planes: what gives those values, where ``exact``, bool, says so.

    Returns
    -------
    ndarray of bool, shape (n,)
        Which tiles have been written.
    """
    np.copyto(words(tiles), values, where=written, casting="unsafe")
    some = written.any((1, 2))
    if "planes" in tiles.dtype.names:
        place = np.flatnonzero(some)
        table = PlaneTable(tiles["planes"], tiles["counts"], tiles["masks"])
        table.write(place, written[some], planes[some], exact[some])
    return some


def words(tiles: np.ndarray) -> np.ndarray:
    """Values of tiles of up to four bytes a sample, to read and to write: uint, by lane."""
    values = tiles["values"]
    return values.view(f"<u{values.shape[-1]}")[..., 0]


def flat_planes(tiles: np.ndarray, value: int) -> np.ndarray | None:
    """A plane for each of some tiles that keep planes: that of a clear."""
    if "planes" not in tiles.dtype.names:
        return None
    return np.full(len(tiles), np.array((value << 8, 0, 0), PLANE))


class TileCache:
    """Values of a target's samples, in memory behind a cache that codes them.

    Coding loses nothing: so what tiles hold, on chip or in memory, is kept as one array, and tags
    tell which moves a cache makes. A write-back takes the tile as it was then. Moves are coded and
    counted many at a time, in order, before memory or a counter is looked at.

    Parameters
    ----------
    state : numpy.void
        Of a draw: size, samples and format of the target.
    shape : CacheShape
    edge : int
        Samples along a tile's edge.
    memory : ndarray of uint8, optional
        Memory of the target, from its first tile on: tiles row by row, each in a room of a power of
        two, which holds it raw; then the table. The value of the last clear is kept on chip.
    surface : CodedTiles, optional
        In place of ``memory``: tiles that lie there as others have left them.

    Attributes
    ----------
    memory : ndarray of uint8
        That of the target alone.
    uses : int
        How often a tile was used.
    """

    TAGS = TileTags  # which way goes is theirs

    def __init__(
        self,
        state: np.void,
        shape: CacheShape | None = None,
        edge: int = 8,
        memory: np.ndarray | None = None,
        surface: CodedTiles | None = None,
    ) -> None:
        shape = shape or CacheShape()
        self._state = state
        self._shape = shape
        self._surface = self._placed(state, edge, memory) if surface is None else surface
        self.memory = self._surface.memory
        self._rows, self._columns = self._surface.shape
        self._tags = self.TAGS(shape, self._columns)
        self._modes = None if isinstance(surface, RawTiles) else ModeCache(shape.table_lines)
        count = self._rows * self._columns
        self._codes = (
            np.full(count, TileMode.RAW, np.uint8) if surface is None else surface.codes.reshape(-1)
        )
        self._tiles = None  # all of them, as the codec's ``tile``; None: as memory holds them
        self._traffic = Counter()
        self._size = Counter()
        self.uses = 0
        # Moves that are not counted yet, and the tiles of the write-backs among them.
        self._pending: list[Move] = []
        self._contents: list[np.ndarray] = []

    @staticmethod
    def codec(state: np.void, shape: CacheShape, edge: int) -> TileCodec:
        """How tiles are coded; every kind of cache has its own."""
        raise NotImplementedError

    def _placed(self, state, edge, memory):
        """A target's tiles in the hardware's memory."""
        codec = self.codec(state, self._shape, edge)
        columns, rows = tile_grid(state, edge)
        size = rows * columns * codec.room + table_bytes(rows * columns)
        memory = np.zeros(size, np.uint8) if memory is None else memory[:size]
        if len(memory) < size:
            raise InputError("memory", f"hold {size} bytes from there on", len(memory))
        texel = codec.tile["values"].shape[2]
        cleared = np.zeros(texel, np.uint8)
        samples = int(state["samples"])
        return CodedTiles(memory, rows, columns, texel, samples, cleared, codec)

    def clear(self, rectangle: Sequence[int], value: int) -> None:
        """Clear a rectangle (x0, y0, x1, y1) of pixels.

        A clear of all of the target writes the table alone. A smaller one does not fetch tiles that
        it covers; where it reaches the target's edge it goes on beyond it.
        """
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
        edge = self._surface.codec.tile["values"].shape[0]
        shape = (self._rows, self._columns, edge, edge)
        inside = samples_within((*rectangle[:2], x1, y1), shape, int(self._state["samples"]))
        inside = inside.reshape(-1, edge, edge)
        covered = inside.all((1, 2))
        if covered.all() and self._shape.fast_clear:
            self._clear_all(value)
            return
        places = np.flatnonzero(inside.any((1, 2)))
        every = np.ones(len(places), bool)

        def change(batch, tiles):
            flat = flat_planes(tiles, value)
            return write(tiles, value, inside[places[batch]], flat, every[batch])

        self.access(places, ~covered[places], every, change)

    def _clear_all(self, value):
        """The table alone is written."""
        self._settle()
        self._tags.clear()
        self._modes.clear()
        self._surface.clear(self._octets(value))
        self._codes[:] = TileMode.CLEARED
        self._tiles = np.full(len(self._codes), self._surface.clear_tile())
        kind = TrafficKind("clear", TileMode.CLEARED)
        self._count(kind, self._surface.table_size, len(self._codes))

    def use(
        self,
        tile: int,
        needed: bool,
        writes: bool,
        values: np.ndarray | int = 0,
        written: np.ndarray | None = None,
        plane: tuple[int, int, int] | None = None,
    ) -> np.ndarray:
        """Use one tile, and return what it held.

        Parameters
        ----------
        tile, needed, writes
            As of :meth:`access`.
        values, written, plane
            What is written, as of :func:`write`; by default nothing, of no known plane.
        """
        held = []

        def change(_batch, tiles):
            held.append(words(tiles)[0].copy())
            if written is None:
                return False
            planes = np.array([plane or (0, 0, 0)], PLANE)
            return write(tiles, values, written[None], planes, np.array([plane is not None]))

        self.access(np.array([tile]), np.array([needed]), np.array([writes]), change)
        return held[0]

    def access(
        self,
        places: np.ndarray,
        needed: np.ndarray,
        may_write: np.ndarray,
        change: Callable[[np.ndarray, np.ndarray], np.ndarray],
    ) -> None:
        """Use tiles, in order.

        Parameters
        ----------
        places : ndarray of int, shape (n,)
            Their numbers, row by row.
        needed : ndarray of bool, shape (n,)
            Values are fetched; they are not where every sample will be written.
        may_write : ndarray of bool, shape (n,)
            The draw may write the tile, as far as is known before its tests.
        change : callable
            Takes which of them, no place twice, and the tiles; writes these in place, and returns
            which it has written.
        """
        held = self.held()
        dirty = np.array(self._tags.dirty(), np.int64)
        # What a write-back may take: tiles that have been written, and each tile after each use.
        states = np.empty(len(dirty) + len(places), held.dtype)
        states[: len(dirty)] = held[dirty]
        wrote = np.zeros(len(places), bool)
        for batch in rounds(places):
            tiles = held[places[batch]]
            wrote[batch] = change(batch, tiles)
            held[places[batch]] = tiles
            states[len(dirty) + batch] = tiles
        last = {tile: n - len(dirty) for n, tile in enumerate(dirty.tolist())}
        moves, sources = self._tags.use(places, needed, may_write, wrote, last)
        self.uses += len(places)
        self._pending += moves
        self._contents.append(states[np.array(sources, np.int64) + len(dirty)])

    def flush(self) -> None:
        """Write back all that memory does not have yet."""
        last = {tile: tile for tile in self._tags.dirty()}
        moves, sources = self._tags.flush(last)
        self._pending += moves
        self._contents.append(self.held()[np.array(sources, np.int64)])
        self._settle()
        if self._modes:
            self._move_table(self._modes.flush())

    @property
    def hits(self) -> int:
        """How often a tile that was used was on chip."""
        return self._tags.hits

    @property
    def traffic(self) -> Counter:
        """Tiles and transfers of the table so far: a Counter by :class:`TrafficKind`."""
        self._settle()
        return self._traffic

    @property
    def bytes(self) -> Counter:
        """Bytes so far: a Counter by :class:`TrafficKind`."""
        self._settle()
        return self._size

    def load_modes(self, cleared: int) -> None:
        """Load the modes of a target that was cleared to a value, and flushed."""
        self._surface.cleared[:] = self._octets(cleared)
        self._codes = self._surface.codes.reshape(-1)
        self._tiles = None

    def counts(self) -> Counter:
        """Counts as the hardware keeps them: :attr:`traffic`, with clears in transfers."""
        cleared = TrafficKind("clear", TileMode.CLEARED)
        return Counter(self.traffic | {cleared: self.bytes[cleared] // TRANSFER})

    def tiles(self) -> np.ndarray:
        """Tiles as they are in memory, decoded, as the codec's ``tile``; after :meth:`flush`."""
        return self._surface.tiles(codes=self._codes)

    def values(self) -> np.ndarray:
        """The values of :meth:`tiles`: uint, shape (rows, columns, edge, edge)."""
        tiles = words(self.tiles())
        return tiles.reshape(self._rows, self._columns, *tiles.shape[1:])

    def stored(self) -> list[tuple[TileMode, bytes]]:
        """Code and bytes of each tile in memory; after :meth:`flush`."""
        surface = self._surface
        return [
            (TileMode(code), surface.place(n)[: surface.codec.size(code)].tobytes())
            for n, code in enumerate(self._codes)
        ]

    def copy(self) -> Self:
        """The same, used apart, of the same memory."""
        other = copy(self)
        for name in ("_tags", "_modes", "_tiles", "_codes", "_traffic", "_size"):
            value = getattr(self, name)
            setattr(other, name, None if value is None else value.copy())
        other._pending = self._pending.copy()
        other._contents = self._contents.copy()
        return other

    def held(self) -> np.ndarray:
        """All tiles as they are, on chip or in memory, as the codec's ``tile``; read once."""
        if self._tiles is None:
            self._tiles = self.tiles()
        return self._tiles

    def _octets(self, value):
        """Bytes of a sample."""
        return np.array([value], "<u8").view(np.uint8)[: self._surface.cleared.size]

    def _numbers(self, tiles):
        """Of tiles, row by row."""
        return tiles["y"].astype(np.int64) * self._columns + tiles["x"]

    def _settle(self):
        """Code write-backs that wait, and count all moves that do, in order."""
        moves = self._pending
        contents = self._contents
        self._pending = []
        self._contents = []
        if not moves:
            return
        surface = self._surface
        cleared = surface.cleared if self._shape.fast_clear else None
        codes, data = surface.codec.encode(np.concatenate(contents), surface.samples, cleared)
        written = [move.number for move in moves if move.cause == WRITE_BACK]
        surface.store(np.array(written, np.int64), codes, data)
        waiting = iter(codes.tolist())
        for cause, tile in moves:
            if cause == LOOK_UP:
                self._move_table(self._modes.look_up(tile) if self._modes else ())
                continue
            code = next(waiting) if cause == WRITE_BACK else int(self._codes[tile])
            self._count(TrafficKind(cause, TileMode(code)), surface.codec.size(code))
            if code != self._codes[tile]:
                self._codes[tile] = code
                self._modes.update(tile)

    def _move_table(self, moves):
        """Move transfers of the table, and count them."""
        for cause, transfer in moves:
            if cause == TABLE_WRITE_BACK:
                self._surface.write_table(self._codes, transfer)
            self._count(TrafficKind(cause, None), TRANSFER)

    def _count(self, kind, octets, times=1):
        self._traffic[kind] += times
        self._size[kind] += octets
