# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of groups: joined without gaps, and taken apart."""

from types import ModuleType

from amaranth.hdl import Cat, Const, Mux, Value

from fixfunc.rtl.lib.tile_groups import packer, placing, unpacker
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties

WIDTHS = 2, 1, 2
MOST = 4  # of a result that is cut off


def _any_values(p: Properties) -> tuple[list[Value], list[Value]]:
    """Values whose bits beyond their lengths are zero, and the lengths."""
    values = []
    lengths = []
    for n, width in enumerate(WIDTHS):
        length = p.free(width.bit_length(), f"any_length_{n}")
        lengths.append(p.named(f"length_{n}", Mux(length > width, width, length)))
        values.append(p.named(f"value_{n}", _cut(p.free(width, f"any_value_{n}"), lengths[n])))
    return values, lengths


def _cut(value: Value, length: Value) -> Value:
    """A value without the bits beyond its length."""
    return value & ((Const(1, len(value) + 1) << length) - 1)[: len(value)]


def _joined(p: Properties, values: list[Value], lengths: list[Value]) -> Value:
    """Values one behind the other, by the text: each moved by the lengths before it."""
    out = Const(0, sum(WIDTHS))
    before = Const(0, 1)
    for value, length in zip(values, lengths, strict=True):
        out = out | (value << before)[: sum(WIDTHS)]
        before = before + length
    return p.named("joined", out[: sum(WIDTHS)])


def placing_tree(module: ModuleType = placing) -> Properties:
    """Three values, joined, whole and cut off."""
    p = Properties()
    values, lengths = _any_values(p)
    joined = _joined(p, values, lengths)
    total = p.named("total", sum(lengths))
    for name, most in (("whole", sum(WIDTHS)), ("cut", MOST)):
        unit = module.PlacingTree(WIDTHS, most)
        p.add(unit, name)
        for n in range(len(WIDTHS)):
            p.m.d.comb += [
                unit.i[f"value{n}"].eq(values[n]),
                unit.i[f"length{n}"].eq(lengths[n]),
            ]
        p.prove(f"value_{name}", unit.o.value == p.past(joined, unit.latency)[:most])
        p.prove(f"length_{name}", unit.o.length == p.past(total, unit.latency))
        p.reach(f"full_{name}", unit.o.length == sum(WIDTHS))
    return p


def taking_tree(module: ModuleType = placing) -> Properties:
    """What was joined, taken apart: every value is there again."""
    p = Properties()
    values, lengths = _any_values(p)
    joined = _joined(p, values, lengths)
    unit = module.TakingTree(WIDTHS, sum(WIDTHS))
    p.add(unit)
    p.m.d.comb += unit.i.value.eq(p.past(joined, unit.then))
    for n in range(len(WIDTHS)):
        p.m.d.comb += unit.i[f"length{n}"].eq(lengths[n])
        width = min(WIDTHS[n], len(unit.o[f"value{n}"]))
        taken = _cut(unit.o[f"value{n}"], p.past(lengths[n], unit.latency))
        p.prove(f"value_{n}", taken[:width] == p.past(values[n], unit.latency))
    p.prove("total", unit.total == p.past(p.named("sum", sum(lengths)), unit.summed))
    p.reach("full", Cat(unit.o[f"value{n}"] != 0 for n in range(len(WIDTHS))).all())
    return p


def running_position(module: ModuleType = unpacker) -> Properties:
    """Takes from any places of any row."""
    p = Properties()
    words, most, word = 3, 3, 2
    unit = module.Unpacker(words, most, word)
    p.add(unit)
    begin = p.named("begin", Mux(unit.start, unit.at, unit.position))
    p.prove("bits", unit.o == p.past(p.named("from", (unit.row >> begin)[:most]), 1))
    behind = p.named("behind", (begin + unit.length)[: len(unit.position)])
    p.prove("position", unit.position == p.past(behind, 1))
    p.reach("end", unit.position == words * word)
    return p


def running_row(module: ModuleType = packer) -> Properties:
    """Values of any length appended to a row, from any place on."""
    p = Properties()
    words, most, word = 3, 3, 2
    unit = module.Packer(words, most, word)
    p.add(unit)
    any_length = p.free(2, "any_length")
    cut = p.named("cut", _cut(p.free(most, "any_value"), any_length))
    p.m.d.comb += [unit.value.eq(cut), unit.length.eq(any_length)]
    begin = p.named("begin", Mux(unit.start, unit.at, unit.position))
    behind = p.named("behind", (begin + any_length)[: len(begin)])
    p.prove("position", unit.position == p.past(behind, 1))
    before = p.named("before", Mux(unit.start, unit.first, unit.row))
    row = p.named("appended", (before | cut << begin)[: words * word])
    p.prove("row", unit.row == p.past(row, 1))
    p.reach("end", unit.row[-1])
    return p


PROOFS = [
    Proof(
        "placing_tree",
        "lib/tile_groups/placing.py PlacingTree",
        "Values of any length lie one behind the other, and the length is their sum, also where "
        "what lies beyond is cut off.",
        placing_tree,
        depth=4,
        size="values of 2, 1 and 2 bits",
    ),
    Proof(
        "taking_tree",
        "lib/tile_groups/placing.py TakingTree",
        "Of values that were joined each is there again: nothing is lost on the way to memory and "
        "back.",
        taking_tree,
        depth=7,
        size="values of 2, 1 and 2 bits",
    ),
    Proof(
        "unpacker",
        "lib/tile_groups/unpacker.py Unpacker",
        "A take begins where it says, or where the one before ended, and has the row's bits.",
        running_position,
        depth=3,
        size="a row of 3 words of 2 bits, takes of up to 3",
    ),
    Proof(
        "packer",
        "lib/tile_groups/packer.py Packer",
        "A value lies where it says, or behind the one before; what was there stays.",
        running_row,
        depth=3,
        size="a row of 3 words of 2 bits, values of up to 3",
    ),
]
