# SPDX-License-Identifier: BSD-2-Clause
"""Triangle fetch: corners and attributes of a triangle, for the interpolator."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.vertex_ring.operation import ATTRIBUTE
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRingParams
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.pixel_pipe.triangle_table import ROW, STATE
from fixfunc.spec.commands import SLOT_BITS
from fixfunc.spec.pixels import interpolation
from fixfunc.spec.pixels.interpolation import COMPONENTS, How, InterpolatorKind

BEATS_AHEAD = 8  # of triangles whose quads wait
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
    """Corners of a triangle, then its attributes: a clock, and three for each attribute.

    A corner's attribute is asked for every clock, and comes in the next one.

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
        m.submodules.beats = beats = CreditedFIFO(BEATS, BEATS_AHEAD)
        wiring.connect(m, beats.o, wiring.flipped(self.o))
        corner = Signal(range(3))  # whose attribute is asked for
        attribute = Signal(range(self._attributes))
        is_found = Signal()  # the row of ``i``
        has_attributes = named(m, self.row.attributes != 0, "has_attributes")
        issued = named(m, self.i.valid & is_found & beats.available, "issued")
        is_begun = named(m, (attribute != 0) | (corner != 0), "is_begun")
        last_attribute = attribute + 1 == self.row.attributes
        last_corner = named(m, corner == 2, "last_corner")
        ends = named(m, ~has_attributes | (last_corner & last_attribute), "ends")
        m.d.comb += [
            self.attribute.eq(attribute),
            self.slot.eq(Array(self.row[f"slot{k}"] for k in range(3))[corner]),
            self.i.ready.eq(issued & ends),
            # Of the triangle's corners, and of each attribute.
            beats.consume.eq(issued & (~is_begun | (corner == 1))),
        ]
        m.d.sync += is_found.eq(self.i.valid & ~self.i.ready)
        with m.If(issued):
            m.d.sync += [
                corner.eq(Mux(ends | last_corner, 0, corner + 1)),
                attribute.eq(Mux(ends, 0, attribute + last_corner)),
            ]
        self._put_corners(m, beats.i, ends)
        complete = self._put_attribute(m, beats.i, issued & has_attributes, corner, attribute, ends)
        # A row is looked up between two triangles: the last attribute has come before the next one.
        m.d.comb += [
            beats.i.is_corners.eq(~complete),
            beats.push.eq(complete | (issued & ~is_begun)),
        ]
        return m

    def _put_corners(self, m, beat, ends):
        """Corners of the triangle, and what its attributes need of them."""
        out = Signal(layout(interpolation.CORNERS), name="corners")
        kinds = [self.state[f"how{n}"] for n in range(self._attributes)]
        used = [n < self.row.attributes for n in range(self._attributes)]
        m.d.comb += [
            out.kind.eq(InterpolatorKind.CORNERS),
            *(out[name].eq(self.row[name]) for name in ROW.members if name in out.shape().members),
            out.sample_mask.eq(self.state.sample_mask),
            beat.corners.eq(out),
            beat.last.eq(ends),
        ]
        for name, how in (("linear", How.LINEAR), ("perspective", How.PERSPECTIVE)):
            has_kind = Cat((kind == how) & has for kind, has in zip(kinds, used, strict=True))
            m.d.comb += out[name].eq(has_kind.any())

    def _put_attribute(self, m, beat, issued, corner, attribute, ends):
        """An attribute of all corners, when that of the third one comes."""
        corners = [Signal(ATTRIBUTE, name=f"corner_{k}") for k in range(2)]
        out = Signal(layout(interpolation.ATTRIBUTE), name="attribute_beat")
        complete = Signal()
        last = Signal()
        found_valid = Signal()  # ``found`` is what was issued
        modes = {name: Signal.like(out[name], name=f"issued_{name}") for name in ("how", "where")}
        m.d.sync += [
            complete.eq(issued & (corner == 2)),
            last.eq(ends),
            found_valid.eq(issued),
        ]
        with m.If(found_valid):
            m.d.sync += [
                corners[0].eq(corners[1]),
                corners[1].eq(self.found),
            ]
        m.d.comb += [
            out.kind.eq(InterpolatorKind.ATTRIBUTE),
            *(
                out[f"{name}{k}"].eq(value[name])
                for k, value in enumerate((*corners, self.found))
                for name in COMPONENTS
            ),
            beat.attribute.eq(out),
        ]
        for name, mode in modes.items():
            options = Array(self.state[f"{name}{n}"] for n in range(self._attributes))
            m.d.sync += mode.eq(options[attribute])
            m.d.comb += out[name].eq(mode)
        with m.If(complete):
            m.d.comb += beat.last.eq(last)
        return complete
