# SPDX-License-Identifier: BSD-2-Clause
"""Grid rounds: a quad with its levels of detail becomes a grid, or two of neighbouring levels."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import among, gated, named
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.unit.layouts import PIXELS, QUADS, TO_PLACE
from fixfunc.rtl.texture.unit.state_rows import ASKING, FOUND
from fixfunc.spec.textures.addresses import Address
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.level_of_detail import LOD_OF_QUAD
from fixfunc.spec.textures.unit import TextureKind

ONE = 256  # weights of a pixel


class GridRounds(wiring.Component):
    """Joins quads and their levels: a grid a clock.

    Members
    -------
    i : In(stream.Signature(QUADS))
    levels : In(stream.Signature(layout(LOD_OF_QUAD)))
        Of the quads of ``i``.
    asking, found, taken : Out(ASKING), In(FOUND), Out(1)
        As of :class:`~fixfunc.rtl.texture.unit.state_rows.StateRows`.
    o : Out(stream.Signature(TO_PLACE))
        Combinational: in the clock of ``i``.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "i": In(stream.Signature(QUADS)),
                "levels": In(stream.Signature(layout(LOD_OF_QUAD))),
                "asking": Out(ASKING),
                "found": In(FOUND),
                "taken": Out(1),
                "o": Out(stream.Signature(TO_PLACE)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        quad, lods, out = self.i.payload, self.levels.payload, self.o.payload
        state = Signal.like(self.found.state)
        second = Signal()
        gathers = named(m, state.op == FilterOp.GATHER, "gathers")
        is_quad = named(m, quad.kind == TextureKind.QUAD, "is_quad")
        between = Signal(PIXELS)
        for pixel in range(PIXELS):
            place = out.pixels[pixel]
            is_between = lods[f"fraction{pixel}"].any() & quad.live[pixel] & ~gathers
            fraction = gated(lods[f"fraction{pixel}"], is_between)
            linear = Mux(lods[f"minifies{pixel}"], state.minify, state.magnify)
            level = gated(lods[f"level{pixel}"], ~gathers)
            m.d.comb += [
                between[pixel].eq(is_between),
                *carried(place, quad.pixels[pixel]),
                place.level.eq(level + (second & is_between)),
                place.smooth.eq(linear | gathers),
                place.reads.eq(quad.live[pixel] & (~second | is_between)),
                place.weight.eq(Mux(second, fraction, ONE - fraction)),
            ]
        ends = named(m, second | ~between.any(), "ends")
        m.d.comb += [
            out.kind.eq(quad.kind),
            out.row.eq(quad.row),
            out.end.eq(ends),
            *carried(out, state, ("kind",)),
            *(
                out[f"repeats_{axis}"].eq(among(state[f"mode_{axis}"], REPEATING))
                for axis in ("u", "v")
            ),
            self.asking.row.eq(quad.row),
            self.asking.valid.eq(self.i.valid & ~is_quad),
        ]
        with m.If(is_quad):
            moves = named(m, Cat(self.i.valid, self.levels.valid, self.o.ready).all(), "moves")
            m.d.comb += [
                self.o.valid.eq(self.i.valid & self.levels.valid),
                self.i.ready.eq(self.o.ready & self.levels.valid & ends),
                self.levels.ready.eq(self.o.ready & self.i.valid & ends),
            ]
            with m.If(moves):
                m.d.sync += second.eq(~ends)
        with m.Else():
            m.d.comb += self.taken.eq(move_together(m, (self.i,), (self.o,), self.found.valid))
            with m.If(self.taken):
                m.d.sync += state.eq(self.found.state)
        return m


REPEATING = Address.WRAP, Address.MIRROR
