# SPDX-License-Identifier: BSD-2-Clause
"""Arguments of traced calls become those of calls of this process: names, memory, arrays."""

import ctypes
from bisect import bisect_right
from collections import defaultdict
from ctypes import c_char_p, c_float, c_int, c_void_p

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import Functions, signatures
from fixfunc.cosim.record.trace import Call, Pointer
from fixfunc.spec.errors import InputError

# Which objects arguments name, by the names that OpenGL's functions give them.
_KINDS = {
    "textures": ("texture", "textures", "origtexture", "srcName", "dstName"),
    "buffers": ("buffer", "buffers", "readBuffer", "writeBuffer"),
    "renderbuffers": ("renderbuffer", "renderbuffers"),
    "framebuffers": ("framebuffer", "framebuffers", "readFramebuffer", "drawFramebuffer"),
    "programs": (
        *("program", "programs", "shader", "shaders", "object", "programObj", "shaderObj"),
        *("obj", "containerObj", "attachedObj"),
    ),
    "arrays": ("array", "arrays", "vaobj"),
    "samplers": ("sampler", "samplers"),
    "pipelines": ("pipeline", "pipelines"),
}
_KIND = {name: kind for kind, names in _KINDS.items() for name in names}
# Functions of which such an argument is an enumeration, or an index.
_NO_OBJECTS = (
    "glActiveTexture",
    "glClientActiveTexture",
    "glMultiTexCoord",
    "glClearBuffer",
    "glClearNamedFramebuffer",
)
_CREATED = {"glCreateShader", "glCreateProgram", "glCreateShaderObject", "glCreateProgramObject"}


def plain(name: str) -> str:
    """The name of a function without the suffix of its extension."""
    for suffix in ("ARB", "EXT"):
        if name.endswith(suffix):
            return name.removesuffix(suffix)
    return name


class Arguments:
    """Calls functions of OpenGL with the arguments of a trace.

    Objects may have other names here than in the program, and memory that it has mapped lies
    elsewhere. Memory that OpenGL keeps pointers to is kept.

    Parameters
    ----------
    gl : Functions
    """

    def __init__(self, gl: Functions) -> None:
        self._gl = gl
        self._names: dict[str, dict[int, int]] = defaultdict(dict)
        # By address in the program: address here, and bytes.
        self._mapped: dict[int, tuple[int, int]] = {}
        self._kept: dict[tuple, object] = {}
        self._unit = 0  # of texture coordinates, whose pointer is set

    def rename(self, kind: str, name: int, here: int) -> None:
        """An object of the program has another name here."""
        self._names[kind][name] = here

    def name(self, kind: str, name: int) -> int:
        """What an object of the program is named here."""
        return self._names[kind].get(name, name)

    def call(self, call: Call) -> int | None:
        """Make a call; what it returns."""
        if call.name == "memcpy":
            self._copy(call)
            return None
        signature = signatures().get(call.name)
        function = getattr(self._gl, call.name)
        passed = []
        kept = []
        for (_, value), kind, element in zip(
            self._here_of(call), signature.arguments, signature.elements, strict=False
        ):
            if kind is c_void_p:
                address, memory = _pointer(value, element)
                kept.append(memory)
                passed.append(address)
            else:
                passed.append(value)
        try:
            result = function(*passed)
        except ctypes.ArgumentError as error:
            rule = f"have arguments of the types that {call.name} takes"
            raise InputError(f"call {call.number}", rule, error) from error
        self._keep(call, kept)
        self._note(call, kept, result)
        return result

    def _here(self, function, name, value):
        """An argument, with the names that objects have here."""
        if name == "length" and plain(function) == "glShaderSource":
            return None  # texts end with a zero here
        if isinstance(value, int | list) and not isinstance(value, Pointer):
            return self._renamed(function, name, value)
        return value

    def _renamed(self, function, argument, value):
        kind = _KIND.get(argument)
        if kind is None or function.startswith(_NO_OBJECTS):
            return value
        if plain(function).startswith(("glGen", "glCreate")):
            return value
        names = self._names[kind]
        if isinstance(value, list):
            # Nothing is deleted by the name 0, which is the window's framebuffer here.
            return [names.get(one, one) if one else 0 for one in value]
        return names.get(value, value)

    def _keep(self, call, kept):
        """Memory that OpenGL reads when something is drawn, until its pointer is another one."""
        name = plain(call.name)
        if name == "glClientActiveTexture":
            self._unit = call.arguments["texture"]
        if name.endswith("Pointer") or name == "glInterleavedArrays":
            index = call.arguments.get("index")
            self._kept[name, self._unit if index is None else index] = kept

    def _note(self, call, kept, result):
        """Names and addresses that a call has given."""
        name = plain(call.name)
        if name in _CREATED:
            self.rename("programs", call.result, result)
        elif name.startswith(("glGen", "glCreate")):
            kind = _KIND.get(list(call.arguments)[-1]) if call.arguments else None
            if kind and kept:
                for traced, here in zip(list(call.arguments.values())[-1], kept[-1], strict=True):
                    self.rename(kind, traced, here)
        elif name.startswith("glMap") and isinstance(call.result, Pointer) and result:
            self._mapped[int(call.result)] = result, self._mapped_bytes(call)

    def _mapped_bytes(self, call):
        """How much of a buffer has been mapped."""
        if "length" in call.arguments:
            return call.arguments["length"]
        size = c_int()
        (name, about), *_ = self._here_of(call)
        ask = "glGetNamedBufferParameteriv" if name == "buffer" else "glGetBufferParameteriv"
        getattr(self._gl, ask)(about, T.BUFFER_SIZE, ctypes.addressof(size))
        return size.value

    def _here_of(self, call):
        """Names and values of a call's arguments."""
        return [(name, self._here(call.name, name, it)) for name, it in call.arguments.items()]

    def _copy(self, call):
        """What the program has written to memory that it has mapped."""
        target, data = int(call.arguments["dest"]), call.arguments["src"]
        bases = sorted(self._mapped)
        at = bisect_right(bases, target) - 1
        if at < 0 or not isinstance(data, bytes | bytearray):
            return
        here, size = self._mapped[bases[at]]
        offset = target - bases[at]
        if offset + len(data) <= size:
            ctypes.memmove(here + offset, bytes(data), len(data))


def _pointer(value, element):
    """An address for a traced value, and the memory that lies there."""
    if value is None or isinstance(value, int):
        return value, None
    if isinstance(value, str):
        memory = ctypes.create_string_buffer(value.encode())
    elif isinstance(value, bytes | bytearray):
        memory = ctypes.create_string_buffer(bytes(value), len(value))
    elif value and isinstance(value[0], str):
        memory = (c_char_p * len(value))(*[text.encode() for text in value])
    elif value and isinstance(value[0], Pointer):
        memory = (c_void_p * len(value))(*map(int, value))
    elif value and isinstance(value[0], bytes | bytearray):
        parts = [ctypes.create_string_buffer(bytes(part), len(part)) for part in value]
        memory = (c_void_p * len(value))(*map(ctypes.addressof, parts))
        memory.parts = parts
    else:
        if element is None or not issubclass(element, ctypes._SimpleCData):
            element = c_float if value and isinstance(value[0], float) else c_int
        memory = (element * len(value))(*value)
    return ctypes.addressof(memory), memory
