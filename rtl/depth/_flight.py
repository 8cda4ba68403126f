"""Writes in flight, counted by where they go."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

APART = 8  # tiles so many rows and columns apart share a count
KEY = StructLayout({"x": 3, "y": 3})


class InFlight(wiring.Component):
    """How many writes are under way to the tiles that share a count.

    Parameters
    ----------
    most : int
        At once, to all.

    Members
    -------
    take, taken : In
        A write begins, to tiles of this key.
    free, key : In
        One of this key ends.
    many : Out(1)
        More than one is under way to ``key``.
    """

    def __init__(self, most):
        self._most = most
        super().__init__({"take": In(1), "taken": In(KEY), "free": In(1), "key": In(KEY), "many": Out(1)})

    def elaborate(self, platform):
        m = Module()
        taken, freed = Signal(1 + KEY.size), Signal(1 + KEY.size)
        m.d.sync += [taken.eq(Cat(self.taken.as_value(), self.take)), freed.eq(Cat(self.key.as_value(), self.free))]

        # Counts are a clock late, and what has happened since then is added as they are looked at.
        above = [Array(Signal(name=f"above_{least}_{n}") for n in range(APART**2)) for least in range(3)]
        for n in range(APART**2):
            count, up, down = Signal(range(self._most + 1), name=f"count_{n}"), taken == n + APART**2, freed == n + APART**2
            m.d.sync += count.eq(count + up - down)
            for least, flags in enumerate(above):
                m.d.sync += flags[n].eq(Mux(up == down, count > least, Mux(up, count >= least if least else 1, count > least + 1)))
        key = self.key.as_value()
        more, less = taken == Cat(key, 1), freed == Cat(key, 1)
        none, one, two = (flags[key] for flags in above)
        m.d.comb += self.many.eq(Mux(more == less, one, Mux(more, none, two)))
        return m
