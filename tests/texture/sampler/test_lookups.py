# SPDX-License-Identifier: BSD-2-Clause
"""Texels without a mean: fetches, gathers, extremes, comparisons; levels and their bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.texture import texels
from fixfunc.models.texture.filtering import fetch as fetch_module
from fixfunc.models.texture.filtering.fetch import fetch, fetch_buffer
from fixfunc.models.texture.sampler import (
    Sampler,
    gather,
    level_of_detail,
    sample,
    sample_compare,
)
from fixfunc.models.texture.texels import TEXELS
from fixfunc.models.texture.texture import create
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare
from tests.textures import floats, noise

CLAMP = ("clamp",) * 3


def read_all(texture, level=0, image=0):
    """All texels of an image as a shader reads them: shape (depth, height, width, samples, 4)."""
    return texels.values(texture.texels(level, image), texture.texel_format)


# Fetches.


@pytest.mark.plan("sampler-17")
@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("format", ["RGBA8", "R32G32_SINT", "R11G11B10_FLOAT"])
def test_fetches_are_texels_and_zeros_outside(dimension, format):
    texture = noise(
        8,
        (1, 4, 4)[dimension - 1],
        format=format,
        depth=4 if dimension == 3 else 1,
        dimension=dimension,
        layers=1 if dimension == 3 else 3,
    )
    rng = np.random.default_rng(0)
    level = rng.integers(-1, len(texture.levels) + 1, 600)
    layer = rng.integers(-1, 4, 600) if dimension < 3 else np.zeros(600, int)
    offset = (-3, 2, 1)[:dimension]
    sizes = np.array([texture.extents(int(n)) for n in np.maximum(level, 0)])
    places = rng.integers(-1, sizes + 1) - offset  # one texel beyond at most
    found = fetch(texture, places, level, layer, offset=offset)
    form = TEXELS[format]
    assert found.dtype == (np.int32 if form.is_integer else np.float32)
    inside = 0
    for n in range(600):
        at = places[n] + offset
        wanted = np.zeros(4)
        wanted[3] = 3 not in form.present
        if 0 <= level[n] < len(texture.levels) and 0 <= layer[n] < texture.layers:
            size = texture.extents(int(level[n]))
            if (at >= 0).all() and (at < size).all():
                x, y, z = (*at, 0, 0)[:3]
                wanted = read_all(texture, int(level[n]), int(layer[n]))[z, y, x, 0]
                inside += 1
        assert np.array_equal(found[n], wanted, equal_nan=True)
    assert inside > 50


@pytest.mark.plan("sampler-17")
def test_samples_are_fetched_one_by_one():
    texture = noise(4, 4, levels=1, samples=8)
    everything = read_all(texture)[0]
    for sample_index in range(8):
        places = np.stack(np.meshgrid(range(4), range(4)), -1)
        found = fetch(texture, places, sample=sample_index)
        assert (found == everything[:, :, sample_index]).all()
    assert (fetch(texture, np.array([[0, 0]]), sample=8) == 0).all()
    with pytest.raises(InputError, match="samples of a texture to filter must be 1, not 8"):
        sample(texture, Sampler(), np.zeros((1, 2)), lod=0)


@pytest.mark.plan("sampler-17")
def test_fetches_of_srgb_are_light_and_those_of_floats_their_bits():
    texture = noise(4, 4, srgb=True)
    assert (
        fetch(texture, np.array([1, 2]))[0]
        == sample(
            texture, Sampler("point", "point", "point"), np.float32([1.5 / 4, 2.5 / 4]), lod=0
        )[0]
    )
    values = np.array([1e-42, -0.0, np.inf, 1.5], np.float32)
    flat = create("R32_FLOAT", 4, 1, [values.view(np.uint8)[None]], dimension=1)
    found = fetch(flat, np.arange(4)[:, None])[:, 0]
    assert (found.view(np.uint32) == values.view(np.uint32)).all()


@pytest.mark.plan("sampler-17")
def test_elements_of_a_buffer():
    data = np.arange(26, dtype=np.uint8)
    found = fetch_buffer(data, "R16G16_UINT", np.array([[0, 5], [6, -1]]))
    assert found.tolist() == [
        [[0x0100, 0x0302, 0, 1], [0x1514, 0x1716, 0, 1]],
        [[0, 0, 0, 1], [0, 0, 0, 1]],
    ]
    with pytest.raises(InputError, match="format of a buffer must be without blocks, not BC1"):
        fetch_buffer(data, "BC1", np.array([0]))


@pytest.mark.plan("sampler-17")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: fetch(noise(4, 4, faces=6), np.zeros((1, 2), int)), "not be a cube"),
        (lambda: fetch(noise(4, 4), np.zeros((1, 2))), "places must be integers of shape"),
        (lambda: fetch(noise(4, 4), np.zeros((1, 3), int)), "places must be integers of shape"),
        (lambda: fetch(noise(4, 4), np.zeros((1, 2), int), offset=(8,)), "offset must be up to 2"),
        (lambda: fetch(noise(4, 4), np.zeros((1, 2), int), offset=(1, 1, 1)), "offset must be"),
    ],
)
def test_fetches_that_are_refused(call, text):
    with pytest.raises(InputError, match=text):
        call()
    assert range(-8, 8) == fetch_module.OFFSETS


# Offsets.


@pytest.mark.plan("sampler-18")
@given(
    st.integers(-8, 7),
    st.integers(-8, 7),
    st.integers(0, 2),
    st.sampled_from(["wrap", "mirror", "clamp", "border", "mirror_once"]),
)
def test_an_offset_is_as_many_texels_of_the_level(x, y, level, address):
    texture = noise(8, 8)
    uv = np.random.default_rng(1).integers(0, 256, (20, 2)) / 256
    sampler = Sampler(address=(address, address), border=(0.1, 0.2, 0.3, 0.4), mip="point")
    size = np.array(texture.size(level))
    moved = sample(texture, sampler, (uv + (x, y) / size).astype(np.float32), lod=level)
    offset = sample(texture, sampler, uv.astype(np.float32), lod=level, offset=(x, y))
    assert (moved == offset).all()


@pytest.mark.plan("sampler-18")
def test_offsets_that_are_refused():
    for texture, coordinates, offset, text in (
        (noise(4, 4), np.zeros((1, 2)), (0, 8), "up to 2 of -8 to 7 texels"),
        (noise(4, 4), np.zeros((1, 2)), (-9, 0), "up to 2 of -8 to 7 texels"),
        (noise(4, 4), np.zeros((1, 2)), (0, 0, 1), "up to 2 of -8 to 7 texels"),
        (noise(4, 4), np.zeros((1, 2)), (1.5, 0), "integers by axis"),
        (noise(4, 4), np.zeros((1, 2)), 3, "integers by axis"),
        (noise(4, 4, faces=6), np.ones((1, 3)), (1, 0), "0 of a cube"),
    ):
        with pytest.raises(InputError, match=f"offset must be {text}"):
            sample(texture, Sampler(), coordinates, lod=0, offset=offset)
    gather(noise(64, 64), Sampler(), np.zeros((1, 2)), offset=(-32, 31))
    with pytest.raises(InputError, match="offset must be up to 2 of -32 to 31"):
        gather(noise(64, 64), Sampler(), np.zeros((1, 2)), offset=(-33, 31))


# Gathers.


@pytest.mark.plan("sampler-13")
def test_gathers_of_integers_and_of_what_a_format_lacks():
    texture = noise(8, 8, format="R32G32_UINT")
    image = texture.image()
    found = gather(texture, Sampler(address=CLAMP), np.float32([[3.5 / 8, 4.5 / 8]]), 1)
    assert found.dtype == np.uint32
    # On a texel's centre: that texel is the upper left one.
    assert found[0].tolist() == [image[5, 3, 1], image[5, 4, 1], image[4, 4, 1], image[4, 3, 1]]
    for component, value in ((2, 0), (3, 1)):
        assert (gather(texture, Sampler(), np.zeros((1, 2)), component) == value).all()


@pytest.mark.plan("sampler-13")
def test_gathers_at_a_corner_of_a_cube_have_the_mean_of_three():
    cube = noise(4, 4, faces=6)
    direction = np.float32([[1, 0.99, 0.99]])
    found = np.sort(gather(cube, Sampler(), direction)[0].astype(np.float64))
    means = [np.isclose(v, (found.sum() - v) / 3, atol=1e-7) for v in found]
    assert sum(means) == 1


@pytest.mark.plan("sampler-13")
def test_gathers_compare():
    texture = floats(8, 8)
    sampler = Sampler(address=CLAMP, reduction="comparison", comparison=Compare.LESS)
    places = np.random.default_rng(0).random((100, 2)).astype(np.float32)
    found = gather(texture, sampler, places, reference=0.5)
    assert (found == (gather(texture, sampler, places) > 0.5)).all()
    assert 0 < found.mean() < 1


# Extremes.


@pytest.mark.plan("sampler-19")
@pytest.mark.parametrize("reduction", ["minimum", "maximum"])
@pytest.mark.parametrize("format", ["RGBA8", "R32_FLOAT", "R16G16_SNORM", "BC4U"])
def test_extremes_are_those_of_the_texels_that_have_weight(reduction, format):
    texture = floats(8, 8) if format == "R32_FLOAT" else noise(8, 8, format=format)
    function = np.min if reduction == "minimum" else np.max
    rng = np.random.default_rng(0)
    steps = rng.integers(128, 7 * 256 + 128, (60, 2))
    steps[:20] -= steps[:20] % 256 - 128  # on centres: one texel has weight
    places = (steps / 2048).astype(np.float32)
    sampler = Sampler(address=CLAMP, reduction=reduction)
    found = sample(texture, sampler, places, lod=0)
    image = read_all(texture)[0, :, :, 0]
    for step, row in zip(steps - 128, found, strict=True):
        (x, fx), (y, fy) = (divmod(int(v), 256) for v in step)
        near = image[y : y + 1 + (fy > 0), x : x + 1 + (fx > 0)].reshape(-1, 4)
        assert (row == function(near, axis=0)).all()
    # Between levels both count.
    both = sample(texture, sampler, places, lod=0.5)
    coarse = sample(texture, sampler, places, lod=1)
    assert (both == function([found, coarse], axis=0)).all()


# Comparisons.


@pytest.mark.plan("sampler-14")
@pytest.mark.parametrize("compare", Compare, ids=lambda compare: compare.name)
@pytest.mark.parametrize("format", ["R24_UNORM_X8_TYPELESS", "R16", "R32_FLOAT"])
def test_a_reference_is_quantised_as_depths_are(format, compare):
    """Depths that have been stored equal what they were stored from."""
    rng = np.random.default_rng(0)
    depths = rng.random(64).astype(np.float32)
    depths[:4] = 0, 1, 0.5, 1e-7
    bits = {"R24_UNORM_X8_TYPELESS": 24, "R16": 16}.get(format)
    if bits is None:
        data = depths.view(np.uint8)
    else:
        words = np.floor(depths.astype(np.float64) * ((1 << bits) - 1) + 0.5)
        data = words.astype("<u4" if bits == 24 else "<u2").view(np.uint8)
    texture = create(format, 64, 1, [data[None]], dimension=1)
    sampler = Sampler("point", "point", "point", CLAMP, reduction="comparison", comparison=compare)
    places = ((np.arange(64) + 0.5) / 64).astype(np.float32)[:, None]
    found = sample_compare(texture, sampler, places, depths, lod=0)
    equal = compare in (
        Compare.EQUAL,
        Compare.LESS_EQUAL,
        Compare.GREATER_EQUAL,
        Compare.ALWAYS,
    )
    assert (found == equal).all()
    # What lies beyond the format is held to it.
    if bits:
        assert (sample_compare(texture, sampler, places[1:2], 7.0, lod=0) == equal).all()


@pytest.mark.plan("sampler-14")
def test_a_shadow_is_filtered_and_its_border_is_compared():
    depths = np.float32([0.2, 0.8])
    texture = create("R32_FLOAT", 2, 1, [depths.view(np.uint8)[None]], dimension=1)
    sampler = Sampler(
        address=("border",),
        border=(0.6, 0, 0, 0),
        reduction="comparison",
        comparison=Compare.LESS_EQUAL,
    )
    places = np.float32([[0.25], [0.5], [0.625], [0.75], [1.0], [3.0]])
    assert sample_compare(texture, sampler, places, 0.5, lod=0).tolist() == [0, 0.5, 0.75, 1, 1, 1]
    assert sample_compare(texture, sampler, places, 0.7, lod=0)[-2:].tolist() == [0.5, 0]


@pytest.mark.plan("sampler-14")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda t: sample_compare(t, Sampler(), np.zeros((1, 2)), 0, lod=0), "be one of comp"),
        (
            lambda t: sample(t, Sampler(reduction="comparison"), np.zeros((1, 2)), lod=0),
            "reduction of the sampler must be one of standard, minimum, maximum",
        ),
        (
            lambda _t: sample_compare(
                noise(4, 4, format="R8_UINT"),
                Sampler(reduction="comparison"),
                np.zeros((1, 2)),
                0,
                lod=0,
            ),
            "texture to compare with must be",
        ),
        (
            lambda t: sample_compare(
                t, Sampler(reduction="comparison"), np.zeros((1, 2)), 0, lods=0
            ),
            "argument must be one of lod, ",
        ),
        (lambda _t: gather(noise(4, 4, depth=4, dimension=3), Sampler(), np.zeros((1, 3))), "2D"),
        (lambda t: gather(t, Sampler(), np.zeros((1, 2)), 4), "component must be 0 to 3"),
        (
            lambda _t: sample(noise(4, 4, format="R8_UINT"), Sampler(), np.zeros((1, 2)), lod=0),
            "format of a texture to filter must not be of integers, not R8_UINT",
        ),
        (
            lambda _t: sample(
                noise(4, 4, depth=4, dimension=3),
                Sampler(address=("wrap", "wrap")),
                np.zeros((1, 3)),
                lod=0,
            ),
            "address must be 3 modes",
        ),
        (lambda _t: Sampler(reduction="mean"), "reduction must be one of standard"),
        (lambda _t: Sampler(comparison=9), "comparison must be one of Compare"),
    ],
)
def test_lookups_that_are_refused(call, text):
    with pytest.raises(InputError, match=text):
        call(noise(4, 4))


# Levels.


@pytest.mark.plan("sampler-20")
def test_a_texture_has_no_levels_below_its_least():
    """The examples of [fs 5.8.6], by a view that begins at level 1."""
    whole = noise(64, 64)
    view = create("RGBA8", 32, 32, whole.levels[1:6])
    uv = np.random.default_rng(0).random((30, 2)).astype(np.float32)
    sampler = Sampler(min_lod=1.2, max_lod=4)
    for least, computed, used in ((3.5, 0, 2.5), (3.5, 2, 2.5), (5.5, 0, 4.5), (5.5, 2, 4.5)):
        clamped = view._replace(min_lod=round((least - 1) * 256))
        found = sample(clamped, sampler, uv, lod=computed)
        # The last level of the view is its fourth: beyond it nothing is there.
        if used > 4:
            assert (found == 0).all()
        else:
            assert (found == sample(view, Sampler(), uv, lod=used)).all()
    single = create("R8", 4, 4, [np.full((1, 16), 9, np.uint8)])._replace(min_lod=1)
    assert (sample(single, Sampler(), uv, lod=0) == [0, 0, 0, 1]).all()
    assert (gather(single, Sampler(), uv) == 0).all()
    assert (gather(single, Sampler(), uv, 3) == 1).all()


@pytest.mark.plan("sampler-20")
def test_fetches_need_the_level_below_a_fraction():
    texture = noise(8, 8)._replace(min_lod=256 + 26)
    places = np.zeros((4, 2), int)
    found = fetch(texture, places, np.arange(4))
    assert not found[0].any() and all(found[n].any() for n in (1, 2, 3))
    assert not fetch(texture._replace(min_lod=3 * 256 + 1), places, np.arange(4)).any()


@pytest.mark.plan("sampler-20")
def test_levels_of_detail_are_told():
    texture = noise(64, 64, levels=5)
    rng = np.random.default_rng(0)
    quads = (rng.random((40, 1, 1, 2)) + rng.normal(0, 0.02, (40, 2, 2, 2))).astype(np.float32)
    sampler = Sampler(bias=1.0, min_lod=0.5, max_lod=3.25)
    found = level_of_detail(texture, sampler, quads)
    assert found.shape == (40, 2, 2, 2)
    assert (found[..., 0] == np.clip(found[..., 1] + 1, 0.5, 3.25)).all()
    assert found[..., 1].min() < 0.5 and found[..., 1].max() > 2
    # The level is the one that a sample has.
    same = sample(texture, Sampler(), quads, lod=found[..., 0])
    assert (same == sample(texture, sampler, quads)).all()
    empty = texture._replace(min_lod=4 * 256 + 1)
    assert (level_of_detail(empty, sampler, quads)[..., 0] == 0).all()


@pytest.mark.plan("sampler-20")
@pytest.mark.parametrize("dimension", [1, 3])
def test_levels_of_other_dimensions_are_by_the_longer_gradient(dimension):
    texture = noise(
        64,
        (1, 64, 32)[dimension - 1],
        dimension=dimension,
        depth=16 if dimension == 3 else 1,
        levels=4,
    )
    rng = np.random.default_rng(0)
    gradients = [
        (2.0 ** rng.integers(-6, 0, (50, dimension)) * rng.integers(0, 2, (50, dimension))).astype(
            np.float32
        )
        for _ in "xy"
    ]
    found = level_of_detail(
        texture, Sampler(), np.zeros((50, dimension), np.float32), gradients=gradients
    )
    lengths = [np.linalg.norm(g * texture.extents(0), axis=1) for g in gradients]
    exact = np.log2(np.maximum(np.maximum(*lengths), 2.0**-128))
    # A logarithm by eight bits of a mantissa, halved with floor.
    assert np.abs(found[:, 1] - np.maximum(exact, -128)).max() <= 1 / 128
