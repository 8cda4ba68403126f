# SPDX-License-Identifier: BSD-2-Clause
"""Texture files: containers by the golden model, pictures by Pillow."""

from pathlib import Path

import numpy as np
from PIL import Image

from fixfunc.models.texture import container
from fixfunc.models.texture.texture import Texture, check_shape, of_picture
from fixfunc.spec.errors import InputError


def load(path: str | Path) -> Texture:
    """A texture from a file: DDS, KTX2, or a picture and its smaller levels.

    Its colours are taken as they are.
    """
    if Path(path).suffix.lower() not in (".dds", ".ktx2", ".png"):
        raise InputError("texture", "be a file .dds, .ktx2, .png", path)
    if not Path(path).is_file():
        raise InputError("texture", "be a file that exists", path)
    if Path(path).suffix.lower() != ".png":
        return container.read(path)
    try:
        with Image.open(path) as picture:
            check_shape("RGBA8", *picture.size, 1, 1)
            return of_picture(np.asarray(picture.convert("RGBA")), srgb=False)
    except (OSError, SyntaxError) as error:
        raise InputError("texture", "be a PNG that can be read", f"{path}: {error}") from error
