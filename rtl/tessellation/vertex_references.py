# SPDX-License-Identifier: BSD-2-Clause
"""Vertex references: whether a release belongs to a reference."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import delay, register
from fixfunc.rtl.lib.timeline import Timeline


def acquire_layout(vertices):
    """A vertex that gets one more reference; ``hit`` if it is not new."""
    return StructLayout({"vertex": range(vertices), "hit": 1})


class VertexReferences(wiring.Component):
    """Tell releases of vertices that are referenced from wrong ones.

    Each vertex has two counts in block RAM, of its references and of its releases, each written by
    one side alone. They differ by the references that are held. The counts of a new vertex begin
    where the releases of its predecessor in the same place ended.

    Parameters
    ----------
    vertices : int
        Places of the vertex buffer.
    references : int
        Bits of a count.

    Members
    -------
    acquire : In(stream.Signature(acquire_layout(vertices), always_ready=True))
        One more reference to a vertex.
    release : In(stream.Signature(range(vertices), always_ready=True))
        One reference less to a vertex, at the earliest in the clock after it was acquired.
    checked_release : Out(stream.Signature(range(vertices), always_ready=True))
        The release of a reference that exists, five clocks after it.
    wrong_release : Out(1)
        There was a release without a reference, five clocks before.
    """

    def __init__(self, vertices, references):
        self._vertices = vertices
        self._references = references
        super().__init__(
            {
                "acquire": In(stream.Signature(acquire_layout(vertices), always_ready=True)),
                "release": In(stream.Signature(range(vertices), always_ready=True)),
                "checked_release": Out(stream.Signature(range(vertices), always_ready=True)),
                "wrong_release": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        t.enter(0, acquire=self.acquire.valid, acquired=self.acquire.payload)
        t.enter(0, release=self.release.valid, released_vertex=self.release.payload)
        m.submodules.acquired = acquired = self._memory()
        m.submodules.released = released = self._memory()

        # Clock 2: one more reference. Block RAM takes a clock, and a register behind it another.
        begin_acquired = acquired.read_port()
        begin_released = released.read_port()
        m.d.comb += [
            begin_acquired.addr.eq(self.acquire.payload.vertex),
            begin_released.addr.eq(self.acquire.payload.vertex),
        ]
        begin = Mux(t[1].acquired.hit, begin_acquired.data, begin_released.data)
        self._increment(
            m,
            "acquired",
            acquired.write_port(),
            valid=t[2].acquire,
            vertex=t[2].acquired.vertex,
            stored=register(m, begin, self._references, "acquired_begin"),
            forward=t[2].acquired.hit,
        )

        # Clock 4: one more release, if there are fewer than references. The counts are read two
        # clocks after the release, so that a reference of the clock before it has been counted.
        acquired_count = acquired.read_port()
        released_count = released.read_port()
        m.d.comb += [
            acquired_count.addr.eq(t[2].released_vertex),
            released_count.addr.eq(t[2].released_vertex),
        ]
        references = register(m, acquired_count.data, self._references, "references")
        referenced = Signal()
        releases = self._increment(
            m,
            "released",
            released.write_port(),
            valid=t[4].release & referenced,
            vertex=t[4].released_vertex,
            stored=register(m, released_count.data, self._references, "releases"),
        )
        m.d.comb += referenced.eq(references != releases)
        m.d.sync += [
            self.checked_release.valid.eq(t[4].release & referenced),
            self.checked_release.payload.eq(t[4].released_vertex),
            self.wrong_release.eq(t[4].release & ~referenced),
        ]
        return m

    def _memory(self):
        return Memory(shape=self._references, depth=self._vertices, init=[])

    def _increment(self, m, name, write, *, valid, vertex, stored, forward=1):
        """Write one more than the count of a vertex; the count.

        The count was ``stored`` in memory. What was written to the same vertex in the two clocks
        before is not in it yet, and is forwarded if ``forward`` is set.
        """
        count = Signal(self._references, name=f"{name}_count")
        m.d.comb += [
            count.eq(stored),
            write.en.eq(valid),
            write.addr.eq(vertex),
            write.data.eq(count + 1),
        ]
        for clocks in (2, 1):
            written = delay(m, valid, clocks, f"{name}_written_{clocks}")
            written_vertex = delay(m, vertex, clocks, f"{name}_vertex_{clocks}")
            written_count = delay(m, write.data, clocks, f"{name}_count_{clocks}")
            with m.If(written & (written_vertex == vertex) & forward):
                m.d.comb += count.eq(written_count)
        return count
