# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction
from math import floor

import etcpak
import ispc_texcomp
import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim.toolchain import ROOT
from fixfunc.models.texture.block_decode import FORMATS, decode, linear
from fixfunc.rtl.texture import block_decode as rtl
from fixfunc.rtl.texture import linear as rtl_linear
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlockFormat
from fixfunc.tb.texture import block_decode as bench
from tests.bench import check_bench
from tests.oracles.texture import PILLOW, by_imagecodecs, by_pillow
from tests.tiers import by_tier
from tests.volume import check, check_paces

BLOCK = "block_decode"


def nearest(value):
    """A rational rounded to nearest, ties up."""
    return floor(value + Fraction(1, 2))


def channel(first, second, unit, maximum, eight):
    """The values of a channel's block, by index."""
    ends = [Fraction(max(end, -unit), unit) for end in (first, second)]
    steps = 7 if eight else 5
    between = [((steps - k) * ends[0] + k * ends[1]) / steps for k in range(1, steps)]
    extremes = [] if eight else [Fraction(-1 if unit == 127 else 0), Fraction(1)]
    return [nearest(value * maximum) for value in (*ends, *between, *extremes)]


def blocks_of(first, second):
    """A block of two end points with each index twice."""
    index = sum(n % 8 << 3 * n for n in range(16))
    return np.frombuffer(bytes([first, second]) + index.to_bytes(6, "little"), np.uint8)


@pytest.mark.plan("block-decode-1")
@pytest.mark.parametrize(
    ("name", "unit", "maximum"), [("BC4U", 255, 65535), ("BC4S", 127, 32767), ("BC3", 255, 255)]
)
def test_every_pair_of_end_points_of_a_channel(name, unit, maximum):
    """Every index of BC4, and of BC3's alpha, agrees with exact rationals."""
    pairs = [(a, b) for a in range(256) for b in range(256)]
    blocks = np.array([blocks_of(*pair) for pair in pairs])
    if name == "BC3":
        blocks = np.concatenate([blocks, np.zeros_like(blocks)], 1)
    values = decode(name, blocks)[..., -1].reshape(len(pairs), 16)
    assert (values[:, :8] == values[:, 8:]).all()
    for n in range(len(pairs)):
        a, b = (v - 256 * (v > 127) if unit == 127 else v for v in pairs[n])
        assert values[n, :8].tolist() == channel(a, b, unit, maximum, a > b), pairs[n]


@pytest.mark.plan("block-decode-1")
@pytest.mark.parametrize("name", ["BC1", "BC2", "BC3"])
def test_colours_against_rationals(name):
    """Every pair of values of a channel, with every index, agrees with exact rationals.

    A block of BC1 whose first colour is not the greater has three colours.
    """
    rng = np.random.default_rng(0)
    green = np.stack(np.meshgrid(np.arange(64), np.arange(64)), -1).reshape(-1, 2)
    pairs = green >> 1 << 11 | green << 5 | green >> 1
    ends = np.concatenate([pairs, rng.integers(0, 1 << 16, (1000, 2))])
    data = ends.astype("<u2").view(np.uint8).reshape(-1, 4)
    blocks = np.concatenate([data, np.full((len(ends), 4), 0b11100100, np.uint8)], 1)
    if FORMATS[name].size == 16:
        blocks = np.concatenate([rng.integers(0, 256, (len(ends), 8), np.uint8), blocks], 1)
    values = decode(name, blocks)
    for n, (first, second) in enumerate(ends.tolist()):
        a, b = (
            [Fraction(r << 3 | r >> 2), Fraction(g << 2 | g >> 4), Fraction(b << 3 | b >> 2)]
            for r, g, b in ((c >> 11, c >> 5 & 63, c & 31) for c in (first, second))
        )
        weights = [
            (1, 0),
            (0, 1),
            (Fraction(2, 3), Fraction(1, 3)),
            (Fraction(1, 3), Fraction(2, 3)),
        ]
        if name == "BC1" and first <= second:
            weights[2:] = [(Fraction(1, 2), Fraction(1, 2)), (0, 0)]
        assert values[n, 0, :, :3].tolist() == [
            [nearest(s * x + t * y) for x, y in zip(a, b, strict=True)] for s, t in weights
        ], (first, second)
        if name == "BC1":
            assert values[n, 0, :, 3].tolist() == [255, 255, 255, 255 * (first > second)]


