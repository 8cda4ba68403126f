# SPDX-License-Identifier: BSD-2-Clause
"""The texture unit's formats of float32, which are sampled by points."""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.sampler import ADDRESSES, Sampler, gather, sample
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture import create
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.cache import FLOATS, POINT_SAMPLED, CacheStatus, StoredFormat
from fixfunc.spec.textures.filter import FilterOp, Unit
from fixfunc.spec.textures.unit import TEXTURED_QUAD
from fixfunc.tb.texture import texture_unit as bench
from fixfunc.tb.texture.cube_faces import directions
from tests import volume
from tests.texture.filter.test_words import WORDS, flushed
from tests.texture.test_texture_unit import quads_of, sampled
from tests.texture.unit.many_quads import check_formats
from tests.texture.unit.test_floats import OPS, POINT, assert_same

CONFIG = "tiny_full"
QUADS = 120
SIDES = 37, 20
EACH = pytest.mark.parametrize("form", POINT_SAMPLED, ids=lambda form: form.name)
LINEAR = [{"magnify": 1}, {"minify": 1}, {"smooth": 1}, {"anisotropy": 2}, {"anisotropy": 16}]


def channels(form):
    return 1 + (form == StoredFormat.R32G32_FLOAT)


def texture_of(form, levels=3, sides=SIDES, faces=1):
    """Any words, many of them at the ends of what there is."""
    rng = np.random.default_rng(form)
    parts = []
    for level in range(levels):
        width, height = (max(side >> level, 1) for side in sides)
        size = (faces, height, width, channels(form))
        words = rng.integers(0, 1 << 32, size, np.uint32)
        words = np.where(rng.random(size) < 0.4, rng.choice(WORDS, size), words).astype("<u4")
        parts.append(words.view(np.uint8).reshape(faces, -1))
    return create(DXGI[Format[form.name]][0], *sides, parts, faces=faces)


