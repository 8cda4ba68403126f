# SPDX-License-Identifier: BSD-2-Clause
"""Edge texels: texels of several faces become those of a grid, and corners get what they lack."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, gated, maximum, named
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.unit.layouts import PIXELS, GridBeats
from fixfunc.spec.textures.cache import TEXEL_QUAD
from fixfunc.spec.textures.filter import CHANNELS, CORNERS
from fixfunc.spec.textures.unit import TextureKind

COUNTED = "lookups", "misses", "lines"
COPIES = 3  # of a grid that lacks a texel: with each of the others in its place
SWAPPED = (0, 2, 1, 3)  # corners, columns for rows


def joint(beats: GridBeats) -> StructLayout:
    """A grid with its texels."""
    return StructLayout({"grid": beats.weights, "texels": layout(TEXEL_QUAD)})


class EdgeTexels(wiring.Component):
    """Joins the parts of grids: a grid a clock, if it is one part; combinational.

    Of a cube's corner one texel is missing. A pixel of one sample whose first grid lacks it has
    three grids for each, one with each of the others in its place, so that a third of their sum is
    exact. The filter of halves uses only the first of these grids, and the number of the missing
    corner. A pixel of several samples has the texel of its own face there.

    Parameters
    ----------
    beats : GridBeats
    wide : bool
        Blocks may take several lines: so there are more lines than blocks.

    Members
    -------
    i : In(stream.Signature(beats.parts))
    texels : In(stream.Signature(layout(TEXEL_QUAD)))
        Of the parts of ``i``.
    o : Out(stream.Signature(joint(beats)))
    """

    def __init__(self, beats: GridBeats, wide: bool) -> None:
        self._corners = beats.corners
        self._wide = wide
        super().__init__(
            {
                "i": In(stream.Signature(beats.parts)),
                "texels": In(stream.Signature(layout(TEXEL_QUAD))),
                "o": Out(stream.Signature(joint(beats))),
            }
        )

    def join(
        self,
        m: Module,
        parts: stream.Interface,
        texels: stream.Interface,
        grids: wiring.Component,
    ) -> None:
        """Connect it: grids have streams ``i`` and ``texels``, of which a STATE is in one."""
        wiring.connect(m, parts, self.i)
        wiring.connect(m, texels, self.texels)
        m.d.comb += [
            grids.i.payload.eq(self.o.payload.grid),
            grids.texels.payload.eq(self.o.payload.texels),
            grids.i.valid.eq(self.o.valid),
            grids.texels.valid.eq(self.o.valid),
            self.o.ready.eq(grids.i.ready),
        ]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        part = self.i.payload
        out, joined = self.o.payload.grid, self.o.payload.texels
        copy = Signal(range(COPIES))
        is_last = named(m, copy == COPIES - 1, "is_last")
        earlier = Signal(layout(TEXEL_QUAD))
        whole = self._whole(m, earlier)
        tripled, repeats = self._thirds(m)
        ends = named(m, ~repeats | is_last, "ends")
        m.d.comb += [
            out.kind.eq(part.kind),
            out.row.eq(part.row),
            out.end.eq(part.end & ends),
            joined.status.eq(whole.status),
            *(joined[name].eq(gated(whole[name], ends)) for name in COUNTED),
            *([out.copy.eq(copy != 0)] if self._corners else ()),
        ]
        for pixel in range(PIXELS):
            own = out.pixels[pixel]
            m.d.comb += [
                own.borders.eq(part.pixels[pixel].borders),
                own.weight.eq(gated(part.pixels[pixel].weight, (copy == 0) | tripled[pixel])),
                own.tripled.eq(tripled[pixel]),
                *self._missing(own, part.pixels[pixel]),
                *(joined[f"{axis}{pixel}"].eq(whole[f"{axis}{pixel}"]) for axis in "uv"),
            ]
            self._fill(m, whole, copy, pixel)
        is_part = named(m, part.kind == TextureKind.QUAD, "is_part")
        with m.If(~is_part):
            move_together(m, (self.i,), (self.o,))
        with m.Elif(~part.part_end), m.If(move_together(m, (self.i, self.texels), ())):
            m.d.sync += earlier.eq(whole)
        with m.Else():
            valid = named(m, self.i.valid & self.texels.valid, "both")
            m.d.comb += [
                self.o.valid.eq(valid),
                self.i.ready.eq(self.texels.valid & self.o.ready & ends),
                self.texels.ready.eq(self.i.valid & self.o.ready & ends),
            ]
            with m.If(valid & self.o.ready):
                m.d.sync += copy.eq(Mux(ends, 0, copy + 1))
                with m.If(ends):
                    m.d.sync += earlier.eq(0)
        return m

    def _missing(self, out, pixel):
        """The missing corner, for the filter of halves."""
        if self._corners:
            yield out.missing.eq(gated(pixel.missing, ~pixel.several))

    def _whole(self, m, earlier):
        """Texels of a grid so far: what a part has not read is zero."""
        texels = self.texels.payload
        whole = Signal(layout(TEXEL_QUAD))
        counts = [(name, len(texels[name] if self._wide else texels.lookups)) for name in COUNTED]
        m.d.comb += [
            *carried(whole, texels),
            whole.status.eq(maximum(earlier.status, texels.status)),
            *(whole[name].eq((earlier[name] + texels[name])[:bits]) for name, bits in counts),
        ]
        for pixel in range(PIXELS):
            swaps = self.i.payload.pixels[pixel].swaps
            for corner in range(CORNERS):
                for n in range(len(CHANNELS)):
                    plain, there = (f"t{pixel}_{k}_{n}" for k in (corner, SWAPPED[corner]))
                    found = Mux(swaps, texels[there], texels[plain])
                    m.d.comb += whole[plain].eq(earlier[plain] | found)
        return whole

    def _thirds(self, m):
        """Pixels whose grids count three times, and whether this one does."""
        part = self.i.payload
        first = Signal(init=1)
        held = Signal(PIXELS)
        tripled = Signal(PIXELS)
        counts = Signal(PIXELS)
        for pixel in range(PIXELS):
            own = part.pixels[pixel]
            lacks = own.missing.any() & ~own.several
            m.d.comb += [
                tripled[pixel].eq(Mux(first, lacks, held[pixel])),
                counts[pixel].eq(own.weight.any()),
            ]
        taken = self.i.valid & self.i.ready & (part.kind == TextureKind.QUAD) & part.part_end
        with m.If(taken):
            m.d.sync += [first.eq(part.end), held.eq(tripled)]
        return tripled, named(m, (tripled & counts).any(), "repeats")

    def _fill(self, m, whole, copy, pixel):
        """Texels of a pixel; of a missing one that of its own face, or of a neighbour."""
        missing = self.i.payload.pixels[pixel].missing
        for corner in range(CORNERS):
            for n in range(len(CHANNELS)):
                others = [
                    whole[f"t{pixel}_{other}_{n}"] for other in (corner ^ 3, corner ^ 2, corner ^ 1)
                ]
                name = f"t{pixel}_{corner}_{n}"
                found = Mux(missing[corner], choose(copy, others), whole[name])
                m.d.comb += self.o.payload.texels[name].eq(found)
