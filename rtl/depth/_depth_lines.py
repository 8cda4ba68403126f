# SPDX-License-Identifier: BSD-2-Clause
"""Depths between the slots of a depth test and memory."""

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._cache_moves import TILE, TOKEN
from fixfunc.rtl.depth._plane_lines import PlaneLines, known
from fixfunc.rtl.depth._tile_writer import LEFT
from fixfunc.rtl.depth.depth_compression import DepthCompression, DepthCompressionParams
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import Stallable
from fixfunc.spec import payloads
from fixfunc.spec.state import LineOp


def ports(edge, bits):
    """Members of :class:`DepthLines`, by bits of a value."""
    return {
        "samples": In(2), "cleared": In(payloads.COLOUR),
        "stored": In(stream.Signature(layout(payloads.coded(edge, bits)))),
        "filled": Out(stream.Signature(StructLayout({"wrong": 1, "values": ArrayLayout(bits, edge**2)}))),
        "told": In(stream.Signature(TOKEN)), "done": In(stream.Signature(layout(payloads.line_done(edge, bits)))),
        "leaves": In(stream.Signature(TILE)), "left": Out(stream.Signature(LEFT)),
        "puts": Out(1), "put": Out(payloads.coded_words(edge, bits) * 32), "keeps": Out(1),
    }


class DepthLines(wiring.Component):
    """Decode what is read, keep what is known of every slot's planes, code what leaves.

    Parameters
    ----------
    edge, samples, slots : int
        Samples along a tile's edge; most samples of a pixel; tiles on chip.
    fills : int
        Most that have been told and not done yet.

    Members
    -------
    samples, cleared : In
        Of the target.
    stored : In(stream.Signature(layout(payloads.coded(edge))))
        Tiles from memory,
    filled : Out(stream.Signature(...))
        and decoded, for FILL; ``wrong``: it cannot be one.
    told : In(stream.Signature(TOKEN))
        What the slots have been told, but DONE,
    done : In(stream.Signature(layout(payloads.line_done(edge))))
        and what they did.
    leaves : In(stream.Signature(TILE))
        The tile of each EVICT,
    left : Out(stream.Signature(LEFT))
        and whether it has been written, in which case
    puts, put, keeps : Out
        what goes to memory has been put there before, or is in the same clock, and is kept.
    """

    def __init__(self, edge, samples, slots, fills):
        self._edge, self._samples, self._slots, self._fills = edge, samples, slots, fills
        super().__init__(ports(edge, payloads.DEPTH))

    def elaborate(self, platform):
        m = Module()
        lanes, names = self._edge**2, known(self._edge).members
        m.submodules.coding = coding = DepthCompression(DepthCompressionParams(self._edge, self._samples))
        m.submodules.lines = way = Stallable(PlaneLines(self._edge, self._slots), PlaneLines.LATENCY)
        m.submodules.planes = planes = fifo.SyncFIFOBuffered(width=known(self._edge).size, depth=self._fills)
        m.submodules.gone = gone = fifo.SyncFIFOBuffered(width=LEFT.size, depth=32)
        m.submodules.told = told = fifo.SyncFIFOBuffered(width=LEFT.size, depth=4)

        # What is known of a tile from memory waits for its FILL.
        tile, stored, into = coding.o_tile, coding.i_stored, known(self._edge)(planes.w_data)
        m.d.comb += [stored.valid.eq(self.stored.valid), self.stored.ready.eq(stored.ready), stored.payload.samples.eq(self.samples),
                     stored.payload.cleared.eq(self.cleared),
                     *(stored.payload[name].eq(self.stored.payload[name]) for name in self.stored.payload.shape().members)]
        m.d.comb += [self.filled.valid.eq(tile.valid & planes.w_rdy), tile.ready.eq(self.filled.ready & planes.w_rdy),
                     planes.w_en.eq(tile.valid & self.filled.ready), self.filled.payload.wrong.eq(tile.payload.wrong),
                     *(self.filled.payload.values[n].eq(tile.payload[f"depth{n}"]) for n in range(lanes)),
                     *(into[name].eq(tile.payload[name]) for name in names)]
        self._account(m, way, planes)
        self._leave(m, way, gone, coding.i_tile)
        self._tell(m, gone, told, coding.o_coded)
        wiring.connect(m, told.r_stream, wiring.flipped(self.left))
        return m

    def _account(self, m, way, planes):
        """What was done to a slot changes what is known of its planes."""
        token, into, takes, fills = self.told.payload, way.i.payload, Signal(), Signal()
        m.d.comb += [fills.eq(token.op == LineOp.FILL), self.done.ready.eq(takes), self.told.ready.eq(takes), planes.r_en.eq(takes & fills),
                     takes.eq(self.done.valid & self.told.valid & way.i.ready & (planes.r_rdy | ~fills)), way.i.valid.eq(takes)]
        m.d.comb += [into.valid.eq(takes), into.op.eq(token.op), into.slot.eq(token.slot),
                     into.done.eq(self.done.payload), into.filled.eq(planes.r_data)]

    def _leave(self, m, way, gone, uncoded):
        """What leaves is coded, if it was written."""
        out, leaves, room = way.o.payload, way.o.payload.op == LineOp.EVICT, gone.w_rdy & (~way.o.payload.written | uncoded.ready)
        moves, plane, tile, left = way.o.valid & leaves & room, out.known, uncoded.payload, LEFT(gone.w_data)
        m.d.comb += [way.o.ready.eq(room | ~leaves), self.leaves.ready.eq(moves), gone.w_en.eq(moves),
                     left.tile.eq(self.leaves.payload), left.written.eq(out.written),
                     uncoded.valid.eq(way.o.valid & leaves & gone.w_rdy & out.written)]
        was_cleared = (plane.planes == 1) & (plane.z0_0 == self.cleared << 8) & ~plane.dx_0.any() & ~plane.dy_0.any()
        m.d.comb += [tile.samples.eq(self.samples), tile.cleared.eq(self.cleared), tile.clears.eq(was_cleared),
                     *(tile[name].eq(plane[name]) for name in known(self._edge).members),
                     *(tile[f"depth{n}"].eq(out.depths[n]) for n in range(self._edge**2))]

    def _tell(self, m, gone, told, coded):
        """It has left when it is coded."""
        waiting, written, tile = gone.r_rdy & told.w_rdy, LEFT(gone.r_data).written, coded.payload
        m.d.comb += [gone.r_en.eq(waiting & (~written | coded.valid)), told.w_en.eq(gone.r_en), told.w_data.eq(gone.r_data),
                     LEFT(told.w_data).to.eq(tile.mode), coded.ready.eq(waiting & written), self.puts.eq(coded.valid & coded.ready),
                     self.put.eq(Cat(tile[name] for name in tile.shape().members if name != "mode"))]
        m.d.sync += self.keeps.eq(self.puts)
