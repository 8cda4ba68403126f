# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from fixfunc.models.output.blend import Blend, blend
from fixfunc.models.output.formats import colour_format, load
from fixfunc.models.output.output_merger import merge
from fixfunc.spec.dxgi import FORMATS
from fixfunc.spec.state import COLOURS_OF_SOURCE, BlendFactor, BlendOp, LogicOp
from tests.oracles.blend import TARGETS

ENDS = np.array([0, 1, 2, 127, 128, 253, 254, 255])
FOR_ALPHA = [factor for factor in BlendFactor if factor not in COLOURS_OF_SOURCE]
CONSTANT = np.array([0.25, 1.0, 0.7, 1e-3], np.float32)


def colours(rng, count):
    """Half of them at the ends of their range."""
    wide = rng.integers(0, 256, (count, 4))
    return np.where(rng.random((count, 4)) < 0.5, rng.choice(ENDS, (count, 4)), wide).astype(
        np.uint8
    )


def exact_factor(factor, new, old, second, channel):
    """A factor of a channel, a rational."""
    name = factor.name
    if name.startswith("INV_"):
        return 1 - exact_factor(BlendFactor[name[4:]], new, old, second, channel)
    if name == "SRC_ALPHA_SAT":
        return Fraction(1) if channel == 3 else min(new[3], 1 - old[3])
    if name == "BLEND_FACTOR":
        return Fraction(round(float(CONSTANT[channel]) * 2**24), 2**24)
    source = {"SRC": new, "DEST": old, "SRC1": second}.get(name.split("_")[0])
    if source is None:
        return Fraction(name == "ONE")
    return source[3 if name.endswith("ALPHA") else channel]


def exact(new, old, second, state):
    """One pixel in rationals, rounded once."""
    new, old, second = ([Fraction(int(v), 255) for v in c] for c in (new, old, second))
    out = []
    for channel in range(4):
        alpha = channel == 3
        op = state.op_alpha if alpha else state.op
        if op in (BlendOp.MIN, BlendOp.MAX):
            value = (min if op == BlendOp.MIN else max)(new[channel], old[channel])
        else:
            factors = [
                state.source_alpha if alpha else state.source,
                state.target_alpha if alpha else state.target,
            ]
            first, other = (
                value[channel] * exact_factor(factor, new, old, second, channel)
                for value, factor in zip((new, old), factors, strict=True)
            )
            if op == BlendOp.REV_SUBTRACT:
                first, other = other, first
            value = first + other if op == BlendOp.ADD else first - other
        out.append(floor(min(max(value, 0), 1) * 255 + Fraction(1, 2)))
    return out


@pytest.mark.plan("blend-1")
@pytest.mark.parametrize("op", BlendOp, ids=lambda op: op.name)
def test_every_pair_of_factors_is_the_nearest_to_the_exact(op):
    rng = np.random.default_rng(op)
    for n, source in enumerate(BlendFactor):
        for target in BlendFactor:
            state = Blend(
                True,
                source,
                target,
                op,
                FOR_ALPHA[n % len(FOR_ALPHA)],
                FOR_ALPHA[(n * 5 + target) % len(FOR_ALPHA)],
                op,
            )
            new, old, second = (colours(rng, 6) for _ in range(3))
            got = blend(new, old, state, CONSTANT, second)
            right = [exact(*row, state) for row in zip(new, old, second, strict=True)]
            assert got.tolist() == right, (source, target)


# What a bit becomes where source and target are 0 and 0, 0 and 1, 1 and 0, 1 and 1.
LOGIC = {
    LogicOp.CLEAR: (0, 0, 0, 0),
    LogicOp.SET: (1, 1, 1, 1),
    LogicOp.COPY: (0, 0, 1, 1),
    LogicOp.COPY_INVERTED: (1, 1, 0, 0),
    LogicOp.NOOP: (0, 1, 0, 1),
    LogicOp.INVERT: (1, 0, 1, 0),
    LogicOp.AND: (0, 0, 0, 1),
    LogicOp.NAND: (1, 1, 1, 0),
    LogicOp.OR: (0, 1, 1, 1),
    LogicOp.NOR: (1, 0, 0, 0),
    LogicOp.XOR: (0, 1, 1, 0),
    LogicOp.EQUIV: (1, 0, 0, 1),
    LogicOp.AND_REVERSE: (0, 0, 1, 0),
    LogicOp.AND_INVERTED: (0, 1, 0, 0),
    LogicOp.OR_REVERSE: (1, 0, 1, 1),
    LogicOp.OR_INVERTED: (1, 1, 0, 1),
}


