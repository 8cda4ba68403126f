# SPDX-License-Identifier: BSD-2-Clause
"""Stage feed: quads with whole attributes for the texture stage, and the pixel state of each."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.pixel_pipe.triangle_table import STATE
from fixfunc.rtl.pixel.texture_stage import BEATS
from fixfunc.spec.pixels.interpolation import COMPONENTS, attribute_quad
from fixfunc.spec.pixels.texture_stage import STAGE_STATE, StageKind
from fixfunc.spec.points import QUAD

OF_QUADS = "attribute", "end", "inner"


class StageFeed(wiring.Component):
    """Joins the parts of an attribute, and puts a pixel state before the first quad of it.

    A part a clock; a new state takes three clocks.

    Parameters
    ----------
    components : int
        Of an attribute in one part.
    triangles, states : int
        As of :class:`~fixfunc.rtl.pixel.pixel_pipe.triangle_table.TriangleTable`.

    Members
    -------
    i : In(stream.Signature(layout(attribute_quad(components))))
    o : Out(stream.Signature(BEATS))
        As the texture stage takes them.
    restart : In(1)
    renewed : In(StructLayout)
        A pixel state gets this number.
    state_row, state : Out, In(STATE)
        Number of the pixel state of ``i``, and it, one clock later.
    """

    def __init__(self, components: int, triangles: int, states: int) -> None:
        self._components = components
        self._row_bits = (triangles - 1).bit_length()
        super().__init__(
            {
                "i": In(stream.Signature(layout(attribute_quad(components)))),
                "o": Out(stream.Signature(BEATS)),
                "restart": In(1),
                "renewed": In(StructLayout({"valid": 1, "number": range(states)})),
                "state_row": Out(range(states)),
                "state": In(STATE),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        current = Signal.like(self.state_row)
        is_known = Signal()
        quad = self.i.payload
        number = named(m, quad.slot[self._row_bits :][: len(current)], "number")
        is_current = named(m, is_known & (number == current), "is_current")
        is_whole = named(
            m, quad.end | (quad.part == len(COMPONENTS) // self._components - 1), "is_whole"
        )
        m.d.comb += self.state_row.eq(number)
        own = self._join(m, quad)
        with m.FSM():
            with m.State("QUADS"):
                m.d.comb += [
                    self.o.valid.eq(self.i.valid & is_current & is_whole),
                    self.i.ready.eq(is_current & (self.o.ready | ~is_whole)),
                    self.o.payload.quad.kind.eq(StageKind.QUAD),
                    *(self.o.payload.quad[f.name].eq(quad[f.name]) for f in QUAD),
                    *(self.o.payload.quad[name].eq(quad[name]) for name in OF_QUADS),
                    *(
                        self.o.payload.quad[f"p{pixel}_{n}"].eq(own[pixel][n])
                        for pixel in range(4)
                        for n in range(len(COMPONENTS))
                    ),
                ]
                with m.If(self.i.valid & ~is_current):
                    m.next = "STATE"
            with m.State("STATE"):
                m.d.comb += [
                    self.o.valid.eq(1),
                    self.o.payload.state.kind.eq(StageKind.STATE),
                    *(self.o.payload.state[f.name].eq(self.state[f.name]) for f in STAGE_STATE[1:]),
                ]
                with m.If(self.o.ready):
                    m.d.sync += [current.eq(number), is_known.eq(1)]
                    m.next = "QUADS"
        with m.If(self.restart | (self.renewed.valid & (self.renewed.number == current))):
            m.d.sync += is_known.eq(0)
        return m

    def _join(self, m, quad):
        """All components of the attribute, with those of the parts before; of none, zeros."""
        count = self._components
        parts = len(COMPONENTS) // count
        kept = Signal(ArrayLayout(ArrayLayout(32, len(COMPONENTS)), 4))
        joined = Signal(kept.shape())
        for pixel in range(4):
            for n in range(len(COMPONENTS)):
                part, place = divmod(n, count)
                # Of the last part nothing can be there before.
                is_before = (quad.part > part) if part < parts - 1 else 0
                own = quad[f"p{pixel}_{place}"]
                before = gated(kept[pixel][n], is_before)
                m.d.comb += joined[pixel][n].eq(Mux(quad.part == part, own, before))
        if count < len(COMPONENTS):
            with m.If(self.i.valid & self.i.ready):
                m.d.sync += kept.eq(joined)
        return joined
