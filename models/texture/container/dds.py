# SPDX-License-Identifier: BSD-2-Clause
"""DDS: files of Direct3D's textures."""

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from fixfunc.models.texture.container import masks
from fixfunc.models.texture.container.file import File, Shape
from fixfunc.models.texture.container.formats import file_format
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture import Texture, bytes_of, create
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError

MAGIC = b"DDS "
# Formats by FourCC. Of DXT2 and DXT4 colours are multiplied by alpha, which is the reader's to
# know; 36 and 110 to 116 are numbers of D3DFORMAT.
FOURCC = {
    b"DXT1": "BC1_UNORM",
    b"DXT2": "BC2_UNORM",
    b"DXT3": "BC2_UNORM",
    b"DXT4": "BC3_UNORM",
    b"DXT5": "BC3_UNORM",
    b"ATI1": "BC4_UNORM",
    b"BC4U": "BC4_UNORM",
    b"BC4S": "BC4_SNORM",
    b"ATI2": "BC5_UNORM",
    b"A2XY": "BC5_UNORM",
    b"BC5U": "BC5_UNORM",
    b"BC5S": "BC5_SNORM",
    b"RGBG": "G8R8_G8B8_UNORM",  # as D3D9 names 16-bit halves [fs 25.1.1]
    b"GRGB": "R8G8_B8G8_UNORM",
    b"$\0\0\0": "R16G16B16A16_UNORM",
    b"n\0\0\0": "R16G16B16A16_SNORM",
    b"o\0\0\0": "R16_FLOAT",
    b"p\0\0\0": "R16G16_FLOAT",
    b"q\0\0\0": "R16G16B16A16_FLOAT",
    b"r\0\0\0": "R32_FLOAT",
    b"s\0\0\0": "R32G32_FLOAT",
    b"t\0\0\0": "R32G32B32A32_FLOAT",
}
HAS_FOURCC = 0x4
CAPS_CUBE = 0x200
CAPS_FACES = 0xFC00
CAPS_VOLUME = 0x200000
MISC_CUBE = 0x4
RESOURCES = {1: 2, 2: 3, 3: 4}  # resourceDimension, by the number of dimensions


class _Dx10(NamedTuple):
    """The header behind the header."""

    code: int
    resource: int
    misc: int
    layers: int
    misc2: int


def read(file: File) -> Texture:
    """Read a DDS."""
    file.stream.seek(len(MAGIC))
    header, _, height, width, _, depth, levels = file.unpack("<7I44x", "a DDS header")
    form_size, flags, fourcc, bits, *channels = file.unpack("<2I4s5I", "a DDS header")
    _, caps, *_ = file.unpack("<5I", "a DDS header")
    if header != 124 or form_size not in (24, 32):
        sizes = f"{header} and {form_size}"
        raise InputError("sizes of a DDS header and its format", "be 124 and 32", sizes)
    if form_size != 32:
        file.warn(f"the size of the format is {form_size}: read as 32")
    dx10 = None
    if flags & HAS_FOURCC and fourcc == b"DX10":
        dx10 = _Dx10(*file.unpack("<5I", "a DX10 header"))
    form = _of_code(dx10.code) if dx10 else _of_old(flags, fourcc, bits, channels)
    shape = Shape(width, height, max(levels, 1))
    shape = _of_dx10(file, shape, depth, dx10, caps) if dx10 else _of_caps(file, shape, depth, caps)
    return _images(file, form, shape)


def _of_code(code):
    """The format of a DX10 header."""
    if code not in set(Format) - {Format.UNKNOWN}:
        raise InputError("dxgiFormat", "be a format that a shader reads", code)
    form = Format(code)
    try:
        return file_format(form.name)
    except InputError as error:
        raise InputError("dxgiFormat", error.rule, f"{code}, {form.name}") from error


def _of_old(flags, fourcc, bits, channels):
    """The format of a header without DX10."""
    if not flags & HAS_FOURCC:
        return file_format(masks.named(flags, bits, channels))
    if fourcc not in FOURCC:
        names = [
            code.decode() if code[1] else str(int.from_bytes(code, "little")) for code in FOURCC
        ]
        raise InputError("FourCC", f"be one of {', '.join(names)}, DX10", repr(fourcc))
    return file_format(FOURCC[fourcc])


def _of_caps(file, shape, depth, caps):
    """The shape that a header without DX10 tells."""
    if caps & CAPS_CUBE:
        if caps & CAPS_FACES != CAPS_FACES:
            raise InputError("caps2 of a cube", "have all six faces", hex(caps))
        return shape._replace(faces=6)
    if caps & CAPS_VOLUME and depth <= 1:
        file.warn("a volume of one slice: read as a 2D texture")
        return shape
    return shape._replace(depth=depth, dimension=3) if caps & CAPS_VOLUME else shape


