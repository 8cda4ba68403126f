# SPDX-License-Identifier: BSD-2-Clause
"""Blending, write masks, alpha to coverage, resolves [fs 17, 19.2.4]."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from tests.oracles.specification import numbers
from tests.oracles.specification.numbers import Interval

RGBA = "RGBA"
HALF = Fraction(1, 2)
POINTS = 3 * Fraction(1, 1 << 23)  # of float32's three operations, of their operands [fs 3.1.3.2]


class Blend(NamedTuple):
    """D3D11_RENDER_TARGET_BLEND_DESC1: factors and operations by name [fs 17.1]."""

    enable: bool
    source: str
    target: str
    op: str
    source_alpha: str
    target_alpha: str
    op_alpha: str
    write: int


class Inputs(NamedTuple):
    """What enters blending, red to alpha: intervals, each channel as exact as it must be."""

    new: list[Interval]
    second: list[Interval]
    constant: list[Interval]
    old: list[Interval]


def allowed(
    name: str,
    state: Blend,
    new: Sequence[float],
    second: Sequence[float],
    constant: Sequence[float],
    old: dict[str, int],
) -> dict[str, range]:
    """Integers that each channel of a normalised target may hold afterwards.

    ``old``: what is stored, by letter; a channel without it in the write mask keeps it
    [fs 17.15].
    """
    layout = {at: (bits, kind) for at, bits, kind in numbers.channels(name) if at != "X"}
    found = {}
    for at, (bits, kind) in layout.items():
        place = RGBA.index(at)
        if not state.write >> place & 1:
            found[at] = range(old[at], old[at] + 1)
        else:
            result = (numbers.held(new[place], numbers.lowest(kind), 1),) * 2
            if state.enable:
                entered = [_entered(colour, layout) for colour in (new, second, constant)]
                result = blended(state, Inputs(*entered, _held(old, layout)), place)
            found[at] = numbers.stored(result, bits, kind)
    return found


def _entered(colour, layout):
    """Values that enter are clamped to the target's range; they are as precise as the format, or
    more [fs 17.5]. Channels that it lacks have the range, and here the bits, of those it has.
    """
    widest = max(layout.values())
    found = []
    for at, channel in zip(RGBA, colour, strict=True):
        bits, kind = layout.get(at, widest)
        found.append(numbers.known(channel, bits, kind))
    return found


def _held(old, layout):
    """What the target holds; missing colours are 0, and alpha 1 [fs 19.1.3.3]."""
    missing = {"A": (Fraction(1), Fraction(1))}
    zero = Fraction(0), Fraction(0)
    return [
        numbers.value(old[at], *layout[at]) if at in layout else missing.get(at, zero)
        for at in RGBA
    ]


def blended(state: Blend, inputs: Inputs, place: int) -> Interval:
    """The blend equation of a channel, before it is stored [fs 17.1]."""
    alpha = place == 3
    op = state.op_alpha if alpha else state.op
    new, old = inputs.new[place], inputs.old[place]
    if op in ("MIN", "MAX"):  # they ignore factors
        choose = min if op == "MIN" else max
        return choose(new[0], old[0]), choose(new[1], old[1])
    source = factor(state.source_alpha if alpha else state.source, inputs, place)
    target = factor(state.target_alpha if alpha else state.target, inputs, place)
    first, other = times(new, source), times(old, target)
    if op == "ADD":
        return first[0] + other[0], first[1] + other[1]
    if op == "REV_SUBTRACT":
        first, other = other, first
    return first[0] - other[1], first[1] - other[0]


def factor(name: str, inputs: Inputs, place: int) -> Interval:
    """D3D11_BLEND [fs 17.1-17.2]."""
    if name.startswith("INV_"):
        low, high = factor(name[4:], inputs, place)
        return 1 - high, 1 - low
    if name in ("ZERO", "ONE"):
        return (Fraction(name == "ONE"),) * 2
    if name == "SRC_ALPHA_SAT":  # f, f, f, 1
        if place == 3:
            return Fraction(1), Fraction(1)
        room = factor("INV_DEST_ALPHA", inputs, 3)
        return min(room[0], inputs.new[3][0]), min(room[1], inputs.new[3][1])
    if name == "BLEND_FACTOR":
        return inputs.constant[place]
    which, channel = name.rsplit("_", 1)
    row = {"SRC": inputs.new, "DEST": inputs.old, "SRC1": inputs.second}[which]
    return row[3 if channel == "ALPHA" else place]


def times(a: Interval, b: Interval) -> Interval:
    """Products of two intervals."""
    every = [x * y for x in a for y in b]
    return min(every), max(every)


def floats(
    name: str,
    state: Blend,
    new: Sequence[float],
    second: Sequence[float],
    constant: Sequence[float],
    old: dict[str, float],
) -> dict[str, Interval]:
    """Least and greatest numbers that channels of a target of floats may hold afterwards.

    All numbers are finite. Operations are fused or not, in float32 [fs 17.5], and what is stored is
    cut towards zero [fs 3.2.2].
    """
    layout = {at: bits for at, bits, _ in numbers.channels(name)}
    missing = {"A": 1.0}
    points = [
        [(numbers.exact(value),) * 2 for value in row]
        for row in (new, second, constant, [old.get(at, missing.get(at, 0.0)) for at in RGBA])
    ]
    found = {}
    for at, bits in layout.items():
        place = RGBA.index(at)
        if not state.write >> place & 1:
            found[at] = (Fraction(old[at]),) * 2
            continue
        low, high = blended(state, Inputs(*points), place) if state.enable else points[0][place]
        slack = 0
        if state.enable and (state.op_alpha if at == "A" else state.op) not in ("MIN", "MAX"):
            size = max(abs(row[n][0]) for row in points for n in (place, 3)) + 1
            slack = POINTS * size * size
        found[at] = numbers.small(low - slack, bits), numbers.small(high + slack, bits)
    return found


def coverage(alpha: float, samples: int) -> range:
    """How many samples alpha to coverage may leave [fs 17.18]."""
    if math.isnan(alpha) or alpha <= 0:
        return range(1)
    return range(samples, samples + 1) if alpha >= 1 else range(samples + 1)


def resolved(values: Sequence[int], bits: int, kind: str) -> range:
    """The mean of a pixel's samples, of sRGB as light [fs 19.2.4, 5.6.6]."""
    every = [numbers.value(value, bits, kind) for value in values]
    low, high = (sum(ends) / len(every) for ends in zip(*every, strict=True))
    return numbers.stored((low, high), bits, kind)
