# SPDX-License-Identifier: BSD-2-Clause
"""The depth test, of tiles that caches keep."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.bits import named
from fixfunc.rtl.depth._bias import DepthBias
from fixfunc.rtl.depth._done import DoneLines
from fixfunc.rtl.depth._line_front import LINE, LineFront
from fixfunc.rtl.depth._requests import DEPTHS, STENCILS, marked
from fixfunc.rtl.depth._rule import OPERATION, RULE
from fixfunc.rtl.depth._tiles import DepthRange, TestedTiles
from fixfunc.rtl.depth.depth_test import PLACES, DepthTest
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.pipeline import DelayLine, delay
from fixfunc.spec import payloads
from fixfunc.spec.state import DepthFormat, Kind, LineOp, Outcome


def planes(params):
    """Planes of a target that a test uses, and the bits of their values."""
    return ((DEPTHS, STENCILS), (payloads.DEPTH, payloads.STENCIL)) if params.stencil else ((DEPTHS,), (payloads.DEPTH,))


class SlotTest(DepthTest):
    """Test tiles whose depths and stencil values caches put into slots and take away; all else as of :class:`DepthTest`.

    No tile is written late: a draw that asks for that writes early.

    Parameters
    ----------
    params : DepthTestParams
        ``tiles``: slots. D16 and D24 alone, without ``shader_depths``.

    Members
    -------
    i : In(stream.Signature(marked(params.edge, planes)))
    o, feedback : Out
        As of :class:`DepthTest`.
    depth, stencil : In(stream.Signature(layout(payloads.line(params.edge, ...))))
        What the caches want.
    depth_done, stencil_done : Out(stream.Signature(layout(payloads.line_done(params.edge, ...))))
        What has been done.
    ending : Out(1)
        A fence waits for memory, and all beats before it have been taken.
    """

    def __init__(self, params):
        self._params, self._planes = params, planes(params)
        self._tile = layout(payloads.tile(params.edge))
        ports = {}
        for plane, bits in zip(*self._planes, strict=True):
            ports |= {plane.name: In(stream.Signature(layout(payloads.line(params.edge, bits)))),
                      f"{plane.name}_done": Out(stream.Signature(layout(payloads.line_done(params.edge, bits))))}
        wiring.Component.__init__(self, ports | {
            "i": In(stream.Signature(marked(params.edge, self._planes[0]))),
            "o": Out(stream.Signature(beat(tile=payloads.tile(params.edge), **payloads.CONTROL))),
            "feedback": Out(stream.Signature(layout(payloads.feedback(params.edge)))), "ending": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        p, at, names = self._params, self._test_at, [plane.name for plane in self._planes[0]]
        m.submodules.front = front = LineFront(p.edge, *self._planes, at + DepthRange.latency(p.edge**2) + 6)
        m.submodules.tiles = self._tiles = TestedTiles(p)
        wiring.connect(m, wiring.flipped(self.i), front.i)
        for name in names:
            wiring.connect(m, wiring.flipped(getattr(self, name)), getattr(front, name))
        (credit, queue), (report_credit, report_queue) = (self._queue(m, *port) for port in (("beat", self.o), ("report", self.feedback)))
        m.d.comb += [credit.take.eq(front.enters | front.passes), report_credit.take.eq(front.enters)]

        next_one = self.i.payload.beat
        m.d.sync += self.ending.eq(self.i.valid & (next_one.kind == Kind.FENCE) & next_one.fence.flush & credit.all)

        # As in the depth test; beside each tile, what is done to its slots.
        depths, lines = self._new_depths(m, front), {f"{name}_line": LINE for name in names}
        early, waits = at - 6, StructLayout({"tile": self._tile, "clearing": 1, "refused": 1} | lines)
        m.submodules.waiting, m.submodules.tested = waiting, tested = DelayLine(waits.size, early), DelayLine(waits.size, 7)
        here, rest, valid = waits(waiting.o), waits(tested.o), delay(m, front.valid, early, "valid")
        m.d.comb += [waits(waiting.i)[name].eq(getattr(front, name)) for name in waits.members]
        m.d.comb += tested.i.eq(waiting.o)
        self._on = {name: delay(m, getattr(front, f"{name}_line").on, early, f"{name}_on") for name in names}  # in registers, which a reset reaches
        self._brought = self._bring(m, front, here)
        inside = self._slots(m, here)
        early_tile = StructLayout({"tile": self._tile, "clearing": 1, "is_late": 1})(Cat(here.tile, here.clearing, 0))
        seen = self._covered(m, front, early_tile, inside, depths, 0)

        # A clock after the test: what is left of the tile, and what its slots hold.
        tests, passed, known = delay(m, valid, 7, "tests") & ~rest.clearing, self._tiles.passed, delay(m, inside, 3, "inside")
        keep, gone, made = Signal(), Signal(), Signal(queue.i.shape())
        some = passed.any() | rest.tile.last
        m.d.sync += [keep.eq(tests & some), gone.eq(tests & ~some), made.eq(0), made.tile.eq(rest.tile), made.tile.mask.eq(passed),
                     made.tile.full.eq(passed.all())]
        m.d.comb += [credit.drop.eq(gone), queue.valid.eq(keep | front.control), queue.i.eq(Mux(keep, made, front.beat))]
        self._count(m, front, queue, named(m, Mux(tests, passed, 0), "passed_of_draws"))
        front.report(m, queue.i, 0)
        self._report(m, front.state, rest.tile, (tests, tests), known, seen, report_credit, report_queue)
        room = [self._done(m, name, front, rest) for name in names]
        m.d.sync += front.go.eq(credit.any & report_credit.any & Cat(room).all())
        return m

    def _slots(self, m, here):
        """Where a tile is kept; returns whether it may be touched: both as DepthTest._place."""
        for plane in self._planes[0]:
            name, prefix = plane.name, "" if plane.name == "depth" else "stencil_"
            m.d.comb += [getattr(self._tiles, f"{prefix}place").eq(delay(m, here[f"{name}_line"].slot, 3, f"{name}_slot")),
                         getattr(self._tiles, f"{prefix}valid").eq(delay(m, self._on[name], 3, f"{name}_placed"))]
        return delay(m, ~here.refused, 4, "touched")

    def _bring(self, m, front, here):
        """What is put into slots, a clock before the test: by plane whether, whether one is emptied, and the values."""
        found = {}
        for plane in self._planes[0]:
            values, name = getattr(front, f"{plane.name}_values"), plane.name
            m.submodules[f"{name}_brought"] = line = DelayLine(len(values.as_value()), self._test_at - 1)
            m.d.comb += line.i.eq(values)
            on, op = delay(m, self._on[name], 5, f"{name}_told"), delay(m, here[f"{name}_line"].op, 5, f"{name}_op")
            found[name] = on & (op == LineOp.FILL), on & (op == LineOp.EVICT), values.shape()(line.o)
        return found

    def _overrule(self, m, covered, rule, tile):
        """What is put into a slot passes every test, and what is taken away changes nothing; nor does an accepted tile need a depth."""
        fills, empties, _ = self._brought["depth"]
        s_fills, s_empties, values = self._brought.get("stencil", (0, 0, None))
        ruled, every, zero = Signal(RULE), Signal(), OPERATION.const({"keeps": 0, "turns": 0, "up": 0, "down": 0, "stops": 0})
        accepted = delay(m, tile.outcome == Outcome.ACCEPT, 5, "accepted")
        m.d.comb += [ruled.eq(rule), every.eq(fills | s_fills)]
        with m.If(accepted):
            m.d.comb += ruled.depth.eq(0b111)
        with m.If(every):
            m.d.comb += [ruled.depth.eq(0b111), ruled.write.eq(fills), ruled.stencil.eq(0b111),
                         ruled.mask.eq(Mux(s_fills, 255, 0) if values is not None else 0),
                         *(ruled[name].eq(zero) for name in ("fail", "depth_fail", "pass"))]
        if values is not None:
            m.d.sync += self._tiles.stencil_new.eq(Mux(s_fills, values.as_value(), 0))
        out = Signal(len(covered), name="covered_too")
        m.d.comb += out.eq(Mux(every, (1 << len(covered)) - 1, Mux(empties | s_empties, 0, covered)))
        return out, ruled

    def _stored(self, n, depth):
        """The depth that is put into a slot, if one is."""
        fills, _, values = self._brought["depth"]
        return Mux(fills, values[n], depth)

    def _done(self, m, name, front, rest):
        """Tell a cache what has been done; returns whether there is room for more."""
        tiles, bits, edge = self._tiles, {"depth": payloads.DEPTH, "stencil": payloads.STENCIL}[name], self._params.edge
        m.submodules[f"{name}_done"] = done = DoneLines(edge, bits, PLACES)
        wiring.connect(m, done.o, wiring.flipped(getattr(self, f"{name}_done")))
        on, values, out = delay(m, self._on[name], 7, f"{name}_done"), getattr(tiles, name), done.i
        uses = rest[f"{name}_line"].op == LineOp.USE
        m.d.comb += [done.begins.eq(getattr(front, f"{name}_line").on), done.valid.eq(on),
                     out.written.eq(Mux(uses, tiles.wrote if name == "depth" else Mux(rest.clearing, (1 << edge**2) - 1, tiles.changed), 0)),
                     *(out[f"value{n}"].eq(values[n]) for n in range(edge**2))]
        if name == "depth":  # a tile's plane, if it gives the depths that were written
            bias, clear = delay(m, self._bias.o, self._test_at + 1 - DepthBias.LATENCY, "bias"), front.clear
            exact = delay(m, self._exact, 2, "exact")
            is_24 = front.state.depth_format == DepthFormat.D24
            m.d.comb += [out.exact.eq(rest.clearing | ((~tiles.wrote | exact).all() & is_24)),
                         out.z0.eq(Mux(rest.clearing, clear.depth_value << 8, rest.tile.z0 + bias)), out.dx.eq(Mux(rest.clearing, 0, rest.tile.dx)),
                         out.dy.eq(Mux(rest.clearing, 0, rest.tile.dy))]
        return done.any
