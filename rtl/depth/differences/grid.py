# SPDX-License-Identifier: BSD-2-Clause
"""Which depths of a tile are taken from which, and added to which, a quarter of its lanes a clock.

A mode is log2 of the samples of a pixel. With the turn, columns and rows of pixels are exchanged.
A quarter is two rows of lanes.
"""

from collections.abc import Callable, Mapping, Sequence

from amaranth.hdl import Module, Value

from fixfunc.rtl.lib.bits import Selection
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.tile_groups.tile_order import Step

LANES = 64
QUARTERS = range(4)
QUARTER = LANES // len(QUARTERS)  # lanes
TURNS = range(2)


def index_of(quarter: int, mode: int, turn: int = 0) -> int:
    """The number by which operands are selected: ``Cat(quarter, samples, turn)``."""
    return quarter | mode << 2 | turn << 4


def indexes(modes: range, turns: Sequence[int]) -> list[int]:
    """All of them."""
    return [index_of(q, mode, turn) for turn in turns for mode in modes for q in QUARTERS]


def _of_sample_0(sample, x, y):
    return (0, x, y) if sample else None


def _before(sample, x, y):
    return (sample, x - 1, y) if x else None


def _slopes(sample, x, y):
    """Of sample 0 changes of slopes along rows; the first column of every sample downwards."""
    if x == 0:
        return (sample, 0, y - 1) if y else None
    return (0, x - 1, y) if sample == 0 and x > 1 else None


def _downwards(sample, x, y):
    """Of sample 0 the first slopes of rows, and changes in the first column."""
    least = 2 - x  # rows before that have nothing above them
    return (0, x, y - 1) if sample == 0 and x < 2 and y >= least else None


DIFFERENCES: tuple[Step, ...] = (_of_sample_0, _before, _slopes, _downwards)  # one after the other
SUMS: tuple[Step, ...] = DIFFERENCES[::-1]  # each of all that lies on its way


class History:
    """Numbers of a quarter, and those of the quarters before it, in registers where they are read.

    Parameters
    ----------
    m : Module
    values : sequence of Value
        A quarter a clock.
    name : str
        Of the registers.
    """

    def __init__(self, m: Module, values: Sequence[Value], name: str) -> None:
        self._m = m
        self._name = name
        self._known: dict[tuple[int, int], Value] = {
            (0, at): value for at, value in enumerate(values)
        }

    def __getitem__(self, key: tuple[int, int]) -> Value:
        """By quarters before this one, and the place within."""
        if key not in self._known:
            before, at = key
            value = self[before - 1, at]
            name = f"{self._name}_before_{before}_{at}"
            self._known[key] = register(self._m, value, len(Value.cast(value)), name)
        return self._known[key]


def operands(
    history: Mapping[tuple[int, int], Value],
    selection: Selection,
    shapes: Sequence[tuple[int, int]],
    lane_of: Callable[[int, int, int], int | None],
) -> list[Value]:
    """What ``lane_of(mode, turn, lane)`` names for every lane of a quarter, zero where it is None.

    Parameters
    ----------
    history : History
    selection : Selection
        By :func:`index_of`.
    shapes : sequence of (mode, turn)
    lane_of : callable
    """
    out = []
    for at in range(QUARTER):
        keys = {}
        for mode, turn in shapes:
            for q in QUARTERS:
                found = lane_of(mode, turn, QUARTER * q + at)
                if found is not None:
                    keys[index_of(q, mode, turn)] = q - found // QUARTER, found % QUARTER
        out.append(selection.of(keys, history))
    return out
