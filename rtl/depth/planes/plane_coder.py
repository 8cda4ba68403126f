# SPDX-License-Identifier: BSD-2-Clause
"""Tiles that planes give, or that are as they were cleared."""

from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression import tile_modes as modes
from fixfunc.rtl.depth.planes.fewest_planes import FewestPlanes
from fixfunc.rtl.depth.planes.plane_depths import PlaneDepths
from fixfunc.rtl.lib.bits import Selection
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.memory import depth_tiles
from fixfunc.spec.state import TileMode

MODE = 3  # bits: cleared, or how many planes


class PlaneCoder(wiring.Component):
    """The fewest planes that give a tile, or none if it is as it was cleared. One tile a clock.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    i : In(layout(depth_tiles.uncoded(params.edge)))
    o : Out
        ``found``: the tile is coded as ``mode`` and ``data`` say; :meth:`latency` clocks later.
        ``samples`` and ``depths`` are those of the tile.
    """

    def __init__(self, params: Any) -> None:
        self._params = params
        self._bits = modes.bits(TileMode.PLANES_4, params.edge)
        super().__init__(
            {
                "i": In(layout(depth_tiles.uncoded(params.edge))),
                "o": Out(
                    StructLayout(
                        {
                            "found": 1,
                            "mode": MODE,
                            "data": self._bits,
                            "samples": 2,
                            "depths": ArrayLayout(payloads.DEPTH, params.edge**2),
                        }
                    )
                ),
            }
        )

    @staticmethod
    def _evaluated(params):
        """Clocks until depths of planes are there: their inputs, the depths."""
        return 1 + PlaneDepths.latency(params)

    @classmethod
    def latency(cls, params: Any) -> int:
        """Clocks: depths of planes, comparison by lane, of all, choice."""
        return cls._evaluated(params) + 3

    def elaborate(self, platform: object) -> Module:
        m = Module()
        timeline = Timeline(m)
        compared = self._evaluated(self._params)
        known = compared + 2
        depths = Cat(self.i[f"depth{n}"] for n in range(self._params.edge**2))
        m.submodules.waiting = waiting = DelayLine(len(depths), compared, near=True)
        m.submodules.tile = tile = DelayLine(len(depths), known + 1 - compared, near=True)
        m.d.comb += [
            waiting.i.eq(depths),
            tile.i.eq(waiting.o),
            self.o.depths.eq(tile.o),
        ]
        names = [name for name in self.i.shape().members if not name.startswith("depth")]
        arrived = Signal(StructLayout({name: self.i[name].shape() for name in names}))
        m.d.sync += [arrived[name].eq(self.i[name]) for name in names]
        timeline.enter(1, samples=arrived.samples, cleared=arrived.cleared, clears=arrived.clears)
        given = self._planes(m, timeline, arrived, known)
        lanes = [waiting.o.word_select(n, payloads.DEPTH) for n in range(self._params.edge**2)]
        cleared = timeline[compared].cleared
        exact = self._all(m, [a == b for a, b in zip(lanes, given, strict=True)], "exact")
        as_cleared = self._all(m, [depth == cleared for depth in lanes], "as_cleared")
        self._choose(m, timeline[known], exact, as_cleared)
        m.d.comb += self.o.samples.eq(timeline[known + 1].samples)
        return m

    def _planes(self, m, timeline, i, known):
        """Planes are evaluated as they come, while their number is brought down."""
        m.submodules.depths = depths = PlaneDepths(self._params)
        m.submodules.fewest = fewest = FewestPlanes(self._params.edge)
        m.d.comb += [
            depths.samples.eq(i.samples),
            depths.low.eq(i.mask_low),
            depths.high.eq(i.mask_high),
            fewest.known.eq(i.planes != 0),
            fewest.numbers[0].eq(i.mask_low),
            fewest.numbers[1].eq(i.mask_high),
        ]
        for k in range(payloads.PLANES):
            for name in ("z0", "dx", "dy"):
                m.d.comb += [
                    depths.planes[k][name].eq(i[f"{name}_{k}"]),
                    fewest.planes[k][name].eq(i[f"{name}_{k}"]),
                ]
        timeline.enter(
            1 + fewest.LATENCY,
            count=fewest.o_count,
            numbers=fewest.o_numbers,
            planes=fewest.o.as_value(),
        )
        return [Value.cast(depths.o[n]) for n in range(self._params.edge**2)]

    def _choose(self, m, now, exact, as_cleared):
        """Nothing, where it is enough, else planes."""
        is_cleared = as_cleared & now.clears
        mode = Mux(is_cleared, TileMode.CLEARED, now.count)
        counts = range(1, payloads.PLANES + 1)
        selection = Selection(m, mode, [TileMode.CLEARED, *counts], "count")
        data = {
            k: Cat(now.planes[: modes.PLANE * k], *modes.mask_bits(*now.numbers, k)) for k in counts
        }
        m.d.sync += [
            self.o.found.eq(is_cleared | (exact & (now.count != 0))),
            self.o.mode.eq(mode),
            self.o.data.eq(selection.of({k: k for k in counts}, data)),
        ]

    def _all(self, m, flags, name):
        """Whether all hold, two clocks later."""
        each = Signal(len(flags), name=f"{name}_each")
        out = Signal(name=name)
        m.d.sync += [
            each.eq(Cat(flags)),
            out.eq(each.all()),
        ]
        return out
