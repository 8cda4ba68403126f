# SPDX-License-Identifier: BSD-2-Clause
"""Colour slots: tiles of colours on chip, read, blended and written."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import NO_COLLISION, DelayLine
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.surface.rectangle import RECTANGLE, RectangleMask
from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.memory.tile_client.slot_front import COMMAND
from fixfunc.rtl.output.byte_blender import ByteBlender
from fixfunc.rtl.output.merger.control import StateDecoder
from fixfunc.rtl.output.merger.formats import FormatSet
from fixfunc.rtl.output.texel_blender import PlaneFormats, TexelBlender
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.payloads import COLOUR
from fixfunc.spec.state import SlotOp

BYTES = FormatSet(BASE_FORMATS)


class ColourSlots(wiring.Component):
    """Do what slot commands say, one a clock; it never stalls.

    A slot is written :attr:`latency` clocks after it is read. Until then no other command may read
    it: an EVICT reads, and a USE that blends, unless its slot is filled by the same command. But a
    USE that comes :attr:`forwarded` clocks behind another one blends with what that one writes.
    Planes of R8G8B8A8_UNORM alone have lanes for its bytes, and channels that are not written
    need no blending: memory is written by bytes.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    slots : int
        Tiles on chip.
    formats : sequence of Format
        What the plane may be.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
    clear : In(layout(payloads.CLEAR))
        The last clear. Both hold as long as tiles of them are in flight.
    command : In(COMMAND)
    fill_values : In(ArrayLayout(COLOUR, edge**2))
        What a FILL puts into the slot.
    tile : In(layout(payloads.tile(edge)))
        The tile of a USE.
    clearing : In(1)
        ``tile`` is to be cleared.
    colours : In(ArrayLayout(COLOUR, edge**2))
        Colours of ``tile``, from the shader.
    done : Out(COMMAND)
        ``command``, :attr:`OLD` clocks later.
    written : Out(edge**2)
        Samples that a USE in ``done`` writes.
    values : Out(ArrayLayout(COLOUR, edge**2))
        Values of the slot of ``done``, before it is filled.
    """

    OLD = 2  # clocks from a command to the values of its slot

    def __init__(self, edge: int, slots: int, formats: Sequence[Format] = BASE_FORMATS) -> None:
        self._edge = edge
        self._slots = slots
        self._formats = BYTES if tuple(formats) == BASE_FORMATS else PlaneFormats.of(formats)
        self._first_lane = self._lane()
        tile = ArrayLayout(COLOUR, edge**2)
        super().__init__(
            {
                "state": In(layout(payloads.DRAW_STATE)),
                "clear": In(layout(payloads.CLEAR)),
                "command": In(COMMAND),
                "fill_values": In(tile),
                "tile": In(layout(payloads.tile(edge))),
                "clearing": In(1),
                "colours": In(tile),
                "done": Out(COMMAND),
                "written": Out(edge**2),
                "values": Out(tile),
            }
        )

    @property
    def _by_bytes(self):
        """All channels are bytes: a lane blends, and memory is written by channels."""
        return self._formats is BYTES

    def _lane(self):
        """All of D3D11's blending but the blend constant and second colours, of a sample."""
        return ByteBlender() if self._by_bytes else TexelBlender(self._formats)

    @property
    def latency(self) -> int:
        """Clocks from a command to the write of its slot."""
        return self.OLD + self._first_lane.latency

    @property
    def forwarded(self) -> range:
        """Clocks from a USE to another one of its slot that is given its result.

        It is written then in the clock in which a lane takes what is stored, or in the one before.
        In the next clock memory is written and read, which it need not bear.
        """
        return range(self.latency - self.OLD, self.latency)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = self._edge**2
        m.submodules.slots = slots = Memory(
            shape=COLOUR * lanes, depth=self._slots, init=[], attrs=NO_COLLISION
        )
        read = slots.read_port()
        write = slots.write_port(granularity=8)
        m.submodules.mask = mask = RectangleMask(self._edge)
        for name in RECTANGLE.members:
            m.d.comb += mask.rectangle[name].eq(self.clear[name])
        m.d.comb += [
            mask.samples.eq(self.state.samples),
            mask.x.eq(self.tile.x),
            mask.y.eq(self.tile.y),
            read.addr.eq(self.command.slot),
        ]

        timeline = Timeline(m)
        timeline.enter(
            0,
            command=self.command,
            mask=self.tile.mask,
            clearing=self.clearing,
        )
        timeline.enter(RectangleMask.LATENCY, cleared=mask.o)
        for name, distance in zip(("at_lane", "at_read"), self.forwarded, strict=True):
            earlier = timeline[distance].command
            again = earlier.valid & (earlier.slot == self.command.slot)
            timeline.enter(0, **{name: again & ~has(self.command.op, SlotOp.FILL)})
        old = timeline[self.OLD]
        m.d.comb += [
            self.done.eq(old.command),
            self.written.eq(Mux(old.clearing, ~0, old.mask)),
        ]
        self._decode(m, timeline)
        m.submodules.filled = filled = DelayLine(COLOUR * lanes, self.latency)
        m.d.comb += filled.i.eq(self.fill_values)
        last = timeline[self.latency]
        drawn = named(m, Mux(last.clearing, last.cleared, last.mask), "drawn")
        written = self.state.colour_write if self._by_bytes else 0b1111
        channels = named(m, Mux(last.clearing, 0b1111, written), "channels")
        used = last.command.valid & has(last.command.op, SlotOp.USE)
        fills = named(m, last.command.valid & has(last.command.op, SlotOp.FILL), "fills")
        m.d.comb += write.addr.eq(last.command.slot)
        for n in range(lanes):
            m.submodules[f"lane_{n}"] = lane = self._lane() if n else self._first_lane
            new = Mux(self.clearing, self.clear.colour_value, self.colours[n])
            timeline.enter(0, **{f"new_{n}": new, f"fill_{n}": self.fill_values[n]})
            word = read.data.word_select(n, COLOUR)
            stored = self._read(m, timeline, n, word, write)
            dest = _newest(timeline[self.OLD].at_lane, n, write, stored)
            m.d.comb += [
                lane.source.eq(timeline.value(f"new_{n}", self.OLD)),
                lane.dest.eq(dest),
                *(lane.controls[k].eq(timeline[self.OLD + k].control) for k in range(lane.latency)),
            ]
            writes = named(m, Mux(used & drawn[n], channels, 0), f"writes_{n}")
            value = write.data.word_select(n, COLOUR)
            for k in range(4):
                kept = filled.o.word_select(n, COLOUR).word_select(k, 8)
                blended = lane.o.word_select(k, 8)
                m.d.comb += [
                    value.word_select(k, 8).eq(Mux(writes[k], blended, kept)),
                    write.en[4 * n + k].eq(writes[k] | fills),
                ]
        return m

    def _read(self, m, timeline, n, stored, write):
        """The value of a sample: as its slot holds it, as it is being written there, or as it is
        filled in by this command.
        """
        value = Signal(COLOUR, name=f"stored_{n}")
        filled = timeline.value(f"fill_{n}", 1)
        newest = _newest(timeline[1].at_read, n, write, stored)
        m.d.sync += [
            self.values[n].eq(stored),
            value.eq(Mux(has(timeline[1].command.op, SlotOp.FILL), filled, newest)),
        ]
        return value

    def _decode(self, m, timeline):
        """How the draw blends; what clears a slot replaces all."""
        m.submodules.decoder = decoder = StateDecoder(
            self._formats, second=False, constant=False, logic=True
        )
        draws = ~timeline[self.OLD - decoder.LATENCY].clearing
        for field in payloads.BLEND_STATE:
            value = self.state[field.name]
            if field.name.endswith("enable"):
                value = value & draws
            m.d.comb += decoder.i[field.name].eq(value)
        if self._by_bytes:
            m.d.comb += [
                decoder.i.format.eq(BASE_FORMATS[0]),
                decoder.i.write_mask.eq(0b1111),  # channels are masked where the slot is written
            ]
            timeline.enter(self.OLD, control=decoder.control.as_value())
            return
        form = named(m, Mux(draws, self.state.colour_format, BASE_FORMATS[0]), "format")
        m.d.comb += [
            decoder.i.format.eq(form),
            decoder.i.write_mask.eq(Mux(draws, self.state.colour_write, 0b1111)),
        ]
        # The decoder has no layouts of floats for this lane.
        channel_layout = Signal(len(self._formats.layouts))
        m.d.sync += channel_layout.eq(self._formats.layout_of(form))
        control = Signal.like(decoder.control)
        m.d.comb += [
            control.eq(decoder.control),
            control.layout.eq(channel_layout),
        ]
        timeline.enter(self.OLD, control=control.as_value())


def _newest(again, n, write, value):
    """A sample's value, but for the channels of it that are being written to the same slot."""
    result = write.data.word_select(n, COLOUR)
    return Cat(
        Mux(again & write.en[4 * n + k], result.word_select(k, 8), value.word_select(k, 8))
        for k in range(4)
    )
