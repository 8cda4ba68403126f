# SPDX-License-Identifier: BSD-2-Clause
"""The texture unit's arrays."""

import numpy as np
import pytest
from amaranth.sim import Simulator

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.sampler import Sampler, gather, sample, sample_compare
from fixfunc.models.texture.unit.places import layer_of
from fixfunc.rtl.texture.unit.layers import LayerNumbers
from fixfunc.rtl.texture.unit.layouts import TextureUnitParams
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS
from fixfunc.spec.state import Compare
from fixfunc.spec.textures.cache import CacheStatus, StoredFormat
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import SAMPLE_STATE, TEXTURE_QUAD, TEXTURED_QUAD
from fixfunc.tb.texture import texture_unit as bench
from tests import volume
from tests.texture.test_texture_unit import QUADS, quads_of, ramps, sampled
from tests.texture.unit.many_quads import check_quads
from tests.texture.unit.test_comparisons import references_of
from tests.textures import noise
from tests.tiers import by_tier

BLOCK = "texture_unit"
SPECIAL = np.array(
    [0, 1 << 31, 1, 0x80000001, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F7FFFFF],
    np.uint32,
).view(np.float32)


def layers_of(rng, count, shape):
    """Layers of an array of so many: halves, negative ones, those beyond, numbers that are none."""
    near = rng.integers(-2, count + 2, shape) + rng.choice([0, 0, 0.25, 0.5, -0.5], shape)
    near = near.astype(np.float32)
    beside = np.nextafter(near, rng.choice([-np.inf, np.inf], shape).astype(np.float32))
    near = np.where(rng.random(shape) < 0.3, beside, near)
    return np.where(rng.random(shape) < 0.1, rng.choice(SPECIAL, shape), near)


@pytest.mark.plan("texture-unit-10")
@pytest.mark.parametrize("op", [FilterOp.MEAN, FilterOp.MAXIMUM, FilterOp.GATHER])
@pytest.mark.parametrize("form", [StoredFormat.R8G8B8A8_UNORM, StoredFormat.BC1_UNORM])
def test_layers_are_those_of_the_sampler(form, op, monkeypatch):
    """Of each pixel its own, or one for all; of every level."""
    rng = np.random.default_rng(form + op)
    name = "RGBA8" if form == StoredFormat.R8G8B8A8_UNORM else "BC1"
    texture = noise(20, 9, layers=5, levels=3, format=name)
    reduction = "maximum" if op == FilterOp.MAXIMUM else "standard"
    sampler = Sampler(address=("mirror", "clamp"), reduction=reduction)
    places = quads_of(rng, 0.3)
    layers = layers_of(rng, 5, (QUADS, 4))
    layers[::2] = layers[::2, :1]
    found = sampled(monkeypatch, texture, form, sampler, places, layers=layers, op=op)
    how = {"layer": layers.reshape(-1, 2, 2)}
    take = gather if op == FilterOp.GATHER else sample
    wanted = take(texture, sampler, places, **how).reshape(QUADS, 4, 4)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.plan("texture-unit-10")
def test_comparisons_have_layers_and_footprints(monkeypatch):
    """A cascade of shadow maps: references, layers and numbers of samples stay with their quads."""
    rng = np.random.default_rng(4)
    texture = noise(20, 9, layers=4, levels=3, format="R16")
    sampler = Sampler(reduction="comparison", comparison=Compare.LESS, anisotropy=16)
    places = quads_of(rng, 0.3)
    references = references_of(rng, texture)
    layers = layers_of(rng, 4, (QUADS, 4))
    form = StoredFormat.R16_UNORM
    found = sampled(
        monkeypatch, texture, form, sampler, places, references=references, layers=layers
    )
    how = {"layer": layers.reshape(-1, 2, 2)}
    wanted = sample_compare(texture, sampler, places, references.reshape(-1, 2, 2), **how)
    wanted = np.repeat(wanted.reshape(QUADS, 4, 1), 4, 2)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.plan("texture-unit-10")
def test_numbers_of_layers_in_hardware():
    """Every half of 2,048 layers with its neighbours, and any bits; four a clock."""
    rng = np.random.default_rng(0)
    halves = (np.arange(-4, 4100) / 2).astype(np.float32)
    values = [
        halves,
        *(np.nextafter(halves, np.float32(end)) for end in (-np.inf, np.inf)),
        SPECIAL,
    ]
    values = np.concatenate([*values, rng.integers(0, 1 << 32, 1000, np.uint32).view(np.float32)])
    values = np.resize(values, (len(values) // 4, 4)).view(np.uint32)
    last = rng.choice([0, 1, 1023, 2046, 2047], len(values), p=[0.02, 0.02, 0.02, 0.04, 0.9])
    dut = LayerNumbers()
    found = []

    async def drive(ctx):
        for n in range(len(values) + 2):
            at = min(n, len(values) - 1)
            for pixel in range(4):
                ctx.set(dut.i.pixels[pixel], int(values[at, pixel]))
            ctx.set(dut.i.last, int(last[at]))
            await ctx.tick()
            found.append([ctx.get(dut.o[pixel]) for pixel in range(4)])

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    wanted = layer_of(values, last[:, None])
    assert np.array_equal(found[1:][: len(wanted)], wanted)
    assert len(np.unique(wanted)) > 2000


@pytest.mark.plan("texture-unit-10")
@pytest.mark.parametrize(
    ("config", "status"),
    by_tier([("default", 0), ("small", CacheStatus.FORMAT)], also=("default",)),
)
def test_arrays_are_refused_without_layers(config, status, monkeypatch):
    """With FORMAT and zeros; a texture of one layer is not, whatever its quads say."""
    state = ramps(2)
    state["last_layer"] = 2047, 0
    quad = np.zeros(1, dtype(TEXTURE_QUAD))
    quad["kind"], quad["live"] = 1, 15
    quad["layer1"] = np.float32(7).view(np.uint32)
    rows = [
        codec.pack(np.atleast_1d(beat), table, bench.BITS)
        for one in state
        for beat, table in ((one, SAMPLE_STATE), (quad, TEXTURE_QUAD))
    ]
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    found = volume.check(bench.TextureUnitBench.stem, config, np.concatenate(rows))
    out = codec.unpack(found, TEXTURED_QUAD, dtype(TEXTURED_QUAD))
    assert out["status"].tolist() == [status, CacheStatus.OKAY]
    assert (out["c1_0"][0] == 0) == (status == CacheStatus.FORMAT)
    assert out["c1_0"][1] == out["c0_0"][1] > 0


@pytest.mark.plan("texture-unit-10")
def test_a_unit_without_layers_has_none():
    assert not TextureUnitParams(layers=False).stored.layers
    assert [name for name in CONFIGS if not CONFIGS[name].layers] == ["small"]


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-10")
def test_a_hundred_thousand_quads_of_arrays(monkeypatch):
    """States of several layers alone."""
    monkeypatch.setattr(bench, "LAST_LAYERS", (1, 5, 6, 300, 2047))
    total, _, _ = check_quads("tiny", 5, 21_000)
    assert total > 100_000
