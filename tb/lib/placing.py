# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :mod:`fixfunc.rtl.lib.tile_groups.placing`, and of packer and unpacker beside it."""

from collections.abc import Sequence
from functools import partial

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.models.lib import placing as golden
from fixfunc.rtl.lib.tile_groups.packer import Packer
from fixfunc.rtl.lib.tile_groups.placing import PlacingTree, TakingTree
from fixfunc.rtl.lib.tile_groups.unpacker import Unpacker
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
    """Lengths in, their sum out, then all values side by side in, and out again."""
    summed = golden.levels(len(widths))
    then = summed + 1
    side_by_side = [golden.placed(*its, most)[0] for its in operands]
    out = []
    for n, (_, lengths) in enumerate(operands):
        sizes = [
            (length, width.bit_length()) for length, width in zip(lengths, widths, strict=True)
        ]
        expected = {}
        if n >= summed:
            expected["total"] = sum(operands[n - summed][1])
        if n >= then + summed:
            earlier = n - then - summed
            parts = golden.taken(side_by_side[earlier], operands[earlier][1], widths)
            expected["o"] = packed(list(zip(parts, widths, strict=True)))
        value = side_by_side[n - then] if n >= then else 0
        out.append(Clock({"i": packed([(value, most), *sizes])}, expected))
    return out


# Words, most bits of a take, bits of a word: less than a word, more than one, all.
ROWS = ((3, 5, 8), (2, 11, 8), (5, 70, 32), (4, 16, 4))
Take = tuple[int, bool, int, int]  # row, start, at, length


def takings(rng: np.random.Generator, clocks: int, words: int, most: int, word: int) -> list[Take]:
    """Rows that are taken from beginning to end, and beyond, with pauses."""
    bits = words * word
    out: list[Take] = []
    while len(out) < clocks:
        row = int.from_bytes(rng.bytes(-(-bits // 8)), "little") & (1 << bits) - 1
        row = (1 << bits) - 1 if rng.random() < 0.2 else row
        at = int(rng.choice([0, 0, word, bits, rng.integers(0, bits + 1)]))
        long = rng.random() < 0.3
        for n in range(int(rng.integers(1, 8))):
            length = most if long else int(rng.choice([0, rng.integers(0, most + 1)]))
            out.append((row, n == 0, at if n == 0 else int(rng.integers(0, bits + 1)), length))
    return out[:clocks]


def unpacks(given: Sequence[Take], words: int, most: int, word: int) -> list[Clock]:
    """Takes in, bits and the next position out."""
    bits = words * word
    greatest = (1 << bits.bit_length()) - 1
    position = 0
    expected: dict[str, int] = {}
    known = True  # until the position is greater than it can tell
    out = []
    for row, start, at, length in given:
        inputs = {"row": row, "start": int(start), "at": at, "length": length}
        out.append(Clock(inputs, expected))
        position = at if start else position
        known = known or start
        expected = {"o": golden.unpacked(row, position, most)} if known else {}
        position += length
        known = known and position <= greatest
        if known:
            expected["position"] = position
    return out


def packs(given: Sequence[Take], words: int, word: int) -> list[Clock]:
    """Values in, from beginning to end of a row and beyond; the row out.

    Given as takes are: ``row`` has bits of a value, and of what lies before the first.
    """
    bits = words * word
    greatest = (1 << bits.bit_length()) - 1
    position = 0
    row = 0
    known = False
    expected: dict[str, int] = {}
    out = []
    for source, start, at, length in given:
        first = source & (1 << min(at, word)) - 1
        value = source >> word & (1 << length) - 1
        inputs = {"start": int(start), "at": at, "first": first, "value": value, "length": length}
        out.append(Clock(inputs, expected))
        if start:
            known = True
            row = first
            position = at
        row = golden.packed(row, value, position, bits)
        position += length
        known = known and position <= greatest
        expected = {"row": row} if known else {}
    return out


def _packer(words, most, word):
    """A packer of some row."""

    def random(rng, clocks):
        return packs(takings(rng, clocks, words, most, word), words, word)

    return Case(
        partial(Packer, words, most, word),
        random,
        {
            "goes on": lambda clocks, n: (
                not clocks[n].inputs["start"] and clocks[n].inputs["length"] > 0
            ),
            "reaches the end": lambda clocks, n: (
                clocks[n].outputs.get("row", 0) >> words * word - 1 > 0
            ),
            "nothing": lambda clocks, n: clocks[n].inputs["length"] == 0,
        },
    )


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


def _unpacker(words, most, word):
    """An unpacker of some row."""

    def random(rng, clocks):
        return unpacks(takings(rng, clocks, words, most, word), words, most, word)

    def ends(clocks, n):
        return clocks[n].outputs.get("position", 0)

    return Case(
        partial(Unpacker, words, most, word),
        random,
        {
            "goes on": lambda clocks, n: not clocks[n].inputs["start"] and ends(clocks, n) > word,
            "ends with the row": lambda clocks, n: ends(clocks, n) == words * word,
            "goes on behind it": lambda clocks, n: ends(clocks, n) > words * word,
            "nothing": lambda clocks, n: clocks[n].inputs["length"] == 0,
        },
    )


CASES |= {f"unpacker_{words}": _unpacker(words, most, word) for words, most, word in ROWS}
CASES |= {f"packer_{words}": _packer(words, most, word) for words, most, word in ROWS}
_FEW = [([1, 2], [1, 2]), ([0, 5], [0, 4]), ([7, 1], [3, 1]), *[([0, 0], [0, 0])] * 3]
_ROW = 0x8D3F01
_TAKEN = [(_ROW, True, 4, 5), (_ROW, False, 0, 5), (_ROW, False, 0, 0), (_ROW, False, 0, 3)] + [
    (_ROW, True, 20, 4)
] * 2
_PACKED = [(0x502, True, 2, 3), (0x300, False, 0, 2), (0, False, 0, 0), (0x100, False, 0, 1)] + [
    (0x100, True, 10, 1)
] * 2
EXAMPLES = {
    "placing_2": Example(CASES["placing_2"].create, partial(places, _FEW, *SHAPES[1]), ("i", "o")),
    "taking_2": Example(
        CASES["taking_2"].create, partial(takes, _FEW, *SHAPES[1]), ("i", "total", "o")
    ),
    "packer_3": Example(
        CASES["packer_3"].create,
        partial(packs, _PACKED, ROWS[0][0], ROWS[0][2]),
        ("start", "at", "first", "value", "length", "row"),
    ),
    "unpacker_3": Example(
        CASES["unpacker_3"].create,
        partial(unpacks, _TAKEN, *ROWS[0]),
        ("start", "at", "length", "o", "position"),
    ),
}


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(name=list(CASES))
async def by_the_clock(dut: HierarchyObject, name: str) -> None:
    await check(dut, name, CASES[name])
