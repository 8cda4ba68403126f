# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction
from math import floor

import numpy as np
import pytest

from fixfunc.models.frontend.vertex_formats import decode, small_float
from fixfunc.models.output.blend import Blend
from fixfunc.models.output.formats import (
    RENDERABLE,
    SRGB,
    colour_format,
    encode,
    encoded,
    float_bits,
    load,
    store,
    thresholds,
)
from fixfunc.models.output.output_merger import merge
from fixfunc.models.texture.block_decode import linear
from fixfunc.spec.dxgi import FORMATS, VERTEX_FORMATS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, BlendOp, LogicOp

MIX = Blend(
    True,
    BlendFactor.SRC_ALPHA,
    BlendFactor.INV_SRC_ALPHA,
    BlendOp.ADD,
    BlendFactor.ONE,
    BlendFactor.INV_SRC_ALPHA,
)
ADD = Blend(True, BlendFactor.ONE, BlendFactor.ONE, BlendOp.ADD, *(BlendFactor.ONE,) * 2)
NORMALISED = [form for form in RENDERABLE if colour_format(form).kind in ("UNORM", "SNORM")]
LINEAR = [form for form in NORMALISED if form not in SRGB]
FLOATS = [form for form in RENDERABLE if colour_format(form).kind == "FLOAT"]
WHOLE = [form for form in RENDERABLE if colour_format(form).kind in ("UINT", "SINT")]


def name(form):
    return form.name


def stored(rng, form, count):
    """Bytes of a format, half of them at the ends."""
    data = rng.integers(0, 256, (count, FORMATS[form].bytes), dtype=np.uint8)
    ends = rng.choice(np.array([0, 255], np.uint8), data.shape)
    return np.where(rng.random((count, 1)) < 0.5, ends, data)


def shaded(rng, count):
    """Colours of a shader, some beyond the range."""
    values = rng.uniform(-1.2, 1.2, (count, 4))
    return np.where(rng.random((count, 4)) < 0.3, np.round(values), values).astype(np.float32)


def nearest(value, most):
    """A rational as an integer: the nearest, ties away from zero."""
    scaled = abs(value) * most
    return floor(scaled + Fraction(1, 2)) * (1 if value >= 0 else -1)


@pytest.mark.plan("output-merger-1")
@pytest.mark.parametrize("form", LINEAR, ids=name)
def test_normalised_formats_are_the_nearest_to_the_exact(form):
    rng = np.random.default_rng(form)
    new, old = shaded(rng, 60), stored(rng, form, 60)
    kind = colour_format(form)
    low = -1 if kind.kind == "SNORM" else 0
    got = load(merge(new, old, form, Blend()), kind)
    for n in range(60):
        for channel in {c.register for c in kind.layout.channels}:
            cut = min(max(Fraction(float(new[n, channel])), low), 1)
            assert got[n, channel] == nearest(cut, int(kind.most[channel])), (n, channel)


@pytest.mark.plan("output-merger-1")
@pytest.mark.parametrize("form", sorted(set(LINEAR) & set(VERTEX_FORMATS)), ids=name)
def test_channels_lie_where_vertex_fetch_reads_them(form):
    rng = np.random.default_rng(form)
    new = shaded(rng, 300)
    kind = colour_format(form)
    read = decode(merge(new, stored(rng, form, 300), form, Blend()), form).view(np.float32)
    for channel in {c.register for c in kind.layout.channels}:
        cut = np.clip(new[:, channel], -1 if kind.kind == "SNORM" else 0, 1)
        assert np.abs(read[:, channel] - cut).max() <= 0.5001 / kind.most[channel]


