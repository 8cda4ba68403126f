# SPDX-License-Identifier: BSD-2-Clause
"""Numbers of a tile sample by sample, row by row, and which of them are taken from which.

With the turn, columns and rows are exchanged. A mode is log2 of the samples of a pixel.
"""

from collections.abc import Callable, Sequence

from amaranth.hdl import Const, Module, Signal, Value

from fixfunc.rtl.lib.bits import choose
from fixfunc.rtl.lib.tile_groups.tile_order import lane, pixels
from fixfunc.spec.payloads import DEPTH

COUNT = 64  # numbers of a tile
TURNS = range(2)
Place = tuple[int, int, int]  # sample, x, y
Step = Callable[[int, int, int], Place | None]  # the place that is taken from one, or added to it


def shape(mode: int, turn: int) -> tuple[int, int]:
    """Columns and rows of a sample's numbers."""
    wide, high = pixels(mode)
    return (high, wide) if turn else (wide, high)


def place(mode: int, turn: int, number: int) -> Place:
    """Where a number lies."""
    wide, high = shape(mode, turn)
    sample, index = divmod(number, wide * high)
    return sample, index % wide, index // wide


def number_at(mode: int, turn: int, at: Place) -> int:
    """The inverse of :func:`place`."""
    wide, high = shape(mode, turn)
    sample, x, y = at
    return (sample * high + y) * wide + x


def lane_of(mode: int, turn: int, number: int) -> int:
    """The lane of a number."""
    sample, x, y = place(mode, turn, number)
    return lane(mode, sample, y, x) if turn else lane(mode, sample, x, y)


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


def _summed(step: Step) -> list[Step]:
    """Sums that undo a step of differences: of two numbers, of four, of eight."""

    def by(distance):
        def before(sample, x, y):
            at = (sample, x, y)
            for _ in range(distance):
                at = at and step(*at)
            return at

        return before

    return [by(distance) for distance in (1, 2, 4)]


SUMS: tuple[Step, ...] = (
    *_summed(_downwards),
    *_summed(_slopes),
    *_summed(_before),
    _of_sample_0,
)


def applied(
    m: Module,
    values: Sequence[Value],
    step: Step,
    shapes: Sequence[tuple[int, int]],
    index: Value,
    adds: bool,
    name: str,
) -> list[Value]:
    """Numbers with those of a step added, or taken from them, one clock later.

    Parameters
    ----------
    m : Module
    values : sequence of Value
        :data:`COUNT` numbers modulo 2^24.
    step : Step
    shapes : sequence of (mode, turn)
        Which there may be, by ``index``.
    index : Value
    adds : bool
    name : str
        Of the registers.
    """
    out = []
    for number, value in enumerate(values):
        options = []
        for mode, turn in shapes:
            at = step(*place(mode, turn, number))
            options.append(Const(0, DEPTH) if at is None else values[number_at(mode, turn, at)])
        result = Signal(DEPTH, name=f"{name}_{number}")
        operand = choose(index, options)
        m.d.sync += result.eq(value + operand if adds else value - operand)
        out.append(result)
    return out
