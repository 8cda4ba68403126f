# SPDX-License-Identifier: BSD-2-Clause
"""Textures that programs of tests upload."""

import numpy as np

from fixfunc.cosim.record import tokens as T
from tests.cosim.record.program import Program, recorded
from tests.cosim.record.test_shaders import begun

CORNERS = [(-0.8, -0.8, 0), (0.8, -0.7, 0.2), (0.1, 0.9, 0.4)]
SIDE = 4
RNG = np.random.default_rng(11)
OCTETS = RNG.integers(0, 256, (SIDE, SIDE, 4), np.uint8)


def upload(gl, internal, data=OCTETS, form="RGBA", kind="UNSIGNED_BYTE", target="TEXTURE_2D"):
    """A texture of one level is on."""
    gl.glGenTextures(1, [5])
    gl.glBindTexture(getattr(T, target), 5)
    gl.glPixelStorei(T.UNPACK_ALIGNMENT, 1)
    gl.glTexImage2D(
        *(getattr(T, target), 0, getattr(T, internal), SIDE, SIDE, 0),
        *(getattr(T, form), getattr(T, kind), np.ascontiguousarray(data).tobytes()),
    )
    smooth(gl, target)
    gl.glEnable(getattr(T, target))


def smooth(gl, target, name="LINEAR"):
    gl.glTexParameteri(getattr(T, target), T.TEXTURE_MIN_FILTER, getattr(T, name))


def frame_with(change):
    gl = Program()
    begun(gl)
    change(gl)
    gl.triangle(CORNERS)
    return recorded(gl)


def solid(n, *shape):
    """Texels of one value."""
    return np.full((*shape, 4), n, np.uint8).tobytes()


def stored(gl, target, level, sides, data):
    """An image of 1, 2 or 3 sides."""
    call = getattr(gl, f"glTexImage{len(sides)}D")
    call(target, level, T.RGBA8, *sides, 0, T.RGBA, T.UNSIGNED_BYTE, data)
