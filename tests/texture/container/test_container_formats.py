# SPDX-License-Identifier: BSD-2-Clause
"""Formats of files, beside Pillow, imagecodecs and the words of Vulkan's specification.

No library of the test extras reads KTX2, nor a DDS of floats, of integers or of volumes.
"""

import io
import struct
import sys
import tracemalloc
import zlib

import imagecodecs
import numpy as np
import pytest
from PIL import Image

from fixfunc.models.texture.container import VULKAN, read
from fixfunc.models.texture.texture import MOST_BYTES, create
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.errors import InputError
from tests.texture.container.test_container import data, file, ktx2, texture

__all__ = ["data", "file"]
RGB, RGBA, ALPHA, LUMINANCE, BUMP = 0x40, 0x41, 0x2, 0x20000, 0x80000
# Name in D3D9's words: flags, bits, masks of red, green, blue and alpha.
MASKS = {
    "A8R8G8B8": (RGBA, 32, (0xFF0000, 0xFF00, 0xFF, 0xFF000000)),
    "X8R8G8B8": (RGB, 32, (0xFF0000, 0xFF00, 0xFF, 0)),
    "A8B8G8R8": (RGBA, 32, (0xFF, 0xFF00, 0xFF0000, 0xFF000000)),
    "X8B8G8R8": (RGB, 32, (0xFF, 0xFF00, 0xFF0000, 0)),
    "R8G8B8": (RGB, 24, (0xFF0000, 0xFF00, 0xFF, 0)),
    "B8G8R8": (RGB, 24, (0xFF, 0xFF00, 0xFF0000, 0)),
    "R5G6B5": (RGB, 16, (0xF800, 0x7E0, 0x1F, 0)),
    "B5G6R5": (RGB, 16, (0x1F, 0x7E0, 0xF800, 0)),
    "A1R5G5B5": (RGBA, 16, (0x7C00, 0x3E0, 0x1F, 0x8000)),
    "X1R5G5B5": (RGB, 16, (0x7C00, 0x3E0, 0x1F, 0)),
    "A4R4G4B4": (RGBA, 16, (0xF00, 0xF0, 0xF, 0xF000)),
    "X4R4G4B4": (RGB, 16, (0xF00, 0xF0, 0xF, 0)),
    "R3G3B2": (RGB, 8, (0xE0, 0x1C, 3, 0)),
    "A8R3G3B2": (RGBA, 16, (0xE0, 0x1C, 3, 0xFF00)),
    "A2B10G10R10": (RGBA, 32, (0x3FF, 0xFFC00, 0x3FF00000, 0xC0000000)),
    "A2R10G10B10": (RGBA, 32, (0x3FF00000, 0xFFC00, 0x3FF, 0xC0000000)),
    "G16R16": (RGB, 32, (0xFFFF, 0xFFFF0000, 0, 0)),
    "R16": (RGB, 16, (0xFFFF, 0, 0, 0)),
    "A8": (ALPHA, 8, (0, 0, 0, 0xFF)),
    "L8": (LUMINANCE, 8, (0xFF, 0, 0, 0)),
    "L8 thrice": (LUMINANCE, 8, (0xFF, 0xFF, 0xFF, 0)),
    "L16": (LUMINANCE, 16, (0xFFFF, 0, 0, 0)),
    "A8L8": (LUMINANCE | 1, 16, (0xFF, 0, 0, 0xFF00)),
    "A4L4": (LUMINANCE | 1, 8, (0xF, 0, 0, 0xF0)),
    "mask of alpha without its flag": (RGB, 32, (0xFF, 0xFF00, 0xFF0000, 0xFF000000)),
}
# Pillow takes luminance of 8 bits alone, and alpha beside none or eight bits of it.
PILLOWS = [name for name in MASKS if name not in ("A8", "L16", "A4L4", "L8 thrice")]


def dds(flags, bits, masks, texels, width=64, height=32):
    """A DDS of texels, bytes."""
    head = struct.pack("<4s7I44x", b"DDS ", 124, 0x1007, height, width, 0, 0, 1)
    head += struct.pack("<2I4s5I", 32, flags, b"", bits, *masks)
    return head + struct.pack("<5I", 0x1000, 0, 0, 0, 0) + texels.tobytes()


