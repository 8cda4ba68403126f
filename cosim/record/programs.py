# SPDX-License-Identifier: BSD-2-Clause
"""Programs of shaders: what they are made of, as far as a draw depends on it."""

import re
from dataclasses import dataclass, field

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.arguments import Arguments, plain
from fixfunc.cosim.record.context import Functions
from fixfunc.cosim.record.shading.bindings import Uniform, uniforms
from fixfunc.cosim.record.shading.outputs import Output, outputs, settle
from fixfunc.cosim.record.targets import Refused
from fixfunc.cosim.record.trace import Call

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)


@dataclass
class Program:
    """A program of shaders."""

    shaders: list[int] = field(default_factory=list)  # attached, by the names of the trace
    kinds: set[int] = field(default_factory=set)  # as it was linked
    text: str = ""
    feeds_back: bool = False  # something of its own into buffers
    name: int = 0  # here
    interface: str = ""  # texts of all shaders
    lacks_outputs: bool = False  # of which there are more than can be fed back
    _outputs: list[Output] | None = None  # these are asked for behind the next link
    _uniforms: list[Uniform] | None = None

    @property
    def has_position(self) -> bool:
        """A shader puts the position out."""
        return T.VERTEX_SHADER in self.kinds

    @property
    def has_fragments(self) -> bool:
        """A shader makes fragments."""
        return T.FRAGMENT_SHADER in self.kinds

    def outputs(self, gl: Functions) -> list[Output]:
        """What its vertices are fed back with, beside their position."""
        if self._outputs is None:
            self._outputs = outputs(gl, self.name, self.interface)
        return self._outputs

    def samplers(self, gl: Functions) -> list[Uniform]:
        """Its samplers."""
        if self._uniforms is None:
            self._uniforms = uniforms(gl, self.name)
        return self._uniforms

    def forget(self) -> None:
        """It is linked anew."""
        self._outputs = self._uniforms = None

    @property
    def discards(self) -> bool:
        """It may discard fragments."""
        return bool(re.search(r"\bdiscard\b", self.text))

    @property
    def has_depth(self) -> bool:
        """It puts depths out."""
        return bool(re.search(r"\bgl_FragDepth\b", self.text))

    def check(self) -> None:
        """Refuse stages between vertices and the rasterizer, and what is not known."""
        if self is not NOTHING and not self.kinds:
            raise Refused("a program of shaders that were not compiled here")
        if self.feeds_back:
            raise Refused("a program with transform feedback of its own")
        if T.GEOMETRY_SHADER in self.kinds:
            raise Refused("a geometry shader")
        if self.kinds & {T.TESS_CONTROL_SHADER, T.TESS_EVALUATION_SHADER}:
            raise Refused("tessellation")


NOTHING = Program()


class Programs:
    """Follows the programs of a context and of those that share its objects."""

    def __init__(self, gl: Functions, arguments: Arguments) -> None:
        self._gl = gl
        self._arguments = arguments
        self._kinds: dict[int, int] = {}
        self._texts: dict[int, str] = {}
        self._programs: dict[int, Program] = {}
        self.current = NOTHING

    def follow(self, call: Call) -> None:
        """Before a call is made."""
        name = plain(call.name)
        values = list(call.arguments.values())
        if name in ("glCreateShader", "glCreateShaderObject"):
            self._kinds[call.result] = values[0]
        elif name == "glShaderSource":
            self._texts[values[0]] = "".join(values[2])
        elif name in ("glAttachShader", "glAttachObject"):
            self._of(values[0]).shaders.append(values[1])
        elif name in ("glDetachShader", "glDetachObject"):
            shaders = self._of(values[0]).shaders
            if values[1] in shaders:
                shaders.remove(values[1])
        elif name == "glTransformFeedbackVaryings":
            self._of(values[0]).feeds_back = True
        elif name == "glLinkProgram":
            self._link(values[0])
        elif name in ("glUseProgram", "glUseProgramObject"):
            self.current = self._of(values[0]) if values[0] else NOTHING

    def _of(self, program):
        return self._programs.setdefault(program, Program())

    def _link(self, name):
        program = self._of(name)
        program.kinds = {self._kinds[shader] for shader in program.shaders}
        program.text = self._text(program, T.FRAGMENT_SHADER)
        program.interface = program.text + self._text(program, T.VERTEX_SHADER)
        program.name = self._arguments.name("programs", name)
        program.forget()
        if program.has_position and not program.feeds_back:
            shaders = [
                self._arguments.name("programs", shader)
                for shader in program.shaders
                if self._kinds[shader] == T.VERTEX_SHADER
            ]
            program.lacks_outputs = settle(self._gl, program.name, shaders)

    def _text(self, program, kind):
        """Texts of shaders of a kind, without comments."""
        return "\n".join(
            _COMMENT.sub("", self._texts.get(shader, ""))
            for shader in program.shaders
            if self._kinds[shader] == kind
        )
