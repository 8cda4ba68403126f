# SPDX-License-Identifier: BSD-2-Clause
"""The texture unit's gradients where a shader gives them."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.sampler import Sampler, gather, sample, sample_compare
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.cache import CacheStatus, StoredFormat
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import TEXTURED_QUAD
from fixfunc.tb.texture import texture_unit as bench
from fixfunc.tb.texture.cube_faces import SPECIAL, directions
from tests import volume
from tests.texture.test_texture_unit import BLOCK, quads_of, ramps, sampled
from tests.texture.unit.many_quads import check_quads
from tests.texture.unit.test_comparisons import depths, references_of
from tests.textures import noise

FORM = StoredFormat.R8G8B8A8_UNORM
CONFIG = "tiny_full"
QUADS = 80


def gradients_of(rng, axes, size):
    """Gradients of a few texels, each pixel its own; none along some axis, and special numbers."""
    shape = 2, QUADS, 2, 2, axes
    found = rng.normal(0, 1, shape) * np.exp2(rng.uniform(-3, 4, shape)) / size
    found *= rng.random(shape) < 0.9
    bits = found.astype(np.float32).view(np.uint32)
    special = rng.choice(np.array(SPECIAL, np.uint32), shape)
    return np.where(rng.random(shape) < 0.97, bits, special).view(np.float32)


def assert_same(found, wanted):
    assert np.array_equal(found.view(np.uint32), wanted.astype(np.float32).view(np.uint32))


@pytest.mark.plan("texture-unit-13")
@pytest.mark.parametrize(("anisotropy", "coarse"), [(1, False), (2, True), (16, False)])
def test_gradients_that_are_given_are_those_of_the_sampler(anisotropy, coarse, monkeypatch):
    """Each pixel has its own, of any places; coordinates of the quad do not count."""
    rng = np.random.default_rng(anisotropy)
    texture = noise(37, 20, levels=5)
    sampler = Sampler(bias=0.3, min_lod=0.1, max_lod=3.6, anisotropy=anisotropy)
    places = quads_of(rng, 0.3)[:QUADS]
    slopes = gradients_of(rng, 2, 32)
    more = {"gradients": slopes, "config": CONFIG, "coarse": coarse}
    found = sampled(monkeypatch, texture, FORM, sampler, places, **more)
    wanted = sample(texture, sampler, places, gradients=tuple(slopes))
    assert_same(found, wanted.reshape(QUADS, 4, 4))
    assert (wanted != sample(texture, sampler, places)).any(-1).mean() > 0.5


@pytest.mark.plan("texture-unit-13")
@pytest.mark.parametrize("anisotropy", [1, 16])
def test_gradients_of_directions_are_those_of_the_sampler(anisotropy, monkeypatch):
    """Of cubes, of each pixel's own face."""
    rng = np.random.default_rng(anisotropy)
    texture = noise(32, 32, levels=6, faces=6)
    sampler = Sampler(anisotropy=anisotropy, bias=-0.2)
    places = directions(rng, QUADS, 32).reshape(QUADS, 2, 2, 3)
    slopes = gradients_of(rng, 3, 16)
    found = sampled(monkeypatch, texture, FORM, sampler, places, gradients=slopes, config=CONFIG)
    wanted = sample(texture, sampler, places, gradients=tuple(slopes))
    assert_same(found, wanted.reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-13")
def test_comparisons_have_gradients_and_gathers_do_not_need_them(monkeypatch):
    rng = np.random.default_rng(5)
    form = StoredFormat.R32_FLOAT
    texture = depths(form)
    sampler = Sampler(reduction="comparison", comparison=Compare.LESS, anisotropy=4)
    places = quads_of(rng, 0.3)[:QUADS]
    references = references_of(rng, texture, form)[:QUADS]
    slopes = gradients_of(rng, 2, 32)
    more = {"gradients": slopes, "config": CONFIG}
    found = sampled(monkeypatch, texture, form, sampler, places, references=references, **more)
    asked = references.reshape(-1, 2, 2)
    wanted = sample_compare(texture, sampler, places, asked, gradients=tuple(slopes))
    assert_same(found, np.repeat(wanted.reshape(QUADS, 4, 1), 4, 2))
    texture, sampler = noise(9, 9), Sampler("point", "point", "point")
    found = sampled(monkeypatch, texture, FORM, sampler, places, op=FilterOp.GATHER, **more)
    assert_same(found, gather(texture, sampler, places).reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-13")
def test_a_level_that_is_given_needs_no_gradients(monkeypatch):
    """sample_l, should a state say both."""
    rng = np.random.default_rng(7)
    texture = noise(16, 16, levels=5)
    sampler = Sampler(anisotropy=16)
    places, slopes = quads_of(rng, 0.3)[:QUADS], gradients_of(rng, 2, 16)
    levels = rng.integers(-300, 1500, (QUADS, 4))
    more = {"gradients": slopes, "levels": levels, "config": CONFIG}
    found = sampled(monkeypatch, texture, FORM, sampler, places, **more)
    lods = (levels / 256).astype(np.float32).reshape(-1, 2, 2)
    assert_same(found, sample(texture, sampler, places, lod=lods).reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-13")
@pytest.mark.parametrize(("config", "status"), [(CONFIG, 0), ("small", CacheStatus.FORMAT)])
def test_gradients_are_refused_without_them(config, status, monkeypatch):
    """With FORMAT and zeros."""
    params = CONFIGS[config]
    state = ramps(1)
    state["explicit_gradients"] = 1
    quad = np.zeros(1, dtype(params.quad))
    quad["kind"], quad["live"] = 1, 15
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    rows = bench.packed(params, state, quad)
    found = volume.check(BLOCK, config, rows)
    out = codec.unpack(found, TEXTURED_QUAD, dtype(TEXTURED_QUAD))
    assert out["status"][0] == status
    assert (out["c1_0"][0] == 0) == (status == CacheStatus.FORMAT)


@pytest.mark.plan("texture-unit-13")
def test_units_without_gradients_have_quads_without_them():
    names = {name: [f.name for f in params.quad] for name, params in CONFIGS.items()}
    of_gradients = {name for name, fields in names.items() if "across_u0" in fields}
    assert of_gradients == {"full", "tiny_full"}
    assert "down_w3" in names["full"]


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-13")
@pytest.mark.parametrize("cubes", [0.0, 1.0])
def test_a_hundred_thousand_quads_that_bring_gradients(cubes, monkeypatch):
    """States whose quads do, and hardly any others."""
    monkeypatch.setattr(bench, "GRADIENTS", 0.97)
    monkeypatch.setattr(bench, "CUBES", cubes)
    total, _, _ = check_quads(CONFIG, 12, 9_000)
    assert total > 100_000
