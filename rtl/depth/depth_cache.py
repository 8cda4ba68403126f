# SPDX-License-Identifier: BSD-2-Clause
"""Cache of tiles of depths, stencil values or colours in memory."""

from dataclasses import dataclass

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.axi import Axi, constants
from fixfunc.rtl.depth._apart import Apart
from fixfunc.rtl.depth._cache_moves import TILE, TOKEN, CacheMoves
from fixfunc.rtl.depth._cache_tags import CacheTags
from fixfunc.rtl.depth._depth_lines import DepthLines
from fixfunc.rtl.depth._raw_lines import RawLines
from fixfunc.rtl.depth._tile_fetch import TileFetch
from fixfunc.rtl.depth._tile_memory import Surface
from fixfunc.rtl.depth._tile_table import TileTable
from fixfunc.rtl.depth._tile_writer import TileWriter
from fixfunc.rtl.depth.depth_compression import DepthCompressionParams
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import Buffer
from fixfunc.spec import payloads
from fixfunc.spec.state import LineOp, TileMode

AHEAD = 128  # what slots have to do: known so long before, that memory has answered


@dataclass(frozen=True)
class DepthCacheParams:
    """Shape of a :class:`DepthCache`.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge: 8, or 4.
    samples : int
        Most samples of a pixel: 1, 2, 4 or 8.
    sets, ways, table_lines : int
        As of :class:`fixfunc.models.depth.depth_cache.CacheShape`: powers of two above 1.
    reads : int
        Most that are under way in memory.
    bits : int
        Of a value: 24, depths; 8, stencil values; 32, colours. Those of a target lie in memory, and are cleared, apart.
    """

    edge: int = 8
    samples: int = 8
    sets: int = 64
    ways: int = 4
    table_lines: int = 256
    reads: int = 16
    bits: int = payloads.DEPTH

    def __post_init__(self):
        DepthCompressionParams(self.edge, self.samples)  # the same rules hold here
        for name in ("sets", "ways", "table_lines", "reads"):
            value = getattr(self, name)
            if value < 2 or value & value - 1:
                raise ValueError(f"{name} must be a power of two above 1, not {value!r}")
        if self.sets * self.ways > 1 << payloads.SLOT:
            raise ValueError(f"sets times ways must be at most {1 << payloads.SLOT}, not {self.sets * self.ways}")
        if self.bits not in (payloads.DEPTH, payloads.STENCIL, payloads.COLOUR):
            raise ValueError(f"bits must be {payloads.DEPTH}, {payloads.STENCIL} or {payloads.COLOUR}, not {self.bits!r}")

    @property
    def slots(self) -> int:
        """Tiles on chip."""
        return self.sets * self.ways

    @property
    def surface(self) -> Surface:
        """How tiles lie in memory."""
        return Surface(self.edge, self.bits)


CONFIGS = {
    "default": DepthCacheParams(),
    "stencil": DepthCacheParams(bits=payloads.STENCIL),
    "colour": DepthCacheParams(bits=payloads.COLOUR),
    "tiny": DepthCacheParams(edge=4, sets=8, ways=2, table_lines=2, reads=8),
    "tiny_stencil": DepthCacheParams(edge=4, sets=8, ways=2, table_lines=2, reads=8, bits=payloads.STENCIL),
    "tiny_colour": DepthCacheParams(edge=4, sets=8, ways=2, table_lines=2, reads=8, bits=payloads.COLOUR),
}
PURPOSE = {  # of each configuration
    "default": "depths, 256 tiles",
    "stencil": "stencil values, 256 tiles",
    "colour": "RGBA8 colours, 256 tiles",
    "tiny": "for benches: depths, 16 tiles of 4x4",
    "tiny_stencil": "for benches: stencil values",
    "tiny_colour": "for benches: colours",
}