@pytest.mark.parametrize(
    ("name", "maximum", "step"),
    [
        ("BC1", 255, 255),
        ("BC3", 255, 255),
        ("BC4U", 65535, 65535),
        ("BC4S", 32767, 32767),
        ("BC5U", 65535, 65535),
        ("BC5S", 32767, 32767),
    ],
)
def test_within_the_tolerance_of_d3d11(name, maximum, step):
    """Values differ from reals by less than a step and 3 % of the gap between end points.

    They are even rounded correctly.
    """
    blocks = np.random.default_rng(0).integers(0, 256, (2000, FORMATS[name].size), np.uint8)
    values = decode(name, blocks)[..., 0].reshape(2000, 16) / maximum
    unit = 127 if name.endswith("S") else 255
    ends = (
        np.maximum(
            (blocks[:, :2].view(np.int8) if unit == 127 else blocks[:, :2]).astype(int), -unit
        )
        / unit
    )
    if name in ("BC1", "BC3"):
        red = blocks[:, -8:-4].view("<u2") >> 11
        ends = (red << 3 | red >> 2) / 255
    gap = np.abs(np.diff(ends, axis=1))
    steps = [np.arange(k + 1) / k for k in ((2, 3) if name in ("BC1", "BC3") else (5, 7))]
    ideal = np.concatenate(
        [ends[:, :1] + share * (ends[:, 1:] - ends[:, :1]) for share in steps], 1
    )
    ideal = np.concatenate(
        [
            ideal,
            np.zeros((2000, 1)),
            np.full((2000, 1), -1.0 if unit == 127 else 0),
            np.ones((2000, 1)),
        ],
        1,
    )
    error = np.abs(values[..., None] - ideal[:, None]).min(2)
    assert (error < 1 / step + 0.03 * gap).all()
    assert error.max() <= 0.5 / step + 1e-9


def test_alpha_of_four_bits_and_two_channels():
    block = np.arange(16, dtype=np.uint8)[None] * 17
    alpha = decode("BC2", block)[0, ..., 3].reshape(-1)
    assert alpha.tolist() == [
        17 * nibble for byte in block[0, :8].tolist() for nibble in (byte & 15, byte >> 4)
    ]
    for kind in "US":
        channels = decode(f"BC5{kind}", block)
        for n in range(2):
            assert (
                channels[..., n] == decode(f"BC4{kind}", block[:, 8 * n : 8 * n + 8])[..., 0]
            ).all()


@pytest.mark.plan("block-decode-6")
def test_linear_against_reals():
    srgb = np.arange(256, dtype=np.uint8)
    values = linear(np.repeat(srgb[:, None], 4, 1))
    assert values[:, 3].tolist() == [257 * n for n in range(256)]
    assert (values[:, 0] == values[:, 2]).all()
    assert values[:, 1].tolist() == [rtl_linear.linear(n) for n in range(256)]
    assert values[[0, 255], 0].tolist() == [0, 65535]


@pytest.mark.plan("block-decode-5")
def test_reserved_modes_are_zeros():
    blocks = np.full((4, 16), 255, np.uint8)
    blocks[:, 0] = 0b10011, 0b10111, 0b11011, 0b11111
    for name in ("BC6HU", "BC6HS"):
        assert not decode(name, blocks).any()
    blocks[:, 0] = 0
    assert not decode("BC7", blocks).any()


# Outside oracles.


def cell_blocks(name, count):
    """So many blocks of every cell of a format."""
    rng = np.random.default_rng(0)
    return np.concatenate([bench.blocks(rng, cell, count) for cell in bench.cells(name)])


@pytest.mark.plan("block-decode-2")
@pytest.mark.parametrize(("name", "cells"), [("BC7", 286), ("BC6HU", 328), ("BC6HS", 328)])
def test_every_cell_against_imagecodecs(name, cells):
    blocks = cell_blocks(name, 300)
    assert len(blocks) == 300 * cells
    assert (
        decode(name, blocks).view(np.uint8) == by_imagecodecs(name, blocks).view(np.uint8)
    ).all()


@pytest.mark.plan("block-decode-2")
def test_every_cell_against_mesa(llvmpipe_texture):
    """Values agree; bits do not, because Mesa gives some zeros of BC6HS a sign."""
    mesa = llvmpipe_texture()
    for name in ("BC7", "BC6HU", "BC6HS"):
        blocks = cell_blocks(name, 20)
        assert (decode(name, blocks) == mesa.decode(name, blocks)).all()


@pytest.mark.plan("block-decode-3")
@pytest.mark.parametrize("name", PILLOW)
def test_near_pillow(name):
    """Values lie within one step of 8 bits of those of Pillow, which has no more bits.

    End points of -128 are avoided, because Pillow takes them for less than -1.
    """
    blocks = np.random.default_rng(0).integers(0, 256, (5000, FORMATS[name].size), np.uint8)
    if name == "BC5S":
        blocks[:, [0, 1, 8, 9]] = np.where(
            blocks[:, [0, 1, 8, 9]] == 128, 129, blocks[:, [0, 1, 8, 9]]
        )
    golden = decode(name, blocks).astype(np.float64)
    pillow = by_pillow(name, blocks).astype(np.float64)
    scale, offset = {np.uint8: (1, 0), np.uint16: (257, 0), np.int16: (32767 / 127, 128)}[
        FORMATS[name].kind
    ]
    assert np.abs(golden / scale + offset - pillow[..., : golden.shape[-1]]).max() <= 1.01
    if name == "BC1":
        assert (golden[..., 3] == pillow[..., 3]).all()


