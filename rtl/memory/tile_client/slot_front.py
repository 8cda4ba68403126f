# SPDX-License-Identifier: BSD-2-Clause
"""Slot front: tiles, and what caches want done with slots, in one order."""

from collections.abc import Callable, Sequence

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import DrainTimer
from fixfunc.rtl.memory.surface.state_gate import StateGate
from fixfunc.rtl.memory.tile_cache.layouts import OP, has
from fixfunc.rtl.memory.tile_client.slot_requests import requested_beat, unbounded
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.memory import caching
from fixfunc.spec.payloads import SLOT
from fixfunc.spec.state import Kind, SlotOp

COMMAND = StructLayout({"valid": 1, "op": OP, "slot": SLOT})  # any op but DONE
HELD = StructLayout({"valid": 1, "slot": SLOT})  # the slot of a tile, if it has one


class SlotFront(wiring.Component):
    """Let a tile through, with the commands to its slots, when these are ready; let an EVICT that
    belongs to no tile through before it.

    It stands behind :class:`~fixfunc.rtl.memory.tile_client.slot_requests.SlotRequests`, in the
    place of :class:`~fixfunc.rtl.memory.surface.front.SurfaceFront`. Control beats wait as they do
    there, and fences also until the caches have executed their requests.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    planes : sequence of Plane
    bits : sequence of int
        Bits of a value of each plane.
    latency : int
        Clocks that a tile is in flight.
    tile : callable
        Table of a tile, by its edge.

    Members
    -------
    i : In(stream.Signature(requested_beat(edge, planes)))
    <plane> : In(stream.Signature(layout(caching.slot_command(edge, bits))))
        What the cache of a plane wants done.
    room : In(1)
        The block behind can take a beat.
    stall : In(1)
        A tile of a draw that is offered must wait.
    drained : In(1)
        No tile is out for shading. Control beats wait for it.
    <plane>_hold : In(1)
        An EVICT that is offered, of no tile, must wait: its slot is in use.
    late_enters : In(1)
        ``late_tile`` enters, and nothing else.
    late_tile, late_refused : In, In(1)
        A tile that has come back from the shader, and whether it was refused.
    <plane>_late : In(HELD)
        Its slot.
    stays : In(1)
        The tile that is offered, and its commands, are offered again when they have entered.
    inputs_ready : In(1)
        Inputs of a tile of a draw from elsewhere, such as its colours, are valid.
    accept : Out(1)
        A tile of a draw enters, whether it stays or not.
    control_accept : Out(1)
        A control beat enters.
    state, state_changes, state_trails, control_passes : Out
        See :class:`~fixfunc.rtl.memory.surface.front.SurfaceFront`.
    clear : Out(layout(payloads.CLEAR))
        The last clear, as :func:`~fixfunc.rtl.memory.tile_client.slot_requests.unbounded` has it.
    tile_valid : Out(1)
        ``tile`` is to be drawn, or cleared.
    tile : Out
    clearing : Out(1)
        ``tile`` is to be cleared.
    is_late : Out(1)
        ``tile`` was ``late_tile``.
    refused : Out(1)
        ``tile`` must not be touched.
    <plane>_command : Out(COMMAND)
        The command that a slot executes.
    <plane>_values : Out
        What a FILL puts there.
    control_valid : Out(1)
        ``control`` has entered.
    control : Out
    error : Out(1)
        A DONE reports that memory failed.
    fence_error : Out(3)
        Error bits of a fence in ``control``: memory has failed since the last fence.
    """

    legal = 1  # tiles that are not legal have been refused before

    def __init__(
        self,
        edge: int,
        planes: Sequence,
        bits: Sequence[int],
        latency: int,
        tile: Callable[[int], tuple] = payloads.tile,
    ) -> None:
        self._edge = edge
        self._planes = planes
        self._latency = latency
        shape = beat(tile=tile(edge), **payloads.CONTROL)
        of_planes = {}
        for plane, width in zip(planes, bits, strict=True):
            of_planes |= {
                plane.name: In(stream.Signature(layout(caching.slot_command(edge, width)))),
                f"{plane.name}_command": Out(COMMAND),
                f"{plane.name}_values": Out(ArrayLayout(width, edge**2)),
                f"{plane.name}_hold": In(1),
                f"{plane.name}_late": In(HELD),
            }
        super().__init__(
            of_planes
            | {
                "i": In(stream.Signature(requested_beat(edge, planes, tile))),
                "room": In(1),
                "stall": In(1),
                "stays": In(1),
                "drained": In(1, init=1),
                "late_enters": In(1),
                "late_tile": In(layout(tile(edge))),
                "late_refused": In(1),
                "inputs_ready": In(1, init=1),
                "accept": Out(1),
                "control_accept": Out(1),
                "state": Out(layout(payloads.DRAW_STATE)),
                "state_changes": Out(1),
                "state_trails": Out(1),
                "control_passes": Out(1),
                "clear": Out(layout(payloads.CLEAR)),
                "tile_valid": Out(1),
                "clearing": Out(1),
                "is_late": Out(1),
                "refused": Out(1),
                "tile": Out(layout(tile(edge))),
                "control_valid": Out(1),
                "control": Out(shape),
                "error": Out(1),
                "fence_error": Out(3),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.timer = timer = DrainTimer(self._latency)
        request = self.i.payload
        commands = [getattr(self, plane.name) for plane in self._planes]
        work = request.beat.kind == Kind.WORK

        # Which slots are ready for the beat, and which cache has a tile to evict first.
        ready = Signal(len(commands))
        done = Signal(len(commands))
        evicts = Signal(len(commands))
        for n, (plane, command) in enumerate(zip(self._planes, commands, strict=True)):
            op = command.payload.op
            hold = getattr(self, f"{plane.name}_hold")
            m.d.comb += [
                ready[n].eq(~request.requested[n] | (command.valid & has(op, SlotOp.USE))),
                done[n].eq(~request.requested[n] | (command.valid & ~op.any())),
                evicts[n].eq(command.valid & ~hold & (op == SlotOp.EVICT)),
            ]
        busy = Signal()
        open_ = Signal()
        open_for_beat = Signal()
        tile_accept = Signal()
        target_accept = Signal()
        inputs = (self.inputs_ready & ~self.stall) | request.clearing
        m.submodules.gate = gate = StateGate()
        entered = Signal()  # a beat, once more if it stays
        m.d.comb += [
            gate.waits.eq(self.i.valid & ~self.i.ready),
            gate.offered.eq(request.beat.draw_state),
            gate.state.eq(self.state),
            gate.drained.eq(timer.drained & self.drained),
            gate.control_valid.eq(self.control_valid),
            gate.kind.eq(self.control.kind),
            self.control_passes.eq(gate.passes_on),
            self.state_changes.eq(gate.changes),
            self.state_trails.eq(gate.trails),
            open_.eq(self.room & ~self.control_valid & ~busy & ~self.late_enters),
            open_for_beat.eq(open_ & ~evicts.any() & self.i.valid),
            tile_accept.eq(open_for_beat & work & ~request.whole_target & ready.all() & inputs),
            target_accept.eq(open_for_beat & work & request.whole_target & done.all()),
            self.control_accept.eq(open_for_beat & ~work & gate.passes & done.all()),
            self.accept.eq(tile_accept & ~request.clearing),
            entered.eq(tile_accept | target_accept | self.control_accept),
            self.i.ready.eq(entered & ~(tile_accept & self.stays)),
            timer.enter.eq(
                tile_accept | self.late_enters | gate.in_flight | (open_ & evicts.any())
            ),
        ]
        m.d.sync += [
            busy.eq(self.control_valid | self.state_changes),
            self.tile_valid.eq(tile_accept | self.late_enters),
            self.clearing.eq(request.clearing & ~self.late_enters),
            self.is_late.eq(self.late_enters),
            self.refused.eq(Mux(self.late_enters, self.late_refused, request.refused)),
            self.tile.eq(Mux(self.late_enters, self.late_tile, request.beat.tile)),
            self.control_valid.eq(self.control_accept),
            self.control.eq(request.beat),
        ]
        self._command(m, commands, entered, Mux(open_, evicts, 0))
        self._apply_control(m)
        self._report_errors(m)
        return m

    def _command(self, m, commands, entered, evicted):
        """Commands go to the slots: with their beat, or at once if they are of none.

        A tile that comes back is used in its own slots.
        """
        failed = Signal(len(commands))
        for n, (plane, source) in enumerate(zip(self._planes, commands, strict=True)):
            command = getattr(self, f"{plane.name}_command")
            late = getattr(self, f"{plane.name}_late")
            values = [source.payload[f"value{k}"] for k in range(self._edge**2)]
            is_done = ~source.payload.op.any()
            requested = self.i.payload.requested[n]
            executes = (evicted[n] | (entered & requested)) & ~is_done
            m.d.comb += [
                source.ready.eq(evicted[n] | (self.i.ready & requested)),
                failed[n].eq(source.ready & is_done & source.payload.error.any()),
            ]
            m.d.sync += [
                command.valid.eq(Mux(self.late_enters, late.valid, executes)),
                command.op.eq(Mux(self.late_enters, SlotOp.USE, source.payload.op)),
                command.slot.eq(Mux(self.late_enters, late.slot, source.payload.slot)),
                getattr(self, f"{plane.name}_values").eq(Cat(values)),
            ]
        m.d.sync += self.error.eq(failed.any())

    def _apply_control(self, m):
        """States and clears are in force one clock after they have been accepted."""
        state = self.state
        clear = self.control.clear
        with m.If(self.control_valid & (self.control.kind == Kind.STATE)):
            m.d.sync += state.eq(self.control.draw_state)
        with m.If(self.control_valid & (self.control.kind == Kind.CLEAR)):
            cut = {"x0": clear.x0, "y0": clear.y0}
            for end, side in (("x1", "width"), ("y1", "height")):
                size = state[f"target_{side}"]
                cut[end] = Mux(clear[end] < size, clear[end], size)
            m.d.sync += self.clear.eq(clear)
            for name, place in unbounded(cut, state).items():
                m.d.sync += self.clear[name].eq(place)

    def _report_errors(self, m):
        """The next fence reports whether memory has failed; one that flushes, for its own flush."""
        failed = Signal()
        m.d.sync += failed.eq(failed | self.error)
        m.d.comb += self.fence_error.eq(self.control.fence.error | ((failed | self.error) << 2))
        is_fence = self.control_valid & (self.control.kind == Kind.FENCE)
        with m.If(is_fence & ~self.control.fence.release):
            m.d.sync += failed.eq(0)
