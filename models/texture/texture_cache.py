# SPDX-License-Identifier: BSD-2-Clause
"""Texture cache: decoded blocks next to the sampler, lines of memory behind them."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from fixfunc.models.lib.annotations import check_types
from fixfunc.models.texture.filtering import Taps
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.errors import InputError

EDGE = 4  # texels along a line's edge, both of plain formats and of blocks
LINE = 64  # bytes of a line of the second level


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
        if self.second < LINE * self.second_ways:
            raise InputError("second", f"hold {self.second_ways} lines of {LINE}", self.second)


@dataclass
class Counters:
    """Counters of a texture cache."""

    samples: int = 0
    taps: int = 0  # texels read by the samples
    blocks: int = 0  # blocks of 4x4 texels decoded
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


class TextureCache:
    """Texture cache of two levels, each of which evicts the least recently used line of a set.

    Parameters
    ----------
    texture : fixfunc.models.texture.texture.Texture
        The texture in memory.
    shape : CacheShape, optional
        Shape of the cache.

    Lines of the first level are blocks of 4 by 4 decoded texels. Blocks lie in memory in Morton
    order, so that lines of the second level are squares.

    Time is counted as hardware with a FIFO spends it: a block is looked up each clock, as long as
    fewer than ``pending`` wait to be filtered; they are filtered in order, one a clock, when their
    lines have arrived. A line that is on its way is not requested again.

    Source: [trip 4].
    """

    def __init__(self, texture: Texture, shape: CacheShape | None = None) -> None:
        self._texture = texture
        self._shape = shape or CacheShape()
        self.counters = Counters()
        form = texture.texel_format
        stored = form.size * (EDGE // form.edge) * (EDGE // form.rows)
        decoded = EDGE**2 * form.channels * form.dtype.itemsize
        if texture.srgb:
            decoded *= 2
        self._stored = stored
        lines = self._shape.bytes // decoded
        if lines < self._shape.ways:
            raise InputError(
                "bytes",
                f"hold at least {self._shape.ways} blocks of {decoded} bytes",
                self._shape.bytes,
            )
        self._sets = [{} for _ in range(lines // self._shape.ways)]
        sets = self._shape.second // LINE // self._shape.second_ways
        self._second = [{} for _ in range(sets)]  # of each line, when it arrives
        self._filtered = deque([0] * self._shape.pending)  # when the last blocks were filtered
        self._looked_up = 0  # when the last one was looked up
        self._bases = self._places()

    def _places(self):
        """Address of each level's first image, and bytes of an image of the level."""
        base = 0
        bases = []
        for level in range(len(self._texture.levels)):
            side = max(-(-extent // EDGE) for extent in self._texture.size(level))
            image = (1 << (side - 1).bit_length()) ** 2 * self._stored
            bases.append((base, image))
            base += image * len(self._texture.levels[level])
        return bases

    def read(self, samples: int, taps: Taps) -> Counters:
        """Read the texels of so many samples, in order; return the counters."""
        texels = taps.arrays()
        self.counters.samples += samples
        self.counters.taps += len(texels["x"])
        order = morton(texels["x"] // EDGE, texels["y"] // EDGE).astype(np.int64)
        keys = np.stack([texels["level"], texels["image"], order], 1)
        # A tap of the same block as the one before changes nothing.
        changed = np.ones(len(keys), bool)
        changed[1:] = (keys[1:] != keys[:-1]).any(1)
        for level, image, block in keys[changed].tolist():
            self._read_block(level, image, block)
        return self.counters

    def _read_block(self, level, image, block):
        """Look up a block, and filter it."""
        now = max(self._looked_up + 1, self._filtered.popleft() + 1)
        self._looked_up = now
        arrival = self._arrival(level, image, block, now)
        done = max(self._filtered[-1] + 1 if self._filtered else 0, arrival, now)
        self._filtered.append(done)
        self.counters.lookups += 1
        self.counters.waits += max(arrival - now, 0)
        self.counters.clocks = done

    def _arrival(self, level, image, block, now):
        """When a decoded block is there."""
        number = block + 5 * image + 9 * level  # so that levels and faces do not all use set 0
        ways = self._sets[number % len(self._sets)]
        key = level, image, block
        if key in ways:
            ways[key] = ways.pop(key)
            return ways[key]
        if len(ways) == self._shape.ways:
            ways.pop(next(iter(ways)))
        self.counters.blocks += 1
        base, size = self._bases[level]
        address = base + image * size + block * self._stored
        lines = range(address // LINE, (address + self._stored - 1) // LINE + 1)
        ways[key] = max(self._line(line, now) for line in lines)
        return ways[key]

    def _line(self, line, now):
        """When a line of memory is there."""
        ways = self._second[line % len(self._second)]
        if line in ways:
            ways[line] = ways.pop(line)
            self.counters.merges += ways[line] > now
            return ways[line]
        if len(ways) == self._shape.second_ways:
            ways.pop(next(iter(ways)))
        ways[line] = now + self._shape.latency
        self.counters.lines += 1
        return ways[line]


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
