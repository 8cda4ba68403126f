# SPDX-License-Identifier: BSD-2-Clause
"""Targets: what is stored lies within what the specification allows."""

import math
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import BlendState
from fixfunc.spec.dxgi import Format
from tests.machine.specification.drawing import (
    SIDE,
    Board,
    colours,
    random_blend,
    state_of,
    unpacked,
)
from tests.oracles.specification import colours as rules
from tests.oracles.specification import numbers

NORMALISED = (
    *("R8G8B8A8_UNORM", "B8G8R8A8_UNORM", "B8G8R8X8_UNORM", "R10G10B10A2_UNORM", "B5G6R5_UNORM"),
    *("B5G5R5A1_UNORM", "B4G4R4A4_UNORM", "R8_UNORM", "R8G8_UNORM", "R16_UNORM", "R16G16_UNORM"),
    *("R16G16B16A16_UNORM", "R8G8B8A8_SNORM", "R8_SNORM", "R16G16_SNORM", "R16G16B16A16_SNORM"),
    *("R8G8B8A8_UNORM_SRGB", "B8G8R8A8_UNORM_SRGB"),
)
FLOATS = (
    *("R32G32B32A32_FLOAT", "R32_FLOAT", "R16G16B16A16_FLOAT", "R16_FLOAT", "R11G11B10_FLOAT"),
)
INTEGERS = (
    *("R8G8B8A8_UINT", "R8G8B8A8_SINT", "R16G16_UINT", "R16_SINT", "R32G32B32A32_UINT"),
    *("R10G10B10A2_UINT", "R32_SINT"),
)
OPAQUE = rules.Blend(False, "ONE", "ZERO", "ADD", "ONE", "ZERO", "ADD", 15)
PIXELS = [(y, x) for y in range(SIDE) for x in range(SIDE)]


def seed_of(name, number=0):
    return [number, *name.encode()]


def assert_allowed(found, wanted, what):
    for at, allowed in wanted.items():
        assert found[at] in allowed, (what, at, int(found[at]), allowed)


@pytest.mark.plan("specification-4")
@pytest.mark.parametrize("form", NORMALISED)
def test_colours_become_integers_within_their_tolerance(form):
    rng = np.random.default_rng(seed_of(form))
    board = Board(form)
    new = colours(rng)
    board.paint(new)
    found = unpacked(board.raw()[:, :, 0], form)
    nothing = [0.0] * 4
    for y, x in PIXELS:
        wanted = rules.allowed(form, OPAQUE, new[y, x].tolist(), nothing, nothing, {})
        here = {at: value[y, x] for at, value in found.items()}
        assert_allowed(here, wanted, new[y, x])


@pytest.mark.plan("specification-4")
@pytest.mark.parametrize("form", FLOATS)
def test_colours_become_floats_towards_zero(form):
    rng = np.random.default_rng(seed_of(form))
    board = Board(form)
    scale = (2.0 ** rng.integers(-30, 20, (SIDE, SIDE, 4))).astype(np.float32)
    with np.errstate(over="ignore"):
        new = colours(rng) * np.where(rng.random((SIDE, SIDE, 4)) < 0.5, scale, np.float32(1))
    board.paint(new)
    found = unpacked(board.raw()[:, :, 0], form)
    seen = set()
    for y, x in PIXELS:
        for at, bits, _ in numbers.channels(form):
            given = float(new[y, x, "RGBA".index(at)])
            here = numbers.meant(int(found[at][y, x]), bits)
            seen.add((math.isnan(given), math.isinf(given)))
            if math.isnan(given):
                assert math.isnan(here)
            elif math.isinf(given):
                assert here == (given if given > 0 or bits in (16, 32) else 0)
            elif bits == 32:
                assert here == given  # moved, not computed: denormals stay [fs 3.1.3.2]
            else:
                allowed = {numbers.small(Fraction(given), bits)}
                allowed.add(numbers.small(numbers.exact(given), bits))
                assert Fraction(here) in allowed, (given, here)
    assert len(seen) == 3


@pytest.mark.plan("specification-4")
@pytest.mark.parametrize("form", INTEGERS)
def test_integers_are_cut_to_the_range_of_the_format(form):
    rng = np.random.default_rng(seed_of(form))
    board = Board(form)
    signed = form.endswith("SINT")
    kind = np.int32 if signed else np.uint32
    ends = np.array([0, 1, 127, 128, 255, 256, 1023, 1024, 65535, 65536, 2**31 - 1], np.int64)
    new = rng.choice([*ends, *(-ends if signed else 2**32 - 1 - ends)], (SIDE, SIDE, 4)).astype(
        kind
    )
    board.paint(new)
    found = unpacked(board.raw()[:, :, 0], form)
    for at, bits, kind in numbers.channels(form):
        wanted = [numbers.clamped(int(v), bits, kind) for v in new[..., "RGBA".index(at)].flat]
        assert [int(value) for value in found[at].flat] == wanted


