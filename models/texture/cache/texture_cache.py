# SPDX-License-Identifier: BSD-2-Clause
"""Texture cache: decoded blocks next to the sampler, lines of memory behind them."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from fixfunc.models.annotations import check_types
from fixfunc.models.texture.cache.cache_clock import CacheClock
from fixfunc.models.texture.cache.tag_array import TagArray
from fixfunc.models.texture.cache.taps import Taps
from fixfunc.models.texture.texels import TexelFormat
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.errors import InputError

EDGE = 4  # texels along a block's edge, both of plain formats and of blocks
LINE = 64  # bytes of a line of either level
X_BITS = 30  # of a block's number along a row: buffers have 2^32 elements at most
Y_BITS = 12
IMAGE_BITS = 14


@dataclass(frozen=True)
class CacheShape:
    """Shape of a texture cache.

    Parameters
    ----------
    bytes : int
        Bytes of the first level, which holds decoded texels.
    ways : int
        Ways of a set of the first level.
    second : int
        Bytes of the second level, which holds lines of memory.
    second_ways : int
        Ways of a set of the second level.
    latency : int
        Clocks from a request of a line to its arrival.
    pending : int
        Blocks that may have been looked up and not filtered: the depth of the FIFO between both.
    """

    bytes: int = 8192
    ways: int = 4
    second: int = 131072
    second_ways: int = 16
    latency: int = 200
    pending: int = 64

    def __post_init__(self):
        check_types(self)
        for name in ("bytes", "ways", "second", "second_ways", "pending"):
            value = getattr(self, name)
            if value < 1 or value & value - 1:
                raise InputError(name, "be a power of two", value)
        if self.latency < 0:
            raise InputError("latency", "be 0 clocks or more", self.latency)
        for name, ways in (("bytes", self.ways), ("second", self.second_ways)):
            if getattr(self, name) < LINE * ways:
                raise InputError(name, f"hold {ways} lines of {LINE}", getattr(self, name))


@dataclass
class Counters:
    """Counters of a texture cache."""

    samples: int = 0
    taps: int = 0  # texels read by the samples
    blocks: int = 0  # blocks of 4x4 texels decoded: lookups that missed
    lines: int = 0  # lines of 64 bytes read from memory
    merges: int = 0  # misses of lines that had been requested and were not there yet
    lookups: int = 0  # of blocks: a tap of the same block as the one before it needs none
    clocks: int = 0  # until the last block is filtered; without misses one a lookup
    waits: int = 0  # clocks from a lookup that missed to its block: latency, with the queue for it

    @property
    def stalls(self) -> int:
        """Clocks that are lost to memory."""
        return self.clocks - self.lookups

    @property
    def hidden(self) -> float:
        """The share of waits in which other blocks were filtered."""
        return 1 - min(self.stalls, self.waits) / self.waits if self.waits else 1.0

    @property
    def misses_per_sample(self) -> float:
        """Texels decoded for each sample."""
        return self.blocks * EDGE**2 / max(self.samples, 1)

    @property
    def blocks_per_sample(self) -> float:
        """Blocks decoded for each sample."""
        return self.blocks / max(self.samples, 1)


class Blocks(NamedTuple):
    """Blocks of 4x4 texels: arrays of int64 of equal length."""

    level: np.ndarray
    image: np.ndarray  # layer, face or slice
    y: np.ndarray  # in blocks
    x: np.ndarray


class Placement(Protocol):
    """Where the blocks of a texture lie in memory."""

    key: Hashable  # tells textures, and views of them, apart
    decoded: int  # bytes of a block that is decoded

    def lines(self, blocks: Blocks) -> tuple[np.ndarray, np.ndarray]:
        """Lines of memory that blocks are decoded from, block by block.

        Returns two arrays of int64: of each line, which of the blocks it is for, and its number.
        """


class MortonPlaces:
    """A texture whose blocks lie in Morton order, level by level, so that lines are squares."""

    def __init__(self, texture: Texture) -> None:
        form = texture.texel_format
        self.key = None
        self.decoded = decoded_bytes(form, texture.srgb)
        self._stored = form.size * (EDGE // form.edge) * (EDGE // form.rows)
        base = 0
        bases = []
        for level, images in enumerate(texture.levels):
            side = max(-(-extent // EDGE) for extent in texture.size(level))
            image = (1 << (side - 1).bit_length()) ** 2 * self._stored
            bases.append((base, image))
            base += image * len(images)
        self._bases = np.array(bases)

    def lines(self, blocks: Blocks) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`Placement`."""
        base, size = self._bases[blocks.level].T
        number = morton(blocks.x, blocks.y).astype(np.int64)
        begin = base + blocks.image * size + number * self._stored
        return lines_of(begin[:, None], np.full((len(begin), 1), self._stored))


