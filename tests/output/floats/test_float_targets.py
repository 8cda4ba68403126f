# SPDX-License-Identifier: BSD-2-Clause
"""Targets of floats, NaN, infinities and signs: beside lists of what there is."""

import numpy as np
import pytest

from fixfunc.models.output.blend import Blend
from fixfunc.models.output.formats import colour_format, float_bits, load, store
from fixfunc.models.output.output_merger import merge
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.state import BlendFactor, BlendOp
from tests.output.test_output_merger import ADD, name


@pytest.mark.plan("output-merger-3")
def test_not_a_number_and_zeros_of_both_signs_pass():
    form = Format.R32G32B32A32_FLOAT
    new = np.array([[np.nan, -0.0, np.inf, 1]], np.float32)
    zero = np.zeros((1, 16), np.uint8)
    assert (merge(new, zero, form, Blend()).view(np.uint32) == new.view(np.uint32)).all()
    state = Blend(True, BlendFactor.ZERO, BlendFactor.ONE)
    out = merge(new, np.ones((1, 4), np.float32).view(np.uint8), form, state).view(np.float32)
    assert np.isnan(out[0, [0, 2]]).all() and out[0, 1] == 1


@pytest.mark.plan("output-merger-3")
@pytest.mark.parametrize("bits", [10, 11, 16])
def test_small_floats_are_cut_towards_zero(bits):
    """[fs 3.2.2], beside a list of all values that there are [fs 3.1.5, 3.1.6]."""
    fraction = bits - 5 - (bits == 16)
    steps = np.arange(31 << fraction)
    exponent = np.maximum(steps >> fraction, 1)
    hidden = (steps >= 1 << fraction) << fraction
    mantissa = (steps & (1 << fraction) - 1) | hidden
    every = np.ldexp(mantissa.astype(float), exponent - 15 - fraction)
    assert every[-1] == {16: 65504, 11: 65024, 10: 64512}[bits]
    rng = np.random.default_rng(bits)
    anything = rng.integers(0, 0x7F800000, 50000, np.uint32).view(np.float32)
    sized = np.exp2(rng.uniform(-30, 20, 50000)).astype(np.float32)
    exact = every.astype(np.float32)
    beside = [np.nextafter(exact, np.float32(end)) for end in (0, np.inf)]
    values = np.concatenate([anything, sized, exact, *beside, [65520, 65536, 70000, 3.4e38]])
    values = values.astype(np.float32)
    cut = np.searchsorted(every, values.astype(float), side="right") - 1
    assert (float_bits(values, bits) == cut).all()
    assert float_bits(np.float32([np.inf]), bits) == 31 << fraction
    below = float_bits(-np.append(values, np.float32(np.inf)), bits)
    wanted = np.append(cut, 31 << fraction) | 0x8000 if bits == 16 else 0
    assert (below == wanted).all()


@pytest.mark.plan("output-merger-3")
@pytest.mark.parametrize("form", [Format.R16G16B16A16_FLOAT, Format.R11G11B10_FLOAT], ids=name)
def test_infinity_is_not_made_of_what_is_finite(form):
    """Whether a colour replaces what is stored, or is added to it, or is a mean of it."""
    kind = colour_format(form)
    great = np.full((1, 4), 65536, np.float32)
    most = load(store(great, kind), kind)
    stored = {channel.register for channel in kind.layout.channels}
    for channel in kind.layout.channels:
        ends = {16: 65504, 11: 65024, 10: 64512}
        assert most[0, channel.register] == ends[channel.bits]
    twice = merge(great, store(most, kind), form, ADD)
    assert (load(twice, kind) == most)[:, list(stored)].all()
    infinite = np.full((1, 4), np.inf, np.float32)
    for state in (Blend(), ADD):
        got = load(merge(infinite, store(most, kind), form, state), kind)
        assert np.isinf(got[0, list(stored)]).all()


@pytest.mark.plan("output-merger-14")
@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 16, 33, 100])
@pytest.mark.parametrize("op", [BlendOp.MIN, BlendOp.MAX])
def test_signs_of_zeros_do_not_depend_on_how_many_there_are(count, op):
    """The target's stays."""
    state = Blend(True, op=op, op_alpha=op)
    for zero in (0.0, -0.0):
        new, old = (np.full((count, 4), value, np.float32) for value in (-zero, zero))
        got = merge(new, old.view(np.uint8), Format.R32G32B32A32_FLOAT, state)
        assert (got == old.view(np.uint8)).all()


@pytest.mark.plan("output-merger-14")
@pytest.mark.parametrize("form", [Format.R32G32B32A32_FLOAT, Format.R16G16B16A16_FLOAT], ids=name)
def test_the_least_and_the_greatest_of_what_is_no_number(form):
    """[fs 3.1.3]: of NaN and a number the number, of two NaN NaN, whichever side has it."""
    numbers = [-np.inf, -2.0, -0.0, 0.5, 3.0, np.inf, np.nan]
    new, old = (axis.ravel() for axis in np.meshgrid(numbers, numbers))
    kind = colour_format(form)
    for op, best in ((BlendOp.MIN, np.fmin), (BlendOp.MAX, np.fmax)):
        state = Blend(True, op=op, op_alpha=op)
        colours = (np.repeat(values[:, None], 4, 1).astype(np.float32) for values in (new, old))
        shader, stored = colours
        got = load(merge(shader, store(stored, kind), form, state), kind)
        wanted = np.repeat(best(new, old)[:, None], 4, 1)
        assert np.array_equal(got, wanted, equal_nan=True)


@pytest.mark.plan("output-merger-14")
@pytest.mark.parametrize(
    ("form", "scale", "least"),
    [
        (Format.R8G8B8A8_UNORM, 255, 0),
        (Format.R8G8B8A8_SNORM, 127, -1),
        (Format.R16G16B16A16_SNORM, 32767, -1),
        (Format.R32G32B32A32_FLOAT, 1, -np.inf),
    ],
    ids=str,
)
def test_blend_constants_below_zero(form, scale, least):
    """They are cut to the target's range [fs 17.5]: to 0, to -1, or not at all."""
    factors = (BlendFactor.BLEND_FACTOR, BlendFactor.ZERO, BlendOp.ADD)
    inverse = (BlendFactor.INV_BLEND_FACTOR, BlendFactor.ZERO, BlendOp.ADD)
    kind = colour_format(form)
    old = np.zeros((1, FORMATS[form].bytes), np.uint8)
    new = np.full((1, 4), 0.5, np.float32)
    constant = np.float32([-0.25, -1, -3, -0.5])
    cut = np.maximum(constant, least)
    for how, factor in ((factors, cut), (inverse, 1 - cut)):
        got = load(merge(new, old, form, Blend(True, *how, *how), constant), kind)[0]
        wanted = np.clip(0.5 * factor, least, np.inf if kind.kind == "FLOAT" else 1) * scale
        assert np.abs(got - wanted).max() <= (0 if kind.kind == "FLOAT" else 0.6)


@pytest.mark.plan("output-merger-14")
def test_nans_are_one_in_small_floats():
    bits = np.array([0x7F800001, 0xFF812345, 0x7FFFFFFF, 0xFFC00000], np.uint32)
    for width, one in ((16, 0x7E00), (11, 0x7E0), (10, 0x3F0)):
        assert (float_bits(bits.view(np.float32), width) == one).all()
