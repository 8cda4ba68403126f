# SPDX-License-Identifier: BSD-2-Clause
"""Cached test: the depth test of tiles that caches keep in memory."""

from typing import Any

from amaranth.hdl import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.late.late_front import LateFront
from fixfunc.rtl.depth.test.bias import DepthBias
from fixfunc.rtl.depth.test.datapath import DepthDatapath
from fixfunc.rtl.depth.test.new_depths import test_clock
from fixfunc.rtl.depth.test.test_output import TILES, TestOutput, tested_beat
from fixfunc.rtl.depth.test.tested_tiles import DepthRange, TestedTiles
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.memory.tile_client.slot_front import COMMAND
from fixfunc.rtl.memory.tile_client.slot_requests import DEPTHS, STENCILS, requested_beat
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.memory import caching
from fixfunc.spec.state import DepthFormat, Kind, SlotOp


def planes(params: Any) -> tuple:
    """Planes of a target that a test uses, and the bits of their values."""
    if params.stencil:
        return (DEPTHS, STENCILS), (params.depth_bits, payloads.STENCIL)
    return (DEPTHS,), (params.depth_bits,)


class CachedTest(wiring.Component):
    """Test tiles whose depths and stencil values caches put into slots and take away.

    What happens to samples is the same as in :class:`~fixfunc.rtl.depth.test.depth_test.DepthTest`,
    one tile a clock. Where a draw does not let its tiles be written early, they go out with what an
    early test leaves, and come back from the shader in their order: they are tested again and
    written, by the same pipeline, in the slots that they have kept. Such a tile takes a second
    clock, and one more to be looked up.

    Parameters
    ----------
    params : DepthTestParams
        ``tiles``: slots.

    Members
    -------
    i : In(stream.Signature(requested_beat(params.edge, planes)))
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Tiles, ``mask`` now the samples that passed, or of a late draw those that are to be shaded;
        control beats.
    shaded : In(stream.Signature(layout(payloads.survivors(params.edge, params.shader_depths))))
        What the shader decides about each tile of a late draw in ``o`` whose mask is not empty.
    answers : Out(stream.Signature(layout(payloads.coverage(params.edge**2))))
        One for each of them: samples that passed in the end, also if none did.
    passed : Out(params.edge**2)
        Samples that have passed in the end, in this clock.
    feedback : Out(stream.Signature(layout(payloads.feedback(params.edge))))
        For HiZ: what a tile holds after a test that its draw lets write.
    depth, stencil : In(stream.Signature(layout(caching.slot_command(params.edge, ...))))
        What the caches want done with slots.
    depth_done, stencil_done : Out(stream.Signature(layout(caching.completion(params.edge, ...))))
        What has been done with them.
    flush_early : Out(1)
        A fence that flushes is the only beat here: whoever comes next may begin its own flush.
    """

    def __init__(self, params: Any) -> None:
        self._params = params
        self._planes = planes(params)
        members = {}
        for plane, bits in zip(*self._planes, strict=True):
            command = layout(caching.slot_command(params.edge, bits))
            completion = layout(caching.completion(params.edge, bits))
            members |= {
                plane.name: In(stream.Signature(command)),
                f"{plane.name}_done": Out(stream.Signature(completion)),
            }
        super().__init__(
            members
            | {
                "i": In(stream.Signature(requested_beat(params.edge, self._planes[0]))),
                "o": Out(stream.Signature(tested_beat(params.edge))),
                "shaded": In(
                    stream.Signature(layout(payloads.survivors(params.edge, params.shader_depths)))
                ),
                "answers": Out(stream.Signature(layout(payloads.coverage(params.edge**2)))),
                "feedback": Out(stream.Signature(layout(payloads.feedback(params.edge)))),
                "passed": Out(params.edge**2),
                "flush_early": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        latency = test_clock(p) + DepthRange.latency(p.edge**2) + 6
        m.submodules.front = front = LateFront(p, *self._planes, latency)
        m.submodules.datapath = datapath = DepthDatapath(p, fills=True)
        m.submodules.output = output = TestOutput(p)
        wiring.connect(m, wiring.flipped(self.i), front.i)
        wiring.connect(m, output.o, wiring.flipped(self.o))
        wiring.connect(m, output.feedback, wiring.flipped(self.feedback))
        for unit in (datapath, output):
            m.d.comb += [
                unit.state.eq(front.state),
                unit.late_draw.eq(front.late_draw),
            ]
        m.d.comb += [
            datapath.legal.eq(front.legal),
            datapath.state_changes.eq(front.state_changes),
            output.state_trails.eq(front.state_trails),
        ]
        for name in ("clear", "tile_valid", "tile", "clearing", "is_late"):
            m.d.comb += getattr(datapath, name).eq(getattr(front, name))
        m.d.comb += [
            output.beat_enters.eq(front.accept | front.control_accept),
            output.report_enters.eq(front.accept | front.late_enters),
            output.i.eq(datapath.o),
            output.depth.eq(datapath.depth),
            output.control_valid.eq(front.control_passes),
            output.control.eq(front.control),
            output.fence_error.eq(front.fence_error),
        ]
        room = output.room
        late_room = output.report_room & self._answer(m, front, datapath, output)
        touchable_clock = test_clock(p) - 2
        timeline = Timeline(m)
        timeline.enter(0, refused=front.refused)
        m.d.comb += datapath.touchable.eq(~timeline[touchable_clock].refused)
        for plane, bits in zip(*self._planes, strict=True):
            wiring.connect(m, wiring.flipped(getattr(self, plane.name)), getattr(front, plane.name))
            command = self._slot(m, front, datapath, plane.name)
            done_room = self._complete(m, front, datapath, plane.name, bits, command)
            room = room & done_room
            late_room = late_room & done_room
        m.d.sync += front.room.eq(room)
        m.d.comb += front.late_room.eq(late_room)

        head = self.i.payload.beat
        flushes = (head.kind == Kind.FENCE) & head.fence.flush
        m.d.sync += self.flush_early.eq(self.i.valid & flushes & output.idle)
        return m

    def _answer(self, m, front, datapath, output):
        """Tiles that come back, and what passed of them; returns whether there is room for one."""
        p = self._params
        m.submodules.answer = answer = CreditedFIFO(self.answers.payload.shape(), TILES)
        wiring.connect(m, wiring.flipped(self.shaded), front.shaded)
        wiring.connect(m, answer.o, wiring.flipped(self.answers))
        tile = datapath.o
        answers = front.late_enters & front.late_shaded
        timeline = Timeline(m)
        timeline.enter(-1, answers=answers)
        m.d.sync += front.tested.eq(tile.valid & ~tile.is_late & front.late_draw)
        m.d.comb += [
            front.tested_tile.eq(output.passed_tile),
            front.tested_finished.eq(output.finished),
            answer.consume.eq(answers),
            answer.push.eq(timeline[test_clock(p) + 2].answers),
            answer.i.mask.eq(output.passed_tile.mask),
            self.passed.eq(output.passed),
        ]
        if p.shader_depths:
            m.d.comb += datapath.shader.eq(front.shader)
        return answer.available

    def _slot(self, m, front, datapath, name):
        """What a plane's command does to its slot; returns the command one clock after the test.

        Whether there is one waits in registers, which a reset reaches.
        """
        command = getattr(front, f"{name}_command")
        values = getattr(front, f"{name}_values")
        test = test_clock(self._params)
        timeline = Timeline(m)
        slot_clock = test - TestedTiles.EARLY
        m.submodules[f"{name}_slot"] = line = DelayLine(COMMAND.size, slot_clock)
        m.submodules[f"{name}_fill"] = fill_line = DelayLine(len(values.as_value()), test - 2)
        timeline.enter(0, valid=command.valid)
        timeline.enter(slot_clock, op=COMMAND(line.o).op, slot=COMMAND(line.o).slot)
        filled = timeline[test - 2]
        m.d.comb += [
            line.i.eq(command),
            fill_line.i.eq(values),
            getattr(datapath, f"{name}_slot").eq(timeline[slot_clock].slot),
            getattr(datapath, f"{name}_valid").eq(timeline[slot_clock].valid),
            getattr(datapath, f"{name}_values").eq(fill_line.o),
            getattr(datapath, f"{name}_fill").eq(filled.valid & has(filled.op, SlotOp.FILL)),
        ]
        return timeline[test + 1]

    def _complete(self, m, front, datapath, name, bits, command):
        """Tell a cache what has been done with a slot; returns whether there is room for more."""
        p = self._params
        lanes = p.edge**2
        shape = layout(caching.completion(p.edge, bits))
        m.submodules[f"{name}_done"] = done = CreditedFIFO(shape, TILES, lookahead=4)
        wiring.connect(m, done.o, wiring.flipped(getattr(self, f"{name}_done")))
        tile = datapath.o
        values = getattr(datapath, f"{name}_before")
        written = tile.written
        if name == "stencil":
            written = Mux(tile.clearing, (1 << lanes) - 1, tile.changed)
        m.d.comb += [
            done.consume.eq(getattr(front, f"{name}_command").valid),
            done.push.eq(command.valid),
            done.i.op.eq(command.op),
            done.i.slot.eq(command.slot),
            done.i.written.eq(Mux(has(command.op, SlotOp.USE), written, 0)),
        ]
        for n in range(lanes):
            m.d.comb += done.i[f"value{n}"].eq(values[n])
        if name == "depth":
            self._plane(m, front, datapath, done.i)
        return done.available

    def _plane(self, m, front, datapath, completion):
        """The plane of a tile, if it gives the depths that were written."""
        tile = datapath.o
        clear = front.clear
        test = test_clock(self._params)
        t = Timeline(m)
        t.enter(DepthBias.LATENCY, bias=datapath.bias)
        t.enter(test - 1, exact=datapath.exact)
        end = t[test + 1]
        is_d24 = front.state.depth_format == DepthFormat.D24
        plane = StructLayout({"z0": 32, "dx": 32, "dy": 32})
        of_tile = {"z0": tile.tile.z0 + end.bias, "dx": tile.tile.dx, "dy": tile.tile.dy}
        of_clear = {"z0": clear.depth_value << 8, "dx": 0, "dy": 0}
        gives_all = (~tile.written | end.exact).all() & is_d24 & ~tile.tile.steep
        m.d.comb += completion.exact.eq(tile.clearing | gives_all)
        for field in plane.members:
            value = Mux(tile.clearing, of_clear[field], of_tile[field])
            m.d.comb += completion[field].eq(value)
