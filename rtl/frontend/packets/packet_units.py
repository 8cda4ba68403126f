# SPDX-License-Identifier: BSD-2-Clause
"""The units that execute packets, and what they tell each other."""

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring

from fixfunc.rtl.frontend.packets.clear_packet import ClearPacket
from fixfunc.rtl.frontend.packets.constant_packet import ConstantPacket
from fixfunc.rtl.frontend.packets.pixel_state_packet import PixelStatePacket
from fixfunc.rtl.frontend.packets.resolve_packet import ResolvePacket
from fixfunc.rtl.frontend.packets.state_packet import StatePacket
from fixfunc.rtl.frontend.packets.texture_packet import TexturePacket
from fixfunc.rtl.frontend.packets.triangles_packet import TrianglesPacket
from fixfunc.rtl.frontend.packets.vertex_packet import VertexPacket
from fixfunc.spec.commands import VERTEX_OPCODES, Opcode
from fixfunc.spec.state import Kind

RING_ASKED = "released", "slot", "attribute"  # of the vertex ring, from outside


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
        *clear.watch(reader.o),
    ]
    units = {Opcode.STATE: state, Opcode.CLEAR: clear, Opcode.TRIANGLES: triangles}
    if Opcode.BLEND_CONSTANT in params.opcodes:
        m.submodules.constant = units[Opcode.BLEND_CONSTANT] = constant = ConstantPacket()
        m.d.comb += [
            constant.restart.eq(restart),
            state.constant_valid.eq(constant.constant_valid),
        ]
    drawable = clear.drawable
    if params.ring:
        vertices, pixels = _vertices(m, reader, params, restart)
        units |= dict.fromkeys(VERTEX_OPCODES, vertices) | {Opcode.PIXEL_STATE: pixels}
        if params.texture_formats:
            m.submodules.textures = textures = units[Opcode.TEXTURE] = TexturePacket(params)
            m.d.comb += [
                textures.restart.eq(restart),
                textures.bounds.eq(bounds),
                pixels.texture_valid.eq(textures.texture_valid),
                reader.texture.eq(textures.texture),
            ]
        drawable &= pixels.state_valid | ~state.state.built_in
        m.d.comb += [
            vertices.state.eq(state.state),
            vertices.drawable.eq(state.state_valid & drawable),
        ]
    m.d.comb += triangles.target_cleared.eq(drawable)
    if params.resolve_samples:
        units[Opcode.RESOLVE] = _resolve(m, reader, params, restart, bounds, clear)
    return units


def _vertices(m, reader, params, restart):
    """The units of vertices and of pixel states, at the ports of the reader."""
    m.submodules.vertices = vertices = VertexPacket(params.ring)
    m.submodules.pixels = pixels = PixelStatePacket(len(params.texture_formats) > 0)
    wiring.connect(m, pixels.state, wiring.flipped(reader.pixel_state))
    m.d.comb += [
        pixels.restart.eq(restart),
        vertices.restart.eq(restart),
        reader.vertex_error.eq(vertices.vertex_error),
        reader.found.eq(vertices.found),
        *(getattr(vertices, name).eq(getattr(reader, name)) for name in RING_ASKED),
    ]
    with m.If(vertices.packet.active):
        m.d.comb += reader.corners.eq(vertices.corners)
    return vertices, pixels


def _resolve(m, reader, params, restart, bounds, clear):
    """The unit of resolves, which share planes with clears."""
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
    return resolve


def _flushed(m, restart, beats):
    """Whether nothing has been drawn or cleared since the last FENCE, or the START.

    The next packet is executed when a FENCE has ended: it counts as soon as it is offered.
    """
    writes = Signal()
    kind = beats.payload.fence.kind
    with m.If(restart):
        m.d.sync += writes.eq(0)
    is_release = (kind == Kind.FENCE) & beats.payload.fence.release
    is_constant = (kind == Kind.CLEAR) & beats.payload.clear.constant
    with m.Elif(beats.valid & (kind != Kind.STATE) & ~is_release & ~is_constant):
        m.d.sync += writes.eq(kind != Kind.FENCE)
    return ~writes
