# SPDX-License-Identifier: BSD-2-Clause
"""Contexts of OpenGL without a window, on Mesa's llvmpipe, and the functions of OpenGL."""

import ctypes
import os
from collections.abc import Callable, Mapping
from ctypes import c_char_p, c_int, c_uint, c_void_p
from functools import cache
from typing import Any, NamedTuple

from fixfunc.cosim.record import tokens
from fixfunc.cosim.toolchain import ToolError

# Tokens of EGL 1.5.
_OPENGL_API = 0x30A2
_NONE = 0x3038
_SURFACE_TYPE, _PBUFFER = 0x3033, 1
_RENDERABLE_TYPE, _OPENGL = 0x3040, 8
_MAJOR, _MINOR, _PROFILE = 0x3098, 0x30FB, 0x30FD
_CORE = 1


class Version(NamedTuple):
    """What a program asks of its context."""

    major: int = 1
    minor: int = 0
    core: bool = False


class Signature(NamedTuple):
    """Types of a function of OpenGL, as ctypes has them; pointers are addresses."""

    result: Any
    arguments: tuple
    elements: tuple  # of each argument: what a pointer points to, or None
    names: tuple[str, ...]


@cache
def signatures() -> Mapping[str, Signature]:
    """Every function of OpenGL that PyOpenGL knows, by name."""
    return {
        name: _signature(function)
        for name, function in tokens.members().items()
        if name.startswith("gl") and hasattr(function, "argtypes")
    }


def _signature(function):
    passed = [_passed(kind) for kind in function.argtypes]
    result = _passed(function.restype)[0] if function.restype else None
    names = tuple(function.argNames)
    return Signature(result, tuple(p for p, _ in passed), tuple(e for _, e in passed), names)


def _passed(kind):
    """How a type of PyOpenGL is passed, and what it points to."""
    if isinstance(kind, type) and issubclass(kind, c_char_p):
        return c_void_p, ctypes.c_char
    if isinstance(kind, type) and issubclass(kind, ctypes._SimpleCData):
        return kind, None
    name = getattr(kind, "__name__", "")
    if name.startswith("GL") and name.endswith("Array"):
        from OpenGL import constants

        return c_void_p, getattr(constants, name.removesuffix("Array"), None)
    element = getattr(kind, "_type_", None)
    return c_void_p, element if isinstance(element, type) else None


class Functions:
    """Functions of OpenGL of the current context: ``gl.glClear(mask)``; pointers are addresses.

    Nothing is checked behind a call; ``glGetError`` tells.
    """

    def __init__(self, egl: ctypes.CDLL) -> None:
        self._address = egl.eglGetProcAddress

    def __getattr__(self, name: str) -> Callable:
        signature = signatures().get(name)
        address = self._address(name.encode()) if signature else None
        if not address:
            raise ToolError(f"{name} is missing: neither Mesa's EGL nor PyOpenGL has it")
        kind = ctypes.CFUNCTYPE(signature.result, *signature.arguments)
        function = kind(address)
        setattr(self, name, function)
        return function

    def integers(self, name: int, count: int = 1) -> list[int]:
        """What ``glGetIntegerv`` says."""
        out = (c_int * 16)()
        self.glGetIntegerv(name, ctypes.addressof(out))
        return list(out[:count])

    def integer(self, name: int) -> int:
        """The same of one."""
        return self.integers(name)[0]

    def floats(self, name: int, count: int) -> list[float]:
        """What ``glGetFloatv`` says."""
        out = (ctypes.c_float * 16)()
        self.glGetFloatv(name, ctypes.addressof(out))
        return list(out[:count])

    def name(self, kind: str) -> int:
        """A new name of an object: ``kind`` as in ``glGenBuffers``."""
        out = c_uint()
        getattr(self, f"glGen{kind}")(1, ctypes.addressof(out))
        return out.value


class Screen:
    """A display of EGL without windows; its contexts become current in this thread.

    What was current before is again when the ``with`` statement ends.

    Attributes
    ----------
    gl : Functions
    """

    def __init__(self) -> None:
        os.environ.update(tokens.SOFTWARE)
        self._egl = _library()
        self.gl = Functions(self._egl)
        self._display = self._egl.eglGetDisplay(None)
        self._contexts: list[int] = []

    def __enter__(self) -> "Screen":
        egl = self._egl
        if not egl.eglInitialize(self._display, None, None):
            raise ToolError("EGL has no display: type 'apt-get install libegl1 libgl1-mesa-dri'")
        self._before = egl.eglGetCurrentContext(), egl.eglQueryAPI()
        egl.eglBindAPI(_OPENGL_API)
        return self

    def __exit__(self, *_error: object) -> None:
        egl = self._egl
        egl.eglMakeCurrent(self._display, None, None, None)
        for context in self._contexts:
            egl.eglDestroyContext(self._display, context)
        context, api = self._before
        egl.eglBindAPI(api)
        if context:
            egl.eglMakeCurrent(self._display, None, None, context)

    def create(self, version: Version, shared: int | None = None) -> int:
        """A context, which shares objects with another."""
        wanted = [_MAJOR, version.major, _MINOR, version.minor]
        if version.core:
            wanted += [_PROFILE, _CORE]
        context = self._egl.eglCreateContext(
            self._display, self._config(), shared, _integers(*wanted, _NONE)
        )
        if not context:
            raise ToolError(f"Mesa has no OpenGL {version.major}.{version.minor} here")
        self._contexts.append(context)
        return context

    def make_current(self, context: int) -> None:
        """Calls go to this context."""
        if not self._egl.eglMakeCurrent(self._display, None, None, context):
            raise ToolError("EGL has no contexts without a surface: Mesa is older than 10.4")

    def _config(self):
        found = c_void_p()
        count = c_int()
        wanted = _integers(_SURFACE_TYPE, _PBUFFER, _RENDERABLE_TYPE, _OPENGL, _NONE)
        self._egl.eglChooseConfig(
            self._display, wanted, ctypes.byref(found), 1, ctypes.byref(count)
        )
        return found


def _integers(*values):
    return (c_int * len(values))(*values)


@cache
def _library():
    """EGL, its functions with their types."""
    try:
        egl = ctypes.CDLL("libEGL.so.1")
    except OSError as error:
        text = "libEGL.so.1 is missing: type 'apt-get install libegl1 libgl1-mesa-dri'"
        raise ToolError(text) from error
    pointers = {
        "eglGetProcAddress": [c_char_p],
        "eglGetDisplay": [c_void_p],
        "eglCreateContext": [c_void_p] * 4,
        "eglGetCurrentContext": [],
    }
    numbers = {
        "eglInitialize": [c_void_p] * 3,
        "eglChooseConfig": [c_void_p, c_void_p, c_void_p, c_int, c_void_p],
        "eglMakeCurrent": [c_void_p] * 4,
        "eglDestroyContext": [c_void_p] * 2,
        "eglBindAPI": [c_uint],
        "eglQueryAPI": [],
    }
    for result, functions in ((c_void_p, pointers), (c_uint, numbers)):
        for name, arguments in functions.items():
            function = getattr(egl, name)
            function.restype = result
            function.argtypes = arguments
    return egl
