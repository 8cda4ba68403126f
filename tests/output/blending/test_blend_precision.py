# SPDX-License-Identifier: BSD-2-Clause
"""How near blended colours come to the exact, in every format of integers, by every mode."""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import BlendState, RenderTargetBlend
from fixfunc.models.output.blend import Blend
from fixfunc.models.output.formats import SRGB, colour_format, load, thresholds
from fixfunc.models.output.output_merger import merge
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.state import COLOURS_OF_SOURCE, BlendFactor, BlendOp
from tests.host.drawing import WHOLE, Scene
from tests.output.test_output_merger import LINEAR, MIX, ideal_srgb, name, shaded, stored

TOLERANCE = Fraction(6, 10)  # of a unit of the target [fs 3.2.3.4, 3.2.3.6, 3.2.3.8]
CONSTANT = np.array([0.3, 0.7, 1e-3, 0.4], np.float32)
OF_ALPHA = [factor for factor in BlendFactor if factor not in COLOURS_OF_SOURCE]
EXTREMES = (BlendOp.MIN, BlendOp.MAX)


def factor_of(factor, new, old, second, constant, channel):
    """A factor of a channel [fs 17.1], of rationals or of floats."""
    name = factor.name
    if name.startswith("INV_"):
        inner = BlendFactor[name[4:]]
        return 1 - factor_of(inner, new, old, second, constant, channel)
    if name == "SRC_ALPHA_SAT":
        return 1 if channel == 3 else min(new[3], 1 - old[3])
    if name in ("ZERO", "ONE"):
        return int(name == "ONE")
    if name == "BLEND_FACTOR":
        return constant[channel]
    source = {"SRC": new, "DEST": old, "SRC1": second}[name.split("_")[0]]
    return source[3 if name.endswith("ALPHA") else channel]


def mixed(state, new, old, second, constant, channel):
    """What a channel becomes, before it is cut to the range."""
    of_alpha = channel == 3
    op = state.op_alpha if of_alpha else state.op
    if op in EXTREMES:
        return (min if op == BlendOp.MIN else max)(new[channel], old[channel])
    sides = (state.source_alpha, state.target_alpha) if of_alpha else (state.source, state.target)
    first, other = (
        colour[channel] * factor_of(side, new, old, second, constant, channel)
        for colour, side in zip((new, old), sides, strict=True)
    )
    if op == BlendOp.ADD:
        return first + other
    return first - other if op == BlendOp.SUBTRACT else other - first


def modes():
    """Every pair of factors under every operation; alpha's take turns."""
    for n, source in enumerate(BlendFactor):
        for k, target in enumerate(BlendFactor):
            alpha = OF_ALPHA[(n + 3 * k) % len(OF_ALPHA)], OF_ALPHA[(5 * n + k) % len(OF_ALPHA)]
            for op in BlendOp:
                yield Blend(True, source, target, op, *alpha, list(BlendOp)[(op + n + k) % 5])


def rational(colour, low):
    """A shader's colour, cut to the range."""
    return [min(max(Fraction(float(value)), low), 1) for value in colour]


@pytest.mark.plan("output-merger-16")
@pytest.mark.parametrize("form", LINEAR, ids=name)
def test_every_mode_is_within_the_tolerance(form):
    rng = np.random.default_rng(form)
    kind = colour_format(form)
    low = -1 if kind.kind == "SNORM" else 0
    most = [int(value) for value in kind.most]
    channels = sorted({channel.register for channel in kind.layout.channels})
    constant = rational(CONSTANT, low)
    for state in modes():
        new, second, old = shaded(rng, 2), shaded(rng, 2), stored(rng, form, 2)
        got = load(merge(new, old, form, state, CONSTANT, second), kind)
        kept = load(old, kind)
        for n in range(2):
            target = [Fraction(int(v), m) for v, m in zip(kept[n], most, strict=True)]
            colours = rational(new[n], low), target, rational(second[n], low), constant
            for channel in channels:
                right = min(max(mixed(state, *colours, channel), low), 1) * most[channel]
                assert abs(int(got[n, channel]) - right) <= TOLERANCE, (state, n, channel)


