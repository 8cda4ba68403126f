# SPDX-License-Identifier: BSD-2-Clause
"""One frame is written down: what is cleared, what is drawn, and what else changes targets."""

from collections.abc import Callable

import numpy as np

from fixfunc.cosim.record import state, targets
from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.context import Functions
from fixfunc.cosim.record.peel import Peel, linear, split_quads, splits_otherwise
from fixfunc.cosim.record.programs import Program
from fixfunc.cosim.record.shading.shadings import Shadings
from fixfunc.cosim.record.targets import Refused, Surface
from fixfunc.cosim.recorded.frame import (
    ARRAYS,
    CLEAR,
    CONTENTS,
    DRAW,
    EVENT,
    SURFACE,
    TEXEL,
    Event,
    RecordedFrame,
)

COLOUR, STENCIL = 1, 2  # planes of a clear; depths are those of the first


class Recorder:
    """Listens to a context for the time of a frame.

    Parameters
    ----------
    gl : Functions
    peel : Peel
    """

    def __init__(self, gl: Functions, peel: Peel) -> None:
        self._gl = gl
        self._peel = peel
        self._framebuffer = gl.name("Framebuffers")
        self._shadings = Shadings(gl)
        self._surfaces: list[Surface] = []
        self._known: list[Surface] = []  # of which the record says what they hold
        self._rows: dict[str, list] = {name: [] for name in ARRAYS}
        self._ends = dict.fromkeys(("texels", "vertices", "fragments"), 0)
        self.refused: list[str] = []

    def changed(self) -> None:
        """Something else than draws and clears may have changed any surface."""
        self._known.clear()
        self._shadings.changed()

    # Draws.

    def draw(
        self,
        where: str,
        number: int,
        mode: int,
        program: Program,
        make: Callable[[], object],
        before: Callable[[], object] | None = None,
        reason: str = "",
    ) -> None:
        """A draw: record it, and make it.

        Parameters
        ----------
        where : str
            What call it is, in words.
        number : int
            Of the call.
        mode : int
            Of its primitives.
        program : Program
            Its shaders.
        make : callable
            Makes the draw.
        before : callable, optional
            Raises :class:`~fixfunc.cosim.record.targets.Refused` for what the caller knows.
        reason : str
            Why not all that fragments are made of can be recorded.
        """
        try:
            if before:
                before()
            self._draw(number, mode, program, make, reason)
        except Refused as reason:
            self.refused.append(f"{where}: {reason}")
            make()
            self.changed()

    def _draw(self, number, mode, program, make, reason):
        gl = self._gl
        program.check()
        state.check_mode(gl, mode)
        state.check(gl)
        if state.is_culled(gl):
            make()
            return
        bound = targets.bound(gl)
        fields = state.read(gl, bound)
        fed = self._shadings.fed(program)
        shading = self._shadings.state(program, mode, reason)
        while gl.glGetError():
            pass
        vertices, values = self._peel.vertices(make, fed.program, fed.components)
        if mode == T.QUADS and splits_otherwise(gl):
            vertices, values = split_quads(vertices, values)
        if not len(vertices):
            make()
            return
        srgb = fields["form"] in targets.SRGB.values()
        fragments = self._peel.fragments(make, bound, srgb)
        error = gl.glGetError()
        if error:
            raise Refused(f"OpenGL's error {error:#06x}")
        colour, depth = (self._index(surface) for surface in bound)
        passed = self._peel.passed(make)
        fields |= {
            "call": number,
            "colour": colour,
            "depth": depth,
            # Of a program in assembly language it is not known.
            "discards": program.discards or bool(gl.glIsEnabled(T.FRAGMENT_PROGRAM_ARB)),
            "shader_depth": program.has_depth,
            "passed": passed,
            "first_vertex": self._ends["vertices"],
            "vertices": len(vertices),
            "first_fragment": self._ends["fragments"],
            "fragments": len(fragments),
        }
        self._add_data("vertices", vertices)
        self._add_data("fragments", fragments)
        self._shadings.add(*shading, fed, values)
        self._add(Event.DRAW, "draws", _row(DRAW, fields))
        self._drawn_on(bound)

    def _drawn_on(self, bound):
        """What is drawn on may be a texture that is sampled, too."""
        if any(surface and surface.kind == T.TEXTURE for surface in bound):
            self._shadings.changed()

    # Clears.

    def clear(self, planes: set[str], make: Callable[[], object]) -> None:
        """A clear of all of what is bound: of ``colour``, ``depth`` and ``stencil`` by name."""
        try:
            bound = targets.bound(self._gl)
        except Refused:
            self._other(make)
            return
        if not self._is_whole(bound, planes):
            self._other(make)
            return
        form = state.colour_form(self._gl, bound)
        cleared = []
        for surface in filter(None, bound):
            names = surface.planes & planes
            if names:
                index = self._index(surface, reads=names != surface.planes)
                cleared.append((surface, names, index))
        make()
        self._drawn_on(bound)
        for surface, names, index in cleared:
            self._clear(surface, names, index, form)

    def _other(self, make):
        """A clear of parts: what comes of it is read."""
        make()
        self.changed()

    def _is_whole(self, bound, planes):
        """Every texel is cleared, in all of its channels."""
        gl = self._gl
        if gl.glIsEnabled(T.SCISSOR_TEST):
            x, y, wide, high = gl.integers(T.SCISSOR_BOX, 4)
            width, height = bound.size
            if x > 0 or y > 0 or x + wide < width or y + high < height:
                return False
        return (
            ("colour" not in planes or all(gl.integers(T.COLOR_WRITEMASK, 4)))
            and ("depth" not in planes or gl.integer(T.DEPTH_WRITEMASK))
            and ("stencil" not in planes or gl.integer(T.STENCIL_WRITEMASK) & 0xFF == 0xFF)
        )

    def _clear(self, surface, names, index, form):
        """A clear, by what it has stored: conversions are OpenGL's, as those of fragments are."""
        with targets.reading(self._gl):
            stored = targets.contents(self._gl, surface, self._framebuffer, (1, 1))
        row = {"surface": index, "form": surface.form, "planes": COLOUR}
        if surface.is_depth:
            row["planes"] = COLOUR * ("depth" in names) | STENCIL * ("stencil" in names)
            row["depth"] = targets.depth_value(stored.depth[0, 0], surface.form)
            row["stencil"] = 0 if stored.stencil is None else stored.stencil[0, 0]
        else:
            row["form"] = form
            colour = stored.colour[0]
            row["colour"] = (linear(colour) if form in targets.SRGB.values() else colour)[0]
        self._add(Event.CLEAR, "clears", _row(CLEAR, row))

    # Surfaces.

    def _index(self, surface: Surface | None, reads: bool = True) -> int:
        """The number of a surface, whose contents are known from now on; -1 of none."""
        if surface is None:
            return -1
        if surface not in self._surfaces:
            self._surfaces.append(surface)
            self._rows["surfaces"].append(
                np.array((surface.form, surface.width, surface.height), SURFACE)
            )
        index = self._surfaces.index(surface)
        if surface not in self._known:
            self._known.append(surface)
            if reads:
                self._contents(surface, index, Event.CONTENTS)
        return index

    def _contents(self, surface, index, event):
        with targets.reading(self._gl):
            read = targets.contents(self._gl, surface, self._framebuffer)
        texels = np.zeros((surface.height, surface.width), TEXEL)
        for name, plane in read._asdict().items():
            if plane is not None:
                texels[name] = plane
        row = {"surface": index, "first": self._ends["texels"]}
        self._add_data("texels", texels.ravel())
        self._add(event, "contents", _row(CONTENTS, row))

    # Rows.

    def _add(self, event, name, row):
        self._rows["events"].append(np.array((event, len(self._rows[name])), EVENT))
        self._rows[name].append(row)

    def _add_data(self, name, data):
        self._rows[name].append(data)
        self._ends[name] += len(data)

    def finish(self, program: str, number: int) -> RecordedFrame:
        """The frame: ``program`` in words, and its number."""
        for surface in list(self._known):
            self._contents(surface, self._surfaces.index(surface), Event.RESULT)
        arrays = {}
        for name, kind in ARRAYS.items():
            rows = [np.atleast_1d(row) for row in self._rows[name]]
            empty = np.zeros((0, 4) if name == "vertices" else 0, kind)
            arrays[name] = np.concatenate([empty, *rows])
        return RecordedFrame(
            program, number, refused=self.refused, **arrays, **self._shadings.finish()
        )


def _row(kind, values):
    row = np.zeros((), kind)
    for name, value in values.items():
        row[name] = value
    return row
