# SPDX-License-Identifier: BSD-2-Clause
"""Lanes of a tile by groups that share a width, for every number of samples.

A tile is a grid of pixels for each sample. Groups are squares of two by two pixels of sample 0, row
by row; then at 4 and 8 samples the other samples of a pixel, and at 2 squares of sample 1.
"""

from collections.abc import Sequence

from amaranth.hdl import Value, ValueLike

from fixfunc.rtl.lib.bits import choose

MODES = range(4)  # log2 of the samples
LANE_SHAPE = ((0, 0), (0, 1), (1, 1), (1, 2))  # log2 of a pixel's columns and rows of lanes
EDGE = 8


def pixels(mode: int) -> tuple[int, int]:
    """Columns and rows of pixels of a tile."""
    lx, ly = LANE_SHAPE[mode]
    return EDGE >> lx, EDGE >> ly


def lane(mode: int, sample: int, x: int, y: int) -> int:
    """Number of a lane, of a sample of a pixel."""
    lx, ly = LANE_SHAPE[mode]
    i = (x << lx) + (sample & (1 << lx) - 1)
    j = (y << ly) + (sample >> lx)
    return EDGE * j + i


def place(mode: int, number: int) -> tuple[int, int, int]:
    """Sample, x and y of a lane."""
    lx, ly = LANE_SHAPE[mode]
    j, i = divmod(number, EDGE)
    return (i & (1 << lx) - 1) + ((j & (1 << ly) - 1) << lx), i >> lx, j >> ly


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


GROUPS = [groups(mode) for mode in MODES]
COUNT = max(len(found) for found in GROUPS)  # groups that there may be
SIZES = [  # of each group, by mode; 0: there is none
    [len(GROUPS[mode][n]) if n < len(GROUPS[mode]) else 0 for mode in MODES] for n in range(COUNT)
]
MOST = [max(sizes) for sizes in SIZES]  # places of each group
PLACES = [(group, at) for group in range(COUNT) for at in range(MOST[group])]
CHANNELS = 4  # G, R - G, B - G, A
LEAVES = CHANNELS * COUNT  # payloads: channel by channel, group by group


def by_mode(samples: Value, options: Sequence[ValueLike]) -> ValueLike:
    """The option of the number of samples; of equal ones one."""
    if all(option is options[0] for option in options):
        return options[0]
    return choose(samples, options)


def reference(mode: int, group: int, at: int, turn: int) -> int:
    """The lane that a lane is taken from: before it in its row or column, or of sample 0."""
    number = GROUPS[mode][group][at]
    sample, x, y = place(mode, number)
    if sample:
        return lane(mode, 0, x, y)
    first, second = ((1, 0), (0, 1)) if turn == 0 else ((0, 1), (1, 0))
    for dx, dy in (first, second):
        if x >= dx and y >= dy:
            return lane(mode, 0, x - dx, y - dy)
    return number
