# SPDX-License-Identifier: BSD-2-Clause
"""Textures that were drawn, as the cache and the texture unit read them."""

from collections import Counter

import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim import catalogue, codec
from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.memory.coded_tiles import CodedTiles
from fixfunc.models.payload import dtype
from fixfunc.models.texture.texture_cache import QuadCacheShape
from fixfunc.models.texture.texture_unit import TextureUnit
from fixfunc.rtl.texture.cache.layouts import TextureCacheParams
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DIFFERENCES, TileMode
from fixfunc.spec.textures.cache import (
    COLOURS,
    DEPTHS,
    MORE,
    POINT_SAMPLED,
    CacheStatus,
    StoredFormat,
)
from fixfunc.spec.textures.coded_lines import CODED_FORMATS
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import TEXTURED_QUAD
from fixfunc.tb.bench.states import parted
from fixfunc.tb.texture import texture_unit as bench
from tests import volume
from tests.texture.unit.many_quads import check_quads, with_states

BLOCK = STEM = "texture_unit"
CONFIG = "tiny_full"
PARAMS = CONFIGS[CONFIG]
SIDE = 61, 45  # texels
PLAIN, SURFACE, TABLE = 0, 1 << 16, 1 << 17  # bytes; a transfer lies between tiles and table
CLEARED = np.array([0x10, 0x20, 0x30, 0x40], np.uint8)
COLOUR_FORMATS = [form for form in CODED_FORMATS if form not in DEPTHS]
QUADS = 60  # of a picture and a sampler


def pictures(rng):
    """A photograph, slopes, noise, few colours, widths of every code, a cleared part."""
    width, height = SIDE
    photograph = Image.open(ROOT / "docs/pictures/teapot_textured.png").convert("RGBA")
    yield np.asarray(photograph.resize(SIDE))
    y, x = np.mgrid[:height, :width]
    yield np.stack([x + y, 2 * x, 3 * y, 0 * x + 255], -1).astype(np.uint8)
    noise = rng.integers(0, 256, (height, width, 4), np.uint8)
    yield noise
    yield noise & 0x80
    yield np.stack([200 - x, 200 - x, 200 - x, 0 * x + 255], -1).astype(np.uint8)
    for bits in range(1, 6):
        yield ((noise & (1 << bits) - 1) + 64).astype(np.uint8)
    mixed = noise.copy()
    mixed[:, 30:] = CLEARED
    yield mixed


def morton(x, y):
    """Bits of x and y in turn."""
    return sum((x >> n & 1) << 2 * n | (y >> n & 1) << 2 * n + 1 for n in range(8))


