# SPDX-License-Identifier: BSD-2-Clause
from dataclasses import replace

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.payload import dtype
from fixfunc.models.texture.sampler import Sampler, sample
from fixfunc.models.texture.unit.stored import sampler_fields, stored
from fixfunc.rtl.texture.descriptors import descriptor_pool as rtl
from fixfunc.spec.errors import InputError
from fixfunc.spec.textures.addresses import Address
from fixfunc.spec.textures.cache import LINE, CacheStatus, StoredFormat
from fixfunc.spec.textures.descriptors import (
    DESCRIPTOR,
    REFUSED,
    STRIDE,
    DescriptorKind,
    Refusal,
)
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import TEXTURED_QUAD
from fixfunc.tb.texture import descriptor_pool as bench
from tests import volume
from tests.bench import check_bench
from tests.texture.test_quad_cache import stored as in_cache
from tests.textures import noise
from tests.tiers import by_tier

BLOCK = STEM = "descriptor_pool"
CONFIG = "tiny"
PARAMS = rtl.CONFIGS[CONFIG]
UNIT = "texture_unit", "tiny_full"  # behind it
HALVES = noise(16, 16, levels=3, format="RGBA16F")
LEGAL = {"width": 5, "height": 64, "last": 6, "format": StoredFormat.A8_UNORM}
CUBE = {"width": 64, "height": 64, "cube": 1}
# Texels of 8 bytes: a level of 64x64 of them has 512 lines.
WIDE = {"format": StoredFormat.R16G16B16A16_UNORM - 32, "extended": 1, "height": 64}
# Fields that a legal descriptor lacks, and the rule that each breaks. A level of 64x64 texels of a
# byte has 64 lines; memory of textures ends at line 1,000.
BROKEN = [
    ({"width": 0}, Refusal.STATE),
    ({"width": 65}, Refusal.STATE),
    ({"height": 65}, Refusal.STATE),
    ({"last": 7}, Refusal.STATE),
    ({"height": 5, "last": 3}, Refusal.STATE),
    ({"format": StoredFormat.BC7_UNORM}, Refusal.STATE),
    ({"format": max(StoredFormat) - 32 + 1, "extended": 1}, Refusal.STATE),
    ({"format": 31, "extended": 1}, Refusal.STATE),
    (WIDE | {"base0": 489}, Refusal.ADDRESS),
    ({"mode_u": len(Address)}, Refusal.STATE),
    ({"mode_v": 7}, Refusal.STATE),
    ({"anisotropy": 17}, Refusal.STATE),
    ({"base0": 937}, Refusal.ADDRESS),
    ({"base6": 1000}, Refusal.ADDRESS),
    ({"base6": (1 << 26) - 1}, Refusal.ADDRESS),
    ({"base0": 937, "mode_u": len(Address)}, Refusal.STATE),
    ({"last_layer": 9, "distance": 105}, Refusal.ADDRESS),
    ({"last_layer": 1024, "distance": 1 << 16}, Refusal.ADDRESS),  # 2^26 lines
    ({"last_layer": 2047, "distance": (1 << 26) - 1}, Refusal.ADDRESS),
    ({"cube": 1}, Refusal.STATE),
    (CUBE | {"height": 32}, Refusal.STATE),
    (CUBE | {"last_layer": 341}, Refusal.STATE),
    (CUBE | {"distance": 188}, Refusal.ADDRESS),
    (CUBE | {"last_layer": 340, "distance": 1}, Refusal.ADDRESS),
]
FINE = [
    {},
    {"width": 1, "height": 1, "last": 0},
    {"width": 64, "height": 64, "base0": 936},
    WIDE | {"base0": 488},
    {"format": StoredFormat.R8_SNORM - 32, "extended": 1},
    {"format": StoredFormat.BC6H_SF16 - 32, "extended": 1},
    {"base6": 999, "base7": (1 << 26) - 1},  # no level 7 is read
    {"anisotropy": 16},
    {"last_layer": 9, "distance": 104},
    {"last_layer": 0, "distance": (1 << 26) - 1},
    {"last_layer": 2047},
    CUBE | {"distance": 187},
    CUBE | {"last_layer": 1, "distance": 85},
    CUBE | {"last_layer": 340},
]
# 28 lines from the first row of tiles to the end of the second; 7 tiles.
SURFACE = {"coded": 1, "width": 24, "height": 16, "distance": 16, "format": 0, "mode_table": 500}
HIGH = {"height": 64, "distance": 80}  # 143 tiles: modes of three transfers
SURFACES = [
    ({}, None),
    ({"base0": 972}, None),
    ({"base0": 976}, Refusal.ADDRESS),
    ({"base0": 972, "width": 25}, Refusal.ADDRESS),
    ({"base0": 972, "height": 17}, Refusal.ADDRESS),
    ({"distance": (1 << 26) - 4}, Refusal.ADDRESS),
    ({"mode_table": 1999}, None),
    ({"mode_table": 2000}, Refusal.ADDRESS),
    ({"mode_table": (1 << 27) - 1}, Refusal.ADDRESS),
    (HIGH | {"mode_table": 1997}, None),
    (HIGH | {"mode_table": 1998}, Refusal.ADDRESS),
    ({"cleared": (1 << 32) - 1, "format": StoredFormat.R16G16_FLOAT - 32, "extended": 1}, None),
    ({"last": 1}, Refusal.STATE),
    ({"last_layer": 1}, Refusal.STATE),
    ({"width": 16, "cube": 1}, Refusal.STATE),
    ({"base0": 2}, Refusal.STATE),
    ({"distance": 17}, Refusal.STATE),
    ({"format": StoredFormat.R16_UNORM}, Refusal.STATE),
    ({"format": StoredFormat.R16G16B16A16_FLOAT - 32, "extended": 1}, Refusal.STATE),
]