def random_texels(bits, count=64 * 32):
    return np.random.default_rng(bits).integers(0, 256, (count, bits // 8), np.uint8)


def words(texels):
    """Little-endian numbers of texels: uint64, shape (n,)."""
    wide = np.zeros((len(texels), 8), np.uint8)
    wide[:, : texels.shape[1]] = texels
    return wide.view("<u8").ravel()


def shares(numbers, masks):
    """Of each mask's channel its number, and the greatest that it has; None without a mask."""
    found = []
    for mask in map(int, masks):
        low = (mask & -mask).bit_length() - 1 if mask else 0
        found.append(((numbers & np.uint64(mask)) >> np.uint64(low), mask >> low) if mask else None)
    return found


def assert_nearest(image, unit, expected):
    """Channels are the numbers' shares of their greatest, to the nearest step; absent as D3D."""
    for channel in range(4):
        found = image[..., channel].ravel().astype(np.int64) if channel < image.shape[-1] else None
        if expected[channel] is None:
            assert found is None or (found == (unit[3] if channel == 3 else 0)).all()
        else:
            number, most = expected[channel]
            ideal = number.astype(np.int64) * int(unit[channel])
            assert (2 * np.abs(found * most - ideal) <= most).all()


@pytest.mark.plan("container-2")
@pytest.mark.parametrize("name", MASKS)
def test_dds_by_masks(name, file):
    """Each channel is its mask's, exactly or to the nearest step; luminance is grey."""
    flags, bits, masks = MASKS[name]
    texels = random_texels(bits)
    made = read(file(dds(flags, bits, masks, texels)))
    red, green, blue, alpha = masks
    if flags & LUMINANCE:
        green = blue = red
    if not flags & 3:
        alpha = 0
    assert_nearest(
        made.image(), made.texel_format.unit, shares(words(texels), (red, green, blue, alpha))
    )


@pytest.mark.plan("container-3")
@pytest.mark.parametrize("name", PILLOWS)
def test_dds_by_masks_as_pillow_reads_it(name, file):
    """Channels of eight bits byte for byte; Pillow cuts others to eight bits."""
    flags, bits, masks = MASKS[name]
    content = dds(flags, bits, masks, random_texels(bits))
    made = read(file(content))
    pillow = np.asarray(Image.open(io.BytesIO(content)).convert("RGBA")).astype(np.float64) / 255
    widths = {bin(mask).count("1") for mask in masks if mask}
    ours = np.zeros(pillow.shape)
    ours[..., 3] = 1
    image = made.image()
    ours[..., : image.shape[-1]] = image / made.texel_format.unit
    assert np.abs(ours - pillow).max() <= (0 if widths == {8} else 1.001 / 255)


@pytest.mark.plan("container-2")
def test_signed_masks(file):
    """D3D9's bumps: V8U8, Q8W8V8U8, V16U16."""
    for bits, masks, form in (
        (16, (0xFF, 0xFF00, 0, 0), "R8G8_SNORM"),
        (32, (0xFF, 0xFF00, 0xFF0000, 0xFF000000), "R8G8B8A8_SNORM"),
        (32, (0xFFFF, 0xFFFF0000, 0, 0), "R16G16_SNORM"),
    ):
        texels = random_texels(bits)
        made = read(file(dds(BUMP, bits, masks, texels)))
        assert made.format == form
        assert (made.levels[0].ravel() == texels.ravel()).all()


@pytest.mark.plan("container-6")
@pytest.mark.parametrize(
    ("flags", "bits", "masks", "message"),
    [
        (0x20, 8, (0, 0, 0, 0), "flags of the format must not be those of palettes, not 0x20"),
        (0x200, 16, (0, 0, 0, 0), "flags of the format must not be those of YUV"),
        (RGB, 12, (0xF00, 0xF0, 0xF, 0), "must be 8, 16, 24 or 32, not 12"),
        (RGB, 16, (0xF00, 0x1F0, 0xF, 0), "masks must be channels beside each other in 16 bits"),
        (RGB, 16, (0xF0F, 0, 0, 0), "masks must be channels beside each other in 16 bits"),
        (RGB, 16, (0xF0000, 0xF0, 0xF, 0), "masks must be channels beside each other in 16 bits"),
        (RGB, 16, (0, 0, 0, 0xFF), "masks must be channels beside each other in 16 bits"),
    ],
)
def test_masks_that_are_none(flags, bits, masks, message, file):
    with pytest.raises(InputError, match=message):
        read(file(dds(flags, bits, masks, random_texels(bits // 8 * 8))))


@pytest.mark.plan("container-3")
@pytest.mark.parametrize("form", ["BC4U", "BC5U", "BC7"])
def test_imagecodecs_reads_what_is_written(form, data):
    """BC7 byte for byte; imagecodecs rounds what lies between end points in its own way."""
    original = texture(form, 64, 32, 1, seed=3)
    if form == "BC7":
        original.levels[0].reshape(-1, 16)[:, 0] |= 1  # no reserved mode
    theirs = imagecodecs.dds_decode(data(original)).reshape(32, 64, -1).astype(np.float64)
    ours = original.image() / original.texel_format.unit * 255
    assert np.abs(ours - theirs[..., : ours.shape[-1]]).max() <= (0 if form == "BC7" else 1.5)


@pytest.mark.plan("container-1")
@pytest.mark.parametrize(
    "form", [form for form in Format if FORMATS[form].typeless], ids=lambda form: form.name
)
def test_typeless_is_read_as_its_first_type(form, file, data):
    """UNORM, or else of floats."""
    content = bytearray(data(texture("R8", 4, 4, 1)))
    block = FORMATS[form].block
    content[148:] = bytes(16 // block**2 * FORMATS[form].bytes)
    struct.pack_into("<I", content, 128, form)
    made = read(file(content))
    assert made.texel_format.kind in ("UNORM", "FLOAT")
    assert made.levels[0].size == len(content) - 148


# Bits of Vulkan's formats, by the words of its specification: R, G, B, A as (low, bits).
PACKED = {
    1: (1, ((4, 4), (0, 4), None, None)),
    2: (2, ((12, 4), (8, 4), (4, 4), (0, 4))),
    3: (2, ((4, 4), (8, 4), (12, 4), (0, 4))),
    4: (2, ((11, 5), (5, 6), (0, 5), None)),
    5: (2, ((0, 5), (5, 6), (11, 5), None)),
    6: (2, ((11, 5), (6, 5), (1, 5), (0, 1))),
    7: (2, ((1, 5), (6, 5), (11, 5), (0, 1))),
    8: (2, ((10, 5), (5, 5), (0, 5), (15, 1))),
    15: (1, ((0, 8), None, None, None)),
    22: (2, ((0, 8), (8, 8), None, None)),
    23: (3, ((0, 8), (8, 8), (16, 8), None)),
    29: (3, ((0, 8), (8, 8), (16, 8), None)),
    30: (3, ((16, 8), (8, 8), (0, 8), None)),
    36: (3, ((16, 8), (8, 8), (0, 8), None)),
    51: (4, ((0, 8), (8, 8), (16, 8), (24, 8))),
    58: (4, ((20, 10), (10, 10), (0, 10), (30, 2))),
    64: (4, ((0, 10), (10, 10), (20, 10), (30, 2))),
    84: (6, ((0, 16), (16, 16), (32, 16), None)),
    91: (8, ((0, 16), (16, 16), (32, 16), (48, 16))),
    1000340000: (2, ((8, 4), (4, 4), (0, 4), (12, 4))),
    1000340001: (2, ((0, 4), (4, 4), (8, 4), (12, 4))),
    1000470000: (2, ((0, 5), (5, 5), (10, 5), (15, 1))),
    1000470001: (1, (None, None, None, (0, 8))),
}


def ktx2_of(code, texels, width=8, height=8, scheme=0, packed=None, whole=None):
    """A KTX2 of one level: texels, maybe ``packed``."""
    body = texels.tobytes() if packed is None else packed
    whole = texels.size if whole is None else whole
    head = b"\xabKTX 20\xbb\r\n\x1a\n" + struct.pack(
        "<9I4I2Q", code, 1, width, height, 0, 0, 1, 1, scheme, 0, 0, 0, 0, 0, 0
    )
    return head + struct.pack("<3Q", 104, len(body), whole) + body


@pytest.mark.plan("container-1")
@pytest.mark.parametrize("code", PACKED)
def test_packed_formats_of_vulkan(code, file):
    size, channels = PACKED[code]
    texels = random_texels(8 * size, 64)
    made = read(file(ktx2_of(code, texels)))
    masks = [
        ((1 << bits) - 1) << low if bits else 0
        for low, bits in (channel or (0, 0) for channel in channels)
    ]
    assert_nearest(made.image(), made.texel_format.unit, shares(words(texels), masks))
    assert made.srgb == (code in (15, 22, 29, 36))


@pytest.mark.plan("container-1")
@pytest.mark.parametrize(
    ("code", "dtype", "order", "one"),
    [
        (24, np.int8, (0, 1, 2), 127),
        (27, np.uint8, (0, 1, 2), 1),
        (28, np.int8, (0, 1, 2), 1),
        (31, np.int8, (2, 1, 0), 127),
        (45, np.int8, (2, 1, 0, 3), None),
        (49, np.int8, (2, 1, 0, 3), None),
        (85, np.int16, (0, 1, 2), 32767),
        (88, np.uint16, (0, 1, 2), 1),
        (90, np.float16, (0, 1, 2), 1.0),
    ],
)
def test_channels_of_vulkan(code, dtype, order, one, file):
    """Three channels become four, blue first red first; each bit stays."""
    count = 3 if one is not None else 4
    texels = random_texels(8 * count * np.dtype(dtype).itemsize, 64)
    made = read(file(ktx2_of(code, texels)))
    found = made.levels[0].view(dtype).reshape(64, 4)
    theirs = np.ascontiguousarray(texels).view(dtype).reshape(64, count)
    for channel, place in enumerate(order):
        assert found[:, channel].tobytes() == theirs[:, place].tobytes()
    assert one is None or (found[:, 3] == one).all()


def test_what_no_shader_reads_is_refused(file):
    """Scaled integers and 64-bit numbers no shader reads; nor are depths colours."""
    for code in (11, 12, 18, 59, 110, 121, 124, 126, 130, 147, 157):
        assert code not in VULKAN
        with pytest.raises(InputError, match="vkFormat must be a format that a shader reads"):
            read(file(ktx2_of(code, random_texels(32, 64))))


PACKERS = {2: imagecodecs.zstd_encode, 3: zlib.compress}


@pytest.mark.plan("container-9")
@pytest.mark.parametrize("scheme", PACKERS)
def test_compressed_levels(scheme, file):
    """Each level is compressed for itself, by another's encoder."""
    original = texture(levels=3, layers=2)
    plain = ktx2(original, 133, 2)
    content = bytearray(plain[: 80 + 24 * 3])
    struct.pack_into("<I", content, 44, scheme)
    for n, level in enumerate(original.levels):
        packed = PACKERS[scheme](level.tobytes())
        struct.pack_into("<3Q", content, 80 + 24 * n, len(content), len(packed), level.size)
        content += packed
    back = read(file(content))
    assert all((a == b).all() for a, b in zip(back.levels, original.levels, strict=True))


@pytest.mark.plan("container-9")
@pytest.mark.parametrize("scheme", PACKERS)
def test_compressed_data_that_lie(scheme, file):
    """Too few, too many, a bomb, and what is none: an error, and no more memory than a level."""
    texels = random_texels(32, 64)
    pack = PACKERS[scheme]

    def content(packed, whole=256):
        return file(ktx2_of(37, texels, scheme=scheme, packed=packed, whole=whole))

    assert (read(content(pack(texels.tobytes()))).levels[0] == texels.ravel()).all()
    with pytest.raises(InputError, match="bytes of level 0, decompressed must be 256, not 255"):
        read(content(pack(texels.tobytes()[:-1])))
    bomb = pack(bytes(1 << 26))
    tracemalloc.start()
    with pytest.raises(InputError, match="decompressed must be 256, not 257 or more"):
        read(content(bomb))
    assert tracemalloc.get_traced_memory()[1] < 1 << 22
    tracemalloc.stop()
    with pytest.raises(InputError, match="texture: data must be (Zstandard|ZLIB), not "):
        read(content(b"no such data"))
    with pytest.raises(InputError, match="uncompressedByteLength of level 0 must be 256, not 7"):
        read(content(pack(texels.tobytes()), 7))


@pytest.mark.plan("container-9")
def test_zstandard_is_named_where_it_is_missing(file, monkeypatch):
    texels = random_texels(32, 64)
    packed = imagecodecs.zstd_encode(texels.tobytes())
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(InputError, match="without the package zstandard, which the extra 'mesh'"):
        read(file(ktx2_of(37, texels, scheme=2, packed=packed)))


@pytest.mark.plan("container-5")
def test_more_than_a_resource_may_have_is_refused(file):
    """However small the file that claims it."""
    content = bytearray(ktx2_of(109, random_texels(32, 64), 16384, 16384, 2, packed=b"x"))
    rule = f"size of the texture must be at most {MOST_BYTES} bytes, not {16 << 28}"
    with pytest.raises(InputError, match=rule):
        read(file(content))
    # Texels of 8 bits become 32: two layers of them fit, three do not.
    content[12:16] = struct.pack("<I", 15)
    content[32:36] = struct.pack("<I", 3)
    with pytest.raises(InputError, match=f"be at most {MOST_BYTES} bytes, not {12 << 28}"):
        read(file(content))
    with pytest.raises(InputError, match="edges of a 3D texture must be at most 2048 texels"):
        create("R8", 4096, 1, [np.zeros((1, 4096), np.uint8)], dimension=3)


@pytest.mark.plan("container-1")
def test_volume_of_old(file, data):
    """Without a DX10 header, too: slices of a level lie together."""
    original = texture("BC1", 20, 12, 3, depth=4, dimension=3)
    content = data(original)
    back = read(file(content[:84] + b"DXT1" + content[88:128] + content[148:]))
    assert (back.dimension, back.depth, back.texels(1, 0).shape) == (3, 4, (2, 6, 10, 1, 4))
    assert all((a == b).all() for a, b in zip(back.levels, original.levels, strict=True))
