# SPDX-License-Identifier: BSD-2-Clause
"""Texel requests: texels of grids with their levels, for the cache."""

from amaranth.hdl import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.cache.texture_cache import BEATS
from fixfunc.rtl.texture.unit.layers import NUMBERS
from fixfunc.rtl.texture.unit.layouts import (
    PIXELS,
    TextureUnitParams,
    refused,
)
from fixfunc.rtl.texture.unit.state_rows import ASKING, found
from fixfunc.spec.textures.addresses import ADDRESSED_QUAD
from fixfunc.spec.textures.cache import CacheKind
from fixfunc.spec.textures.filter import CORNERS
from fixfunc.spec.textures.unit import NO_FORMAT, TextureKind

ASKED = "left", "right", "upper", "lower", "u", "v", "level", "reads"


class TexelRequests(wiring.Component):
    """Joins levels and texels of grids, and parts what the cache needs from what passes beside it.

    A grid a clock; combinational. A STATE that asks for what the unit lacks has no format then.

    Parameters
    ----------
    params : TextureUnitParams

    Members
    -------
    i : In(stream.Signature(params.beats.levels)), with cubes of ``found``
    texels : In(stream.Signature(layout(ADDRESSED_QUAD)))
        Of the grids of ``i``; with cubes absent: they are in ``i``.
    layers : In(stream.Signature(NUMBERS))
        Of the quads of ``i``; where there are layers.
    asking, found, taken : Out(ASKING), In(found(params.state)), Out(1)
        As of :class:`~fixfunc.rtl.texture.unit.state_rows.StateRows`.
    cache : Out(stream.Signature(BEATS))
    o : Out(stream.Signature(params.beats.weights)), with cubes of ``parts``
    """

    def __init__(self, params: TextureUnitParams) -> None:
        self._params = params
        beats = params.beats
        layers = {"layers": In(stream.Signature(NUMBERS))} if params.layers else {}
        texels = {"texels": In(stream.Signature(layout(ADDRESSED_QUAD)))}
        super().__init__(
            layers
            | ({} if params.cubes else texels)
            | {
                "i": In(stream.Signature(beats.found if params.cubes else beats.levels)),
                "asking": Out(ASKING),
                "found": In(found(params.state)),
                "taken": Out(1),
                "cache": Out(stream.Signature(BEATS)),
                "o": Out(stream.Signature(beats.parts if params.cubes else beats.weights)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        grid, out = self.i.payload, self.o.payload
        is_grid = named(m, grid.kind == TextureKind.QUAD, "is_grid")
        m.d.comb += [
            out.kind.eq(grid.kind),
            out.row.eq(grid.row),
            out.end.eq(grid.end),
            self.asking.row.eq(grid.row),
            self.asking.valid.eq(self.i.valid & ~is_grid),
        ]
        for pixel in range(PIXELS):
            m.d.comb += carried(out.pixels[pixel], grid.pixels[pixel])
            if not self._params.cubes:
                borders = self.texels.payload[f"borders{pixel}"]
                m.d.comb += out.pixels[pixel].borders.eq(borders)
        if self._params.cubes:
            m.d.comb += out.part_end.eq(grid.part_end)
        request = self.cache.payload
        with m.If(is_grid):
            m.d.comb += request.quad.kind.eq(CacheKind.QUAD)
            if self._params.cubes:
                self._ask_parts(m, request.quad)
            else:
                self._ask(m, request.quad)
            self._move(m, request.quad)
        with m.Else():
            state = self.found.state
            is_refused = named(m, refused(state, self._params), "is_refused")
            m.d.comb += [
                *carried(request.state, state),
                request.state.format.eq(Mux(is_refused, NO_FORMAT, state.format)),
                request.state.kind.eq(CacheKind.STATE),
                self.taken.eq(move_together(m, (self.i,), (self.cache, self.o), self.found.valid)),
            ]
        return m

    def _ask(self, m, request):
        """Texels of a grid."""
        grid, texels = self.i.payload, self.texels.payload
        m.d.comb += carried(request, texels)
        for pixel in range(PIXELS):
            reads = grid.pixels[pixel].reads.replicate(CORNERS)
            m.d.comb += [
                request[f"level{pixel}"].eq(grid.pixels[pixel].level),
                request[f"reads{pixel}"].eq(texels[f"reads{pixel}"] & reads),
            ]

    def _ask_parts(self, m, request):
        """Texels of a part of a grid, of a face of each pixel."""
        for pixel in range(PIXELS):
            own = self.i.payload.pixels[pixel]
            m.d.comb += [request[f"{name}{pixel}"].eq(own[name]) for name in ASKED]

    def _move(self, m, request):
        """A grid moves, with the layers of its quad, which stay until the last one."""
        ends = self.i.payload.end
        if self._params.cubes:
            ways = (self.i,), (self.cache, self.o)
            ends &= self.i.payload.part_end
        else:
            ways = (self.i, self.texels), (self.cache, self.o)
        if not self._params.layers:
            move_together(m, *ways)
            return
        for pixel in range(PIXELS):
            face = self.i.payload.pixels[pixel].face if self._params.cubes else 0
            m.d.comb += request[f"layer{pixel}"].eq(self.layers.payload[pixel] + face)
        with m.If(ends):
            move_together(m, (*ways[0], self.layers), ways[1])
        with m.Else():
            move_together(m, *ways, self.layers.valid)
