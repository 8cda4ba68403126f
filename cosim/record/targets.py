# SPDX-License-Identifier: BSD-2-Clause
"""What a program draws on: attachments of framebuffer objects, and what they hold."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import Functions
from fixfunc.spec.dxgi import DEPTH_FORMATS, Format

# Formats of storage.
FORMS = {
    T.RGBA8: Format.R8G8B8A8_UNORM,
    T.SRGB8_ALPHA8: Format.R8G8B8A8_UNORM,
    T.RGB8: Format.B8G8R8X8_UNORM,
    T.SRGB8: Format.B8G8R8X8_UNORM,
    T.RGB565: Format.B5G6R5_UNORM,
    T.RGB10_A2: Format.R10G10B10A2_UNORM,
    T.R8: Format.R8_UNORM,
    T.RG8: Format.R8G8_UNORM,
    T.R16: Format.R16_UNORM,
    T.RG16: Format.R16G16_UNORM,
    T.RGBA16: Format.R16G16B16A16_UNORM,
    T.R16F: Format.R16_FLOAT,
    T.RG16F: Format.R16G16_FLOAT,
    T.RGBA16F: Format.R16G16B16A16_FLOAT,
    T.R32F: Format.R32_FLOAT,
    T.RG32F: Format.R32G32_FLOAT,
    T.RGBA32F: Format.R32G32B32A32_FLOAT,
    T.R11F_G11F_B10F: Format.R11G11B10_FLOAT,
    T.DEPTH_COMPONENT16: Format.D16_UNORM,
    T.DEPTH_COMPONENT24: Format.D24_UNORM_S8_UINT,
    T.DEPTH24_STENCIL8: Format.D24_UNORM_S8_UINT,
    T.DEPTH_COMPONENT32: Format.D32_FLOAT,  # the nearest: D3D11 has no integers of 32 bits
    T.DEPTH_COMPONENT32F: Format.D32_FLOAT,
    T.DEPTH32F_STENCIL8: Format.D32_FLOAT_S8X24_UINT,
}
# Formats that leave it to the driver how many bits a channel has: what they are with so many.
_UNSIZED = {
    (T.RGBA, 8): T.RGBA8,
    (T.RGB, 8): T.RGB8,
    (T.DEPTH_COMPONENT, 16): T.DEPTH_COMPONENT16,
    (T.DEPTH_COMPONENT, 24): T.DEPTH_COMPONENT24,
    (T.DEPTH_COMPONENT, 32): T.DEPTH_COMPONENT32,
    (T.DEPTH_STENCIL, 24): T.DEPTH24_STENCIL8,
}
WITH_STENCIL = {T.DEPTH24_STENCIL8, T.DEPTH32F_STENCIL8}
SRGB = {
    Format.R8G8B8A8_UNORM: Format.R8G8B8A8_UNORM_SRGB,
    Format.B8G8R8X8_UNORM: Format.B8G8R8X8_UNORM_SRGB,
}
STORED_SRGB = {T.SRGB8_ALPHA8, T.SRGB8}
# Depths as they are stored: format, type and what its words are.
_DEPTHS = {
    T.DEPTH_COMPONENT16: (T.DEPTH_COMPONENT, T.UNSIGNED_SHORT, "<u2"),
    T.DEPTH_COMPONENT32F: (T.DEPTH_COMPONENT, T.FLOAT, "<u4"),
    T.DEPTH32F_STENCIL8: (T.DEPTH_STENCIL, T.FLOAT_32_UNSIGNED_INT_24_8_REV, "<u8"),
    T.DEPTH24_STENCIL8: (T.DEPTH_STENCIL, T.UNSIGNED_INT_24_8, "<u4"),
    T.DEPTH_COMPONENT24: (T.DEPTH_COMPONENT, T.UNSIGNED_INT, "<u4"),
    T.DEPTH_COMPONENT32: (T.DEPTH_COMPONENT, T.FLOAT, "<u4"),
}


class Refused(Exception):
    """A draw that cannot be carried: what it needs, in words."""


class Surface(NamedTuple):
    """An image that is drawn on."""

    kind: int  # T.RENDERBUFFER or T.TEXTURE
    name: int
    level: int
    layer: int  # or face of a cube
    internal: int  # format
    width: int
    height: int

    @property
    def form(self) -> Format:
        """Of its storage."""
        return FORMS[self.internal]

    @property
    def is_depth(self) -> bool:
        """It holds depths."""
        return self.form in DEPTH_FORMATS

    @property
    def has_stencil(self) -> bool:
        """It holds stencil values."""
        return self.internal in WITH_STENCIL

    @property
    def planes(self) -> set[str]:
        """What a clear can name of it."""
        if not self.is_depth:
            return {"colour"}
        return {"depth", "stencil"} if self.has_stencil else {"depth"}


class Bound(NamedTuple):
    """Targets of a draw."""

    colour: Surface | None
    depth: Surface | None

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, pixels."""
        first = self.colour or self.depth
        return first.width, first.height


