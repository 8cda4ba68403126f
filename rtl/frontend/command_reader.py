# SPDX-License-Identifier: BSD-2-Clause
"""Command reader: a command stream in memory becomes the beats of a frame."""

from dataclasses import dataclass

from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.command_fetch import BURST, CommandFetch
from fixfunc.rtl.frontend.packets.packet import BEAT, BOUNDS
from fixfunc.rtl.frontend.packets.packet_units import packet_units
from fixfunc.rtl.frontend.vertex_ring.operation import ATTRIBUTE
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import CONFIGS as RINGS
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRingParams
from fixfunc.rtl.lib.axi import TRANSFER, Axi
from fixfunc.rtl.memory.surface.state_check import check_colour_formats
from fixfunc.rtl.output.merger.formats import SRGB
from fixfunc.rtl.payload import fields_of, layout
from fixfunc.rtl.raster.edge_evaluator import EdgeEvaluatorParams
from fixfunc.spec import commands
from fixfunc.spec.colours import BASE_FORMATS, COLOUR_FORMATS, RESOLVE
from fixfunc.spec.commands import (
    LENGTHS,
    START,
    CommandError,
    Opcode,
    VertexError,
)
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import COLOUR_PLANES, Field
from fixfunc.spec.pixels.pixel_state import PIXEL_STATE
from fixfunc.spec.state import SAMPLE_COUNTS, TARGET_LIMIT, TOP_LIMIT, DepthFormat, Kind
from fixfunc.spec.textures.addresses import EXTENT
from fixfunc.spec.textures.cache import FORMAT, StoredFormat
from fixfunc.spec.textures.descriptors import sampled
from fixfunc.spec.textures.level_of_detail import ANISOTROPY

# The packet that is executed: its first transfer, whether that could not be read, its length.
PACKET = StructLayout({"first": TRANSFER, "error": 1, "length": 24})


@dataclass(frozen=True)
class CommandReaderParams:
    """Shape of a :class:`CommandReader`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    samples : int
        Greatest number of samples of a pixel: 1, 2, 4 or 8.
    pixels : int
        Greatest width or height of a target.
    stencil : bool
        Targets have a stencil plane.
    formats : tuple of DepthFormat
        Depth formats of targets.
    colour_planes : int
        Colour planes of targets: 1 to 8.
    colour_formats : tuple of Format
        Formats of colour planes, R8G8B8A8_UNORM among them.
    second : bool
        The first colour plane may be blended with a shader's second colour.
    floats : bool
        Colour planes of floats may be blended.
    resolve_samples : int
        Greatest number of samples of a pixel that is resolved; 0: RESOLVE is no packet. sRGB is
        resolved where it is one of ``colour_formats``.
    ahead : int
        Transfers that are read before their turn, a multiple of 16 above 16. Memory is hidden that
        answers within as many clocks, as far as a packet takes a clock a transfer.
    ring : VertexRingParams or None
        Of vertices with attributes; None: VERTICES, PRIMITIVES, RELEASE and PIXEL_STATE are no
        packets.
    texture_formats : tuple of StoredFormat
        Formats of textures; without any TEXTURE is no packet. Needs ``ring``.
    texture_extent : int
        log2 of the greatest width and height of a texture.
    texture_anisotropy : int
        Most samples along a footprint that a texture may ask for: 1 or 16.
    texture_surfaces : tuple of StoredFormat
        Formats of textures that may be coded surfaces.
    """

    edge: int = 8
    samples: int = 8
    pixels: int = TOP_LIMIT
    stencil: bool = True
    formats: tuple = tuple(DepthFormat)
    colour_planes: int = 1
    colour_formats: tuple[Format, ...] = BASE_FORMATS
    second: bool = False
    floats: bool = False
    resolve_samples: int = 8
    ahead: int = 1024
    ring: VertexRingParams | None = None
    texture_formats: tuple[StoredFormat, ...] = ()
    texture_extent: int = EXTENT
    texture_anisotropy: int = 1
    texture_surfaces: tuple[StoredFormat, ...] = ()

    @property
    def texture(self) -> tuple[Field, ...]:
        """Field table of what a pixel state samples."""
        extended = any(form >> FORMAT for form in self.texture_formats)
        return sampled(extended, len(self.texture_surfaces) > 0)

    def __post_init__(self):
        EdgeEvaluatorParams(self.edge, self.samples)  # the same rules hold here
        if not 1 <= self.pixels <= TARGET_LIMIT:
            raise ValueError(f"pixels must lie in 1..{TARGET_LIMIT}, not {self.pixels!r}")
        if not 1 <= self.colour_planes <= COLOUR_PLANES:
            raise ValueError(
                f"colour_planes must lie in 1..{COLOUR_PLANES}, not {self.colour_planes!r}"
            )
        check_colour_formats("colour_formats", self.colour_formats)
        if self.ahead <= BURST or self.ahead % BURST:
            raise InputError("ahead", f"be a multiple of {BURST} above it", self.ahead)
        if self.resolve_samples not in (0, *SAMPLE_COUNTS):
            names = ", ".join(map(str, (0, *SAMPLE_COUNTS)))
            raise InputError("resolve_samples", f"be one of {names}", self.resolve_samples)
        if self.texture_formats and self.ring is None:
            raise InputError("texture_formats", "be none without a ring", self.texture_formats)
        if self.texture_anisotropy not in (1, ANISOTROPY):
            rule = f"be 1 or {ANISOTROPY}"
            raise InputError("texture_anisotropy", rule, self.texture_anisotropy)

    @property
    def resolves_srgb(self) -> bool:
        """Surfaces of sRGB are resolved."""
        return any(form in SRGB for form in self.colour_formats)

    @property
    def opcodes(self) -> tuple[Opcode, ...]:
        """Packets that there are."""
        return commands.opcodes(
            self.resolve_samples > 0,
            self.ring is not None,
            len(self.texture_formats) > 0,
        )


_SURFACES = StoredFormat.R8G8B8A8_UNORM, StoredFormat.R16G16_SNORM
CONFIGS = {
    "default": CommandReaderParams(),
    "planes": CommandReaderParams(colour_planes=COLOUR_PLANES, colour_formats=COLOUR_FORMATS),
    "tiny": CommandReaderParams(edge=4, pixels=64, resolve_samples=2, ahead=64),
    "tiny_planes": CommandReaderParams(
        edge=4, pixels=64, colour_planes=3, colour_formats=COLOUR_FORMATS, ahead=64
    ),
    "tiny_ring": CommandReaderParams(
        edge=4,
        samples=4,
        pixels=64,
        resolve_samples=2,
        ahead=64,
        ring=RINGS["tiny"],
        texture_formats=(*_SURFACES, StoredFormat.BC4_SNORM),
        texture_extent=6,
        texture_anisotropy=ANISOTROPY,
        texture_surfaces=_SURFACES,
    ),
}
PURPOSE = {  # of each configuration
    "default": "targets up to 2048 pixels",
    "planes": "the same, with eight colour planes of any format of up to 32 bits",
    "tiny": "for benches: tiles of 4x4, targets up to 64 pixels",
    "tiny_planes": "the same, with three colour planes of any format of up to 32 bits",
    "tiny_ring": "the same, with a ring of eight vertices, and textures of three formats, two "
    "of which coded surfaces may have",
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
