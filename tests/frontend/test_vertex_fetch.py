# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.frontend.input_assembler import Draw
from fixfunc.models.frontend.vertex_fetch import Element, VertexBuffer, alignment_of, fetch
from fixfunc.models.frontend.vertex_formats import LAYOUTS, decode, small_float
from fixfunc.spec.draw import StepClass
from fixfunc.spec.dxgi import VERTEX_FORMATS, Format
from fixfunc.spec.errors import InputError
from tests.oracles.vertex_formats import ABSENT, MOST

ONE = 0x3F800000
NAMES = [form for form in VERTEX_FORMATS if form not in ABSENT]
INSTANCED = StepClass.PER_INSTANCE


def is_nan(bits):
    return (bits & 0x7F800000 == 0x7F800000) & (bits & 0x7FFFFF != 0)


def every_pattern(form):
    """Elements in which each channel of 16 bits, or fewer, takes every value."""
    size = LAYOUTS[form].size
    if LAYOUTS[form].channels[0].bits != 16:
        return np.random.default_rng(form).integers(0, 256, (MOST, size), dtype=np.uint8)
    values = np.arange(MOST, dtype=np.uint16)
    channels = [np.roll(values, 777 * n) for n in range(size // 2)]
    return np.stack(channels, 1).view(np.uint8).reshape(MOST, size)


@pytest.mark.plan("vertex-fetch-1")
@pytest.mark.parametrize("form", NAMES, ids=lambda form: form.name)
def test_formats_are_llvmpipes(llvmpipe_vertex_formats, form):
    """llvmpipe multiplies by a reciprocal: normalised integers are a unit in the last place off."""
    data = every_pattern(form)
    theirs = llvmpipe_vertex_formats().fetch(data, form)
    ours = decode(data, form)
    kind = LAYOUTS[form].kind
    if kind == "FLOAT" and LAYOUTS[form].channels[0].bits < 32:
        both = is_nan(theirs) & is_nan(ours)
        assert both.any()
        assert np.array_equal(theirs[~both], ours[~both])
        return
    apart = np.abs(theirs.astype(np.int64) - ours.astype(np.int64))
    assert apart.max() <= (kind in ("UNORM", "SNORM"))


@pytest.mark.plan("vertex-fetch-1")
@pytest.mark.parametrize("bits", [1, 2, 4, 5, 6, 8, 10, 16])
@pytest.mark.parametrize("kind", ["UNORM", "SNORM"])
def test_normalised_integers_are_the_nearest_floats(bits, kind):
    forms = [
        (form, channel)
        for form in VERTEX_FORMATS
        for channel in LAYOUTS[form].channels
        if (channel.bits, LAYOUTS[form].kind) == (bits, kind)
    ]
    for form, channel in forms[:2]:
        raw = np.arange(1 << bits, dtype=np.uint64) << np.uint64(channel.low)
        data = raw.view(np.uint8).reshape(-1, 8)[:, : LAYOUTS[form].size]
        got = decode(data, form)[:, channel.register].view(np.float32)
        for value, result in zip(range(1 << bits), got, strict=True):
            most = (1 << bits) - 1 if kind == "UNORM" else (1 << bits - 1) - 1
            number = value - (value >> bits - 1 << bits) if kind == "SNORM" else value
            exact = max(Fraction(number, most), Fraction(-1))
            error = abs(Fraction(float(result)) - exact)
            around = (np.nextafter(result, np.float32(side)) for side in (-2, 2))
            assert all(error <= abs(Fraction(float(n)) - exact) for n in around)
            assert 0 <= exact <= 1 or kind == "SNORM"
    assert forms or (bits, kind) not in [(8, "UNORM"), (8, "SNORM"), (10, "UNORM"), (16, "SNORM")]


@pytest.mark.plan("vertex-fetch-1")
def test_halves_are_numpys():
    raw = np.arange(1 << 16, dtype=np.uint32)
    expected = raw.astype(np.uint16).view(np.float16).astype(np.float32).view(np.uint32)
    got = small_float(raw, 16)
    nan = is_nan(expected)
    assert np.array_equal(got[~nan], expected[~nan])
    assert (got[nan] == 0x7FC00000).all()


@pytest.mark.plan("vertex-fetch-2")
@pytest.mark.parametrize("form", VERTEX_FORMATS, ids=lambda form: form.name)
def test_absent_channels_read_their_defaults(form):
    layout = LAYOUTS[form]
    got = decode(np.full((1, layout.size), 0xFF, np.uint8), form)[0]
    present = {channel.register for channel in layout.channels}
    for register in set(range(4)) - present:
        one = 1 if layout.kind in ("UINT", "SINT") else ONE
        assert got[register] == (one if register == 3 else 0)
    assert all(got[register] != 0 for register in present)


@pytest.mark.plan("vertex-fetch-2")
def test_channels_lie_where_names_say():
    data = np.array([[0x11, 0x22, 0x33, 0x44]], np.uint8)
    rgba = decode(data, Format.R8G8B8A8_UINT)
    assert rgba.tolist() == [[0x11, 0x22, 0x33, 0x44]]
    bgra = decode(data, Format.B8G8R8A8_UNORM).view(np.float32) * 255
    assert np.rint(bgra).tolist() == [[0x33, 0x22, 0x11, 0x44]]
    word = 0x155 | 0x2AA << 10 | 0x3FF << 20 | 2 << 30
    packed = np.array([word], np.uint32).view(np.uint8).reshape(1, 4)
    assert decode(packed, Format.R10G10B10A2_UINT).tolist() == [[0x155, 0x2AA, 0x3FF, 2]]


def naive_address(draw, buffer, element, index, instance):
    """[fs 8.6.1], instance by instance: the step counter counts down."""
    offset = buffer.offset
    if element.step_class == StepClass.PER_VERTEX:
        return (offset + buffer.stride * (draw.base + index) + element.offset) % 2**32
    address = offset + buffer.stride * draw.first_instance + element.offset
    counter = element.step_rate
    for _ in range(instance):
        if counter == 1:
            address += buffer.stride
            counter = element.step_rate
        elif counter > 1:
            counter -= 1
    return address % 2**32


@pytest.mark.plan("vertex-fetch-3")
@pytest.mark.parametrize("seed", range(20))
def test_addresses_are_those_of_the_specification(seed):
    rng = np.random.default_rng(seed)
    data = rng.integers(0, 256, 600, dtype=np.uint8)
    draw = Draw(
        1,
        base=int(rng.choice([0, 3, -2, -(1 << 31), (1 << 32) - 5])),
        first_instance=int(rng.choice([0, 2, (1 << 32) - 1])),
        indexed=True,
    )
    form = Format(rng.choice([Format.R32_UINT, Format.R8G8_UINT, Format.R16G16B16A16_UINT]))
    is_instanced = rng.random() < 0.5
    element = Element(
        3,
        form,
        slot=5,
        offset=int(rng.choice([0, 4, 8, (1 << 32) - 8])),
        step_class=INSTANCED if is_instanced else StepClass.PER_VERTEX,
        step_rate=int(rng.choice([0, 1, 3])) if is_instanced else 0,
    )
    buffer = VertexBuffer(data, int(rng.choice([0, 8, 20, 2048])), int(rng.choice([0, 40])))
    indices = np.array([0, 1, 2, 7, 25, (1 << 32) - 3, (1 << 31) + 1], np.uint32)
    size = LAYOUTS[form].size
    for instance in (0, 1, 2, 3, 10):
        got = fetch(draw, indices, instance, [element], {5: buffer})[3]
        for index, registers in zip(indices.tolist(), got, strict=True):
            address = naive_address(draw, buffer, element, index, instance)
            inside = buffer.offset <= address <= len(data) - size
            raw = data[address : address + size] if inside else np.zeros(size, np.uint8)
            assert np.array_equal(registers, decode(raw[None], form)[0])


@pytest.mark.plan("vertex-fetch-3")
def test_out_of_bounds_is_zero_in_channels_of_the_format_alone():
    buffer = VertexBuffer(np.full(16, 0xFF, np.uint8), 8)
    element = Element(0, Format.R32G32_FLOAT)
    got = fetch(Draw(3), np.arange(3), 0, [element], {0: buffer})[0]
    assert got[2].tolist() == [0, 0, 0, ONE]
    assert got[1].tolist() == [0xFFFFFFFF, 0xFFFFFFFF, 0, ONE]


@pytest.mark.plan("vertex-fetch-3")
@pytest.mark.parametrize(("size", "inside"), [(15, 1), (16, 2), (17, 2)])
def test_an_element_lies_whole_in_the_buffer_or_not_at_all(size, inside):
    """A byte too few makes zeros of all of it."""
    buffer = VertexBuffer(np.full(size, 0xFF, np.uint8), 8)
    got = fetch(Draw(3), np.arange(3), 0, [Element(0, Format.R32G32_UINT)], {0: buffer})[0]
    assert (got[:, :2] == 0xFFFFFFFF).all(1).tolist() == [n < inside for n in range(3)]
    assert (got[inside:, :2] == 0).all()


@pytest.mark.plan("vertex-fetch-3")
def test_an_unbound_slot_is_zero_in_all_channels():
    got = fetch(Draw(3), np.arange(3), 0, [Element(0, Format.R32_FLOAT, slot=1)], {})
    assert got[0].tolist() == [[0, 0, 0, 0]] * 3


@pytest.mark.plan("vertex-fetch-3")
def test_all_registers_and_slots():
    elements = [Element(n, Format.R32_UINT, slot=31 - n, offset=4) for n in range(32)]
    data = {n: VertexBuffer(np.full(8, n, np.uint8), 0) for n in range(32)}
    got = fetch(Draw(1), np.arange(1), 0, elements, data)
    assert [got[n][0, 0] for n in range(32)] == [0x01010101 * (31 - n) for n in range(32)]


@pytest.mark.plan("vertex-fetch-4")
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Element(32, Format.R32_UINT), r"register must lie in 0\.\.31, not 32"),
        (lambda: Element(0, Format.R32_UINT, slot=32), r"slot must lie in 0\.\.31, not 32"),
        (lambda: Element(0, Format.R32_UINT, offset=2), "offset must be a multiple of 4, not 2"),
        (lambda: Element(0, Format.R16G16_UINT, offset=1), "offset must be a multiple of 4, not 1"),
        (lambda: Element(0, Format.R8_UINT, step_rate=1), r"step_rate must lie in 0\.\.0, not 1"),
        (lambda: Element(0, 99), "form must be a vertex format, not 99"),
        (lambda: VertexBuffer(np.zeros(1), 2049), r"stride must lie in 0\.\.2048, not 2049"),
        (lambda: layout(*[Element(1, Format.R8_UINT)] * 2), "register must be fed by one element"),
        (
            lambda: layout(
                Element(0, Format.R8_UINT, step_class=INSTANCED, step_rate=1),
                Element(1, Format.R8_UINT, step_class=INSTANCED, step_rate=2),
            ),
            "step_rate must be the same in all of slot 0",
        ),
    ],
)
def test_bad_layouts_are_refused(make, text):
    with pytest.raises(InputError, match=text):
        make()


def layout(*elements):
    return fetch(Draw(1), np.arange(1), 0, elements, {})


@pytest.mark.plan("vertex-fetch-4")
@pytest.mark.parametrize(
    ("form", "alignment"),
    [
        (Format.R8_UINT, 1),
        (Format.R8G8_UNORM, 2),
        (Format.R16G16_FLOAT, 4),
        (Format.R32G32B32_FLOAT, 4),
        (Format.R10G10B10A2_UNORM, 4),
        (Format.B5G6R5_UNORM, 2),
    ],
)
def test_elements_are_aligned(form, alignment):
    assert alignment_of(form) == alignment