def bound(gl: Functions) -> Bound:
    """Targets that are bound; what cannot be carried raises :class:`Refused`."""
    buffers = [gl.integer(T.DRAW_BUFFER0 + n) for n in range(8)]
    live = [buffer for buffer in buffers if buffer]
    if len(live) > 1:
        raise Refused("several targets of colours")
    colour = _attached(gl, live[0]) if live else None
    depth = _attached(gl, T.DEPTH_ATTACHMENT)
    stencil = _attached(gl, T.STENCIL_ATTACHMENT)
    if stencil and stencil != depth:
        raise Refused("stencil values without depths, or apart from them")
    if not colour and not depth:
        raise Refused("no target")
    if colour and depth and colour[-2:] != depth[-2:]:
        raise Refused("targets of different sizes")
    return Bound(colour, depth)


_IMAGE = "INTERNAL_FORMAT", "WIDTH", "HEIGHT", "SAMPLES", "RED_SIZE", "DEPTH_SIZE"


def _attached(gl, point):
    """What is attached at a point, or None."""
    kind, name, level, face, layer, layered = (
        _asked(gl.glGetFramebufferAttachmentParameteriv, T.DRAW_FRAMEBUFFER, point, what)
        for what in (
            T.FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE,
            T.FRAMEBUFFER_ATTACHMENT_OBJECT_NAME,
            T.FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL,
            T.FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE,
            T.FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER,
            T.FRAMEBUFFER_ATTACHMENT_LAYERED,
        )
    )
    if kind == T.NONE:
        return None
    if kind == T.RENDERBUFFER:
        ask, about = gl.glGetNamedRenderbufferParameteriv, (name,)
        tokens = [getattr(T, f"RENDERBUFFER_{word}") for word in _IMAGE]
        level = layer = 0
    else:
        if layered:
            raise Refused("layers of a target")
        ask, about = gl.glGetTextureLevelParameteriv, (name, level)
        tokens = [getattr(T, f"TEXTURE_{word}") for word in _IMAGE]
        layer = face - T.TEXTURE_CUBE_MAP_POSITIVE_X if face else layer
    internal, width, height, samples, red, depth = (_asked(ask, *about, it) for it in tokens)
    if samples > 1:
        raise Refused("several samples a pixel")
    internal = _UNSIZED.get((internal, red or depth), internal)
    if internal not in FORMS:
        raise Refused(f"targets of OpenGL's format {internal:#06x}")
    return Surface(kind, name, level, layer, internal, width, height)


def _asked(function, *arguments):
    """An integer that a function writes behind its arguments."""
    out = ctypes.c_int()
    function(*arguments, ctypes.addressof(out))
    return out.value


class Contents(NamedTuple):
    """What a surface holds, rows bottom up."""

    colour: np.ndarray | None  # float32, shape (height, width, 4), as stored: sRGB is not decoded
    depth: np.ndarray | None  # uint32, shape (height, width), as stored
    stencil: np.ndarray | None  # uint8, shape (height, width)


