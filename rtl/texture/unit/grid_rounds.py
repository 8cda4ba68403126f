# SPDX-License-Identifier: BSD-2-Clause
"""Grid rounds: a quad with its levels of detail becomes a grid, or two of neighbouring levels, for
each sample of its footprints.
"""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import among, gated, named
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.unit.layouts import COUNTS, PIXELS, QUADS, TextureUnitParams
from fixfunc.rtl.texture.unit.state_rows import ASKING, found
from fixfunc.spec.textures.addresses import Address
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.unit import TextureKind

ONE = 256  # weights of a pixel


class GridRounds(wiring.Component):
    """Joins quads and their levels: a grid a clock, of two levels the smaller one first.

    So the first grid of a pixel tells whether one of them lacks a texel at a cube's corner.

    Parameters
    ----------
    params : TextureUnitParams
        With footprints a pixel has as many samples as its own, and none of those behind them.

    Members
    -------
    i : In(stream.Signature(QUADS))
    levels : In(stream.Signature(layout(params.level_of_detail.levels)))
        Of the quads of ``i``.
    asking, found, taken : Out(ASKING), In(found(params.state)), Out(1)
        As of :class:`~fixfunc.rtl.texture.unit.state_rows.StateRows`.
    o : Out(stream.Signature(params.beats.to_place)), or of ``to_move`` with footprints
        Combinational: in the clock of ``i``.
    counts : Out(stream.Signature(COUNTS))
        Numbers of samples, with the last grid of a quad; absent without footprints.
    """

    def __init__(self, params: TextureUnitParams) -> None:
        self._footprints = params.footprints
        self._cubes = params.cubes
        beats = params.beats
        counts = {"counts": Out(stream.Signature(COUNTS))} if params.footprints else {}
        super().__init__(
            counts
            | {
                "i": In(stream.Signature(QUADS)),
                "levels": In(stream.Signature(layout(params.level_of_detail.levels))),
                "asking": Out(ASKING),
                "found": In(found(params.state)),
                "taken": Out(1),
                "o": Out(stream.Signature(beats.to_move if params.footprints else beats.to_place)),
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
        active, is_last = self._samples(m, quad.live & ~gathers.replicate(PIXELS))
        for pixel in range(PIXELS):
            place = out.pixels[pixel]
            counts = active[pixel] & quad.live[pixel]
            is_between = lods[f"fraction{pixel}"].any() & counts & ~gathers
            fraction = gated(lods[f"fraction{pixel}"], is_between)
            linear = Mux(lods[f"minifies{pixel}"], state.minify, state.magnify)
            level = gated(lods[f"level{pixel}"], ~gathers)
            m.d.comb += [
                between[pixel].eq(is_between),
                *carried(place, quad.pixels[pixel]),
                place.level.eq(level + (~second & is_between)),
                place.smooth.eq(linear | gathers),
                place.reads.eq(counts & (~second | is_between)),
                place.weight.eq(
                    gated(Mux(second == is_between, ONE - fraction, fraction), active[pixel])
                ),
            ]
        is_cube = state.cube & self._cubes
        if self._cubes:
            m.d.comb += out.gathers.eq(gathers)
        sampled = named(m, second | ~between.any(), "sampled")
        ends = named(m, sampled & is_last, "ends")
        m.d.comb += [
            out.kind.eq(quad.kind),
            out.row.eq(quad.row),
            out.end.eq(ends),
            *carried(out, state, ("kind",)),
            *(
                out[f"repeats_{axis}"].eq(among(state[f"mode_{axis}"], REPEATING) & ~is_cube)
                for axis in ("u", "v")
            ),
            self.asking.row.eq(quad.row),
            self.asking.valid.eq(self.i.valid & ~is_quad),
        ]
        with m.If(is_quad):
            self._move(m, ends, sampled, second)
        with m.Else():
            m.d.comb += self.taken.eq(move_together(m, (self.i,), (self.o,), self.found.valid))
            with m.If(self.taken):
                m.d.sync += state.eq(self.found.state)
        return m

    def _samples(self, m, several):
        """Pixels that have this sample of a footprint, and whether no pixel has another one.

        Of pixels that are not ``several`` there is one, which is the place itself.
        """
        if not self._footprints:
            return Const(-1, PIXELS), Const(1, 1)
        levels, out = self.levels.payload, self.o.payload
        sample = Signal.like(out.sample, name="sample")
        self._sample = sample
        active = Signal(PIXELS)
        following = Signal(PIXELS)
        m.d.comb += out.sample.eq(sample)
        for pixel in range(PIXELS):
            count = named(m, Mux(several[pixel], levels[f"count{pixel}"], 1), f"count_{pixel}")
            m.d.comb += [
                active[pixel].eq(sample < count),
                following[pixel].eq(sample + 1 < count),
                out.pixels[pixel].count.eq(count),
                self.counts.payload[pixel].eq(count),
                *(out.pixels[pixel][name].eq(levels[f"{name}{pixel}"]) for name in ALONG),
                *([out.pixels[pixel].several.eq(count > 1)] if self._cubes else []),
            ]
        return active, ~following.any()

    def _move(self, m, ends, sampled, second):
        """A grid leaves, and its quad with the last one of the last sample."""
        others = named(m, Cat(self.i.valid, self.levels.valid).all(), "known")
        free = self.counts.ready | ~ends if self._footprints else Const(1, 1)
        goes = named(m, self.o.ready & free, "goes")
        m.d.comb += [
            self.o.valid.eq(others & free),
            self.i.ready.eq(goes & self.levels.valid & ends),
            self.levels.ready.eq(goes & self.i.valid & ends),
        ]
        with m.If(others & goes):
            m.d.sync += second.eq(~sampled)
            if self._footprints:
                m.d.sync += self._sample.eq(Mux(ends, 0, self._sample + sampled))
        if self._footprints:
            m.d.comb += self.counts.valid.eq(others & self.o.ready & ends)


ALONG = "along_u", "along_v"
REPEATING = Address.WRAP, Address.MIRROR
