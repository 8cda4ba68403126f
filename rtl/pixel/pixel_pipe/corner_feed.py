# SPDX-License-Identifier: BSD-2-Clause
"""Corner feed: the interpolator hears of a triangle before its quads."""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.vertex_ring.operation import ATTRIBUTE
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRingParams
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.interpolator.triangle_intake import BEATS
from fixfunc.rtl.pixel.pixel_pipe.triangle_table import ROW, STATE
from fixfunc.spec.commands import SLOT_BITS
from fixfunc.spec.pixels import interpolation
from fixfunc.spec.pixels.interpolation import How, InterpolatorKind
from fixfunc.spec.points import QUAD


class CornerFeed(wiring.Component):
    """Puts corners and attributes of a triangle before its first quad.

    A quad a clock. A new triangle takes two clocks, and five more for each attribute.

    Parameters
    ----------
    ring : VertexRingParams
        Where attributes are.

    Members
    -------
    i : In(stream.Signature(layout(QUAD)))
        Quads of triangles, triangle by triangle.
    o : Out(stream.Signature(...))
        As the interpolator takes them.
    forget : In(1)
        The triangle of the last quad is over: its ``slot`` may be that of another.
    row, state : In(ROW), In(STATE)
        What the table holds of the triangle of ``i``, one clock after it is there.
    slot, attribute, found
        As of the vertex ring.
    """

    def __init__(self, ring: VertexRingParams) -> None:
        self._attributes = ring.attributes
        super().__init__(
            {
                "i": In(stream.Signature(layout(QUAD))),
                "o": Out(stream.Signature(BEATS)),
                "forget": In(1),
                "row": In(ROW),
                "state": In(STATE),
                "slot": Out(range(ring.slots)),
                "attribute": Out(range(ring.attributes)),
                "found": In(ATTRIBUTE),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        current = Signal(SLOT_BITS)
        known = Signal()
        quad = self.i.payload
        is_current = named(m, known & (quad.slot == current), "is_current")
        corner = Signal(2)  # whose attribute is asked for
        corners = [Signal(ATTRIBUTE, name=f"corner_{k}") for k in range(3)]
        attribute = Signal(range(self._attributes + 1))
        last = named(m, attribute + 1 == self.row.attributes, "last")
        m.d.comb += [
            self.attribute.eq(attribute),
            self.slot.eq(Array(self.row[f"slot{k}"] for k in range(3))[corner]),
        ]
        with m.FSM():
            with m.State("QUADS"):
                m.d.comb += [
                    self.o.valid.eq(self.i.valid & is_current),
                    self.i.ready.eq(self.o.ready & is_current),
                    self.o.payload.quad.kind.eq(InterpolatorKind.QUAD),
                    *(self.o.payload.quad[f.name].eq(quad[f.name]) for f in QUAD),
                ]
                with m.If(self.i.valid & ~is_current):
                    m.d.sync += [attribute.eq(0), corner.eq(0)]
                    m.next = "CORNERS"
            with m.State("CORNERS"):
                self._corners(m)
                with m.If(self.o.ready):
                    m.d.sync += [current.eq(quad.slot), known.eq(1)]
                    m.next = "QUADS"
                    with m.If(self.row.attributes.any()):
                        m.next = "FETCH"
            with m.State("FETCH"):
                values = [*corners[1:], self.found]
                # A corner's attribute comes a clock after it is asked for.
                m.d.sync += [
                    corner.eq(corner + 1),
                    *(into.eq(value) for into, value in zip(corners, values, strict=True)),
                ]
                with m.If(corner == 3):
                    m.next = "ATTRIBUTE"
            with m.State("ATTRIBUTE"):
                self._attribute(m, attribute, corners)
                with m.If(self.o.ready):
                    m.d.sync += [attribute.eq(attribute + 1), corner.eq(0)]
                    m.next = "FETCH"
                    with m.If(last):
                        m.next = "QUADS"
        with m.If(self.forget):
            m.d.sync += known.eq(0)
        return m

    def _corners(self, m):
        """Corners of the triangle, and what its attributes need of them."""
        out = self.o.payload.corners
        kinds = [self.state[f"how{n}"] for n in range(self._attributes)]
        used = [n < self.row.attributes for n in range(self._attributes)]
        m.d.comb += [
            self.o.valid.eq(1),
            out.kind.eq(InterpolatorKind.CORNERS),
            *(out[name].eq(self.row[name]) for name in ROW.members if name in out.shape().members),
            out.sample_mask.eq(self.state.sample_mask),
        ]
        for name, how in (("linear", How.LINEAR), ("perspective", How.PERSPECTIVE)):
            asks = Cat((kind == how) & has for kind, has in zip(kinds, used, strict=True))
            m.d.comb += out[name].eq(asks.any())

    def _attribute(self, m, attribute, corners):
        """An attribute of all corners."""
        out = self.o.payload.attribute
        m.d.comb += [
            self.o.valid.eq(1),
            out.kind.eq(InterpolatorKind.ATTRIBUTE),
            *(
                out[f"{name}{k}"].eq(corner[name])
                for k, corner in enumerate(corners)
                for name in interpolation.COMPONENTS
            ),
        ]
        for name in ("how", "where"):
            options = Array(self.state[f"{name}{n}"] for n in range(self._attributes))
            m.d.comb += out[name].eq(options[attribute])
