# SPDX-License-Identifier: BSD-2-Clause
from itertools import product

import numpy as np
import pytest
from amaranth.sim import Simulator

from fixfunc.cosim import codec
from fixfunc.models.payload import carried, dtype
from fixfunc.models.texture.filtering.filtering import Reader
from fixfunc.models.texture.sampler import ADDRESSES, Sampler, gather, sample
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.unit.places import place_of
from fixfunc.rtl.texture.unit.places import Place
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.textures.cache import COLOURS, DEPTHS, FLOATS, POINT_SAMPLED, StoredFormat
from fixfunc.spec.textures.unit import SAMPLE_STATE, TEXTURE_QUAD, TEXTURED_QUAD
from fixfunc.tb.texture import texture_unit as bench
from tests import volume
from tests.bench import check_bench
from tests.texture.test_quad_cache import stored, units
from tests.textures import noise
from tests.tiers import by_tier

BLOCK = STEM = "texture_unit"
QUADS = 400


@pytest.mark.plan("texture-unit-2")
@pytest.mark.parametrize("config", by_tier(CONFIGS, later=("tiny",)))
def test_volume(config):
    volume.check_paces(STEM, config, 250 if config == "tiny_full" else 800)


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-2")
def test_a_million_quads():
    found = 0
    for n in range(20):
        rows = bench.requests(np.random.default_rng(n), 52_000, CONFIGS["default"])
        found += len(volume.check(STEM, "default", rows, seed=n))
    assert found > 1_000_000


@pytest.mark.plan("texture-unit-2")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)


def sampled(
    monkeypatch,
    texture,
    form,
    sampler,
    places,
    coarse=False,
    references=None,
    layers=None,
    levels=None,
    gradients=(),
    config="default",
    **fields,
):
    """What the hardware makes of quads of places, shape (n, 2, 2, k): float32, shape (n, 4, 4).

    ``references``, shape (n, 4), are compared by the sampler's function; ``layers``, of that shape,
    are of an array; ``levels``, s8.8 of that shape, are given; ``gradients`` are two of the shape
    of places; ``fields`` are those of the state that no sampler has.
    """
    _, cache, data = stored(texture, form)
    params = CONFIGS[config]
    state = carried(cache, params.state)
    state["width"], state["height"] = texture.size(0)
    state["last"] = len(texture.levels) - 1
    state["last_layer"] = texture.layers - 1
    state["cube"] = texture.faces == 6
    state["explicit_level"] = levels is not None
    state["explicit_gradients"] = len(gradients) > 0
    for name, mode in zip(("mode_u", "mode_v"), sampler.address, strict=False):
        state[name] = ADDRESSES.index(mode)
    for name, kind in (("minify", "minify"), ("magnify", "magnify"), ("smooth", "mip")):
        state[name] = getattr(sampler, kind) == "linear"
    state["coarse"] = coarse
    for name, value in fields.items():
        state[name] = value
    state["anisotropy"] = sampler.anisotropy
    state["compares"], state["function"] = references is not None, sampler.comparison
    for name, value in (
        ("bias", sampler.bias),
        ("minimum", sampler.min_lod),
        ("maximum", sampler.max_lod),
    ):
        state[name] = round(value * 256)
    for name, value, one in zip("rgba", sampler.border, units(form), strict=True):
        state[f"border_{name}"] = int(value * one) & 0xFFFF
    if form in FLOATS:
        for name, value in zip("rgba", sampler.border, strict=True):
            state[f"border_{name}"] = np.float16(value).view(np.uint16)
    if form in (*DEPTHS, *POINT_SAMPLED):
        is_float = form in POINT_SAMPLED
        red = np.float32(sampler.border[0]).view(np.uint32)
        word = red if is_float else int(sampler.border[0] * 0xFFFFFF)
        state["border_r"], state["border_g"] = word & 0xFFFF, word >> 16
    if form in POINT_SAMPLED:
        green = np.float32(sampler.border[1]).view(np.uint32)
        state["border_b"], state["border_a"] = green & 0xFFFF, green >> 16
    quads = np.zeros(len(places), dtype(params.quad))
    quads["kind"], quads["live"] = 1, 15
    vectors = {"": places} | dict(zip(("across_", "down_"), gradients, strict=False))
    for pixel, (prefix, vector) in product(range(4), vectors.items()):
        for axis, name in enumerate("uvw"[: places.shape[-1]]):
            value = np.ascontiguousarray(vector[:, pixel >> 1, pixel & 1, axis])
            quads[f"{prefix}{name}{pixel}"] = value.view(np.uint32)
    for pixel in range(4):
        if levels is not None:
            quads[f"bias{pixel}"] = levels[:, pixel]
        if layers is not None:
            quads[f"layer{pixel}"] = layers[:, pixel].copy().view(np.uint32)
        if references is not None:
            quads[f"reference{pixel}"] = references[:, pixel].copy().view(np.uint32)
    monkeypatch.setattr(bench, "memory", lambda *_: data.copy())
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    rows = bench.packed(params, state, quads)
    out = codec.unpack(volume.check(STEM, config, rows), TEXTURED_QUAD, dtype(TEXTURED_QUAD))
    assert not out["status"].any()
    channels = [[out[f"c{pixel}_{n}"] for n in range(4)] for pixel in range(4)]
    return np.array(channels).transpose(2, 0, 1).copy().view(np.float32)