@pytest.mark.plan("output-merger-16")
@pytest.mark.parametrize("form", SRGB, ids=name)
def test_every_mode_of_srgb_is_within_the_tolerance(form):
    """Bytes, from the ideal curve of ideal linear light; alpha is linear."""
    rng = np.random.default_rng(form)
    kind = colour_format(form)
    for state in modes():
        new, second, old = shaded(rng, 3), shaded(rng, 3), stored(rng, form, 3)
        got = merge(new, old, form, state, CONSTANT, second)
        for n in range(3):
            target = [0.0, 0.0, 0.0, 1.0]
            for channel in kind.layout.channels:
                value = float(old[n, channel.low // 8]) / 255
                target[channel.register] = value if channel.register == 3 else light(value)
            shader = (np.clip(colour, 0, 1).astype(float) for colour in (new[n], second[n]))
            first, other = shader
            for channel in kind.layout.channels:
                at = channel.register
                value = mixed(state, first, target, other, CONSTANT.astype(float), at)
                value = min(max(value, 0), 1)
                ideal = 255 * value if at == 3 else ideal_srgb(value)
                assert abs(got[n, channel.low // 8] - ideal) <= TOLERANCE, (state, n, at)


def light(value):
    """Linear light of a channel of sRGB [fs 3.2.3.7]."""
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


@pytest.mark.plan("output-merger-16")
@pytest.mark.parametrize(
    ("form", "words", "kind"),
    [
        # 0.4 of 1023, 31, 63; over black, whose alpha is what is left of it.
        (Format.R10G10B10A2_UNORM, 409 | 409 << 10 | 409 << 20, "<u4"),
        (Format.B5G5R5A1_UNORM, 12 | 12 << 5 | 12 << 10, "<u2"),
        (Format.B5G6R5_UNORM, 12 | 25 << 5 | 12 << 11, "<u2"),
        (Format.B4G4R4A4_UNORM, 6 | 6 << 4 | 6 << 8, "<u2"),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_draw_blends_by_all_of_its_alpha(form, words, kind):
    """White of alpha 0.4 over black, through device and context."""
    scene = Scene()
    texture = scene.device.create_texture2d(form, 32, 24, bind=Bind.RENDER_TARGET)
    scene.context.om.set_render_targets([scene.device.create_render_target_view(texture)])
    blend = RenderTargetBlend(
        *(True, BlendFactor.SRC_ALPHA, BlendFactor.INV_SRC_ALPHA),
        *(BlendOp.ADD, BlendFactor.ZERO, BlendFactor.ZERO),
    )
    scene.context.om.set_blend_state(BlendState([blend]))
    scene.draw(WHOLE, (1, 1, 1, 0.4))
    assert (scene.context.read(texture).copy().view(kind) == words).all()


@pytest.mark.plan("output-merger-16")
@pytest.mark.parametrize("form", [*LINEAR, *SRGB], ids=name)
def test_what_a_target_holds_is_blended_exactly(form):
    """Nothing of a source, and all of what is stored: no texel changes."""
    rng = np.random.default_rng(form)
    old = stored(rng, form, 300)
    kind = colour_format(form)
    state = MIX._replace(source=BlendFactor.ZERO, source_alpha=BlendFactor.ZERO)
    state = state._replace(target=BlendFactor.ONE, target_alpha=BlendFactor.ONE)
    got = merge(shaded(rng, 300), old, form, state)
    assert (load(got, kind) == load(old, kind)).all()


@pytest.mark.plan("output-merger-8")
@pytest.mark.parametrize("form", [Format.B5G5R5A1_UNORM, Format.R10G10B10A2_UNORM], ids=name)
def test_dithered_channels_are_blended_as_they_would_be_stored(form):
    """Channels of fewer than 8 bits; the others keep all of theirs."""
    y, x = np.mgrid[:4, :4].reshape(2, -1)
    new = np.tile(np.float32((0.3, 0.3, 0.3, 0.4)), (16, 1))
    old = np.zeros((16, FORMATS[form].bytes), np.uint8)
    plain = merge(new, old, form, Blend(dither=True), threshold=thresholds(x, y))
    state = MIX._replace(target=BlendFactor.ZERO, dither=True)
    kind = colour_format(form)
    got = load(merge(new, old, form, state, threshold=thresholds(x, y)), kind)
    share = load(plain, kind)[:, 3] / kind.most[3]
    red = load(plain, kind)[:, 0] if kind.most[0] < 255 else 0.3 * kind.most[0]
    assert np.abs(got[:, 0] - red * share).max() <= 0.6
