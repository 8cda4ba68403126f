# SPDX-License-Identifier: BSD-2-Clause
"""Neighbours: where the texels of a grid lie that are beyond an edge of their face [fs 7.18.12]."""

from typing import NamedTuple

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, gated, named
from fixfunc.rtl.lib.delay import delay, register
from fixfunc.rtl.payload import carried
from fixfunc.rtl.texture.cube.face import FACES, parts_of
from fixfunc.rtl.texture.unit.layouts import PIXELS, GridBeats
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.filter import CORNERS

OWN, BESIDE, BELOW = range(3)  # parts of a grid: on its face, beyond an edge along u, along v
EDGES = range(4)  # left, right, upper, lower
EDGE = StructLayout({"face": 3, "along_u": 1, "reversed": 1, "far": 1})


class Neighbour(NamedTuple):
    """What lies beyond an edge of a face."""

    face: int
    along_u: int  # the edge runs along u there
    reversed: int  # the other way
    far: int  # it is the right or lower one

    @property
    def bits(self) -> int:
        """As of EDGE."""
        return self.face | self.along_u << 3 | self.reversed << 4 | self.far << 5


def neighbour(face: int, edge: int) -> Neighbour:
    """The neighbour of a face beyond an edge."""
    own = parts_of(face)
    axis, negated = own[edge >> 1]
    # The direction that the edge lies in is the normal of the neighbour.
    other = 2 * axis + (negated ^ (not edge & 1))
    there = parts_of(other)
    along, along_negated = own[1 - (edge >> 1)]
    normal, normal_negated = own[2]
    along_u = int(there[0][0] == along)
    return Neighbour(
        other,
        along_u,
        int(there[1 - along_u][1] ^ along_negated),
        int(there[along_u] == (normal, normal_negated)),
    )


TABLE = [[neighbour(face, edge) for edge in EDGES] for face in range(len(FACES))]


def sides(borders: Value) -> list[Value]:
    """Whether left, right, upper and lower are beyond the face, of corners that are.

    Of a grid two opposite sides never are.
    """
    return [borders[a] & borders[b] for a, b in ((0, 2), (1, 3), (0, 1), (2, 3))]


class Neighbours(wiring.Component):
    """Faces, columns and rows of a part of a grid; free-running.

    Columns and rows are those of the face that the part lies on: where these are not those of the
    grid, it ``swaps``.

    Parameters
    ----------
    beats : GridBeats

    Members
    -------
    i : In(beats.edges)
    o : Out(beats.found)
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 2

    def __init__(self, beats: GridBeats) -> None:
        super().__init__({"i": In(beats.edges), "o": Out(beats.found)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        late = delay(m, self.i, 1, "late")
        later = delay(m, late, 1, "later")
        m.d.comb += [self.o.kind.eq(later.kind), *carried(self.o, later, ("kind", "pixels"))]
        for pixel in range(PIXELS):
            m.d.comb += carried(self.o.pixels[pixel], later.pixels[pixel], PLACED)
            self._pixel(m, late, pixel)
        return m

    def _pixel(self, m, late, pixel):
        own = self.i.pixels[pixel]
        left, right, upper, lower = sides(own.borders)
        edge = Mux(self.i.part == BELOW, Cat(lower, Const(1, 1)), Cat(right, Const(0, 1)))
        bits = choose(
            Cat(edge, own.face),
            [Const(TABLE[n >> 2][n & 3].bits, 6) for n in range(4 * len(FACES))],
        )
        found = register(m, bits, EDGE, f"edge_{pixel}")
        over_u, over_v = Cat(left, right, left, right), Cat(upper, upper, lower, lower)
        over_u, over_v = (gated(over, self.i.cube) for over in (over_u, over_v))
        wanted = choose(
            self.i.part,
            [own.counts & ~over_u & ~over_v, own.counts & over_u & ~over_v]
            + [own.counts & over_v & ~over_u],
        )
        wanted = register(m, wanted, CORNERS, f"wanted_{pixel}")
        missing = register(m, own.counts & over_u & over_v, CORNERS, f"missing_{pixel}")
        self._place(m, late, found, wanted, missing, pixel)

    def _place(self, m, grid, edge, wanted, missing, pixel):
        own, out = grid.pixels[pixel], self.o.pixels[pixel]
        on_face = named(m, grid.part == OWN, f"on_face_{pixel}")
        beside = named(m, grid.part == BESIDE, f"beside_{pixel}")
        # Along the edge a row is a row, or a column, from one of its ends or from the other.
        along = [
            Mux(beside, own.upper, own.left),
            Mux(beside, own.lower, own.right),
        ]
        along = [
            named(m, Mux(edge.reversed, own.last - v, v)[:EXTENT], f"along_{pixel}_{n}")
            for n, v in enumerate(along)
        ]
        at = named(m, gated(own.last, edge.far), f"at_{pixel}")
        swaps = named(m, ~on_face & (beside == edge.along_u), f"swaps_{pixel}")
        columns = [Mux(edge.along_u, v, at) for v in along]
        rows = [Mux(edge.along_u, at, v) for v in along]
        m.d.sync += [
            out.left.eq(Mux(on_face, own.left, columns[0])),
            out.right.eq(Mux(on_face, own.right, columns[1])),
            out.upper.eq(Mux(on_face, own.upper, rows[0])),
            out.lower.eq(Mux(on_face, own.lower, rows[1])),
            out.face.eq(gated(Mux(on_face, own.face, edge.face), grid.cube)),
            out.borders.eq(gated(own.borders, ~grid.cube)),
            out.reads.eq(Mux(swaps, swapped(wanted), wanted)),
            out.swaps.eq(swaps),
            out.missing.eq(missing),
        ]


PLACED = "left", "right", "upper", "lower", "face", "borders", "reads", "swaps", "missing"


def swapped(corners: Value) -> Value:
    """Flags of corners, columns for rows."""
    return Cat(corners[0], corners[2], corners[1], corners[3])
