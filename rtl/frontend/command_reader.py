# SPDX-License-Identifier: BSD-2-Clause
"""Command reader: a command stream in memory becomes the beats of a frame."""

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.command_fetch import CommandFetch
from fixfunc.rtl.frontend.packets.packet import BEAT, BOUNDS
from fixfunc.rtl.frontend.packets.packet_units import packet_units
from fixfunc.rtl.frontend.reader_params import CommandReaderParams
from fixfunc.rtl.frontend.vertex_ring.operation import ATTRIBUTE
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import CONFIGS as RINGS
from fixfunc.rtl.lib.axi import TRANSFER, Axi
from fixfunc.rtl.payload import fields_of, layout
from fixfunc.spec import commands
from fixfunc.spec.colours import COLOUR_FORMATS, RESOLVE
from fixfunc.spec.commands import (
    LENGTHS,
    START,
    CommandError,
    Opcode,
    VertexError,
)
from fixfunc.spec.payloads import COLOUR_PLANES
from fixfunc.spec.pixels.pixel_state import PIXEL_STATE
from fixfunc.spec.state import Kind
from fixfunc.spec.textures.cache import StoredFormat
from fixfunc.spec.textures.level_of_detail import ANISOTROPY

# The packet that is executed: its first transfer, whether that could not be read, its length.
PACKET = StructLayout({"first": TRANSFER, "error": 1, "length": 24})


_SURFACES = StoredFormat.R8G8B8A8_UNORM, StoredFormat.R16G16_SNORM
_FLOATS = StoredFormat.R16_FLOAT, StoredFormat.R32G32_FLOAT
CONFIGS = {
    "default": CommandReaderParams(),
    "planes": CommandReaderParams(colour_planes=COLOUR_PLANES, colour_formats=COLOUR_FORMATS),
    "tiny": CommandReaderParams(edge=4, pixels=64, resolve_samples=2, ahead=64),
    "tiny_planes": CommandReaderParams(
        edge=4,
        pixels=64,
        conservative=False,
        colour_planes=3,
        colour_formats=COLOUR_FORMATS,
        ahead=64,
    ),
    "tiny_ring": CommandReaderParams(
        edge=4,
        samples=4,
        pixels=64,
        resolve_samples=2,
        ahead=64,
        ring=RINGS["tiny"],
        texture_formats=(*_SURFACES, StoredFormat.BC4_SNORM, *_FLOATS),
        texture_extent=6,
        texture_anisotropy=ANISOTROPY,
        texture_surfaces=_SURFACES,
        texture_rows=(*_SURFACES, *_FLOATS),
        texture_points=_FLOATS[1:],
    ),
}
PURPOSE = {  # of each configuration
    "default": "targets up to 2048 pixels",
    "planes": "the same, with eight colour planes of any format of up to 32 bits",
    "tiny": "for benches: tiles of 4x4, targets up to 64 pixels",
    "tiny_planes": "the same, with three colour planes of any format of up to 32 bits, and no "
    "conservative coverage",
    "tiny_ring": "the same, with a ring of eight vertices, and textures of five formats, two "
    "of which coded surfaces may have, and one of which is sampled by points",
}


