# SPDX-License-Identifier: BSD-2-Clause
"""Quads out to a shader, its colours into memory."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.axi import Axi
from fixfunc.rtl.bits import named
from fixfunc.rtl.depth._done import DoneLines
from fixfunc.rtl.depth._line_front import LineFront
from fixfunc.rtl.depth._rectangle import RECTANGLE, Within
from fixfunc.rtl.depth._requests import COLOURS, SlotRequests
from fixfunc.rtl.depth.depth_cache import DepthCache, DepthCacheParams
from fixfunc.rtl.depth.depth_test import DepthTestParams
from fixfunc.rtl.output._blend import Blend
from fixfunc.rtl.output._quads import Quads
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.pipeline import NEVER_COLLIDES, Credit, Queue, delay
from fixfunc.spec import payloads
from fixfunc.spec.payloads import COLOUR
from fixfunc.spec.quads import colours, quads
from fixfunc.spec.state import DepthFormat, Kind, LineOp

PLACES = 32  # of the queues of what has been done: above what is under way


@dataclass(frozen=True)
class ColourWriteParams:
    """Shape of a :class:`ColourWrite`.

    Parameters
    ----------
    edge, samples, sets, ways, table_lines, reads : int
        As of :class:`~fixfunc.rtl.depth.depth_cache.DepthCacheParams`.
    shading : int
        Tiles that are out to be shaded.
    """

    edge: int = 8
    samples: int = 8
    sets: int = 256
    ways: int = 4
    table_lines: int = 1024
    reads: int = 16
    shading: int = 256

    def __post_init__(self):
        self.cache  # noqa: B018 - its rules hold here
        if self.shading < 2:
            raise ValueError(f"shading must be above 1, not {self.shading!r}")

    @property
    def cache(self) -> DepthCacheParams:
        """Of the cache of colours."""
        return DepthCacheParams(self.edge, self.samples, self.sets, self.ways, self.table_lines, self.reads, COLOUR)

    @property
    def obeyed(self) -> DepthTestParams:
        """Which draw states are: as of the depth test before it."""
        return DepthTestParams(self.edge, self.samples, 2, (DepthFormat.D16, DepthFormat.D24))


CONFIGS = {
    "default": ColourWriteParams(),
    "tiny": ColourWriteParams(edge=4, sets=8, ways=2, table_lines=2, reads=8, shading=96),
}
PURPOSE = {  # of each configuration
    "default": "RGBA8, a cache of 1,024 tiles",
    "tiny": "for benches: tiles of 4x4, a cache of 16",
}
UNREAD = payloads.RASTER_STATE  # of a draw state


class ColourWrite(wiring.Component):
    """Hand out the quads of covered tiles, and write what a shader makes of them to the target, RGBA8 a sample.

    One tile per clock, in order, out and back; a tile that is not on chip waits for memory. With blending, tiles of one
    place come :attr:`APART` clocks apart. A target begins with a clear of all of it.

    Parameters
    ----------
    params : ColourWriteParams

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Tiles of samples that passed; those without any are only counted on.
    quads : Out(stream.Signature(layout(quads(params.edge))))
        What is to be shaded,
    colours : In(stream.Signature(layout(colours(params.edge))))
        and its colours, in the same order.
    o : Out(stream.Signature(layout(payloads.FENCE)))
        Fences, when all before them is done, and in memory, if they flush; error 4: memory failed.
    colour_counted : Out(stream.Signature(layout(payloads.COUNTED)))
    colour_memory : Out(Axi())
        As of :class:`~fixfunc.rtl.depth.depth_cache.DepthCache`.
    ending : In(1)
        As of :class:`~fixfunc.rtl.depth._requests.SlotRequests`: nothing but a fence that flushes may come next.
    """

    APART = Blend.LATENCY

    def __init__(self, params: ColourWriteParams = CONFIGS["default"]) -> None:
        self._params = params
        super().__init__({
            "i": In(stream.Signature(beat(tile=payloads.tile(params.edge), **payloads.CONTROL))),
            "quads": Out(stream.Signature(layout(quads(params.edge)))), "colours": In(stream.Signature(layout(colours(params.edge)))),
            "o": Out(stream.Signature(layout(payloads.FENCE))), "colour_counted": Out(stream.Signature(layout(payloads.COUNTED))),
            "colour_memory": Out(Axi()), "ending": In(1),
        })

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.requests, m.submodules.cache = requests, cache = SlotRequests(p.obeyed, [COLOURS]), DepthCache(p.cache, self.APART)
        m.submodules.front = front = LineFront(p.edge, [COLOURS], [COLOUR], Blend.LATENCY + 4)
        m.submodules.done = done = DoneLines(p.edge, COLOUR, PLACES)
        wiring.connect(m, wiring.flipped(self.i), requests.i)
        m.d.comb += requests.ending.eq(self.ending)
        wiring.connect(m, requests.colour, cache.i)
        wiring.connect(m, cache.o, front.colour)
        wiring.connect(m, done.o, cache.done)
        wiring.connect(m, cache.counted, wiring.flipped(self.colour_counted))
        wiring.connect(m, cache.memory, wiring.flipped(self.colour_memory))
        shaded = self._hand_out(m, requests.o, front.i)

        # A tile of a draw enters with its colours.
        slot, brought = front.colour_line, Signal(self.colours.payload.shape())
        m.d.comb += [front.also.eq(~shaded | self.colours.valid), self.colours.ready.eq(front.enters & shaded)]
        m.d.comb += cache.reads.eq(front.state.blend)
        m.d.sync += brought.eq(self.colours.payload)

        old = self._write(m, front, brought)
        told, out = delay(m, slot, Blend.OLD, "told"), done.i
        written = delay(m, Mux(front.clearing, (1 << p.edge**2) - 1, front.tile.mask), Blend.OLD, "written")
        m.d.comb += [done.begins.eq(slot.on), done.valid.eq(told.on), out.written.eq(Mux(told.op == LineOp.USE, written, 0)),
                     *(out[f"value{n}"].eq(old.word_select(n, COLOUR)) for n in range(p.edge**2))]

        # Fences go on.
        m.submodules.credit, m.submodules.queue = credit, queue = Credit(PLACES, ahead=4), Queue(self.o.payload.shape(), PLACES)
        fence, fences = Signal(front.beat.shape()), front.control & (front.beat.kind == Kind.FENCE)
        m.d.comb += [fence.eq(front.beat), queue.valid.eq(fences), queue.i.eq(fence.fence), credit.take.eq(fences),
                     credit.free.eq(self.o.valid & self.o.ready)]
        front.report(m, fence, 0)
        wiring.connect(m, queue.o, wiring.flipped(self.o))
        m.d.sync += front.go.eq(credit.any & done.any)
        return m

    def _hand_out(self, m, beats, waiting):
        """Beats wait in order, while what is to be shaded goes out; returns whether the one in front comes back with colours."""
        p, given, state, takes = self._params, beats.payload, Signal(layout(payloads.DRAW_STATE)), Signal()
        m.submodules.quads = pixels = Quads(p.edge)
        m.submodules.out = out = fifo.SyncFIFOBuffered(width=pixels.o.shape().size, depth=4)
        m.submodules.wait = wait = Queue(StructLayout({"marks": given.shape(), "shaded": 1}), p.shading)
        m.submodules.waiting = room = Credit(p.shading)
        shaded = (given.beat.kind == Kind.WORK) & ~given.clearing & ~given.refused & given.beat.tile.mask.any()
        m.d.comb += [pixels.state.eq(state), pixels.tile.eq(given.beat.tile), out.w_data.eq(pixels.o), wait.i.marks.eq(given),
                     wait.i.shaded.eq(shaded), out.w_en.eq(takes & shaded), wait.valid.eq(takes), beats.ready.eq(room.any & out.w_rdy),
                     takes.eq(beats.valid & beats.ready), room.take.eq(takes), room.free.eq(waiting.valid & waiting.ready)]
        with m.If(takes & (given.beat.kind == Kind.STATE)):
            m.d.sync += state.eq(given.beat.draw_state)
        wiring.connect(m, out.r_stream, wiring.flipped(self.quads))
        m.d.comb += [waiting.valid.eq(wait.o.valid), wait.o.ready.eq(waiting.ready), waiting.payload.eq(wait.o.payload.marks)]
        return wait.o.payload.shaded

    def _write(self, m, front, brought):
        """Blend and write; returns what a slot held, :attr:`Blend.OLD` clocks after it entered."""
        p, lanes, state, slot = self._params, self._params.edge**2, front.state, front.colour_line
        m.submodules.slots = memory = Memory(shape=COLOUR * lanes, depth=p.cache.slots, init=[], attrs=NEVER_COLLIDES)
        read, write, old = memory.read_port(), memory.write_port(granularity=8), Signal(COLOUR * lanes)
        m.d.comb += read.addr.eq(slot.slot)
        m.d.sync += old.eq(read.data)
        m.submodules.within = within = Within(p.edge)
        m.d.comb += [within.samples.eq(state.samples), within.x.eq(front.tile.x), within.y.eq(front.tile.y),
                     *(within.rectangle[name].eq(front.clear[name]) for name in RECTANGLE.members)]

        fills, clears = slot.op == LineOp.FILL, front.clearing
        late = {name: delay(m, value, Blend.LATENCY, name) for name, value in
                (("slot", slot), ("mask", front.tile.mask), ("clears", clears), ("enters", front.valid))}
        blends = delay(m, ~fills & ~clears & state.blend, Blend.OLD, "blends")
        for n in range(lanes):
            m.submodules[f"lane_{n}"] = lane = Blend()
            m.d.comb += [lane.new.eq(Mux(fills, front.colour_values[n], Mux(clears, front.clear.colour_value, brought[f"colour{n}"]))),
                         lane.blends.eq(blends), lane.old.eq(old.word_select(n, COLOUR)), write.data.word_select(n, COLOUR).eq(lane.o)]
        on, uses = late["slot"].on & (late["slot"].op != LineOp.EVICT), late["slot"].op == LineOp.USE
        inside = delay(m, within.o, Blend.LATENCY - Within.LATENCY, "inside")
        covered = named(m, Mux(on, Mux(uses, Mux(late["clears"], inside, late["mask"]), (1 << lanes) - 1), 0), "covered")
        channels = named(m, Mux(uses & ~late["clears"], state.colour_write, 15), "channels")
        m.d.comb += [write.addr.eq(late["slot"].slot), write.en.eq(Cat(Mux(covered[n], channels, 0) for n in range(lanes)))]
        return old