@pytest.mark.plan("output-merger-2")
@pytest.mark.parametrize("form", SRGB, ids=name)
def test_srgb_is_blended_in_linear_light(form):
    every = np.arange(256)
    assert (encoded(linear(np.repeat(every[:, None].astype(np.uint8), 4, 1))[:, 0]) == every).all()
    rng = np.random.default_rng(1)
    old = stored(rng, form, 400)
    # Nothing is added: what is stored stays, byte for byte of its channels.
    nothing = np.zeros((400, 4), np.float32)
    channels = [channel.low // 8 for channel in colour_format(form).layout.channels]
    for state in (ADD, MIX):
        assert (merge(nothing, old, form, state)[:, channels] == old[:, channels]).all()
    # Half of white on black.
    half = np.array([[1, 1, 1, 0.5]], np.float32)
    black = np.zeros((1, 4), np.uint8)
    assert merge(half, black, form, MIX)[0, :3].tolist() == [188, 188, 188]


def ideal_srgb(value):
    """sRGB of linear values, before it is rounded, out of 255 [fs 3.2.3.8]."""
    root = 1.055 * value ** (1 / 2.4) - 0.055
    return 255 * np.where(value <= 0.0031308, 12.92 * value, root)


@pytest.mark.plan("output-merger-2")
def test_srgb_is_within_the_tolerance():
    """0.6 of a byte from the ideal, of floats; every byte is reached, none goes back."""
    every = np.arange(1 << 16)
    bytes_of = encoded(every)
    assert np.abs(bytes_of - ideal_srgb(every / 65535)).max() < 0.521  # the pages say so
    assert set(np.diff(bytes_of)) == {0, 1}
    assert (bytes_of[0], bytes_of[-1]) == (0, 255)
    values = np.linspace(0, 1, 1 << 20, dtype=np.float32)
    texels = encode(np.repeat(values[:, None], 4, 1), Format.R8G8B8A8_UNORM_SRGB)
    assert np.abs(texels[:, 0] - ideal_srgb(values.astype(float))).max() < 0.6


@pytest.mark.plan("output-merger-3")
@pytest.mark.parametrize("form", FLOATS, ids=name)
def test_floats_are_those_of_float32(form):
    rng = np.random.default_rng(form)
    new, old = shaded(rng, 500), shaded(rng, 500)
    kind = colour_format(form)
    kept = load(store(old, kind), kind)
    got = load(merge(new, store(old, kind), form, ADD), kind)
    widest = {c.register: c.bits for c in kind.layout.channels}
    for channel, bits in widest.items():
        total = (new[:, channel] + kept[:, channel]).astype(np.float32)
        right = (
            total
            if bits == 32
            else small_float(float_bits(total, bits).astype(np.uint32), bits).view(np.float32)
        )
        assert (got[:, channel] == right).all()
        if bits < 16:
            assert (got[:, channel] >= 0).all()


@pytest.mark.plan("output-merger-4")
@pytest.mark.parametrize("form", WHOLE, ids=name)
def test_integers_are_cut_and_masked(form):
    rng = np.random.default_rng(form)
    new = rng.integers(0, 1 << 32, (200, 4), dtype=np.uint32)
    new = np.where(rng.random((200, 4)) < 0.5, new % 300, new).astype(np.uint32)
    old = stored(rng, form, 200)
    kind = colour_format(form)
    got = load(merge(new, old, form, Blend(write=0b1101)), kind)
    kept = load(old, kind)
    for channel in kind.layout.channels:
        bits, register = channel.bits, channel.register
        if register == 1:
            assert (got[:, 1] == kept[:, 1]).all()
            continue
        if kind.kind == "UINT":
            right = np.minimum(new[:, register].astype(np.int64), (1 << bits) - 1)
        else:
            wide = new[:, register].view(np.int32).astype(np.int64)
            right = np.clip(wide, -(1 << bits - 1), (1 << bits - 1) - 1)
        assert (got[:, register] == right).all()


@pytest.mark.plan("output-merger-15")
@pytest.mark.parametrize("form", RENDERABLE, ids=name)
@pytest.mark.parametrize("how", ["opaque", "blended", "combined"])
def test_channels_that_are_not_written_keep_their_bits(form, how):
    """[fs 17.1]: whatever they mean; NaN of any bits, both of the numbers that are -1.0."""
    kind = colour_format(form)
    state = {
        "opaque": Blend(),
        "blended": ADD if kind.kind not in ("UINT", "SINT") else Blend(),
        "combined": Blend(logic=kind.kind in ("UNORM", "UINT"), logic_op=LogicOp.INVERT),
    }[how]
    rng = np.random.default_rng(form)
    count = 300
    old = rng.integers(0, 256, (count, FORMATS[form].bytes), dtype=np.uint8)
    ends = rng.choice(np.array([0x00, 0x80, 0xFF, 0x7F, 0xFC, 0x7E], np.uint8), old.shape)
    old = np.where(rng.random((count, 1)) < 0.5, ends, old)
    new = rng.integers(0, 1 << 32, (count, 4), dtype=np.uint32)
    if kind.kind not in ("UINT", "SINT"):
        new = new.view(np.float32)
    before = int_of(old)
    for write in range(16):
        got = merge(new, old, form, state._replace(write=write))
        after = int_of(got)
        for channel in kind.layout.channels:
            if not write >> channel.register & 1:
                mask = (1 << channel.bits) - 1 << channel.low
                assert all(a & mask == b & mask for a, b in zip(after, before, strict=True))


def int_of(texels):
    """Texels as integers."""
    return [int.from_bytes(texel.tobytes(), "little") for texel in texels]


@pytest.mark.plan("output-merger-5")
@pytest.mark.parametrize(
    ("form", "new", "state", "text"),
    [
        (Format.R8G8B8A8_UINT, np.float32, Blend(), "colours of a shader must be of the kind"),
        (Format.R8G8B8A8_UNORM, np.uint32, Blend(), "colours of a shader must be of the kind"),
        (Format.R8G8B8A8_UINT, np.uint32, MIX, "blend must be off for R8G8B8A8_UINT"),
        (Format.R16_FLOAT, np.float32, Blend(logic=True), "logic operation must be off"),
        (
            Format.R32G32B32_FLOAT,
            np.float32,
            Blend(),
            "format of a target must be one that is drawn to",
        ),
        (Format.D32_FLOAT, np.float32, Blend(), "format of a target must be one that is drawn to"),
        (
            Format.R8_UNORM,
            np.float32,
            Blend(True, 12),
            "blend factor must be one of ZERO, .* not 12",
        ),
        (Format.R8_UNORM, np.float32, Blend(True, op_alpha=0), "blend operation must be one of"),
    ],
)
def test_what_a_format_does_not_have_is_refused(form, new, state, text):
    with pytest.raises(InputError, match=text):
        merge(np.zeros((1, 4), new), np.zeros((1, FORMATS[form].bytes), np.uint8), form, state)


@pytest.mark.plan("output-merger-4")
def test_logic_operations_of_few_bits():
    new = np.array([[1, 0, 1, 1]], np.float32)
    old = encode(np.array([[0, 1, 1, 1]], np.float32), Format.B5G6R5_UNORM)
    state = Blend(logic=True, logic_op=LogicOp.XOR)
    got = decode(merge(new, old, Format.B5G6R5_UNORM, state), Format.B5G6R5_UNORM)
    assert got.view(np.float32).tolist() == [[1, 1, 0, 1]]


@pytest.mark.plan("output-merger-1")
def test_every_format_of_vertices_but_three_is_drawn_to():
    """And four that vertices do not have [fs 19.1.4]."""
    left = set(VERTEX_FORMATS) - set(RENDERABLE)
    assert left == {Format.R32G32B32_FLOAT, Format.R32G32B32_UINT, Format.R32G32B32_SINT}
    others = {"A8_UNORM", "R8G8B8A8_UNORM_SRGB", "B8G8R8A8_UNORM_SRGB", "B8G8R8X8_UNORM_SRGB"}
    assert {form.name for form in set(RENDERABLE) - set(VERTEX_FORMATS)} == others


@pytest.mark.plan("output-merger-1")
def test_alpha_alone_is_drawn_to():
    """Blended by its own alpha; colours of the shader go nowhere."""
    new = np.array([[9, 9, 9, 0.5]], np.float32)
    old = np.array([[100]], np.uint8)
    assert encode(new, Format.A8_UNORM).tolist() == [[128]]
    added = merge(new, old, Format.A8_UNORM, ADD)
    assert added.tolist() == [[228]]


@pytest.mark.plan("output-merger-1")
def test_srgb_without_alpha_is_as_with_one_that_is_not_written():
    rng = np.random.default_rng(0)
    new = rng.uniform(0, 1, (500, 4)).astype(np.float32)
    old = rng.integers(0, 256, (500, 4), np.uint8)
    old[:, 3] = 255
    without, same = (
        merge(new, old, form, ADD)
        for form in (Format.B8G8R8X8_UNORM_SRGB, Format.B8G8R8A8_UNORM_SRGB)
    )
    assert (without[:, :3] == same[:, :3]).all()
    assert (without[:, 3] == 0).all()


@pytest.mark.plan("output-merger-8")
@pytest.mark.parametrize(
    ("form", "bits"),
    [
        (Format.B5G6R5_UNORM, (5, 6, 5)),
        (Format.B5G5R5A1_UNORM, (5, 5, 5)),
        (Format.B4G4R4A4_UNORM, (4, 4, 4)),
        (Format.R8G8B8A8_UNORM, None),
        (Format.R10G10B10A2_UNORM, None),
    ],
)
def test_dithering_keeps_the_mean_of_four_by_four_pixels(form, bits):
    """Channels of 8 bits and more stay the nearest, and ends stay what they are."""
    y, x = np.mgrid[:4, :4].reshape(2, -1)
    threshold = thresholds(x, y)
    assert sorted(threshold.tolist()) == list(range(1, 32, 2))
    size = FORMATS[form].bytes
    old = np.zeros((16, size), np.uint8)
    rng = np.random.default_rng(0)
    for value in (*rng.random((30, 3)), (0, 0, 0), (1, 1, 1)):
        new = np.tile(np.float32((*value, 1)), (16, 1))
        plain = merge(new, old, form, Blend())
        found = merge(new, old, form, Blend(dither=True), threshold=threshold)
        loaded, nearest = (load(data, colour_format(form))[:, :3] for data in (found, plain))
        if bits is None:
            assert (loaded == nearest).all()
            continue
        most = (1 << np.array(bits)) - 1
        assert np.abs(loaded.mean(0) - np.float32(value) * most).max() <= 1 / 32
        assert (np.ptp(loaded, axis=0) <= 1).all()
        if set(value) <= {0, 1}:
            assert (found == plain).all()
