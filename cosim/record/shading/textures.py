# SPDX-License-Identifier: BSD-2-Clause
"""Textures that are bound: each is read where it may have changed, and stored once."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import NamedTuple

import numpy as np

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import Functions
from fixfunc.cosim.record.peel import is_core
from fixfunc.cosim.record.shading.forms import ONE, ZERO, Image, Stored, stored
from fixfunc.cosim.record.shading.samplers import Unrecorded
from fixfunc.cosim.record.targets import reading
from fixfunc.models.texture.texels import DXGI
from fixfunc.models.texture.texture import LAYERS, bytes_of, check_shape
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError

_FACES = [T.TEXTURE_CUBE_MAP_POSITIVE_X + n for n in range(6)]


class Target(NamedTuple):
    """A kind of textures."""

    binding: int
    dimension: int
    is_array: bool = False
    is_cube: bool = False


TARGETS = {
    T.TEXTURE_1D: Target(T.TEXTURE_BINDING_1D, 1),
    T.TEXTURE_2D: Target(T.TEXTURE_BINDING_2D, 2),
    T.TEXTURE_3D: Target(T.TEXTURE_BINDING_3D, 3),
    T.TEXTURE_RECTANGLE: Target(T.TEXTURE_BINDING_RECTANGLE, 2),
    T.TEXTURE_CUBE_MAP: Target(T.TEXTURE_BINDING_CUBE_MAP, 2, is_cube=True),
    T.TEXTURE_1D_ARRAY: Target(T.TEXTURE_BINDING_1D_ARRAY, 1, is_array=True),
    T.TEXTURE_2D_ARRAY: Target(T.TEXTURE_BINDING_2D_ARRAY, 2, is_array=True),
    T.TEXTURE_CUBE_MAP_ARRAY: Target(T.TEXTURE_BINDING_CUBE_MAP_ARRAY, 2, True, True),
}
_CHANNELS = {"R": "RED", "G": "GREEN", "B": "BLUE", "A": "ALPHA", "L": "LUMINANCE"}
_CHANNELS |= {"I": "INTENSITY", "D": "DEPTH"}
_SWIZZLES = {T.RED + n: n for n in range(4)} | {T.ZERO: ZERO, T.ONE: ONE}
_PACKING = T.PACK_IMAGE_HEIGHT, T.PACK_SKIP_IMAGES


class Textures:
    """Textures of one context, as they are asked for.

    Parameters
    ----------
    gl : Functions

    Attributes
    ----------
    rows : list of dict
        Fields of :data:`fixfunc.cosim.recorded.frame.TEXTURE`, but what ``converted`` is in words.
    octets : list of ndarray of uint8
        Of each.
    """

    def __init__(self, gl: Functions) -> None:
        self._gl = gl
        self._known: dict[tuple, int] = {}  # since something may have changed
        self._stored: dict[tuple, int] = {}  # by what they hold
        self._end = 0
        self.rows: list[dict] = []
        self.octets: list[np.ndarray] = []

    def changed(self) -> None:
        """Any texture may hold something else."""
        self._known.clear()

    def number(self, target: int, has_levels: bool) -> int:
        """The texture that is bound to a target of the active unit; -1, if it is incomplete.

        Raises
        ------
        Unrecorded
            One that D3D11 has not.
        """
        gl = self._gl
        levels = self._levels(target, has_levels)
        if not levels:
            return -1
        # Of a texture these may change without it.
        state = tuple(
            _parameter(gl, target, name)
            for name in (
                T.TEXTURE_BASE_LEVEL,
                T.DEPTH_STENCIL_TEXTURE_MODE,
                T.TEXTURE_SRGB_DECODE_EXT,
            )
        )
        swizzle = _parameters(gl, target, T.TEXTURE_SWIZZLE_RGBA)
        depth_mode = T.RED if is_core(gl) else _parameter(gl, target, T.DEPTH_TEXTURE_MODE)
        name = gl.integer(TARGETS[target].binding)
        key = target, name, len(levels), state, swizzle, depth_mode
        if key not in self._known:
            self._known[key] = self._read(target, levels, state, swizzle, depth_mode)
        return self._known[key]

    def _levels(self, target, has_levels):
        """Numbers and sizes of levels that a sampler may read, none of an incomplete texture."""
        gl = self._gl
        base, last = (
            _parameter(gl, target, name) for name in (T.TEXTURE_BASE_LEVEL, T.TEXTURE_MAX_LEVEL)
        )
        if not TARGETS[target].is_cube or TARGETS[target].is_array:
            faces = [target]
        else:
            faces = _FACES
        size = _size(gl, faces[0], base)
        if not min(size) or any(_size(gl, face, base) != size for face in faces):
            return []
        found = [(base, size)]
        internal = _of_level(gl, faces[0], base, T.TEXTURE_INTERNAL_FORMAT)
        halved = TARGETS[target].dimension  # axes; layers stay
        while found[-1][0] < last:
            level, size = found[-1]
            if max(size[:halved]) == 1:
                break
            wanted = tuple(max(s >> 1, 1) if n < halved else s for n, s in enumerate(size))
            if any(
                _size(gl, face, level + 1) != wanted
                or _of_level(gl, face, level + 1, T.TEXTURE_INTERNAL_FORMAT) != internal
                for face in faces
            ):
                return [] if has_levels else found
            found.append((level + 1, wanted))
        return found

    def _read(self, target, levels, state, swizzle, depth_mode):
        """A texture's number, by what it holds."""
        gl = self._gl
        _, stencil_mode, decode = state
        kind = TARGETS[target]
        image_target = _FACES[0] if kind.is_cube and not kind.is_array else target
        image = _image(gl, image_target, levels[0][0], depth_mode)
        if image.channels == "D" and stencil_mode == T.STENCIL_INDEX:
            raise Unrecorded("a texture of stencil values")
        how = stored(image)
        form = how.form
        if decode == T.SKIP_DECODE_EXT:
            form = Format[form.name.removesuffix("_SRGB")]
        width, height, depth = levels[0][1]
        layers = 6 if kind.is_cube else 1
        if kind.is_array:
            layers, height, depth = (height, 1, 1) if kind.dimension == 1 else (depth, height, 1)
        _check(form, width, height, depth, len(levels), layers, kind.is_cube)
        with _packed(gl):
            parts = [_texels(gl, target, level, size, how, layers) for level, size in levels]
        data = np.concatenate([part[layer] for layer in range(layers) for part in parts])
        places = (*how.swizzle, ZERO, ONE)
        row = {
            "form": form,
            "dimension": kind.dimension,
            "cube": kind.is_cube,
            "rectangle": target == T.TEXTURE_RECTANGLE,
            "width": width,
            "height": height,
            "depth": depth,
            "levels": len(levels),
            "layers": layers,
            "swizzle": tuple(places[_SWIZZLES[one]] for one in swizzle),
            "base": how.base,
            "converted": _words(image) if how.is_converted else "",
        }
        key = (*row.values(), sha256(data).digest())
        if key not in self._stored:
            self._stored[key] = len(self.rows)
            self.rows.append(row | {"first": self._end})
            self.octets.append(data)
            self._end += len(data)
        return self._stored[key]


