# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.tile_groups.placing`."""

from collections.abc import Sequence
from functools import partial

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import placing as golden
from fixfunc.rtl.lib.tile_groups.placing import PlacingTree, TakingTree
from fixfunc.tb.bench.clocked import Case, Clock, Example, check

# Widths of values, and bits of what they make: one; two; an odd number; fewer bits than all need.
SHAPES = (((5,), 5), ((3, 4), 7), ((4, 7, 2, 9, 6), 28), ((8, 8, 8, 1, 30, 8, 8), 40))
Values = Sequence[int]


def packed(fields: list[tuple[int, int]]) -> int:
    """Values with their bits, the first one lowest."""
    out = 0
    at = 0
    for value, bits in fields:
        out |= value << at
        at += bits
    return out


def lengths_of(rng: np.random.Generator, widths: Values) -> list[int]:
    """Lengths of any size, the ends more often; all of them now and then."""
    kind = int(rng.integers(0, 8))
    if kind < 2:
        return [width * kind for width in widths]
    return [int(rng.choice([0, width, rng.integers(0, width + 1)])) for width in widths]


def sets(
    rng: np.random.Generator, clocks: int, widths: Values
) -> list[tuple[list[int], list[int]]]:
    """Values and their lengths, clock by clock."""
    out = []
    for _ in range(clocks):
        lengths = lengths_of(rng, widths)
        values = [
            (1 << length) - 1 if rng.random() < 0.3 else int(rng.integers(0, 1 << length))
            for length in lengths
        ]
        out.append((values, lengths))
    return out


def places(operands: Sequence[tuple[Values, Values]], widths: Values, most: int) -> list[Clock]:
    """Values in, all of them side by side out."""
    latency = golden.levels(len(widths))
    out = []
    for n, (values, lengths) in enumerate(operands):
        fields = []
        for value, length, width in zip(values, lengths, widths, strict=True):
            fields += [(value, width), (length, width.bit_length())]
        expected = {}
        if n >= latency:
            value, total = golden.placed(*operands[n - latency], most)
            expected = {"o": packed([(value, min(most, sum(widths))), (total, sum(widths))])}
        out.append(Clock({"i": packed(fields)}, expected))
    return out


def takes(operands: Sequence[tuple[Values, Values]], widths: Values, most: int) -> list[Clock]:
    """All of them side by side in, values out; the sum of their lengths before."""
    summed = golden.levels(len(widths))
    out = []
    for n, (values, lengths) in enumerate(operands):
        value, _ = golden.placed(values, lengths, most)
        sizes = [
            (length, width.bit_length()) for length, width in zip(lengths, widths, strict=True)
        ]
        expected = {}
        if n >= summed:
            expected["total"] = sum(operands[n - summed][1])
        if n >= 2 * summed:
            earlier, its = operands[n - 2 * summed]
            parts = golden.taken(golden.placed(earlier, its, most)[0], its, widths)
            expected["o"] = packed(list(zip(parts, widths, strict=True)))
        out.append(Clock({"i": packed([(value, most), *sizes])}, expected))
    return out


def _case(create, trace, widths, most):
    """A tree of some widths."""

    def random(rng, clocks):
        return trace(sets(rng, clocks, widths), widths, most)

    total = sum(widths)
    return Case(
        partial(create, widths, most),
        random,
        {
            "nothing": lambda clocks, n: clocks[n].inputs["i"] == 0,
            "something": lambda clocks, n: clocks[n].inputs["i"] >> total // 2 > 0,
        },
    )


CASES = {
    f"{name}_{len(widths)}": _case(create, trace, widths, most)
    for widths, most in SHAPES
    for name, create, trace in (
        ("placing", PlacingTree, places),
        ("taking", TakingTree, takes),
    )
}
_FEW = [([1, 2], [1, 2]), ([0, 5], [0, 4]), ([7, 1], [3, 1]), *[([0, 0], [0, 0])] * 3]
EXAMPLES = {
    "placing_2": Example(CASES["placing_2"].create, partial(places, _FEW, *SHAPES[1]), ("i", "o")),
    "taking_2": Example(
        CASES["taking_2"].create, partial(takes, _FEW, *SHAPES[1]), ("i", "total", "o")
    ),
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
