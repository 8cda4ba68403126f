"""Vertices: how often each is held."""

from amaranth.hdl import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from rtl.pipeline import delay


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
        A clock later: there was one, or none.
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
            ports[name] = write, *(memory.read_port(transparent_for=[write]) for _ in range(2))
        (take, of_taken, taken), (give, of_released, released) = ports["taken"], ports["released"]

        m.d.comb += [of_taken.addr.eq(self.taken), of_released.addr.eq(self.taken)]
        m.d.sync += [take.en.eq(self.takes), take.addr.eq(self.taken)]
        m.d.comb += take.data.eq(Mux(delay(m, self.again, 1, "again"), of_taken.data, of_released.data) + 1)

        asks = delay(m, self.releases, 1, "releases")
        m.d.comb += [taken.addr.eq(self.released), released.addr.eq(self.released)]
        m.d.sync += self.vertex.eq(self.released)
        m.d.comb += [self.right.eq(asks & (taken.data != released.data)), self.wrong.eq(asks & ~self.right),
                     give.en.eq(self.right), give.addr.eq(self.vertex), give.data.eq(released.data + 1)]
        return m