class TextureCache:
    """Texture cache of two levels, each of which evicts the least recently used line of a set.

    Parameters
    ----------
    shape : CacheShape, optional
        Shape of the cache.
    timed : bool
        Time is counted, too: block by block.

    The first level holds blocks of 4 by 4 decoded texels, each in as many lines as it fills. What
    is not there is decoded from lines of the second level.

    Source: [trip 4].
    """

    def __init__(self, shape: CacheShape | None = None, timed: bool = True) -> None:
        self._shape = shape or CacheShape()
        self._clock = CacheClock(self._shape.latency, self._shape.pending) if timed else None
        self.counters = Counters()
        self.invalidate()

    def invalidate(self) -> None:
        """Forget all texels: memory may have changed."""
        shape = self._shape
        self._first = TagArray(shape.bytes // LINE // shape.ways, shape.ways)
        self._second = TagArray(shape.second // LINE // shape.second_ways, shape.second_ways)
        self._numbers: dict[Hashable, dict[int, int]] = {}  # by texture, of blocks that were read
        self._known = 0  # blocks

    def read(self, places: Placement, samples: int, taps: Taps) -> Counters:
        """Read the texels of so many samples of a texture, in order; return the counters so far."""
        texels = taps.arrays()
        packed = _packed(texels)
        # A tap of the same block as the one before changes nothing.
        packed = packed[np.diff(packed, prepend=-1) != 0]
        if not len(packed):
            return self.counters
        kinds, lookup = np.unique(packed, return_inverse=True)
        blocks = _unpacked(kinds)
        names = self._named(places, kinds)
        missed = self._look_up(places, blocks, names, lookup)
        fetched, which = np.unique(lookup[missed], return_inverse=True)
        owner, lines = places.lines(Blocks(*(values[fetched] for values in blocks)))
        chosen = _rows(owner, which)
        lines = lines[chosen]
        requested = self._second.look_up(lines % self._second.sets, lines)
        counters = self.counters
        counters.samples += samples
        counters.taps += len(texels["x"])
        counters.lookups += len(lookup)
        counters.blocks += len(which)
        counters.lines += int(requested.sum())
        if self._clock:
            of_block = np.zeros(len(lookup), np.int64)
            of_block[missed] = np.bincount(owner, minlength=len(fetched))[which]
            self._clock.run(names[lookup], of_block, lines, requested)
            counters.merges = self._clock.merges
            counters.clocks = self._clock.clocks
            counters.waits = self._clock.waits
        return counters

    def _named(self, places, kinds):
        """Numbers of blocks, whatever texture they are of: int64."""
        numbers = self._numbers.setdefault(places.key, {})
        for kind in kinds.tolist():
            if kind not in numbers:
                numbers[kind] = self._known
                self._known += 1
        return np.array([numbers[kind] for kind in kinds.tolist()], np.int64)

    def _look_up(self, places, blocks, names, lookup):
        """Which lookups of blocks miss the first level, in any of their lines."""
        parts = np.arange(-(-places.decoded // LINE))
        # Levels, faces and textures do not all begin with set 0.
        texture = list(self._numbers).index(places.key)
        place = morton(blocks.x, blocks.y).astype(np.int64)
        place += 5 * blocks.image + 9 * blocks.level + 13 * texture
        sets = (place[:, None] * len(parts) + parts) % self._first.sets
        keys = names[:, None] * len(parts) + parts
        found = self._first.look_up(sets[lookup].reshape(-1), keys[lookup].reshape(-1))
        return found.reshape(len(lookup), -1).any(1)


def decoded_bytes(form: TexelFormat, is_srgb: bool) -> int:
    """Bytes of a block that is decoded: colours that were sRGB have 16 bits."""
    return EDGE**2 * form.channels * form.dtype.itemsize * (2 if is_srgb else 1)


def lines_of(begin: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lines that hold pieces of blocks.

    Parameters
    ----------
    begin, size : ndarray of int64, shape (n, pieces)
        Of each piece of each block, bytes; a size of 0 is no piece.

    Returns
    -------
    ndarray of int64, ndarray of int64
        As of :meth:`Placement.lines`; each line of a block once, in their order in memory.
    """
    first = begin // LINE
    count = np.where(size > 0, (begin + size - 1) // LINE - first + 1, 0)
    step = np.arange(count.max(initial=0))
    found = np.where(step < count[..., None], first[..., None] + step, -1)
    found = np.sort(found.reshape(len(begin), begin.shape[1] * len(step)), 1)
    is_new = np.diff(found, axis=1, prepend=-1) != 0
    return np.nonzero(is_new)[0], found[is_new]


def _rows(owner, which):
    """Places of all rows of each owner in turn; rows of an owner lie together, in order."""
    count = np.bincount(owner, minlength=which.max(initial=-1) + 1)[which]
    begin = np.searchsorted(owner, which)
    ends = np.cumsum(count)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(begin - ends + count, count)


def _packed(texels):
    """Blocks of texels as one number each."""
    out = texels["level"]
    for values, bits in (
        (texels["image"], IMAGE_BITS),
        (texels["y"] // EDGE, Y_BITS),
        (texels["x"] // EDGE, X_BITS),
    ):
        out = out << bits | values
    return out


def _unpacked(kinds):
    """The inverse of :func:`_packed`."""
    found = []
    for bits in (X_BITS, Y_BITS, IMAGE_BITS):
        found.append(kinds & (1 << bits) - 1)
        kinds = kinds >> bits
    return Blocks(kinds, *found[::-1])


def morton(x: int | np.ndarray, y: int | np.ndarray) -> np.ndarray:
    """Morton order: bits of x and y in turn, x lowest; uint64."""
    return _spread(x) | _spread(y) << np.uint64(1)


def _spread(value):
    """A value with a zero inserted above each bit."""
    value = np.asarray(value).astype(np.uint64)
    for shift, mask in (
        (16, 0x0000FFFF0000FFFF),
        (8, 0x00FF00FF00FF00FF),
        (4, 0x0F0F0F0F0F0F0F0F),
        (2, 0x3333333333333333),
        (1, 0x5555555555555555),
    ):
        value = (value | value << np.uint64(shift)) & np.uint64(mask)
    return value


def address(
    width: int, x: np.ndarray, y: np.ndarray, texel: int, layout: str = "linear"
) -> np.ndarray:
    """Address of a texel from the beginning of its image.

    Parameters
    ----------
    width : int
        Texels of a row.
    x, y : ndarray of int
        Coordinates of the texel.
    texel : int
        Bytes of a texel.
    layout : str
        ``linear``, row by row, or ``morton``, for which ``width`` is not used.
    """
    if layout not in ("linear", "morton"):
        raise InputError("layout", "be linear or morton", layout)
    x = np.asarray(x).astype(np.uint64)
    y = np.asarray(y).astype(np.uint64)
    number = morton(x, y) if layout == "morton" else y * np.uint64(width) + x
    return number * np.uint64(texel)
