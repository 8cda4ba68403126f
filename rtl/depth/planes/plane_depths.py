# SPDX-License-Identifier: BSD-2-Clause
"""Depths of a tile's samples, each by its own plane."""

from typing import Any

from amaranth.hdl import Array, Module
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.raster.addends import Addends
from fixfunc.spec.payloads import DEPTH, PLANES

PLANE = StructLayout({"z0": 32, "dx": 32, "dy": 32})
FRACTION = 12  # bits below D24's unit


class PlaneDepths(wiring.Component):
    """Several planes of one tile; every sample selects one. One tile a clock.

    Row and column terms of every plane are formed once for all lanes; a lane selects the two of its
    plane and adds them, so that there is one adder a lane whatever the number of planes.

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
        """Clocks: addends, row and column terms, sums of those of the sample's plane."""
        return Addends.latency(params, dense=True) + 2

    def elaborate(self, platform: object) -> Module:
        m = Module()
        edge = self._params.edge
        width = self._params.width
        row_terms = {(i, j): [] for i in range(2) for j in range(edge)}  # by plane
        column_terms = {i: [] for i in range(1, edge // 2)}
        for k, plane in enumerate(self.planes):
            m.submodules[f"plane_{k}"] = addends = Addends(self._params, dense=True)
            m.d.comb += [
                addends.samples.eq(self.samples),
                addends.a.eq(plane.dx.as_signed()),
                addends.b.eq(plane.dy.as_signed()),
                addends.c.eq(((plane.z0 << FRACTION - 8) + (1 << FRACTION - 1)).as_signed()),
            ]
            for (i, j), by_plane in row_terms.items():
                by_plane.append(
                    register(m, sum(addends.row_addends(i, j)), width, f"row_{k}_{i}_{j}")
                )
            for i, by_plane in column_terms.items():
                by_plane.append(
                    register(m, addends.column_addends(2 * i)[0], width, f"column_{k}_{i}")
                )

        t = Timeline(m)
        t.enter(0, low=self.low, high=self.high)
        numbers = t[self.latency(self._params) - 1]
        for n in range(edge**2):
            j, i = divmod(n, edge)
            number = (numbers.high[n] << 1) | numbers.low[n]
            total = Array(row_terms[i & 1, j])[number]
            if i > 1:
                total = total + Array(column_terms[i >> 1])[number]
            m.d.sync += self.o[n].eq(total >> FRACTION)
        return m
