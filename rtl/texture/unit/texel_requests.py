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
    LEVELS,
    PIXELS,
    WEIGHTS,
    TextureUnitParams,
    refused,
)
from fixfunc.rtl.texture.unit.state_rows import ASKING, FOUND
from fixfunc.spec.textures.addresses import ADDRESSED_QUAD
from fixfunc.spec.textures.cache import CacheKind
from fixfunc.spec.textures.filter import CORNERS
from fixfunc.spec.textures.unit import NO_FORMAT, TextureKind


class TexelRequests(wiring.Component):
    """Joins levels and texels of grids, and parts what the cache needs from what passes beside it.

    A grid a clock; combinational. A STATE that asks for what the unit lacks has no format then.

    Parameters
    ----------
    params : TextureUnitParams

    Members
    -------
    i : In(stream.Signature(LEVELS))
    texels : In(stream.Signature(layout(ADDRESSED_QUAD)))
        Of the grids of ``i``.
    layers : In(stream.Signature(NUMBERS))
        Of the quads of ``i``; where there are layers.
    asking, found, taken : Out(ASKING), In(FOUND), Out(1)
        As of :class:`~fixfunc.rtl.texture.unit.state_rows.StateRows`.
    cache : Out(stream.Signature(BEATS))
    o : Out(stream.Signature(WEIGHTS))
    """

    def __init__(self, params: TextureUnitParams) -> None:
        self._params = params
        layers = {"layers": In(stream.Signature(NUMBERS))} if params.layers else {}
        super().__init__(
            layers
            | {
                "i": In(stream.Signature(LEVELS)),
                "texels": In(stream.Signature(layout(ADDRESSED_QUAD))),
                "asking": Out(ASKING),
                "found": In(FOUND),
                "taken": Out(1),
                "cache": Out(stream.Signature(BEATS)),
                "o": Out(stream.Signature(WEIGHTS)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        grid, texels, out = self.i.payload, self.texels.payload, self.o.payload
        is_grid = named(m, grid.kind == TextureKind.QUAD, "is_grid")
        m.d.comb += [
            out.kind.eq(grid.kind),
            out.row.eq(grid.row),
            out.end.eq(grid.end),
            self.asking.row.eq(grid.row),
            self.asking.valid.eq(self.i.valid & ~is_grid),
        ]
        for pixel in range(PIXELS):
            m.d.comb += [
                out.pixels[pixel].borders.eq(texels[f"borders{pixel}"]),
                out.pixels[pixel].weight.eq(grid.pixels[pixel].weight),
            ]
        request = self.cache.payload
        with m.If(is_grid):
            m.d.comb += [
                *carried(request.quad, texels),
                request.quad.kind.eq(CacheKind.QUAD),
            ]
            for pixel in range(PIXELS):
                reads = grid.pixels[pixel].reads.replicate(CORNERS)
                m.d.comb += [
                    request.quad[f"level{pixel}"].eq(grid.pixels[pixel].level),
                    request.quad[f"reads{pixel}"].eq(texels[f"reads{pixel}"] & reads),
                ]
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

    def _move(self, m, request):
        """A grid moves, with the layers of its quad, which stay until the last one."""
        ways = (self.i, self.texels), (self.cache, self.o)
        if not self._params.layers:
            move_together(m, *ways)
            return
        layers = self.layers.payload
        m.d.comb += [request[f"layer{pixel}"].eq(layers[pixel]) for pixel in range(PIXELS)]
        with m.If(self.i.payload.end):
            move_together(m, (*ways[0], self.layers), ways[1])
        with m.Else():
            move_together(m, *ways, self.layers.valid)
