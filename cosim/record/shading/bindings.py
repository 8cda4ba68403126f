# SPDX-License-Identifier: BSD-2-Clause
"""Which textures and samplers a draw can use, and the state of the fixed functions of fragments."""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import Functions
from fixfunc.cosim.record.peel import is_core
from fixfunc.cosim.record.shading.samplers import Unrecorded, sampler
from fixfunc.cosim.record.shading.textures import TARGETS, Textures
from fixfunc.cosim.recorded.frame import Environment, Fog

# Targets of a unit of the fixed functions: the first that is enabled counts.
_FIXED = T.TEXTURE_CUBE_MAP, T.TEXTURE_3D, T.TEXTURE_RECTANGLE, T.TEXTURE_2D, T.TEXTURE_1D
_ENVIRONMENTS = {
    T.MODULATE: Environment.MODULATE,
    T.REPLACE: Environment.REPLACE,
    T.DECAL: Environment.DECAL,
    T.ADD: Environment.ADD,
}
_OTHERS = {T.BLEND: "GL_BLEND", T.COMBINE: "GL_COMBINE"}
_FOGS = {T.LINEAR: Fog.LINEAR, T.EXP: Fog.EXP, T.EXP2: Fog.EXP2}
_LONGEST = 256  # bytes of a name


class Use(NamedTuple):
    """A texture that a draw can sample."""

    name: str  # of a program's sampler
    unit: int
    texture: int  # -1: an incomplete one
    sampler: dict
    environment: Environment = Environment.SHADER


class Uniform(NamedTuple):
    """A sampler of a program."""

    name: str
    location: int
    target: int  # of a texture; 0 of none that can be recorded


def enabled_units(gl: Functions) -> dict[int, int]:
    """Units of the fixed functions that are on, and their targets."""
    found = {}
    for unit in range(gl.integer(T.MAX_TEXTURE_UNITS)):
        gl.glActiveTexture(T.TEXTURE0 + unit)
        target = next((target for target in _FIXED if gl.glIsEnabled(target)), None)
        if target:
            found[unit] = target
    return found


def fixed(gl: Functions, textures: Textures) -> Iterator[Use]:
    """What fixed functions sample, unit by unit; an incomplete texture turns its unit off."""
    for unit, target in enabled_units(gl).items():
        use = _use(gl, textures, unit, target, "")
        if use.texture < 0:
            continue
        mode = ctypes.c_int()
        gl.glGetTexEnviv(T.TEXTURE_ENV, T.TEXTURE_ENV_MODE, ctypes.addressof(mode))
        if mode.value not in _ENVIRONMENTS:
            name = _OTHERS.get(mode.value, f"{mode.value:#06x}")
            raise Unrecorded(f"a texture environment {name}")
        yield use._replace(environment=_ENVIRONMENTS[mode.value])


def of_program(gl: Functions, textures: Textures, uniforms: list[Uniform]) -> Iterator[Use]:
    """What a program's samplers are set to."""
    program = gl.integer(T.CURRENT_PROGRAM)
    for uniform in uniforms:
        if not uniform.target:
            raise Unrecorded(f"a sampler of buffers or of several samples, {uniform.name}")
        unit = ctypes.c_int()
        gl.glGetUniformiv(program, uniform.location, ctypes.addressof(unit))
        yield _use(gl, textures, unit.value, uniform.target, uniform.name)


def _use(gl, textures, unit, target, name):
    gl.glActiveTexture(T.TEXTURE0 + unit)
    bias = ctypes.c_float()
    if not is_core(gl):
        gl.glGetTexEnvfv(T.TEXTURE_FILTER_CONTROL, T.TEXTURE_LOD_BIAS, ctypes.addressof(bias))
    state, has_levels = sampler(gl, target, bias.value)
    return Use(name, unit, textures.number(target, has_levels), state)


def uniforms(gl: Functions, program: int) -> list[Uniform]:
    """Samplers of a program that has been linked."""
    count, size, token = ctypes.c_int(), ctypes.c_int(), ctypes.c_uint()
    name = ctypes.create_string_buffer(_LONGEST)
    gl.glGetProgramiv(program, T.ACTIVE_UNIFORMS, ctypes.addressof(count))
    found = []
    for n in range(count.value):
        gl.glGetActiveUniform(
            *(program, n, _LONGEST, None),
            *(ctypes.addressof(it) for it in (size, token, name)),
        )
        if token.value not in _SAMPLERS:
            continue
        whole = name.value.decode()
        base = whole.removesuffix("[0]")
        for element in range(size.value):
            of_element = f"{base}[{element}]" if whole != base else base
            place = ctypes.create_string_buffer(of_element.encode())
            location = gl.glGetUniformLocation(program, ctypes.addressof(place))
            found.append(Uniform(of_element, location, _SAMPLERS[token.value]))
    return found


def _samplers():
    """Types of samplers: their targets, 0 of those that cannot be recorded."""
    found = {}
    kinds = {
        "1D": T.TEXTURE_1D,
        "2D": T.TEXTURE_2D,
        "3D": T.TEXTURE_3D,
        "CUBE": T.TEXTURE_CUBE_MAP,
        "2D_RECT": T.TEXTURE_RECTANGLE,
        "1D_ARRAY": T.TEXTURE_1D_ARRAY,
        "2D_ARRAY": T.TEXTURE_2D_ARRAY,
        "CUBE_MAP_ARRAY": T.TEXTURE_CUBE_MAP_ARRAY,
        "2D_MULTISAMPLE": 0,
        "2D_MULTISAMPLE_ARRAY": 0,
        "BUFFER": 0,
    }
    for kind, target in kinds.items():
        for before in ("", "INT_", "UNSIGNED_INT_"):
            found[getattr(T, f"{before}SAMPLER_{kind}")] = target
        if target and kind != "3D":
            found[getattr(T, f"SAMPLER_{kind}_SHADOW")] = target
    return found


_SAMPLERS = _samplers()


def fog(gl: Functions) -> dict:
    """Fields of :data:`fixfunc.cosim.recorded.frame.SHADING` of fog."""
    if not gl.glIsEnabled(T.FOG):
        return {}
    (density,), (start,), (end,) = (
        gl.floats(name, 1) for name in (T.FOG_DENSITY, T.FOG_START, T.FOG_END)
    )
    return {
        "fog": _FOGS[gl.integer(T.FOG_MODE)],
        "fog_colour": gl.floats(T.FOG_COLOR, 4),
        "fog_density": density,
        "fog_start": start,
        "fog_end": end,
    }


@contextmanager
def active_unit(gl: Functions) -> Iterator[None]:
    """Units are asked of; then the active one is as it was, and no error is left."""
    before = gl.integer(T.ACTIVE_TEXTURE)
    try:
        yield
    finally:
        gl.glActiveTexture(before)
        while gl.glGetError():
            pass


assert all(target in TARGETS for target in _SAMPLERS.values() if target)