class CommandReader(wiring.Component):
    """Read packets of :mod:`fixfunc.spec.commands`, and pass on what they hold.

    One triangle a clock; other packets take a few clocks each. A packet is checked before anything
    of it counts. At the first packet that breaks a rule reading stops, and nothing of it or behind
    it leaves. Every START ends with a FENCE that flushes, its ``slot`` 1: with the last packet, if
    that is one; else one follows. The next START begins anew.

    Parameters
    ----------
    params : CommandReaderParams

    Members
    -------
    i : In(stream.Signature(layout(START)))
        Where packets lie. The next START is accepted when the last FENCE has :attr:`ended`.
    o : Out(stream.Signature(beat(triangle=..., draw_state=..., clear=..., fence=...)))
        Triangles and control beats.
    ended : In(1)
        A FENCE has left the pipeline, and all before it. Nothing behind it is read sooner: depths
        run ahead of colours, and may lie where colours lay.
    error : Out(CommandError)
        Why reading stopped, from the last FENCE until the next START.
    at : Out(24)
        Where reading stopped, as in :data:`fixfunc.spec.commands.STATUS`.
    resolve : Out(stream.Signature(layout(RESOLVE)))
        What is to be resolved, when all that has left the reader is in memory.
    resolved : In(1)
        It is done; nothing behind it is read sooner. Both are absent where RESOLVE is no packet.
    pixel_state : Out(stream.Signature(layout(PIXEL_STATE)))
        How the triangles behind it are shaded. It and what follows is absent without
        ``params.ring``.
    texture : Out(layout(params.texture))
        What a pixel state samples that comes now. Absent without ``params.texture_formats``.
    corners : Out(layout(commands.RING_TRIANGLE))
        More about a triangle of ``o``; of one from a TRIANGLES packet, zeros.
    vertex_error : Out(VertexError)
        The rule that the vertex ring found broken, with ``error``.
    released, slot, attribute, found
        As of :class:`~fixfunc.rtl.frontend.vertex_ring.vertex_ring.VertexRing`.
    memory : Out(Axi())
        Read channels alone are used.
    """

    def __init__(self, params: CommandReaderParams = CONFIGS["default"]) -> None:
        self._params = params
        resolves = {"resolve": Out(stream.Signature(layout(RESOLVE))), "resolved": In(1)}
        ring = params.ring
        vertices = ring and {
            "pixel_state": Out(stream.Signature(layout(PIXEL_STATE))),
            "corners": Out(layout(commands.RING_TRIANGLE)),
            "vertex_error": Out(VertexError),
            "released": In(range(ring.slots + 1)),
            "slot": In(range(ring.slots)),
            "attribute": In(range(ring.attributes)),
            "found": Out(ATTRIBUTE),
        }
        textures = {"texture": Out(layout(params.texture))} if params.texture_formats else {}
        super().__init__(
            {
                "i": In(stream.Signature(layout(START))),
                "o": Out(stream.Signature(BEAT)),
                "ended": In(1),
                "error": Out(CommandError),
                "at": Out(24),
                "memory": Out(Axi()),
            }
            | (resolves if params.resolve_samples else {})
            | (vertices or {})
            | textures
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.fetch = fetch = CommandFetch(self._params.ahead)
        wiring.connect(m, fetch.memory, wiring.flipped(self.memory))
        restart = Signal()
        start = self.i.payload
        end = Signal(34)  # of the packets, in bytes
        bounds = Signal(BOUNDS)
        m.d.comb += [
            end.eq(start.address + (start.transfers << 5)),
            fetch.control.address.eq(start.address),
            fetch.control.transfers.eq(start.transfers),
        ]
        with m.If(restart):
            m.d.sync += [
                bounds.limit.eq(start.limit),
                bounds.packets_begin.eq(start.address),
                bounds.packets_end.eq(end),
            ]
        units = packet_units(m, self, self._params, restart, bounds)
        packet = Signal(PACKET)
        remaining = Signal(24)  # transfers from this packet on
        with m.FSM():
            with m.State("IDLE"):
                self._start(m, fetch, restart, remaining, end)
            with m.State("HEADER"):
                with m.If(remaining == 0):
                    m.next = "END"
                with m.Elif(fetch.o.valid):
                    m.d.comb += fetch.o.ready.eq(1)
                    m.d.sync += [
                        packet.first.eq(fetch.o.payload.data),
                        packet.error.eq(fetch.o.payload.error),
                    ]
                    m.next = "PACKET"
            with m.State("PACKET"):
                self._decode(m, packet, remaining)
            for unit in dict.fromkeys(units.values()):
                m.d.comb += [
                    unit.packet.first.eq(packet.first),
                    unit.packet.length.eq(packet.length),
                ]
            for opcode, unit in units.items():
                with m.State(opcode.name):
                    self._execute(m, unit.packet, fetch, packet, remaining)
            with m.State("TARGET"):
                m.d.comb += units[Opcode.CLEAR].target_valid.eq(1)
                self._advance(m, packet, remaining)
            with m.State("FENCE"):
                fence = fields_of(packet.first, commands.FENCE_PACKET)
                last = Signal()
                m.d.comb += [
                    last.eq(remaining == packet.length),
                    self.o.valid.eq(1),
                ]
                self._fence(m, sequence=fence.sequence, begin=fence.begin, slot=last)
                with m.If(self.o.ready):
                    self._advance(m, packet, remaining)
                    m.next = "FENCED"
                    with m.If(last):
                        m.next = "WAIT"
            with m.State("FENCED"), m.If(self.ended):
                m.next = "HEADER"
            with m.State("END"):
                # Transfers that are still in flight are dropped.
                m.d.comb += [
                    fetch.control.stop.eq(1),
                    fetch.o.ready.eq(1),
                    self.o.valid.eq(~fetch.control.busy),
                ]
                self._fence(m, slot=1)
                with m.If(self.o.valid & self.o.ready):
                    m.next = "WAIT"
            with m.State("WAIT"), m.If(self.ended):
                m.next = "IDLE"
        return m

    def _start(self, m, fetch, restart, remaining, end):
        """Accept a START whose packets lie in memory."""
        start = self.i.payload
        m.d.comb += self.i.ready.eq(1)
        with m.If(self.i.valid):
            m.d.comb += restart.eq(1)
            m.d.sync += [
                remaining.eq(start.transfers),
                self.at.eq(0),
                self.error.eq(CommandError.NONE),
            ]
            with m.If(start.address[:5].any() | ~start.transfers.any() | (end > start.limit)):
                self._stop(m, CommandError.ADDRESS)
            with m.Else():
                m.d.comb += fetch.control.start.eq(1)
                m.next = "HEADER"

    def _decode(self, m, packet, remaining):
        """Opcode and length of a packet."""
        header = fields_of(packet.first, commands.PACKET)
        m.d.sync += packet.length.eq(header.length)
        with m.If(packet.error):
            self._stop(m, CommandError.READ)
        with m.Else(), m.Switch(header.opcode):
            for opcode in self._params.opcodes:
                with m.Case(opcode):
                    fits = (
                        (header.length == LENGTHS[opcode])
                        if opcode in LENGTHS
                        else header.length.any()
                    )
                    with m.If(fits & (header.length <= remaining)):
                        m.next = opcode.name
                    with m.Else():
                        self._stop(m, CommandError.LENGTH)
            with m.Default():
                self._stop(m, CommandError.OPCODE)

    def _execute(self, m, unit, fetch, packet, remaining):
        """A unit has the streams until it is done."""
        m.d.comb += [
            unit.active.eq(1),
            unit.i.valid.eq(fetch.o.valid),
            unit.i.payload.eq(fetch.o.payload),
            fetch.o.ready.eq(unit.i.ready),
            self.o.valid.eq(unit.o.valid),
            self.o.payload.eq(unit.o.payload),
            unit.o.ready.eq(self.o.ready),
        ]
        with m.If(unit.done & (unit.error != CommandError.NONE)):
            self._stop(m, unit.error)
        with m.Elif(unit.done):
            self._advance(m, packet, remaining)

    def _fence(self, m, **fields):
        """A FENCE that flushes."""
        fence = self.o.payload.fence
        m.d.comb += [
            fence.kind.eq(Kind.FENCE),
            fence.flush.eq(1),
            *(fence[name].eq(value) for name, value in fields.items()),
        ]

    def _stop(self, m, error):
        """Reading stops at this packet."""
        m.d.sync += self.error.eq(error)
        m.next = "END"

    def _advance(self, m, packet, remaining):
        """The next packet is read."""
        m.d.sync += [
            self.at.eq(self.at + packet.length),
            remaining.eq(remaining - packet.length),
        ]
        m.next = "HEADER"
