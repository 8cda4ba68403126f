# SPDX-License-Identifier: BSD-2-Clause
"""Where in its pixels a quad's attribute is evaluated."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.data import ArrayLayout, View

from fixfunc.rtl.lib.bits import choose, lowest, named, number
from fixfunc.rtl.pixel.interpolator.weights import OFFSET
from fixfunc.rtl.samples import POSITIONS
from fixfunc.spec.interpolation import Where
from fixfunc.spec.points import QUAD_SAMPLES


def offsets(m: Module, quad: View, where: Value, sample_mask: Value) -> View:
    """Offsets from the centres of a quad's four pixels, 1/16 pixel.

    A centroid is the centre, if all samples are covered; else the first that is. Pixels without one
    have the first of the sample mask, or the centre, if the mask is full [fs 3.5.5].

    Parameters
    ----------
    m : Module
    quad : View
        Of :data:`fixfunc.spec.points.QUAD`.
    where : Value
        :class:`fixfunc.spec.interpolation.Where`.
    sample_mask : Value
        Eight bits.
    """
    out = Signal(ArrayLayout(OFFSET, 4), name="offsets")
    every = _of_mode(quad, [(1 << (1 << mode)) - 1 for mode in range(len(POSITIONS))])
    every = named(m, every, "every_sample")
    mask = named(m, sample_mask & every, "mask_of_samples")
    is_full = named(m, mask == every, "mask_is_full")
    for n in range(4):
        covered = quad.covered.word_select(n, QUAD_SAMPLES)
        nothing = named(m, ~covered.any(), f"nothing_{n}")
        first = named(m, number(lowest(Mux(nothing, mask, covered))), f"first_{n}")
        at_centroid = where == Where.CENTROID
        sample = named(m, Mux(at_centroid, first[:3], quad.sample), f"sample_{n}")
        is_centre = Mux(nothing, is_full, covered == every)
        at_centre = (where == Where.CENTRE) | (at_centroid & is_centre)
        place = _of_mode(quad, [_place(sample, mode) for mode in range(len(POSITIONS))])
        m.d.comb += out[n].eq(Mux(at_centre, 0, place))
    return out


def _of_mode(quad, options):
    """The option of the samples a pixel has."""
    return choose(quad.samples, options)


def _place(sample, mode):
    """A sample's offset, as bits."""
    places = [Cat(Const(x, 5), Const(y, 5)) for x, y in POSITIONS[mode]]
    return choose(sample[:mode], places) if mode else places[0]
