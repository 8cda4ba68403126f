# SPDX-License-Identifier: BSD-2-Clause
"""The texture unit's levels where a shader gives them."""

import numpy as np
import pytest

from fixfunc.models.texture.sampler import Sampler, sample, sample_compare
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.cache import StoredFormat
from tests.texture.test_texture_unit import QUADS, quads_of, sampled
from tests.texture.unit.many_quads import check_quads, with_states
from tests.texture.unit.test_comparisons import depths, references_of
from tests.textures import noise

BLOCK = "texture_unit"
ENDS = -(1 << 16), (1 << 16) - 1  # of s8.8


def levels_of(rng):
    """Levels of a few steps, whole ones, halves, and both ends: s8.8, shape (n, 4)."""
    found = rng.integers(-300, 1500, (QUADS, 4))
    whole = rng.integers(-2, 7, (QUADS, 4)) * 256 + rng.choice([-128, 0, 0, 1, 127], (QUADS, 4))
    found = np.where(rng.random((QUADS, 4)) < 0.5, whole, found)
    return np.where(rng.random((QUADS, 4)) < 0.1, rng.choice(ENDS, (QUADS, 4)), found)


@pytest.mark.plan("texture-unit-11")
@pytest.mark.parametrize("mip", ["point", "linear"])
@pytest.mark.parametrize("anisotropy", [1, 16])
def test_levels_that_are_given_are_those_of_the_sampler(mip, anisotropy, monkeypatch):
    """Each pixel has its own; neither gradients nor the number of samples counts."""
    rng = np.random.default_rng(anisotropy)
    texture = noise(37, 20, levels=5)
    sampler = Sampler(
        minify="point", mip=mip, bias=0.3, min_lod=0.1, max_lod=3.6, anisotropy=anisotropy
    )
    places = quads_of(rng, 0.3)
    levels = levels_of(rng)
    form = StoredFormat.R8G8B8A8_UNORM
    found = sampled(monkeypatch, texture, form, sampler, places, levels=levels)
    lods = (levels / 256).astype(np.float32).reshape(-1, 2, 2)
    wanted = sample(texture, sampler, places, lod=lods).reshape(QUADS, 4, 4)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.plan("texture-unit-11")
def test_a_comparison_at_level_0(monkeypatch):
    """sample_c_lz: a shadow map that has no other level, of any gradients."""
    rng = np.random.default_rng(6)
    form = StoredFormat.R32_FLOAT
    texture = depths(form)
    sampler = Sampler(
        reduction="comparison", comparison=Compare.GREATER_EQUAL, address=("clamp", "mirror")
    )
    places = quads_of(rng, 0.3)
    references = references_of(rng, texture, form)
    levels = np.zeros((QUADS, 4), np.int64)
    found = sampled(
        monkeypatch, texture, form, sampler, places, references=references, levels=levels
    )
    wanted = sample_compare(texture, sampler, places, references.reshape(-1, 2, 2), lod=0)
    wanted = np.repeat(wanted.reshape(QUADS, 4, 1), 4, 2)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-11")
def test_a_hundred_thousand_quads_of_levels_that_are_given(monkeypatch):
    """States whose quads have levels alone."""

    def explicit(_, state):
        state["explicit_level"] = 1

    with_states(monkeypatch, explicit)
    total, _, _ = check_quads("tiny", 5, 21_000)
    assert total > 100_000
