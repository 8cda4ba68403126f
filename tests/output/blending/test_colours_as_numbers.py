# SPDX-License-Identifier: BSD-2-Clause
"""Colours that come to planes as they are stored, and fractions: how near blending is then."""

from itertools import product

import numpy as np
import pytest

from fixfunc.models.output.blend import Blend
from fixfunc.models.output.colour_write import blend
from fixfunc.models.output.formats import SRGB, colour_format, encode, load, shader_alpha
from fixfunc.models.output.output_merger import Numbers, parted, refined
from fixfunc.models.state import draw_state
from fixfunc.spec.colours import COLOUR_FORMATS
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.state import BlendFactor, BlendOp
from fixfunc.tb.bench.depths import blend_constant
from tests import tiers
from tests.output.blending.test_blend_precision import TOLERANCE, light, mixed, rational
from tests.output.test_output_merger import ideal_srgb, name, shaded, stored
from tests.plane_formats import BLENDED, PLACES, factors_of, given_places

LINEAR = sorted(BLENDED - set(SRGB))
OF_SRGB = [form for form in COLOUR_FORMATS if form in SRGB]
COUNT, STEP = (2, 1) if tiers.QUALIFY else (1, 2)  # samples a mode, and modes that are tried
MIX = {"src_blend": BlendFactor.SRC_ALPHA, "dest_blend": BlendFactor.INV_SRC_ALPHA}


def modes(form):
    """Every pair of factors under every operation, as fields of a state; alpha's take turns."""
    known, every = factors_of(form, BlendFactor), list(BlendFactor)
    ops = list(BlendOp)
    for n, (source, target) in enumerate(product(known, repeat=2)):
        for k in range(n % STEP, len(ops), STEP):
            yield {
                "src_blend": source,
                "dest_blend": target,
                "blend_op": ops[k],
                "src_blend_alpha": every[(n + 3 * k) % len(every)],
                "dest_blend_alpha": every[(5 * n + k) % len(every)],
                "blend_op_alpha": ops[(n + k) % 5],
            }


def blended(form, fields, values, old, constant=None, second=None):
    """What is stored of a shader's floats: uint8, shape (n, bytes)."""
    packed, fractions = parted(values, form)
    other = None if second is None else Numbers(*parted(second, form))
    words = np.zeros((len(old), 4), np.uint8)
    words[:, : old.shape[1]] = old
    state = draw_state(8, 8, colour_format=form, blend_enable=1, **fields)
    made = blend(packed, words.view("<u4")[:, 0], state, fractions, constant, other)
    return made.view(np.uint8).reshape(-1, 4)[:, : old.shape[1]]


def of_floats(fields):
    """The same state as the output merger of floats has it."""
    names = "src_blend", "dest_blend", "blend_op"
    return Blend(True, *(BlendFactor(fields[n]) for n in names[:2]), BlendOp(fields["blend_op"]))


def alphas(fields):
    return of_floats({n: fields[f"{n}_alpha"] for n in ("src_blend", "dest_blend", "blend_op")})


def state_of(fields):
    """Colours and alpha, as :func:`mixed` takes them."""
    own, other = of_floats(fields), alphas(fields)
    return own._replace(source_alpha=other.source, target_alpha=other.target, op_alpha=other.op)


@pytest.mark.plan("colour-write-22")
@pytest.mark.plan("colour-write-24")
@pytest.mark.parametrize("form", LINEAR, ids=name)
def test_every_mode_is_within_the_tolerance(form):
    """0.6 of a unit from what the shader's own floats give, alpha of one and two bits too.

    Of both of its colours, and with a blend constant.
    """
    rng = np.random.default_rng(form)
    kind = colour_format(form)
    low = -1 if kind.kind == "SNORM" else 0
    most = [int(value) for value in kind.most]
    channels = sorted({channel.register for channel in kind.layout.channels})
    for fields in modes(form):
        new, second, old = shaded(rng, COUNT), shaded(rng, COUNT), stored(rng, form, COUNT)
        constant = blend_constant(rng)
        got = load(blended(form, fields, new, old, constant, second), kind)
        kept = load(old, kind)
        fixed = rational(np.nan_to_num(constant), low)
        for n in range(COUNT):
            target = [rational([v / m], -1)[0] for v, m in zip(kept[n], most, strict=True)]
            for channel in channels:
                colours = rational(new[n], low), target, rational(second[n], low), fixed
                right = mixed(state_of(fields), *colours, channel)
                right = min(max(right, low), 1) * most[channel]
                assert abs(int(got[n, channel]) - right) <= TOLERANCE, (fields, n, channel)


