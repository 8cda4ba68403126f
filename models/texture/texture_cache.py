# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of the texture cache: texels of quads from memory, and what is read for them."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fixfunc.models.payload import dtype
from fixfunc.models.texture.cache.linear_rows import BLOCK, MORTON, row_places
from fixfunc.models.texture.cache.stored_texels import texels_of
from fixfunc.models.texture.cache.tag_array import TagArray
from fixfunc.models.texture.cache.texture_cache import morton
from fixfunc.models.texture.coded_lines import line_of, read_lines
from fixfunc.models.texture.texels import DXGI, TEXELS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.textures.cache import (
    COLOURS,
    LEVELS,
    LINE,
    LINE_NUMBER,
    PITCH,
    TEXEL_QUAD,
    CacheStatus,
    StoredFormat,
)
from fixfunc.spec.textures.coded_lines import CODED_FORMATS, TILE_ADDRESS, TILE_LINES, coded_read
from fixfunc.spec.textures.filter import CHANNELS, CORNERS

PIXELS = 4
TAPS = PIXELS * CORNERS
QUARTERS = 4  # of the first level, each of which looks up a block a clock
FORMATS = 64  # numbers of formats
LINES = 64  # of a quad: they are counted modulo this
BLOCK_TEXELS = BLOCK * BLOCK


@dataclass(frozen=True)
class QuadCacheShape:
    """Shape of the cache.

    Parameters
    ----------
    sets, ways : int
        Of the first level, whose lines are decoded blocks of 4x4 texels.
    line_sets, line_ways : int
        Of the second level, whose lines are 64 bytes of memory.
    formats : collection of StoredFormat
        Formats of textures; others are refused.
    layers : bool
        Layers count; else each is layer 0.
    coded : bool
        Textures may be coded surfaces; else each is plain.
    linear : bool
        Textures may lie as rows of texels; else each lies in Morton order.
    """

    sets: int = 16
    ways: int = 4
    line_sets: int = 64
    line_ways: int = 8
    formats: Collection[StoredFormat] = COLOURS
    layers: bool = True
    coded: bool = False
    linear: bool = False


class Taps(NamedTuple):
    """Taps of quads: arrays of shape (n, 16); tap 4 p + c is corner c of pixel p."""

    x: np.ndarray  # int64, texels
    y: np.ndarray
    level: np.ndarray
    layer: np.ndarray
    reads: np.ndarray  # bool

    @property
    def block(self) -> np.ndarray:
        """Number of each tap's block within its level, in Morton order: int64."""
        return morton(self.x >> 2, self.y >> 2).astype(np.int64)


