# SPDX-License-Identifier: BSD-2-Clause
"""Shader choice: tiles go to the pixel pipe or to a shader outside, and come back in order."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import colours, quads


class ShaderChoice(wiring.Component):
    """Sends a tile where its draw state says, when no tile is on the other way.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    depths : bool
        Shaders may put out depths.
    most : int
        Tiles that can be on their way.

    Members
    -------
    quads : In(stream.Signature(layout(quads(edge))))
    built_in, outside : Out
        The same, those of the pixel pipe and the others.
    built_in_colours, outside_colours : In(stream.Signature(layout(colours(edge, depths))))
        Their colours.
    colours : Out
        All of them, in the order of tiles.
    """

    def __init__(self, edge: int, depths: bool, most: int) -> None:
        self._most = most
        tiles = stream.Signature(layout(quads(edge)))
        shaded = stream.Signature(layout(colours(edge, depths)))
        super().__init__(
            {
                "quads": In(tiles),
                "built_in": Out(tiles),
                "outside": Out(tiles),
                "built_in_colours": In(shaded),
                "outside_colours": In(shaded),
                "colours": Out(shaded),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = Signal(range(self._most + 1))
        way = Signal()  # of those that are counted: the pixel pipe
        asked = self.quads.payload.built_in
        may = named(m, (count == 0) | ((way == asked) & (count != self._most)), "may")
        goes = self.quads.valid & self.quads.ready
        comes = self.colours.valid & self.colours.ready
        m.d.comb += self.quads.ready.eq(may & Mux(asked, self.built_in.ready, self.outside.ready))
        for name, is_asked in (("built_in", asked), ("outside", ~asked)):
            port = getattr(self, name)
            m.d.comb += [
                port.valid.eq(self.quads.valid & may & is_asked),
                port.payload.eq(self.quads.payload),
            ]
        own, other = self.built_in_colours, self.outside_colours
        m.d.comb += [
            self.colours.valid.eq((count != 0) & Mux(way, own.valid, other.valid)),
            self.colours.payload.eq(Mux(way, own.payload, other.payload)),
            own.ready.eq((count != 0) & way & self.colours.ready),
            other.ready.eq((count != 0) & ~way & self.colours.ready),
        ]
        m.d.sync += count.eq(count + goes - comes)
        with m.If(goes):
            m.d.sync += way.eq(asked)
        return m
