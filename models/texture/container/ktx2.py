# SPDX-License-Identifier: BSD-2-Clause
"""KTX2: files of Vulkan's textures."""

import zlib

import numpy as np

from fixfunc.models.texture.container.file import File, Shape
from fixfunc.models.texture.container.formats import file_format
from fixfunc.models.texture.texture import Texture, create
from fixfunc.spec.errors import InputError

MAGIC = b"\xabKTX 20\xbb\r\n\x1a\n"
_KINDS = "UNORM", "SNORM", None, None, "UINT", "SINT"  # USCALED and SSCALED no shader reads
_SMALL = *_KINDS, "UNORM_SRGB"
_WIDE = *_KINDS, "FLOAT"
_WHOLE = "UINT", "SINT", "FLOAT"
# Rows of formats: number of the first, channels from the lowest bits on, kinds.
_ROWS = (
    (1, "G4R4", ("UNORM",)),
    (2, "A4B4G4R4", ("UNORM",)),
    (3, "A4R4G4B4", ("UNORM",)),
    (4, "B5G6R5", ("UNORM",)),
    (5, "R5G6B5", ("UNORM",)),
    (6, "A1B5G5R5", ("UNORM",)),
    (7, "A1R5G5B5", ("UNORM",)),
    (8, "B5G5R5A1", ("UNORM",)),
    (9, "R8", _SMALL),
    (16, "R8G8", _SMALL),
    (23, "R8G8B8", _SMALL),
    (30, "B8G8R8", _SMALL),
    (37, "R8G8B8A8", _SMALL),
    (44, "B8G8R8A8", _SMALL),
    (51, "R8G8B8A8", _SMALL),
    (58, "B10G10R10A2", ("UNORM", None, None, None, "UINT")),
    (64, "R10G10B10A2", ("UNORM", None, None, None, "UINT")),
    (70, "R16", _WIDE),
    (77, "R16G16", _WIDE),
    (84, "R16G16B16", _WIDE),
    (91, "R16G16B16A16", _WIDE),
    (98, "R32", _WHOLE),
    (101, "R32G32", _WHOLE),
    (104, "R32G32B32", _WHOLE),
    (107, "R32G32B32A32", _WHOLE),
    (122, "R11G11B10", ("FLOAT",)),
    (123, "R9G9B9E5", ("SHAREDEXP",)),
    (131, "BC1", ("UNORM", "UNORM_SRGB", "UNORM", "UNORM_SRGB")),
    (135, "BC2", ("UNORM", "UNORM_SRGB")),
    (137, "BC3", ("UNORM", "UNORM_SRGB")),
    (139, "BC4", ("UNORM", "SNORM")),
    (141, "BC5", ("UNORM", "SNORM")),
    (143, "BC6H", ("UF16", "SF16")),
    (145, "BC7", ("UNORM", "UNORM_SRGB")),
    (1000340000, "B4G4R4A4", ("UNORM",)),
    (1000340001, "R4G4B4A4", ("UNORM",)),
    (1000470000, "R5G5B5A1", ("UNORM",)),
    (1000470001, "A8", ("UNORM",)),
)
# Names of formats, as DXGI would form them, by VkFormat.
VULKAN = {
    first + n: f"{channels}_{kind}"
    for first, channels, kinds in _ROWS
    for n, kind in enumerate(kinds)
    if kind
}
OPAQUE = {131, 132}
PLAIN = 0  # supercompressionScheme


def read(file: File) -> Texture:
    """Read a KTX2."""
    file.stream.seek(len(MAGIC))
    code, _, *sizes, scheme = file.unpack("<9I", "a KTX2 header")
    file.unpack("<4I2Q", "a KTX2 header")
    if code not in VULKAN:
        raise InputError("vkFormat", "be a format that a shader reads", code)
    if scheme not in SCHEMES:
        rule = "be 0, none, 2, Zstandard, or 3, ZLIB"
        raise InputError("supercompressionScheme", rule, scheme)
    form = file_format(VULKAN[code])
    shape = _shape(*sizes)
    shape.check(form)
    index = [file.unpack("<3Q", f"{shape.levels} levels") for _ in range(shape.levels)]
    head = file.stream.tell()
    required = [shape.images * shape.bytes_of(form, n) for n in range(shape.levels)]
    for n, entry in enumerate(index):
        _check_entry(n, entry, head, file.length, required[n], scheme)
    levels = []
    for n, (at, count, _) in enumerate(index):
        file.stream.seek(at)
        data = SCHEMES[scheme](file.stream.read(count), required[n])
        if len(data) != required[n]:
            found = f"{len(data)} or more" if len(data) > required[n] else len(data)
            raise InputError(f"bytes of level {n}, decompressed", f"be {required[n]}", found)
        levels.append(form.read(np.frombuffer(data, np.uint8).reshape(shape.images, -1)))
    return create(
        form.name,
        shape.width,
        shape.height,
        levels,
        srgb=form.srgb,
        opaque=code in OPAQUE,
        **shape.fields(),
    )


def _shape(width, height, depth, layers, faces, levels):
    """The shape of a header, where 0 is an axis or an array that the texture does not have."""
    if layers and depth:
        raise InputError("layerCount of a volume", "be 0", layers)
    if depth and not height:
        raise InputError("pixelHeight of a volume", "not be 0", height)
    dimension = 3 if depth else 2 if height else 1
    return Shape(width, height or 1, max(levels, 1), depth or 1, max(layers, 1), faces, dimension)


def _check_entry(level, entry, head, length, required, scheme):
    """Where a level lies, and how long it is."""
    at, count, whole = entry
    if scheme == PLAIN and count != required:
        raise InputError(f"byteLength of level {level}", f"be {required}", count)
    if scheme != PLAIN and whole not in (0, required):
        raise InputError(f"uncompressedByteLength of level {level}", f"be {required}", whole)
    if at < head or at + count > length:
        rule = (
            f"lie between the header's {head} bytes and the end of the file, {length}, "
            f"with {count} bytes"
        )
        raise InputError(f"byteOffset of level {level}", rule, at)


def _plain(data, _required):
    return data


def _zstandard(data, required):
    """At most one byte more than is required, whatever the data claim."""
    try:
        import zstandard  # numpy is enough for all other files
    except ModuleNotFoundError as error:
        rule = "be 0 or 3 without the package zstandard, which the extra 'mesh' brings"
        raise InputError("supercompressionScheme", rule, 2) from error
    reader = zstandard.ZstdDecompressor().stream_reader(data, read_across_frames=True)
    try:
        return reader.read(required + 1)
    except zstandard.ZstdError as error:
        raise InputError("data", "be Zstandard", error) from error


def _zlib(data, required):
    """At most one byte more than is required."""
    try:
        return zlib.decompressobj().decompress(data, required + 1)
    except zlib.error as error:
        raise InputError("data", "be ZLIB", error) from error


# Decompressors, by supercompressionScheme: bytes, and how many are required, to bytes.
SCHEMES = {PLAIN: _plain, 2: _zstandard, 3: _zlib}
