# SPDX-License-Identifier: BSD-2-Clause
"""Vertex references: whether a release belongs to a reference."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.forwarded_memory import ForwardedMemory
from fixfunc.rtl.lib.timeline import Timeline

LATENCY = 5  # clocks from a release to its check


def acquire_layout(vertices):
    """A vertex that gets one more reference; ``hit`` if it is not new."""
    return StructLayout({"vertex": range(vertices), "hit": 1})


class VertexReferences(wiring.Component):
    """Tell releases of vertices that are referenced from wrong ones.

    Each vertex has two counts in block RAM, of its references and of its releases, each written by
    one side alone. They differ by the references that are held. The counts of a new vertex begin
    where the releases of its predecessor in the same place ended. After a reset all counts are set
    to zero, one vertex a clock, so that no release of before it is believed.

    Parameters
    ----------
    vertices : int
        Places of the vertex buffer.
    references : int
        Bits of a count.

    Members
    -------
    initialising : Out(1)
        Counts are being set to zero. Nothing may be acquired; every release is wrong.
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
                "initialising": Out(1, init=1),
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
        swept_vertex = Signal(range(self._vertices))
        sweep = Signal(init=1)
        t.enter(0, sweep=sweep, swept_vertex=swept_vertex)
        m.d.sync += [
            swept_vertex.eq(swept_vertex + 1),
            self.initialising.eq(sweep | t[LATENCY].sweep),
        ]
        with m.If(swept_vertex == self._vertices - 1):
            m.d.sync += sweep.eq(0)
        shape = {"shape": self._references, "depth": self._vertices, "read_ports": 1}
        m.submodules.acquired = acquired = ForwardedMemory(**shape)
        m.submodules.released = released = ForwardedMemory(**shape)

        # Clock 2: one more reference. The count of a new vertex begins with the releases of its
        # predecessor, which come from block RAM in clock 1.
        m.d.comb += [
            acquired.valid.eq(t[0].acquire | t[0].sweep),
            acquired.address.eq(Mux(t[0].sweep, swept_vertex, t[0].acquired.vertex)),
            released.read_address_0.eq(t[0].acquired.vertex),
            acquired.fill.eq(~t[1].acquired.hit),
            acquired.filled.eq(released.read_data_0),
            acquired.result.eq(Mux(t[2].sweep, 0, acquired.value + 1)),
        ]

        # Clock 4: one more release, if there are fewer than references. The counts are read two
        # clocks after the release, so that a reference of the clock before it has been counted.
        m.d.comb += [
            released.valid.eq(t[2].release | t[2].sweep),
            released.address.eq(Mux(t[2].sweep, t[2].swept_vertex, t[2].released_vertex)),
            acquired.read_address_0.eq(t[2].released_vertex),
        ]
        references = register(m, acquired.read_data_0, self._references, "references")
        referenced = Signal()
        m.d.comb += [
            referenced.eq((references != released.value) & ~t[4].sweep),
            released.result.eq(
                Mux(t[4].sweep, 0, Mux(referenced, released.value + 1, released.value))
            ),
        ]
        m.d.sync += [
            self.checked_release.valid.eq(t[4].release & referenced),
            self.checked_release.payload.eq(t[4].released_vertex),
            self.wrong_release.eq(t[4].release & ~referenced),
        ]
        return m
