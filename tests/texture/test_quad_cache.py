# SPDX-License-Identifier: BSD-2-Clause
import re

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.events import Keep
from fixfunc.models.payload import dtype
from fixfunc.models.texture.cache.taps import Taps
from fixfunc.models.texture.cache.texture_cache import (
    CacheShape,
    MortonPlaces,
    TextureCache,
    morton,
)
from fixfunc.models.texture.filtering.fetch import fetch
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture_cache import QuadCache, QuadCacheShape, rounds, taps_of
from fixfunc.rtl.texture.cache.layouts import TextureCacheParams
from fixfunc.rtl.texture.cache.texture_cache import CONFIGS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.textures.cache import (
    CACHE_QUAD,
    CACHE_STATE,
    COLOURS,
    FLOATS,
    MORE,
    POINT_SAMPLED,
    TEXEL_QUAD,
    CacheStatus,
    StoredFormat,
)
from fixfunc.spec.textures.coded_lines import CODED_FORMATS
from fixfunc.tb import catalogue
from fixfunc.tb.bench.states import parted
from fixfunc.tb.texture import texture_cache as bench
from tests import volume
from tests.bench import check_bench
from tests.textures import noise
from tests.tiers import by_tier

BLOCK = STEM = "texture_cache"
OF_TINY = [form for form in CONFIGS["tiny"].formats if form in (*MORE, *POINT_SAMPLED)]


def unpacked(out):
    """Texels of quads by packed beats."""
    return codec.unpack(out, TEXEL_QUAD, dtype(TEXEL_QUAD))


class Recent:
    """A set of a cache as a list, the least recently used key first."""

    def __init__(self, ways):
        self.keys = []
        self.ways = ways

    def misses(self, key):
        missed = key not in self.keys
        if not missed:
            self.keys.remove(key)
        self.keys = [*self.keys, key][-self.ways :]
        return missed


def interleaved(x, y):
    """Bits of x and y in turn."""
    return sum((x >> n & 1) << 2 * n | (y >> n & 1) << 2 * n + 1 for n in range(16))


