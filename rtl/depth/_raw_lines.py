"""Stencil values, or colours, between slots and memory."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import fifo, wiring
from amaranth.lib.memory import Memory

from rtl.depth._depth_lines import ports
from rtl.depth._tile_writer import LEFT
from rtl.payload import layout
from spec.payloads import coded
from spec.state import LineOp, TileMode


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
    As of :class:`~rtl.depth._depth_lines.DepthLines`.
    """

    def __init__(self, edge, slots, bits):
        self._edge, self._slots, self._bits = edge, slots, bits
        super().__init__(ports(edge, bits))

    def elaborate(self, platform):
        m = Module()
        lanes, bits, code = self._edge**2, self._bits, layout(coded(self._edge, self._bits))
        m.submodules.gone = gone = fifo.SyncFIFOBuffered(width=LEFT.size, depth=4)
        m.submodules.codes = codes = fifo.SyncFIFOBuffered(width=code.size, depth=4)
        m.submodules.written = memory = Memory(shape=1, depth=self._slots, init=[])
        read, write, cleared = memory.read_port(domain="comb"), memory.write_port(), self.cleared[:bits]
        wiring.connect(m, codes.r_stream, wiring.flipped(self.coded))
        wiring.connect(m, gone.r_stream, wiring.flipped(self.left))

        stored, filled = self.stored.payload, self.filled.payload
        data = Cat(stored[name] for name in stored.shape().members if name != "mode")
        m.d.comb += [self.filled.valid.eq(self.stored.valid), self.stored.ready.eq(self.filled.ready),
                     filled.wrong.eq((stored.mode != TileMode.CLEARED) & (stored.mode != TileMode.RAW))]
        m.d.comb += [filled.values[n].eq(Mux(stored.mode == TileMode.RAW, data.word_select(n, bits), cleared)) for n in range(lanes)]

        token, done, into, takes, leaves = self.told.payload, self.done.payload, code(codes.w_data), Signal(), Signal()
        m.d.comb += [leaves.eq(token.op == LineOp.EVICT), takes.eq(self.done.valid & self.told.valid & (~leaves | (gone.w_rdy & codes.w_rdy))),
                     self.done.ready.eq(takes), self.told.ready.eq(takes), self.leaves.ready.eq(takes & leaves),
                     read.addr.eq(token.slot), write.addr.eq(token.slot), write.en.eq(takes & ~leaves),
                     write.data.eq((token.op == LineOp.USE) & (done.written.any() | read.data))]
        values = [done[f"value{n}"] for n in range(lanes)]
        m.d.comb += [gone.w_en.eq(takes & leaves), gone.w_data.eq(Cat(self.leaves.payload, read.data)), codes.w_en.eq(takes & leaves & read.data),
                     into.mode.eq(Mux(Cat(value == cleared for value in values).all(), TileMode.CLEARED, TileMode.RAW)),
                     codes.w_data[code["data0"].offset:].eq(Cat(*values))]
        return m
