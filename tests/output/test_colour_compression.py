# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.memory.sample_grids import grids, lanes
from fixfunc.models.output.colour_coder import encode
from fixfunc.models.output.colour_compression import (
    DEPTHS,
    size,
)
from fixfunc.models.output.colour_decoder import decode
from fixfunc.rtl.output.compression.colour_compression import ColourCompressionParams
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DIFFERENCES, TileMode
from tests import tiers
from tests.bench import check_bench
from tests.volume import check_paces

KINDS = [np.uint8, np.uint16]


def tiles(rng, kind, samples, count):
    """Tiles of every kind: flat, slopes, few colours, agreeing samples, noise, alpha or none."""
    most = np.iinfo(kind).max
    j, i = np.mgrid[:8, :8]
    base = rng.integers(0, most + 1, (count, 1, 1, 4))
    slope = rng.integers(-9, 10, (count, 2, 1, 1, 4)) * rng.choice([0, 1, 7], (count, 1, 1, 1, 4))
    out = base + slope[:, 0] * i[..., None] + slope[:, 1] * j[..., None]
    # Widths of every size, a tile's channels not always the same.
    loud = rng.choice([0, 1, 5, 60, most // 100, most // 30, most // 9], (count, 1, 1, 4))
    loud = np.where(rng.random((count, 1, 1, 1)) < 0.5, loud[..., :1], loud)
    out = out + rng.integers(-1, 2, out.shape) * loud
    few = rng.random(count) < 0.15
    pick = rng.integers(0, rng.integers(1, 6, (count, 1, 1)), (count, 8, 8))
    palette = rng.integers(0, most + 1, (count, 5, 4))
    out[few] = palette[np.arange(count)[:, None, None], pick][few]
    agree = rng.random(count) < 0.3
    pixels = grids(out, samples)
    out[agree] = lanes(np.broadcast_to(pixels[:, :1], pixels.shape).copy(), samples)[agree]
    noise = rng.random(count) < 0.1
    out[noise] = rng.integers(0, most + 1, (int(noise.sum()), 8, 8, 4))
    opaque = rng.random(count) < 0.5
    out[opaque, ..., 3] = most
    out = out & most
    cleared = rng.random(count) < 0.03
    out[cleared] = 0
    return out.astype(kind)


# A scalar twin: bit strings, lowest first.


def string(value, width):
    return "".join(str(int(value) >> n & 1) for n in range(width))


def twin(tile, samples, kind):
    """The shorter of both turns, and the palette: code and bits, by the text alone."""
    depth = DEPTHS[np.dtype(kind)]
    pixel = {1: (1, 1), 2: (1, 2), 4: (2, 2), 8: (2, 4)}[samples]
    wide, high = 8 // pixel[0], 8 // pixel[1]

    def colour(s, x, y):
        i, j = x * pixel[0] + s % pixel[0], y * pixel[1] + s // pixel[0]
        r, g, b, a = (int(v) for v in tile[j, i])
        return [g, r - g, b - g, a]

    def signed(v):
        half = 1 << depth.bits - 1
        return (v + half) % (2 * half) - half

    squares = [
        [(0, x + dx, y + dy) for dy in (0, 1) for dx in (0, 1)]
        for y in range(0, high, 2)
        for x in range(0, wide, 2)
    ]
    if samples == 2:
        others = [[(1, x, y) for _, x, y in square] for square in squares]
    else:
        others = (
            [[(s, x, y) for s in range(1, samples)] for y in range(high) for x in range(wide)]
            if samples > 1
            else []
        )

    def residual(place, channel, turn):
        s, x, y = place
        if s:
            before = (0, x, y)
        elif (y if turn else x) > 0:
            before = (0, x, y - 1) if turn else (0, x - 1, y)
        elif (x if turn else y) > 0:
            before = (0, x - 1, y) if turn else (0, x, y - 1)
        else:
            return 0
        return signed(colour(*place)[channel] - colour(*before)[channel])

    def width_code(values):
        if not any(values):
            return 0
        needed = max((v if v >= 0 else ~v).bit_length() + 1 for v in values)
        return next(n for n, w in enumerate(depth.widths) if w >= needed)

    alphas = {int(v) for v in tile[..., 3].ravel()}
    best = None
    for turn in (0, 1):
        values = {
            (n, c): [residual(place, c, turn) for place in group]
            for n, group in enumerate(squares + others)
            for c in range(4)
        }
        codes = {key: width_code(row) for key, row in values.items()}
        for n in range(len(squares), len(squares) + len(others)):
            same = max(codes[n, c] for c in range(3))
            for c in range(3):
                codes[n, c] = same
        text = "".join(string(v, depth.bits) for v in tile[0, 0])
        text += f"{int(len(alphas) > 1)}{turn}00"
        for n in range(len(squares)):
            text += "".join(string(codes[n, c], depth.code) for c in range(3))
        total = len(squares) + len(others)
        text += "".join(string(codes[n, 0], depth.code) for n in range(len(squares), total))
        if len(alphas) > 1:
            text += "".join(string(codes[n, 3], depth.code) for n in range(total))
        for c in range(4 if len(alphas) > 1 else 3):
            for n in range(total):
                for plane in range(depth.widths[codes[n, c]]):
                    text += "".join(str(v >> plane & 1) for v in values[n, c])
        if best is None or len(text) < len(best):
            best = text
    found = [tuple(v) for v in tile.reshape(64, 4).tolist()]
    shown = list(dict.fromkeys(found))
    if len(shown) <= 4:
        rows = shown + [(0, 0, 0, 0)] * (4 - len(shown))
        text = "".join(string(v, depth.bits) for row in rows for v in row)
        return TileMode.PALETTE, text + "".join(string(shown.index(v), 2) for v in found)
    steps = -(-len(best) // depth.step)
    return (DIFFERENCES + steps, best) if steps <= depth.most else (TileMode.RAW, None)


@pytest.mark.plan("colour-compression-1")
@pytest.mark.parametrize("kind", KINDS, ids=["rgba8", "rgba16f"])
@pytest.mark.parametrize("samples", range(4))
def test_bits_are_those_of_a_scalar_twin(kind, samples):
    rng = np.random.default_rng(samples)
    some = tiles(rng, kind, samples, 30)
    codes, data = encode(some, samples)
    seen = set()
    for tile, code, row in zip(some, codes, data, strict=True):
        right, text = twin(tile, 1 << samples, kind)
        assert code == right
        seen.add(int(code))
        if text is None:
            assert (row.view(kind).reshape(8, 8, 4) == tile).all()
            continue
        bits = np.unpackbits(row, bitorder="little")
        assert "".join(map(str, bits[: len(text)].tolist())) == text
        assert not bits[len(text) :].any()
        assert len(text) <= 8 * size(int(code), DEPTHS[np.dtype(kind)])
    assert len(seen) > 3


@pytest.mark.plan("colour-compression-2")
@pytest.mark.parametrize("kind", KINDS, ids=["rgba8", "rgba16f"])
@pytest.mark.parametrize("samples", range(4))
def test_nothing_is_lost(kind, samples):
    rng = np.random.default_rng(tiers.SEED if tiers.QUALIFY else 9)
    seen = np.zeros(16, int)
    for _ in range(500 if tiers.QUALIFY else 1):
        some = tiles(rng, kind, samples, 2000)
        cleared = np.zeros(4, kind)
        codes, data = encode(some, samples, cleared)
        # What lies behind a tile's bytes is of no matter.
        sizes = np.array([size(int(code), DEPTHS[np.dtype(kind)]) for code in codes])
        data[np.arange(data.shape[1]) >= sizes[:, None]] = 0xA5
        back = decode(codes, data, samples, cleared)
        assert not back.wrong.any()
        assert (back.tiles == some).all()
        seen += np.bincount(codes, minlength=16)
    most = DEPTHS[np.dtype(kind)].most
    assert (
        seen[
            [
                TileMode.CLEARED,
                TileMode.PALETTE,
                TileMode.RAW,
                *range(DIFFERENCES + 2, DIFFERENCES + most),
            ]
        ]
        > 0
    ).all()


@pytest.mark.plan("colour-compression-3")
@pytest.mark.parametrize("kind", KINDS, ids=["rgba8", "rgba16f"])
def test_what_cannot_be_is_told(kind):
    rng = np.random.default_rng(2)
    depth = DEPTHS[np.dtype(kind)]
    cleared = np.zeros(4, kind)
    for samples in range(4):
        some = tiles(rng, kind, samples, 1500)
        codes, data = encode(some, samples, cleared)
        coded = codes > DIFFERENCES
        codes, data = codes[coded], data[coded]
        sizes = np.array([size(int(code), depth) for code in codes])

        def broken(codes, data, samples=samples):
            return decode(codes, data, samples, cleared).wrong

        assert not broken(codes, data).any()
        for spare in (2, 3):
            changed = data.copy()
            changed[:, (4 * depth.bits + spare) // 8] |= 1 << (4 * depth.bits + spare) % 8
            assert broken(codes, changed).all()
        # A bit at the very end, where the tile is not full.
        changed = data.copy()
        last = changed[np.arange(len(data)), sizes - 1]
        room = last & 0x80 == 0
        changed[np.arange(len(data)), sizes - 1] |= 0x80
        told = broken(codes, changed)
        same = (decode(codes, changed, samples, cleared).tiles == some[coded]).all((1, 2, 3))
        assert (told | ~same | ~room).all() and told.sum() > len(told) / 2
        # A step less than the payload takes.
        fewer = codes > DIFFERENCES + 1
        assert broken(codes[fewer] - 1, data[fewer]).all()
        for code in {2, 3, 4, 5, 7, 8, *range(DIFFERENCES + depth.most + 1, 16)}:
            wrong = decode(np.full(len(data), code, np.uint8), data, samples, cleared)
            assert wrong.wrong.all() and not wrong.tiles.any()
            with pytest.raises(InputError, match="code of a tile must be one of"):
                size(code, depth)


@pytest.mark.plan("colour-compression-3")
@pytest.mark.parametrize("kind", KINDS, ids=["rgba8", "rgba16f"])
@pytest.mark.parametrize("samples", range(4))
def test_random_bytes_are_tiles_or_wrong(kind, samples):
    rng = np.random.default_rng(3)
    count = 3000
    data = rng.integers(0, 256, (count, 256 * np.dtype(kind).itemsize), dtype=np.uint8)
    # Zeros make codes short, so that more of them can be.
    data[rng.random(data.shape) < rng.choice([0, 0.9, 0.99], (count, 1))] = 0
    codes = rng.integers(0, 16, count).astype(np.uint8)
    back = decode(codes, data, samples, np.zeros(4, kind))
    assert back.tiles.dtype == kind
    assert not back.tiles[back.wrong].any()
    assert 0.1 < back.wrong.mean() < 0.95
    again = decode(*encode(back.tiles, samples), samples, np.zeros(4, kind))
    assert (again.tiles == back.tiles).all()


@pytest.mark.parametrize("kind", KINDS)
def test_no_tiles_are_no_codes(kind):
    """And come back as none."""
    codes, data = encode(np.zeros((0, 8, 8, 4), kind), 0)
    assert (codes.shape, data.shape) == ((0,), (0, 64 * 4 * np.dtype(kind).itemsize))
    assert decode(codes, data, 0, np.zeros((1, 4), kind)).tiles.shape == (0, 8, 8, 4)


@pytest.mark.plan("colour-compression-4")
def test_flat_tiles_and_edges_of_two_colours_take_a_transfer():
    flat = np.full((1, 8, 8, 4), (200, 30, 7, 255), np.uint8)
    edge = flat.copy()
    edge[0, :, 3:] = (1, 2, 3, 4)
    for some, code in ((flat, TileMode.PALETTE), (edge, TileMode.PALETTE)):
        codes, _ = encode(some, 0)
        assert codes.tolist() == [code]
    noise = np.random.default_rng(1).integers(0, 256, (50, 8, 8, 4), dtype=np.uint8)
    assert (encode(noise, 2)[0] == TileMode.RAW).all()


# Hardware.


@pytest.mark.plan("colour-compression-5")
@pytest.mark.parametrize(
    ("config", "count"),
    tiers.by_tier([("tiny", 1500), ("tiny_halves", 600), ("default", 600), ("halves", 300)]),
)
def test_volume(config, count):
    check_paces("colour_compression", config, count)


# To build tiles of this width takes minutes in the protocol tier; Icarus takes as many to run them.
@pytest.mark.plan("colour-compression-6")
@pytest.mark.qualify
def test_bench(simulator):
    check_bench("colour_compression", "tiny", simulator)


@pytest.mark.plan("colour-compression-6")
def test_wrong_parameters():
    with pytest.raises(InputError, match="samples must be one of 1, 2, 4, 8, not 3"):
        ColourCompressionParams(samples=3)
    with pytest.raises(InputError, match="bits must be one of 8, 16, not 32"):
        ColourCompressionParams(bits=32)
