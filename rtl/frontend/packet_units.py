# SPDX-License-Identifier: BSD-2-Clause
"""The units that execute packets, and what they tell each other."""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring

from fixfunc.rtl.frontend.clear_packet import ClearPacket
from fixfunc.rtl.frontend.resolve_packet import ResolvePacket
from fixfunc.rtl.frontend.state_packet import StatePacket
from fixfunc.rtl.frontend.triangles_packet import TrianglesPacket
from fixfunc.spec.commands import Opcode
from fixfunc.spec.state import Kind


def packet_units(
    m: Module, reader: wiring.Component, params: object, restart: Value, bounds: Value
) -> dict[Opcode, wiring.Component]:
    """Add the units of a command reader as submodules: units by opcode, each with a ``packet``.

    Parameters
    ----------
    m : Module
        That of the reader.
    reader : CommandReader
    params : CommandReaderParams
    restart : Value
        A START begins.
    bounds : Value
        ``BOUNDS`` of the START.
    """
    m.submodules.state = state = StatePacket(params)
    m.submodules.clear = clear = ClearPacket(params)
    m.submodules.triangles = triangles = TrianglesPacket()
    m.d.comb += [
        state.restart.eq(restart),
        clear.restart.eq(restart),
        clear.bounds.eq(bounds),
        clear.state.eq(state.state),
        clear.state_valid.eq(state.state_valid),
        triangles.state.eq(state.state),
        triangles.state_valid.eq(state.state_valid),
        triangles.target_cleared.eq(clear.drawable),
        *clear.watch(reader.o),
    ]
    units = {Opcode.STATE: state, Opcode.CLEAR: clear, Opcode.TRIANGLES: triangles}
    if not params.resolve_samples:
        return units

    m.submodules.resolve = resolve = ResolvePacket(params)
    wiring.connect(m, resolve.request, wiring.flipped(reader.resolve))
    m.d.comb += [
        resolve.bounds.eq(bounds),
        resolve.flushed.eq(_flushed(m, restart, reader.o)),
        resolve.draws_target.eq(clear.target_cleared),
        resolve.planes_disjoint.eq(clear.resolve_disjoint),
        resolve.resolved.eq(reader.resolved),
        clear.resolving.eq(resolve.packet.active),
        clear.resolve_begin.eq(resolve.begin),
        clear.resolve_end.eq(resolve.end),
        clear.invalidate.eq(resolve.invalidate),
    ]
    return units | {Opcode.RESOLVE: resolve}


def _flushed(m, restart, beats):
    """Whether nothing has been drawn or cleared since the last FENCE, or the START.

    The next packet is executed when a FENCE has ended: it counts as soon as it is offered.
    """
    writes = Signal()
    kind = beats.payload.fence.kind
    with m.If(restart):
        m.d.sync += writes.eq(0)
    with m.Elif(beats.valid & (kind != Kind.STATE)):
        m.d.sync += writes.eq(kind != Kind.FENCE)
    return ~writes
