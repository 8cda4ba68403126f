# SPDX-License-Identifier: BSD-2-Clause
"""Sampler against llvmpipe, which filters RGBA8 with 8 bits, and float32 in float32."""

import numpy as np
import pytest

from fixfunc.models.texture.sampler import ADDRESSES, Sampler, gather, sample, sample_compare
from fixfunc.models.texture.texture import bytes_of, create, size
from fixfunc.spec.state import Compare
from tests.textures import floats, noise


@pytest.mark.plan("sampler-1")
@pytest.mark.parametrize("address", ADDRESSES)
def test_filters_against_llvmpipe(llvmpipe_sampler, address):
    texture = noise(16, 8)
    rng = np.random.default_rng(0)
    uv = rng.uniform(-2, 3, (3000, 2)).astype(np.float32)
    lods = rng.integers(-256, 4 * 256, 3000) / 256
    oracle = llvmpipe_sampler()
    for smooth, mip in (("linear", "linear"), ("linear", "point"), ("point", "point")):
        sampler = Sampler(smooth, smooth, mip, (address, address), border=(1.0, 0.5, 0.25, 0.0))
        golden = sample(texture, sampler, uv, lod=lods)
        error = np.abs(golden - oracle.sample(texture, sampler, uv, lods)).max(1)
        # A coordinate or a level next to the middle between two may be rounded to the other.
        share = 0.999 if smooth == "linear" and mip == "linear" else 0.98
        assert (error < 3 / 255).mean() > share, (smooth, mip, error.max())


@pytest.mark.plan("sampler-5")
def test_cubes_against_llvmpipe(llvmpipe_sampler):
    """Colours agree except at corners, where llvmpipe takes another texel of the three."""
    cube = noise(16, 16, faces=6)
    directions = np.random.default_rng(0).normal(0, 1, (4000, 3)).astype(np.float32)
    golden = sample(cube, Sampler(), directions, lod=0)
    oracle = llvmpipe_sampler().sample(cube, Sampler(), directions, np.zeros(4000))
    components = np.sort(np.abs(directions), 1)
    corner = (components[:, :2] / components[:, 2:] > 1 - 1.1 / 16).all(1)
    assert corner.sum() < 60
    assert (np.abs(golden - oracle).max(1)[~corner] < 6 / 255).mean() > 0.999


@pytest.mark.plan("sampler-2")
def test_levels_against_llvmpipe(llvmpipe_sampler):
    """Levels differ by an eighth at most, because llvmpipe approximates logarithms otherwise."""
    levels = [np.full((1, bytes_of("RGBA8", *size(64, 64, n))), 30 * n, np.uint8) for n in range(7)]
    flat = create("RGBA8", 64, 64, levels)
    rng = np.random.default_rng(0)
    gradients = [
        (rng.normal(0, 1, (3000, 2)) * 2.0 ** rng.uniform(-7, -1, (3000, 1))).astype(np.float32)
        for _ in range(2)
    ]
    uv = rng.random((3000, 2)).astype(np.float32)
    golden = sample(flat, Sampler(), uv, gradients=gradients)
    oracle = llvmpipe_sampler().sample(flat, Sampler(), uv, gradients=gradients)
    assert np.abs(golden - oracle).max() < 30 / 8 / 255


@pytest.mark.plan("sampler-11")
@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("dimension", [1, 3])
def test_other_dimensions_against_llvmpipe(llvmpipe_sampler, dimension, address):
    sizes = (16, 8, 4)[:dimension]
    texture = floats(
        16,
        *sizes[1:2],
        format="R32G32B32A32_FLOAT",
        channels=4,
        depth=4 if dimension == 3 else 1,
        dimension=dimension,
    )
    rng = np.random.default_rng(dimension)
    places = rng.uniform(-2, 3, (2000, dimension)).astype(np.float32)
    lods = rng.integers(-256, 4 * 256, 2000) / 256
    sampler = Sampler(address=(address,) * 3, border=(1.0, 0.5, 0.25, 0.0))
    golden = sample(texture, sampler, places, lod=lods)
    error = np.abs(golden - llvmpipe_sampler().sample(texture, sampler, places, lods)).max(1)
    # A coordinate is rounded to 1/256: each axis may move a value by 1/512 of its range.
    assert (error < 2 / 256).mean() > 0.999, error.max()


