# SPDX-License-Identifier: BSD-2-Clause
"""Blending and logic operations of one sample.

Source: docs/output/blend.md, docs/output/output_merger.md; [fs 17.1-17.6].
"""

import math
from fractions import Fraction

from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, BlendOp, LogicOp
from tests.oracles.naive_frame import float32, formats
from tests.oracles.naive_frame.scene import Target

CONSTANT = 1 << 24  # 1 as a constant factor
SOURCE = 1 << 20  # 1 as a shader's channel that is blended, at least


def written(
    state: Target,
    form: Format,
    colours: list[tuple],
    factor: tuple[float, ...],
    stored: list[int],
) -> list[int]:
    """What a sample of a target stores after a shader's colour has come.

    ``colours``: the target's, and behind it that of a second source.
    """
    old = formats.loaded(form, stored)
    bits = formats.channels(form).bits
    if state.logic:
        new = formats.source(form, colours[0])
        raw = formats.to_store(form, new)
        result = [
            _logic(state.logic_op, a, b) & (1 << count) - 1
            for a, b, count in zip(raw, stored, bits, strict=True)
        ]
    elif state.enable:
        mixed = _floats if formats.channels(form).kind == "FLOAT" else _integers
        both = colours[0], colours[-1]
        result = formats.to_store(form, mixed(state, form, *both, old, factor))
    else:
        result = formats.to_store(form, formats.source(form, colours[0]))
    return [result[n] if state.mask >> n & 1 and bits[n] else stored[n] for n in range(4)]


def _logic(op, new, old):
    """A logic operation of two integers, of which the lowest bits count."""
    return {
        LogicOp.CLEAR: 0,
        LogicOp.SET: -1,
        LogicOp.COPY: new,
        LogicOp.COPY_INVERTED: ~new,
        LogicOp.NOOP: old,
        LogicOp.INVERT: ~old,
        LogicOp.AND: new & old,
        LogicOp.NAND: ~(new & old),
        LogicOp.OR: new | old,
        LogicOp.NOR: ~(new | old),
        LogicOp.XOR: new ^ old,
        LogicOp.EQUIV: ~(new ^ old),
        LogicOp.AND_REVERSE: new & ~old,
        LogicOp.AND_INVERTED: ~new & old,
        LogicOp.OR_REVERSE: new | ~old,
        LogicOp.OR_INVERTED: ~new | old,
    }[op]


def _chosen(state, n):
    """Factors and operation of a channel."""
    if n == 3:
        return state.source_alpha, state.target_alpha, state.op_alpha
    return state.source, state.target, state.op


def _factor(kind, n, new, second, old, constant, complement):
    """A factor of channel n; ``complement``: one less a number."""
    inverse = {
        BlendFactor.INV_SRC_COLOR: new[n],
        BlendFactor.INV_SRC_ALPHA: new[3],
        BlendFactor.INV_DEST_COLOR: old[n],
        BlendFactor.INV_DEST_ALPHA: old[3],
        BlendFactor.INV_BLEND_FACTOR: constant[n],
        BlendFactor.INV_SRC1_COLOR: second[n],
        BlendFactor.INV_SRC1_ALPHA: second[3],
    }
    if kind in inverse:
        return complement(inverse[kind])
    if kind == BlendFactor.SRC_ALPHA_SAT:
        return 1 if n == 3 else _extreme(BlendOp.MIN, new[3], complement(old[3]))
    return {
        BlendFactor.ZERO: 0,
        BlendFactor.ONE: 1,
        BlendFactor.SRC_COLOR: new[n],
        BlendFactor.SRC_ALPHA: new[3],
        BlendFactor.DEST_COLOR: old[n],
        BlendFactor.DEST_ALPHA: old[3],
        BlendFactor.BLEND_FACTOR: constant[n],
        BlendFactor.SRC1_COLOR: second[n],
        BlendFactor.SRC1_ALPHA: second[3],
    }[kind]


def _integers(state, form, new, second, old, factor):
    """Integers mixed exactly as fractions, rounded once to the nearest, halves up."""
    most = [formats.wide(form, n) for n in range(4)]
    steps = [-(-SOURCE // its) for its in most]
    fine = [its * number for its, number in zip(most, steps, strict=True)]
    new, second, old = (
        [Fraction(value, its) for value, its in zip(colour, units, strict=True)]
        for colour, units in (
            (formats.source(form, new, steps), fine),
            (formats.source(form, second, steps), fine),
            (old, most),
        )
    )
    is_signed = formats.channels(form).kind == "SNORM"
    constant = [
        Fraction(
            math.floor(Fraction(min(max(value, -is_signed), 1)) * CONSTANT + Fraction(1, 2)),
            CONSTANT,
        )
        for value in factor
    ]
    out = []
    for n in range(4):
        by_source, by_target, op = _chosen(state, n)
        if op in (BlendOp.MIN, BlendOp.MAX):
            value = (min if op == BlendOp.MIN else max)(new[n], old[n])
        else:
            numbers = n, new, second, old, constant, lambda value: 1 - value
            a = new[n] * _factor(by_source, *numbers)
            b = old[n] * _factor(by_target, *numbers)
            value = a + b if op == BlendOp.ADD else a - b if op == BlendOp.SUBTRACT else b - a
        integer = math.floor(value * most[n] + Fraction(1, 2))
        out.append(min(max(integer, -most[n] if is_signed else 0), most[n]))
    return out


def _extreme(op, new, old):
    """The lesser or the greater; of equals the target's, of no number and a number the number."""
    if math.isnan(new) or math.isnan(old):
        return old if math.isnan(new) else new
    return new if (new < old if op == BlendOp.MIN else new > old) else old


def _floats(state, form, new, second, old, factor):
    """Floats by float32: source times its factor is added to target times its own."""
    new, second = (formats.source(form, colour) for colour in (new, second))
    constant = [float32.flushed(value) for value in factor]
    out = []
    for n in range(4):
        by_source, by_target, op = _chosen(state, n)
        if op in (BlendOp.MIN, BlendOp.MAX):
            out.append(_extreme(op, new[n], old[n]))
            continue
        numbers = n, new, second, old, constant, lambda value: float32.subtract(1.0, value)
        a, b = float(_factor(by_source, *numbers)), float(_factor(by_target, *numbers))
        target = float32.multiply(old[n], b)
        if op == BlendOp.ADD:
            out.append(float32.multiply_add(new[n], a, target))
        elif op == BlendOp.SUBTRACT:
            out.append(float32.multiply_add(new[n], a, -target))
        else:
            out.append(float32.multiply_add(-new[n], a, target))
    return out
