# SPDX-License-Identifier: BSD-2-Clause
"""Triangle fetch: corners and attributes of a triangle, for the interpolator."""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.vertex_ring.operation import ATTRIBUTE
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRingParams
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.pixel_pipe.triangle_table import ROW, STATE
from fixfunc.spec.commands import SLOT_BITS
from fixfunc.spec.pixels import interpolation
from fixfunc.spec.pixels.interpolation import COMPONENTS, How, InterpolatorKind

# Without quads, and whether a beat is a triangle's last.
BEATS = StructLayout(
    {
        "corners": layout(interpolation.CORNERS),
        "attribute": layout(interpolation.ATTRIBUTE),
        "is_corners": 1,
        "last": 1,
    }
)


class TriangleFetch(wiring.Component):
    """Corners of a triangle, then its attributes: two clocks, and five more for each attribute.

    Parameters
    ----------
    ring : VertexRingParams
        Where attributes are.

    Members
    -------
    i : In(stream.Signature(SLOT_BITS))
        A triangle, by its ``slot``.
    o : Out(stream.Signature(BEATS))
    row, state : In(ROW), In(STATE)
        What the table holds of ``i``, one clock after it is there.
    slot, attribute, found
        As of the vertex ring.
    """

    def __init__(self, ring: VertexRingParams) -> None:
        self._attributes = ring.attributes
        super().__init__(
            {
                "i": In(stream.Signature(SLOT_BITS)),
                "o": Out(stream.Signature(BEATS)),
                "row": In(ROW),
                "state": In(STATE),
                "slot": Out(range(ring.slots)),
                "attribute": Out(range(ring.attributes)),
                "found": In(ATTRIBUTE),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        corner = Signal(2)  # whose attribute is asked for
        corners = [Signal(ATTRIBUTE, name=f"corner_{k}") for k in range(3)]
        attribute = Signal(range(self._attributes + 1))
        out = self.o.payload
        ends = self.o.valid & self.o.ready & out.last
        m.d.comb += [
            self.attribute.eq(attribute),
            self.slot.eq(Array(self.row[f"slot{k}"] for k in range(3))[corner]),
            self.i.ready.eq(ends),
        ]
        self._put_corners(m)
        self._put_attribute(m, attribute, corners)
        with m.FSM():
            with m.State("IDLE"):
                m.d.sync += [attribute.eq(0), corner.eq(0)]
                with m.If(self.i.valid):
                    m.next = "CORNERS"
            with m.State("CORNERS"):
                m.d.comb += [
                    self.o.valid.eq(1),
                    out.is_corners.eq(1),
                    out.last.eq(self.row.attributes == 0),
                ]
                with m.If(self.o.ready):
                    m.next = "FETCH"
                    with m.If(out.last):
                        m.next = "IDLE"
            with m.State("FETCH"):
                # A corner's attribute comes a clock after it is asked for.
                values = [*corners[1:], self.found]
                m.d.sync += [
                    corner.eq(corner + 1),
                    *(into.eq(value) for into, value in zip(corners, values, strict=True)),
                ]
                with m.If(corner == 3):
                    m.next = "ATTRIBUTE"
            with m.State("ATTRIBUTE"):
                m.d.comb += [
                    self.o.valid.eq(1),
                    out.last.eq(attribute + 1 == self.row.attributes),
                ]
                with m.If(self.o.ready):
                    m.d.sync += attribute.eq(attribute + 1)
                    m.next = "FETCH"
                    with m.If(out.last):
                        m.next = "IDLE"
        return m

    def _put_corners(self, m):
        """Corners of the triangle, and what its attributes need of them."""
        out = self.o.payload.corners
        kinds = [self.state[f"how{n}"] for n in range(self._attributes)]
        used = [n < self.row.attributes for n in range(self._attributes)]
        m.d.comb += [
            out.kind.eq(InterpolatorKind.CORNERS),
            *(out[name].eq(self.row[name]) for name in ROW.members if name in out.shape().members),
            out.sample_mask.eq(self.state.sample_mask),
        ]
        for name, how in (("linear", How.LINEAR), ("perspective", How.PERSPECTIVE)):
            asks = Cat((kind == how) & has for kind, has in zip(kinds, used, strict=True))
            m.d.comb += out[name].eq(asks.any())

    def _put_attribute(self, m, attribute, corners):
        """An attribute of all corners."""
        out = self.o.payload.attribute
        m.d.comb += [
            out.kind.eq(InterpolatorKind.ATTRIBUTE),
            *(
                out[f"{name}{k}"].eq(corner[name])
                for k, corner in enumerate(corners)
                for name in COMPONENTS
            ),
        ]
        for name in ("how", "where"):
            options = Array(self.state[f"{name}{n}"] for n in range(self._attributes))
            m.d.comb += out[name].eq(options[attribute])
