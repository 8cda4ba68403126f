# SPDX-License-Identifier: BSD-2-Clause
"""Sequencer: targets begin, and everything dirty is flushed, in the order of requests."""

from amaranth.hdl import Array, Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import lowest, named, number
from fixfunc.rtl.memory.tile_cache.layouts import LINE, TAG_COMMAND
from fixfunc.rtl.memory.tile_cache.tag_array import set_layout
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.memory import caching
from fixfunc.spec.payloads import TILE_NUMBER
from fixfunc.spec.state import CacheOp, SlotOp


class Sequencer(wiring.Component):
    """Hand USE requests to the tags; obey CLEAR and FLUSH between them.

    A CLEAR forgets what is on chip, and posts the mode table of the new target; its DONE does not
    wait for memory. A FLUSH evicts every dirty tile, set by set as far as they are in use, the
    oldest way first, then stores the mode table; nothing is evicted or stored where no tile has
    been used since the last one. Its DONE waits until memory holds everything, tables that were
    posted before, too.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    sets, ways : int
        Powers of two.

    Members
    -------
    i : In(stream.Signature(layout(caching.cache_request(edge))))
    use : Out(stream.Signature(layout(caching.cache_request(edge))))
        USE requests, for the tag array.
    commands : In(stream.Signature(TAG_COMMAND))
        Commands that the tag array makes of ``use``.
    o : Out(stream.Signature(TAG_COMMAND))
        ``commands``, and besides them the EVICTs of flushes, and DONE.
    tags_idle, walk, more, take, set, entry : In, Out, In, Out, In, In
        The other side of :class:`~fixfunc.rtl.memory.tile_cache.tag_array.TagArray`.
    samples, cleared, is_float, base, count, last : Out
        The target: log2 of its samples, the value it was cleared to, whether its depths are D32F,
        the address of its first tile, how many tiles it has, and the last of them.
    forget_modes : Out(1)
        The mode cache forgets everything, and so do the tags.
    flush_modes : Out(1)
        The mode cache stores all dirty lines.
    modes_flushed : In(1)
        The mode cache has stored all dirty lines.
    clear : Out(stream.Signature(LINE))
        A line of the mode table on which every tile is cleared.
    settled : In(1)
        No command is in flight behind ``o``, nor was one sent in the clock before, and no mode will
        be updated. This, and the next two, are registers.
    written : In(1)
        Besides, memory holds every tile.
    idle : In(1)
        Besides, memory holds every line.
    """

    def __init__(self, edge: int, sets: int, ways: int) -> None:
        self._ways = ways
        request = stream.Signature(layout(caching.cache_request(edge)))
        super().__init__(
            {
                "i": In(request),
                "use": Out(request),
                "commands": In(stream.Signature(TAG_COMMAND)),
                "o": Out(stream.Signature(TAG_COMMAND)),
                "tags_idle": In(1),
                "walk": Out(1),
                "more": In(1),
                "take": Out(1),
                "set": In(range(sets)),
                "entry": In(set_layout(ways)),
                "samples": Out(2),
                "cleared": Out(payloads.COLOUR),
                "is_float": Out(1),
                "base": Out(32),
                "count": Out(TILE_NUMBER),
                "last": Out(TILE_NUMBER),
                "forget_modes": Out(1),
                "flush_modes": Out(1),
                "modes_flushed": In(1),
                "clear": Out(stream.Signature(LINE)),
                "settled": In(1),
                "written": In(1),
                "idle": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += [
            self.use.payload.eq(self.i.payload),
            self.walk.eq(1),
        ]
        with m.FSM():
            with m.State("LOOKUP"):
                self._look_up(m)
            self._clear(m)
            self._flush(m)
            for state, ready in (("CLEARED", 1), ("FLUSHED", self.idle)):
                with m.State(state):
                    m.d.comb += [
                        self.o.valid.eq(ready),
                        self.o.payload.op.eq(SlotOp.DONE),
                    ]
                    with m.If(self.o.valid & self.o.ready):
                        m.next = "LOOKUP"
        return m

    def _look_up(self, m):
        """Requests go to the tags, whose commands go on; what is not a USE waits for its turn."""
        op = self.i.payload.op
        used = Signal()  # a tile, since the last flush
        m.d.comb += [
            self.walk.eq(0),
            self.use.valid.eq(self.i.valid & (op == CacheOp.USE)),
            self.o.valid.eq(self.commands.valid),
            self.o.payload.eq(self.commands.payload),
            self.commands.ready.eq(self.o.ready),
        ]
        with m.Switch(op):
            with m.Case(CacheOp.USE):
                m.d.comb += self.i.ready.eq(self.use.ready)
                with m.If(self.use.valid):
                    m.d.sync += used.eq(1)
            with m.Case(CacheOp.CLEAR):
                m.d.comb += self.i.ready.eq(self.tags_idle & self.written)
                with m.If(self.i.valid & self.i.ready):
                    self._begin(m)
            with m.Case(CacheOp.FLUSH):
                m.d.comb += self.i.ready.eq(self.tags_idle)
                with m.If(self.i.valid & self.i.ready):
                    m.d.sync += used.eq(0)
                    m.next = "FLUSHED"
                    with m.If(used):
                        m.next = "FLUSH_FIRST"

    def _begin(self, m):
        """A target begins."""
        request = self.i.payload
        m.d.comb += self.forget_modes.eq(1)
        m.d.sync += [
            self.samples.eq(request.samples),
            self.cleared.eq(request.cleared),
            self.is_float.eq(request.is_float),
            self.base.eq(request.base),
            self.count.eq(request.number),
            self.last.eq(request.number - 1),
            self.clear.payload.eq(0),
        ]
        m.next = "CLEAR"

    def _clear(self, m):
        """The mode table of a new target says that all tiles are cleared."""
        with m.State("CLEAR"):
            m.d.comb += self.clear.valid.eq(1)
            with m.If(self.clear.ready):
                m.d.sync += self.clear.payload.eq(self.clear.payload + 1)
                with m.If(self.clear.payload == self.last[-LINE:]):
                    m.next = "CLEARED"

    def _flush(self, m):
        """Dirty tiles are evicted, one a clock; a set in use takes a clock at least."""
        ways = range(self._ways)
        way = Signal(ways)
        evicted = Signal(self._ways)
        is_dirty = Array(tile.valid & tile.dirty for tile in self.entry.ways)
        by_age = [is_dirty[(self.entry.victim + n)[: len(way)]] for n in ways]
        dirty = named(m, Cat(by_age) & ~evicted, "dirty")
        oldest = named(m, lowest(dirty), "oldest")
        m.d.comb += way.eq(self.entry.victim + number(oldest))
        with m.State("FLUSH_FIRST"):
            self._flush_next(m)
        with m.State("FLUSH"):
            m.d.comb += [
                self.o.valid.eq(dirty.any()),
                self.o.payload.op.eq(SlotOp.EVICT),
                self.o.payload.slot.eq(Cat(way, self.set)),
                self.o.payload.victim.eq(Array(self.entry.ways)[way].number),
            ]
            with m.If(self.o.ready | ~self.o.valid):
                m.d.sync += evicted.eq(evicted | oldest)
                with m.If(dirty == oldest):
                    m.d.sync += evicted.eq(0)
                    self._flush_next(m)
        with m.State("FLUSH_MODES"):
            m.d.comb += self.flush_modes.eq(self.settled)
            with m.If(self.modes_flushed):
                m.next = "FLUSHED"

    def _flush_next(self, m):
        """The next set in use; behind the last the mode table."""
        m.next = "FLUSH_MODES"
        with m.If(self.more):
            m.d.comb += self.take.eq(1)
            m.next = "FLUSH"
