# SPDX-License-Identifier: BSD-2-Clause
"""Textures of scenes, whose colours are sRGB: PNG, JPEG by Pillow, DDS, KTX2 by the model."""

import io

from fixfunc.cosim.frame import texture
from fixfunc.models.texture import container
from fixfunc.models.texture.texels import DXGI, WITH_SRGB
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.dxgi import Format

_FORMATS = {found: form for form, found in reversed(DXGI.items())}


def read(name: str, data: bytes) -> Texture:
    """A texture of a file's bytes, whichever kind they are of.

    Parameters
    ----------
    name : str
        For errors.
    data : bytes

    Raises
    ------
    InputError
        What cannot be read, is no 2D picture, or is of integers.
    """
    if not container.is_container(data):
        return texture.picture(io.BytesIO(data), name, srgb=True)
    found = container.read_stream(name, io.BytesIO(data))
    texture.check(found, name)
    return found._replace(srgb=found.format in WITH_SRGB)


def format_of(found: Texture) -> Format:
    """The format of a resource that holds a texture."""
    return _FORMATS[found.format, found.srgb]
