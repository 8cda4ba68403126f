# SPDX-License-Identifier: BSD-2-Clause
"""Files of textures: DDS and KTX2."""

import struct
import warnings
from pathlib import Path

import numpy as np

from fixfunc.models.texture.texture import LAYERS, Texture, bytes_of, check_shape, create, size
from fixfunc.spec.errors import InputError, InputWarning

DDS = b"DDS "
KTX2 = b"\xabKTX 20\xbb\r\n\x1a\n"

# Formats, and whether colours are sRGB, by DXGI_FORMAT, FourCC, masks and VkFormat.
DXGI = {
    10: ("RGBA16F", False),
    28: ("RGBA8", False),
    29: ("RGBA8", True),
    49: ("RG8", False),
    56: ("R16", False),
    61: ("R8", False),
    71: ("BC1", False),
    72: ("BC1", True),
    74: ("BC2", False),
    75: ("BC2", True),
    77: ("BC3", False),
    78: ("BC3", True),
    80: ("BC4U", False),
    81: ("BC4S", False),
    83: ("BC5U", False),
    84: ("BC5S", False),
    87: ("BGRA8", False),
    91: ("BGRA8", True),
    95: ("BC6HU", False),
    96: ("BC6HS", False),
    98: ("BC7", False),
    99: ("BC7", True),
}
FOURCC = {
    b"DXT1": "BC1",
    b"DXT3": "BC2",
    b"DXT5": "BC3",
    b"ATI1": "BC4U",
    b"BC4U": "BC4U",
    b"BC4S": "BC4S",
    b"ATI2": "BC5U",
    b"BC5U": "BC5U",
    b"BC5S": "BC5S",
}
MASKS = {
    (0xFF, 0xFF00, 0xFF0000, 0xFF000000): "RGBA8",
    (0xFF0000, 0xFF00, 0xFF, 0xFF000000): "BGRA8",
}
VULKAN = {
    9: ("R8", False),
    16: ("RG8", False),
    37: ("RGBA8", False),
    43: ("RGBA8", True),
    44: ("BGRA8", False),
    50: ("BGRA8", True),
    70: ("R16", False),
    97: ("RGBA16F", False),
    131: ("BC1", False),
    132: ("BC1", True),
    133: ("BC1", False),
    134: ("BC1", True),
    135: ("BC2", False),
    136: ("BC2", True),
    137: ("BC3", False),
    138: ("BC3", True),
    139: ("BC4U", False),
    140: ("BC4S", False),
    141: ("BC5U", False),
    142: ("BC5S", False),
    143: ("BC6HU", False),
    144: ("BC6HS", False),
    145: ("BC7", False),
    146: ("BC7", True),
}
OPAQUE = {131, 132}
CAPS_CUBE = 0x200
CAPS_FACES = 0xFC00
CAPS_VOLUME = 0x200000
MISC_CUBE = 0x4


def read(path: str | Path) -> Texture:
    """Read a texture from a file.

    The file is a DDS with a FourCC, masks of 32 bits or a DX10 header, or a KTX2 without
    supercompression; with 2D textures, arrays or cubes, and levels. Nothing is read but the header
    and what it describes, and no more than the file has.

    Mistakes that writers of DDS commonly make are corrected, with an
    :class:`~fixfunc.spec.errors.InputWarning`: bytes behind the last level, an arraySize of 0, a
    resourceDimension of 0.

    Raises
    ------
    InputError
        The file is another one, too short, or contradicts itself. The error names the file, the
        field, its rule and its value.
    """
    with Path(path).open("rb") as file:
        length = file.seek(0, 2)
        file.seek(0)
        head = file.read(12)
        if head[:4] == DDS:
            reader = _read_dds
        elif head == KTX2:
            reader = _read_ktx2
        else:
            raise InputError(
                f"{Path(path).name}: first bytes",
                "be those of a DDS or KTX2 file",
                head[:12].hex(" ") or "none",
            )
        try:
            return reader(file, length)
        except InputError as error:
            raise InputError(
                f"{Path(path).name}: {error.field}", error.rule, error.value
            ) from error


def write_dds(path: str | Path, texture: Texture) -> None:
    """Write a texture to a DDS file with a DX10 header."""
    key = texture.format, texture.srgb
    code = next((n for n, format in DXGI.items() if format == key), None)
    if code is None:
        raise InputError("format", "be one that DXGI has", f"{texture.format}, srgb={texture.srgb}")
    cube = texture.faces == 6
    linear = bytes_of(texture.format, texture.width, texture.height)
    header = struct.pack(
        "<4s7I44x",
        DDS,
        124,
        0x1007 | 0x20000 | 0x80000,
        texture.height,
        texture.width,
        linear,
        0,
        len(texture.levels),
    )
    header += struct.pack("<2I4s5I", 32, 4, b"DX10", 0, 0, 0, 0, 0)
    header += struct.pack("<5I", 0x1000 | 0x400008, (CAPS_CUBE | CAPS_FACES) * cube, 0, 0, 0)
    header += struct.pack("<5I", code, 3, MISC_CUBE * cube, texture.layers, 0)
    images = [level[n].tobytes() for n in range(len(texture.levels[0])) for level in texture.levels]
    Path(path).write_bytes(header + b"".join(images))


