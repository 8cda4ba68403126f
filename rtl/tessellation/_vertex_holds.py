# SPDX-License-Identifier: BSD-2-Clause
"""Vertices: how often each is held."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.pipeline import delay, held


class VertexHolds(wiring.Component):
    """Tells releases of what somebody holds from others.

    Two counts a vertex, of its references and of its releases, each written from one side alone; a new vertex begins where
    the releases of the one before it ended.

    Parameters
    ----------
    vertices : int
    references : int
        Bits of a count.

    Members
    -------
    takes, taken, again : In
        One more reference to a vertex; ``again``: it is not new.
    releases, released : In
        One less, at the earliest in the clock after.
    right, wrong, vertex : Out
        Five clocks later: there was one, or none.
    """

    def __init__(self, vertices, references):
        self._vertices, self._references = vertices, references
        super().__init__({
            "takes": In(1), "taken": In(range(vertices)), "again": In(1), "releases": In(1), "released": In(range(vertices)),
            "right": Out(1), "wrong": Out(1), "vertex": Out(range(vertices)),
        })

    def elaborate(self, platform):
        m = Module()
        ports = {}
        for name in ("taken", "released"):
            m.submodules[name] = memory = Memory(shape=self._references, depth=self._vertices, init=[])
            write = memory.write_port()
            ports[name] = write, *(memory.read_port() for _ in range(2))
        (take, of_taken, taken), (give, of_released, released) = ports["taken"], ports["released"]

        # What is read is used a clock later, block RAM being slow; what was written within two clocks is not in it.
        again = delay(m, self.again, 1, "again")
        begun = held(m, Mux(again, of_taken.data, of_released.data), self._references, "begun")
        m.d.comb += [of_taken.addr.eq(self.taken), of_released.addr.eq(self.taken)]
        self._count(m, "take", take, delay(m, self.takes, 2, "takes"), delay(m, self.taken, 2, "at"), begun, delay(m, again, 1, "again_late"))

        asked = delay(m, self.released, 2, "asked")  # when its reference is there
        m.d.comb += [taken.addr.eq(asked), released.addr.eq(asked)]
        some, asks, vertex = Signal(), delay(m, self.releases, 4, "asks"), delay(m, asked, 2, "vertex")
        count = self._count(m, "give", give, asks & some, vertex, held(m, released.data, self._references, "given"))
        m.d.comb += some.eq(held(m, taken.data, self._references, "owed") != count)
        m.d.sync += [self.right.eq(asks & some), self.wrong.eq(asks & ~some), self.vertex.eq(vertex)]
        return m

    def _count(self, m, name, write, counts, at, read, follows=1):
        """Write one more than what was read, or than was written there in the two clocks before if the count ``follows`` that; returns the former."""
        count = Signal(self._references, name=f"{name}_count")
        m.d.comb += [count.eq(read), write.en.eq(counts), write.addr.eq(at), write.data.eq(count + 1)]
        for clocks in (2, 1):
            wrote, where, data = (delay(m, value, clocks, f"{name}_{what}_{clocks}") for what, value in (
                ("wrote", counts), ("where", at), ("data", write.data)))
            with m.If(wrote & (where == at) & follows):
                m.d.comb += count.eq(data)
        return count
