# SPDX-License-Identifier: BSD-2-Clause
"""Interpolator: quads with attributes, by the corners of their triangles."""

from dataclasses import dataclass

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.payload import beat, carried, layout
from fixfunc.rtl.pixel.interpolator.attribute_quads import AttributeQuads
from fixfunc.spec.errors import InputError
from fixfunc.spec.pixels.interpolation import (
    ATTRIBUTE,
    CORNERS,
    QUAD_TO_SHADE,
    InterpolatorKind,
    attribute_quad,
)

BEATS = beat(corners=CORNERS, attribute=ATTRIBUTE, quad=QUAD_TO_SHADE)


@dataclass(frozen=True)
class InterpolatorParams:
    """Shape of an :class:`Interpolator`.

    Parameters
    ----------
    attributes : int
        Most of a triangle, of four components each: 2, 4 or 8.
    components : int
        Of an attribute, a clock: 1, 2 or 4.
    triangles : int
        Those whose corners are held: a power of two from 2 on.
    quads : int
        That wait for the corners of their triangle.
    inner : bool
        Quads say which of their pixels a triangle has whole; else of none.
    """

    attributes: int = 8
    components: int = 4
    triangles: int = 16
    quads: int = 32
    inner: bool = False

    def __post_init__(self):
        for name, known in (
            ("attributes", (2, 4, 8)),
            ("components", (1, 2, 4)),
            ("triangles", (2, 4, 8, 16)),
        ):
            if getattr(self, name) not in known:
                rule = f"be one of {', '.join(map(str, known))}"
                raise InputError(name, rule, getattr(self, name))
        if self.quads < 3:
            raise InputError("quads", "be above 2", self.quads)


CONFIGS = {
    "default": InterpolatorParams(),
    "half": InterpolatorParams(components=2, inner=True),
    "single": InterpolatorParams(components=1),
    "tiny": InterpolatorParams(attributes=2, components=1, triangles=2, quads=4, inner=True),
}
PURPOSE = {  # of each configuration
    "default": "an attribute of a quad a clock, eight attributes",
    "half": "two components of a quad a clock: less area; inner coverage",
    "single": "one component of a quad a clock: less area",
    "tiny": "for benches: one component, two attributes, two triangles, inner coverage",
}


class Interpolator(wiring.Component):
    """Attributes of quads, one a clock; triangles and their quads come by one stream.

    Parameters
    ----------
    params : InterpolatorParams

    Members
    -------
    i : In(stream.Signature(BEATS))
        CORNERS of a triangle, its ATTRIBUTEs, its QUADs, by kind:
        :class:`fixfunc.spec.pixels.interpolation.InterpolatorKind`.
    o : Out(stream.Signature(layout(attribute_quad(params.components))))
        As of :class:`~fixfunc.rtl.pixel.interpolator.attribute_quads.AttributeQuads`.
    """

    def __init__(self, params: InterpolatorParams = CONFIGS["default"]) -> None:
        self._inner = AttributeQuads(params)
        super().__init__(
            {
                "i": In(stream.Signature(BEATS)),
                "o": Out(stream.Signature(layout(attribute_quad(params.components)))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a quad's turn to its first attribute."""
        return self._inner.latency

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.attribute_quads = inner = self._inner
        wiring.connect(m, inner.o, wiring.flipped(self.o))
        now = self.i.payload
        is_quad = named(m, now.kind == InterpolatorKind.QUAD, "is_quad")
        newest = Signal.like(inner.current, init=-1)  # triangle
        m.d.comb += [
            inner.triangles.valid.eq(self.i.valid & ~is_quad),
            inner.triangles.payload.eq(now),
            inner.quads.valid.eq(self.i.valid & is_quad),
            inner.quads.payload.triangle.eq(newest),
            *carried(inner.quads.payload.quad, now.quad),
            inner.current.eq(newest),
            self.i.ready.eq(Mux(is_quad, inner.quads.ready, inner.triangles.ready)),
        ]
        takes = inner.triangles.valid & inner.triangles.ready
        with m.If(takes & (now.kind == InterpolatorKind.CORNERS)):
            m.d.sync += newest.eq(newest + 1)
        return m
