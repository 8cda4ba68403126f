# SPDX-License-Identifier: BSD-2-Clause
"""From tiles of depths to what lies in memory."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression import tile_modes as modes
from fixfunc.rtl.depth.compression.anchor import AnchorCoder
from fixfunc.rtl.depth.compression.fewest_planes import FewestPlanes
from fixfunc.rtl.depth.compression.plane_depths import PlaneDepths
from fixfunc.rtl.depth.differences.difference_coder import DifferenceCoder
from fixfunc.rtl.lib.delay import DelayLine, later
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import DIFFERENCES, TileMode


class TileCoder(wiring.Component):
    """All codings side by side; the first of those that give the tile back, in the order of
    transfers. One tile a clock.

    Parameters
    ----------
    params : DepthCompressionParams

    Members
    -------
    i : In(layout(payloads.uncoded(params.edge)))
    o : Out(layout(payloads.coded(params.edge, ...)))
        :meth:`latency` clocks later.
    """

    def __init__(self, params):
        self._params = params
        super().__init__(
            {
                "i": In(layout(payloads.uncoded(params.edge))),
                "o": Out(layout(payloads.coded(params.edge, payloads.DEPTH, params.mode_bits))),
            }
        )

    @staticmethod
    def _known_at(params):
        """Clocks until it is known which codings fit: planes, comparison by lanes, and of all."""
        return PlaneDepths.latency(params) + 2

    @classmethod
    def _waits(cls, params):
        """Clocks that a tile waits for its differences, which take longer than planes."""
        if not params.differences:
            return 0
        return DifferenceCoder.latency(params.samples) - cls._known_at(params)

    @classmethod
    def latency(cls, params):
        """Clocks: until all is known, mode, data."""
        return cls._waits(params) + cls._known_at(params) + 2

    def elaborate(self, platform):
        m = Module()
        tile = ArrayLayout(payloads.DEPTH, self._params.edge**2)
        depths = Signal(tile)
        i = self.i
        if self._params.differences:
            i = later(m, self.i, self._waits(self._params), "arriving")
        m.d.comb += [depth.eq(i[f"depth{n}"]) for n, depth in enumerate(depths)]
        timeline = Timeline(m)
        evaluated = PlaneDepths.latency(self._params)
        known = self._known_at(self._params)
        m.submodules.waiting = waiting = DelayLine(tile.size, evaluated, near=True)
        m.submodules.raw = raw = DelayLine(tile.size, known + 1 - evaluated, near=True)
        m.d.comb += [
            waiting.i.eq(depths),
            raw.i.eq(waiting.o),
        ]
        timeline.enter(known + 1, raw=raw.o)
        self._planes(m, timeline, i, tile(waiting.o))
        if self._params.differences:
            self._differences(m, timeline, known)
        else:
            self._anchors(m, timeline, depths)
        self._cleared(m, timeline, i, depths)
        self._choose(m, timeline, known)
        return m

    def _planes(self, m, timeline, i, waiting):
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
        equal = [depths.o[n] == depth for n, depth in enumerate(waiting)]
        evaluated = PlaneDepths.latency(self._params)
        timeline.enter(evaluated + 2, exact=self._all(m, equal, "exact"))
        timeline.enter(
            fewest.LATENCY,
            count=fewest.o_count,
            numbers=fewest.o_numbers,
            planes=fewest.o.as_value(),
        )

    def _differences(self, m, timeline, known):
        """Of all of the tile."""
        m.submodules.differences = coder = DifferenceCoder(self._params.samples)
        m.d.comb += [
            coder.i.samples.eq(self.i.samples),
            *(depth.eq(self.i[f"depth{n}"]) for n, depth in enumerate(coder.i.depths)),
        ]
        timeline.enter(known, transfers=coder.o.transfers, differences=coder.o.data)

    def _anchors(self, m, timeline, depths):
        """Differences, block by block."""
        coders = []
        for n, block in enumerate(modes.blocks(self._params.edge)):
            m.submodules[f"anchor_{n}"] = coder = AnchorCoder()
            m.d.comb += [coder.i[4 * y + x].eq(depths[lane]) for (x, y), lane in block.items()]
            coders.append(coder)
        timeline.enter(
            AnchorCoder.LATENCY,
            anchored=Cat(coder.fits for coder in coders).all(),
            blocks=Cat(coder.o for coder in coders),
        )

    def _cleared(self, m, timeline, i, depths):
        """A tile that is as it was cleared."""
        equal = [depth == i.cleared for depth in depths]
        timeline.enter(0, clears=i.clears)
        timeline.enter(2, as_cleared=self._all(m, equal, "as_cleared"))

    def _choose(self, m, timeline, known):
        """The first mode that fits, then its data.

        Modes are in order: fewer transfers before more, and planes before differences of as many.
        """
        edge = self._params.edge
        now = timeline[known]
        fit = {mode: now.exact & (now.count == mode) for mode in range(1, payloads.PLANES + 1)}
        fit[TileMode.CLEARED] = now.as_cleared & now.clears
        best = TileMode.RAW
        if self._params.differences:
            fits = now.transfers <= modes.TRANSFERS[-1]
            best = Mux(fits, DIFFERENCES + now.transfers, TileMode.RAW)
        else:
            fit[TileMode.ANCHOR] = now.anchored
        for other in sorted(fit, reverse=True):
            best = Mux(fit[other], other, best)
        mode = Signal(self._params.mode_bits)
        m.d.sync += mode.eq(best)

        later = timeline[known + 1]
        data = {TileMode.CLEARED: 0, TileMode.RAW: later.raw}
        if self._params.differences:
            data |= {DIFFERENCES + n: later.differences for n in modes.TRANSFERS}
        else:
            data[TileMode.ANCHOR] = later.blocks
        for k in range(1, payloads.PLANES + 1):
            mask = modes.mask_bits(*later.numbers, k)
            data[k] = Cat(later.planes[: modes.PLANE * k], mask)
        words = [self.o[f"data{n}"] for n in range(payloads.coded_words(edge))]
        chosen = Signal(32 * payloads.coded_words(edge))
        with m.Switch(mode):
            for kind, value in data.items():
                with m.Case(kind):
                    m.d.sync += chosen.eq(value)
        m.d.sync += self.o.mode.eq(mode)
        m.d.comb += Cat(words).eq(chosen)

    def _all(self, m, flags, name):
        """Whether all hold, two clocks later."""
        each = Signal(len(flags), name=f"{name}_each")
        out = Signal(name=name)
        m.d.sync += [
            each.eq(Cat(flags)),
            out.eq(each.all()),
        ]
        return out