def memory_of(picture):
    """A picture as a plain texture and as a coded surface, and the modes of its tiles."""
    width, height = SIDE
    data = np.zeros(bench.memory(np.zeros((1, 1), np.uint64), PARAMS).size, np.uint8)
    y, x = np.mgrid[:height, :width]
    data[PLAIN:].view("<u4")[morton(x, y)] = picture.view("<u4")[..., 0]
    rows, columns = -(-height // 8), -(-width // 8)
    whole = np.zeros((8 * rows, 8 * columns, 4), np.uint8)
    whole[:height, :width] = picture
    whole[:height, width:] = picture[:, -1:]
    tiles = whole.reshape(rows, 8, columns, 8, 4).swapaxes(1, 2)
    room = np.zeros(CodedTiles.bytes_of(rows, columns, 4, CLEARED), np.uint8)
    coded = CodedTiles(room, rows, columns, 4, 0, CLEARED)
    coded.write(tiles)
    end = 256 * rows * columns
    data[SURFACE : SURFACE + end] = room[:end]
    data[TABLE : TABLE + len(room) - end] = room[end:]
    return data, coded.codes.ravel()


def states_of(rng, form):
    """The same sampler of both textures."""
    state = bench.draw(rng, PARAMS)
    zeros = (
        "last",
        "last_layer",
        "cube",
        "compares",
        "first_set",
        "distance",
        "least",
        "coded",
        "linear",
    )
    for name in (*zeros, *(f"base{level}" for level in range(15))):
        state[name] = 0
    state["width"], state["height"] = SIDE
    state["op"] = rng.choice([FilterOp.MEAN, FilterOp.MEAN, FilterOp.GATHER, FilterOp.MINIMUM])
    state["anisotropy"] = rng.choice([0, 4])
    state["explicit_gradients"] = 0
    state["bias"], state["minimum"], state["maximum"] = 0, -65536, 65535
    bench.put_format(state, form)
    if form in POINT_SAMPLED:
        state["magnify"] = state["minify"] = state["smooth"] = state["anisotropy"] = 0
    surface = state.copy()
    surface["coded"] = 1
    surface["base0"] = SURFACE // 64
    surface["distance"] = 4 * -(-SIDE[0] // 8)
    surface["mode_table"] = TABLE // 32
    surface["cleared"] = CLEARED.view("<u4")[0]
    return state, surface


def beats_of(rng, form):
    """Packed quads of a plain texture, and the same of a coded surface behind them."""
    plain, surface = states_of(rng, form)
    quads = bench.quads(rng, QUADS, plain, PARAMS)
    quads["live"] = 15
    return np.concatenate(
        [bench.packed(PARAMS, plain, quads), bench.packed(PARAMS, surface, quads)]
    )


def check_same(out):
    """Both halves have the same colours, some of them, and no error."""
    plain, surface = out[:QUADS], out[QUADS:]
    assert (out["status"] == CacheStatus.OKAY).all()
    names = [name for name in out.dtype.names if name.startswith("c")]
    assert (plain[names] == surface[names]).all()
    return len(np.unique(plain["c0_0"]))


@pytest.mark.plan("texture-unit-16")
@pytest.mark.parametrize("form", COLOUR_FORMATS, ids=lambda form: form.name)
def test_a_surface_is_sampled_as_the_plain_texture(form):
    """Bit for bit (golden), of every format and mode."""
    rng = np.random.default_rng(form)
    modes = Counter()
    colours = 0
    shape = QuadCacheShape(formats=(*COLOURS, *MORE), coded=True)
    for picture in pictures(rng):
        data, codes = memory_of(picture)
        rows = beats_of(rng, form)
        found = TextureUnit(shape, data).sample(*parted(rows, PARAMS.state, PARAMS.quad))
        colours += check_same(found)
        modes.update(TileMode(code) for code in codes)
    assert colours > 40
    known = {TileMode.CLEARED, TileMode.PALETTE, TileMode.RAW}
    assert set(modes) >= known | {TileMode(DIFFERENCES + n) for n in range(1, 6)}


def through(rows, data, monkeypatch):
    """Quads through the hardware, which are the golden ones."""
    monkeypatch.setattr(bench, "memory", lambda *_: data.copy())
    monkeypatch.setattr(bench, "unreadable", lambda *_: None)
    return codec.unpack(volume.check(STEM, CONFIG, rows), TEXTURED_QUAD, dtype(TEXTURED_QUAD))


@pytest.mark.plan("texture-unit-16")
@pytest.mark.parametrize("form", PARAMS.cache.surfaces, ids=lambda form: form.name)
def test_the_hardware_samples_a_surface_as_the_plain_texture(form, monkeypatch):
    """The same bit for bit: whole pictures, one behind the other, with errors nowhere."""
    rng = np.random.default_rng(form)
    for picture in pictures(rng):
        monkeypatch.undo()
        data, _ = memory_of(picture)
        check_same(through(beats_of(rng, form), data, monkeypatch))


@pytest.mark.plan("texture-unit-16")
def test_one_place_as_a_surface_and_as_bytes(monkeypatch):
    """In turn, of one format and of a texel of a line: both caches keep them apart."""
    rng = np.random.default_rng(3)
    data, _ = memory_of(next(pictures(rng)))
    rows = []
    for turn in range(24):
        _, state = states_of(rng, StoredFormat.R8G8B8A8_UNORM)
        state["op"] = state["magnify"] = state["minify"] = state["smooth"] = 0
        state["coded"] = turn & 1
        quad = np.zeros(1, dtype(PARAMS.quad))
        quad["kind"], quad["live"] = 1, 15
        for pixel in range(4):
            texel = 4 * (turn // 4 % 2) + pixel % 2
            quad[f"u{pixel}"] = np.float32((texel + 0.5) / SIDE[0]).view(np.uint32)
        rows.append(bench.packed(PARAMS, state, quad))
    out = through(np.concatenate(rows), data, monkeypatch)
    assert (out["c0_0"][::2] != out["c0_0"][1::2]).any()
    assert (out["misses"][8:] == 0).any()


@pytest.mark.plan("texture-unit-17")
@pytest.mark.parametrize(
    "fields",
    [{"last": 1}, {"last_layer": 1}, {"cube": 1}, {"format": StoredFormat.R16_UNORM}, {}],
    ids=str,
)
def test_what_no_surface_is_is_refused(fields, monkeypatch):
    """Levels, layers, cubes, texels of other than four bytes: no texel is read."""
    rng = np.random.default_rng(1)
    data, _ = memory_of(next(pictures(rng)))
    _, surface = states_of(rng, StoredFormat.R8G8B8A8_UNORM)
    surface["height"] = surface["width"]
    for name, value in fields.items():
        surface[name] = value
    quads = bench.quads(rng, QUADS, surface, PARAMS)
    quads["live"] = 15
    out = through(bench.packed(PARAMS, surface, quads), data, monkeypatch)
    wanted = CacheStatus.FORMAT if fields else CacheStatus.OKAY
    assert (out["status"] == wanted).all()
    assert (out["lines"].sum() == 0) == bool(fields)


@pytest.mark.plan("texture-unit-17")
def test_units_without_surfaces_have_nothing_of_them():
    """Neither decoders, nor fields of states, nor ids: it is a parameter."""
    for stem, config in (("texture_cache", "tiny_coded"), ("texture_unit", CONFIG)):
        block = catalogue.block(stem)
        assert "coded_lines" not in block.verilog("small").read_text()
        assert "coded_lines" in block.verilog(config).read_text()
    names = [field.name for field in CONFIGS["small"].state]
    assert "coded" not in names
    assert "coded" in [field.name for field in PARAMS.state]
    for coded in (1, 3, -2):
        with pytest.raises(InputError, match="coded must be 0 or a power of two from 2 on"):
            TextureCacheParams(coded=coded)


@pytest.mark.qualify
@pytest.mark.plan("texture-unit-16")
def test_many_quads_of_surfaces(monkeypatch):
    """In most states the texture is a coded surface."""
    monkeypatch.setattr(bench, "CODED", 0.9)
    with_states(monkeypatch, lambda _, state: state)
    total, okay, _ = check_quads(CONFIG, 10, 12_000, first_seed=500)
    assert total > 100_000
    assert okay > total // 4
