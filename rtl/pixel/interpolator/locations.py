# SPDX-License-Identifier: BSD-2-Clause
"""Where in its pixels a quad's attribute is evaluated."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, lowest, named, number
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.interpolator.weights import OFFSET
from fixfunc.rtl.samples import POSITIONS
from fixfunc.spec.pixels.interpolation import Where
from fixfunc.spec.points import QUAD, QUAD_SAMPLES


class Locations(wiring.Component):
    """Offsets from the centres of a quad's pixels, 1/16 pixel; combinational.

    A centroid is the centre, if all samples are covered; else the first that is. Pixels without one
    have the first of the sample mask, or the centre, if the mask is full [fs 3.5.5].

    Members
    -------
    quad : In(layout(QUAD))
    where : In(2)
        :class:`fixfunc.spec.pixels.interpolation.Where`.
    sample_mask : In(8)
    pixel : In(2)
        One of the four, whose offset is asked for.
    o : Out(OFFSET)
    differ : Out(1)
        Pixels may have offsets of their own: each is asked for. Else they have the same.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "quad": In(layout(QUAD)),
                "where": In(2),
                "sample_mask": In(8),
                "pixel": In(2),
                "o": Out(OFFSET),
                "differ": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        quad = self.quad
        every = _of_mode(quad, [(1 << (1 << mode)) - 1 for mode in range(len(POSITIONS))])
        every = named(m, every, "every_sample")
        mask = named(m, self.sample_mask & every, "mask")
        is_full = named(m, mask == every, "mask_is_full")
        centres = Signal(4)
        for n in range(4):
            covered = quad.covered.word_select(n, QUAD_SAMPLES)
            centre = Mux(covered.any(), covered == every, is_full)
            m.d.comb += centres[n].eq(centre)
        at_centroid = named(m, self.where == Where.CENTROID, "at_centroid")
        covered = named(m, quad.covered.word_select(self.pixel, QUAD_SAMPLES), "covered")
        first = named(m, number(lowest(Mux(covered.any(), covered, mask))), "first")
        sample = named(m, Mux(at_centroid, first[:3], quad.sample), "sample")
        is_centre = at_centroid & centres.bit_select(self.pixel, 1)
        place = _of_mode(quad, [_place(sample, mode) for mode in range(len(POSITIONS))])
        m.d.comb += [
            self.o.eq(Mux((self.where == Where.CENTRE) | is_centre, 0, place)),
            self.differ.eq(at_centroid & ~centres.all()),
        ]
        return m


def _of_mode(quad, options):
    """The option of the samples a pixel has."""
    return choose(quad.samples, options)


def _place(sample, mode):
    """A sample's offset, as bits."""
    places = [Cat(Const(x, 5), Const(y, 5)) for x, y in POSITIONS[mode]]
    return choose(sample[:mode], places) if mode else places[0]
