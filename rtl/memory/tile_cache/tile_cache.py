# SPDX-License-Identifier: BSD-2-Clause
"""Tile cache: tiles of depths, stencil values or colours on chip, coded in memory."""

from dataclasses import dataclass, replace

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.compression.depth_codec import DepthCodec
from fixfunc.rtl.depth.compression.depth_compression import DepthCompressionParams
from fixfunc.rtl.depth.compression.plane_codec import PlaneCodec
from fixfunc.rtl.lib.axi import Axi, join
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.memory.tile_cache.command_queue import CommandQueue
from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.memory.tile_cache.miss_scheduler import MissScheduler
from fixfunc.rtl.memory.tile_cache.mode_cache import ModeCache
from fixfunc.rtl.memory.tile_cache.raw_codec import RawCodec
from fixfunc.rtl.memory.tile_cache.refill import RefillUnit
from fixfunc.rtl.memory.tile_cache.sequencer import Sequencer
from fixfunc.rtl.memory.tile_cache.tag_array import TagArray
from fixfunc.rtl.memory.tile_cache.traffic import Traffic
from fixfunc.rtl.memory.tile_cache.victims.victim_buffer import VictimBuffer
from fixfunc.rtl.memory.tile_cache.write_back import WriteBackUnit
from fixfunc.rtl.output.compression.colour_codec import ColourCodec
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.memory import caching
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import SlotOp

WALK = "more", "set", "entry"  # what a walk of the sets is told
FILLS = 16  # tiles that have been filled, whose completions are on their way
LEAST = {
    "sets": 1,
    "ways": 1,
    "table_lines": 1,
    "reads": 2,
    "writes": 2,
    "ahead": 2,
    "victims": 1,
}
BITS = payloads.STENCIL, payloads.DEPTH, payloads.FLOAT_DEPTH, payloads.COLOUR


@dataclass(frozen=True)
class TileCacheParams:
    """Shape of a :class:`TileCache`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    sets, ways, table_lines : int
        Sets and ways of the tag array, and lines of the mode cache: powers of two above 1.
    reads, writes : int
        Most reads and most writes in flight: powers of two above 2.
    ahead : int
        Tiles that are asked for before their turn: a power of two above 2. Memory is hidden that
        answers within so many clocks.
    victims : int
        Last tiles that left, whose codes stay on chip: a power of two above 1. One that comes back
        before memory holds it is read there.
    bits : int
        Bits of a value: 24 for depths, 30 for depths of D32F too, 8 for stencil values, 32 for
        colours. Each of these has a surface of its own in memory, with clears of its own.
    differences : bool
        Tiles of 8 by 8 are coded by differences: depths that no planes give, which else have
        anchors, and colours, by a palette too, which else lie raw.
    any_order : bool
        Memory answers reads in any order, each with an id of its own; what comes early waits on
        chip, where each read has room for a tile.
    """

    edge: int = 8
    samples: int = 8
    sets: int = 64
    ways: int = 4
    table_lines: int = 256
    reads: int = 128
    writes: int = 256
    ahead: int = 1024
    victims: int = 256
    bits: int = payloads.DEPTH
    differences: bool = False
    any_order: bool = False

    def __post_init__(self):
        DepthCompressionParams(self.edge, self.samples, False)  # the same rules hold here
        for name, above in LEAST.items():
            value = getattr(self, name)
            if value <= above or value & value - 1:
                raise ValueError(f"{name} must be a power of two above {above}, not {value!r}")
        if self.sets * self.ways > 1 << payloads.SLOT:
            raise ValueError(
                f"sets times ways must be at most {1 << payloads.SLOT}, not {self.sets * self.ways}"
            )
        if self.bits not in BITS:
            raise ValueError(f"bits must be one of {', '.join(map(str, BITS))}, not {self.bits!r}")
        if self.differences and (self.bits == payloads.STENCIL or self.edge != 8):
            raise ValueError(
                f"differences must be False but of depths and colours of tiles of 8 by 8, not of "
                f"{self.bits} bits and {self.edge} by {self.edge}"
            )

    @property
    def slots(self) -> int:
        """Tiles on chip."""
        return self.sets * self.ways

    @property
    def ids(self) -> int:
        """Bits of a read's id."""
        return (self.reads - 1).bit_length() if self.any_order else 1

    @property
    def sequence(self) -> int:
        """Bits of a victim's number: twice as many as may be pending, and a few on their way."""
        return (2 * (2 * self.ahead + self.writes + self.victims + 64) - 1).bit_length()

    @property
    def surface(self) -> Surface:
        """How tiles lie in memory."""
        return Surface(self.edge, self.bits, self.differences)


