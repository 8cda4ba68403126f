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
from fixfunc.rtl.pixel.interpolator.triangle_intake import BEATS
from fixfunc.rtl.pixel.pixel_pipe.triangle_table import ROW, STATE
from fixfunc.spec.commands import SLOT_BITS
from fixfunc.spec.pixels import interpolation
from fixfunc.spec.pixels.interpolation import COMPONENTS, How, InterpolatorKind

BEATS_AHEAD = 8  # of triangles whose quads wait
FETCHED = StructLayout({"beat": BEATS, "last": 1})  # whether a beat is its triangle's last


class TriangleFetch(wiring.Component):
    """Corners of a triangle, then its attributes: three clocks for each, one without any.

    A corner's attribute is asked for every clock, and comes in the next one.

    Parameters
    ----------
    ring : VertexRingParams
        Where attributes are.

    Members
    -------
    i : In(stream.Signature(SLOT_BITS))
        A triangle, by its ``slot``.
    o : Out(stream.Signature(FETCHED))
    looks_up : Out(1)
        The table is to look ``i`` up.
    row, state : In(ROW), In(STATE)
        What it holds of the triangle that was looked up, from the next clock on.
    slot, attribute, found
        As of the vertex ring.
    """

    def __init__(self, ring: VertexRingParams) -> None:
        self._attributes = ring.attributes
        super().__init__(
            {
                "i": In(stream.Signature(SLOT_BITS)),
                "o": Out(stream.Signature(FETCHED)),
                "looks_up": Out(1),
                "row": In(ROW),
                "state": In(STATE),
                "slot": Out(range(ring.slots)),
                "attribute": Out(range(ring.attributes)),
                "found": In(ATTRIBUTE),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.beats = beats = CreditedFIFO(FETCHED, BEATS_AHEAD)
        wiring.connect(m, beats.o, wiring.flipped(self.o))
        corner = Signal(range(3))  # whose attribute is asked for
        attribute = Signal(range(self._attributes))
        is_found = Signal()  # the row of a triangle that is not over
        complete = Signal()  # an attribute
        has_attributes = named(m, self.row.attributes != 0, "has_attributes")
        # One beat a clock: corners without attributes wait for the attribute before them.
        is_free = named(m, has_attributes | ~complete, "is_free")
        issued = named(m, is_found & beats.available & is_free, "issued")
        last_attribute = attribute + 1 == self.row.attributes
        last_corner = named(m, corner == 2, "last_corner")
        ends = named(m, ~has_attributes | (last_corner & last_attribute), "ends")
        is_first = named(m, (attribute == 0) & (corner == 0), "is_first")
        # The attribute before may come with the first corner.
        is_second = named(m, (attribute == 0) & (corner == 1), "is_second")
        puts_corners = named(m, issued & (is_second | ~has_attributes), "puts_corners")
        m.d.comb += [
            self.attribute.eq(attribute),
            self.slot.eq(Array(self.row[f"slot{k}"] for k in range(3))[corner]),
            self.i.ready.eq(~is_found | (issued & ends)),
            self.looks_up.eq(self.i.valid & self.i.ready),
            # Of the triangle's corners, and of each attribute.
            beats.consume.eq(issued & (is_first | (corner == 1))),
        ]
        with m.If(self.i.ready):
            m.d.sync += is_found.eq(self.i.valid)
        with m.If(issued):
            m.d.sync += [
                corner.eq(Mux(ends | last_corner, 0, corner + 1)),
                attribute.eq(Mux(ends, 0, attribute + last_corner)),
            ]
        attribute_issued = named(m, issued & has_attributes, "attribute_issued")
        m.d.sync += complete.eq(attribute_issued & last_corner)
        last = Signal()  # attribute of its triangle
        m.d.sync += last.eq(ends)
        corners = self._corners(m)
        found = self._attribute(m, attribute_issued, attribute)
        m.d.comb += [
            beats.push.eq(complete | puts_corners),
            beats.i.beat.eq(Mux(complete, found, corners)),
            beats.i.last.eq(Mux(complete, last, ends)),
        ]
        return m

    def _corners(self, m):
        """Corners of the triangle, and what its attributes need of them."""
        out = Signal(layout(interpolation.CORNERS), name="corners")
        kinds = [self.state[f"how{n}"] for n in range(self._attributes)]
        used = [n < self.row.attributes for n in range(self._attributes)]
        m.d.comb += [
            out.kind.eq(InterpolatorKind.CORNERS),
            *(out[name].eq(self.row[name]) for name in ROW.members if name in out.shape().members),
            out.sample_mask.eq(self.state.sample_mask),
        ]
        for name, how in (("linear", How.LINEAR), ("perspective", How.PERSPECTIVE)):
            has_kind = Cat((kind == how) & has for kind, has in zip(kinds, used, strict=True))
            m.d.comb += out[name].eq(has_kind.any())
        return out

    def _attribute(self, m, issued, attribute):
        """An attribute of all corners, when that of the third one comes."""
        corners = [Signal(ATTRIBUTE, name=f"corner_{k}") for k in range(2)]
        out = Signal(layout(interpolation.ATTRIBUTE), name="attribute_beat")
        found_valid = Signal()  # ``found`` is what was issued
        m.d.sync += found_valid.eq(issued)
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
        ]
        for name in ("how", "where"):
            options = Array(self.state[f"{name}{n}"] for n in range(self._attributes))
            mode = Signal.like(out[name], name=f"issued_{name}")
            m.d.sync += mode.eq(options[attribute])
            m.d.comb += out[name].eq(mode)
        return out
