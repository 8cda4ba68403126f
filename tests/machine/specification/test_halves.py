# SPDX-License-Identifier: BSD-2-Clause
"""Quantisers at halves of a step: each tie by its rule, and the floats next to it to either side.

Where a step is a power of two the tie is a float32; else the two floats about it are tried. What a
stage does not tell is compared: a tie acts as the neighbour does that the rule chooses.
"""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from fixfunc.models import formats
from fixfunc.models.geometry.viewport import snap
from fixfunc.models.host.states import BlendState
from fixfunc.models.output.formats import RENDERABLE, colour_format, encode, load
from fixfunc.models.tessellation.tessellator import tessellate
from fixfunc.models.texture import texture
from fixfunc.models.texture.sampler import Sampler, sample, sample_compare
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Compare, DepthFormat
from tests.host.drawing import WHOLE, Scene
from tests.oracles.specification.numbers import channels, encoded, unit

HALF = Fraction(1, 2)
NORMALISED = [
    form for form in RENDERABLE if form.name.rsplit("_", 1)[1] in ("UNORM", "SNORM", "SRGB")
]


def even(value):
    """Nearest, ties to even [fs 3.2.4.1]."""
    below = floor(value)
    return below + (value - below > HALF or (value - below == HALF and below % 2 == 1))


def away(value):
    """Nearest, ties away from zero: half is added, or subtracted, and cut [fs 3.2.3.4, 3.2.3.6]."""
    return floor(abs(value) + HALF) * (1 if value >= 0 else -1)


def about(steps, one):
    """The float nearest to each half above a step, and its neighbours: float32, shape (n, 3)."""
    middle = ((np.asarray(steps) + 0.5) / one).astype(np.float32)
    sides = [np.nextafter(middle, np.float32(end)) for end in (-np.inf, np.inf)]
    return np.stack([sides[0], middle, sides[1]], -1)


def scaled(values, one):
    return [Fraction(float(value)) * one for value in values]


@pytest.mark.plan("specification-8")
@pytest.mark.parametrize("form", NORMALISED, ids=lambda form: form.name)
def test_colours_as_normalised_integers(form):
    """[fs 3.2.3.4, 3.2.3.6], every half of up to 10 bits; of sRGB alpha alone."""
    kind = colour_format(form)
    for place, (letter, bits, sort) in enumerate(channels(form.name)):
        if letter == "X" or sort == "SRGB":
            continue
        one = unit(bits, sort)
        steps = np.arange(0, one, 1 if bits <= 10 else 97)
        steps = np.concatenate([steps, -1 - steps]) if sort == "SNORM" else steps
        values = about(steps, one).reshape(-1)
        wanted = [away(value) for value in scaled(values, one)]
        channel = kind.layout.channels[place].register
        colours = np.zeros((len(values), 4), np.float32)
        colours[:, channel] = values
        texels = encode(colours, form)
        found = texels[:, place] if kind.is_srgb else load(texels, kind)[:, channel]
        assert found.tolist() == wanted


@pytest.mark.plan("specification-8")
def test_colours_as_srgb():
    """[fs 3.2.3.8]: about every half within 0.6, never falling."""
    linear = [value / 1e6 for value in range(1000001)]
    places = np.searchsorted([255 * encoded(value) for value in linear], np.arange(255) + 0.5)
    values = np.sort(np.append(about(places - 0.5, 1e6), (0, 1)).astype(np.float32))
    colours = np.repeat(values[:, None], 4, 1)
    found = encode(colours, Format.R8G8B8A8_UNORM_SRGB)[:, 0].astype(int)
    assert (np.diff(found) >= 0).all() and found[0] == 0 and found[-1] == 255
    for value, got in zip(values.tolist(), found.tolist(), strict=True):
        assert abs(255 * encoded(min(max(value, 0), 1)) - got) <= 0.6


@pytest.mark.plan("specification-8")
@pytest.mark.parametrize("form", [DepthFormat.D16, DepthFormat.D24])
def test_depths_of_a_shader(form):
    """[fs 3.2.3.6]: 24 bits have halves between floats below 1/2 alone."""
    one = formats.MOST[form]
    steps = np.linspace(0, one - 1, 3001).astype(np.int64)
    values = about(steps, one).reshape(-1)
    wanted = [away(min(max(value, 0), one)) for value in scaled(values, one)]
    assert formats.encode(values, form).tolist() == wanted


@pytest.mark.plan("specification-8")
def test_positions():
    """[fs 3.2.4.1, 3.4.1]: 16.8."""
    rng = np.random.default_rng(8)
    steps = np.concatenate([np.arange(-600, 600), rng.integers(-(1 << 22), 1 << 22, 2000)])
    values = about(steps, 256).reshape(-1)
    assert snap(values).tolist() == [even(value) for value in scaled(values, 256)]


def neighbours(first, count, bits):
    """A tie above each step, the floats beside it, and the step that each acts as: float32."""
    one = 1 << bits
    values = about(np.arange(first, first + count), one).reshape(-1)
    return values, np.array([even(value) for value in scaled(values, one)]) / np.float32(one)


