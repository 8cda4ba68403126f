# SPDX-License-Identifier: BSD-2-Clause
"""Edge rounds: a grid becomes a part on its own face, and others beyond its edges."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.cube.neighbours import BELOW, BESIDE, OWN, Neighbours, sides
from fixfunc.rtl.texture.unit.layouts import PIXELS, GridBeats
from fixfunc.spec.textures.addresses import ADDRESSED_QUAD, Address
from fixfunc.spec.textures.filter import CORNERS
from fixfunc.spec.textures.unit import TextureKind

FACES = ArrayLayout(3, PIXELS)


class EdgeRounds(wiring.Component):
    """Joins levels, texels and faces of grids: a part a clock; combinational.

    Of a cube texels come as of BORDER: what lies beyond an edge of the face is a border. A part is
    of all pixels that have texels there.

    Parameters
    ----------
    beats : GridBeats

    Members
    -------
    i : In(stream.Signature(beats.levels))
    texels : In(stream.Signature(layout(ADDRESSED_QUAD)))
        Of the grids of ``i``.
    faces : In(stream.Signature(FACES))
        Of the quads of ``i``.
    o : Out(stream.Signature(beats.edges))
    """

    def __init__(self, beats: GridBeats) -> None:
        super().__init__(
            {
                "i": In(stream.Signature(beats.levels)),
                "texels": In(stream.Signature(layout(ADDRESSED_QUAD))),
                "faces": In(stream.Signature(FACES)),
                "o": Out(stream.Signature(beats.edges)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        grid, texels, out = self.i.payload, self.texels.payload, self.o.payload
        part = Signal(2)
        beyond = [Signal(PIXELS, name=name) for name in ("beyond_u", "beyond_v")]
        m.d.comb += [
            out.kind.eq(grid.kind),
            *carried(out, grid, ("kind", "pixels")),
            out.part.eq(part),
        ]
        for pixel in range(PIXELS):
            own = out.pixels[pixel]
            m.d.comb += [
                *carried(own, grid.pixels[pixel]),
                *(own[name].eq(texels[f"{name}{pixel}"]) for name in TEXELS),
                own.face.eq(self.faces.payload[pixel]),
            ]
            weighed = Cat(
                (own.u.any() | (not corner & 1)) & (own.v.any() | (not corner >> 1))
                for corner in range(CORNERS)
            )
            of_cube = weighed | grid.gathers.replicate(CORNERS)
            counts = Mux(grid.cube, of_cube, texels[f"reads{pixel}"])
            m.d.comb += own.counts.eq(gated(counts, grid.pixels[pixel].reads))
            left, right, upper, lower = sides(own.borders)
            over_u, over_v = Cat(left, right, left, right), Cat(upper, upper, lower, lower)
            m.d.comb += [
                beyond[0][pixel].eq((own.counts & over_u & ~over_v).any()),
                beyond[1][pixel].eq((own.counts & over_v & ~over_u).any()),
            ]
        follows = [
            named(m, flags.any() & grid.cube, f"follows_{n}") for n, flags in enumerate(beyond)
        ]
        following = Mux((part == OWN) & follows[0], BESIDE, BELOW)
        ends = named(m, (part == BELOW) | ~(follows[1] | ((part == OWN) & follows[0])), "ends")
        m.d.comb += out.part_end.eq(ends)
        self._move(m, ends)
        with m.If(self.o.valid & self.o.ready & (grid.kind == TextureKind.QUAD)):
            m.d.sync += part.eq(Mux(ends, OWN, following))
        return m

    def _move(self, m, ends):
        """A part leaves, a grid with its last one, and a quad's faces with its last grid."""
        grid = self.i.payload
        with m.If(grid.kind != TextureKind.QUAD):
            move_together(m, (self.i,), (self.o,))
        with m.Elif(~ends):
            sources = Cat(self.i.valid, self.texels.valid, self.faces.valid)
            m.d.comb += self.o.valid.eq(sources.all())
        with m.Elif(grid.end):
            move_together(m, (self.i, self.texels, self.faces), (self.o,))
        with m.Else():
            move_together(m, (self.i, self.texels), (self.o,), self.faces.valid)


class EdgeParts(wiring.Component):
    """Parts of grids, with columns and rows of the face that each lies on.

    Parameters
    ----------
    beats : GridBeats
    depth : int
        Quads whose faces wait.

    Members
    -------
    i, texels, faces : In
        As of :class:`EdgeRounds`.
    o : Out(stream.Signature(beats.found))
        A part a clock.
    """

    def __init__(self, beats: GridBeats, depth: int) -> None:
        self._beats = beats
        self._depth = depth
        super().__init__(
            {
                "i": In(stream.Signature(beats.levels)),
                "texels": In(stream.Signature(layout(ADDRESSED_QUAD))),
                "faces": In(stream.Signature(FACES)),
                "o": Out(stream.Signature(beats.found)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        unit = Neighbours(self._beats)
        m.submodules.waiting = waiting = StreamFIFO(FACES, self._depth)
        m.submodules.rounds = rounds = EdgeRounds(self._beats)
        m.submodules.neighbours = neighbours = StallablePipeline(unit, Neighbours.LATENCY)
        wiring.connect(m, wiring.flipped(self.faces), waiting.i)
        wiring.connect(m, wiring.flipped(self.i), rounds.i)
        wiring.connect(m, wiring.flipped(self.texels), rounds.texels)
        wiring.connect(m, waiting.o, rounds.faces)
        wiring.connect(m, rounds.o, neighbours.i)
        wiring.connect(m, neighbours.o, wiring.flipped(self.o))
        return m


TEXELS = "left", "right", "upper", "lower", "u", "v", "borders"


def beyond_faces(request: View, state: View) -> list:
    """Address modes of a state: what lies beyond a cube's face is a border, that is found later."""
    assignments = []
    for axis in "uv":
        mode, offset = state[f"mode_{axis}"], state[f"offset_{axis}"]
        assignments += [
            request[f"mode_{axis}"].eq(Mux(state.cube, Address.BORDER, mode)),
            request[f"offset_{axis}"].eq(gated(offset, ~state.cube)),
        ]
    return assignments
