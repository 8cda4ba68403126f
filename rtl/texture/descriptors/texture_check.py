# SPDX-License-Identifier: BSD-2-Clause
"""Rules of textures: what there may be, and where it may lie."""

from collections.abc import Collection

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import among, choose, gated, maximum, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.cache.formats import HALVINGS
from fixfunc.spec.colours import EDGE
from fixfunc.spec.textures.addresses import EXTENT, Address
from fixfunc.spec.textures.cache import (
    CODED_STATE,
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
from fixfunc.spec.textures.unit import ARRAY_STATE, LAST_CUBE, TEXTURE_STATE

STATE = layout(TEXTURE_STATE)
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
        Formats of textures that may be coded surfaces; with layers.
    rows : collection of StoredFormat
        Formats of textures that may lie as rows of texels; with layers.

    Members
    -------
    start : In(1)
        Begin.
    candidate : In(STATE)
        From ``start`` to ``done`` the same.
    array : In(layout(ARRAY_STATE))
        The same; absent without ``layers``.
    surface : In(layout(CODED_STATE))
        The same; absent without ``surfaces``.
    linear : In(1)
        The same; absent without ``rows``.
    extended : In(1)
        The format's number is 32 more; absent where ``formats`` have no such number.
    limit : In(LINE_NUMBER)
        Levels lie below this line.
    done : Out(1)
        The outputs hold from the next clock to the next ``start``.
    supported : Out(1)
        Sizes, number of levels, of cubes, format, address modes and number of samples are known.
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
    ) -> None:
        self._rows = rows
        self._surfaces = surfaces
        self._formats = formats
        self._extent = extent
        self._anisotropy = anisotropy
        self._layers = layers
        self._cubes = cubes
        self._extended = any(form >> FORMAT for form in formats)
        array = {"array": In(layout(ARRAY_STATE))} if layers else {}
        extended = {"extended": In(1)} if self._extended else {}
        surface = {"surface": In(layout(CODED_STATE))} if surfaces else {}
        linear = {"linear": In(1)} if rows else {}
        super().__init__(
            array
            | surface
            | linear
            | extended
            | {
                "start": In(1),
                "candidate": In(STATE),
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
            among(self._form, self._formats),
            *(mode < len(Address) for mode in modes),
            candidate.anisotropy <= self._anisotropy,
            self._is_cube_known() if self._cubes else Const(1, 1),
            self._is_surface_known() if self._surfaces else Const(1, 1),
            self._are_rows_known() if self._rows else Const(1, 1),
        ).all()

    def _are_rows_known(self):
        """The texture does not lie as rows of texels, or is one that may: of one level."""
        one = self.candidate.last | self.array.last_layer | self.array.cube
        parts = one.any() | self.array.distance[PITCH:].any()
        if self._surfaces:
            parts |= self.surface.coded
        return ~self.linear | (among(self._form, self._rows) & ~parts)

    def _is_surface_known(self):
        """The texture is no coded surface, or one that there may be: one level of whole tiles."""
        one = self.candidate.last | self.array.last_layer | self.array.cube
        parts = (self.candidate.base0 | self.array.distance)[:LINE_BITS]
        known = among(self._form, self._surfaces)
        return ~self.surface.coded | (known & ~one.any() & ~parts.any())

    def _is_cube_known(self):
        """The texture is no cube, or one that there may be: faces are square."""
        is_square = self.candidate.width == self.candidate.height
        return ~self.array.cube | (is_square & (self.array.last_layer <= LAST_CUBE))

    def _span(self, m):
        """Lines from the first layer to the last, and whether they are known: a bit a clock."""
        if not self._layers:
            return Const(0, 1), Const(1, 1)
        bits = EXTENT if self._rows else LAYER
        span = Signal(LINE_NUMBER + bits)
        remaining = Signal(range(bits + 1))
        last = self.array.last_layer
        if self._cubes:
            of_cube = (FACES * last + FACES - 1)[:LAYER]
            last = named(m, Mux(self.array.cube, of_cube, last), "last")
        if self._surfaces:
            row = ((self.candidate.height - 1) >> TILE_BITS)[:LAYER]
            last = named(m, Mux(self.surface.coded, row, last), "last_distance")
        if self._rows:
            # Of a block all four rows are read.
            row = ((self.candidate.height - 1) | 3)[:EXTENT]
            last = named(m, Mux(self.linear, row, last), "last_pitch")
        bit = Cat(Const(0, 1), last).bit_select(remaining, 1)
        with m.If(self.start):
            m.d.sync += [remaining.eq(bits), span.eq(0)]
        with m.Elif(remaining.any()):
            m.d.sync += [
                remaining.eq(remaining - 1),
                span.eq((span << 1) + gated(self.array.distance, bit)),
            ]
        return span, named(m, ~remaining.any(), "is_known")

    @property
    def _form(self):
        """Number of the format."""
        return Cat(self.candidate.format, self.extended if self._extended else [])

    def _is_beyond(self, m, level, span):
        """A level goes on beyond the limit: squares of blocks, in Morton order; three clocks."""
        candidate = self.candidate
        side = named(m, maximum(candidate.width, candidate.height) >> level, "side")
        last = named(m, Mux(side.any(), side - 1, 0)[2:], "last_block")
        doublings = register(
            m, sum(Mux((last >> n).any(), 2, 0) for n in range(len(last))), 5, "doublings"
        )
        halvings = choose(self._form, [HALVINGS.get(n, 0) for n in range(1 << len(self._form))])
        exponent = Mux(doublings > halvings, doublings - halvings, 0)[:5]
        number = Const(1) << exponent
        is_table_beyond = Const(0, 1)
        if self._surfaces:
            # Of the last row of tiles.
            in_row = (((self.candidate.width - 1) >> TILE_BITS) + 1) << LINE_BITS
            number = Mux(self.surface.coded, in_row, number)
            is_table_beyond = self._is_table_beyond(m, span, in_row)
        if self._rows:
            # Of a row of texels: four of a block are a quarter of what it has in Morton order.
            texels = self.candidate.width - 1
            ends = [(texels >> n) + 1 for n in range(3, 8)]
            in_line = choose((halvings + 1)[:3], ends)
            number = Mux(self.linear, in_line, number)
        lines = register(m, number, LINE_NUMBER, "lines")
        base = choose(level, [candidate[f"base{n}"] for n in range(LEVELS)])
        first = register(m, base + span, max(LINE_NUMBER, len(span) + 1), "first")
        return register(m, (first + lines > self.limit) | is_table_beyond, 1, "is_beyond")

    def _is_table_beyond(self, m, span, in_row):
        """The table of a coded surface goes on beyond the limit: two clocks."""
        lines = register(m, span + in_row, len(span) + 1, "lines_of_surface")
        transfers = named(m, ((lines - 1) >> TABLE_BITS) + 1, "transfers_of_table")
        bits = max(TABLE, len(transfers)) + 1
        end = register(m, self.surface.mode_table + transfers, bits, "end_of_table")
        return self.surface.coded & (end > self.limit << 1)