def _check(form, width, height, depth, levels, layers, is_cube):
    try:
        check_shape(DXGI[form][0], width, height, levels, 6 if is_cube else 1, depth)
    except InputError as error:
        raise Unrecorded(f"a texture of {width} x {height} x {depth}: {error}") from error
    if layers > LAYERS:
        raise Unrecorded(f"a texture of {layers} layers")


def _parameters(gl, target, name):
    out = (ctypes.c_int * 4)()
    gl.glGetTexParameteriv(target, name, ctypes.addressof(out))
    return tuple(out)


def _parameter(gl, target, name):
    return _parameters(gl, target, name)[0]


def _of_level(gl, target, level, name):
    out = ctypes.c_int()
    gl.glGetTexLevelParameteriv(target, level, name, ctypes.addressof(out))
    return out.value


def _size(gl, target, level):
    names = T.TEXTURE_WIDTH, T.TEXTURE_HEIGHT, T.TEXTURE_DEPTH
    return tuple(_of_level(gl, target, level, name) for name in names)


def _image(gl, target, level, depth_mode):
    """What OpenGL says of an image."""
    sizes = {
        letter: _of_level(gl, target, level, getattr(T, f"TEXTURE_{word}_SIZE"))
        for letter, word in _CHANNELS.items()
    }
    channels = "".join(letter for letter, size in sizes.items() if size)
    channels = {"AL": "LA"}.get(channels, channels)
    first = _CHANNELS.get(channels[:1], "RED")
    return Image(
        _of_level(gl, target, level, T.TEXTURE_INTERNAL_FORMAT),
        channels,
        tuple(sizes[letter] for letter in channels),
        _of_level(gl, target, level, getattr(T, f"TEXTURE_{first}_TYPE")),
        bool(_of_level(gl, target, level, T.TEXTURE_COMPRESSED)),
        depth_mode,
    )


def _words(image):
    """An image's format in words."""
    return f"{image.channels} of {', '.join(map(str, image.bits))} bits, {image.internal:#06x}"


def _texels(gl, target, level, size, how: Stored, layers):
    """Bytes of a level by layer or face."""
    width, height, depth = size
    kind = TARGETS[target]
    if kind.is_array:
        height, depth = (1, 1) if kind.dimension == 1 else (height, 1)
    count = bytes_of(DXGI[how.form][0], width, height) * depth
    out = np.zeros((layers, count), np.uint8)
    by_face = kind.is_cube and not kind.is_array
    for n, face in enumerate(_FACES if by_face else [target]):
        address = out[n:].ctypes.data
        if how.read is None:
            gl.glGetCompressedTexImage(face, level, address)
        else:
            gl.glGetTexImage(face, level, *how.read, address)
    if how.form == Format.R24_UNORM_X8_TYPELESS:
        out = (out.view("<u4") >> 8).view(np.uint8)
    return out


@contextmanager
def _packed(gl) -> Iterator[None]:
    """Pixels are read to memory, slices without gaps, too; then everything is as it was."""
    before = [gl.integer(name) for name in _PACKING]
    with reading(gl):
        for name in _PACKING:
            gl.glPixelStorei(name, 0)
        try:
            yield
        finally:
            for name, value in zip(_PACKING, before, strict=True):
                gl.glPixelStorei(name, value)
