# SPDX-License-Identifier: BSD-2-Clause
"""Tiles of depths by differences, beside a scalar twin that follows the text of the format."""

import numpy as np
import pytest

from fixfunc.models.depth import depth_compression as golden
from fixfunc.models.depth.compression.differences import decode_differences, encode_differences
from fixfunc.models.depth.compression.planes import PLANE
from fixfunc.models.depth.depth_compression import Encoded, compress, decompress
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import SAMPLE_COUNTS, TileMode
from tests import tiers

ONES = (1 << 24) - 1
RAW_BITS = 1536
BY_TRANSFERS = {n: TileMode(8 + n) for n in (2, 3, 4, 5)}
LOSSLESS = 1_000_000 if tiers.QUALIFY else 4000  # tiles of each number of samples

# The scalar twin: bit strings, lowest first; pixels by their columns and rows.

PIXEL = {1: (1, 1), 2: (1, 2), 4: (2, 2), 8: (2, 4)}  # lanes of a pixel, across and down


def twin_lane(samples, s, x, y):
    """Where sample s of pixel (x, y) lies: j, i."""
    across, down = PIXEL[samples]
    return y * down + s // across, x * across + s % across


def twin_groups(samples):
    """Groups in order; each a list of (sample, x, y)."""
    across, down = PIXEL[samples]
    wide, high = 8 // across, 8 // down
    corners = [(x, y) for y in range(0, high, 2) for x in range(0, wide, 2)]
    square = (0, 0), (1, 0), (0, 1), (1, 1)
    groups = [[(0, x + dx, y + dy) for dx, dy in square] for x, y in corners]
    if samples == 2:
        groups += [[(1, x + dx, y + dy) for dx, dy in square] for x, y in corners]
    elif samples > 2:
        every = [(x, y) for y in range(high) for x in range(wide)]
        groups += [[(s, x, y) for s in range(1, samples)] for x, y in every]
    return groups


def twin_prediction(depth, place, turn):
    """What a depth is predicted to be, from those that come before; ``depth`` looks them up."""
    s, x, y = place

    def z(sample, u, v):
        return depth(sample, v, u) if turn else depth(sample, u, v)

    if turn:
        x, y = y, x
    if s:
        if x:
            return z(0, x, y) + z(s, x - 1, y) - z(0, x - 1, y)
        return z(0, x, y) + (z(s, 0, y - 1) - z(0, 0, y - 1) if y else 0)
    if x >= 2:
        return 2 * z(0, x - 1, y) - z(0, x - 2, y)
    if x == 1:
        return z(0, 0, y) + (z(0, 1, y - 1) - z(0, 0, y - 1) if y else 0)
    if y >= 2:
        return 2 * z(0, 0, y - 1) - z(0, 0, y - 2)
    return z(0, 0, 0) if y else 0


def twin_signed(value, width):
    value %= 1 << width
    return value - (1 << width) if value >= 1 << width - 1 else value


def string(value, width):
    return "".join(str(value >> n & 1) for n in range(width))


def twin_header(samples):
    return 80 if samples == 4 else 64


def twin_coded(tile, samples):
    """The bits of a tile, in the shorter turn."""

    def depth(s, x, y):
        return int(tile[twin_lane(samples, s, x, y)])

    texts = []
    for turn in (0, 1):
        header = f"{turn}000"
        payload = ""
        for n, group in enumerate(twin_groups(samples)):
            values = [
                twin_signed(depth(*place) - twin_prediction(depth, place, turn), 24)
                for place in group
            ]
            width = 24
            if n:
                needed = max((v if v >= 0 else -v - 1).bit_length() + 1 for v in values)
                code = (needed + 1) // 2 if any(values) else 0
                header += string(code, 4)
                width = 2 * code
            for plane in range(width):
                payload += "".join(str(v >> plane & 1) for v in values)
        texts.append(header.ljust(twin_header(samples), "0") + payload)
    return texts[1] if len(texts[1]) < len(texts[0]) else texts[0]