class DepthCache(wiring.Component):
    """Tells a block where the values of its tiles are, and moves them to and from memory, coded.

    They lie in that block's own memory, by slot; what is known of planes of depths lies here. A tile that is on chip takes
    a clock; one that is not, up to three, and as long as memory takes: no other passes it, but up to ``params.reads`` reads
    are under way.

    After a failed read or write, or a tile in memory that cannot be one, nothing is read or written any more; tiles
    come as cleared. A DONE tells, and the next CLEAR begins anew.

    Parameters
    ----------
    params : DepthCacheParams
    apart : int
        Clocks that anything done to a slot is under way, if slots are read before they are written: nothing reads one meanwhile.

    Members
    -------
    i : In(stream.Signature(layout(payloads.cache_request(params.edge))))
        Tiles in the order of drawing; CLEAR, of both the tiles on chip and in memory; FLUSH.
    o : Out(stream.Signature(layout(payloads.line(params.edge, params.bits))))
        What to do with slots, in the same order.
    done : In(stream.Signature(layout(payloads.line_done(params.edge, params.bits))))
        What has been done, one for each USE, FILL and EVICT, in their order.
    counted : Out(stream.Signature(layout(payloads.COUNTED)))
        With every DONE: what has been moved so far.
    memory : Out(Axi())
    reads : In(1)
        USE reads; only if ``apart``.
    """

    def __init__(self, params: DepthCacheParams = CONFIGS["default"], apart: int = 0) -> None:
        self._params, self._apart = params, apart
        super().__init__({
            "i": In(stream.Signature(layout(payloads.cache_request(params.edge)))),
            "o": Out(stream.Signature(layout(payloads.line(params.edge, params.bits)))),
            "done": In(stream.Signature(layout(payloads.line_done(params.edge, params.bits)))),
            "counted": Out(stream.Signature(layout(payloads.COUNTED))),
            "memory": Out(Axi()),
        } | ({"reads": In(1)} if apart else {}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.tags, m.submodules.moves = tags, moves = CacheTags(p.edge, p.sets, p.ways), CacheMoves()
        m.submodules.table = table = TileTable(p.table_lines)
        m.submodules.fetch, m.submodules.writer = fetch, writer = TileFetch(p.surface, p.reads), TileWriter(p.surface)
        depths = p.bits == payloads.DEPTH
        m.submodules.lines = lines = DepthLines(p.edge, p.samples, p.slots, p.reads) if depths else RawLines(p.edge, p.slots, p.bits)
        wiring.connect(m, wiring.flipped(self.i), tags.i)
        wiring.connect(m, tags.o, moves.i)
        wiring.connect(m, moves.fetch, fetch.i)
        wiring.connect(m, fetch.o, lines.stored)
        wiring.connect(m, wiring.flipped(self.done), lines.done)
        wiring.connect(m, lines.left, writer.i)
        m.d.comb += [writer.puts.eq(lines.puts), writer.put.eq(lines.put), writer.keeps.eq(lines.keeps)]
        self._table(m, tags, moves, table, fetch, writer)
        self._memory(m, tags, fetch, writer)

        # What slots have to do waits for what is read.
        tokens, told, leaving = (Buffer(shape, AHEAD) for shape in (TOKEN, TOKEN, TILE))
        m.submodules.tokens, m.submodules.told, m.submodules.leaving = tokens, told, leaving
        m.submodules.counted = counted = fifo.SyncFIFO(width=payloads.width(payloads.COUNTED), depth=2)
        takes, asks_done = moves.o.valid & moves.o.ready, moves.o.payload.op == LineOp.DONE
        m.d.comb += [moves.o.ready.eq(tokens.i.ready & counted.w_rdy), tokens.i.valid.eq(takes), tokens.i.payload.eq(moves.o.payload),
                     counted.w_en.eq(takes & asks_done)]
        wiring.connect(m, moves.leaves, leaving.i)
        wiring.connect(m, leaving.o, lines.leaves)
        wiring.connect(m, told.o, lines.told)
        line, waits = self._line(m, tokens)
        token, tile, out = line.payload, lines.filled, self.o.payload
        fills, ends = token.op == LineOp.FILL, token.op == LineOp.DONE
        goes = self.o.valid & self.o.ready
        m.d.comb += [self.o.valid.eq(line.valid & (ends | told.i.ready) & (~fills | tile.valid)), out.op.eq(token.op), out.slot.eq(token.slot),
                     line.ready.eq(goes), tile.ready.eq(goes & fills), told.i.valid.eq(goes & ~ends), told.i.payload.eq(token),
                     *(out[f"value{n}"].eq(tile.payload.values[n]) for n in range(p.edge**2))]
        self._errors(m, tags, fetch, writer, goes & fills & tile.payload.wrong)
        self._count(m, tags, table, fetch, writer, counted)
        m.d.comb += [lines.samples.eq(tags.samples), lines.cleared.eq(tags.cleared)]
        m.d.sync += tags.idle.eq(moves.idle & fetch.idle & writer.idle & ~waits & ~(tags.o.valid & tags.o.ready))
        return m

    def _line(self, m, tokens):
        """What goes next, and whether anything waits to go."""
        if not self._apart:
            return tokens.o, tokens.some
        m.submodules.apart = apart = Apart(self._apart)
        wiring.connect(m, tokens.o, apart.i)
        m.d.comb += apart.reads.eq(self.reads)
        return apart.o, tokens.some | apart.some

    def _table(self, m, tags, moves, table, fetch, writer):
        """The table between those who ask for modes, change them, and move it; a clear writes it as a whole."""
        m.d.comb += [table.looks.eq(moves.looks), table.tile.eq(moves.tile), moves.here.eq(table.here),
                     table.asks.eq(moves.asks), table.asked.eq(moves.asked), moves.mode.eq(table.mode), table.misses.eq(moves.misses),
                     moves.brought.eq(table.brought), table.quiet.eq(moves.quiet),
                     table.forgets.eq(tags.forgets), table.flushes.eq(tags.flushes), table.last.eq(tags.last), tags.flushed.eq(table.flushed)]
        m.d.comb += [table.changes.eq(writer.changes), table.changed.eq(writer.changed), table.to.eq(writer.to), writer.takes.eq(table.takes)]
        m.d.comb += [fetch.fetches.eq(table.fetches), fetch.line.eq(table.line), table.fetched.eq(fetch.fetched), table.data.eq(fetch.data)]
        m.d.comb += [writer.stores.eq(table.stores | tags.clears), writer.posts.eq(tags.clears | table.posts),
                     writer.line.eq(Mux(tags.clears, tags.line, table.line)), writer.old.eq(Mux(tags.clears, 0, table.old)),
                     table.stored.eq(writer.stored & ~tags.clears),
                     tags.cleared_line.eq(writer.stored & tags.clears), moves.left.eq(writer.left), moves.frees.eq(writer.frees),
                     moves.freed.eq(writer.freed)]

    def _memory(self, m, tags, fetch, writer):
        """The memory port: reads and writes go their own ways."""
        constants(m, self.memory)
        for unit, channels in ((fetch, ("ar", "r")), (writer, ("aw", "w", "b"))):
            for name, member in unit.signature.members.items():
                if name.startswith(channels) and name in self.memory.signature.members:
                    ours, theirs = getattr(unit, name), getattr(self.memory, name)
                    m.d.comb += theirs.eq(ours) if member.flow is Out else ours.eq(theirs)
            m.d.comb += [unit.base.eq(tags.base), unit.count.eq(tags.count)]

    def _errors(self, m, tags, fetch, writer, wrong):
        """Errors stop all traffic until the next CLEAR; the next DONE tells."""
        error, stops, found = Signal(3), Signal(), Cat(fetch.error, writer.error, wrong)
        told = self.o.valid & self.o.ready & (self.o.payload.op == LineOp.DONE)
        m.d.sync += [error.eq(Mux(told, 0, error) | found), stops.eq((stops & ~tags.forgets) | found.any())]
        m.d.comb += [self.o.payload.error.eq(error), fetch.stops.eq(stops), writer.stops.eq(stops)]

    def _count(self, m, tags, table, fetch, writer, told):
        """Tiles by their mode in memory, transfers of the table."""
        counts = layout(payloads.COUNTED)(told.w_data)
        events = {"fill": (fetch.i.valid & fetch.i.ready, fetch.i.payload.mode),
                  "write_back": (writer.i.valid & writer.i.ready & writer.i.payload.written, writer.i.payload.to)}
        totals = {field.name: Signal(field.bits, name=field.name) for field in payloads.COUNTED}
        for cause, (happens, mode) in events.items():
            for n in TileMode:
                with m.If(happens & (mode == n)):
                    m.d.sync += totals[f"{cause}_{n:d}"].eq(totals[f"{cause}_{n:d}"] + 1)
        for name, happens in (("table_fill", fetch.fetched), ("table_write_back", table.stored), ("table_clear", tags.cleared_line)):
            with m.If(happens):
                m.d.sync += totals[name].eq(totals[name] + 1)
        m.d.comb += [counts[name].eq(total) for name, total in totals.items()]
        wiring.connect(m, told.r_stream, wiring.flipped(self.counted))