@pytest.mark.plan("specification-8")
@pytest.mark.parametrize("partitioning", ["fractional_odd", "fractional_even"])
def test_tessellation_factors(partitioning):
    """[fs 11.7.10], factors in 16.16 by [fs 3.2.4.1]: points are those of the nearest one."""
    values, steps = neighbours(5 << 15, 200, 16)

    def points(factor):
        found = tessellate("triangle", [factor] * 3, [factor], partitioning, "triangle_cw")
        return found.points.tobytes()

    told = 0
    for below, tie, above in values.reshape(-1, 3):
        told += points(below) != points(above)
        for value in (below, tie, above):
            at = np.float32(even(Fraction(float(value)) * 65536) / 65536)
            assert points(value) == points(at)
    assert told > 20
    assert set(steps * 65536 - (5 << 15)) == set(range(201))


@pytest.mark.plan("specification-8")
@pytest.mark.parametrize("address", ["wrap", "clamp", "mirror"])
def test_texel_coordinates(address):
    """[fs 7.18.7, 3.2.4.1]: 16.8 behind the size, by the weights of two texels."""
    row = np.array([[[0] * 4, [255] * 4, [0] * 4, [255] * 4]], np.uint8)
    image = texture.create("RGBA8", 4, 1, [row.reshape(1, -1)])
    state = Sampler(address=(address,) * 3)
    # Places from the middle of the first texel on: weights rise.
    values, steps = neighbours(128, 255, 8)
    found, right = (
        sample(image, state, np.stack([u / 4, u * 0], -1).astype(np.float32), lod=0)[:, 0]
        for u in (values, steps)
    )
    assert found.tolist() == right.tolist()
    assert len(set(found.tolist())) >= 255


@pytest.mark.plan("specification-8")
def test_levels_of_detail():
    """[fs 7.18.10, 3.2.4.1]: 8 bits of fraction, of a sample's level, of a bias, of a bound."""
    levels = [np.full((1, 4 * side * side), 255 * n, np.uint8) for n, side in enumerate((2, 1))]
    image = texture.create("RGBA8", 2, 2, levels)
    values, steps = neighbours(0, 255, 8)
    places = np.full((len(values), 2), 0.5, np.float32)
    right = sample(image, Sampler(), places, lod=steps)[:, 0]
    assert len(set(right.tolist())) >= 255
    assert sample(image, Sampler(), places, lod=values)[:, 0].tolist() == right.tolist()
    for value, wanted in list(zip(values.tolist(), right, strict=True))[::7]:
        for state in (Sampler(bias=value), Sampler(min_lod=value)):
            assert sample(image, state, places[:1], lod=0)[0, 0] == wanted
        assert sample(image, Sampler(max_lod=value), places[:1], lod=1)[0, 0] == wanted


@pytest.mark.plan("specification-8")
def test_layers():
    """[fs 5.3.5]: to the nearest, ties to even."""
    values = about(np.arange(-1, 6), 1).reshape(-1)
    wanted = [min(max(even(value), 0), 5) for value in scaled(values, 1)]
    state = Sampler("point", "point", "point")
    places = np.full((len(values), 2), 0.5, np.float32)
    image = texture.create("RGBA8", 1, 1, [np.repeat(np.arange(6, dtype=np.uint8)[:, None], 4, 1)])
    found = sample(image, state, places, lod=0, layer=values)[:, 0] * 255
    assert np.rint(found).astype(int).tolist() == wanted


@pytest.mark.plan("specification-8")
def test_references_of_comparisons():
    """[fs 22.4.19]: a reference is quantised as a depth is."""
    one = (1 << 16) - 1
    state = Sampler("point", "point", "point", reduction="comparison", comparison=Compare.EQUAL)
    for step in (0, 1, 2, 1000, 32767, 32768, 65534):
        values = about([step], one).reshape(-1)
        for texel in (step, step + 1):
            image = texture.create("R16", 1, 1, [np.array([[texel]], "<u2").view(np.uint8)])
            found = sample_compare(image, state, np.full((3, 2), 0.5, np.float32), values, lod=0)
            wanted = [float(away(value) == texel) for value in scaled(values, one)]
            assert found.tolist() == wanted, (step, texel)


@pytest.mark.plan("specification-8")
def test_alpha_as_coverage():
    """Ours; [fs 17.18] leaves the rule open: half a sample is one."""
    scene = Scene(4, 4, samples=4)
    context = scene.context
    context.om.set_render_targets([scene.target])
    for values in about(np.arange(4), 4):
        for value in values:
            context.clear_render_target_view(scene.target, (0, 0, 0, 0))
            context.om.set_blend_state(BlendState(alpha_to_coverage_enable=True))
            scene.draw(WHOLE, (1, 1, 1, value))
            count = (scene.image()[..., 0] == 255).sum(-1)
            assert (count == floor(Fraction(float(value)) * 4 + HALF)).all()
