# SPDX-License-Identifier: BSD-2-Clause
"""State of OpenGL's samplers in D3D11's names."""

import ctypes
from collections.abc import Callable

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import Functions
from fixfunc.cosim.record.state import COMPARES
from fixfunc.cosim.recorded.frame import Address

# OpenGL's filters of minification -> that between texels, and that between levels or None.
_MINIFY = {
    T.NEAREST: (0, None),
    T.LINEAR: (1, None),
    T.NEAREST_MIPMAP_NEAREST: (0, 0),
    T.LINEAR_MIPMAP_NEAREST: (1, 0),
    T.NEAREST_MIPMAP_LINEAR: (0, 1),
    T.LINEAR_MIPMAP_LINEAR: (1, 1),
}
_ADDRESSES = {
    T.REPEAT: Address.WRAP,
    T.MIRRORED_REPEAT: Address.MIRROR,
    T.CLAMP_TO_EDGE: Address.CLAMP,
    T.CLAMP_TO_BORDER: Address.BORDER,
    T.MIRROR_CLAMP_TO_EDGE: Address.MIRROR_ONCE,
}
# Between texels only: a level beyond 0 magnifies nothing, and the nearest one is 0 [fs 7.18.10].
_WITHOUT_LEVELS = 0.25
_BIAS = -16.0, 15.99  # what D3D11 has


class Unrecorded(Exception):
    """What fragments are made of cannot be carried: what they need, in words."""


def sampler(gl: Functions, target: int, unit_bias: float) -> tuple[dict, bool]:
    """The sampler of the active unit: fields of :data:`fixfunc.cosim.recorded.frame.SAMPLER`.

    Parameters
    ----------
    gl : Functions
    target : int
        Of the texture, whose own state counts where no sampler object is bound.
    unit_bias : float
        Of levels of detail, that of the unit.

    Returns
    -------
    dict
    bool
        It reads more than one level.

    Raises
    ------
    Unrecorded
        A way to wrap that D3D11 has not.
    """
    ask, ask_float = _asked(gl, target)
    minify, mip = _MINIFY[ask(T.TEXTURE_MIN_FILTER)]
    magnify = int(ask(T.TEXTURE_MAG_FILTER) == T.LINEAR)
    clamped = 0
    addresses = []
    for axis, name in enumerate((T.TEXTURE_WRAP_S, T.TEXTURE_WRAP_T, T.TEXTURE_WRAP_R)):
        mode = ask(name)
        if mode == T.CLAMP:
            # Half of a border, where texels are mixed; else its edge.
            if minify != magnify:
                raise Unrecorded("GL_CLAMP, with one filter of two that mixes texels")
            addresses.append(Address.BORDER if minify else Address.CLAMP)
            clamped |= minify << axis
        elif mode in _ADDRESSES:
            addresses.append(_ADDRESSES[mode])
        else:
            raise Unrecorded(f"texture coordinates that wrap as OpenGL's {mode:#06x}")
    (low,), (high,), (bias,), (most,) = (
        ask_float(name, 1)
        for name in (
            *(T.TEXTURE_MIN_LOD, T.TEXTURE_MAX_LOD, T.TEXTURE_LOD_BIAS),
            T.TEXTURE_MAX_ANISOTROPY,
        )
    )
    if mip is None:
        low, high = min(low, 0.0), min(max(high, 0.0), _WITHOUT_LEVELS)
    fields = {
        "min_filter": minify,
        "mag_filter": magnify,
        "mip_filter": mip or 0,
        "address": addresses,
        "clamped": clamped,
        "border": ask_float(T.TEXTURE_BORDER_COLOR, 4),
        "bias": min(max(bias + unit_bias, _BIAS[0]), _BIAS[1]),
        "min_lod": low,
        "max_lod": high,
        "anisotropy": min(max(int(most), 1), 16),
        "comparison": ask(T.TEXTURE_COMPARE_MODE) == T.COMPARE_REF_TO_TEXTURE,
        "comparison_func": COMPARES[ask(T.TEXTURE_COMPARE_FUNC)],
    }
    return fields, mip is not None


def _asked(gl, target) -> tuple[Callable[[int], int], Callable[[int, int], list[float]]]:
    """What asks for integers, and for floats, of the sampler or of the texture."""
    own = gl.integer(T.SAMPLER_BINDING)
    integers, floats, about = (
        (gl.glGetSamplerParameteriv, gl.glGetSamplerParameterfv, own)
        if own
        else (gl.glGetTexParameteriv, gl.glGetTexParameterfv, target)
    )

    def ask(name):
        out = (ctypes.c_int * 4)()
        integers(about, name, ctypes.addressof(out))
        return out[0]

    def ask_float(name, count):
        out = (ctypes.c_float * 4)()
        floats(about, name, ctypes.addressof(out))
        return list(out[:count])

    return ask, ask_float