def centres(width, height):
    """Quads of four texels each, at their centres: shape (n, 2, 2, 2)."""
    y, x = np.indices((height, width))
    place = np.stack([(x + 0.5) / width, (y + 0.5) / height], -1).astype(np.float32)
    blocks = place.reshape(height // 2, 2, width // 2, 2, 2).transpose(0, 2, 1, 3, 4)
    return blocks.reshape(-1, 2, 2, 2)


@pytest.mark.plan("texture-unit-19")
@EACH
def test_a_point_is_its_texel(form, monkeypatch):
    """Of memory, by [fs 7.18.16.3]: bit for bit, but a denormal is zero [fs 22.4.15], NaN NaN."""
    width, height = 16, 8
    texture = texture_of(form, 1, (width, height))
    found = sampled(monkeypatch, texture, form, POINT, centres(width, height), config=CONFIG)
    words = texture.levels[0].view("<u4").reshape(height, width, channels(form))
    blocks = words.reshape(height // 2, 2, width // 2, 2, -1).transpose(0, 2, 1, 3, 4)
    wanted = np.zeros((width * height // 4, 4, 4), np.uint32)
    wanted[..., : channels(form)] = flushed(blocks.reshape(-1, 4, channels(form)))
    wanted[..., 3] = np.float32(1).view(np.uint32)
    assert np.array_equal(found.view(np.uint32), wanted)


@pytest.mark.plan("texture-unit-19")
@EACH
@pytest.mark.parametrize("reduction", OPS)
def test_points_are_those_of_the_sampler(form, reduction, monkeypatch):
    """The nearest level, by every address mode, with a border and with extremes of one texel."""
    texture = texture_of(form)
    n = list(OPS).index(reduction)
    border = -2.5, 1e-30 if channels(form) == 2 else 0.0, 0.0, 1.0
    modes = ("border", ADDRESSES[n], ADDRESSES[4])[n], ("border", ADDRESSES[n])[n > 0]
    sampler = replace(POINT, address=modes, border=border, reduction=reduction, bias=-0.5)
    places = quads_of(np.random.default_rng(n), 0.3)[:QUADS]
    found = sampled(monkeypatch, texture, form, sampler, places, op=OPS[reduction], config=CONFIG)
    assert_same(found, sample(texture, sampler, places).reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-19")
@EACH
@pytest.mark.parametrize("component", range(4))
def test_gathers_are_unaltered(form, component, monkeypatch):
    """Bits of four texels [fs 22.4.2], whatever the filters."""
    texture = texture_of(form)
    sampler = Sampler(address=("wrap", "mirror"))
    places = quads_of(np.random.default_rng(component), 0.3)[:QUADS]
    fields = {"op": FilterOp.GATHER, "component": component, "config": CONFIG}
    found = sampled(monkeypatch, texture, form, sampler, places, **fields)
    wanted = gather(texture, sampler, places, component).reshape(QUADS, 4, 4)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))
    denormal = (wanted.view(np.uint32) & 0x7F800000 == 0) & (wanted.view(np.uint32) << 1 != 0)
    assert denormal.any() == (component < channels(form))


@pytest.mark.plan("texture-unit-19")
@EACH
def test_points_of_cubes(form, monkeypatch):
    """Beyond an edge lies no point, nor at a corner."""
    texture = texture_of(form, sides=(16, 16), faces=6)
    rng = np.random.default_rng(form)
    places = directions(rng, QUADS, 16).reshape(QUADS, 2, 2, 3)
    found = sampled(monkeypatch, texture, form, POINT, places, config=CONFIG)
    assert_same(found, sample(texture, POINT, places).reshape(QUADS, 4, 4))


def quads_under(states, monkeypatch):
    """A quad under each state, of fields that are not 0: what comes out."""
    params = CONFIGS[CONFIG]
    rows = []
    quad = np.zeros(1, dtype(params.quad))
    quad["kind"], quad["live"] = 1, 15
    for fields in states:
        state = np.zeros(1, dtype(params.state))
        state["width"] = state["height"] = 8
        for name, value in fields.items():
            state[name] = value
        rows.append(bench.packed(params, state, quad))
    data = np.full(bench.memory(rows[0], params).shape, 0x3F, np.uint8)
    monkeypatch.setattr(bench, "memory", lambda *_: data.copy())
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    found = volume.check("texture_unit", CONFIG, np.concatenate(rows))
    return codec.unpack(found, TEXTURED_QUAD, dtype(TEXTURED_QUAD))


def named(form):
    return {"format": form % 32, "extended": form // 32}


@pytest.mark.plan("texture-unit-20")
@EACH
def test_other_filters_are_refused(form, monkeypatch):
    """With FORMAT and zeros; a gather has no filters, but of a cube is refused, too."""
    own = named(form)
    gathers = {"op": FilterOp.GATHER}
    cube = gathers | {"cube": 1}
    states = [own, *(own | one for one in LINEAR), own | cube, own | gathers | LINEAR[0], own]
    out = quads_under(states, monkeypatch)
    refused = [0, *[1] * len(LINEAR), 1, 0, 0]
    assert (out["status"] == np.where(refused, CacheStatus.FORMAT, CacheStatus.OKAY)).all()
    texels = np.array([[out[f"c{pixel}_{n}"] for n in range(4)] for pixel in range(4)])
    assert (texels[:, 0] == np.where(refused, 0, 0x3F3F3F3F)).all()
    assert not texels[..., np.array(refused) == 1].any()


@pytest.mark.plan("texture-unit-20")
def test_comparisons_are_filtered_as_before(monkeypatch):
    """Of R32_FLOAT; R32G32_FLOAT is not compared, and no format has 128 bits."""
    compares = {"compares": 1, "function": Compare.ALWAYS} | LINEAR[0]
    states = [named(form) | compares for form in POINT_SAMPLED] + [named(max(StoredFormat) + 1)]
    out = quads_under(states, monkeypatch)
    assert out["status"].tolist() == [CacheStatus.OKAY, CacheStatus.FORMAT, CacheStatus.FORMAT]
    assert out["c0_0"].tolist() == [np.float32(1).view(np.uint32), 0, 0]


@pytest.mark.plan("texture-unit-20")
def test_units_without_words_have_nothing_of_them():
    """They are formats by name, beside floats that are filtered."""
    assert {name for name, params in CONFIGS.items() if params.words} == {CONFIG}
    assert {name for name, params in CONFIGS.items() if params.filter.words} == {CONFIG}
    params = CONFIGS[CONFIG]
    assert params.points == (StoredFormat.R32G32_FLOAT,)
    assert replace(params, comparisons=False).points == POINT_SAMPLED
    assert Unit.WORD not in CONFIGS["full"].filter.units
    few = tuple(form for form in params.cache.formats if form not in FLOATS)
    with pytest.raises(InputError, match="formats must have filtered floats beside float32"):
        replace(params, cache=replace(params.cache, formats=few))


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-19")
def test_a_hundred_thousand_quads_of_points(monkeypatch):
    """Most of them are points or gathers."""

    def mostly_points(rng, state):
        if rng.random() < 0.9:
            state["magnify"] = state["minify"] = state["smooth"] = state["anisotropy"] = 0

    check_formats(monkeypatch, CONFIG, POINT_SAMPLED, mostly_points)
