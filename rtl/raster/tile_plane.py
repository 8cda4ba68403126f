# SPDX-License-Identifier: BSD-2-Clause
"""Depth plane of a triangle at a tile."""

from amaranth.hdl import Array, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.samples import SHAPES

START = 56  # bits of s31.24
ROUND = 1 << 15  # half a unit of what a tile carries, in units of what SETUP carries


class TilePlane(wiring.Component):
    """Depth at the first pixel of a tile, one tile a clock, :attr:`latency` clocks later.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    position : int
        Bits of a tile's position.

    Members
    -------
    x_tiles, y_tiles : In(position)
        Tiles from the first one of the box.
    samples : In(2)
        log2 of the samples of a pixel.
    z, zx, zy : In
        Depth plane at the first tile, as in :data:`fixfunc.spec.payloads.SETUP`.
    z0, dx, dy : Out
        Depth plane at the tile, as in :func:`fixfunc.spec.payloads.tile`.
    """

    def __init__(self, edge, position):
        self._edge = edge
        self._multipliers = [Multiplier(position + 1, START, START) for _ in "xy"]
        super().__init__(
            {
                "x_tiles": In(position),
                "y_tiles": In(position),
                "samples": In(2),
                "z": In(START),
                "zx": In(signed(60)),
                "zy": In(signed(60)),
                "z0": Out(signed(40)),
                "dx": Out(signed(44)),
                "dy": Out(signed(44)),
            }
        )

    @property
    def _products(self):
        """Clock of the products: slope of a tile, multipliers."""
        return 1 + self._multipliers[0].latency

    @property
    def latency(self):
        """Clocks: the products, their sum, depth."""
        return self._products + 2

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, z=(self.z + ROUND)[:START])
        tile_log2 = self._edge.bit_length() - 1
        for n, (axis, tiles, slope) in enumerate(
            (("x", self.x_tiles, self.zx), ("y", self.y_tiles, self.zy))
        ):
            m.submodules[f"multiplier_{axis}"] = multiplier = self._multipliers[n]
            tile_slope = Signal(signed(START), name=f"tile_slope_{axis}")
            distance = Signal.like(tiles, name=f"distance_{axis}")
            rounded = Signal(signed(44), name=f"rounded_{axis}")
            m.d.sync += [
                tile_slope.eq(slope << Array([tile_log2 - s[n] for s in SHAPES])[self.samples]),
                distance.eq(tiles),
                rounded.eq((slope + ROUND) >> 16),
            ]
            m.d.comb += [
                multiplier.a.eq(distance),
                multiplier.b.eq(tile_slope),
            ]
            t.enter(1, **{f"d{axis}": rounded})
        difference = Signal(START)
        depth = Signal(START)
        m.d.sync += [
            difference.eq(self._multipliers[0].o + self._multipliers[1].o),
            depth.eq(difference + t[self.latency - 1].z),
        ]
        m.d.comb += [
            self.z0.eq(depth >> 16),
            self.dx.eq(t[self.latency].dx),
            self.dy.eq(t[self.latency].dy),
        ]
        return m
