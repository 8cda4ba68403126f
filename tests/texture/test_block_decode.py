from fractions import Fraction
from math import floor

import numpy as np
import pytest

from models.texture.block_decode import FORMATS, decode
from spec.errors import InputError


def nearest(value):
    """Ties up."""
    return floor(value + Fraction(1, 2))


def channel(first, second, unit, most, eight):
    """The values that a channel's block may take."""
    ends = [Fraction(max(end, -unit), unit) for end in (first, second)]
    steps = 7 if eight else 5
    between = [((steps - k) * ends[0] + k * ends[1]) / steps for k in range(1, steps)]
    extremes = [] if eight else [Fraction(-1 if unit == 127 else 0), Fraction(1)]
    return [nearest(value * most) for value in (*ends, *between, *extremes)]


def blocks_of(first, second):
    """A block of these end points with each index twice."""
    index = sum(n % 8 << 3 * n for n in range(16))
    return np.frombuffer(bytes([first, second]) + index.to_bytes(6, "little"), np.uint8)


@pytest.mark.parametrize(("name", "unit", "most"), [("BC4U", 255, 65535), ("BC4S", 127, 32767), ("BC3", 255, 255)])
def test_every_pair_of_end_points_of_a_channel(name, unit, most):
    """Against exact rationals, every index; alpha of BC3 likewise."""
    pairs = [(a, b) for a in range(256) for b in range(256)]
    blocks = np.array([blocks_of(*pair) for pair in pairs])
    if name == "BC3":
        blocks = np.concatenate([blocks, np.zeros_like(blocks)], 1)
    found = decode(name, blocks)[..., -1].reshape(len(pairs), 16)
    assert (found[:, :8] == found[:, 8:]).all()
    for n in range(0, len(pairs), 7):
        a, b = (v - 256 * (v > 127) if unit == 127 else v for v in pairs[n])
        assert found[n, :8].tolist() == channel(a, b, unit, most, a > b), pairs[n]


@pytest.mark.parametrize("name", ["BC1", "BC2", "BC3"])
def test_colours_against_rationals(name):
    """Every value of a channel against every other, in each place; four colours but for BC1 with the first not the greater."""
    rng = np.random.default_rng(0)
    ends = rng.integers(0, 1 << 16, (4000, 2))
    ends[:500, 1] = ends[:500, 0]
    data = ends.astype("<u2").view(np.uint8).reshape(-1, 4)
    blocks = np.concatenate([data, np.full((4000, 4), 0b11100100, np.uint8)], 1)
    if FORMATS[name].size == 16:
        blocks = np.concatenate([rng.integers(0, 256, (4000, 8), np.uint8), blocks], 1)
    found = decode(name, blocks)
    for n, (first, second) in enumerate(ends.tolist()):
        a, b = ([Fraction(r << 3 | r >> 2), Fraction(g << 2 | g >> 4), Fraction(b << 3 | b >> 2)]
                for r, g, b in ((c >> 11, c >> 5 & 63, c & 31) for c in (first, second)))
        shares = [(1, 0), (0, 1), (Fraction(2, 3), Fraction(1, 3)), (Fraction(1, 3), Fraction(2, 3))]
        if name == "BC1" and first <= second:
            shares[2:] = [(Fraction(1, 2), Fraction(1, 2)), (0, 0)]
        assert found[n, 0, :, :3].tolist() == [[nearest(s * x + t * y) for x, y in zip(a, b, strict=True)] for s, t in shares], (first, second)
        if name == "BC1":
            assert found[n, 0, :, 3].tolist() == [255, 255, 255, 255 * (first > second)]


def test_alpha_of_four_bits_and_two_channels():
    block = np.arange(16, dtype=np.uint8)[None] * 17
    alpha = decode("BC2", block)[0, ..., 3].reshape(-1)
    assert alpha.tolist() == [17 * nibble for byte in block[0, :8].tolist() for nibble in (byte & 15, byte >> 4)]
    for kind in "US":
        both = decode(f"BC5{kind}", block)
        for n in range(2):
            assert (both[..., n] == decode(f"BC4{kind}", block[:, 8 * n:8 * n + 8])[..., 0]).all()


@pytest.mark.parametrize(("name", "blocks", "message"), [
    ("BC8", np.zeros((1, 8), np.uint8), "format must be one of BC1, .* not BC8"),
    ("BC1", np.zeros((1, 16), np.uint8), "blocks must be uint8 of shape"),
    ("BC2", np.zeros((1, 16), np.int64), "blocks must be uint8 of shape"),
])
def test_wrong_arguments(name, blocks, message):
    with pytest.raises(InputError, match=message):
        decode(name, blocks)
