# SPDX-License-Identifier: BSD-2-Clause
"""Tile counts: how many tiles a surface has."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.memory.surface.rectangle import PIXELS, tile_shift

COUNT = 14  # bits of a count of rows or columns of tiles


class TileCounts(wiring.Component):
    """Count the tiles of a surface of at least one pixel.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.

    Members
    -------
    width, height : In(15)
        Pixels, at most 16,384.
    samples : In(2)
        log2 of the samples of a pixel.
    columns, rows : Out(14)
        Of tiles, a clock later.
    number : Out(30)
        All tiles, :attr:`latency` clocks later.
    """

    def __init__(self, edge: int) -> None:
        self._edge = edge
        self._product = Multiplier(COUNT + 1, COUNT + 1)
        self.latency = self._product.latency + 1
        super().__init__(
            {
                "width": In(PIXELS),
                "height": In(PIXELS),
                "samples": In(2),
                "columns": Out(COUNT),
                "rows": Out(COUNT),
                "number": Out(2 * COUNT + 2),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.product = product = self._product
        sides = ((self.columns, self.width), (self.rows, self.height))
        for axis, (count, pixels) in enumerate(sides):
            last = (pixels - 1)[:PIXELS] >> tile_shift(self._edge, self.samples, axis)
            m.d.sync += count.eq(last + 1)
        m.d.comb += [
            product.a.eq(self.columns),
            product.b.eq(self.rows),
            self.number.eq(product.o),
        ]
        return m
