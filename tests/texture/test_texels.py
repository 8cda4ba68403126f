# SPDX-License-Identifier: BSD-2-Clause
"""Formats of texels, and what filters of [fs 7.18.16.3] must keep of them, in every format."""

import re
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.texture import texels
from fixfunc.models.texture.sampler import Sampler, sample
from fixfunc.models.texture.texels import SHORT, TEXELS
from fixfunc.models.texture.texture import create
from fixfunc.spec.dxgi import FORMATS, Format
from tests.textures import noise

PLAIN = [name for name, form in TEXELS.items() if form.edge == 1]
FILTERED = [name for name, form in TEXELS.items() if not form.is_integer]
# Planes of depths and stencil values are named otherwise than what they hold.
CHANNELS = {
    "A8_UNORM": [("A", 8, "UNORM")],
    "R24_UNORM_X8_TYPELESS": [("R", 24, "UNORM"), ("X", 8, "")],
    "X24_TYPELESS_G8_UINT": [("X", 24, ""), ("G", 8, "UINT")],
    "R32_FLOAT_X8X24_TYPELESS": [("R", 32, "FLOAT"), ("X", 32, "")],
    "X32_TYPELESS_G8X24_UINT": [("X", 32, ""), ("G", 8, "UINT"), ("X", 24, "")],
}


def channels_of(name):
    """Letter, bits and kind of each channel, lowest first, by the format's name."""
    full = SHORT[name].name if name in SHORT else name
    kind = full.rsplit("_", 1)[1]
    found = re.findall(r"([RGBAX])(\d+)", full)
    return CHANNELS.get(name) or [(letter, int(bits), kind) for letter, bits in found]


def small_float(bits, value):
    """A float of 5 bits of exponent as a rational; None, if it is not finite."""
    sign = 1
    if bits == 16:
        sign = -1 if value >> 15 else 1
        value &= 0x7FFF
        bits -= 1
    mantissa_bits = bits - 5
    exponent, mantissa = divmod(value, 1 << mantissa_bits)
    if exponent == 31:
        return None
    scaled = Fraction(mantissa, 1 << mantissa_bits) + (exponent > 0)
    return sign * scaled * Fraction(2) ** (max(exponent, 1) - 15)


def expected(name, word):
    """What a shader reads of a texel, by the bits of one integer: rationals, or None."""
    out = [Fraction(0)] * 3 + [Fraction(1)]
    for letter, bits, kind in channels_of(name):
        value = word & (1 << bits) - 1
        word >>= bits
        if letter == "X":
            continue
        signed = value - (1 << bits) if value >> bits - 1 else value
        out["RGBA".index(letter)] = {
            "UNORM": lambda v=value, b=bits: Fraction(v, (1 << b) - 1),
            "SNORM": lambda s=signed, b=bits: max(Fraction(s, (1 << b - 1) - 1), Fraction(-1)),
            "UINT": lambda v=value: Fraction(v),
            "SINT": lambda s=signed: Fraction(s),
            "FLOAT": lambda v=value, b=bits: None if b == 32 else small_float(b, v),
        }[kind]()
    return out


@pytest.mark.plan("sampler-15")
@pytest.mark.parametrize("name", [n for n in PLAIN if n != "R9G9B9E5_SHAREDEXP"])
def test_every_format_against_rationals(name):
    form = TEXELS[name]
    rng = np.random.default_rng(len(name))
    data = rng.integers(0, 256, (300, form.size), np.uint8)
    data[:40] = rng.choice([0, 255, 127, 128, 1], (40, form.size))
    found = texels.values(texels.read(data, name), form)
    for n, row in enumerate(data):
        wanted = expected(name, int.from_bytes(row.tobytes(), "little"))
        for channel in range(4):
            if wanted[channel] is None:
                continue  # NaN, infinity, or 32 bits, which pass as they are
            value = np.float32(wanted[channel]) if form.kind[1:] != "INT" else wanted[channel]
            assert found[n, channel] == value, (name, row, channel)
    if form.kind == "FLOAT" and form.dtype == np.float32:
        bits = found.view(np.uint32)[:, form.present]
        at = 0 if "X8X24" in name else slice(None)
        assert (bits == np.ascontiguousarray(data).view("<u4")[:, at].reshape(bits.shape)).all()


