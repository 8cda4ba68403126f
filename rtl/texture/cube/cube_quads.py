# SPDX-License-Identifier: BSD-2-Clause
"""Quads of cubes get faces, and places on them, before they are textured; others wait for them."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout, UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.cube.cube_faces import CubeFaces, CubeFacesParams
from fixfunc.spec.textures.cube import FACED_QUAD, CubeKind
from fixfunc.spec.textures.level_of_detail import GRADIENTS
from fixfunc.spec.textures.unit import TextureKind

PIXELS = 4
# Quads of other textures that wait while those of a cube before them are on their way.
DEPTH = 32


class CubeQuads(wiring.Component):
    """Beats of the texture unit, in order: a clock each, but for quads of cubes, which take four.

    Parameters
    ----------
    beats : UnionLayout
        Of the texture unit.
    gradients : bool
        Their quads may bring gradients.

    Members
    -------
    i : In(stream.Signature(beats))
    o : Out(stream.Signature(beats))
        With u and v on the face of a cube.
    faced : Out(layout(FACED_QUAD))
        Faces and gradients of a quad of a cube; with ``o``. Of others all faces are 0, and
        gradients those that the quad brings, if any.
    """

    def __init__(self, beats: UnionLayout, gradients: bool) -> None:
        self._beats = beats
        self._gradients = gradients
        super().__init__(
            {
                "i": In(stream.Signature(beats)),
                "o": Out(stream.Signature(beats)),
                "faced": Out(layout(FACED_QUAD)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        waiting_shape = StructLayout({"beat": self._beats, "has_faces": 1})
        m.submodules.waiting = waiting = StreamFIFO(waiting_shape, DEPTH)
        m.submodules.faces = faces = CubeFaces(CubeFacesParams(self._gradients))
        beat = self.i.payload
        is_quad = named(m, beat.kind == TextureKind.QUAD, "is_quad")
        cube = Signal()
        has_faces = named(m, is_quad & cube, "has_faces")
        m.d.comb += [
            waiting.i.payload.beat.eq(beat),
            waiting.i.payload.has_faces.eq(has_faces),
        ]
        with m.If(is_quad):
            m.d.comb += [
                *carried(faces.i.payload.quad, beat.quad),
                faces.i.payload.quad.kind.eq(CubeKind.QUAD),
            ]
        with m.Else():
            m.d.comb += [
                *carried(faces.i.payload.state, beat.state),
                faces.i.payload.state.kind.eq(CubeKind.STATE),
            ]
        with m.If(is_quad & ~cube):
            move_together(m, (self.i,), (waiting.i,))
        with m.Else():
            moves = move_together(m, (self.i,), (waiting.i, faces.i))
            with m.If(moves & ~is_quad):
                m.d.sync += cube.eq(beat.state.cube)
        self._leave(m, waiting.o, faces.o)
        return m

    def _leave(self, m, waiting, faces):
        """A beat leaves, of a cube with its faces."""
        beat, found = waiting.payload.beat, faces.payload
        has_faces = waiting.payload.has_faces
        m.d.comb += [
            self.o.payload.eq(beat),
            self.faced.eq(found),
            *(self.faced[f"face{n}"].eq(Mux(has_faces, found[f"face{n}"], 0)) for n in range(4)),
        ]
        for name in (f"{axis}{pixel}" for axis in "uv" for pixel in range(PIXELS)):
            with m.If(has_faces):
                m.d.comb += self.o.payload.quad[name].eq(found[name])
        if self._gradients:
            with m.If(~has_faces):
                m.d.comb += [self.faced[f.name].eq(beat.quad[f.name]) for f in GRADIENTS]
        with m.If(has_faces):
            move_together(m, (waiting, faces), (self.o,))
        with m.Else():
            move_together(m, (waiting,), (self.o,))
