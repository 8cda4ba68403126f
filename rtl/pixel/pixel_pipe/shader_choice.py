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
    outputs : int
        Colours of a sample.
    most : int
        Tiles that can be on their way.

    Members
    -------
    quads : In(stream.Signature(layout(quads(edge, outputs))))
    built_in, outside : Out
        The same, those of the pixel pipe and the others.
    built_in_colours, outside_colours : In(stream.Signature(layout(colours(edge, depths, outputs))))
        Their colours.
    colours : Out
        All of them, in the order of tiles.
    """

    def __init__(self, edge: int, depths: bool, outputs: int, most: int) -> None:
        self._most = most
        tiles = stream.Signature(layout(quads(edge, outputs)))
        shaded = stream.Signature(layout(colours(edge, depths, outputs)))
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
        direction = Signal()  # of those that are counted: the pixel pipe
        is_built_in = self.quads.payload.built_in
        is_free = named(
            m, (count == 0) | ((direction == is_built_in) & (count != self._most)), "is_free"
        )
        sent = self.quads.valid & self.quads.ready
        received = self.colours.valid & self.colours.ready
        m.d.comb += self.quads.ready.eq(
            is_free & Mux(is_built_in, self.built_in.ready, self.outside.ready)
        )
        for name, is_chosen in (("built_in", is_built_in), ("outside", ~is_built_in)):
            port = getattr(self, name)
            m.d.comb += [
                port.valid.eq(self.quads.valid & is_free & is_chosen),
                port.payload.eq(self.quads.payload),
            ]
        own, other = self.built_in_colours, self.outside_colours
        m.d.comb += [
            self.colours.valid.eq((count != 0) & Mux(direction, own.valid, other.valid)),
            self.colours.payload.eq(Mux(direction, own.payload, other.payload)),
            own.ready.eq((count != 0) & direction & self.colours.ready),
            other.ready.eq((count != 0) & ~direction & self.colours.ready),
        ]
        m.d.sync += count.eq(count + sent - received)
        with m.If(sent):
            m.d.sync += direction.eq(is_built_in)
        return m