def _unpack(file, form, length, part):
    """Numbers of a header."""
    data = file.read(struct.calcsize(form))
    if len(data) < struct.calcsize(form):
        raise InputError("size of the file", f"be enough for {part}", f"{length} bytes")
    return struct.unpack(form, data)


def _warn(file, text):
    """Warn of a mistake in a file that is read nevertheless."""
    warnings.warn(f"{Path(file.name).name}: {text}", InputWarning, stacklevel=4)


def _read_dds(file, length):
    file.seek(4)
    header, _, height, width, _, _, levels = _unpack(file, "<7I44x", length, "a DDS header")
    form, flags, fourcc, bits, *masks = _unpack(file, "<2I4s5I", length, "a DDS header")
    _, caps, *_ = _unpack(file, "<5I", length, "a DDS header")
    if (header, form) != (124, 32):
        raise InputError(
            "sizes of a DDS header and its format", "be 124 and 32", f"{header} and {form}"
        )
    if caps & CAPS_VOLUME:
        raise InputError("caps2", "not say that it is a volume", hex(caps))
    layers = 1
    faces = 6 if caps & CAPS_CUBE else 1
    srgb = False
    if faces == 6 and caps & CAPS_FACES != CAPS_FACES:
        raise InputError("caps2 of a cube", "have all six faces", hex(caps))
    if flags & 4 and fourcc == b"DX10":
        code, dimension, misc, layers, _ = _unpack(file, "<5I", length, "a DX10 header")
        if code not in DXGI:
            raise InputError("dxgiFormat", f"be one of {', '.join(map(str, DXGI))}", code)
        if dimension not in (0, 3):
            raise InputError("resourceDimension", "be 3, a 2D texture", dimension)
        if dimension != 3:
            _warn(file, "resourceDimension is 0: read as 3, a 2D texture")
        if layers == 0:
            _warn(file, "arraySize is 0: read as 1")
            layers = 1
        format, srgb = DXGI[code]
        faces = 6 if misc & MISC_CUBE else 1
    elif flags & 4:
        format = FOURCC.get(fourcc)
        if format is None:
            raise InputError(
                "FourCC",
                f"be one of {', '.join(code.decode() for code in FOURCC)}, DX10",
                repr(fourcc),
            )
    else:
        format = MASKS.get(tuple(masks)) if bits == 32 else None
        if format is None:
            raise InputError(
                "format without FourCC",
                "be of 32 bits, RGBA or BGRA",
                f"of {bits} bits, masks {[hex(mask) for mask in masks]}",
            )
    levels = max(levels, 1)
    _check(format, width, height, levels, layers, faces)
    sizes = [bytes_of(format, *size(width, height, n)) for n in range(levels)]
    required = layers * faces * sum(sizes)
    at = file.tell()
    if length < at + required:
        raise InputError("size of the file", f"be {at + required} bytes", f"{length} bytes")
    if length > at + required:
        _warn(file, f"{length - at - required} bytes behind the last level: not read")
    data = np.frombuffer(file.read(required), np.uint8).reshape(layers * faces, -1)
    ends = np.cumsum(sizes)
    return create(
        format,
        width,
        height,
        [data[:, end - count : end] for end, count in zip(ends, sizes, strict=True)],
        faces=faces,
        srgb=srgb,
    )


def _read_ktx2(file, length):
    file.seek(12)
    code, _, width, height, depth, layers, faces, levels, scheme = _unpack(
        file, "<9I", length, "a KTX2 header"
    )
    _unpack(file, "<4I2Q", length, "a KTX2 header")
    if code not in VULKAN:
        raise InputError("vkFormat", f"be one of {', '.join(map(str, VULKAN))}", code)
    if scheme:
        raise InputError("supercompressionScheme", "be 0, none", scheme)
    if depth:
        raise InputError("pixelDepth", "be 0, a 2D texture", depth)
    format, srgb = VULKAN[code]
    layers = max(layers, 1)
    levels = max(levels, 1)
    _check(format, width, height, levels, layers, faces)
    index = [_unpack(file, "<3Q", length, f"{levels} levels") for _ in range(levels)]
    images = layers * faces
    head = file.tell()
    for n, (at, count, _) in enumerate(index):
        required = images * bytes_of(format, *size(width, height, n))
        if count != required:
            raise InputError(f"byteLength of level {n}", f"be {required}", count)
        if at < head or at + count > length:
            rule = (
                f"lie between the header's {head} bytes and the end of the file, {length}, "
                f"with {count} bytes"
            )
            raise InputError(f"byteOffset of level {n}", rule, at)
    data = []
    for at, count, _ in index:
        file.seek(at)
        data.append(np.frombuffer(file.read(count), np.uint8).reshape(images, -1))
    return create(format, width, height, data, faces=faces, srgb=srgb, opaque=code in OPAQUE)


def _check(format, width, height, levels, layers, faces):
    """Check a shape before anything is read."""
    check_shape(format, width, height, levels, faces)
    if not 1 <= layers * faces <= LAYERS:
        raise InputError("number of layers", f"be 1 to {LAYERS // faces}", layers)
