# SPDX-License-Identifier: BSD-2-Clause
"""Tile lookup: lines find their tiles among those on chip, ahead of their use."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, named, number
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.coded_lines.layouts import MISSED, CodedLinesParams
from fixfunc.spec.textures.coded_lines import TILE_ADDRESS, TILE_LINES


class TileLookup(wiring.Component):
    """Look up the tile of a line: one a clock; the oldest tile is the victim.

    Lines are served in order, and a tile is put on chip when its line has its turn. So a tile that
    is on its way is a hit of its tag, and a victim has been used by all lines before.

    Parameters
    ----------
    params : CodedLinesParams

    Members
    -------
    i : In(stream.Signature(layout(params.read)))
    ordered : Out(stream.Signature(params.ordered))
        Every line.
    missed : Out(stream.Signature(MISSED))
        Tiles that are not on chip, in the order of their lines.
    forget : In(1)
        No tile is on chip; while no line is under way.
    """

    def __init__(self, params: CodedLinesParams) -> None:
        self._tiles = params.tiles
        super().__init__(
            {
                "i": In(stream.Signature(layout(params.read))),
                "ordered": Out(stream.Signature(params.ordered)),
                "missed": Out(stream.Signature(MISSED)),
                "forget": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        read = self.i.payload
        square_bits = (TILE_LINES - 1).bit_length()
        address = read.line[square_bits:]
        known = Signal(self._tiles)
        tags = [Signal(TILE_ADDRESS, name=f"tag_{n}") for n in range(self._tiles)]
        victim = Signal(range(self._tiles))
        found = named(m, Cat(tag == address for tag in tags) & known, "found")
        hit = named(m, found.any(), "hit")
        ready = named(m, self.ordered.ready & self.missed.ready, "ready")
        moves = named(m, self.i.valid & ready, "moves")
        order = self.ordered.payload
        m.d.comb += [
            self.i.ready.eq(ready),
            self.ordered.valid.eq(moves),
            order.id.eq(read.id),
            order.square.eq(read.line),
            order.slot.eq(number(found) | gated(victim, ~hit)),
            order.missed.eq(~hit),
            self.missed.valid.eq(moves & ~hit),
            self.missed.payload.address.eq(address),
            *carried(self.missed.payload, read),
        ]
        with m.If(moves & ~hit):
            m.d.sync += victim.eq(victim + 1)
            for n, tag in enumerate(tags):
                with m.If(victim == n):
                    m.d.sync += [tag.eq(address), known[n].eq(1)]
        with m.If(self.forget):
            m.d.sync += known.eq(0)
        return m