@pytest.mark.plan("sampler-15")
def test_shared_exponents_against_rationals():
    words = np.random.default_rng(0).integers(0, 1 << 32, 4000, np.uint32)
    words[:4] = 0, 0xFFFFFFFF, 511, 1 << 27
    data = words.view(np.uint8).reshape(-1, 4)
    found = texels.values(texels.read(data, "R9G9B9E5_SHAREDEXP"), TEXELS["R9G9B9E5_SHAREDEXP"])
    for word, row in zip(words.tolist(), found.tolist(), strict=True):
        scale = Fraction(2) ** ((word >> 27) - 15 - 9)
        assert row == [*(float((word >> 9 * n & 511) * scale) for n in range(3)), 1.0]


@pytest.mark.plan("sampler-15")
def test_all_formats_that_a_shader_can_read_are_there():
    """All that have a type but those of depth targets and of blocks, which have other names."""
    names = {SHORT[name].name if name in SHORT else name for name in PLAIN}
    for form in Format:
        typed = not FORMATS[form].typeless and form != Format.UNKNOWN
        if typed and FORMATS[form].block == 1 and form.name[0] != "D":
            assert form.name.removesuffix("_SRGB") in names, form.name


def picture(name, **fields):
    """A texture of a format without NaN, infinity, and float32 that are denormal."""
    form = TEXELS[name]
    texture = noise(8, 8, seed=len(name), format=name, levels=2, **fields)
    if form.kind == "FLOAT" and form.edge == 1:
        rng = np.random.default_rng(0)
        for level in texture.levels:
            if form.dtype == np.float32:
                level[:] = rng.normal(size=level.size // 4).astype(np.float32).view(np.uint8)
            else:
                level[:] = rng.integers(0, 0x34, level.shape)
    elif name.startswith("BC6H"):
        for level in texture.levels:
            blocks = level.reshape(-1, 16)
            blocks[:, 0] = 3  # one subset of plain end points, which are not infinite
            blocks[:, 1:] &= 0x7F
    return texture


@pytest.mark.plan("sampler-16")
@pytest.mark.parametrize("name", FILTERED)
def test_a_point_is_a_texel(name):
    texture = picture(name)
    y, x = np.mgrid[:8, :8]
    places = np.stack([(x + 0.5) / 8, (y + 0.5) / 8], -1).astype(np.float32)
    found = sample(texture, Sampler("point", "point", "point"), places, lod=0)
    wanted = texels.values(texture.image(), TEXELS[name])
    assert np.array_equal(found, wanted)


@pytest.mark.plan("sampler-16")
@pytest.mark.parametrize("name", FILTERED)
def test_a_result_lies_within_its_texels(name):
    texture = picture(name)
    rng = np.random.default_rng(1)
    places = rng.random((400, 2)).astype(np.float32)
    lods = rng.random(400)
    found = sample(texture, Sampler(address=("clamp", "clamp")), places, lod=lods)
    every = Sampler(address=("clamp", "clamp"), reduction="minimum")
    low = sample(texture, every, places, lod=lods)
    every = Sampler(address=("clamp", "clamp"), reduction="maximum")
    high = sample(texture, every, places, lod=lods)
    assert ((low <= found) & (found <= high)).all()
    assert (low < high).any()


@pytest.mark.plan("sampler-16")
@pytest.mark.parametrize("name", FILTERED)
def test_a_constant_texture_gives_the_constant(name):
    form = TEXELS[name]
    texture = picture(name)
    texel = texture.levels[0][0, : form.size] if form.edge == 1 else None
    if texel is None:
        block = texture.levels[0][0, : form.size]
        levels = [np.tile(block, len(level[0]) // form.size)[None] for level in texture.levels]
    else:
        levels = [np.tile(texel, len(level[0]) // form.size)[None] for level in texture.levels]
    constant = create(name, 8, 8, levels)
    rng = np.random.default_rng(2)
    places = rng.uniform(-3, 3, (300, 2)).astype(np.float32)
    if form.edge > 1:
        # Of blocks: one texel, which every place of a magnified level reads.
        places[:] = 0.5 / 8
    gradients = [rng.normal(0, 0.2, (300, 2)).astype(np.float32) * (form.edge == 1) for _ in "xy"]
    found = sample(constant, Sampler(anisotropy=16), places, gradients=gradients)
    wanted = texels.values(constant.image(), form)[0, 0]
    assert np.array_equal(found, np.broadcast_to(wanted, found.shape))


@pytest.mark.plan("sampler-16")
@pytest.mark.parametrize("name", [n for n in FILTERED if TEXELS[n].edge == 1])
def test_a_result_rises_and_falls_with_the_weight(name):
    texture = picture(name)
    steps = np.arange(257)  # from the centre of the first texel to that of the second
    places = np.stack([(steps + 128) / 2048, np.full(257, 0.5 / 8)], -1).astype(np.float32)
    found = sample(texture, Sampler(), places, lod=0)[:, list(TEXELS[name].present)]
    rise = np.sign(found[-1] - found[0])
    assert (np.diff(found, axis=0) * rise >= 0).all()
    assert len(np.unique(found)) > 3


@pytest.mark.plan("sampler-16")
def test_floats_at_the_ends_of_their_range():
    """Infinity stays, a texel without weight adds nothing, and no sum overflows."""
    values = np.float32([[3e38, 3e38, -3e38, np.inf, 1e-42, np.nan, 1, 2]])
    texture = create("R32_FLOAT", 8, 1, [values.view(np.uint8).reshape(1, -1)], dimension=1)
    places = np.float32([[1 / 8], [2 / 8], [3.25 / 8], [3.5 / 8], [4.5 / 8], [6.5 / 8], [7 / 8]])
    found = sample(texture, Sampler(address=("clamp",)), places, lod=0)[:, 0]
    wanted = np.float32([3e38, 0, np.inf, np.inf, 0, 1, 1.5])
    assert np.array_equal(found, wanted)


@pytest.mark.plan("sampler-16")
@pytest.mark.parametrize("format", ["R16_FLOAT", "R32_FLOAT"])
@pytest.mark.parametrize("mip", ["point", "linear"])
def test_an_infinite_texel_stays_on_a_level_of_its_own(format, mip):
    """The level below has no weight, and adds nothing to it."""
    kind = np.float16 if format == "R16_FLOAT" else np.float32
    levels = [
        np.array([value] * count, kind).view(np.uint8)[None]
        for value, count in ((np.inf, 4), (1, 2), (-np.inf, 1))
    ]
    texture = create(format, 4, 1, levels, dimension=1)
    lods = np.float32([0, 1, 2, 0.5] if mip == "linear" else [0, 1, 2, 0.25])
    found = sample(texture, Sampler(mip=mip), np.full((4, 1), 0.5, np.float32), lod=lods)
    assert found[:, 0].tolist() == [np.inf, 1, -np.inf, np.inf]


@pytest.mark.plan("sampler-16")
def test_footprints_of_floats_are_means_as_those_of_integers_are():
    """The same texels as float32 and as UNORM of 16 bits: up to 16 samples along a footprint."""
    rng = np.random.default_rng(0)
    whole = rng.integers(0, 65536, (1, 32 * 32)).astype("<u2")
    integers = create("R16", 32, 32, [whole.view(np.uint8)])
    values = (whole / 65535).astype("<f4")
    real = create("R32_FLOAT", 32, 32, [values.view(np.uint8)])
    places = rng.random((300, 2)).astype(np.float32)
    across = np.zeros((300, 2), np.float32)
    across[:, 0] = rng.uniform(1, 20, 300) / 32
    down = np.zeros((300, 2), np.float32)
    down[:, 1] = 1 / 32
    for most in (3, 16):
        ours, theirs = (
            sample(texture, Sampler(anisotropy=most), places, gradients=(across, down))[:, 0]
            for texture in (integers, real)
        )
        assert np.abs(ours - theirs).max() < 2.0**-20
    assert len(np.unique(ours)) > 200


@pytest.mark.plan("sampler-16")
@pytest.mark.parametrize("anisotropy", [1, 16])
def test_halves_are_filtered_as_float32_are(anisotropy):
    """Of floats of any width the rules are those of float32 [fs 7.18.16.2]."""
    half = noise(16, 16, format="RGBA16F", seed=5)
    whole = [
        half.texels(n, 0)[0, :, :, 0].astype(np.float32).reshape(1, -1).view(np.uint8)
        for n in range(len(half.levels))
    ]
    wide = create("R32G32B32A32_FLOAT", 16, 16, whole)
    rng = np.random.default_rng(6)
    sampler = Sampler(anisotropy=anisotropy, border=(0.1, 1e-30, 0, 9), address=("border",) * 2)
    uv = rng.uniform(-0.2, 1.2, (3000, 2)).astype(np.float32)
    slopes = rng.normal(size=(2, 3000, 2)).astype(np.float32) / 4
    ours, theirs = (sample(its, sampler, uv, gradients=slopes) for its in (half, wide))
    assert np.isfinite(theirs).mean() > 0.3
    assert ours.tobytes() == theirs.tobytes()
