"""Writes in flight, counted by where they go."""

from amaranth.hdl import Array, Module, Signal
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
        many = Array(Signal(name=f"many_{n}") for n in range(APART**2))
        for n in range(APART**2):
            count, following = (Signal(range(self._most + 1), name=f"{name}_{n}") for name in ("count", "following"))
            m.d.comb += following.eq(count + (self.take & (self.taken.as_value() == n)) - (self.free & (self.key.as_value() == n)))
            m.d.sync += [count.eq(following), many[n].eq(following > 1)]
        m.d.comb += self.many.eq(many[self.key.as_value()])
        return m
