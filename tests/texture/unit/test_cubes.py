# SPDX-License-Identifier: BSD-2-Clause
"""The texture unit's cubes."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.coordinates import cube
from fixfunc.models.texture.sampler import Sampler, gather, sample, sample_compare
from fixfunc.models.texture.texture import create
from fixfunc.rtl.texture.cube.neighbours import TABLE
from fixfunc.rtl.texture.unit.layouts import TextureUnitParams
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.cache import CacheStatus, StoredFormat
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import SAMPLE_STATE, TEXTURE_QUAD, TEXTURED_QUAD
from fixfunc.tb.texture import texture_unit as bench
from fixfunc.tb.texture.cube_faces import directions
from tests import volume
from tests.texture.test_texture_unit import ramps, sampled
from tests.texture.unit.many_quads import check_quads
from tests.texture.unit.test_comparisons import references_of
from tests.texture.unit.test_layers import layers_of
from tests.textures import noise
from tests.tiers import by_tier

BLOCK = "texture_unit"
QUADS = 150
FORM = StoredFormat.R8G8B8A8_UNORM
NAMES = {
    FORM: "RGBA8",
    StoredFormat.R16_UNORM: "R16",
    StoredFormat.B5G5R5A1_UNORM: "B5G5R5A1_UNORM",
    StoredFormat.BC4_SNORM: "BC4S",
}


def seen(seed, size):
    """Directions of quads: mostly at edges and corners of faces of so many texels."""
    return directions(np.random.default_rng(seed), QUADS, size).reshape(QUADS, 2, 2, 3)


def assert_same(found, wanted):
    assert np.array_equal(found.view(np.uint32), wanted.astype(np.float32).view(np.uint32))


@pytest.mark.plan("texture-unit-12")
@pytest.mark.parametrize("size", [1, 2, 5, 16, 33])
@pytest.mark.parametrize("filters", [("linear",) * 3, ("point",) * 3, ("linear", "point", "point")])
def test_cubes_are_those_of_the_sampler(size, filters, monkeypatch):
    """Across edges and around corners, between levels, of cubes and arrays of cubes."""
    texture = noise(size, size, faces=6, layers=1 + 2 * (size == 5))
    sampler = Sampler(*filters, bias=[0.0, -1.5][size % 2])
    places = seen(size, size)
    layers = layers_of(np.random.default_rng(size), texture.layers, (QUADS, 4))
    coarse = size == 16
    more = {"coarse": coarse, "layers": layers, "config": "default"}
    found = sampled(monkeypatch, texture, FORM, sampler, places, **more)
    how = {"coarse": coarse, "layer": layers.reshape(-1, 2, 2)}
    assert_same(found, sample(texture, sampler, places, **how).reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-12")
@pytest.mark.parametrize("form", NAMES, ids=lambda form: form.name)
@pytest.mark.parametrize("anisotropy", [1, 16])
def test_formats_and_footprints_of_cubes(form, anisotropy, monkeypatch):
    """A footprint's samples are held to the face, and beyond a corner lies the face's own texel."""
    texture = noise(20, 20, faces=6, levels=3, format=NAMES[form])
    sampler = Sampler(anisotropy=anisotropy, bias=-0.5)
    places = seen(form, 20)
    found = sampled(monkeypatch, texture, form, sampler, places, config="default")
    assert_same(found, sample(texture, sampler, places).reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-12")
@pytest.mark.parametrize("op", ["minimum", "maximum", "gather"])
def test_extremes_and_gathers_of_cubes(op, monkeypatch):
    texture = noise(9, 9, faces=6)
    places = seen(3, 9)
    if op == "gather":
        fields = {"op": FilterOp.GATHER, "component": 2}
        sampler = Sampler("point", "point", "point")
        wanted = gather(texture, sampler, places, 2)
    else:
        sampler = Sampler(reduction=op)
        fields = {"op": getattr(FilterOp, op.upper())}
        wanted = sample(texture, sampler, places)
    found = sampled(monkeypatch, texture, FORM, sampler, places, config="default", **fields)
    assert_same(found, wanted.reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-12")
@pytest.mark.parametrize("gathers", [False, True])
def test_shadows_of_cubes(gathers, monkeypatch):
    """Point lights: a corner's missing texel is true by a third of those that are."""
    rng = np.random.default_rng(gathers)
    texture = noise(9, 9, faces=6, levels=2, format="R16")
    sampler = Sampler(reduction="comparison", comparison=Compare.LESS)
    places = seen(5, 9)
    references = references_of(rng, texture)[:QUADS]
    fields = {"op": FilterOp.GATHER} if gathers else {}
    form = StoredFormat.R16_UNORM
    more = {"references": references, "config": "default"}
    found = sampled(monkeypatch, texture, form, sampler, places, **more, **fields)
    asked = references.reshape(-1, 2, 2)
    if gathers:
        wanted = gather(texture, sampler, places, reference=asked).reshape(QUADS, 4, 4)
    else:
        wanted = sample_compare(texture, sampler, places, asked).reshape(QUADS, 4, 1)
        wanted = np.repeat(wanted, 4, 2)
    assert_same(found, wanted)