GATHER = {"op": FilterOp.GATHER}
POINTS = [
    ({}, None),
    ({"coarse": 1, "op": FilterOp.MAXIMUM, "anisotropy": 1}, None),
    *(({name: 1}, Refusal.STATE) for name in ("magnify", "minify", "smooth")),
    ({"anisotropy": 2}, Refusal.STATE),
    ({"anisotropy": 16}, Refusal.STATE),
    (GATHER | {"magnify": 1, "minify": 1, "smooth": 1, "anisotropy": 16}, None),
    (GATHER | CUBE, Refusal.STATE),
    (CUBE, None),
    # It may be compared: the pool does not know.
    ({"magnify": 1, "format": StoredFormat.R32_FLOAT, "extended": 0}, None),
    ({"magnify": 1, "format": StoredFormat.R16G16B16A16_FLOAT - 32}, None),
]


@pytest.mark.plan("descriptor-pool-8")
@pytest.mark.parametrize(("fields", "reason"), POINTS)
def test_rules_of_points(fields, reason, monkeypatch):
    """Of R32G32_FLOAT: linear filters are optional [fs 7.18.1], and a gather has none."""
    own = {"format": StoredFormat.R32G32_FLOAT - 32, "extended": 1}
    rows = np.concatenate([bench.placed(0, 1, 2000), bench.selected([0])])
    found = refusals(monkeypatch, [LEGAL | own | fields], rows)
    assert found == ([] if reason is None else [(0, reason)])


@pytest.mark.plan("descriptor-pool-2")
@pytest.mark.parametrize("config", by_tier(rtl.CONFIGS))
def test_volume(config):
    volume.check_paces(STEM, config, 800)


@pytest.mark.plan("descriptor-pool-2")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)


def in_memory(descriptors, size):
    """Bytes of memory that begin with descriptors, by their fields."""
    records = np.zeros(len(descriptors), dtype(DESCRIPTOR))
    for n, fields in enumerate(descriptors):
        for name, value in fields.items():
            records[name][n] = value
    data = np.zeros(size, np.uint8)
    packed = codec.pack(records, DESCRIPTOR, STRIDE * 8)
    data[: len(descriptors) * STRIDE] = packed.view(np.uint8).reshape(-1)
    return data


def refusals(monkeypatch, descriptors, rows, config=CONFIG):
    """What the hardware refuses, as pairs of a number and a reason, held to the golden model."""
    data = in_memory(descriptors, bench.SIZE)
    monkeypatch.setattr(bench, "memory", lambda *_: data.copy())
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    found = volume.check_outputs(STEM, config, rows, ("full", "full"), 0)["refused"]
    records = codec.unpack(found, REFUSED, dtype(REFUSED))
    return list(zip(records["number"].tolist(), records["reason"].tolist(), strict=True))


@pytest.mark.plan("descriptor-pool-1")
@pytest.mark.parametrize(("fields", "reason"), BROKEN)
def test_each_rule_refuses(fields, reason, monkeypatch):
    rows = np.concatenate([bench.placed(0, 2, 1000), bench.selected([0, 1, 1, 0])])
    assert refusals(monkeypatch, [LEGAL, LEGAL | fields], rows) == [(1, reason)] * 2