def contents(
    gl: Functions, surface: Surface, framebuffer: int, size: tuple[int, int] | None = None
) -> Contents:
    """Read a surface by way of a framebuffer object that nothing else is attached to.

    ``size`` is that of the part from the first texel on: all by default.
    """
    gl.glBindFramebuffer(T.READ_FRAMEBUFFER, framebuffer)
    point = T.COLOR_ATTACHMENT0
    if surface.is_depth:
        point = T.DEPTH_STENCIL_ATTACHMENT if surface.has_stencil else T.DEPTH_ATTACHMENT
    _attach(gl, surface, point)
    gl.glReadBuffer(T.NONE if surface.is_depth else T.COLOR_ATTACHMENT0)
    box = 0, 0, *(size or (surface.width, surface.height))
    if not surface.is_depth:
        read = Contents(pixels(gl, box, T.RGBA, T.FLOAT, "<f4", 4), None, None)
    else:
        read = _depths(gl, surface, box)
    gl.glFramebufferRenderbuffer(T.READ_FRAMEBUFFER, point, T.RENDERBUFFER, 0)
    return read


def _attach(gl, surface, point):
    if surface.kind == T.RENDERBUFFER:
        gl.glFramebufferRenderbuffer(T.READ_FRAMEBUFFER, point, T.RENDERBUFFER, surface.name)
        return
    place = T.READ_FRAMEBUFFER, point, surface.name, surface.level
    if not surface.layer:
        gl.glFramebufferTexture(*place)
        layered = T.FRAMEBUFFER_ATTACHMENT_LAYERED
        if not _asked(gl.glGetFramebufferAttachmentParameteriv, *place[:2], layered):
            return
    gl.glFramebufferTextureLayer(*place, surface.layer)


def _depths(gl, surface, box):
    form, kind, dtype = _DEPTHS[surface.internal]
    words = pixels(gl, box, form, kind, dtype)
    stencil = None
    if surface.internal == T.DEPTH32F_STENCIL8:
        stencil = (words >> 32 & 0xFF).astype(np.uint8)
        words &= 0xFFFFFFFF
    elif surface.form == Format.D24_UNORM_S8_UINT:
        if surface.has_stencil:
            stencil = (words & 0xFF).astype(np.uint8)
        words = words >> 8
    return Contents(None, words.astype(np.uint32), stencil)


def depth_value(word: int, form: Format) -> np.float32:
    """A depth as it is stored, as a number from 0 to 1."""
    bits = {Format.D16_UNORM: 16, Format.D24_UNORM_S8_UINT: 24}.get(form)
    return np.float32(word / ((1 << bits) - 1)) if bits else np.uint32(word).view(np.float32)


def pixels(
    gl: Functions,
    box: tuple[int, int, int, int],
    form: int,
    kind: int,
    dtype: str,
    channels: int = 1,
) -> np.ndarray:
    """A box of pixels of the framebuffer that is read: x, y, width, height."""
    x, y, width, height = box
    out = np.zeros((height, width, channels), dtype)
    gl.glReadPixels(x, y, width, height, form, kind, out.ctypes.data)
    return out if channels > 1 else out[..., 0]


_PACKING = {
    T.PACK_ALIGNMENT: 1,
    T.PACK_ROW_LENGTH: 0,
    T.PACK_SKIP_ROWS: 0,
    T.PACK_SKIP_PIXELS: 0,
    T.PACK_SWAP_BYTES: 0,
}


@contextmanager
def reading(gl: Functions) -> Iterator[None]:
    """Pixels are read to memory, in rows without gaps; then everything is as it was."""
    packing = {name: gl.integer(name) for name in _PACKING}
    buffer = gl.integer(T.PIXEL_PACK_BUFFER_BINDING)
    framebuffer = gl.integer(T.READ_FRAMEBUFFER_BINDING)
    gl.glBindBuffer(T.PIXEL_PACK_BUFFER, 0)
    for name, value in _PACKING.items():
        gl.glPixelStorei(name, value)
    try:
        yield
    finally:
        gl.glBindBuffer(T.PIXEL_PACK_BUFFER, buffer)
        for name, value in packing.items():
            gl.glPixelStorei(name, value)
        gl.glBindFramebuffer(T.READ_FRAMEBUFFER, framebuffer)
