# SPDX-License-Identifier: BSD-2-Clause
"""Rules of textures: what there may be, and where it may lie."""

from collections.abc import Collection

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import among, choose, gated, maximum, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.cache.formats import HALVINGS
from fixfunc.spec.colours import EDGE
from fixfunc.spec.textures.addresses import EXTENT, Address
from fixfunc.spec.textures.cache import (
    FORMAT,
    LAYER,
    LEVELS,
    LINE_NUMBER,
    PITCH,
    TABLE,
    StoredFormat,
)
from fixfunc.spec.textures.coded_lines import TILE_LINES
from fixfunc.spec.textures.cube import FACES
from fixfunc.spec.textures.descriptors import DESCRIPTOR
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import LAST_CUBE, TEXTURE_STATE

CANDIDATE = layout((TEXTURE_STATE[0], *DESCRIPTOR))
TILE_BITS = (EDGE - 1).bit_length()
LINE_BITS = (TILE_LINES - 1).bit_length()
TABLE_BITS = LINE_BITS + 6  # lines of the tiles whose modes a transfer has


class TextureCheck(wiring.Component):
    """Check a texture state, a level in four clocks, behind eleven for the layers.

    Parameters
    ----------
    formats : collection of StoredFormat
        Known ones.
    extent : int
        log2 of the greatest width and height.
    anisotropy : int
        Most samples along a footprint that there may be: 1 or 16.
    layers : bool
        Textures may be arrays.
    cubes : bool
        Textures may be cubes; with layers.
    surfaces : collection of StoredFormat
        Formats of textures that may be coded surfaces.
    rows : collection of StoredFormat
        Formats of textures that may lie as rows of texels.
    points : collection of StoredFormat
        Formats of textures that are sampled by points alone.

    Members
    -------
    start : In(1)
        Begin.
    candidate : In(CANDIDATE)
        From ``start`` to ``done`` the same.
    limit : In(LINE_NUMBER)
        Levels lie below this line.
    done : Out(1)
        The outputs hold from the next clock to the next ``start``.
    supported : Out(1)
        Sizes, number of levels, of cubes, format, address modes and number of samples are known,
        it is no array, cube or coded surface that there is not, and points are sampled so.
    beyond : Out(1)
        A level of a layer, or a coded surface or its table, goes on beyond the limit.
    """

    def __init__(
        self,
        formats: Collection[StoredFormat],
        extent: int,
        anisotropy: int,
        layers: bool = False,
        cubes: bool = False,
        surfaces: Collection[StoredFormat] = (),
        rows: Collection[StoredFormat] = (),
        points: Collection[StoredFormat] = (),
    ) -> None:
        self._rows = rows
        self._points = points
        self._surfaces = surfaces
        self._formats = formats
        self._extent = extent
        self._anisotropy = anisotropy
        self._layers = layers
        self._cubes = cubes
        self._extended = any(form >> FORMAT for form in formats)
        super().__init__(
            {
                "start": In(1),
                "candidate": In(CANDIDATE),
                "limit": In(LINE_NUMBER),
                "done": Out(1),
                "supported": Out(1),
                "beyond": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        active = Signal()
        level = Signal(range(LEVELS))
        step = Signal(2)
        span, is_known = self._span(m)
        is_beyond = self._is_beyond(m, level, span)
        m.d.sync += self.supported.eq(self._supported(m))
        m.d.comb += self.done.eq(active & step.all() & (level == self.candidate.last))
        with m.If(active & is_known):
            m.d.sync += step.eq(step + 1)
            with m.If(step.all()):
                m.d.sync += [
                    level.eq(level + 1),
                    self.beyond.eq(self.beyond | is_beyond),
                    active.eq(~self.done),
                ]
        with m.If(self.start):
            m.d.sync += [
                active.eq(1),
                level.eq(0),
                step.eq(0),
                self.beyond.eq(0),
            ]
        return m

    def _supported(self, m):
        candidate = self.candidate
        sides = candidate.width, candidate.height
        either = named(m, candidate.width | candidate.height, "either")
        modes = candidate.mode_u, candidate.mode_v
        return Cat(
            *(side.any() & (side <= 1 << self._extent) for side in sides),
            (either >> candidate.last).any(),
            *(mode < len(Address) for mode in modes),
            candidate.anisotropy <= self._anisotropy,
            self._is_format_known(),
            Const(1, 1) if self._layers else ~candidate.last_layer.any(),
            self._is_cube_known() if self._cubes else ~candidate.cube,
            self._is_surface_known() if self._surfaces else ~candidate.coded,
            self._are_rows_known() if self._rows else ~candidate.linear,
            *([self._is_point_known()] if self._points else []),
        ).all()

    def _is_format_known(self):
        known = among(self._form, self._formats)
        return known if self._extended else known & ~self.candidate.extended

    def _is_point_known(self):
        """The format is no one that is sampled by points alone, or points are all that is asked."""
        return ~(among(self._form, self._points) & is_beyond_points(self.candidate))

    def _are_rows_known(self):
        """The texture does not lie as rows of texels, or is one that may: of one level."""
        candidate = self.candidate
        one = candidate.last | candidate.last_layer | candidate.cube | candidate.coded
        is_pitch = ~candidate.distance[PITCH:].any()
        return ~candidate.linear | (among(self._form, self._rows) & ~one.any() & is_pitch)

    def _is_surface_known(self):
        """The texture is no coded surface, or one that there may be: one level of whole tiles."""
        one = self.candidate.last | self.candidate.last_layer | self.candidate.cube
        parts = (self.candidate.base0 | self.candidate.distance)[:LINE_BITS]
        known = among(self._form, self._surfaces)
        return ~self.candidate.coded | (known & ~one.any() & ~parts.any())

    def _is_cube_known(self):
        """The texture is no cube, or one that there may be: faces are square."""
        is_square = self.candidate.width == self.candidate.height
        return ~self.candidate.cube | (is_square & (self.candidate.last_layer <= LAST_CUBE))

    def _span(self, m):
        """Lines from the first layer to the last, and whether they are known: a bit a clock."""
        if not (self._layers or self._surfaces or self._rows):
            return Const(0, 1), Const(1, 1)
        bits = EXTENT if self._rows else LAYER
        span = Signal(LINE_NUMBER + bits)
        remaining = Signal(range(bits + 1))
        last = self.candidate.last_layer if self._layers else Const(0, LAYER)
        if self._cubes:
            of_cube = (FACES * last + FACES - 1)[:LAYER]
            last = named(m, Mux(self.candidate.cube, of_cube, last), "last")
        if self._surfaces:
            row = ((self.candidate.height - 1) >> TILE_BITS)[:LAYER]
            last = named(m, Mux(self.candidate.coded, row, last), "last_distance")
        if self._rows:
            # Of a block all four rows are read.
            row = ((self.candidate.height - 1) | 3)[:EXTENT]
            last = named(m, Mux(self.candidate.linear, row, last), "last_pitch")
        bit = Cat(Const(0, 1), last).bit_select(remaining, 1)
        with m.If(self.start):
            m.d.sync += [remaining.eq(bits), span.eq(0)]
        with m.Elif(remaining.any()):
            m.d.sync += [
                remaining.eq(remaining - 1),
                span.eq((span << 1) + gated(self.candidate.distance, bit)),
            ]
        return span, named(m, ~remaining.any(), "is_known")

    @property
    def _form(self):
        """Number of the format."""
        return Cat(self.candidate.format, self.candidate.extended if self._extended else [])

    def _is_beyond(self, m, level, span):
        """A level goes on beyond the limit: squares of blocks, in Morton order; three clocks."""
        candidate = self.candidate
        side = named(m, maximum(candidate.width, candidate.height) >> level, "side")
        last = named(m, Mux(side.any(), side - 1, 0)[2:], "last_block")
        doublings = register(
            m, sum(Mux((last >> n).any(), 2, 0) for n in range(len(last))), 5, "doublings"
        )
        known = [HALVINGS[n] if n in self._formats else None for n in range(1 << len(self._form))]
        halvings = choose(self._form, known)
        exponent = Mux(doublings > halvings, doublings - halvings, 0)[:5]
        number = Const(1) << exponent
        is_table_beyond = Const(0, 1)
        if self._surfaces:
            # Of the last row of tiles.
            in_row = (((self.candidate.width - 1) >> TILE_BITS) + 1) << LINE_BITS
            number = Mux(candidate.coded, in_row, number)
            is_table_beyond = self._is_table_beyond(m, span, in_row)
        if self._rows:
            # Of a row of texels: four of a block are a quarter of what it has in Morton order.
            texels = self.candidate.width - 1
            ends = [(texels >> n) + 1 for n in range(3, 8)]
            in_line = choose((halvings + 1)[:3], ends)
            number = Mux(candidate.linear, in_line, number)
        lines = register(m, number, LINE_NUMBER, "lines")
        base = choose(level, [candidate[f"base{n}"] for n in range(LEVELS)])
        first = register(m, base + span, max(LINE_NUMBER, len(span) + 1), "first")
        return register(m, (first + lines > self.limit) | is_table_beyond, 1, "is_beyond")

    def _is_table_beyond(self, m, span, in_row):
        """The table of a coded surface goes on beyond the limit: two clocks."""
        lines = register(m, span + in_row, len(span) + 1, "lines_of_surface")
        transfers = named(m, ((lines - 1) >> TABLE_BITS) + 1, "transfers_of_table")
        bits = max(TABLE, len(transfers)) + 1
        end = register(m, self.candidate.mode_table + transfers, bits, "end_of_table")
        return self.candidate.coded & (end > self.limit << 1)


def is_beyond_points(state: View) -> Value:
    """A sampler reads more than points: linear of any kind, several samples, a cube's corner.

    A gather has no filters, but of a cube a texel that is the mean of three.
    """
    smooth = Cat(state.magnify, state.minify, state.smooth, state.anisotropy[1:]).any()
    return Mux(state.op == FilterOp.GATHER, state.cube, smooth)