class QuadCache:
    """Two levels of cache behind quads, each of which evicts the least recently used of a set.

    Parameters
    ----------
    shape : QuadCacheShape
    memory : ndarray of uint8
        Textures in Morton order, rows of texels, and coded surfaces; reads beyond its end fail.
    unreadable : int, optional
        A byte whose line cannot be read.
    """

    def __init__(
        self, shape: QuadCacheShape, memory: np.ndarray, unreadable: int | None = None
    ) -> None:
        self._shape = shape
        self._first = TagArray(shape.sets, shape.ways)
        self._second = TagArray(shape.line_sets, shape.line_ways)
        self._memory = memory
        self._byte = unreadable
        self._unreadable = -1 if unreadable is None else unreadable // LINE

    def read(self, states: np.ndarray, quads: np.ndarray, state_of: np.ndarray) -> np.ndarray:
        """Read the texels of quads, in order.

        Parameters
        ----------
        states : structured ndarray, shape (s,)
            As :data:`fixfunc.spec.textures.cache.CACHE_STATE`.
        quads : structured ndarray, shape (n,)
            As :data:`fixfunc.spec.textures.cache.CACHE_QUAD`.
        state_of : ndarray of intp, shape (n,)
            The state of each.

        Returns
        -------
        structured ndarray, shape (n,)
            As :data:`fixfunc.spec.textures.cache.TEXEL_QUAD`.

        Raises
        ------
        InputError
            A level that there is not.
        """
        state = states[state_of]
        out = np.zeros(len(quads), dtype(TEXEL_QUAD))
        for pixel in range(PIXELS):
            for axis in "uv":
                out[f"{axis}{pixel}"] = quads[f"{axis}{pixel}"]
        form = forms_of(state)
        known = np.isin(form, [int(known) for known in self._shape.formats])
        coded = (state["coded"] == 1) & self._shape.coded
        known &= ~coded | np.isin(form, CODED_FORMATS)
        linear = (state["linear"] == 1) & self._shape.linear
        known &= ~linear | (np.isin(form, PLAIN) & ~coded & (state["distance"] < 1 << PITCH))
        pitch = np.where(linear, state["distance"].astype(np.int64), MORTON)
        taps = taps_of(quads)
        if (taps.level >= LEVELS).any():
            raise InputError("level", f"be below {LEVELS}", int(taps.level.max()))
        layer = taps.layer if self._shape.layers else np.zeros_like(taps.layer)
        taps = taps._replace(reads=taps.reads & known[:, None], layer=layer)
        bases = np.stack([state[f"base{level}"] for level in range(LEVELS)], 1).astype(np.int64)
        size = np.array([block_bytes(int(number)) for number in form], np.int64)[:, None]
        first = np.take_along_axis(bases, taps.level, 1)
        distance = state["distance"][:, None].astype(np.int64)
        of_tile = line_of(taps.x, taps.y, first, distance) * LINE
        begin = (first + layer * distance) * LINE + taps.block * size
        begin = np.where(coded[:, None], of_tile, begin)
        of_row = row_places(taps.x, taps.y, first, distance, size // BLOCK_TEXELS)
        begin = np.where(linear[:, None], of_row, begin) % (LINE << LINE_NUMBER)
        sets = taps.block + 9 * taps.level + layer + state["first_set"][:, None]
        sets %= self._shape.sets
        self._count(out, rounds(taps, sets % QUARTERS), begin, sets, form, coded, pitch)
        values, failed = self._texels(begin, taps, form, pitch)
        chosen = taps.reads & coded[:, None]
        if chosen.any():
            found = self._of_surfaces(state, begin, taps, form, chosen)
            values[chosen], failed[chosen] = found
        for tap in range(TAPS):
            for n in range(len(CHANNELS)):
                out[f"t{tap // CORNERS}_{tap % CORNERS}_{n}"] = values[:, tap, n]
        out["status"][failed.any(1)] = CacheStatus.MEMORY
        out["status"][~known] = CacheStatus.FORMAT
        return out

    def _count(self, out, leaders, begin, sets, form, coded, pitch):
        """Look up a block a quarter and round, and the lines of those that missed."""
        # By quad, round and quarter.
        quad, _, tap = leaders.T
        out["lookups"] = np.bincount(quad, minlength=len(out))
        place = begin[quad, tap]
        key = (place * FORMATS + form[quad] << 1 | coded[quad]) << PITCH + 1 | (
            pitch[quad] - MORTON
        )
        missed = self._first.look_up(sets[quad, tap], key)
        out["misses"] = np.bincount(quad[missed], minlength=len(out))
        line, which = _lines(place[missed] // LINE, form[quad[missed]], pitch[quad[missed]])
        key = line << 1 | coded[quad[missed]][which]
        read = self._second.look_up(line % self._shape.line_sets, key)
        out["lines"] = np.bincount(quad[missed][which[read]], minlength=len(out)) % LINES

    def _texels(self, begin, taps, form, pitch):
        """Texels of taps, uint16, and which of them memory could not give."""
        line = begin // LINE
        # Of a block of two lines the lower two rows of texels are in the second.
        is_second = (taps.y & 2 > 0) & np.isin(form, WIDE)[:, None]
        pitch = np.broadcast_to(pitch[:, None], taps.x.shape)
        line += np.where(pitch >= 0, taps.y % BLOCK * pitch, is_second)
        line %= 1 << LINE_NUMBER
        inside = line < len(self._memory) // LINE
        failed = taps.reads & (~inside | (line == self._unreadable))
        out = np.zeros((*taps.x.shape, len(CHANNELS)), np.uint16)
        for number in np.unique(form):
            chosen = taps.reads & ~failed & (form == number)[:, None]
            if number in self._shape.formats and chosen.any():
                out[chosen] = texels_of(
                    self._memory,
                    StoredFormat(int(number)),
                    begin[chosen],
                    taps.x[chosen] & 3,
                    taps.y[chosen] & 3,
                    pitch[chosen],
                )
        return out, failed

    def _of_surfaces(self, state, begin, taps, form, chosen):
        """Texels of coded surfaces, of chosen taps, and which of them there cannot be."""
        quad, _ = np.nonzero(chosen)
        reads = np.zeros(len(quad), dtype(coded_read(4)))
        reads["line"] = begin[chosen] // LINE
        first = state["base0"][quad].astype(np.int64) // TILE_LINES
        reads["tile"] = (reads["line"] // TILE_LINES - first) % (1 << TILE_ADDRESS)
        reads["mode_table"] = state["mode_table"][quad]
        reads["cleared"] = state["cleared"][quad]
        reads, which = np.unique(reads, return_inverse=True)
        lines = read_lines(self._memory, reads, self._byte)
        place = which * LINE
        x, y = taps.x[chosen] & 3, taps.y[chosen] & 3
        out = np.zeros((len(quad), len(CHANNELS)), np.uint16)
        for number in np.unique(form[quad]):
            own = form[quad] == number
            texel = StoredFormat(int(number)), place[own], x[own], y[own]
            out[own] = texels_of(lines.data.reshape(-1), *texel)
        failed = lines.failed[which]
        out[failed] = 0
        return out, failed


def forms_of(states: np.ndarray) -> np.ndarray:
    """Numbers of the formats of states: int64."""
    return states["format"].astype(np.int64) + FORMATS // 2 * states["extended"]


def block_bytes(form: int) -> int:
    """Bytes of a block of 4x4 texels; of a number that is no format's, a line."""
    if form not in list(StoredFormat):
        return LINE
    name, _ = DXGI[Format[StoredFormat(form).name]]
    return TEXELS[name].size * (4 // TEXELS[name].edge) ** 2


WIDE = [int(form) for form in StoredFormat if block_bytes(form) > LINE]  # blocks of two lines
PLAIN = [int(form) for form in StoredFormat if not form.name.startswith("BC")]


def _lines(first, form, pitch):
    """Lines of blocks, one after the other, and the block of each."""
    number = np.where(pitch >= 0, BLOCK, 1 + np.isin(form, WIDE))
    which = np.repeat(np.arange(len(first)), number)
    part = np.arange(len(which)) - np.searchsorted(which, which)
    step = np.where(pitch >= 0, pitch, 1)[which]
    return (first[which] + part * step) % (1 << LINE_NUMBER), which


def taps_of(quads: np.ndarray) -> Taps:
    """Taps of quads, as :data:`fixfunc.spec.textures.cache.CACHE_QUAD`."""
    corners = np.arange(CORNERS)
    found = []
    for pixel in range(PIXELS):
        column = [quads[f"{name}{pixel}"].astype(np.int64) for name in ("left", "right")]
        row = [quads[f"{name}{pixel}"].astype(np.int64) for name in ("upper", "lower")]
        level = quads[f"level{pixel}"].astype(np.int64)
        layer = quads[f"layer{pixel}"].astype(np.int64)
        found.append(
            Taps(
                np.stack(column, 1)[:, corners & 1],
                np.stack(row, 1)[:, corners >> 1],
                np.repeat(level[:, None], CORNERS, 1),
                np.repeat(layer[:, None], CORNERS, 1),
                (quads[f"reads{pixel}"][:, None] >> corners & 1) == 1,
            )
        )
    return Taps(*(np.concatenate(arrays, 1) for arrays in zip(*found, strict=True)))


def rounds(taps: Taps, quarter: np.ndarray) -> np.ndarray:
    """Lookups of quads: a block a quarter and round.

    A round takes the first block of each quarter that taps still want, and all taps of it but those
    whose bank, by the parity of column and row, another texel of their pixel wants.

    Parameters
    ----------
    taps : Taps
        Shape (n, 16).
    quarter : ndarray of int64, shape (n, 16)
        Of each tap's block.

    Returns
    -------
    ndarray of int64, shape (lookups, 3)
        Quad, round, and tap whose block is looked up; by quad, round and quarter.
    """
    remaining = taps.reads.copy()
    bank = (taps.x & 1) | (taps.y & 1) << 1
    block = np.stack([taps.layer, taps.level, taps.x >> 2, taps.y >> 2], -1)
    found = [np.zeros((0, 4), np.int64)]
    step = 0
    while remaining.any():
        free = remaining.copy()
        for tap in range(TAPS):
            for other in range(tap - tap % CORNERS, tap):
                clash = bank[:, tap] == bank[:, other]
                clash &= (taps.x[:, tap] != taps.x[:, other]) | (taps.y[:, tap] != taps.y[:, other])
                free[:, tap] &= ~(remaining[:, other] & clash)
        for n in range(QUARTERS):
            wanted = free & (quarter == n)
            quad = np.flatnonzero(wanted.any(1))
            leader = wanted[quad].argmax(1)
            found.append(
                np.stack([quad, np.full_like(quad, step), np.full_like(quad, n), leader], 1)
            )
            same = (block[quad] == block[quad, leader][:, None]).all(-1)
            remaining[quad] &= ~(wanted[quad] & same)
        step += 1
    rows = np.concatenate(found)
    rows = rows[np.lexsort(rows[:, 2::-1].T)]
    return rows[:, [0, 1, 3]]
