# SPDX-License-Identifier: BSD-2-Clause
"""Colour slots: tiles of colours on chip, read, blended and written."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, named, pick
from fixfunc.rtl.lib.delay import NO_COLLISION, DelayLine
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.surface.rectangle import RECTANGLE, RectangleMask
from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.memory.tile_client.slot_front import COMMAND
from fixfunc.rtl.output.blend_constant import ConstantSteps
from fixfunc.rtl.output.blend_turns import turn_layout
from fixfunc.rtl.output.byte_blender import BYTE, ByteBlender
from fixfunc.rtl.output.merger.control import StateDecoder
from fixfunc.rtl.output.merger.formats import FormatSet, Place
from fixfunc.rtl.output.plane_formats import PlaneFormats, by_bytes
from fixfunc.rtl.output.texel_blender import TexelBlender
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.payloads import COLOUR
from fixfunc.spec.state import SlotOp

BYTES = FormatSet(BASE_FORMATS)
CHANNELS = COLOUR // BYTE  # of a sample, each with a write enable
EVERY = Const((1 << CHANNELS) - 1)


class ColourSlots(wiring.Component):
    """Do what slot commands say, one a clock; it never stalls.

    A tile that is blended comes in turns, each of a group of its samples, which the lanes take.
    What is not blended takes one turn, and passes them by.

    A slot is written :attr:`latency` clocks after it is read. Until then no other command may read
    those samples: an EVICT reads all, and a USE that blends those of its turn, unless its slot is
    filled by the same command. But a USE that comes :attr:`forwarded` clocks behind another one
    blends with what that one writes.
    Planes of R8G8B8A8_UNORM alone have lanes for its bytes, and channels that are not written
    need no blending: memory is written by bytes.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    slots : int
        Tiles on chip.
    lanes : int
        Samples that are blended in a clock.
    formats : sequence of Format
        What the plane may be.
    second : bool
        Shaders may give a second colour.
    is_first : bool
        The plane is the first, which is blended with it.
    floats : bool
        Formats of floats are blended.

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
        That of ``command``, and in the clock behind it. Samples hold as long as tiles of the target
        are in flight.
    clear : In(layout(payloads.CLEAR))
        The last clear. It holds as long as its tiles are in flight.
    command : In(COMMAND)
    turn : In(turn_layout(edge**2 // lanes))
        Of the tile of ``command``.
    fill_values : In(ArrayLayout(COLOUR, edge**2))
        What a FILL puts into the slot.
    tile : In(layout(payloads.tile(edge)))
        The tile of a USE.
    clearing : In(1)
        ``tile`` is to be cleared.
    constants : In(ArrayLayout(32, 4))
        The blend constant, float32. It holds as long as tiles are in flight.
    colours : In(ArrayLayout(COLOUR, edge**2))
        Colours of ``tile``, from the shader. They, the tile and its command are the same in each of
        its turns.
    fractions : In(ArrayLayout(COLOUR, lanes))
        What colours of the turn's samples were rounded by.
    second, second_fractions
        The same of second colours. Absent without ``second``, and of other planes.
    completes : Out(1)
        ``command`` will be in ``done``.
    done : Out(COMMAND)
        ``command``, :attr:`OLD` clocks later: its EVICT in the first turn, the rest in the last.
    written : Out(edge**2)
        Samples that a USE in ``done`` writes.
    values : Out(ArrayLayout(COLOUR, edge**2))
        Values of the slot of ``done``, before it is filled.
    """

    OLD = 2  # clocks from a command to the values of its slot

    def __init__(
        self,
        edge: int,
        slots: int,
        lanes: int,
        formats: Sequence[Format] = BASE_FORMATS,
        second: bool = False,
        is_first: bool = True,
        floats: bool = False,
    ) -> None:
        self._edge = edge
        self._slots = slots
        self._lanes = lanes
        self._second = second and is_first
        # All channels are bytes: a lane blends, and memory is written by channels.
        self._by_bytes = by_bytes(formats, second)
        self._formats = BYTES if self._by_bytes else PlaneFormats.of(formats, floats)
        self._constant = ConstantSteps(PlaneFormats.of(formats))
        self._blenders = [
            ByteBlender() if self._by_bytes else TexelBlender(self._formats, self._second)
            for _ in range(lanes)
        ]
        tile = ArrayLayout(COLOUR, edge**2)
        fractions = ArrayLayout(COLOUR, lanes)
        seconds = {"second": In(tile), "second_fractions": In(fractions)} if self._second else {}
        super().__init__(
            seconds
            | {
                "state": In(layout(payloads.DRAW_STATE)),
                "clear": In(layout(payloads.CLEAR)),
                "command": In(COMMAND),
                "turn": In(turn_layout(edge**2 // lanes)),
                "fill_values": In(tile),
                "tile": In(layout(payloads.tile(edge))),
                "clearing": In(1),
                "constants": In(ArrayLayout(32, 4)),
                "colours": In(tile),
                "fractions": In(fractions),
                "completes": Out(1),
                "done": Out(COMMAND),
                "written": Out(edge**2),
                "values": Out(tile),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from a command to the write of its slot."""
        return self.OLD + self._blenders[0].latency

    @property
    def forwarded(self) -> range:
        """Clocks from a USE to another one of its slot that is given its result.

        It is written then in the clock in which a lane takes what is stored, or in the one before.
        In the next clock memory is written and read, which it need not bear.
        """
        return range(self.latency - self.OLD, self.latency)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        samples = self._edge**2
        m.submodules.slots = slots = Memory(
            shape=COLOUR * samples, depth=self._slots, init=[], attrs=NO_COLLISION
        )
        read = slots.read_port()
        write = slots.write_port(granularity=BYTE)
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
            turn=self.turn,
            mask=self.tile.mask,
            clearing=self.clearing,
            channels=self.state.colour_write,
        )
        timeline.enter(RectangleMask.LATENCY, cleared=mask.o)
        for name, distance in zip(("at_lane", "at_read"), self.forwarded, strict=True):
            earlier = timeline[distance].command
            again = earlier.valid & (earlier.slot == self.command.slot)
            timeline.enter(0, **{name: again & ~has(self.command.op, SlotOp.FILL)})
        self._complete(m, timeline, read)
        owned = self._decode(m, timeline)
        blended = [self._blend(m, timeline, n, read, write) for n in range(self._lanes)]
        self._write(m, timeline, write, blended, owned)
        return m

    def _complete(self, m, timeline, read):
        """What is done, and what the slot held."""
        turn = self.turn
        parts = Mux(turn.first, SlotOp.EVICT, 0) | Mux(turn.last, SlotOp.USE | SlotOp.FILL, 0)
        done = Signal(COMMAND)
        m.d.comb += [
            done.op.eq(self.command.op & parts),
            done.slot.eq(self.command.slot),
            done.valid.eq(self.command.valid & done.op.any()),
            self.completes.eq(done.valid),
        ]
        timeline.enter(0, done=done)
        old = timeline[self.OLD]
        m.d.comb += [
            self.done.eq(old.done),
            self.written.eq(Mux(old.clearing, ~0, old.mask)),
        ]
        m.d.sync += self.values.eq(read.data)

    def _blend(self, m, timeline, n, read, write):
        """A lane, and its result: a sample of each group in turn.

        It takes a value as its slot holds it, as it is being written there, or as it is filled in
        by the same command.
        """
        m.submodules[f"lane_{n}"] = lane = self._blenders[n]
        samples = range(n, self._edge**2, self._lanes)
        operands = {"source": _due(self.turn, self.colours, samples), "fraction": self.fractions[n]}
        if self._second:
            operands["second"] = _due(self.turn, self.second, samples)
            operands["second_fraction"] = self.second_fractions[n]
        timeline.enter(0, **{f"{name}_{n}": value for name, value in operands.items()})
        timeline.enter(0, **{f"fill_{n}": _due(self.turn, self.fill_values, samples)})
        words = [read.data.word_select(k, COLOUR) for k in samples]
        value = _newest(
            timeline[1], "at_read", samples, write, pick(timeline[1].turn.groups, words)
        )
        stored = Signal(COLOUR, name=f"stored_{n}")
        fills = has(timeline[1].command.op, SlotOp.FILL)
        m.d.sync += stored.eq(Mux(fills, timeline.value(f"fill_{n}", 1), value))
        entry = self.OLD - lane.ahead
        clocks = range(entry, self.latency)
        m.d.comb += [
            *(getattr(lane, name).eq(timeline.value(f"{name}_{n}", entry)) for name in operands),
            lane.dest.eq(_newest(timeline[self.OLD], "at_lane", samples, write, stored)),
            lane.controls.eq(Cat(timeline[clock].control for clock in clocks)),
        ]
        in_steps = self._constant.o  # of one format, it only holds
        if not self._by_bytes:
            in_steps = timeline[entry + lane.constants_clock].constants
        m.d.comb += _constants_of(lane, in_steps, self.constants)
        return lane.o

    def _write(self, m, timeline, write, blended, owned):
        """Samples that the command fills in, clears, replaces or has blended.

        What is known at its beginning waits in one row: values that are filled in, and the shader's
        colours over them. Where the tile is blended a lane's result takes their place.
        """
        samples = range(self._edge**2)
        m.submodules.unblended = line = DelayLine(COLOUR * len(samples), self.latency)
        last = timeline[self.latency]
        drawn = named(m, Mux(last.clearing, last.cleared, last.mask), "drawn")
        offered = self.state.colour_write if self._by_bytes else EVERY
        written = last.channels if self._by_bytes else EVERY
        channels = named(m, Mux(last.clearing, EVERY, written), "channels")
        used = last.command.valid & has(last.command.op, SlotOp.USE)
        fills = named(m, last.command.valid & has(last.command.op, SlotOp.FILL), "fills")
        m.d.comb += write.addr.eq(last.command.slot)
        results = [
            named(m, Mux(last.clearing, self.clear.colour_value, result), f"result_{n}")
            for n, result in enumerate(blended)
        ]
        by_lane = named(m, last.clearing | last.turn.blended, "by_lane")
        for n in samples:
            group, lane = divmod(n, self._lanes)
            due = last.turn.groups[group]
            replaces = self.tile.mask[n] & ~self.clearing
            writes = named(m, Mux(used & drawn[n] & due, channels, 0), f"writes_{n}")
            m.d.comb += [
                line.i.word_select(n, COLOUR).eq(
                    _merged(gated(offered, replaces), self.colours[n] & owned, self.fill_values[n])
                ),
                write.en.word_select(n, CHANNELS).eq(writes | (fills & due).replicate(CHANNELS)),
                write.data.word_select(n, COLOUR).eq(
                    _merged(gated(writes, by_lane), results[lane], line.o.word_select(n, COLOUR))
                ),
            ]

    def _decode(self, m, timeline):
        """How the draw blends, and which bits belong to channels; the others become 0."""
        m.submodules.decoder = decoder = StateDecoder(
            self._formats, self._second, constant=True, logic=True
        )
        m.submodules.constant = constant = self._constant
        control = Signal.like(decoder.control)
        m.d.comb += [decoder.i[f.name].eq(self.state[f.name]) for f in payloads.BLEND_STATE]
        m.d.comb += [
            control.eq(decoder.control),
            constant.i.eq(self.constants),
            constant.widths.eq(control.widths),
            constant.is_signed.eq(control.is_signed),
        ]
        timeline.enter(decoder.LATENCY, control=control.as_value())
        timeline.enter(decoder.LATENCY + constant.LATENCY, constants=constant.o.as_value())
        if self._by_bytes:
            m.d.comb += [
                decoder.i.format.eq(BASE_FORMATS[0]),
                decoder.i.write_mask.eq(EVERY),  # channels are masked where the slot is written
            ]
            return Const((1 << COLOUR) - 1)
        m.d.comb += [
            decoder.i.format.eq(self.state.colour_format),
            decoder.i.write_mask.eq(self.state.colour_write),
        ]
        return _channels(m, self.state.colour_format, self._formats, control)


def _channels(m, form, formats, control):
    """Tell the layout of a plane's format, of floats too, which the decoder does not know; and
    which bits belong to channels, a clock later than that.
    """
    channel_layout = Signal(len(formats.layouts))
    owned = Signal(COLOUR)
    m.d.sync += [
        channel_layout.eq(formats.layout_of(form)),
        owned.eq(pick(channel_layout, map(channel_bits, formats.layouts))),
    ]
    m.d.comb += control.layout.eq(channel_layout)
    return owned


def _constants_of(lane, in_steps, floats):
    """A lane's blend constant, and where it blends floats, that as it is."""
    own = [lane.constants.eq(in_steps)]
    if "float_constants" in lane.signature.members:
        own.append(lane.float_constants.eq(floats))
    return own


def _due(turn, values, samples):
    """The value of that of some samples, one of each group, which a turn is of."""
    return pick(turn.groups, [values[k] for k in samples])


def channel_bits(arrangement: Sequence[Place | None]) -> int:
    """Bits of a texel that belong to a channel."""
    return sum(((1 << bits) - 1) << low for low, bits in filter(None, arrangement))


def _newest(clock, again, samples, write, value):
    """The value of the turn's sample, but for the channels of it that are being written to the
    same slot.
    """
    result = pick(clock.turn.groups, [write.data.word_select(n, COLOUR) for n in samples])
    written = pick(clock.turn.groups, [write.en.word_select(n, CHANNELS) for n in samples])
    return _merged(gated(written, getattr(clock, again)), result, value)


def _merged(flags, new, old):
    """Bytes of one value where a flag is set, of another where not."""
    return Cat(
        Mux(flags[k], new.word_select(k, BYTE), old.word_select(k, BYTE)) for k in range(CHANNELS)
    )