def encoded():
    """A picture with a ramp of alpha by real encoders: (format, blocks, picture)."""
    picture = np.array(
        Image.open(ROOT / "docs/pictures/teapot.png").convert("RGBA").resize((640, 360))
    )
    picture[..., 3] = np.linspace(0, 255, 640).astype(np.uint8)
    data = picture.tobytes()
    size = (640, 360)
    for name, encode in (
        ("BC1", etcpak.compress_bc1),
        ("BC3", etcpak.compress_bc3),
        ("BC4U", etcpak.compress_bc4),
        ("BC5U", etcpak.compress_bc5),
        ("BC7", etcpak.compress_bc7),
    ):
        yield name, encode(data, *size), picture / 255
    halves = (picture / 255 * 8).astype(np.float16)
    surface = ispc_texcomp.RGBASurface(halves.tobytes(), *size, 640 * 8)
    yield (
        "BC6HU",
        ispc_texcomp.compress_blocks_bc6h(
            surface, ispc_texcomp.BC6HEncSettings.from_profile("basic")
        ),
        halves.astype(np.float64),
    )
    surface = ispc_texcomp.RGBASurface(data, *size, 640 * 4)
    yield (
        "BC7",
        ispc_texcomp.compress_blocks_bc7(
            surface, ispc_texcomp.BC7EncSettings.from_profile("alpha_basic")
        ),
        picture / 255,
    )
    yield "BC3", ispc_texcomp.compress_blocks_bc3(surface), picture / 255


@pytest.mark.plan("block-decode-4")
def test_blocks_of_real_encoders():
    """The peak signal-to-noise ratio of each format is at most 1 dB below what was measured."""
    minimum = {"BC1": 38, "BC3": 39, "BC4U": 48, "BC5U": 49, "BC7": 52, "BC6HU": 53}
    for name, data, picture in encoded():
        texels = decode(name, np.frombuffer(data, np.uint8).reshape(-1, FORMATS[name].size)).astype(
            np.float64
        )
        image = texels.reshape(90, 160, 4, 4, -1).swapaxes(1, 2).reshape(360, 640, -1)
        channels, peak = (3, 1) if name == "BC1" else (image.shape[-1], 8 if name == "BC6HU" else 1)
        scale = {np.uint8: 255, np.uint16: 65535, np.float16: 1}[FORMATS[name].kind]
        error = np.mean(
            (
                image / scale - picture[..., :channels]
                if channels == image.shape[-1]
                else image[..., :3] / scale - picture[..., :3]
            )
            ** 2
        )
        assert 10 * np.log10(peak**2 / error) > minimum[name], name


# Wrong arguments.


@pytest.mark.plan("block-decode-10")
@pytest.mark.parametrize(
    ("name", "blocks", "message"),
    [
        ("BC8", np.zeros((1, 8), np.uint8), "format must be one of BC1, .* not BC8"),
        ("BC1", np.zeros((1, 16), np.uint8), "blocks must be uint8 of shape"),
        ("BC2", np.zeros((1, 16), np.int64), "blocks must be uint8 of shape"),
    ],
)
def test_wrong_arguments(name, blocks, message):
    with pytest.raises(InputError, match=message):
        decode(name, blocks)


def test_wrong_texels():
    with pytest.raises(InputError, match="texels must be uint8 of shape"):
        linear(np.zeros((4, 3), np.uint8))


@pytest.mark.plan("block-decode-10")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lanes": 2}, "lanes must be 16, 8 or 4, not 2"),
        ({"formats": ()}, r"formats must be some of BlockFormat, not \(\)"),
        ({"formats": ("BC1",)}, "formats must be some of BlockFormat"),
        (
            {"formats": (BlockFormat.BC4U,), "srgb": True},
            "srgb must be False without a format of UNORM8",
        ),
    ],
)
def test_wrong_parameters(arguments, message):
    with pytest.raises(ValueError, match=message):
        rtl.BlockDecodeParams(**arguments)


# Hardware.


@pytest.mark.plan("block-decode-8")
@pytest.mark.parametrize(
    ("config", "count"), by_tier([("default", 700), ("small", 300), ("tiny", 200)], also=["small"])
)
def test_volume(config, count):
    check_paces(BLOCK, config, count)


@pytest.mark.plan("block-decode-8")
@pytest.mark.parametrize("config", by_tier(rtl.CONFIGS, also=["small"]))
def test_every_configuration(config):
    """Blocks of a format that a configuration lacks are errors."""
    params = rtl.CONFIGS[config]
    rows = bench.requests(np.random.default_rng(1), 4000, params)
    assert len(check(BLOCK, config, rows)) == 4000 * 16 // params.lanes


@pytest.mark.plan("block-decode-8")
def test_bench(simulator):
    check_bench(BLOCK, "small", simulator)