def twin_decoded(text, transfers, samples):
    """The tile of so many transfers, or None if it cannot be one."""
    groups = twin_groups(samples)
    header = twin_header(samples)
    used = 4 * len(groups)
    codes = [int(text[4 * n : 4 * n + 4][::-1], 2) for n in range(1, len(groups))]
    if "1" in text[1:4] or "1" in text[used:header] or max(codes) > 12:
        return None
    turn = text[0] == "1"
    at = header
    residuals = {}
    for group, width in zip(groups, [24, *(2 * code for code in codes)], strict=True):
        part = text[at : at + width * len(group)].ljust(width * len(group), "0")
        for lane, place in enumerate(group):
            value = sum(int(part[k * len(group) + lane]) << k for k in range(width))
            residuals[place] = twin_signed(value, width) if width else 0
        at += width * len(group)
    if at > 256 * transfers or "1" in text[at:]:
        return None
    known = {}
    for place in sorted(residuals, key=lambda p: (p[0], p[1] + p[2], p[1] if turn else p[2])):
        predicted = twin_prediction(lambda *p: known[p], place, turn)
        known[place] = (predicted + residuals[place]) % (1 << 24)
    tile = np.zeros((8, 8), np.int64)
    for place, value in known.items():
        tile[twin_lane(samples, *place)] = value
    return tile


# Stimuli.