def _of_dx10(file, shape, depth, dx10, caps):
    """The shape that a DX10 header tells."""
    dimension = next((n for n, code in RESOURCES.items() if code == dx10.resource), None)
    if dx10.resource == 0:
        file.warn("resourceDimension is 0: read as 3, a 2D texture")
        dimension = 2
    if dimension is None:
        rule = "be 2, 3 or 4: a texture of one, two or three dimensions"
        raise InputError("resourceDimension", rule, dx10.resource)
    if dx10.layers == 0:
        file.warn("arraySize is 0: read as 1")
    shape = shape._replace(dimension=dimension, layers=max(dx10.layers, 1))
    if dimension == 3:
        if shape.layers > 1:
            raise InputError("arraySize of a volume", "be 1", shape.layers)
        return shape._replace(depth=max(depth, 1))
    is_cube = dx10.misc & MISC_CUBE
    if dimension == 2 and caps & CAPS_CUBE and not is_cube:
        if caps & CAPS_FACES != CAPS_FACES:
            raise InputError("caps2 of a cube", "have all six faces", hex(caps))
        file.warn("a cube by caps2 alone: read as one")
        is_cube = True
    return shape._replace(faces=6) if is_cube else shape


def _images(file, form, shape):
    """The texture behind the header: images one by one, each with its levels."""
    stored = shape.levels
    complete = max(shape.width, shape.height, shape.depth).bit_length()
    if stored > complete > 0:
        shape = shape._replace(levels=complete)
    shape = _of_faces(file, form, shape)
    shape.check(form)
    at = file.stream.tell()
    sizes = [shape.bytes_of(form, n) for n in range(shape.levels)]
    stride = sum(sizes)
    if stored > complete:
        file.warn(f"{stored} levels: read as the {complete} that there are")
        # Those behind the last are of one texel, unless they were not written at all.
        padded = stride + (stored - complete) * sizes[-1]
        if file.length >= at + shape.images * padded:
            stride = padded
    required = shape.images * stride
    if file.length < at + required:
        raise InputError("size of the file", f"be {at + required} bytes", f"{file.length} bytes")
    if file.length > at + required:
        file.warn(f"{file.length - at - required} bytes behind the last level: not read")
    data = np.frombuffer(file.stream.read(required), np.uint8).reshape(shape.images, stride)
    ends = np.cumsum(sizes)
    levels = [form.read(data[:, end - count : end]) for end, count in zip(ends, sizes, strict=True)]
    return create(form.name, shape.width, shape.height, levels, srgb=form.srgb, **shape.fields())


def _of_faces(file, form, shape):
    """A cube whose arraySize counts faces is one of a sixth, if the file has no more."""
    layers, more = divmod(shape.layers, 6)
    if shape.faces == 1 or more or not layers:
        return shape
    size = sum(shape.bytes_of(form, n) for n in range(shape.levels))
    room = file.length - file.stream.tell()
    if shape.images * size <= room or layers * 6 * size > room:
        return shape
    file.warn(f"arraySize of a cube is {shape.layers}, its faces: read as {layers}")
    return shape._replace(layers=layers)


def write_dds(path: str | Path, texture: Texture) -> None:
    """Write a texture to a DDS file with a DX10 header."""
    key = texture.format, texture.srgb
    code = next((form for form, named in DXGI.items() if named == key), None)
    if code is None:
        raise InputError("format", "be one that DXGI has", f"{texture.format}, srgb={texture.srgb}")
    is_cube = texture.faces == 6
    is_volume = texture.dimension == 3
    header = struct.pack(
        "<4s7I44x",
        MAGIC,
        124,
        0x1007 | 0x20000 | 0x80000 | 0x800000 * is_volume,
        texture.height,
        texture.width,
        bytes_of(texture.format, texture.width, texture.height),
        texture.depth * is_volume,
        len(texture.levels),
    )
    caps = (CAPS_CUBE | CAPS_FACES) * is_cube | CAPS_VOLUME * is_volume
    header += struct.pack("<2I4s5I", 32, HAS_FOURCC, b"DX10", 0, 0, 0, 0, 0)
    header += struct.pack("<5I", 0x1000 | 0x400008, caps, 0, 0, 0)
    resource = RESOURCES[texture.dimension]
    header += struct.pack("<5I", code, resource, MISC_CUBE * is_cube, texture.layers, 0)
    images = [level[n].tobytes() for n in range(len(texture.levels[0])) for level in texture.levels]
    Path(path).write_bytes(header + b"".join(images))