@pytest.mark.plan("blend-2")
def test_logic_operations():
    rng = np.random.default_rng(1)
    new, old = colours(rng, 500), colours(rng, 500)
    for op in LogicOp:
        got = blend(new, old, Blend(logic=True, logic_op=op))
        for bit in range(8):
            s, d = new >> bit & 1, old >> bit & 1
            assert (got >> bit & 1 == np.array(LOGIC[op])[2 * s + d]).all()


@pytest.mark.plan("blend-3")
def test_blending_as_llvmpipe(llvmpipe_blend):
    rng = np.random.default_rng(2)
    oracle = llvmpipe_blend()
    new, old = (colours(rng, 64 * 64).reshape(64, 64, 4) for _ in range(2))
    compared = 0
    for source in range(1, 12):
        for target in range(1, 11):
            for op in BlendOp:
                state = Blend(
                    True,
                    BlendFactor(source),
                    BlendFactor(target),
                    op,
                    BlendFactor.ONE,
                    BlendFactor.INV_SRC_ALPHA,
                    op,
                )
                theirs = oracle.modes(new, old, state)
                ours = blend(new, old, state)
                assert np.abs(ours.astype(int) - theirs).max() <= 1, state
                compared += 1
    assert compared == 550


# How far llvmpipe may be, in units of the target: it blends what it has rounded to these, and
# light of sRGB by a polynomial.
CUT = 2
SIGNED = 4
DARK = 6


@pytest.mark.plan("blend-3")
@pytest.mark.parametrize("form", TARGETS, ids=lambda form: form.name)
def test_every_format_blends_as_llvmpipe(llvmpipe_blend, form):
    """Of floats; it wraps what of SNORM is beyond the range: sums, and one less alpha."""
    rng = np.random.default_rng(form)
    oracle = llvmpipe_blend()
    kind = colour_format(form)
    is_signed = kind.kind == "SNORM"
    size = FORMATS[form].bytes
    near = DARK if kind.is_srgb else SIGNED if is_signed else CUT
    for source in range(1, 12):
        for target in range(1, 11):
            for op in BlendOp:
                factors = BlendFactor(source), BlendFactor(target)
                alpha = BlendFactor.ONE, BlendFactor.INV_SRC_ALPHA
                state = Blend(True, *factors, op, *alpha, op)
                new = rng.uniform(-is_signed, 1, (16, 16, 4)).astype(np.float32)
                old = rng.integers(0, 256, (16, 16, size), dtype=np.uint8)
                theirs = oracle.modes(new, old, state, form).reshape(-1, size)
                ours = merge(new.reshape(-1, 4), old.reshape(-1, size), form, state)
                if kind.is_srgb:
                    away = np.abs(ours.astype(int) - theirs)
                else:
                    away = np.abs(load(ours, kind) - load(theirs, kind))
                if is_signed:
                    away = np.where(away > kind.most, 0, away)[:, :3]
                assert away.max() <= near, state
                assert near > CUT or np.mean(away > 1) < 0.05, state


@pytest.mark.plan("blend-3")
@pytest.mark.parametrize("op", LogicOp, ids=lambda op: op.name)
def test_logic_operations_are_llvmpipes(llvmpipe_blend, op):
    rng = np.random.default_rng(3)
    new, old = (colours(rng, 32 * 32).reshape(32, 32, 4) for _ in range(2))
    theirs = llvmpipe_blend().logic(new, old, op)
    assert (blend(new, old, Blend(logic=True, logic_op=op)) == theirs).all()


@pytest.mark.plan("blend-2")
def test_constants_are_cut_to_one():
    white = np.full((1, 4), 255, np.uint8)
    state = Blend(True, BlendFactor.BLEND_FACTOR, BlendFactor.ZERO)
    state = state._replace(source_alpha=BlendFactor.BLEND_FACTOR)
    constant = np.array([-1, 0.5, 3, np.nan], np.float32)
    assert blend(white, white, state, constant).tolist() == [[0, 128, 255, 0]]
    assert blend(white, 0 * white, state).tolist() == [[255] * 4]