@pytest.mark.plan("descriptor-pool-1")
@pytest.mark.parametrize("fields", FINE)
def test_what_is_at_the_edge_of_a_rule_is_legal(fields, monkeypatch):
    rows = np.concatenate([bench.placed(0, 1, 1000), bench.selected([0])])
    assert refusals(monkeypatch, [LEGAL | fields], rows) == []


@pytest.mark.plan("descriptor-pool-1")
def test_an_array_is_refused_without_layers(monkeypatch):
    """So is a cube, and a number from 32 on without such formats. A distance between layers of
    which there is one does not count, however far it goes.
    """
    arrays = {"last_layer": 1}, {"distance": (1 << 26) - 1}, CUBE
    params = rtl.CONFIGS["small"]
    numbers = bench.selected([0, 1, 2, 3, 2, 4], params)
    rows = np.concatenate([bench.placed(0, 5, 1000, params), numbers])
    others = (*arrays, {"format": 0, "extended": 1})
    descriptors = [LEGAL, *(LEGAL | fields for fields in others)]
    found = refusals(monkeypatch, descriptors, rows, "small")
    assert found == [(1, Refusal.STATE), (3, Refusal.STATE), (4, Refusal.STATE)]


@pytest.mark.plan("descriptor-pool-6")
@pytest.mark.parametrize(("fields", "reason"), SURFACES)
def test_rules_of_coded_surfaces(fields, reason, monkeypatch):
    """Two rows of three tiles, a gap between: to the last line, and transfer, that there is."""
    rows = np.concatenate([bench.placed(0, 1, 1000), bench.selected([0])])
    found = refusals(monkeypatch, [SURFACE | fields], rows)
    assert found == ([] if reason is None else [(0, reason)])


@pytest.mark.plan("descriptor-pool-6")
def test_a_coded_surface_is_refused_without_them(monkeypatch):
    params = rtl.CONFIGS["small"]
    numbers = bench.selected([0, 1], params)
    rows = np.concatenate([bench.placed(0, 2, 1000, params), numbers])
    found = refusals(monkeypatch, [LEGAL, LEGAL | {"coded": 1}], rows, "small")
    assert found == [(1, Refusal.STATE)]
    with pytest.raises(InputError, match="surfaces must be none without layers"):
        replace(rtl.CONFIGS["tiny"], layers=False, cubes=False)


@pytest.mark.plan("descriptor-pool-1")
def test_numbers_beyond_the_pool(monkeypatch):
    """Before there is a pool, and beyond one; one of more than there may be has all of them."""
    rows = np.concatenate(
        [
            bench.selected([0]),
            bench.placed(0, 3, 1000),
            bench.selected([2, 3]),
            bench.placed(0, 255, 1000),
            bench.selected([PARAMS.size - 1, PARAMS.size]),
        ]
    )
    found = refusals(monkeypatch, [LEGAL] * PARAMS.size, rows)
    assert found == [(0, Refusal.NUMBER), (3, Refusal.NUMBER), (PARAMS.size, Refusal.NUMBER)]


@pytest.mark.plan("descriptor-pool-3")
def test_a_descriptor_is_read_once_until_the_next_pool():
    """A refused one is read again each time."""
    data = in_memory([LEGAL, LEGAL | {"width": 0}], 4096)
    pool = bench.pool_of(data, PARAMS)
    pool.place(base=0, count=2, limit=1000)
    assert [pool.select(n).refusal for n in (0, 1)] == [None, Refusal.STATE]
    data[:] = in_memory([LEGAL | {"width": 0}, LEGAL], 4096)
    assert [pool.select(n).refusal for n in (0, 1)] == [None, None]
    pool.place(base=0, count=2, limit=1000)
    assert [pool.select(n).refusal for n in (0, 1)] == [Refusal.STATE, None]


@pytest.mark.plan("descriptor-pool-3")
def test_the_hardware_reads_a_descriptor_once():
    """Clocks that it waits for memory, which is far away: one read for each that is not known."""
    data = in_memory([LEGAL, LEGAL | {"width": 0}], bench.SIZE)
    rows = np.concatenate(
        [
            bench.placed(0, 2, 1000),
            bench.selected([0, 0, 1, 1, 0]),
            bench.placed(0, 2, 1000),
            bench.selected([0]),
        ]
    )
    block = volume.volume(STEM, CONFIG)
    far = Memory(data, (1000, 1000), ready=256)
    clocks = [block.run({"i": rows[:n]}, 100, memory=far).simulated for n in range(1, 9)]
    assert np.rint(np.diff(clocks) / 1000).tolist() == [1, 0, 1, 1, 0, 0, 1]


