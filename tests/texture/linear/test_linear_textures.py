# SPDX-License-Identifier: BSD-2-Clause
"""Textures that lie as rows of texels, as the cache and the texture unit read them."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from fixfunc.cosim import catalogue, codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.filtering.fetch import fetch
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture_cache import QuadCacheShape, taps_of
from fixfunc.models.texture.texture_unit import TextureUnit
from fixfunc.rtl.texture.cache.formats import UNBLOCKED
from fixfunc.rtl.texture.cache.texture_cache import CONFIGS as CACHES
from fixfunc.rtl.texture.cache.texture_cache import TextureCache
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS as UNITS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.textures.cache import (
    CACHE_QUAD,
    CACHE_STATE,
    DEPTHS,
    FLOATS,
    POINT_SAMPLED,
    TEXEL_QUAD,
    CacheStatus,
    StoredFormat,
)
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import TEXTURED_QUAD
from fixfunc.tb.bench.states import parted
from fixfunc.tb.texture import texture_cache, texture_unit
from tests import volume
from tests.texture.test_quad_cache import quads_of, units
from tests.texture.unit.many_quads import check_quads, with_states
from tests.textures import noise

BLOCK = STEM = "texture_unit"
CACHE = "texture_cache", "tiny_coded"
UNIT = "texture_unit", "tiny_full"
CACHED = [form for form in CACHES["tiny_coded"].formats if form in UNBLOCKED]
PLAIN = [form for form in UNBLOCKED if form not in (*DEPTHS, *POINT_SAMPLED)]
FIRST = 3  # line
SIDE = 61, 45  # texels
QUADS = 30  # of a sampler


def in_rows(data, texels, pitch, first=FIRST):
    """Put rows of texels into memory, uint8 of shape (height, bytes)."""
    for y, row in enumerate(texels):
        begin = 64 * (first + pitch * y)
        data[begin : begin + len(row)] = row


def state_of(form, pitch):
    """A texture of rows for the cache."""
    state = np.zeros(1, dtype(CACHE_STATE))
    texture_cache.put_format(state, form)
    state["linear"] = 1
    state["distance"] = pitch
    state["base0"] = FIRST
    return state


def packed(state, quads):
    """Beats of the cache."""
    size = texture_cache.BITS
    return np.concatenate(
        [codec.pack(state, CACHE_STATE, size), codec.pack(quads, CACHE_QUAD, size)]
    )


def through(bench, block, rows, data, monkeypatch, table, unreadable=None):
    """Quads through the hardware, which are the golden ones."""
    monkeypatch.setattr(bench, "memory", lambda *_: data.copy())
    monkeypatch.setattr(bench, "unreadable", lambda *_: unreadable)
    return codec.unpack(volume.check(*block, rows), table, dtype(table))


def cached(rows, data, monkeypatch, unreadable=None):
    """Quads through the cache."""
    return through(texture_cache, CACHE, rows, data, monkeypatch, TEXEL_QUAD, unreadable)


def texels_out(out, tap):
    """Channels of a tap, uint16 of shape (n, 4)."""
    return np.stack([out[f"t{tap // 4}_{tap % 4}_{n}"] for n in range(4)], 1)


@pytest.mark.plan("texture-cache-13")
@pytest.mark.parametrize("form", CACHED, ids=lambda form: form.name)
def test_texels_of_rows_are_those_that_the_sampler_fetches(form, monkeypatch):
    """Rows side by side, or lines apart: [fs 5.5], [fs 5.6.1]."""
    name, srgb = DXGI[Format[form.name]]
    texture = noise(61, 37, levels=1, format=name, srgb=srgb)
    size = texture.texel_format.size
    pitch = -(-61 * size // 64) + 5 * (form % 2)
    data = np.zeros(texture_cache.SIZE, np.uint8)
    in_rows(data, texture.levels[0][0].reshape(37, -1), pitch)
    quads = quads_of(texture, np.random.default_rng(form), 60)
    out = cached(packed(state_of(form, pitch), quads), data, monkeypatch)
    taps = taps_of(quads)
    for tap in range(16):
        chosen = taps.reads[:, tap]
        found = texels_out(out, tap)[chosen]
        wanted = fetch(texture, np.stack([taps.x[chosen, tap], taps.y[chosen, tap]], 1))
        if form in FLOATS:
            value = found.view(np.float16).astype(np.float32)
            assert np.array_equal(value, wanted, equal_nan=True)
        elif form in POINT_SAMPLED:
            assert np.array_equal(found.view(np.uint32), wanted[:, :2].view(np.uint32))
        else:
            found = found.view(np.int16) if "SNORM" in form.name else found
            assert np.array_equal(found.astype(np.float32) / units(form), wanted)
    assert out["lines"].sum() > out["misses"].sum() / 2


@pytest.mark.plan("texture-cache-13")
def test_rows_of_pitch_zero_are_the_first_one(monkeypatch):
    """[fs 5.5]: "the first row will be replicated to all rows"."""
    rng = np.random.default_rng(1)
    data = rng.integers(0, 256, texture_cache.SIZE, np.uint8)
    texture = noise(61, 37, levels=1)
    quads = quads_of(texture, rng, 100)
    form = StoredFormat.R8G8B8A8_UNORM
    out = cached(packed(state_of(form, 0), quads), data, monkeypatch)
    taps = taps_of(quads)
    for tap in range(16):
        chosen = taps.reads[:, tap]
        red = data[64 * FIRST + 4 * taps.x[chosen, tap]].astype(int) * 257
        assert np.array_equal(texels_out(out, tap)[chosen, 0], red)


@pytest.mark.plan("texture-cache-13")
def test_one_place_at_several_pitches(monkeypatch):
    """In turn, and in Morton order: both levels of the cache keep them apart."""
    rng = np.random.default_rng(2)
    data = rng.integers(0, 256, texture_cache.SIZE, np.uint8)
    quads = quads_of(noise(8, 8, levels=1), rng, 20)
    quads["reads0"] = 15
    rows = []
    for turn in range(24):
        state = state_of(StoredFormat.R8G8B8A8_UNORM, turn % 4 * 4)
        state["linear"] = turn // 4 % 2
        rows.append(packed(state, quads))
    out = cached(np.concatenate(rows), data, monkeypatch).reshape(24, -1)
    for before, after in pairwise(out[3:9]):
        assert (before["t0_3_0"] != after["t0_3_0"]).any()
    assert (out["misses"] == 0).any()


@pytest.mark.plan("texture-cache-14")
@pytest.mark.parametrize("row", range(4))
def test_a_row_that_cannot_be_read_is_zero_texels(row, monkeypatch):
    """Of a block the other rows are there."""
    data = np.full(texture_cache.SIZE, 255, np.uint8)
    quads = quads_of(noise(16, 16, levels=1), np.random.default_rng(3), 60)
    byte = 64 * (FIRST + 2 * row) + 5
    rows = packed(state_of(StoredFormat.R8G8B8A8_UNORM, 2), quads)
    out = cached(rows, data, monkeypatch, byte)
    taps = taps_of(quads)
    fails = taps.reads & (taps.y == row)
    for tap in range(16):
        wanted = np.where(taps.reads[:, tap] & ~fails[:, tap], 65535, 0)
        assert np.array_equal(texels_out(out, tap)[:, 3], wanted)
    assert np.array_equal(out["status"] == CacheStatus.MEMORY, fails.any(1))
    assert fails.any(1).sum() in range(1, 60)


@pytest.mark.plan("texture-cache-14")
@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, CacheStatus.OKAY),
        ({"distance": 1360}, CacheStatus.OKAY),  # as far as memory goes
        ({"distance": 4096}, CacheStatus.FORMAT),
        ({"coded": 1}, CacheStatus.FORMAT),
        ({"format": StoredFormat.BC1_UNORM_SRGB}, CacheStatus.FORMAT),
    ],
    ids=str,
)
def test_what_lies_in_no_rows_is_refused(fields, status, monkeypatch):
    data = np.full(texture_cache.SIZE, 255, np.uint8)
    quads = quads_of(noise(16, 1, levels=1), np.random.default_rng(4), 10)
    state = state_of(StoredFormat.R8G8B8A8_UNORM, 4)
    for name, value in fields.items():
        state[name] = value
    out = cached(packed(state, quads), data, monkeypatch)
    assert (out["status"] == status).all()
    assert (out["lookups"].sum() == 0) == (status == CacheStatus.FORMAT)


@pytest.mark.plan("texture-cache-14")
@pytest.mark.parametrize("form", [StoredFormat.R8_UNORM, StoredFormat.R16G16B16A16_UNORM])
def test_caches_of_rows_alone_elaborate(form):
    """Without layers, coded surfaces, blocks, or texels of other sizes."""
    params = replace(CACHES["small"], linear=True, formats=(form,))
    assert TextureCache(params).latency == TextureCache(CACHES["tiny"]).latency
    assert params.halves == 2


def memory_of(picture, size):
    """A picture, uint8 of shape (height, width * size), in Morton order and as rows."""
    height = len(picture)
    data = np.zeros(texture_cache.SIZE, np.uint8)
    pitch = -(-picture.shape[1] // 64) + 1
    in_rows(data, picture, pitch, first=2048)
    texels = picture.reshape(height, -1, size)
    for y, x in np.ndindex(texels.shape[:2]):
        number = sum((x >> n & 1) << 2 * n | (y >> n & 1) << 2 * n + 1 for n in range(6))
        data[size * number : size * (number + 1)] = texels[y, x]
    return data, pitch


def beats_of(rng, form, pitch, params):
    """Packed quads of the texture in Morton order, and the same of its rows behind them."""
    state = texture_unit.draw(rng, params)
    for name in state.dtype.names:
        if name.startswith("base") or name in ("last", "last_layer", "cube", "compares", "least"):
            state[name] = 0
    for name in ("first_set", "distance", "coded", "linear", "explicit_gradients", "bias"):
        state[name] = 0
    state["width"], state["height"] = SIDE
    state["op"] = rng.choice([FilterOp.MEAN, FilterOp.MEAN, FilterOp.GATHER, FilterOp.MINIMUM])
    state["anisotropy"] = rng.choice([0, 4])
    state["minimum"], state["maximum"] = -65536, 65535
    texture_cache.put_format(state, form)
    rows = state.copy()
    rows["linear"], rows["distance"], rows["base0"] = 1, pitch, 2048
    quads = texture_unit.quads(rng, QUADS, state, params)
    quads["live"] = 15
    return np.concatenate([texture_unit.packed(params, s, quads) for s in (state, rows)])


def check_same(out):
    """Both halves have the same colours, and no error."""
    assert (out["status"] == CacheStatus.OKAY).all()
    names = [name for name in out.dtype.names if name.startswith("c")]
    assert (out[:QUADS][names] == out[QUADS:][names]).all()
    return len(np.unique(out["c0_0"]))


@pytest.mark.plan("texture-unit-18")
@pytest.mark.parametrize("form", PLAIN, ids=lambda form: form.name)
def test_rows_are_sampled_as_the_texture_in_morton_order(form, monkeypatch):
    """Bit for bit, of every format golden, of those of the unit in hardware."""
    rng = np.random.default_rng(form)
    size = UNBLOCKED[form].size
    picture = rng.integers(0, 256, (SIDE[1], SIDE[0] * size), np.uint8)
    data, pitch = memory_of(picture, size)
    params = UNITS["tiny_full"]
    colours = 0
    for _ in range(4):
        rows = beats_of(rng, form, pitch, params)
        if form in params.cache.formats:
            out = through(texture_unit, UNIT, rows, data, monkeypatch, TEXTURED_QUAD)
        else:
            shape = QuadCacheShape(formats=PLAIN, linear=True)
            out = TextureUnit(shape, data).sample(*parted(rows, params.state, params.quad))
        colours += check_same(out)
    assert colours > 4


@pytest.mark.plan("texture-unit-18")
@pytest.mark.parametrize("fields", [{"last": 1}, {"last_layer": 1}, {"cube": 1}, {}], ids=str)
def test_rows_of_several_levels_or_layers_are_refused(fields, monkeypatch):
    """No texel is read: rows have one level, of one layer."""
    params = UNITS["tiny_full"]
    rng = np.random.default_rng(5)
    states, quads, _ = parted(
        beats_of(rng, StoredFormat.R8G8B8A8_UNORM, 5, params), params.state, params.quad
    )
    state = states[1:]
    state["height"] = state["width"]
    for name, value in fields.items():
        state[name] = value
    data = np.zeros(texture_cache.SIZE, np.uint8)
    rows = texture_unit.packed(params, state, quads[:QUADS])
    out = through(texture_unit, UNIT, rows, data, monkeypatch, TEXTURED_QUAD)
    assert (out["status"] == (CacheStatus.FORMAT if fields else CacheStatus.OKAY)).all()
    assert (out["lookups"].sum() == 0) == bool(fields)


@pytest.mark.plan("texture-unit-18")
def test_units_without_rows_have_nothing_of_them():
    """Neither fields of states, nor bits of tags: it is a parameter."""
    for stem, config in (CACHE, UNIT):
        block = catalogue.block(stem)
        assert "piece_4" in block.verilog(config).read_text()
        assert "piece_4" not in block.verilog("small").read_text()
    assert "linear" not in [field.name for field in UNITS["small"].state]
    assert UNITS["tiny_full"].state[-1].name == "linear"


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-18")
def test_many_quads_of_rows(monkeypatch):
    """In most states the texture lies as rows."""
    monkeypatch.setattr(texture_unit, "LINEAR", 0.9)
    with_states(monkeypatch, lambda _, state: state)
    total, okay, _ = check_quads("tiny_full", 10, 12_000, first_seed=700)
    assert total > 100_000
    assert okay > total // 4