def coordinates_as_texels(width, height):
    """A texture whose texels are their own places: x, y, level."""
    levels = []
    for n in range(max(width, height).bit_length()):
        wide, high = size(width, height, n)
        y, x = np.mgrid[:high, :wide].astype(np.float32)
        texels = np.stack([x, y, np.full_like(x, n), np.ones_like(x)], -1)
        levels.append(texels.reshape(1, -1).view(np.uint8))
    return create("R32G32B32A32_FLOAT", width, height, levels)


@pytest.mark.plan("sampler-12")
@pytest.mark.parametrize("address", [mode for mode in ADDRESSES if mode != "border"])
def test_addresses_and_weights_are_those_of_llvmpipe(llvmpipe_sampler, address):
    """Texels that are their own places tell which are read, and with what weights."""
    texture = coordinates_as_texels(64, 64)
    rng = np.random.default_rng(3)
    # In the middle between two steps of 1/8 texel of level 0, which is on a step of 1/256 texel of
    # level 4: no texel's edge is near.
    steps = rng.integers(-3 * 512, 4 * 512, (4000, 2))
    middle = ((2 * steps + 1) / 1024).astype(np.float32)
    on = (rng.integers(-3 * 64 * 256, 4 * 64 * 256, (4000, 2)) / (64 * 256)).astype(np.float32)
    oracle = llvmpipe_sampler()
    point = Sampler("point", "point", "point", (address, address))
    lods = rng.integers(0, 5, 4000).astype(np.float32)
    golden = sample(texture, point, middle, lod=lods)
    assert (golden == oracle.sample(texture, point, middle, lods)).all()
    assert len(np.unique(golden[:, 2])) == 5
    smooth = Sampler("linear", "linear", "point", (address, address))
    golden = sample(texture, smooth, on, lod=0)
    theirs = oracle.sample(texture, smooth, on, np.zeros(4000))
    # Weights of 8 bits are exact; llvmpipe computes with float32.
    assert np.abs(golden - theirs).max() < 64 * 2.0**-16


@pytest.mark.plan("sampler-13")
@pytest.mark.parametrize("address", ADDRESSES)
def test_gather_against_llvmpipe(llvmpipe_sampler, address):
    texture = noise(16, 8)
    rng = np.random.default_rng(5)
    steps = rng.integers(-3 * 256, 4 * 256, (2000, 2))
    places = ((2 * steps + 1) / 512).astype(np.float32)
    sampler = Sampler(address=(address, address), border=(1.0, 0.5, 0.25, 0.0))
    oracle = llvmpipe_sampler()
    for component in range(4):
        golden = gather(texture, sampler, places, component)
        theirs = oracle.gather(texture, sampler, places, component)
        assert np.abs(golden - theirs).max() < 1 / 512, component


@pytest.mark.plan("sampler-14")
@pytest.mark.parametrize("compare", Compare, ids=lambda compare: compare.name)
def test_comparisons_against_llvmpipe(llvmpipe_sampler, compare):
    texture = floats(16, 16)
    rng = np.random.default_rng(7)
    places = (rng.integers(0, 16 * 256, (2000, 2)) / (16 * 256)).astype(np.float32)
    references = rng.random(2000, np.float32)
    # Half of them equal a texel of their own.
    y, x = np.minimum((places[::2, ::-1] * 16).astype(int), 15).T
    references[::2] = texture.image()[y, x, 0]
    sampler = Sampler(
        mip="point", address=("clamp", "clamp"), reduction="comparison", comparison=compare
    )
    golden = sample_compare(texture, sampler, places, references, lod=0)
    theirs = llvmpipe_sampler().compare(texture, sampler, places, references, np.zeros(2000))
    assert np.abs(golden - theirs).max() < 2.0**-15
    assert compare in (Compare.NEVER, Compare.ALWAYS) or len(np.unique(golden)) > 100
