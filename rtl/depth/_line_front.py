# SPDX-License-Identifier: BSD-2-Clause
"""Beats and what caches want done with slots, in one order."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._requests import marked, reaching
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.payloads import SLOT
from fixfunc.spec.state import Kind, LineOp

LINE = StructLayout({"on": 1, "op": 2, "slot": SLOT})


class LineFront(wiring.Component):
    """Let a tile through when its slots are ready; put and take away what caches want in between; hold back all else.

    Behind :class:`~fixfunc.rtl.depth._requests.SlotRequests`, in the place of :class:`~fixfunc.rtl.depth._front.Front`. What fills or
    empties a slot goes before any tile. Control beats wait until the tiles before them are through, and fences until
    the caches have done what they ask for.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    planes : sequence of Plane
    bits : sequence of int
        Of a value of each.
    under_way : int
        Clocks that a tile is under way.

    Members
    -------
    i : In(stream.Signature(marked(edge, planes)))
    <plane> : In(stream.Signature(layout(payloads.line(edge, bits))))
    go, also : In(1)
        There is room for a beat; what else a tile of a draw needs is there.
    enters, passes : Out(1)
        A tile of a draw is let through in this clock; a control beat is.
    state, clear : Out
        In force; the clear as :func:`~fixfunc.rtl.depth._requests.reaching`.
    valid, clearing, refused, tile : Out
        A tile, to be tested or to be cleared; it must not be touched.
    <plane>_line, <plane>_values : Out
        What is done to a slot, and what is put there.
    control, beat : Out
        A beat to be passed on.
    error : Out(1)
        Memory failed: a DONE told so.
    """

    legal = 1  # what is not has been marked

    def __init__(self, edge, planes, bits, under_way):
        self._edge, self._planes, self._under_way = edge, planes, under_way
        shape, tile = beat(tile=payloads.tile(edge), **payloads.CONTROL), layout(payloads.tile(edge))
        lines = {}
        for plane, width in zip(planes, bits, strict=True):
            lines |= {plane.name: In(stream.Signature(layout(payloads.line(edge, width)))), f"{plane.name}_line": Out(LINE),
                      f"{plane.name}_values": Out(ArrayLayout(width, edge**2))}
        super().__init__(lines | {
            "i": In(stream.Signature(marked(edge, planes))), "go": In(1), "also": In(1, init=1), "enters": Out(1), "passes": Out(1),
            "state": Out(layout(payloads.DRAW_STATE)), "clear": Out(layout(payloads.CLEAR)), "valid": Out(1), "clearing": Out(1), "refused": Out(1),
            "tile": Out(tile), "control": Out(1), "beat": Out(shape), "error": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        given, marks, lanes = self.i.payload.beat, self.i.payload, self._edge**2
        lines = [getattr(self, plane.name) for plane in self._planes]
        work, rest, quiet, held = given.kind == Kind.WORK, Signal(range(self._under_way + 1)), Signal(init=1), Signal()

        # Which tiles' slots are ready, and who has something else to do first.
        uses, ends, moves = (Signal(len(lines), name=name) for name in ("uses", "ends", "moves"))
        for n, line in enumerate(lines):
            op = line.payload.op
            m.d.comb += [uses[n].eq(~marks.asks[n] | (line.valid & (op == LineOp.USE))),
                         ends[n].eq(~marks.asks[n] | (line.valid & (op == LineOp.DONE))),
                         moves[n].eq(line.valid & ((op == LineOp.FILL) | (op == LineOp.EVICT)))]
        opens, free, tests, ended = Signal(), Signal(), Signal(), Signal()
        m.d.comb += [opens.eq(self.go & ~self.control & ~held), free.eq(opens & ~moves.any() & self.i.valid),
                     tests.eq(free & work & ~marks.whole & uses.all() & (self.also | marks.clearing)),
                     ended.eq(free & work & marks.whole & ends.all()),
                     self.passes.eq(free & ~work & quiet & ends.all()), self.enters.eq(tests & ~marks.clearing),
                     self.i.ready.eq(tests | ended | self.passes)]
        taken = tests | (opens & moves.any())
        m.d.sync += [rest.eq(Mux(taken, self._under_way, Mux(rest == 0, 0, rest - 1))), quiet.eq((rest == 0) & ~taken), held.eq(self.control)]

        failed = Signal(len(lines))
        for n, (plane, line) in enumerate(zip(self._planes, lines, strict=True)):
            told, takes = getattr(self, f"{plane.name}_line"), Signal(name=f"{plane.name}_takes")
            m.d.comb += [takes.eq((opens & moves[n]) | (self.i.ready & marks.asks[n])), line.ready.eq(takes),
                         failed[n].eq(takes & (line.payload.op == LineOp.DONE) & line.payload.error.any())]
            m.d.sync += [told.on.eq(takes & (line.payload.op != LineOp.DONE)), told.op.eq(line.payload.op), told.slot.eq(line.payload.slot),
                         getattr(self, f"{plane.name}_values").eq(Cat(line.payload[f"value{k}"] for k in range(lanes)))]

        m.d.sync += [self.valid.eq(tests), self.clearing.eq(marks.clearing), self.refused.eq(marks.refused), self.tile.eq(given.tile),
                     self.control.eq(self.passes), self.beat.eq(given), self.error.eq(failed.any())]
        with m.If(self.control & (self.beat.kind == Kind.STATE)):
            m.d.sync += self.state.eq(self.beat.draw_state)
        clear, target = self.beat.clear, self.state
        with m.If(self.control & (self.beat.kind == Kind.CLEAR)):
            cut = {f"{axis}1": Mux(clear[f"{axis}1"] < target[f"target_{side}"], clear[f"{axis}1"], target[f"target_{side}"])
                   for axis, side in (("x", "width"), ("y", "height"))}
            m.d.sync += self.clear.eq(clear)
            m.d.sync += [self.clear[name].eq(value) for name, value in reaching(cut | {"x0": clear.x0, "y0": clear.y0}, target).items()]
        return m

    def report(self, m, out, _outside):
        """Let fences that go ``out`` tell whether memory has failed since the last one."""
        failed = Signal()
        m.d.sync += failed.eq(failed | self.error)
        with m.If(self.control & (self.beat.kind == Kind.FENCE)):
            m.d.comb += out.fence.error.eq(self.beat.fence.error | ((failed | self.error) << 2))  # that of its own flush too
            m.d.sync += failed.eq(0)
