# SPDX-License-Identifier: BSD-2-Clause
"""The filter in hardware gives what the golden sampler gives, bit for bit."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.coordinates import cube
from fixfunc.models.texture.coordinates.footprint import footprint
from fixfunc.models.texture.sampler import Sampler, gather, sample, sample_compare
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.filter import FILTER_TAPS
from tests.texture.filter.grids import Samples, hardware
from tests.textures import noise

BLOCK = "filter"
FORMATS = (
    *("RGBA8", "R8", "RG8", "R16", "R16G16B16A16_UNORM", "B5G6R5_UNORM", "B5G5R5A1_UNORM"),
    *("B4G4R4A4_UNORM", "R10G10B10A2_UNORM", "R8G8B8A8_SNORM", "R16G16_SNORM", "BC1", "BC5S"),
)
COUNT = 240


def places(rng, axes=2):
    return rng.uniform(-1.5, 2.5, (COUNT, axes)).astype(np.float32)


def with_reference(rows, reference):
    """Packed grids whose pixels have a reference."""
    beats = codec.unpack(rows, FILTER_TAPS, dtype(FILTER_TAPS))
    for pixel in range(4):
        beats[f"reference{pixel}"] = reference
    return codec.pack(beats, FILTER_TAPS)


def equal(found, wanted, form):
    for n in form.present:
        assert np.array_equal(found[:, n].view(np.uint32), wanted[:, n].view(np.uint32))


@pytest.mark.plan("filter-6")
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("reduction", ["standard", "minimum", "maximum"])
def test_levels_are_those_of_the_sampler(name, reduction):
    rng = np.random.default_rng(len(name))
    texture = noise(12, 20, seed=1, format=name)
    sampler = Sampler(reduction=reduction, address=("wrap", "mirror"))
    lod = rng.integers(-200, 1200, COUNT)
    where = places(rng)
    found = hardware(*Samples(texture, sampler, where, lod).beats())
    equal(found, sample(texture, sampler, where, lod=lod / 256), texture.texel_format)


@pytest.mark.plan("filter-6")
@pytest.mark.parametrize("name", ["RGBA8", "B5G6R5_UNORM", "R8G8B8A8_SNORM"])
@pytest.mark.parametrize("reduction", ["standard", "maximum"])
def test_footprints_are_those_of_the_sampler(name, reduction):
    rng = np.random.default_rng(2)
    texture = noise(64, 32, seed=2, format=name)
    sampler = Sampler(anisotropy=16, reduction=reduction)
    where = places(rng)
    slopes = [rng.normal(0, 0.06, (COUNT, 2)).astype(np.float32) for _ in range(2)]
    slopes[1] *= np.float32(0.2)
    lod, *footprints = footprint(*slopes, 64, 32, 16)
    assert set(footprints[0]) >= {1, 3, 5, 7, 8}
    lod = np.clip(lod, 0, 31 << 8)
    found = hardware(*Samples(texture, sampler, where, lod, footprints=tuple(footprints)).beats())
    wanted = sample(texture, sampler, where, gradients=tuple(slopes))
    equal(found, wanted, texture.texel_format)


@pytest.mark.plan("filter-6")
@pytest.mark.parametrize("reduction", ["standard", "minimum"])
def test_corners_of_cubes_are_three_samples(reduction):
    rng = np.random.default_rng(3)
    texture = noise(4, 4, seed=3, faces=6)
    sampler = Sampler(reduction=reduction)
    lod = rng.integers(0, 600, COUNT)
    signs = rng.choice([-1, 1], (COUNT, 3))
    directions = (signs + rng.uniform(-0.7, 0.7, (COUNT, 3))).astype(np.float32)
    face, where, _ = cube.project(directions, [])
    samples = Samples(texture, sampler, where, lod, face)
    state, beats = samples.beats()
    counts = codec.unpack(beats, FILTER_TAPS, dtype(FILTER_TAPS))["count0"]
    assert set(counts) == {1, 3}
    found = hardware(state, beats)
    equal(found, sample(texture, sampler, directions, lod=lod / 256), texture.texel_format)


@pytest.mark.plan("filter-6")
def test_srgb_is_filtered_as_light():
    rng = np.random.default_rng(4)
    texture = noise(8, 8, seed=4, srgb=True)
    lod = rng.integers(0, 800, COUNT)
    where = places(rng)
    found = hardware(*Samples(texture, Sampler(), where, lod).beats())
    equal(found, sample(texture, Sampler(), where, lod=lod / 256), texture.texel_format)


@pytest.mark.plan("filter-6")
@pytest.mark.parametrize("function", list(Compare))
def test_comparisons_are_those_of_the_sampler(function):
    rng = np.random.default_rng(5)
    texture = noise(8, 8, seed=5, format="R16")
    sampler = Sampler(reduction="comparison", comparison=function)
    where = places(rng)
    lod = np.zeros(COUNT, np.int64)
    state, beats = Samples(texture, sampler, where, lod).beats(compares=1, function=function)
    reference = np.float32(0.4)
    stored = int(np.trunc(np.float64(reference) * 65535 + 0.5))
    found = hardware(state, with_reference(beats, stored))
    wanted = sample_compare(texture, sampler, where, np.full(COUNT, reference), lod=0)
    for n in range(4):
        assert np.array_equal(found[:, n], wanted)


@pytest.mark.plan("filter-6")
@pytest.mark.parametrize("name", ["RGBA8", "B5G5R5A1_UNORM"])
def test_gathers_are_those_of_the_sampler(name):
    rng = np.random.default_rng(6)
    texture = noise(8, 8, seed=6, format=name)
    where = places(rng)
    samples = Samples(texture, Sampler(), where, np.zeros(COUNT, np.int64))
    for component in range(4):
        found = hardware(*samples.beats(op=3, component=component))
        assert np.array_equal(found, gather(texture, Sampler(), where, component=component))