@pytest.mark.plan("specification-5")
@pytest.mark.parametrize("form", NORMALISED)
def test_blends_lie_within_what_the_precision_of_the_format_allows(form):
    """Any factors, operations, masks; channels that are not written keep every bit."""
    for number in range(24):
        rng = np.random.default_rng(seed_of(form, number + 1))
        dual = bool(rng.random() < 0.3)
        pick = random_blend(rng, dual)
        constant = colours(rng, odd=False)[0, 0].tolist()
        new, second = colours(rng), colours(rng)
        board = Board(form)
        raw = rng.integers(0, 256, board.raw()[:, :, 0].shape, np.uint8)
        board.fill(raw)
        before = unpacked(raw, form)
        board.scene.context.om.set_blend_state(state_of(pick), tuple(constant))
        board.paint(new, *([second] if dual else []))
        found = unpacked(board.raw()[:, :, 0], form)
        state = rules.Blend(**pick)
        for y, x in PIXELS[number % 3 :: 3]:
            old = {at: int(value[y, x]) for at, value in before.items()}
            wanted = rules.allowed(
                form, state, new[y, x].tolist(), second[y, x].tolist(), constant, old
            )
            here = {at: value[y, x] for at, value in found.items()}
            assert_allowed(here, wanted, (state, new[y, x], second[y, x], constant, old))


@pytest.mark.plan("specification-5")
@pytest.mark.parametrize("form", FLOATS)
def test_blends_of_floats_lie_within_float32(form):
    for number in range(16):
        rng = np.random.default_rng(seed_of(form, number + 1))
        dual = bool(rng.random() < 0.3)
        pick = random_blend(rng, dual)
        constant = colours(rng, odd=False, reach=4)[0, 0].tolist()
        new, second, first = (colours(rng, odd=False, reach=4) for _ in range(3))
        board = Board(form)
        board.paint(first)
        before = unpacked(board.raw()[:, :, 0], form)
        board.scene.context.om.set_blend_state(state_of(pick), tuple(constant))
        board.paint(new, *([second] if dual else []))
        found = unpacked(board.raw()[:, :, 0], form)
        state = rules.Blend(**pick)
        bits = {at: its for at, its, _ in numbers.channels(form)}
        for y, x in PIXELS[number % 3 :: 3]:
            old = {at: numbers.meant(int(v[y, x]), bits[at]) for at, v in before.items()}
            wanted = rules.floats(
                form, state, new[y, x].tolist(), second[y, x].tolist(), constant, old
            )
            for at, (low, high) in wanted.items():
                here = Fraction(numbers.meant(int(found[at][y, x]), bits[at]))
                assert low <= here <= high, (state, at, new[y, x], old)


@pytest.mark.plan("specification-6")
@pytest.mark.parametrize("samples", [2, 4, 8])
def test_sample_masks_and_alpha_to_coverage_leave_samples_out(samples):
    """No alpha leaves none, a full one all, more alpha no fewer; a mask is joined with it."""
    rng = np.random.default_rng(samples)
    for mask in (0xFFFFFFFF, 0b0110, 0b10000001, 0):
        board = Board("R8G8B8A8_UNORM", samples)
        new = np.ones((SIDE, SIDE, 4), np.float32)
        new[..., 3] = colours(rng)[..., 0]
        state = BlendState(alpha_to_coverage_enable=True)
        board.scene.context.om.set_blend_state(state, sample_mask=mask)
        board.paint(new)
        left = board.raw()[..., 0] == 255
        inside = mask >> np.arange(samples) & 1
        assert not left[..., inside == 0].any()
        if mask == 0xFFFFFFFF:
            counts = left.sum(2)
            for y, x in PIXELS:
                assert counts[y, x] in rules.coverage(float(new[y, x, 3]), samples)
            order = np.argsort(new[..., 3], axis=None)
            rising = counts.flat[order][~np.isnan(new[..., 3].flat[order])]
            assert (np.diff(rising) >= 0).all()
            assert set(counts.flat) == set(range(samples + 1))
        else:
            full = new[..., 3] >= 1
            assert left[full][:, inside == 1].all()


@pytest.mark.plan("specification-6")
@pytest.mark.parametrize("form", NORMALISED)
@pytest.mark.parametrize("samples", [2, 4, 8])
def test_resolves_are_means_of_samples(form, samples):
    """Of sRGB in linear light."""
    rng = np.random.default_rng(seed_of(form, samples))
    board = Board(form, samples)
    context = board.scene.context
    for sample in range(samples):
        context.om.set_blend_state(None, sample_mask=1 << sample)
        board.paint(colours(rng))
    each = unpacked(board.raw(), form)
    into = board.scene.device.create_texture2d(Format[form], SIDE, SIDE, bind=Bind.RENDER_TARGET)
    context.resolve_subresource(into, (0, 0), board.texture, (0, 0))
    found = unpacked(context.read(into)[:, :, 0], form)
    for at, bits, kind in numbers.channels(form):
        if at == "X":
            continue
        for y, x in PIXELS[::2]:
            values = [int(value) for value in each[at][y, x]]
            assert found[at][y, x] in rules.resolved(values, bits, kind), (at, values)