_TINY = TileCacheParams(
    edge=4, sets=8, ways=2, table_lines=2, reads=8, writes=8, ahead=128, victims=4
)
CONFIGS = {
    "default": TileCacheParams(differences=True),
    "floats": TileCacheParams(bits=payloads.FLOAT_DEPTH, differences=True),
    "anchors": TileCacheParams(),
    "stencil": TileCacheParams(bits=payloads.STENCIL),
    "colour": TileCacheParams(bits=payloads.COLOUR),
    "coded": TileCacheParams(bits=payloads.COLOUR, differences=True),
    "tiny_differences": replace(_TINY, edge=8, samples=2, differences=True),
    "tiny_coded": replace(_TINY, edge=8, samples=2, bits=payloads.COLOUR, differences=True),
    "tiny": _TINY,
    "tiny_any_order": replace(_TINY, any_order=True),
    "tiny_floats": replace(_TINY, bits=payloads.FLOAT_DEPTH),
    "tiny_stencil": replace(_TINY, bits=payloads.STENCIL),
    "tiny_colour": replace(_TINY, bits=payloads.COLOUR),
}
PURPOSE = {  # of each configuration
    "default": "depths, 256 tiles",
    "floats": "depths of D32F too, 256 tiles",
    "anchors": "depths by anchors where no planes give them, 256 tiles",
    "stencil": "stencil values, 256 tiles",
    "colour": "RGBA8 colours, 256 tiles",
    "coded": "RGBA8 colours, 256 tiles, coded",
    "tiny_differences": "for benches: as default, 16 tiles of up to 2 samples a pixel",
    "tiny_coded": "for benches: as coded, 16 tiles of up to 2 samples a pixel",
    "tiny": "for benches: depths, 16 tiles of 4x4",
    "tiny_any_order": "for benches: depths, by reads that are answered in any order",
    "tiny_floats": "for benches: depths of D32F too",
    "tiny_stencil": "for benches: stencil values",
    "tiny_colour": "for benches: colours",
}


def codec_of(p: TileCacheParams) -> wiring.Component:
    """The codec of a cache's values."""
    if p.bits == payloads.DEPTH:
        return PlaneCodec(p.edge, p.samples, p.slots, FILLS, p.differences)
    if p.bits == payloads.FLOAT_DEPTH:
        return DepthCodec(p.edge, p.samples, p.slots, FILLS, p.differences)
    if p.differences:
        return ColourCodec(p.samples, p.slots)
    return RawCodec(p.edge, p.slots, p.bits)


