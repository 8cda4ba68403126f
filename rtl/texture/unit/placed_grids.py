# SPDX-License-Identifier: BSD-2-Clause
"""Placed grids: their texels begin, and levels wait beside them."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.payload import carried
from fixfunc.rtl.texture.addresses.addresses import BEATS
from fixfunc.rtl.texture.cube.edge_rounds import beyond_faces
from fixfunc.rtl.texture.unit.layouts import PIXELS, TextureUnitParams
from fixfunc.rtl.texture.unit.state_rows import ASKING, found
from fixfunc.spec.textures.addresses import AddressKind
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import TextureKind


class PlacedGrids(wiring.Component):
    """Parts what addresses need of grids from what passes beside them; combinational.

    Parameters
    ----------
    params : TextureUnitParams

    Members
    -------
    i : In(stream.Signature(params.beats.placed))
    asking, found, taken : Out(ASKING), In(found(params.state)), Out(1)
        As of :class:`~fixfunc.rtl.texture.unit.state_rows.StateRows`.
    address : Out(stream.Signature(BEATS))
    levels : Out(stream.Signature(params.beats.levels))
    """

    def __init__(self, params: TextureUnitParams) -> None:
        self._cubes = params.cubes
        super().__init__(
            {
                "i": In(stream.Signature(params.beats.placed)),
                "asking": Out(ASKING),
                "found": In(found(params.state)),
                "taken": Out(1),
                "address": Out(stream.Signature(BEATS)),
                "levels": Out(stream.Signature(params.beats.levels)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        grid, state = self.i.payload, self.found.state
        is_grid = named(m, grid.kind == TextureKind.QUAD, "is_grid")
        beside, request = self.levels.payload, self.address.payload
        ways = (self.i,), (self.address, self.levels)
        m.d.comb += [
            beside.kind.eq(grid.kind),
            *carried(beside, grid, ("kind", "pixels")),
            self.asking.row.eq(grid.row),
            self.asking.valid.eq(self.i.valid & ~is_grid),
        ]
        for pixel in range(PIXELS):
            m.d.comb += carried(beside.pixels[pixel], grid.pixels[pixel])
        with m.If(is_grid):
            m.d.comb += request.quad.kind.eq(AddressKind.QUAD)
            for pixel in range(PIXELS):
                for name in ("x", "y", "level", "smooth"):
                    m.d.comb += request.quad[f"{name}{pixel}"].eq(grid.pixels[pixel][name])
            move_together(m, *ways)
        with m.Else():
            m.d.comb += [
                *carried(request.state, state),
                *(beyond_faces(request.state, state) if self._cubes else ()),
                request.state.kind.eq(AddressKind.STATE),
                request.state.gathers.eq(state.op == FilterOp.GATHER),
                self.taken.eq(move_together(m, *ways, self.found.valid)),
            ]
        return m
