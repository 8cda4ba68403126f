# SPDX-License-Identifier: BSD-2-Clause
"""What fragments of a frame's draws are made of, as rows of its file."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import Functions
from fixfunc.cosim.record.peel import is_core
from fixfunc.cosim.record.programs import Program
from fixfunc.cosim.record.shading import bindings, fixed
from fixfunc.cosim.record.shading.bindings import Use
from fixfunc.cosim.record.shading.outputs import Output
from fixfunc.cosim.record.shading.samplers import Unrecorded
from fixfunc.cosim.record.shading.textures import Textures
from fixfunc.cosim.recorded.frame import (
    BINDING,
    SAMPLER,
    SHADING,
    SHADING_ARRAYS,
    TEXTURE,
    VARYING,
    Interpolation,
)

NO_REASON = -1


class Fed(NamedTuple):
    """What vertices of a draw are fed back by."""

    program: int  # 0: the one that is in use
    outputs: list[Output]

    @property
    def components(self) -> int:
        """Of all outputs, beside the position."""
        return sum(output.components for output in self.outputs)


class Shadings:
    """Notes what fragments of draws are made of, in one context.

    Parameters
    ----------
    gl : Functions
    """

    def __init__(self, gl: Functions) -> None:
        self._gl = gl
        self._fixed = fixed.FixedVertices(gl)
        self._textures = Textures(gl)
        self._names: dict[str, int] = {}
        self._samplers: dict[bytes, int] = {}
        self._varyings: dict[tuple, int] = {}  # of a draw: where they begin
        self._bindings: dict[tuple, int] = {}
        self._rows: dict[str, list[np.ndarray]] = {name: [] for name in SHADING_ARRAYS}
        self._ends = dict.fromkeys(("varyings", "bindings", "values"), 0)

    def changed(self) -> None:
        """Any texture may hold something else."""
        self._textures.changed()

    def fed(self, program: Program) -> Fed:
        """What vertices of a draw are fed back by."""
        if program.has_position:
            flat = not is_core(self._gl) and self._gl.integer(T.SHADE_MODEL) == T.FLAT
            return Fed(0, [_flat(it) if flat else it for it in program.outputs(self._gl)])
        with bindings.active_unit(self._gl):
            if program.has_fragments:
                # Which of them a shader reads is not known.
                units, has_fog = set(range(fixed.UNITS)), True
            else:
                units = set(bindings.enabled_units(self._gl))
                has_fog = bool(self._gl.glIsEnabled(T.FOG))
            found, outputs = self._fixed.program(units, has_fog)
        if self._gl.integer(T.SHADE_MODEL) == T.FLAT:
            outputs = [_flat(it) for it in outputs]
        return Fed(found, outputs)

    def state(self, program: Program, mode: int, reason: str = "") -> tuple[dict, list[Use]]:
        """What a draw's fragments are made of, asked before it is made.

        Parameters
        ----------
        program : Program
        mode : int
            Of its primitives.
        reason : str
            Why that is not all, as the caller knows.

        Returns
        -------
        dict
            Fields of :data:`fixfunc.cosim.recorded.frame.SHADING`; ``reason`` in words.
        list of Use
        """
        gl = self._gl
        is_assembly = any(map(gl.glIsEnabled, (T.FRAGMENT_PROGRAM_ARB, T.FRAGMENT_SHADER_ATI)))
        by_program = program.has_fragments or is_assembly
        provoking = self._provoking()
        fields = {"program": by_program, "provoking": provoking}
        if not provoking and mode in (T.QUADS, T.QUAD_STRIP):
            # Mesa's flat values are of the last corner, and it splits them otherwise.
            reason = reason or "quads where the first corner provokes"
        if is_assembly and not program.has_fragments:
            reason = reason or "a fragment program in assembly language"
        if program.lacks_outputs:
            reason = reason or "more outputs of vertices than can be fed back"
        uses: list[Use] = []
        with bindings.active_unit(gl):
            if not by_program and not is_core(gl):
                fields |= self._fixed_fields(program)
            try:
                if program.has_fragments or program.has_position:
                    uses += bindings.of_program(gl, self._textures, program.samplers(gl))
                if not by_program:
                    uses += bindings.fixed(gl, self._textures)
            except Unrecorded as refused:
                reason = reason or str(refused)
        return fields | {"reason": reason}, uses

    def _fixed_fields(self, program):
        """State of the fixed functions of fragments."""
        gl = self._gl
        if program.has_position:
            two_side = bool(gl.glIsEnabled(T.VERTEX_PROGRAM_TWO_SIDE))
            added = bool(gl.glIsEnabled(T.COLOR_SUM))
        else:
            two_side = bool(gl.glIsEnabled(T.LIGHTING) and gl.integer(T.LIGHT_MODEL_TWO_SIDE))
            added = fixed.has_colour_sum(gl)
        return {"two_side": two_side, "colour_sum": added, **bindings.fog(gl)}

    def _provoking(self):
        """Which corner of a triangle its flat values are of."""
        return 0 if self._gl.integer(T.PROVOKING_VERTEX) == T.FIRST_VERTEX_CONVENTION else 2

    def add(self, state: dict, uses: list[Use], fed: Fed, values: np.ndarray) -> None:
        """A draw: what was asked before it, and values of what its vertices put out."""
        row = np.zeros((), SHADING)
        for name, value in state.items():
            row[name] = value if name != "reason" else self._reason(value)
        row["first_varying"] = self._part("varyings", tuple(fed.outputs), self._varying)
        row["varyings"] = len(fed.outputs)
        row["first_binding"] = self._part("bindings", tuple(map(_hashed, uses)), self._binding)
        row["bindings"] = len(uses)
        row["first_value"] = self._ends["values"]
        self._rows["values"].append(values.ravel())
        self._ends["values"] += values.size
        self._rows["shadings"].append(row)

    def _reason(self, text):
        return self._name(text) if text else NO_REASON

    def _name(self, text):
        return self._names.setdefault(text, len(self._names))

    def _part(self, array, parts, make):
        """Where rows of a draw begin: those of another one are the same."""
        known = self._varyings if array == "varyings" else self._bindings
        if parts not in known:
            known[parts] = self._ends[array]
            self._rows[array] += [make(part) for part in parts]
            self._ends[array] += len(parts)
        return known[parts]

    def _varying(self, output):
        return np.array((self._name(output.name), *output[1:]), VARYING)

    def _binding(self, use):
        name, unit, texture, sampler, environment = use
        if sampler not in self._samplers:
            self._samplers[sampler] = len(self._samplers)
            self._rows["samplers"].append(np.frombuffer(sampler, SAMPLER)[0])
        number = self._samplers[sampler]
        return np.array((self._name(name), unit, texture, number, environment), BINDING)

    def finish(self) -> dict[str, Iterable]:
        """Arrays by name, and ``names``."""
        for row in self._textures.rows:
            made = np.zeros((), TEXTURE)
            for name, value in row.items():
                made[name] = value if name != "converted" else self._reason(value)
            self._rows["textures"].append(made)
        self._rows["octets"] = self._textures.octets
        arrays = {
            name: np.concatenate([np.zeros(0, kind), *map(np.atleast_1d, self._rows[name])])
            for name, kind in SHADING_ARRAYS.items()
        }
        return arrays | {"names": list(self._names)}


def _flat(output):
    """A colour of fixed functions where these do not interpolate it."""
    if output.name.startswith("gl_") and output.name.endswith("Color"):
        return output._replace(interpolation=Interpolation.CONSTANT)
    return output


def _hashed(use):
    """A use whose sampler is the bytes of its row."""
    row = np.zeros((), SAMPLER)
    for name, value in use.sampler.items():
        row[name] = value
    return use._replace(sampler=row.tobytes())