def naive_rounds(quad, first_set, layers):
    """Sets of taps' blocks that are looked up, round by round."""
    left = []
    for p in range(4):
        for c in range(4):
            if quad[f"reads{p}"] >> c & 1:
                x = int(quad[f"{('left', 'right')[c & 1]}{p}"])
                y = int(quad[f"{('upper', 'lower')[c >> 1]}{p}"])
                image = layers * int(quad[f"layer{p}"]), int(quad[f"level{p}"])
                left.append((p, x, y, image))
    while left:
        leaders = {}
        taken = set()
        for n, (p, x, y, (layer, level)) in enumerate(left):
            clashes = any(
                q == p and (u - x) % 2 == (v - y) % 2 == 0 and (u, v) != (x, y)
                for q, u, v, _ in left[:n]
            )
            if clashes:
                continue
            block = (layer, level, x // 4, y // 4)
            number = interleaved(x // 4, y // 4) + 9 * level + layer + int(first_set)
            if leaders.setdefault(number % 4, (block, number))[0] == block:
                taken.add(n)
        yield [leaders[quarter] for quarter in sorted(leaders)]
        left = [tap for n, tap in enumerate(left) if n not in taken]


def block_bytes(form):
    """Bytes of 4x4 texels, by the format's name."""
    if form.name.startswith("BC"):
        return 8 if form.name[2] in "14" else 16
    digits = [int(bits) for bits in re.findall(r"[RGBAXE]([0-9]+)", form.name)]
    return 2 * sum(digits)


@pytest.mark.plan("texture-cache-7")
@pytest.mark.parametrize("config", ["default", "tiny", "tiny_coded"])
def test_counts_are_those_of_lists(config):
    """Rounds, both levels and their least recently used ways, block by block."""
    params = CONFIGS[config]
    rows = bench.requests(np.random.default_rng(1), 1500, params)
    states, quads, state_of = parted(rows, CACHE_STATE, CACHE_QUAD)
    out = unpacked(bench.expected(rows, params)["o"])
    blocks = [Recent(params.ways) for _ in range(params.sets)]
    lines = [Recent(params.line_ways) for _ in range(params.line_sets)]
    for quad, which, row in zip(quads, state_of, out, strict=True):
        state = states[which]
        found = [0, 0, 0]
        own = int(state["format"]) + 32 * int(state["extended"])
        coded = int(state["coded"]) if params.coded else 0
        rows = int(state["linear"]) and params.linear
        is_known = own in [int(form) for form in params.formats]
        is_known &= not coded or own in [int(form) for form in CODED_FORMATS]
        if rows and is_known:
            is_known = not coded and state["distance"] < 4096 and "BC" not in StoredFormat(own).name
        for leaders in naive_rounds(quad, state["first_set"], params.layers) if is_known else ():
            for (layer, level, x, y), number in leaders:
                form = StoredFormat(own)
                first = int(state[f"base{level}"])
                distance = int(state["distance"])
                place = (first + layer * distance) % (1 << 26) * 64
                place += interleaved(x, y) * block_bytes(form)
                if coded:
                    inside = 4 * (x // 2) + interleaved(x % 2, y % 2)
                    place = 64 * (first + y // 2 * distance + inside)
                line = place // 64
                numbers = range(line, line + max(block_bytes(form) // 64, 1))
                if rows:
                    place = 64 * (first + 4 * y * distance) + 4 * x * block_bytes(form) // 16
                    numbers = [place // 64 + n * distance for n in range(4)]
                found[0] += 1
                if blocks[number % params.sets].misses((place, form, coded, rows and distance + 1)):
                    found[1] += 1
                    for each in numbers:
                        found[2] += lines[each % params.line_sets].misses((each, coded))
        assert [int(row[name]) for name in ("lookups", "misses", "lines")] == found


def stored(texture, form):
    """A texture's levels in Morton order, and the state that shows it."""
    places = MortonPlaces(texture)
    state = np.zeros(1, dtype(CACHE_STATE))
    bench.put_format(state, form)
    data = np.zeros(bench.SIZE, np.uint8)
    size, edge = texture.texel_format[:2]
    begin = 0
    spots = []
    for level, images in enumerate(texture.levels):
        width, height = (-(-side // edge) for side in texture.size(level))
        y, x = (v.ravel() for v in np.indices((height, width)))
        state[f"base{level}"] = begin // 64
        place = begin + morton(x, y).astype(np.int64)[:, None] * size + np.arange(size)
        spots.append((place, images, height * width, size))
        side = max(-(-side // 4) for side in texture.size(level))
        begin += (1 << (side - 1).bit_length()) ** 2 * size * (4 // edge) ** 2
    state["distance"] = -(-begin // 64)
    for n in range(texture.layers * texture.faces):
        for place, images, *shape in spots:
            data[place + n * int(state["distance"][0]) * 64] = images[n].reshape(shape)
    return places, state, data


def units(form):
    """What is 1.0 of each channel: by the bits that the format's name has for it."""
    if form.name.endswith("SRGB") or form.name.startswith("BC"):
        return np.float32([32767 if "SNORM" in form.name else 65535] * 4)
    bits = dict.fromkeys("RGBA", 8) | dict(re.findall(r"([RGBA])([0-9]+)", form.name))
    if "SNORM" in form.name:
        given = re.findall(r"[RGBA]([0-9]+)", form.name)
        return np.float32([16383 if n == "8" else 32767 for n in [*given, *"1111"][:4]])
    wide = {5: 10, 6: 12, 10: 10}
    return np.float32([(1 << wide.get(int(bits[name]), 16)) - 1 for name in "RGBA"])


def quads_of(texture, rng, count):
    """Quads of pixels anywhere on levels, and walks of pixels side by side."""
    quads = np.zeros(count, dtype(CACHE_QUAD))
    quads["kind"] = 1
    walk = np.cumsum(rng.integers(-1, 3, (2, count)), 1)
    spread = rng.random(count) < 0.3
    for pixel in range(4):
        level = np.where(spread, rng.integers(0, len(texture.levels), count), 0)
        quads[f"level{pixel}"] = level
        quads[f"reads{pixel}"] = rng.choice([15, 15, 9, 1], count)
        for axis, names in enumerate((("left", "right"), ("upper", "lower"))):
            size = np.array([texture.size(n)[axis] for n in range(len(texture.levels))])[level]
            first = np.where(spread, rng.integers(0, 1 << 14, count), walk[axis])
            for step, name in enumerate(names):
                quads[f"{name}{pixel}"] = (first + (pixel >> axis & 1) + step) % size
    return quads


@pytest.mark.plan("texture-cache-8")
@pytest.mark.parametrize("form", [*COLOURS, *OF_TINY], ids=lambda form: form.name)
def test_texels_are_those_that_the_sampler_fetches(form, monkeypatch):
    """What the hardware reads from memory, bit for bit; its counts are the golden cache's."""
    config = "tiny" if form in OF_TINY else "default"
    rng = np.random.default_rng(form)
    name, srgb = DXGI[Format[form.name]]
    size = [(64, 64), (37, 20), (5, 64)][form % 3]
    texture = noise(*size, levels=3, format=name, srgb=srgb)
    places, state, data = stored(texture, form)
    quads = quads_of(texture, rng, 1000)
    monkeypatch.setattr(bench, "memory", lambda *_: data.copy())
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    parts = ((state, CACHE_STATE), (quads, CACHE_QUAD))
    rows = [codec.pack(*part, bench.BITS) for part in parts]
    out = unpacked(volume.check(STEM, config, np.concatenate(rows)))
    taps = taps_of(quads)
    for tap in range(16):
        chosen = taps.reads[:, tap]
        found = np.stack([out[f"t{tap // 4}_{tap % 4}_{n}"] for n in range(4)], 1)
        found = found.view(np.int16) if "SNORM" in form.name else found
        at = np.stack([taps.x[:, tap], taps.y[:, tap]], 1)
        wanted = fetch(texture, at[chosen], taps.level[chosen, tap])
        if form in FLOATS:
            value = found.view(np.float16)[chosen].astype(np.float32)
            assert np.array_equal(value, wanted, equal_nan=True)
            assert np.array_equal(*(np.signbit(v)[~np.isnan(v)] for v in (value, wanted)))
        elif form in POINT_SAMPLED:
            assert found[chosen].view(np.uint32).tolist() == wanted[:, :2].view(np.uint32).tolist()
        else:
            assert np.array_equal(found[chosen].astype(np.float32) / units(form), wanted)
        assert not found[~chosen].any()
    check_counts(places, taps, out, CONFIGS[config])


def check_counts(places, taps, out, params):
    """Blocks and lines are those of the golden cache of that shape, which holds blocks whole."""
    sets = (taps.block + 9 * taps.level) % params.sets
    quad, _, tap = rounds(taps, sets % 4).T
    read = Taps()
    read.add(
        sample=np.arange(len(quad)),
        level=taps.level[quad, tap],
        image=0 * quad,
        x=taps.x[quad, tap],
        y=taps.y[quad, tap],
    )
    places.decoded = 64
    shape = CacheShape(
        bytes=64 * params.sets * params.ways,
        ways=params.ways,
        second=64 * params.lines,
        second_ways=params.line_ways,
    )
    golden = TextureCache(shape, timed=False).read(places, len(quad), read)
    assert (out["misses"].sum(), out["lines"].sum()) == (golden.blocks, golden.lines)
    assert golden.lookups <= out["lookups"].sum() == len(quad)  # it joins those side by side


@pytest.mark.plan("texture-cache-9")
@pytest.mark.parametrize("config", by_tier(CONFIGS, later=["tiny_coded"]))
def test_volume(config):
    volume.check_paces(STEM, config, 800)


@pytest.mark.qualify
@pytest.mark.plan("texture-cache-9")
@pytest.mark.parametrize(("config", "beats"), [("default", 52_000), ("tiny_coded", 10_400)])
def test_a_million_quads(config, beats):
    """Of coded surfaces and rows fewer."""
    found = 0
    for n in range(20):
        rows = bench.requests(np.random.default_rng(n), beats, CONFIGS[config])
        found += len(volume.check(STEM, config, rows, seed=n))
    assert found > 20 * beats * 0.95


@pytest.mark.plan("texture-cache-9")
@pytest.mark.parametrize("config", by_tier(["tiny", "tiny_coded"], later=["tiny_coded"]))
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)


@pytest.mark.plan("texture-cache-11")
@pytest.mark.parametrize("latency", [(0, 3000), (6000, 6000)], ids=str)
def test_answers_in_any_order_and_late(latency):
    block = catalogue.block(STEM)
    rows = bench.requests(np.random.default_rng(2), 1500, CONFIGS["default"])
    run, _, count, first = block.compare(
        volume.volume(STEM, "default"),
        rows,
        "default",
        behaviour={"latency": latency},
        limit=volume.LIMIT,
        keep=Keep(bursts=10_000),
    )
    assert not count, first
    bursts = run.events.bursts
    assert len(np.unique(bursts["id"])) == CONFIGS["default"].in_flight
    assert (np.diff(bursts["answered"].astype(int)) < 0).any()
    # Transfers of two lines are mixed.
    assert (bursts["last"] > bursts["first"] + 1).any()


@pytest.mark.plan("texture-cache-11")
def test_a_line_that_cannot_be_read_is_zero_texels():
    rows = bench.bilinear(20)
    data = np.full(1 << 12, 255, np.uint8)
    states, quads, state_of = parted(rows, CACHE_STATE, CACHE_QUAD)
    for byte, status in ((None, CacheStatus.OKAY), (63, CacheStatus.MEMORY)):
        out = QuadCache(QuadCacheShape(), data, byte).read(states, quads, state_of)
        assert out["status"][0] == status
        assert out["t0_0_0"][0] == (0 if byte else 65535)


@pytest.mark.plan("texture-cache-11")
@pytest.mark.parametrize("line", range(4))
def test_half_a_block_that_cannot_be_read_is_zero_texels(line, monkeypatch):
    """Of a block of two lines the other half is there."""
    rows = bench.bilinear(20)
    states, quads, _ = parted(rows, CACHE_STATE, CACHE_QUAD)
    bench.put_format(states, StoredFormat.R16G16B16A16_UNORM)
    rows = np.concatenate(
        [codec.pack(states, CACHE_STATE, bench.BITS), codec.pack(quads, CACHE_QUAD, bench.BITS)]
    )
    monkeypatch.setattr(bench, "memory", lambda *_: np.full(bench.SIZE, 255, np.uint8))
    monkeypatch.setattr(bench, "unreadable", lambda *_: 64 * line + 63)
    out = unpacked(volume.check(STEM, "tiny", rows))
    taps = taps_of(quads)
    fails = (taps.x >> 2 == line >> 1) & (taps.y >> 1 == line & 1)
    for tap in range(16):
        found = out[f"t{tap // 4}_{tap % 4}_3"]
        assert np.array_equal(found, np.where(fails[:, tap], 0, 65535))
    assert np.array_equal(out["status"] == CacheStatus.MEMORY, fails.any(1))
    assert fails.any(1).sum() in range(1, 20)


def rate(config, rows, **behaviour):
    """Clocks from the first beat taken to the last quad out."""
    block = catalogue.block(STEM)
    run, _, count, first = block.compare(
        volume.volume(STEM, config), rows, config, behaviour=behaviour, limit=volume.LIMIT
    )
    assert not count, first
    return run.clocks


@pytest.mark.plan("texture-cache-10")
def test_latency_is_hidden_behind_the_queue(monkeypatch):
    """Bilinear quads in tiles of 8x8 pixels, a texel a pixel: two quads of five have a miss."""
    side = 96
    quads = np.zeros(side * side // 4, dtype(CACHE_QUAD))
    quads["kind"] = 1
    number = np.arange(len(quads))
    tile, inside = number // 16, number % 16
    place = (
        tile % (side // 8) * 8 + inside % 4 * 2,
        tile // (side // 8) * 8 + inside // 4 * 2,
    )
    for pixel in range(4):
        quads[f"reads{pixel}"] = 15
        for axis, names in enumerate((("left", "right"), ("upper", "lower"))):
            for step, name in enumerate(names):
                quads[f"{name}{pixel}"] = (place[axis] + (pixel >> axis & 1) + step) % 256
    state = np.zeros(1, dtype(CACHE_STATE))
    rows = np.concatenate(
        [codec.pack(state, CACHE_STATE, bench.BITS), codec.pack(quads, CACHE_QUAD, bench.BITS)]
    )
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    clocks = rate("default", rows, latency=(200, 200), ready=256)
    assert len(quads) / (clocks - 200) > 0.9


@pytest.mark.plan("texture-cache-12")
@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"sets": 4}, "sets must be a power of two from 8 on, not 4"),
        ({"ways": 3}, "ways must be a power of two from 2 on, not 3"),
        ({"in_flight": 2}, "in_flight must be a power of two from 4 on, not 2"),
        ({"formats": ()}, r"formats must be some of StoredFormat, not \(\)"),
    ],
)
def test_wrong_parameters(fields, message):
    with pytest.raises(InputError, match=message):
        TextureCacheParams(**fields)


@pytest.mark.plan("texture-cache-12")
def test_a_level_that_there_is_not():
    states, quads, state_of = parted(bench.bilinear(3), CACHE_STATE, CACHE_QUAD)
    quads["level2"] = 15
    with pytest.raises(InputError, match="level must be below 15, not 15"):
        QuadCache(QuadCacheShape(), np.zeros(64, np.uint8)).read(states, quads, state_of)
