# SPDX-License-Identifier: BSD-2-Clause
"""Sampler against llvmpipe, which filters RGBA8 with 8 bits."""

import numpy as np
import pytest

from fixfunc.models.texture.sampler import ADDRESSES, Sampler, sample
from fixfunc.models.texture.texture import bytes_of, create, size
from tests.textures import noise


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