@pytest.mark.plan("texture-unit-12")
@pytest.mark.parametrize("explicit", [False, True])
def test_a_cube_of_one_colour_has_that_colour(explicit, monkeypatch):
    """Everywhere, whatever the footprint; with levels that a shader gives, too."""
    data = [np.full((6, 4 * size * size), 200, np.uint8) for size in (8, 4, 2, 1)]
    texture = create("RGBA8", 8, 8, data, faces=6)
    sampler = Sampler(anisotropy=1 + 15 * (not explicit))
    levels = np.random.default_rng(0).integers(0, 800, (QUADS, 4)) if explicit else None
    found = sampled(
        monkeypatch, texture, FORM, sampler, seen(6, 8), levels=levels, config="default"
    )
    assert (found == np.float32(200) / np.float32(255)).all()


@pytest.mark.plan("texture-unit-12")
def test_a_cube_of_its_own_addresses(monkeypatch):
    """Each texel tells its face, column and row: points see the one that their direction meets."""
    face, y, x = np.indices((6, 16, 16))
    data = np.stack([x, y, face, np.full_like(x, 255)], -1).astype(np.uint8).reshape(6, -1)
    texture = create("RGBA8", 16, 16, [data], faces=6)
    rng = np.random.default_rng(8)
    number = rng.integers(0, 6, (QUADS, 4))
    texel = rng.integers(0, 16, (2, QUADS, 4))
    s, t = (2 * texel + 1) / 16 - 1
    one = np.ones_like(s)
    # [fs 5.3.8]: +x, -x, +y, -y, +z, -z.
    seen_by = [(one, -t, -s), (-one, -t, s), (s, one, t), (s, -one, -t), (s, -t, one)]
    seen_by.append((-s, -t, -one))
    places = np.stack([np.choose(number, [v[k] for v in seen_by]) for k in range(3)], -1)
    places = (places * rng.uniform(0.01, 100, (QUADS, 4, 1))).astype(np.float32)
    sampler = Sampler("point", "point", "point")
    found = sampled(
        monkeypatch, texture, FORM, sampler, places.reshape(QUADS, 2, 2, 3), config="default"
    )
    told = np.rint(found * 255).astype(int)
    assert np.array_equal(told[..., 0], texel[0])
    assert np.array_equal(told[..., 1], texel[1])
    assert np.array_equal(told[..., 2], number)


@pytest.mark.plan("texture-unit-12")
@pytest.mark.parametrize("size", [1, 2, 7])
def test_neighbours_are_those_of_the_sampler(size):
    """Of every texel along every edge of every face."""
    along = np.arange(size)
    for face in range(6):
        for edge, beyond in enumerate((-1, size, -1, size)):
            places = np.full(size, beyond), along
            x, y = places if edge < 2 else places[::-1]
            number, *wanted = cube.across_edges(np.full(size, face), x, y, size)
            found = TABLE[face][edge]
            assert (number == found.face).all()
            kept = size - 1 - along if found.reversed else along
            at = np.full(size, (size - 1) * found.far)
            columns, rows = (kept, at) if found.along_u else (at, kept)
            assert np.array_equal(wanted, [columns, rows])


@pytest.mark.plan("texture-unit-12")
@pytest.mark.parametrize(
    ("config", "status"),
    by_tier([("default", 0), ("small", CacheStatus.FORMAT)], also=("default",)),
)
def test_cubes_are_refused_without_them(config, status, monkeypatch):
    """With FORMAT and zeros."""
    state = ramps(1)
    state["cube"], state["distance"] = 1, 4
    quad = np.zeros(1, dtype(TEXTURE_QUAD))
    quad["kind"], quad["live"] = 1, 15
    rows = [
        codec.pack(state, SAMPLE_STATE, bench.BITS),
        codec.pack(quad, TEXTURE_QUAD, bench.BITS),
    ]
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    found = volume.check(bench.TextureUnitBench.stem, config, np.concatenate(rows))
    out = codec.unpack(found, TEXTURED_QUAD, dtype(TEXTURED_QUAD))
    assert out["status"][0] == status
    assert (out["c1_0"][0] == 0) == (status == CacheStatus.FORMAT)


@pytest.mark.plan("texture-unit-12")
def test_cubes_need_layers():
    with pytest.raises(InputError, match="cubes must be False without layers, not True"):
        TextureUnitParams(layers=False, cubes=True)
    assert [name for name in CONFIGS if not CONFIGS[name].cubes] == ["small"]


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-12")
def test_a_million_quads_of_cubes(monkeypatch):
    """States of cubes alone."""
    monkeypatch.setattr(bench, "CUBES", 1.0)
    total, _, _ = check_quads("tiny", 120, 9_000)
    assert total > 1_000_000
