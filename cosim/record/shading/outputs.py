# SPDX-License-Identifier: BSD-2-Clause
"""What a program's vertex shader puts out: it is linked so that all of it can be fed back."""

import ctypes
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import Functions
from fixfunc.cosim.recorded.frame import Interpolation, Kind, Location

POSITION = "gl_Position"
_LONGEST = 256  # bytes of a name
# They say nothing to a fragment.
_OTHERS = {
    *("gl_Position", "gl_PointSize", "gl_ClipVertex", "gl_ClipDistance", "gl_CullDistance"),
    *("gl_Layer", "gl_ViewportIndex", "gl_EdgeFlag"),
}
# As Mesa names what it has split.
_SPLIT = re.compile(r"gl_out_TexCoord(\d+)$")
_UNDECLARED = re.compile(r"varying (\S+) undeclared")


class Output(NamedTuple):
    """A vector that goes from vertices to fragments: an array, or a matrix, has several."""

    name: str
    kind: Kind = Kind.FLOAT
    components: int = 4
    interpolation: Interpolation = Interpolation.PERSPECTIVE
    location: Location = Location.CENTRE


def feed_back(gl: Functions, program: int, names: Sequence[str]) -> None:
    """What a program is linked with next puts its position into buffers, and what is named."""
    octets = [name.encode() for name in (POSITION, *names)]
    words = (ctypes.c_char_p * len(octets))(*octets)
    gl.glTransformFeedbackVaryings(
        program, len(octets), ctypes.addressof(words), T.INTERLEAVED_ATTRIBS
    )


def settle(gl: Functions, program: int, shaders: Sequence[int]) -> bool:
    """What a program is linked with next puts its position out, and all else that it can.

    Parameters
    ----------
    gl : Functions
    program : int
        It is linked, to know; it will be again.
    shaders : sequence of int
        Vertex shaders of it.

    Returns
    -------
    bool
        Nothing but the position is put out: OpenGL has no room for all, or refuses.
    """
    names = _names(gl, shaders)
    while names:
        feed_back(gl, program, names)
        gl.glLinkProgram(program)
        if _of_program(gl, program, T.LINK_STATUS):
            return False
        # What is declared, and never written.
        lacks = set(_UNDECLARED.findall(_log(gl, program)))
        if not lacks & set(names):
            feed_back(gl, program, ())
            return True
        names = [name for name in names if name not in lacks]
    feed_back(gl, program, ())
    return False


def _names(gl, shaders):
    """What a program of vertex shaders alone puts out: nothing of it is left out."""
    if not gl.glIsShader(shaders[0]):
        return []
    program = gl.glCreateProgram()
    gl.glProgramParameteri(program, T.PROGRAM_SEPARABLE, 1)
    for shader in shaders:
        gl.glAttachShader(program, shader)
    gl.glLinkProgram(program)
    names = []
    if _of_program(gl, program, T.LINK_STATUS):
        count = ctypes.c_int()
        gl.glGetProgramInterfaceiv(
            program, T.PROGRAM_OUTPUT, T.ACTIVE_RESOURCES, ctypes.addressof(count)
        )
        names = [_resource(gl, program, n) for n in range(count.value)]
    gl.glDeleteProgram(program)
    names = [_SPLIT.sub(r"gl_TexCoord[\1]", name.removesuffix("[0]")) for name in names]
    return sorted(name for name in names if name not in _OTHERS)


def _resource(gl, program, number):
    name = ctypes.create_string_buffer(_LONGEST)
    gl.glGetProgramResourceName(
        program, T.PROGRAM_OUTPUT, number, _LONGEST, None, ctypes.addressof(name)
    )
    return name.value.decode()


def _of_program(gl, program, what):
    out = ctypes.c_int()
    gl.glGetProgramiv(program, what, ctypes.addressof(out))
    return out.value


def _log(gl, program):
    text = ctypes.create_string_buffer(1 << 12)
    gl.glGetProgramInfoLog(program, len(text), None, ctypes.addressof(text))
    return text.value.decode(errors="replace")


def outputs(gl: Functions, program: int, text: str) -> list[Output]:
    """What a program feeds back behind its position, in order.

    Parameters
    ----------
    gl : Functions
    program : int
        It has been linked.
    text : str
        Of its shaders, which alone says how something is interpolated.
    """
    return [
        vector
        for n in range(1, _of_program(gl, program, T.TRANSFORM_FEEDBACK_VARYINGS))
        for vector in _vectors(gl, program, n, text)
    ]


def _vectors(gl, program, number, text) -> Iterator[Output]:
    octets = ctypes.create_string_buffer(_LONGEST)
    size, token = ctypes.c_int(), ctypes.c_uint()
    gl.glGetTransformFeedbackVarying(
        *(program, number, _LONGEST, None),
        *(ctypes.addressof(it) for it in (size, token, octets)),
    )
    name = octets.value.decode()
    kind, components, columns = _TYPES.get(token.value, (Kind.FLOAT, 4, 1))
    how = qualifiers(text, name)
    if kind != Kind.FLOAT:
        how = Interpolation.CONSTANT, Location.CENTRE
    for element in range(size.value):
        of_element = f"{name}[{element}]" if size.value > 1 else name
        for column in range(columns):
            whole = f"{of_element}[{column}]" if columns > 1 else of_element
            yield Output(whole, kind, components, *how)


def _types():
    """Types of OpenGL: what components are, how many, and how many vectors."""
    found = {}
    for kind, scalar, vector in (
        (Kind.FLOAT, T.FLOAT, "FLOAT_VEC"),
        (Kind.INT, T.INT, "INT_VEC"),
        (Kind.UINT, T.UNSIGNED_INT, "UNSIGNED_INT_VEC"),
    ):
        found[scalar] = kind, 1, 1
        found |= {getattr(T, f"{vector}{n}"): (kind, n, 1) for n in (2, 3, 4)}
    for columns in (2, 3, 4):
        for rows in (2, 3, 4):
            name = f"FLOAT_MAT{columns}" + (f"x{rows}" if rows != columns else "")
            found[getattr(T, name)] = Kind.FLOAT, rows, columns
    return found


_TYPES = _types()
_BLOCK = r"\b{}\s*\{{([^}}]*)\}}"
_DECLARES = {"in", "out", "varying"}


def qualifiers(text: str, name: str) -> tuple[Interpolation, Location]:
    """How declarations of a text say that something is interpolated, and where.

    A member of a block is looked for within it.
    """
    block, _, member = name.rpartition(".")
    if block:
        block = re.escape(re.split(r"[.\[]", block)[0])
        text = ";".join(re.findall(_BLOCK.format(block), text))
    plain = member.partition("[")[0]
    found: set[str] = set()
    for statement in re.split(r"[;{}]", text):
        words = re.findall(r"\w+", statement)
        if plain in words and (block or _DECLARES & set(words)):
            found |= set(words[: words.index(plain)])
    if "flat" in found:
        return Interpolation.CONSTANT, Location.CENTRE
    way = Interpolation.LINEAR if "noperspective" in found else Interpolation.PERSPECTIVE
    if "sample" in found:
        return way, Location.SAMPLE
    return way, Location.CENTROID if "centroid" in found else Location.CENTRE
