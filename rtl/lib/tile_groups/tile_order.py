# SPDX-License-Identifier: BSD-2-Clause
"""Lanes of a tile by groups that share a width, for every number of samples.

A tile is a grid of pixels for each sample. Groups are squares of two by two pixels of sample 0, row
by row; then at 4 and 8 samples the other samples of a pixel, and at 2 squares of sample 1.
"""

from collections.abc import Callable, Sequence

from amaranth.hdl import Value, ValueLike

from fixfunc.rtl.lib.bits import choose

LANE_SHAPE = ((0, 0), (0, 1), (1, 1), (1, 2))  # log2 of a pixel's columns and rows of lanes
EDGE = 8
Place = tuple[int, int, int]  # sample, x, y
Step = Callable[[int, int, int], Place | None]  # the place that is taken from one, or added to it


def pixels(mode: int) -> tuple[int, int]:
    """Columns and rows of pixels of a tile; a mode is log2 of the samples."""
    lx, ly = LANE_SHAPE[mode]
    return EDGE >> lx, EDGE >> ly


def lane(mode: int, sample: int, x: int, y: int) -> int:
    """Number of a lane, of a sample of a pixel."""
    lx, ly = LANE_SHAPE[mode]
    i = (x << lx) + (sample & (1 << lx) - 1)
    j = (y << ly) + (sample >> lx)
    return EDGE * j + i


def pixel(mode: int, number: int) -> tuple[int, int, int]:
    """Sample, x and y of a lane."""
    lx, ly = LANE_SHAPE[mode]
    j, i = divmod(number, EDGE)
    return (i & (1 << lx) - 1) + ((j & (1 << ly) - 1) << lx), i >> lx, j >> ly


def operand(step: Step, mode: int, turn: int, number: int) -> int | None:
    """The lane that a step takes from a lane, or adds to it."""
    sample, x, y = pixel(mode, number)
    at = step(sample, y, x) if turn else step(sample, x, y)
    if at is None:
        return None
    sample, x, y = at
    return lane(mode, sample, y, x) if turn else lane(mode, sample, x, y)


def squares(mode: int) -> int:
    """Groups of sample 0: they come first."""
    wide, high = pixels(mode)
    return wide * high // 4


def groups(mode: int) -> list[list[int]]:
    """Lanes of every group."""
    wide, high = pixels(mode)
    corners = [(x, y) for y in range(0, high, 2) for x in range(0, wide, 2)]

    def square(sample, x, y):
        return [lane(mode, sample, x + n % 2, y + n // 2) for n in range(4)]

    found = [square(0, x, y) for x, y in corners]
    if mode == 1:
        return found + [square(1, x, y) for x, y in corners]
    others = range(1, 1 << mode)
    return found + [
        [lane(mode, sample, x, y) for sample in others]
        for y in range(high)
        for x in range(wide)
        if others
    ]


class TileOrder:
    """Groups of tiles of up to so many samples a pixel.

    Parameters
    ----------
    samples : int
        1, 2, 4 or 8.
    channels : int
        Numbers of a lane: each channel has payloads of its own.

    Attributes
    ----------
    modes : range
        log2 of every number of samples.
    groups : list
        By mode, the lanes of every group.
    count : int
        Groups that there may be.
    sizes : list
        Of each group by mode, how many lanes it has; 0: there is none.
    most : list of int
        Places of each group.
    places : list of (group, number within it)
    leaves : int
        Payloads: channel by channel, group by group.
    """

    def __init__(self, samples: int, channels: int = 1) -> None:
        self.modes = range(samples.bit_length())
        self.groups = [groups(mode) for mode in self.modes]
        self.count = max(map(len, self.groups))
        self.sizes = [
            [len(its[n]) if n < len(its) else 0 for its in self.groups] for n in range(self.count)
        ]
        self.most = [max(sizes) for sizes in self.sizes]
        self.places = [(n, at) for n in range(self.count) for at in range(self.most[n])]
        self.leaves = channels * self.count

    def by_mode(self, samples: Value, options: Sequence[ValueLike]) -> ValueLike:
        """The option of the number of samples; of equal ones one."""
        if all(option is options[0] for option in options):
            return options[0]
        return choose(samples, options)

    def leaf(self, channel: int, group: int) -> int:
        """Number of a payload."""
        return channel * self.count + group

    def of_group(self, group: int) -> list[int]:
        """Numbers of a group's places."""
        return [n for n, (its, _) in enumerate(self.places) if its == group]

    def lane_at(self, mode: int, place: int) -> int | None:
        """The lane at a place; None, if there is none."""
        group, at = self.places[place]
        return self.groups[mode][group][at] if at < self.sizes[group][mode] else None

    def place_of(self, mode: int, number: int) -> int:
        """The place of a lane."""
        return next(n for n in range(len(self.places)) if self.lane_at(mode, n) == number)
