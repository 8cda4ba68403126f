# SPDX-License-Identifier: BSD-2-Clause
"""The texture unit's formats of 8 and 16 bits a channel that have a sign."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.sampler import ADDRESSES, Sampler, gather, sample
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture import create
from fixfunc.rtl.texture.unit.layouts import TextureUnitParams
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.textures.cache import SNORMS, CacheStatus, StoredFormat
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import TEXTURED_QUAD
from fixfunc.tb.texture import texture_unit as bench
from fixfunc.tb.texture.cube_faces import directions
from fixfunc.tb.texture.texture_cache import put_format
from tests import volume
from tests.texture.test_texture_unit import BLOCK, quads_of, ramps, sampled
from tests.texture.unit.many_quads import check_formats
from tests.textures import noise

CONFIG = "tiny_full"
QUADS = 120
POINT = Sampler("point", "point", "point")


def name_of(form):
    return DXGI[Format[form.name]][0]


def texture_of(form, width=37, height=20, faces=1):
    """Random bytes, of which many are one of the two numbers that are -1.0."""
    texture = noise(width, height, levels=3, format=name_of(form), faces=faces)
    rng = np.random.default_rng(form)
    levels = []
    for level in texture.levels:
        least = np.resize([0x80] if "R8" in form.name else [0, 0x80], level.shape)
        least = least + rng.integers(0, 2, level.shape) * (least == 0)
        kept = np.repeat(rng.random(level.shape[1] // 2 + 1) < 0.7, 2)[: level.shape[1]]
        levels.append(np.where(kept, level, least).astype(np.uint8))
    return create(texture.format, width, height, levels, faces=faces)


def assert_same(found, wanted):
    assert np.array_equal(found.view(np.uint32), wanted.astype(np.float32).view(np.uint32))


@pytest.mark.plan("texture-unit-14")
@pytest.mark.parametrize("form", SNORMS, ids=lambda form: form.name)
@pytest.mark.parametrize("reduction", ["standard", "minimum", "maximum"])
def test_texels_with_a_sign_are_those_of_the_sampler(form, reduction, monkeypatch):
    """Between levels, along footprints, with borders at both ends; extremes are of numbers."""
    rng = np.random.default_rng(form)
    texture = texture_of(form)
    present = texture.texel_format.present
    border = tuple([-1.0, 1.0, 0.0, -1.0][n] if n in present else n == 3 for n in range(4))
    sampler = Sampler(
        address=("border", ADDRESSES[form % 5]),
        border=border,
        anisotropy=1 + form % 2,
        reduction=reduction,
        bias=-0.5,
    )
    places = quads_of(rng, 0.3)[:QUADS]
    op = {"standard": FilterOp.MEAN, "minimum": FilterOp.MINIMUM, "maximum": FilterOp.MAXIMUM}
    found = sampled(monkeypatch, texture, form, sampler, places, config=CONFIG, op=op[reduction])
    assert_same(found, sample(texture, sampler, places).reshape(QUADS, 4, 4))
    assert (found < 0).any()
    assert (found >= -1).all()


@pytest.mark.plan("texture-unit-14")
@pytest.mark.parametrize("component", [0, 3])
@pytest.mark.parametrize("form", SNORMS, ids=lambda form: form.name)
def test_gathers_of_texels_with_a_sign(form, component, monkeypatch):
    texture = texture_of(form)
    places = quads_of(np.random.default_rng(component), 0.3)[:QUADS]
    fields = {"op": FilterOp.GATHER, "component": component, "config": CONFIG}
    found = sampled(monkeypatch, texture, form, POINT, places, **fields)
    assert_same(found, gather(texture, POINT, places, component).reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-14")
def test_cubes_of_texels_with_a_sign(monkeypatch):
    """Corners are the mean of three."""
    form = StoredFormat.R8G8_SNORM
    texture = texture_of(form, 16, 16, faces=6)
    places = directions(np.random.default_rng(2), QUADS, 16).reshape(QUADS, 2, 2, 3)
    found = sampled(monkeypatch, texture, form, Sampler(), places, config=CONFIG)
    assert_same(found, sample(texture, Sampler(), places).reshape(QUADS, 4, 4))


@pytest.mark.plan("texture-unit-14")
@pytest.mark.parametrize("form", [StoredFormat.R8_SNORM, StoredFormat.R16_SNORM])
def test_numbers_are_those_of_the_specification(form, monkeypatch):
    """[fs 3.2.3.3]: c / (2^(n-1) - 1), and the least number is -1.0, too; of 16 bits the ends."""
    bits = 8 if form == StoredFormat.R8_SNORM else 16
    side = 16 if bits == 8 else 64
    ends = np.arange(-(1 << bits - 1), (1 << bits - 1), 1 if bits == 8 else 31)
    numbers = np.resize(np.append(ends, [-32768, -32767, -1, 0, 1, 32767][bits == 8 :]), side**2)
    stored = numbers.astype(f"<i{bits // 8}")
    texture = create(name_of(form), side, side, [stored.view(np.uint8).reshape(1, -1)])
    y, x = np.indices((side, side))
    places = np.stack([x, y], -1).reshape(side // 2, 2, side // 2, 2, 2).swapaxes(1, 2)
    places = ((places.reshape(-1, 2, 2, 2) + 0.5) / side).astype(np.float32)
    found = sampled(monkeypatch, texture, form, POINT, places, config=CONFIG)
    wanted = np.maximum(stored.astype(np.float64) / ((1 << bits - 1) - 1), -1)
    wanted = wanted.reshape(side // 2, 2, side // 2, 2).swapaxes(1, 2).reshape(-1, 4)
    assert np.array_equal(found[..., 0], wanted.astype(np.float32))
    assert (found[..., 1:] == [0, 0, 1]).all()
    assert (wanted == -1).sum() >= 2


@pytest.mark.plan("texture-unit-14")
@pytest.mark.parametrize(("config", "status"), [(CONFIG, 0), ("small", CacheStatus.FORMAT)])
def test_formats_with_a_sign_are_refused_without_them(config, status, monkeypatch):
    """With FORMAT and zeros; the format whose number is 32 less is not."""
    params = CONFIGS[config]
    state = ramps(2)
    for n, form in enumerate((StoredFormat.R8_SNORM, StoredFormat.R8G8B8A8_UNORM)):
        put_format(state[n : n + 1], form)
    quad = np.zeros(1, dtype(params.quad))
    quad["kind"], quad["live"] = 1, 15
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    rows = np.concatenate([bench.packed(params, state[n : n + 1], quad) for n in range(2)])
    out = codec.unpack(volume.check(BLOCK, config, rows), TEXTURED_QUAD, dtype(TEXTURED_QUAD))
    assert out["status"].tolist() == [status, CacheStatus.OKAY]
    assert (out["c1_0"] == 0).tolist() == [status == CacheStatus.FORMAT, False]


@pytest.mark.plan("texture-unit-14")
def test_units_without_such_formats_have_nothing_of_them():
    """Numbers of formats keep their bits, and of the plain ones no filter has a sign."""
    bits = {name: params.stored.format for name, params in CONFIGS.items()}
    assert {name for name in bits if bits[name] == 6} == {"full", "tiny_full"}
    plain = CONFIGS["plain"]
    assert not plain.filter.signed
    cache = plain.cache.__class__(formats=(*plain.cache.formats, StoredFormat.R8_SNORM))
    assert TextureUnitParams(cache).filter.signed


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-14")
def test_a_hundred_thousand_quads_with_a_sign(monkeypatch):
    check_formats(monkeypatch, CONFIG, [*SNORMS, StoredFormat.R16G16B16A16_UNORM])