@pytest.mark.plan("descriptor-pool-5")
def test_textures_by_number():
    """Texels are those of the golden sampler; of refused descriptors they are zero, and say so."""
    rng = np.random.default_rng(1)
    samplers = (
        Sampler(anisotropy=5),
        Sampler("point", "point", "point", address=("mirror", "clamp")),
    )
    textures = noise(37, 20, seed=1), noise(64, 8, seed=2)
    descriptors = []
    parts = []
    first = 1024
    for texture, sampler in zip(textures, samplers, strict=True):
        part = stored(texture, first)
        descriptors.append(part.fields | sampler_fields(sampler))
        parts.append(part.data)
        first += len(part.data)
    # Halves, whose quads bring gradients.
    _, fields, part = in_cache(HALVES, StoredFormat.R16G16B16A16_FLOAT)
    used = int(fields["distance"][0]) * LINE
    bases = {f"base{n}": int(fields[f"base{n}"][0]) + first // LINE for n in range(3)}
    form = {name: int(fields[name][0]) for name in ("format", "extended")}
    sizes = {"width": 16, "height": 16, "last": 2}
    halves = sizes | bases | form | sampler_fields(samplers[0])
    parts.append(part[:used])
    first += used
    wrong = {"format": 31}, {"base0": first // LINE}
    descriptors += [halves, *(descriptors[0] | fields for fields in wrong)]
    data = in_memory(descriptors, 1024)
    data = np.concatenate([data, *parts, np.zeros(-first % 64, np.uint8)])
    rows = [bench.placed(0, 5, first // LINE)]
    numbers = rng.integers(0, 5, 50)
    middles = rng.uniform(-1, 2, (len(numbers), 1, 1, 2))
    y, x = np.indices((2, 2))
    steps = rng.uniform(0, 0.1, (len(numbers), 1, 1, 2))
    places = (middles + np.stack([x, y], -1) * steps).astype(np.float32)
    gradients = rng.normal(0, 0.05, (2, *places.shape)).astype(np.float32)
    for n, (number, place) in enumerate(zip(numbers, places, strict=True)):
        quad = np.zeros(1, dtype(PARAMS.quad))
        quad["kind"], quad["live"] = DescriptorKind.QUAD, 15
        for pixel, uv in enumerate(place.reshape(4, 2).view(np.uint32)):
            quad[f"u{pixel}"], quad[f"v{pixel}"] = uv
            for way, gradient in zip(("across", "down"), gradients[:, n], strict=True):
                for name, value in zip("uv", gradient.reshape(4, 2)[pixel], strict=True):
                    quad[f"{way}_{name}{pixel}"] = value.view(np.uint32)
        select = bench.selected([number], explicit_gradients=number == 2)
        rows += [select, codec.pack(quad, PARAMS.quad, bench.bits(PARAMS))]
    pool, unit = (volume.volume(*which) for which in ((STEM, CONFIG), UNIT))
    states = pool.run({"i": np.concatenate(rows)}, 1000, memory=Memory(data)).outputs
    run = unit.run({"i": states["o"]}, 1000, memory=Memory(data))
    assert not len(run.outside)
    found = codec.unpack(run.outputs["o"], TEXTURED_QUAD, dtype(TEXTURED_QUAD))
    channels = [[found[f"c{pixel}_{n}"] for n in range(4)] for pixel in range(4)]
    texels = np.array(channels).transpose(2, 0, 1).copy()
    refused = numbers > 2
    assert (found["status"] == np.where(refused, CacheStatus.FORMAT, CacheStatus.OKAY)).all()
    assert not texels[refused].any()
    assert len(states["refused"]) == refused.sum() > 0
    for number, (texture, sampler) in enumerate(zip(textures, samplers, strict=True)):
        wanted = sample(texture, sampler, places[numbers == number]).reshape(-1, 4, 4)
        assert np.array_equal(texels[numbers == number], wanted.view(np.uint32))
        assert len(wanted)
    own = numbers == 2
    wanted = sample(HALVES, samplers[0], places[own], gradients=tuple(gradients[:, own]))
    assert np.array_equal(texels[own], wanted.reshape(-1, 4, 4).view(np.uint32))
    assert len(wanted)
