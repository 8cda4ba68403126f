# SPDX-License-Identifier: BSD-2-Clause
"""Quads of pixels of a tile."""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.payload import layout
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec import payloads
from fixfunc.spec.colours import FORMAT, format_name, quads


class Quads(wiring.Component):
    """Which pixels of a tile are to be shaded; combinational.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    outputs : int
        Colours of a sample.

    Members
    -------
    state, tile : In
    formats : In(ArrayLayout(FORMAT, outputs))
        Of each; 0 where it is not asked for.
    o : Out(layout(quads(edge, outputs)))
    """

    def __init__(self, edge, outputs):
        self._edge = edge
        self._outputs = outputs
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "tile": In(layout(payloads.tested(edge))),
                "formats": In(ArrayLayout(FORMAT, outputs)),
                "o": Out(layout(quads(edge, outputs))),
            }
        )

    def elaborate(self, platform):
        m = Module()
        edge = self._edge
        tile = self.tile
        out = self.o
        pixels = [
            Cat(self._live(x, y, shape) for y in range(edge) for x in range(edge))
            for shape in SHAPES
        ]
        live = Signal(edge**2)
        whole = [
            Cat(live[(y ^ dy) * edge + (x ^ dx)] for dy in (0, 1) for dx in (0, 1)).any()
            for y in range(edge)
            for x in range(edge)
        ]
        m.d.comb += [
            out[name].eq(tile[name])
            for name in ("kind", "state", "slot", "x", "y", "back", "mask", "covered")
        ]
        m.d.comb += [
            *(out[format_name(n)].eq(self.formats[n]) for n in range(self._outputs)),
            out.samples.eq(self.state.samples),
            out.flat_colour.eq(self.state.flat_colour),
            out.built_in.eq(self.state.built_in),
            live.eq(Array(pixels)[self.state.samples]),
            out.live.eq(live),
            out.helpers.eq(Cat(whole) & ~live),
        ]
        return m

    def _live(self, x, y, shape):
        """Any sample of a pixel; none of one that lies beyond the tile."""
        edge = self._edge
        lx, ly = shape
        if x >= edge >> lx or y >= edge >> ly:
            return 0
        return Cat(
            self.tile.mask[((y << ly) + j) * edge + (x << lx) + i]
            for j in range(1 << ly)
            for i in range(1 << lx)
        ).any()