def quads_of(rng, spread):
    """Quads anywhere, whose steps are up to so much of the texture."""
    middle = rng.uniform(-1.5, 2.5, (QUADS, 1, 1, 2))
    step = rng.normal(0, spread, (QUADS, 2, 1, 2)) * 2.0 ** rng.integers(-6, 1, (QUADS, 1, 1, 1))
    y, x = np.indices((2, 2))
    place = middle + step[:, :1] * x[None, :, :, None] + step[:, 1:] * y[None, :, :, None]
    return place.astype(np.float32)


@pytest.mark.plan("texture-unit-1")
@pytest.mark.parametrize(
    "form", [*COLOURS, StoredFormat.R16G16B16A16_UNORM], ids=lambda form: form.name
)
def test_quads_are_what_the_sampler_gives(form, monkeypatch):
    """From memory to filtered texels, level by level, bit for bit; the sampler reads no blocks."""
    rng = np.random.default_rng(form)
    name, srgb = DXGI[Format[form.name]]
    width, height = [(64, 64), (37, 20), (5, 64)][form % 3]
    texture = noise(width, height, levels=3, format=name, srgb=srgb)
    modes = ADDRESSES[form % 5], ADDRESSES[(form + 1) % 5]
    border = 0.0, 1.0, 0.0, 1.0
    present = texture.texel_format.present
    border = tuple(value if n in present else float(n == 3) for n, value in enumerate(border))
    filters = [("linear",) * 3, ("point", "linear", "linear"), ("linear", "point", "point")]
    sampler = Sampler(
        *filters[form % 3],
        address=modes,
        border=border,
        bias=[0.0, -0.75, 0.5][form // 3 % 3],
        max_lod=[31.0, 1.25][form // 2 % 2],
    )
    places = quads_of(rng, 0.3)
    coarse = bool(form % 2)
    config = "default" if form in COLOURS else "tiny_full"
    found = sampled(monkeypatch, texture, form, sampler, places, coarse, config=config)
    wanted = sample(texture, sampler, places, coarse=coarse).reshape(QUADS, 4, 4)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.plan("texture-unit-1")
@pytest.mark.parametrize("op", ["minimum", "maximum"])
def test_extremes_are_what_the_sampler_gives(op, monkeypatch):
    form = StoredFormat.R8G8B8A8_UNORM
    texture = noise(37, 20, levels=3)
    sampler = Sampler(reduction=op, address=("mirror", "border"))
    places = quads_of(np.random.default_rng(1), 0.3)
    number = 1 + (op == "maximum")
    found = sampled(monkeypatch, texture, form, sampler, places, op=number)
    wanted = sample(texture, sampler, places).reshape(QUADS, 4, 4)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.plan("texture-unit-1")
@pytest.mark.parametrize("component", range(4))
def test_gathers_are_what_the_sampler_gives(component, monkeypatch):
    form = StoredFormat.B5G6R5_UNORM
    texture = noise(37, 20, levels=3, format="B5G6R5_UNORM")
    sampler = Sampler("point", "point", "point", address=("wrap", "border"), border=(0, 0, 0, 1.0))
    places = quads_of(np.random.default_rng(component), 0.3)
    found = sampled(monkeypatch, texture, form, sampler, places, op=3, component=component)
    wanted = gather(texture, sampler, places, component).reshape(QUADS, 4, 4)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.plan("texture-unit-7")
@pytest.mark.parametrize("offset", [(-8, 7), (7, -8), (0, 1)])
@pytest.mark.parametrize("modes", [(n, (n + 3) % 5) for n in range(5)])
def test_offsets_are_those_of_the_sampler(offset, modes, monkeypatch):
    """Texels of whatever level, before the address modes; of magnified ones and of any between."""
    form = StoredFormat.R8G8B8A8_UNORM
    texture = noise(37, 20, levels=4)
    sampler = Sampler(address=tuple(ADDRESSES[n] for n in modes), bias=0.5)
    places = quads_of(np.random.default_rng(modes[0]), 0.3)
    fields = dict(zip(("offset_u", "offset_v"), offset, strict=True))
    found = sampled(monkeypatch, texture, form, sampler, places, **fields)
    wanted = sample(texture, sampler, places, offset=offset).reshape(QUADS, 4, 4)
    assert np.array_equal(found.view(np.uint32), wanted.view(np.uint32))


@pytest.mark.plan("texture-unit-3")
@pytest.mark.parametrize("size", [1, 3, 64, 1000, 16384])
@pytest.mark.parametrize("mode", ["wrap", "clamp"])
def test_places_are_those_of_the_sampler(size, mode):
    """Every float32 that random bits give, halves between places, the ends of the range."""
    rng = np.random.default_rng(size)
    reader = Reader(noise(size, 1, levels=1), Sampler(address=(mode,) * 2), np.zeros(1, np.int64))
    values = np.concatenate(
        [
            rng.integers(0, 1 << 32, 50_000).astype(np.uint32).view(np.float32),
            rng.uniform(-3, 3, 50_000).astype(np.float32),
            (rng.integers(-4000, 4000, 50_000) / (512 * size)).astype(np.float32),
            (rng.uniform(-1, 1, 50_000) * 70_000 / size).astype(np.float32),
        ]
    )
    with np.errstate(invalid="ignore"):
        wanted = reader.scaled(values, 0, 0)
    bits = values.view(np.uint32).astype(np.int64)
    found = place_of(bits, np.int64(size), np.bool_(mode == "wrap"))
    assert np.array_equal(found, wanted)


@pytest.mark.plan("texture-unit-3")
def test_places_in_hardware():
    """A coordinate a clock, of any size: random bits, halves between places, both ends."""
    rng = np.random.default_rng(3)
    sizes = rng.choice([1, 3, 64, 1000, 16383, 16384], 3000)
    values = np.concatenate(
        [
            rng.integers(0, 1 << 32, 1000).astype(np.uint32).view(np.float32),
            (rng.integers(-4000, 4000, 1000) / (512 * sizes[1000:2000])).astype(np.float32),
            (rng.uniform(-1, 1, 1000) * 70_000 / sizes[2000:]).astype(np.float32),
        ]
    ).view(np.uint32)
    repeats = rng.random(3000) < 0.5
    dut = Place()
    found = []

    async def drive(ctx):
        for n in range(len(values) + Place.LATENCY):
            at = min(n, len(values) - 1)
            ctx.set(dut.coordinate, int(values[at]))
            ctx.set(dut.size, int(sizes[at]))
            ctx.set(dut.repeats, int(repeats[at]))
            await ctx.tick()
            found.append(ctx.get(dut.o))

    simulator = Simulator(dut)
    simulator.add_clock(1e-6)
    simulator.add_testbench(drive)
    simulator.run()
    wanted = place_of(values.astype(np.int64), sizes, repeats)
    assert found[Place.LATENCY - 1 :][: len(wanted)] == wanted.tolist()


def ramps(count):
    """So many states of textures of 8x8 texels, one behind the other in memory."""
    states = np.zeros(count, dtype(SAMPLE_STATE))
    states["width"] = states["height"] = 8
    states["magnify"] = states["minify"] = 1
    states["maximum"] = 31 << 8
    states["base0"] = 4 * np.arange(count)
    return states


def outputs(monkeypatch, rows):
    """Results of packed beats, of memory that answers."""
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    return codec.unpack(volume.check(STEM, "small", rows), TEXTURED_QUAD, dtype(TEXTURED_QUAD))


@pytest.mark.plan("texture-unit-5")
def test_states_change_from_quad_to_quad(monkeypatch):
    """More states than there are rows, each with a quad: each has texels of its own."""
    states = ramps(20)
    quad = np.zeros(1, dtype(TEXTURE_QUAD))
    quad["kind"], quad["live"] = 1, 15
    rows = [
        codec.pack(beat, table, bench.BITS)
        for state in states
        for beat, table in ((np.atleast_1d(state), SAMPLE_STATE), (quad, TEXTURE_QUAD))
    ]
    out = outputs(monkeypatch, np.concatenate(rows))
    assert len(np.unique(out["c0_0"])) > 15


@pytest.mark.plan("texture-unit-5")
def test_pixels_that_are_not_live_read_nothing(monkeypatch):
    """Nor does a quad without any; but its gradients count."""
    quads = np.zeros(16, dtype(TEXTURE_QUAD))
    quads["kind"], quads["live"] = 1, np.arange(16)
    rows = np.concatenate(
        [
            codec.pack(ramps(1), SAMPLE_STATE, bench.BITS),
            codec.pack(quads, TEXTURE_QUAD, bench.BITS),
        ]
    )
    out = outputs(monkeypatch, rows)
    for pixel in range(4):
        assert ((out[f"c{pixel}_0"] > 0) == (quads["live"] >> pixel & 1)).all()
    assert (out["lookups"] > 0).tolist() == [live > 0 for live in range(16)]


@pytest.mark.plan("texture-unit-5")
@pytest.mark.parametrize(("level", "status"), [(0, 1), (1, 1), (2, 0)])
def test_a_level_that_memory_cannot_read(level, status, monkeypatch):
    """Of a quad between levels 0 and 1 either one tells, and no other."""
    state = ramps(1)
    state["smooth"], state["last"] = 1, 2
    state["minimum"] = state["maximum"] = 128
    state["base1"], state["base2"] = 4, 5
    quads = np.zeros(2, dtype(TEXTURE_QUAD))
    quads["kind"], quads["live"] = 1, 15
    monkeypatch.setattr(bench, "unreadable", lambda *_: 64 * [0, 4, 5][level])
    rows = [
        codec.pack(state, SAMPLE_STATE, bench.BITS),
        codec.pack(quads, TEXTURE_QUAD, bench.BITS),
    ]
    out = volume.check(STEM, "small", np.concatenate(rows))
    found = codec.unpack(out, TEXTURED_QUAD, dtype(TEXTURED_QUAD))
    assert found["status"].tolist() == [status, status]
