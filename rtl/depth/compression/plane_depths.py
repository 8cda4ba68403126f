# SPDX-License-Identifier: BSD-2-Clause
"""Depths of a tile's samples, each by its own plane."""

from typing import Any

from amaranth.hdl import Array, Module
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import delay, register
from fixfunc.rtl.raster.addends import Addends
from fixfunc.spec.payloads import DEPTH, PLANES

PLANE = StructLayout({"z0": 32, "dx": 32, "dy": 32})
FRACTION = 12  # bits below D24's unit


class PlaneDepths(wiring.Component):
    """Several planes of one tile; every sample picks one. One tile a clock.

    What a plane adds by a lane's row and by its column is formed once for all lanes; a lane picks
    its plane's two and adds them, so that there is one adder a lane whatever the number of planes.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    samples : In(2)
        log2 of the samples of a pixel.
    planes : In(ArrayLayout(PLANE, PLANES))
    low, high : In
        Number of each sample's plane: its two bits, lane (i, j) at bit j * edge + i.
    o : Out(ArrayLayout(DEPTH, lanes))
        Rounded, modulo 2^24, :meth:`latency` clocks later.
    """

    def __init__(self, params: Any) -> None:
        self._params = params
        lanes = params.edge**2
        super().__init__(
            {
                "samples": In(2),
                "planes": In(ArrayLayout(PLANE, PLANES)),
                "low": In(lanes),
                "high": In(lanes),
                "o": Out(ArrayLayout(DEPTH, lanes)),
            }
        )

    @staticmethod
    def latency(params: Any) -> int:
        """Clocks: addends, what rows add, the sample's plane, sum."""
        return Addends.latency(params) + 3

    def elaborate(self, platform: object) -> Module:
        m = Module()
        edge = self._params.edge
        width = self._params.width
        moves = Addends.latency(self._params)
        near = {(i, j): [] for i in range(2) for j in range(edge)}  # by plane
        far = {i: [] for i in range(1, edge // 2)}
        for k, plane in enumerate(self.planes):
            m.submodules[f"plane_{k}"] = addends = Addends(self._params)
            m.d.comb += [
                addends.samples.eq(self.samples),
                addends.a.eq(plane.dx.as_signed()),
                addends.b.eq(plane.dy.as_signed()),
                addends.c.eq(((plane.z0 << FRACTION - 8) + (1 << FRACTION - 1)).as_signed()),
            ]
            for (i, j), by_plane in near.items():
                by_plane.append(
                    register(m, sum(addends.row_addends(i, j)), width, f"near_{k}_{i}_{j}")
                )
            for i, by_plane in far.items():
                by_plane.append(
                    register(m, addends.column_addends(2 * i)[0], width, f"far_{k}_{i}")
                )

        low = delay(m, self.low, moves + 1, "low")
        high = delay(m, self.high, moves + 1, "high")
        for n in range(edge**2):
            j, i = divmod(n, edge)
            pick = (high[n] << 1) | low[n]
            total = register(m, Array(near[i & 1, j])[pick], width, f"by_row_{n}")
            if i > 1:
                total = total + register(m, Array(far[i >> 1])[pick], width, f"by_column_{n}")
            m.d.sync += self.o[n].eq(total >> FRACTION)
        return m
