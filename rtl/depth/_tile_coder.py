# SPDX-License-Identifier: BSD-2-Clause
"""From tiles of depths to what lies in memory."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth import _tile_modes as modes
from fixfunc.rtl.depth._anchor import AnchorCoder
from fixfunc.rtl.depth._plane_depths import PlaneDepths
from fixfunc.rtl.depth._tile_planes import FewestPlanes
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import DelayLine, delay
from fixfunc.spec import payloads
from fixfunc.spec.state import TileMode


class TileCoder(wiring.Component):
    """All codings side by side; the first of those that give the tile back, in the order of transfers. One tile a clock.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    i : In(layout(payloads.uncoded(params.edge)))
    o : Out(layout(payloads.coded(params.edge)))
        :meth:`latency` clocks later.
    """

    def __init__(self, params):
        self._params = params
        super().__init__({"i": In(layout(payloads.uncoded(params.edge))), "o": Out(layout(payloads.coded(params.edge)))})

    @staticmethod
    def _known_at(params):
        """Clocks until it is known which codings fit: planes, comparison by lanes, and of all."""
        return PlaneDepths.latency(params) + 2

    @classmethod
    def latency(cls, params):
        """Clocks: until all is known, mode, data."""
        return cls._known_at(params) + 2

    def elaborate(self, platform):
        m = Module()
        edge, at, i = self._params.edge, self._known_at(self._params), self.i
        evaluated = PlaneDepths.latency(self._params)
        lanes = ArrayLayout(payloads.DEPTH, edge**2)
        given = Signal(lanes)
        m.d.comb += [given[n].eq(i[f"depth{n}"]) for n in range(edge**2)]
        m.submodules.waiting, m.submodules.rest = waiting, rest = [DelayLine(lanes.size, n, near=True) for n in (evaluated, at + 1 - evaluated)]
        m.d.comb += [waiting.i.eq(given), rest.i.eq(waiting.o)]

        # Planes: evaluated as they come, while their number is brought down.
        m.submodules.depths, m.submodules.fewest = depths, fewest = PlaneDepths(self._params), FewestPlanes(edge)
        m.d.comb += [depths.samples.eq(i.samples), depths.low.eq(i.mask_low), depths.high.eq(i.mask_high), fewest.known.eq(i.planes != 0),
                     fewest.numbers[0].eq(i.mask_low), fewest.numbers[1].eq(i.mask_high)]
        for k in range(payloads.PLANES):
            for name in ("z0", "dx", "dy"):
                m.d.comb += [depths.planes[k][name].eq(i[f"{name}_{k}"]), fewest.planes[k][name].eq(i[f"{name}_{k}"])]
        exact = self._all(m, [depths.o[n] == lanes(waiting.o)[n] for n in range(edge**2)], "exact")
        late = at - fewest.LATENCY
        count, numbers = delay(m, fewest.left_count, late, "count"), delay(m, fewest.left_numbers, late, "numbers")
        planes = delay(m, fewest.left.as_value(), late, "planes")

        # Differences, and a tile that is as it was cleared.
        anchors = []
        for n, block in enumerate(modes.blocks(edge)):
            m.submodules[f"anchor_{n}"] = coder = AnchorCoder()
            m.d.comb += [coder.i[4 * y + x].eq(given[lane]) for (x, y), lane in block.items()]
            anchors.append(coder)
        anchored = delay(m, Cat(coder.fits for coder in anchors).all(), at - AnchorCoder.LATENCY, "anchored")
        blocks = delay(m, Cat(coder.o for coder in anchors), at - AnchorCoder.LATENCY, "blocks")
        as_cleared = self._all(m, [given[n] == i.cleared for n in range(edge**2)], "as_cleared")
        is_cleared = delay(m, as_cleared & delay(m, i.clears, 2, "clears"), at - 2, "is_cleared")

        # The mode, then the data.
        fit = {mode: exact & (count == mode) for mode in range(1, payloads.PLANES + 1)}
        fit |= {TileMode.CLEARED: is_cleared, TileMode.ANCHOR: anchored, TileMode.RAW: 1}
        best, mode = TileMode.RAW, Signal(TileMode)
        for other in reversed(TileMode):  # the first that fits: fewer transfers before more, and planes before differences of as many
            best = Mux(fit[other], other, best)
        m.d.sync += mode.eq(best)
        data = {TileMode.CLEARED: 0, TileMode.ANCHOR: delay(m, blocks, 1, "late_blocks"), TileMode.RAW: rest.o}
        numbers, planes = delay(m, numbers, 1, "late_numbers"), delay(m, planes, 1, "late_planes")
        data |= {k: Cat(planes[:modes.PLANE * k], modes.mask_bits(*numbers, k)) for k in range(1, payloads.PLANES + 1)}
        words, chosen = [self.o[f"data{n}"] for n in range(payloads.coded_words(edge))], Signal(32 * payloads.coded_words(edge))
        with m.Switch(mode):
            for which, value in data.items():
                with m.Case(which):
                    m.d.sync += chosen.eq(value)
        m.d.sync += self.o.mode.eq(mode)
        m.d.comb += Cat(words).eq(chosen)
        return m

    def _all(self, m, flags, name):
        """Whether all hold, two clocks later."""
        each, out = Signal(len(flags), name=f"{name}_each"), Signal(name=name)
        m.d.sync += [each.eq(Cat(flags)), out.eq(each.all())]
        return out
