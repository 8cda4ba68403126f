# SPDX-License-Identifier: BSD-2-Clause
"""OpenGL's tokens by name, as ``tokens.RGBA8``, and its functions, as PyOpenGL has them.

PyOpenGL is read alone: it neither makes calls here nor checks any.
"""

import importlib
import os
import pkgutil
from collections.abc import Mapping
from functools import cache
from typing import Any

# Before libEGL and PyOpenGL are loaded: a driver that draws in software, and no window system.
SOFTWARE = {
    "LIBGL_ALWAYS_SOFTWARE": "1",
    "GALLIUM_DRIVER": "llvmpipe",
    "EGL_PLATFORM": "surfaceless",
    "PYOPENGL_PLATFORM": "egl",
}


@cache
def members() -> Mapping[str, Any]:
    """What PyOpenGL declares of every version and extension, by name."""
    os.environ.update(SOFTWARE)
    import OpenGL.raw.GL as raw

    found = {}
    for module in pkgutil.walk_packages(raw.__path__, "OpenGL.raw.GL."):
        try:
            found |= vars(importlib.import_module(module.name))
        except AttributeError:  # of two extensions PyOpenGL lacks a type
            continue
    return found


def __getattr__(name: str) -> int:
    value = members().get(f"GL_{name}")
    if value is None:
        raise AttributeError(f"OpenGL has no token {name}")
    return int(value)
