"""Planes of a tile as they go to memory."""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from rtl.depth._plane_depths import PLANE
from rtl.pipeline import DelayLine, delay
from spec.payloads import PLANES


class FewestPlanes(wiring.Component):
    """Make equal planes one, and leave out planes of no sample, in their order; one tile a clock.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.

    Members
    -------
    count : In(3)
        Planes; 0: they are not known.
    planes, low, high : In
        As of :class:`~rtl.depth._plane_depths.PlaneDepths`.
    left, left_low, left_high, left_count : Out
        The same, :attr:`LATENCY` clocks later; planes beyond ``left_count`` are anything.
    """

    LATENCY = 7

    def __init__(self, edge):
        self._lanes = edge**2
        planes = ArrayLayout(PLANE, PLANES)
        super().__init__({
            "count": In(3), "planes": In(planes), "low": In(self._lanes), "high": In(self._lanes),
            "left": Out(planes), "left_low": Out(self._lanes), "left_high": Out(self._lanes), "left_count": Out(3),
        })

    def elaborate(self, platform):
        m = Module()

        # Which planes are equal, then the first of each.
        first = [Signal(2, name=f"first_{k}") for k in range(PLANES)]
        for k in range(PLANES):
            equal = [Signal(name=f"equal_{k}_{n}") for n in range(k)]
            m.d.sync += [flag.eq(self.planes[k].as_value() == self.planes[n].as_value()) for n, flag in enumerate(equal)]
            m.d.sync += first[k].eq(k)
            for n, flag in reversed(list(enumerate(equal))):
                with m.If(flag):
                    m.d.sync += first[k].eq(n)
        low, high = self._renamed(m, delay(m, self.low, 2, "low"), delay(m, self.high, 2, "high"), first, "first")

        # Which of them have samples, by groups and altogether.
        known, used = delay(m, self.count != 0, 4, "known"), []
        for k in range(PLANES):
            groups = Signal(-(-self._lanes // 8), name=f"groups_{k}")
            m.d.sync += groups.eq(Cat(Cat((Cat(low[n], high[n]) == k) for n in range(g, g + 8)).any() for g in range(0, self._lanes, 8)))
            used.append(Signal(name=f"used_{k}"))
            m.d.sync += used[k].eq(groups.any() & known)

        # Where each goes, and what comes to each place.
        place, taken = [Signal(2, name=f"place_{k}") for k in range(PLANES)], [Signal(2, name=f"taken_{k}") for k in range(PLANES)]
        below = [sum(used[:k]) for k in range(PLANES + 1)]
        count = Signal(3)
        m.d.sync += [count.eq(below[PLANES]), *(place[k].eq(below[k]) for k in range(PLANES))]
        for slot in range(PLANES):
            for k in range(PLANES):
                with m.If(used[k] & (below[k] == slot)):
                    m.d.sync += taken[slot].eq(k)
        low, high = self._renamed(m, delay(m, low, 3, "named_low"), delay(m, high, 3, "named_high"), place, "place")
        m.submodules.line = line = DelayLine(PLANES * PLANE.size, 6, near=True)
        m.d.comb += [line.i.eq(self.planes.as_value()), self.left_low.eq(low), self.left_high.eq(high)]
        planes = [ArrayLayout(PLANE, PLANES)(line.o)[k] for k in range(PLANES)]
        m.d.sync += [self.left_count.eq(count), *(self.left[slot].eq(Array(planes)[taken[slot]].as_value()) for slot in range(PLANES))]
        return m

    def _renamed(self, m, low, high, names, name):
        """Numbers of the samples' planes, by other numbers; a clock later."""
        out = [Signal(self._lanes, name=f"{name}_{bit}") for bit in ("low", "high")]
        renamed = [Array(names)[Cat(low[n], high[n])] for n in range(self._lanes)]
        m.d.sync += [bits.eq(Cat(number[b] for number in renamed)) for b, bits in enumerate(out)]
        return out
