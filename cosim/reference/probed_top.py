# SPDX-License-Identifier: BSD-2-Clause
"""The top with its probes, for simulation."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In

from fixfunc.rtl import top as rtl
from fixfunc.rtl.top import TopParams


class Harness(wiring.Component):
    """The top, with all its probes in view; counters are read when the last of ``starts`` is done.

    Parameters
    ----------
    params : TopParams
    """

    def __init__(self, params: TopParams) -> None:
        self._top = rtl.Top(params, probes=True)
        super().__init__(dict(self._top.signature.members) | {"starts": In(stream.Signature(8))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.top = top = self._top
        for name in top.signature.members:
            if name != "counter_address":
                wiring.connect(
                    m,
                    *(
                        (wiring.flipped(getattr(self, name)), getattr(top, name))
                        if top.signature.members[name].flow is In
                        else (getattr(top, name), wiring.flipped(getattr(self, name)))
                    ),
                )
        done = Signal(8)
        expected = Signal(8, init=255)
        m.d.sync += done.eq(done + (self.o.valid & self.o.ready & self.o.payload.last))
        m.d.comb += self.starts.ready.eq(1)
        with m.If(self.starts.valid):
            m.d.sync += expected.eq(self.starts.payload)
        m.d.comb += [
            top.counter_address.valid.eq(self.counter_address.valid & (done >= expected)),
            self.counter_address.ready.eq(top.counter_address.ready & (done >= expected)),
            top.counter_address.payload.eq(self.counter_address.payload),
        ]
        return m
