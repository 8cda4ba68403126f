# SPDX-License-Identifier: BSD-2-Clause
"""Stencil values, or colours, between slots and memory."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, wiring
from amaranth.lib.memory import Memory

from fixfunc.rtl.depth._depth_lines import ports
from fixfunc.rtl.depth._tile_sends import PUTS
from fixfunc.rtl.depth._tile_writer import LEFT
from fixfunc.rtl.pipeline import Credit, delay
from fixfunc.spec.state import LineOp, TileMode


class RawLines(wiring.Component):
    """Keep which slots have been written; a tile goes to memory raw, or as cleared if it is.

    Parameters
    ----------
    edge, slots : int
        Samples along a tile's edge; tiles on chip.
    bits : int
        Of a value.

    Members
    -------
    As of :class:`~fixfunc.rtl.depth._depth_lines.DepthLines`.
    """

    def __init__(self, edge, slots, bits):
        self._edge, self._slots, self._bits = edge, slots, bits
        super().__init__(ports(edge, bits))

    def elaborate(self, platform):
        m = Module()
        lanes, bits = self._edge**2, self._bits
        m.submodules.written = memory = Memory(shape=1, depth=self._slots, init=[])
        read, write, cleared = memory.read_port(domain="comb"), memory.write_port(), self.cleared[:bits]

        stored, filled = self.stored.payload, self.filled.payload
        data = Cat(stored[name] for name in stored.shape().members if name != "mode")
        m.d.comb += [self.filled.valid.eq(self.stored.valid), self.stored.ready.eq(self.filled.ready),
                     filled.wrong.eq((stored.mode != TileMode.CLEARED) & (stored.mode != TileMode.RAW))]
        m.d.comb += [filled.values[n].eq(Mux(stored.mode == TileMode.RAW, data.word_select(n, bits), cleared)) for n in range(lanes)]

        token, done, takes, leaves = self.told.payload, self.done.payload, Signal(), Signal()
        m.submodules.credit, m.submodules.gone = credit, gone = Credit(PUTS), fifo.SyncFIFOBuffered(width=LEFT.size, depth=PUTS)
        m.d.comb += [leaves.eq(token.op == LineOp.EVICT), takes.eq(self.done.valid & self.told.valid & (~leaves | credit.any)),
                     self.done.ready.eq(takes), self.told.ready.eq(takes), credit.take.eq(takes & leaves),
                     read.addr.eq(token.slot), write.addr.eq(token.slot), write.en.eq(takes & ~leaves),
                     write.data.eq((token.op == LineOp.USE) & (done.written.any() | read.data))]

        # Its values go ahead; that it has left is told when they have been compared with those of a cleared tile.
        values, same, mode = [done[f"value{n}"] for n in range(lanes)], Signal(lanes), Signal(TileMode)
        m.d.comb += [self.puts.eq(takes & leaves), self.put.eq(Cat(values))]
        m.d.sync += [self.keeps.eq(takes & leaves & read.data), same.eq(Cat(value == cleared for value in values)),
                     mode.eq(Mux(same.all(), TileMode.CLEARED, TileMode.RAW))]
        left, tells = LEFT(gone.w_data), delay(m, takes & leaves, 2, "tells")
        m.d.comb += [gone.w_en.eq(tells), self.leaves.ready.eq(tells), left.tile.eq(self.leaves.payload), left.to.eq(mode),
                     left.written.eq(delay(m, read.data, 2, "written")), credit.free.eq(gone.r_en)]
        wiring.connect(m, gone.r_stream, wiring.flipped(self.left))
        return m
