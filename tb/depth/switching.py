# SPDX-License-Identifier: BSD-2-Clause
"""A cached depth whose contexts are switched in the order of its beats."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from fixfunc.rtl.depth.cached_depth import CachedDepth, CachedDepthParams
from fixfunc.spec.state import Kind
from fixfunc.tb.depth.loop import connect_request

HIDDEN = "context", "shaded", "hiz_stalls", "initialising", "flush_early", "passed"


class Harness(wiring.Component):
    """Cached depth with one stream in: a tile that is not its triangle's last stands for a request.

    It stands for what :func:`fixfunc.tb.depth.loop.requested` says, and is offered right behind the
    beat before it. Nothing is shaded.

    Parameters
    ----------
    params : CachedDepthParams
    """

    def __init__(self, params: CachedDepthParams) -> None:
        self._unit = CachedDepth(params, probes=True)
        members = self._unit.signature.members
        super().__init__({name: members[name] for name in members if name not in HIDDEN})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = self._unit
        for name, member in self.signature.members.items():
            if member.flow is Out:
                wiring.connect(m, getattr(unit, name), wiring.flipped(getattr(self, name)))
        beat = self.i.payload
        is_request = Signal()
        m.d.comb += [
            is_request.eq((beat.kind == Kind.WORK) & ~beat.tile.last),
            unit.i.valid.eq(self.i.valid & ~is_request),
            unit.i.payload.eq(beat),
            unit.context.valid.eq(self.i.valid & is_request),
            self.i.ready.eq(Mux(is_request, unit.context.ready, unit.i.ready)),
        ]
        connect_request(m, beat.tile, unit.context.payload)
        return m