def payloads(rng, samples, count):
    """Rows of bits with any codes whose payload ends near a transfer, and their transfers."""
    groups = twin_groups(samples)
    codes = rng.integers(0, 13, (count, len(groups) - 1))
    codes = np.minimum(codes, rng.integers(0, 13, (count, 1)))
    lanes = np.array([len(group) for group in groups[1:]])
    most = rng.choice([512, 768, 1024, 1280, RAW_BITS], (count, 1)) - twin_header(samples) - 96
    codes[np.cumsum(2 * codes * lanes, 1) > most] = 0
    header = twin_header(samples)
    bits = rng.integers(0, 2, (count, RAW_BITS)).astype(np.uint8)
    # Zeros and ones alone make residuals of the largest magnitude, and of the least.
    loud = rng.random((count, 1))
    bits[(rng.random(bits.shape) < 0.9) & (loud < 0.2)] = 0
    bits[(rng.random(bits.shape) < 0.9) & (loud > 0.9)] = 1
    bits[:, 1:header] = 0
    bits[:, 4 : 4 * len(groups)] = (codes[..., None] >> np.arange(4) & 1).reshape(count, -1)
    end = header + 96 + (2 * codes * lanes).sum(1)
    bits[np.arange(RAW_BITS) >= end[:, None]] = 0
    return bits, np.maximum(-(-end // 256), 2)


def tiles(rng, samples, count):
    """Tiles of every kind: slopes, edges, noise of every width, spikes, ends of the range."""
    index = SAMPLE_COUNTS.index(samples)
    reach = 1 << rng.integers(1, 31, (count, 3))
    planes = np.zeros((count, 3), PLANE)
    planes["z0"] = rng.integers(0, 1 << 32, (count, 3))
    planes["dx"], planes["dy"] = (rng.integers(-reach, reach) for _ in range(2))
    near = rng.random(count) < 0.7
    planes["z0"][near] = planes["z0"][near, :1]
    j, i = np.mgrid[:8, :8]
    side = rng.integers(-4, 5, (4, count, 1, 1))
    edges = (side[0] * i + side[1] * j > 0).astype(int) + (side[2] * i - side[3] * j > 3)
    edges[rng.random(count) < 0.4] = 0
    out = golden.evaluate(planes, edges, index).astype(np.int64)
    loud = 1 << rng.integers(0, 24, (count, 1, 1))
    loud = np.where(rng.random((count, 8, 8)) < rng.random((count, 1, 1)), loud, loud >> 3)
    noise = rng.random(count) < 0.6
    out[noise] += rng.integers(-loud, loud + 1)[noise]
    kind = rng.integers(0, 10, count)
    spiked = np.flatnonzero(kind == 0)
    power = 1 << rng.integers(0, 24, len(spiked))
    where = rng.integers(0, 8, (2, len(spiked)))
    out[spiked, *where] += rng.choice([-1, 1], len(spiked)) * power - rng.integers(0, 2)
    ends = rng.integers(0, 2, (count, 8, 8)) * ONES
    out[kind == 1] = ends[kind == 1]
    out[kind == 2] = rng.integers(0, 1 << 24, out[kind == 2].shape)
    chosen = np.flatnonzero(kind >= 6)
    bits, transfers = payloads(rng, samples, len(chosen))
    out[chosen] = decode_differences(bits, transfers, index)[0]
    return out & ONES


def text_of(bits):
    return "".join(map(str, bits.tolist()))


# Model truths.


@pytest.mark.plan("depth-compression-14")
@pytest.mark.parametrize("samples", SAMPLE_COUNTS)
def test_bits_are_those_of_a_scalar_twin(samples):
    some = tiles(np.random.default_rng(samples), samples, 120)
    transfers, bits = encode_differences(some, SAMPLE_COUNTS.index(samples))
    seen = set()
    turned = 0
    for tile, needed, row in zip(some, transfers, bits, strict=True):
        text = twin_coded(tile, samples)
        assert needed == max(-(-len(text) // 256), 2)
        seen.add(min(int(needed), 6))
        if needed <= 5:
            assert text_of(row) == text.ljust(1280, "0")
            turned += text[0] == "1"
            code = BY_TRANSFERS[needed]
            assert compress(tile, samples=samples) == Encoded(
                code, np.packbits(row, bitorder="little")[: golden.size(code)].tobytes()
            )
        else:
            assert compress(tile, samples=samples).mode == TileMode.RAW
            assert not row.any()
    assert seen == {2, 3, 4, 5, 6}
    assert turned > 10


@pytest.mark.plan("depth-compression-15")
@pytest.mark.parametrize("samples", SAMPLE_COUNTS)
def test_bits_decode_as_by_a_scalar_twin(samples):
    """Payloads with any widths, larger than needed too; then with a bit turned; then any bits."""
    rng = np.random.default_rng(10 + samples)
    index = SAMPLE_COUNTS.index(samples)
    bits, transfers = payloads(rng, samples, 240)
    rows = np.arange(240)
    changed = rows[80:160]
    at = np.where(rng.random(80) < 0.6, rng.integers(0, 90, 80), rng.integers(0, RAW_BITS, 80))
    bits[changed, at] ^= 1
    transfers = transfers - (rng.random(240) < 0.1)
    bits[160:] = rng.random((80, RAW_BITS)) < rng.choice([0.02, 0.1, 0.5], (80, 1))
    found, wrong = decode_differences(bits, transfers, index)
    for n in rows:
        tile = twin_decoded(text_of(bits[n]), int(transfers[n]), samples)
        assert wrong[n] == (tile is None)
        assert tile is None or (found[n] == tile).all()
    assert 10 < wrong[:160].sum() < 120
    by_codes = golden.decode(8 + transfers, np.packbits(bits, axis=1, bitorder="little"), index)
    too_many = transfers > 5
    assert (by_codes[4] == wrong | too_many | (transfers < 2)).all()
    assert not by_codes[0][by_codes[4]].any()


@pytest.mark.plan("depth-compression-16")
@pytest.mark.parametrize("samples", SAMPLE_COUNTS)
def test_nothing_is_lost(samples):
    """Of tiles of every kind, coded by the one way that all of them must come back from."""
    rng = np.random.default_rng([tiers.SEED, samples])
    index = SAMPLE_COUNTS.index(samples)
    seen = np.zeros(16, int)
    for _ in range(LOSSLESS // 4000):
        some = tiles(rng, samples, 4000)
        none = np.zeros((4000, 0), PLANE), np.zeros(4000, int), np.zeros((4000, 8, 8), int)
        codes, data = golden.encode(some, *none, index)
        back, _, counts, _, wrong = golden.decode(codes, data, index)
        assert not wrong.any() and not counts.any()
        assert (back == some).all()
        seen += np.bincount(codes, minlength=16)
    assert set(np.flatnonzero(seen)) == {TileMode.RAW, *BY_TRANSFERS.values()}
    assert seen.min(where=seen > 0, initial=LOSSLESS) > LOSSLESS / 100


@pytest.mark.plan("depth-compression-16")
@pytest.mark.parametrize("samples", SAMPLE_COUNTS)
def test_the_shortest_is_taken(samples):
    """A tile that some widths give in so many transfers is never coded in more."""
    index = SAMPLE_COUNTS.index(samples)
    bits, transfers = payloads(np.random.default_rng(samples), samples, 2000)
    fits = transfers <= 5
    made, wrong = decode_differences(bits[fits], transfers[fits], index)
    assert not wrong.any()
    needed, _ = encode_differences(made, index)
    assert (needed <= transfers[fits]).all() and (needed < transfers[fits]).any()


@pytest.mark.plan("depth-compression-14")
def test_the_turn_is_that_of_the_shorter():
    """Rows of noise go along x, columns of noise along y, and what is equal along x."""
    rng = np.random.default_rng(3)
    rows = np.broadcast_to(rng.integers(0, 1 << 20, (8, 1)), (8, 8))
    flat = np.full((8, 8), 77)
    for tile, turn in ((rows, 0), (rows.T, 1), (flat, 0), (flat + np.eye(8, dtype=int), 0)):
        assert compress(tile).data[0] & 15 == turn


@pytest.mark.plan("depth-compression-17")
@pytest.mark.parametrize("samples", SAMPLE_COUNTS)
def test_what_cannot_be_is_told(samples):
    """Each of the decoder's errors alone, in a tile that is right without it."""
    groups = len(twin_groups(samples))
    header = twin_header(samples)
    bits = np.zeros(RAW_BITS, np.uint8)
    bits[4 * groups - 4 : 4 * groups] = 0, 0, 1, 1  # the last group is as wide as can be
    end = header + 96 + 24 * len(twin_groups(samples)[-1])
    bits[end - 1] = 1

    def refused(changed, transfers=2):
        data = np.packbits(changed, bitorder="little")[: 32 * transfers].tobytes()
        try:
            decompress(Encoded(BY_TRANSFERS[transfers], data), samples)
        except InputError as error:
            return "no code above 12, and nothing beyond them" in str(error)
        return False

    assert not refused(bits)
    assert not refused(bits, 5)
    for n in (1, 2, 3, *range(4 * groups, header), end, 511):
        changed = bits.copy()
        changed[n] = 1
        assert refused(changed), n
    changed = bits.copy()
    changed[4:8] = 1, 0, 1, 1
    assert refused(changed)


@pytest.mark.plan("depth-compression-17")
@pytest.mark.parametrize(
    ("samples", "full", "longer"),
    [(1, (44, 0), (45, 0)), (2, (44, 0), (45, 0)), (4, (0, 56), (1, 55)), (8, (2, 24), (4, 23))],
)
def test_a_payload_ends_with_its_transfers(samples, full, longer):
    """Codes of squares, and of the other groups, that fill two transfers or go on beyond.

    They go on as little as can be: by 8 bits at one and two samples, by 2 at four and eight.
    """
    sizes = [len(group) for group in twin_groups(samples)][1:]
    ends = []
    for total in (full, longer):
        left = list(total)
        codes = []
        for size in sizes:
            kind = int(size != 4)
            codes.append(min(left[kind], 12))
            left[kind] -= codes[-1]
        assert not any(left)
        widths = 2 * np.array(codes)
        ends.append(twin_header(samples) + 96 + int(widths @ sizes))
        bits = np.zeros((1, RAW_BITS), np.uint8)
        bits[0, 4 : 4 + 4 * len(sizes)] = (np.array(codes)[:, None] >> np.arange(4) & 1).ravel()
        wrong = [
            bool(decode_differences(bits, np.array([n]), SAMPLE_COUNTS.index(samples))[1][0])
            for n in (2, 3)
        ]
        assert wrong == [total == longer, False]
    assert ends == [512, 520 if samples < 4 else 514]


@pytest.mark.plan("depth-compression-17")
def test_codes_that_there_are_not():
    for code in (5, 7, 8, 9, 14, 15):
        with pytest.raises(InputError, match="mode must be one of 0, 1, 2, 3, 4, 6, 10, 11, 12"):
            decompress(Encoded(code, bytes(64)))
        assert golden.decode(np.array([code]), np.zeros((1, 192), np.uint8))[4].all()
    with pytest.raises(InputError, match="data must be 96 bytes of mode DIFFERENCES_3, not 64"):
        decompress(Encoded(TileMode.DIFFERENCES_3, bytes(64)))
    with pytest.raises(InputError, match="edge must be 8 where tiles are coded by differences"):
        decompress(Encoded(TileMode.RAW, bytes(64)), edge=4)
    behind = np.zeros((1, 192), np.uint8)
    behind[0, 64] = 1
    assert golden.decode(np.array([TileMode.DIFFERENCES_2]), behind)[4].all()
