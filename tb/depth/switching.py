# SPDX-License-Identifier: BSD-2-Clause
"""A unit of depth whose contexts are switched in the order of its beats."""

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from fixfunc.spec.state import Kind
from fixfunc.tb.depth.loop import connect_request

HIDDEN = "context", "shaded"


class Harness(wiring.Component):
    """A unit with one stream in: a tile that is not its triangle's last stands for a request.

    It stands for what :func:`fixfunc.tb.depth.loop.requested` says, and is offered right behind the
    beat before it. Nothing is shaded.

    Parameters
    ----------
    unit : wiring.Component
        With streams ``i``, ``context``, ``saved`` and ``shaded``, as
        :class:`~fixfunc.rtl.depth.depth_unit.DepthUnit` has them.
    """

    def __init__(self, unit: wiring.Component) -> None:
        self._unit = unit
        members = unit.signature.members
        super().__init__(
            {
                name: member
                for name, member in members.items()
                if member.is_signature and name not in HIDDEN
            }
        )

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