class TileCache(wiring.Component):
    """Tell a block in which slots its tiles are; move them to and from memory, coded.

    The values lie in that block's own memory, by slot; what is known of planes of depths lies here.
    A hit takes a clock. A miss takes up to two, and as long as memory does: no tile passes another,
    but ``params.ahead`` tiles are asked for before their turn, of which ``params.reads`` are read.

    After a failed read or write, or a tile in memory that cannot be one, nothing is read or written
    any more, and tiles come as cleared. A DONE tells of it; the next CLEAR begins anew.

    Parameters
    ----------
    params : TileCacheParams
    hazard_window : int
        Least distance in clocks between an EVICT and the command to its slot before it; 0 if the
        user of the slots needs none.

    Members
    -------
    i : In(stream.Signature(layout(caching.cache_request(params.edge))))
        USE: a tile, in the order of drawing. CLEAR: all tiles, on chip and in memory. FLUSH:
        everything dirty goes to memory.
    o : Out(stream.Signature(layout(caching.slot_command(params.edge, params.bits))))
        What slots have to do, in the same order.
    done : In(stream.Signature(layout(caching.completion(params.edge, params.bits))))
        What each command but DONE did, in their order. A USE may write later, and is then done
        a second time, before any other tile has its slot.
    counted : Out(stream.Signature(layout(caching.counted(params.differences))))
        With every DONE: what has been moved so far.
    memory : Out(Axi(params.ids))
    """

    def __init__(
        self, params: TileCacheParams = CONFIGS["default"], hazard_window: int = 0
    ) -> None:
        self._params = params
        self._window = hazard_window
        super().__init__(
            {
                "i": In(stream.Signature(layout(caching.cache_request(params.edge)))),
                "o": Out(stream.Signature(layout(caching.slot_command(params.edge, params.bits)))),
                "done": In(stream.Signature(layout(caching.completion(params.edge, params.bits)))),
                "counted": Out(stream.Signature(layout(caching.counted(params.differences)))),
                "memory": Out(Axi(params.ids)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.sequencer = sequencer = Sequencer(p.edge, p.sets, p.ways)
        m.submodules.tags = tags = TagArray(p.edge, p.sets, p.ways)
        m.submodules.scheduler = scheduler = MissScheduler(
            p.surface.mode_bits, p.table_lines, 2 * p.ahead, p.victims, p.sequence
        )
        m.submodules.modes = modes = ModeCache(p.table_lines, p.surface.mode_bits)
        m.submodules.refill = refill = RefillUnit(
            p.surface, p.reads, p.ahead, p.sequence, p.any_order
        )
        m.submodules.write_back = write_back = WriteBackUnit(p.surface, p.writes)
        m.submodules.victims = victims = VictimBuffer(p.surface, p.victims, p.sequence)
        m.submodules.codec = codec = codec_of(p)
        m.submodules.traffic = traffic = Traffic(p.surface)
        m.submodules.commands = commands = CommandQueue(p.edge, p.bits, p.ahead, self._window)
        join(m, self.memory, refill.memory, write_back.memory)
        wiring.connect(m, traffic.o, wiring.flipped(self.counted))

        self._look_up(m, sequencer, tags, scheduler)
        self._modes(m, sequencer, scheduler, modes, refill, write_back)
        wiring.connect(m, write_back.rows, victims.rows)
        wiring.connect(m, refill.recall, victims.i)
        wiring.connect(m, victims.o, refill.recalled)
        evictions = self._code(m, scheduler, refill, write_back, codec)
        wiring.connect(m, scheduler.o, commands.i)
        wiring.connect(m, codec.filled, commands.filled)
        self._stop(m, sequencer, refill, write_back, codec, commands.o)
        m.d.comb += victims.is_float.eq(sequencer.is_float)
        for unit in (refill, write_back):
            m.d.comb += [
                unit.base.eq(sequencer.base),
                unit.count.eq(sequencer.count),
                unit.is_float.eq(sequencer.is_float),
            ]
        count(m, traffic, sequencer, modes, refill, write_back, commands)
        settled = (
            scheduler.idle
            & refill.idle
            & codec.drained
            & ~evictions.occupied
            & ~commands.occupied
            & ~(sequencer.o.valid & sequencer.o.ready)
        )
        m.d.sync += [
            sequencer.settled.eq(settled),
            sequencer.written.eq(settled & write_back.tiles_idle),
            sequencer.idle.eq(settled & write_back.idle),
        ]
        return m

    def _look_up(self, m, sequencer, tags, scheduler):
        """Requests meet the tags, in the order that the sequencer keeps."""
        wiring.connect(m, wiring.flipped(self.i), sequencer.i)
        wiring.connect(m, sequencer.use, tags.i)
        wiring.connect(m, tags.o, sequencer.commands)
        wiring.connect(m, sequencer.o, scheduler.i)
        m.d.comb += [
            sequencer.tags_idle.eq(tags.idle),
            tags.walk.eq(sequencer.walk),
            tags.take.eq(sequencer.take),
            tags.forget.eq(sequencer.forget_modes),
            *(getattr(sequencer, name).eq(getattr(tags, name)) for name in WALK),
        ]

    def _modes(self, m, sequencer, scheduler, modes, refill, write_back):
        """Modes between those who read them, update them, and move their lines."""
        for name in ("lookup", "lookup_tile", "lookup_victim", "tile", "miss", "read", "drained"):
            m.d.comb += getattr(modes, name).eq(getattr(scheduler, name))
        for name in ("resident", "victim_resident", "conflict"):
            m.d.comb += getattr(scheduler, name).eq(getattr(modes, name))
        m.d.comb += [
            scheduler.mode.eq(modes.mode),
            modes.forget.eq(sequencer.forget_modes),
            modes.flush.eq(sequencer.flush_modes),
            modes.last.eq(sequencer.last),
            sequencer.modes_flushed.eq(modes.flushed),
            scheduler.settled.eq(write_back.settled),
            scheduler.acknowledged.eq(write_back.acknowledged),
            scheduler.acknowledged_tile.eq(write_back.acknowledged_tile),
            modes.stored.eq(write_back.stored),
        ]
        wiring.connect(m, modes.line_request, refill.line_request)
        wiring.connect(m, refill.fetched, modes.fetched)
        wiring.connect(m, write_back.update, modes.update)

        # The lines of a new target come from the sequencer: every tile is cleared, which is mode 0.
        with m.If(sequencer.clear.valid):
            m.d.comb += [
                write_back.store.valid.eq(1),
                write_back.store.payload.line.eq(sequencer.clear.payload),
                write_back.store.payload.posted.eq(1),
                sequencer.clear.ready.eq(write_back.store.ready),
            ]
        with m.Else():
            m.d.comb += [
                write_back.store.valid.eq(modes.store.valid),
                write_back.store.payload.eq(modes.store.payload),
                modes.store.ready.eq(write_back.store.ready),
            ]

    def _code(self, m, scheduler, refill, write_back, codec):
        """Tiles between memory and slots; returns the FIFO of victims that are to be coded."""
        m.submodules.evictions = evictions = StreamFIFO(TILE_NUMBER, self._params.ahead)
        wiring.connect(m, scheduler.fill, refill.i)
        wiring.connect(m, refill.o, codec.stored)
        wiring.connect(m, scheduler.evict, evictions.i)
        wiring.connect(m, evictions.o, codec.evictions)
        wiring.connect(m, wiring.flipped(self.done), codec.completions)
        wiring.connect(m, codec.evicted, write_back.i)
        m.d.comb += [
            write_back.push.eq(codec.push),
            write_back.row.eq(codec.row),
            write_back.commit.eq(codec.commit),
            codec.available.eq(write_back.available),
        ]
        return evictions

    def _stop(self, m, sequencer, refill, write_back, codec, commands):
        """An error stops all traffic until the next CLEAR; the next DONE tells of it."""
        error = Signal(3)
        stopped = Signal()
        transfer = self.o.valid & self.o.ready
        wrong = transfer & has(self.o.payload.op, SlotOp.FILL) & codec.filled.payload.wrong
        done = transfer & ~self.o.payload.op.any()
        m.d.comb += [
            self.o.valid.eq(commands.valid),
            self.o.payload.eq(commands.payload),
            commands.ready.eq(self.o.ready),
        ]
        # A failed write of an older target is an error, too, but stops nothing of this one.
        errors = Cat(refill.error, write_back.error, wrong)
        failed = refill.error | write_back.failed | wrong
        m.d.sync += [
            error.eq(Mux(done, 0, error) | errors),
            stopped.eq((stopped & ~sequencer.forget_modes) | failed),
        ]
        m.d.comb += [
            write_back.begins.eq(sequencer.forget_modes),
            self.o.payload.error.eq(error),
            refill.stopped.eq(stopped),
            write_back.stopped.eq(stopped),
            codec.samples.eq(sequencer.samples),
            codec.cleared.eq(sequencer.cleared),
            codec.is_float.eq(sequencer.is_float),
        ]


def count(
    m: Module,
    traffic: Traffic,
    sequencer: Sequencer,
    modes: ModeCache,
    refill: RefillUnit,
    write_back: WriteBackUnit,
    commands: CommandQueue,
) -> None:
    """What is moved is counted; counts are sampled for each DONE."""
    m.d.comb += [
        traffic.sample.eq(commands.sample),
        commands.sample_room.eq(traffic.available),
        traffic.fill.eq(refill.filled),
        traffic.fill_mode.eq(refill.filled_mode),
        traffic.write_back.eq(write_back.i.valid & write_back.i.ready),
        traffic.write_back_mode.eq(write_back.i.payload.mode),
        traffic.dirty.eq(write_back.i.payload.dirty),
        traffic.table_fill.eq(refill.fetched.valid),
        traffic.table_write_back.eq(modes.store.valid & modes.store.ready),
        traffic.table_clear.eq(sequencer.clear.valid & sequencer.clear.ready),
    ]
