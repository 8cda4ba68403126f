# SPDX-License-Identifier: BSD-2-Clause
"""The top with its probes, for simulation."""

from functools import partial

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In

from fixfunc.rtl import top as rtl
from fixfunc.rtl.top import TopParams

HELD = "counter_address", "context"  # ports that wait for the last START


class Harness(wiring.Component):
    """The top, with all its probes in view.

    Counters are read, and requests for contexts sent, when the last of ``starts`` is done.

    Parameters
    ----------
    params : TopParams
    """

    top = staticmethod(partial(rtl.Top, probes=True))  # what it is around, made of its parameters

    def __init__(self, params: TopParams) -> None:
        self._top = self.top(params)
        super().__init__(dict(self._top.signature.members) | {"starts": In(stream.Signature(8))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.top = top = self._top
        for name in top.signature.members:
            if name not in HELD:
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
        for name in HELD:
            inner, outer = getattr(top, name), getattr(self, name)
            m.d.comb += [
                inner.valid.eq(outer.valid & (done >= expected)),
                outer.ready.eq(inner.ready & (done >= expected)),
                inner.payload.eq(outer.payload),
            ]
        return m
