# SPDX-License-Identifier: BSD-2-Clause
"""Texture files: containers by the golden model, pictures by Pillow."""

import warnings
from pathlib import Path
from typing import BinaryIO

import numpy as np
from PIL import Image

from fixfunc.models.texture import container
from fixfunc.models.texture.texture import Texture, check_shape, of_picture
from fixfunc.spec.errors import InputError


def load(path: str | Path) -> Texture:
    """A texture that fits around a mesh, from a file: DDS, KTX2, or a picture and smaller levels.

    Its colours are taken as they are.

    Raises
    ------
    InputError
        No such file, or one that cannot be read; a texture that is no 2D picture, or of integers.
    """
    if Path(path).suffix.lower() not in (".dds", ".ktx2", ".png"):
        raise InputError("texture", "be a file .dds, .ktx2, .png", path)
    if not Path(path).is_file():
        raise InputError("texture", "be a file that exists", path)
    if Path(path).suffix.lower() == ".png":
        with Path(path).open("rb") as stream:
            return picture(stream, path, srgb=False)
    texture = container.read(path)
    check(texture, path)
    return texture


def check(texture: Texture, name: str | Path) -> None:
    """Raise ``InputError`` for what is no 2D picture, or of integers."""
    if (texture.dimension, texture.faces, texture.layers) != (2, 1, 1):
        rule = "be one 2D picture around the mesh"
        raise InputError("texture", rule, f"{name}, {_kind(texture)}")
    if texture.texel_format.is_integer:
        rule = "be of a format that is filtered"
        raise InputError("texture", rule, f"{name}, of {texture.format}")


def _kind(texture):
    """What a texture is that does not fit around a mesh."""
    if texture.faces == 6:
        return "a cube"
    return f"a texture of {texture.dimension} dimensions and {texture.layers} layers"


def picture(stream: BinaryIO, name: str | Path, srgb: bool) -> Texture:
    """A picture that Pillow reads, and smaller levels; whatever it meets in one is one error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            opened = Image.open(stream, formats=("PNG", "JPEG"))
        with opened:
            check_shape("RGBA8", *opened.size, 1, 1)
            return of_picture(np.asarray(opened.convert("RGBA")), srgb)
    except InputError as error:
        raise InputError(f"{Path(name).name}: {error.field}", error.rule, error.value) from error
    except Exception as error:
        raise InputError("texture", "be a PNG that can be read", f"{name}: {error}") from error
