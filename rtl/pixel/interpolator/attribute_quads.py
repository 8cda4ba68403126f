# SPDX-License-Identifier: BSD-2-Clause
"""Attribute quads: quads with attributes, whose triangles have a stream of their own."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import Out

from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.delay import held, later
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.interpolator.inner_coverage import InnerCoverage
from fixfunc.rtl.pixel.interpolator.locations import Locations
from fixfunc.rtl.pixel.interpolator.triangle_intake import TriangleIntake
from fixfunc.rtl.pixel.interpolator.values import CORNERS, Between
from fixfunc.rtl.pixel.interpolator.weights import Weights
from fixfunc.spec.pixels.interpolation import COMPONENTS, attribute_quad
from fixfunc.spec.points import QUAD

SIDE = StructLayout(
    {
        "quad": layout(QUAD),
        "attribute": 4,
        "part": 2,
        "end": 1,
        "pixel": 2,
        "differ": 1,
        "conservative": 1,
    }
)


class AttributeQuads(wiring.Component):
    """Attributes of quads, one a clock, while triangles come beside them.

    Parameters
    ----------
    params : InterpolatorParams

    Members
    -------
    triangles, quads, current : In
        As of :class:`~fixfunc.rtl.pixel.interpolator.triangle_intake.TriangleIntake`.
    o : Out(stream.Signature(layout(attribute_quad(params.components))))
        Each quad with each of its attributes in order; one of a triangle without any goes out once.
        :attr:`latency` clocks behind a quad whose corners are known, at the earliest.
    """

    def __init__(self, params: object) -> None:
        self._params = params
        self._intake = TriangleIntake(params)
        self._weights = Weights()
        super().__init__(
            {
                **{
                    name: self._intake.signature.members[name]
                    for name in ("triangles", "quads", "current")
                },
                "o": Out(stream.Signature(layout(attribute_quad(params.components)))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a quad's turn to its first attribute."""
        return self._behind + CreditedFIFO.LATENCY

    @property
    def _behind(self):
        """Clocks from a quad's turn to the end of the pipeline."""
        return 2 + self._weights.latency + Between.LATENCY

    @property
    def _parts(self):
        """Clocks of an attribute."""
        return len(COMPONENTS) // self._params.components

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.intake = intake = self._intake
        m.submodules.out = out = CreditedFIFO(self.o.payload.shape(), self._behind + 8)
        for name in ("triangles", "quads"):
            wiring.connect(m, wiring.flipped(getattr(self, name)), getattr(intake, name))
        m.d.comb += intake.current.eq(self.current)
        wiring.connect(m, out.o, wiring.flipped(self.o))
        t = Timeline(m)
        self._issue(m, t, intake, out)
        self._evaluate(m, t, intake, out)
        return m

    def _issue(self, m, t, intake, out):
        """A quad's attributes in turn, the parts of each, and pixels where each has its place."""
        attribute = Signal(range(self._params.attributes))
        part = Signal(2)
        pixel = Signal(2)
        turn = intake.o.payload
        m.submodules.locations = locations = Locations()
        quad = Signal(layout(QUAD))  # its samples that the sample mask leaves
        m.d.comb += [
            quad.eq(turn.quad),
            quad.covered.eq(turn.quad.covered & intake.sample_mask.replicate(4)),
        ]
        no_attributes = named(m, turn.attributes == 0, "no_attributes")
        differ = named(m, locations.differ & ~no_attributes, "differ")
        last_pixel = named(m, ~differ | (pixel == 3), "last_pixel")
        last_part = named(m, no_attributes | (part == self._parts - 1), "last_part")
        last_attribute = no_attributes | (attribute + 1 == turn.attributes)
        end = named(m, last_part & last_attribute, "end")
        issued = named(m, intake.o.valid & out.available, "issued")
        m.d.comb += [
            locations.quad.eq(quad),
            locations.where.eq(intake.where),
            locations.sample_mask.eq(intake.sample_mask),
            locations.pixel.eq(pixel),
            out.consume.eq(issued & last_pixel),
            intake.o.ready.eq(out.available & last_pixel & end),
            intake.attribute.eq(attribute),
        ]
        with m.If(issued):
            m.d.sync += pixel.eq(Mux(last_pixel, 0, pixel + 1))
        with m.If(issued & last_pixel):
            m.d.sync += part.eq(Mux(last_part, 0, part + 1))
        with m.If(issued & last_pixel & last_part):
            m.d.sync += attribute.eq(Mux(end, 0, attribute + 1))
        side = Signal(SIDE)
        m.d.comb += [
            side.quad.eq(quad),
            side.attribute.eq(attribute),
            side.part.eq(part),
            side.end.eq(end),
            side.pixel.eq(pixel),
            side.differ.eq(differ),
        ]
        if self._params.inner:
            m.d.comb += side.conservative.eq(intake.conservative)
        t.enter(
            0,
            side=side,
            leaves=issued & last_pixel,
            no_attributes=no_attributes,
            offset=locations.o,
        )

    def _evaluate(self, m, t, intake, out):
        """Weights of the quad, and components by them."""
        m.submodules.weights = weights = self._weights
        m.d.comb += [
            weights.i.planes.eq(intake.planes),
            weights.i.x.eq(t[2].side.quad.x),
            weights.i.y.eq(t[2].side.quad.y),
            weights.i.offset.eq(t[2].offset),
        ]
        # What belongs to the quad waits while its weights are found.
        count = self._params.components
        corners = Signal(ArrayLayout(CORNERS, count))
        part = t[2].side.part[: (self._parts - 1).bit_length()]
        m.d.comb += corners.eq(intake.found.as_value().word_select(part, corners.shape().size))
        no_attributes = t[2].no_attributes
        with m.If(no_attributes):
            m.d.comb += corners.eq(0)
            m.d.comb += [component.constant.eq(1) for component in corners]
        kept = later(m, corners, weights.latency, "kept_corners")
        side = later(m, t[1].side, self._behind - 1, "kept_side")
        for pixel in range(4):
            for n in range(count):
                between = Between()
                m.submodules[f"between_{pixel}_{n}"] = between
                m.d.comb += [
                    between.corners.eq(kept[n]),
                    between.weights.eq(weights.o[pixel]),
                ]
                is_own = side.pixel == pixel
                own = held(m, between.o, is_own, f"own_{pixel}_{n}")
                value = Mux(side.differ & ~is_own, own, between.o)
                m.d.comb += out.i[f"p{pixel}_{n}"].eq(value)
        m.d.comb += [
            *(out.i[f.name].eq(side.quad[f.name]) for f in QUAD),
            *(out.i[name].eq(side[name]) for name in ("attribute", "part", "end")),
            out.push.eq(t[self._behind].leaves),
        ]
        if self._params.inner:
            m.d.comb += out.i.inner.eq(gated(self._inner(m, t, intake), side.conservative))

    def _inner(self, m, t, intake):
        """Inner coverage of the quad, when its weights and components are known."""
        m.submodules.inner = inner = InnerCoverage()
        quad = t[2].side.quad
        m.d.comb += [inner.edges.eq(intake.edges), inner.x.eq(quad.x), inner.y.eq(quad.y)]
        shape = StructLayout({"inner": 4})
        return later(m, shape(inner.o), self._behind - 2 - inner.latency, "kept_inner").inner