@pytest.mark.plan("colour-write-22")
@pytest.mark.plan("colour-write-24")
@pytest.mark.parametrize("form", OF_SRGB, ids=name)
def test_every_mode_of_srgb_is_within_the_tolerance(form):
    """Bytes, from the ideal curve of ideal linear light; alpha is linear."""
    rng = np.random.default_rng(form)
    places = {n: place[0] // 8 for n, place in enumerate(PLACES[form.name.partition("_")[0]])}
    for fields in modes(form):
        new, second, old = shaded(rng, COUNT), shaded(rng, COUNT), stored(rng, form, COUNT)
        constant = blend_constant(rng)
        got = blended(form, fields, new, old, constant, second)
        fixed = np.clip(np.nan_to_num(constant), 0, 1).astype(float)
        for n in range(COUNT):
            target = [old[n, places[channel]] / 255 for channel in range(4)]
            target[:3] = map(light, target[:3])
            for channel in range(4):
                first, other = (np.clip(colour[n], 0, 1).astype(float) for colour in (new, second))
                value = mixed(state_of(fields), first, target, other, fixed, channel)
                value = min(max(value, 0), 1)
                ideal = 255 * value if channel == 3 else ideal_srgb(value)
                assert abs(got[n, places[channel]] - ideal) <= TOLERANCE, (fields, n, channel)


@pytest.mark.plan("colour-write-22")
@pytest.mark.parametrize(
    ("form", "words"),
    [
        (Format.R8G8B8A8_UNORM, 102 | 102 << 8 | 102 << 16),
        (Format.R10G10B10A2_UNORM, 409 | 409 << 10 | 409 << 20),
        (Format.B5G5R5A1_UNORM, 12 | 12 << 5 | 12 << 10),
        (Format.B5G6R5_UNORM, 12 | 25 << 5 | 12 << 11),
        (Format.B4G4R4A4_UNORM, 6 | 6 << 4 | 6 << 8),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_few_bits_of_alpha_blend_by_all_that_the_shader_has(form, words):
    """White of alpha 0.4 over black; nothing of alpha is stored."""
    zero = dict.fromkeys(("src_blend_alpha", "dest_blend_alpha"), BlendFactor.ZERO)
    white = np.float32([[1, 1, 1, 0.4]])
    got = blended(form, MIX | zero, white, np.zeros((1, FORMATS[form].bytes), np.uint8))
    assert int.from_bytes(got[0].tobytes(), "little") == words


@pytest.mark.plan("colour-write-22")
@pytest.mark.parametrize("form", [*LINEAR, *OF_SRGB], ids=name)
def test_a_shaders_floats_are_the_nearest_texel_and_what_is_left(form):
    """What is opaque is what encoding stores; with fractions a channel is less than a step away."""
    rng = np.random.default_rng(form)
    values = shaded(rng, 4000)
    packed, fractions = parted(values, form)
    size = FORMATS[form].bytes
    texels = packed.view(np.uint8).reshape(-1, 4)
    plain = draw_state(8, 8, colour_format=form)
    opaque = blend(packed, np.zeros(4000, np.uint32), plain, fractions)
    assert (opaque.view(np.uint8).reshape(-1, 4)[:, :size] == encode(values, form)).all()
    kind = colour_format(form)
    alpha = shader_alpha(kind)
    channels = kind.layout.channels + (() if alpha is None else (alpha,))
    given = kind._replace(layout=kind.layout._replace(channels=channels))
    numbers, steps = refined(load(texels, given), fractions, kind)
    low = -1 if kind.kind == "SNORM" else 0
    right = np.clip(values, low, 1).astype(float) * (kind.most * steps)
    for n, place in enumerate(given_places(form)):
        if place:
            near = 4.5 if form in SRGB and n < 3 else 1.501 if form in SRGB else 1.001
            assert np.abs(numbers[:, n] - right[:, n]).max() <= near


@pytest.mark.plan("colour-write-22")
@pytest.mark.parametrize("form", [*LINEAR, *OF_SRGB], ids=name)
def test_nothing_lies_beyond_the_range(form):
    """Fractions of any bits: a source that is added to nothing, and one less it, are texels."""
    rng = np.random.default_rng(form)
    given, fractions = rng.integers(0, 1 << 32, (2, 2000), dtype=np.uint32)
    ends = rng.choice(np.array([0, 0xFFFFFFFF], np.uint32), 2000)
    add = dict.fromkeys(("src_blend", "src_blend_alpha"), BlendFactor.ONE)
    add |= dict.fromkeys(("dest_blend", "dest_blend_alpha"), BlendFactor.ZERO)
    state = draw_state(8, 8, colour_format=form, blend_enable=1, **add)
    for words in (given, ends):
        bare, made = (blend(words, np.zeros(2000, np.uint32), state, f) for f in (None, fractions))
        if form in SRGB:
            continue
        assert (bare == made).all()  # less than half of a unit
