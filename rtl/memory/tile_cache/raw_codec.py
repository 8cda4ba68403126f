# SPDX-License-Identifier: BSD-2-Clause
"""Raw codec: stencil values, colours or floats between slots and memory."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Member, Out

from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.tile_cache.layouts import evicted, has
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.memory import caching, depth_tiles
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import SlotOp, TileMode

EVICTIONS = 16  # tiles that wait for the write-back unit
MODE = 3  # bits of a mode, without differences


def codec_members(edge: int, bits: int, mode: int = MODE) -> dict[str, Member]:
    """Members of every codec of a tile cache, by bits of a value and of a mode.

    samples, cleared, is_float : In
        The target: log2 of its samples; the value it was cleared to; its depths are D32F.
    stored : In(stream.Signature(layout(depth_tiles.coded(edge, bits, mode))))
        Tiles as they lie in memory.
    filled : Out(stream.Signature(...))
        Tiles of ``stored``, decoded. ``wrong``: the code is not that of a tile.
    completions : In(stream.Signature(layout(caching.completion(edge, bits))))
        What has been done to slots, in order.
    evictions : In(stream.Signature(TILE_NUMBER))
        The victim of each EVICT.
    evicted : Out(stream.Signature(evicted(mode)))
        Tiles of ``evictions``, when they have been coded, dirty or not.
    drained : Out(1)
        No tile is in flight between ``evictions`` and ``evicted``; where formats change, nor is
        any of ``filled`` that awaits its completion.
    push, row, commit, available : Out, Out, Out, In
        Codes of evicted tiles: the other side of
        :class:`~fixfunc.rtl.lib.write_buffer.WriteBuffer`.
    """
    values = StructLayout({"wrong": 1, "values": ArrayLayout(bits, edge**2)})
    return {
        "samples": In(2),
        "cleared": In(payloads.COLOUR),
        "is_float": In(1),
        "stored": In(stream.Signature(layout(depth_tiles.coded(edge, bits, mode)))),
        "filled": Out(stream.Signature(values)),
        "completions": In(stream.Signature(layout(caching.completion(edge, bits)))),
        "evictions": In(stream.Signature(TILE_NUMBER)),
        "evicted": Out(stream.Signature(evicted(mode))),
        "drained": Out(1),
        "push": Out(1),
        "row": Out(depth_tiles.coded_words(edge, bits) * 32),
        "commit": Out(1),
        "available": In(1),
    }


def send_coded(
    m: Module,
    codec: wiring.Component,
    evicted: StructLayout,
    coding_tiles: fifo.SyncFIFOBuffered,
    coded_tiles: fifo.SyncFIFOBuffered,
    coded: stream.Interface,
    mode: Value,
) -> None:
    """Tiles of a codec go on when they are coded; their data go to the write buffer.

    A tile that is coded as cleared has nothing to send, and takes no row of the write buffer.

    Parameters
    ----------
    m : Module
    codec : wiring.Component
        With :func:`codec_members`.
    evicted : StructLayout
        Of a tile in both FIFOs.
    coding_tiles, coded_tiles : SyncFIFOBuffered
        Tiles that are being coded; tiles for the write-back unit.
    coded, mode : stream.Interface, Value
        The coded tiles, and the mode of the one that is offered.
    """
    evicted_tile = evicted(coding_tiles.r_data)
    done = evicted(coded_tiles.w_data)
    tile = coded.payload
    waiting = coding_tiles.r_rdy & coded_tiles.w_rdy & codec.available
    data = Cat(tile[name] for name in tile.shape().members if name.startswith("data"))
    m.d.comb += [
        coding_tiles.r_en.eq(waiting & coded.valid),
        coded_tiles.w_en.eq(coding_tiles.r_en),
        done.eq(evicted_tile),
        done.mode.eq(mode),
        coded.ready.eq(waiting),
        codec.push.eq(coded.valid & coded.ready),
        codec.row.eq(data),
    ]
    m.d.sync += codec.commit.eq(codec.push & (mode != TileMode.CLEARED))
    wiring.connect(m, coded_tiles.r_stream, wiring.flipped(codec.evicted))


class RawCodec(wiring.Component):
    """Tiles lie raw in memory, or not at all where they are as they were cleared.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    slots : int
        Tiles on chip.
    bits, mode : int
        Bits of a value, and of a mode.

    Members
    -------
    As :func:`codec_members` describes. One completion a clock.
    """

    def __init__(self, edge: int, slots: int, bits: int, mode: int = MODE) -> None:
        self._edge = edge
        self._slots = slots
        self._bits = bits
        self._places = payloads.memory_bits(bits)
        self._mode = mode
        super().__init__(codec_members(edge, bits, mode))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        self._decode(m)

        # A slot is dirty from the first write of its tile until another is filled in.
        m.submodules.dirty = dirty = Memory(shape=1, depth=self._slots, init=[])
        read = dirty.read_port(domain="comb")
        write = dirty.write_port()
        completion = self.completions.payload
        m.submodules.waiting = waiting = CreditedFIFO(evicted(self._mode), EVICTIONS)
        evicts = has(completion.op, SlotOp.EVICT)
        fills = has(completion.op, SlotOp.FILL)
        accept = Signal()
        m.d.comb += [
            accept.eq(self.completions.valid & (~evicts | (waiting.available & self.available))),
            self.completions.ready.eq(accept),
            read.addr.eq(completion.slot),
            write.addr.eq(completion.slot),
            write.en.eq(accept & has(completion.op, SlotOp.USE)),
            write.data.eq(completion.written.any() | (read.data & ~fills)),
        ]
        m.d.comb += self.drained.eq(waiting.idle)
        self._encode(m, waiting, accept & evicts, read.data)
        wiring.connect(m, waiting.o, wiring.flipped(self.evicted))
        return m

    def _decode(self, m):
        """Tiles from memory."""
        stored = self.stored.payload
        names = [name for name in stored.shape().members if name != "mode"]
        data = Cat(stored[name] for name in names)
        raw = stored.mode == TileMode.RAW
        values = [data.word_select(n, self._places) for n in range(self._edge**2)]
        beyond = Cat(value[self._bits :].any() for value in values).any()
        m.d.comb += [
            self.filled.valid.eq(self.stored.valid),
            self.stored.ready.eq(self.filled.ready),
            self.filled.payload.wrong.eq(Mux(raw, beyond, stored.mode != TileMode.CLEARED)),
        ]
        for n, value in enumerate(values):
            m.d.comb += self.filled.payload.values[n].eq(
                Mux(raw, value[: self._bits], self.cleared[: self._bits])
            )

    def _encode(self, m, waiting, evicts, dirty):
        """Values are pushed before they are compared with those of a cleared tile.

        A clock later a tile that differs is committed; two clocks later the tile follows. A tile
        that is as it was cleared has nothing to send, and takes no row of the write buffer.
        """
        completion = self.completions.payload
        lanes = range(self._edge**2)
        values = [completion[f"value{n}"] for n in lanes]
        t = Timeline(m)
        t.enter(0, evicts=evicts, dirty=dirty)
        equal = Signal(len(values))
        cleared = Signal()
        mode = Signal(self._mode)
        m.d.comb += [
            self.push.eq(evicts),
            self.row.eq(Cat(Cat(value, Const(0, self._places - self._bits)) for value in values)),
            cleared.eq(equal.all()),
            self.commit.eq(t[1].evicts & ~cleared),
        ]
        m.d.sync += [
            equal.eq(Cat(value == self.cleared[: self._bits] for value in values)),
            mode.eq(Mux(cleared, TileMode.CLEARED, TileMode.RAW)),
        ]
        m.d.comb += [
            waiting.consume.eq(evicts),
            waiting.push.eq(t[2].evicts),
            self.evictions.ready.eq(t[2].evicts),
            waiting.i.number.eq(self.evictions.payload),
            waiting.i.mode.eq(mode),
            waiting.i.dirty.eq(t[2].dirty),
        ]
