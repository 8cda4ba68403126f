# SPDX-License-Identifier: BSD-2-Clause
"""Surface front: tiles of a target and control beats, in order, before a free-running pipeline."""

from collections.abc import Callable, Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import DrainTimer
from fixfunc.rtl.memory.surface.rectangle import RECTANGLE, TileWalker
from fixfunc.rtl.memory.surface.state_check import StateCheck, TargetMatch, covers_target
from fixfunc.rtl.memory.surface.state_gate import StateGate
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Kind


class SurfaceFront(wiring.Component):
    """Let tiles through; hold control beats until the tiles before them have drained.

    A clear becomes tiles. A draw state that :func:`~fixfunc.rtl.memory.surface.state_check.follows`
    the one in force does not wait: what lies behind this block keeps its fields beside the tiles
    that are in flight, but for those of the target, which hold as long as any are.

    Parameters
    ----------
    params
        Parameters of the block behind this one: ``edge``, ``samples``, ``modes``, ``formats``,
        ``stencil``.
    latency : int
        Clocks that a tile is in flight.
    persistent, planes, colour_planes, colour_formats, second, floats
        See :class:`~fixfunc.rtl.memory.surface.state_check.StateCheck`.
    tile : callable
        Table of a tile, by its edge.

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
    room : In(1)
        The block behind can take a beat.
    stall : In(1)
        A tile that is offered must wait.
    drained : In(1)
        No work of tiles is in flight in other blocks. Control beats wait for it.
    states_wait : In(1)
        Every draw state waits until the tiles before it have drained.
    late_offered : In(1)
        ``late_tile`` is offered. No other tile enters.
    late_enters : In(1)
        ``late_tile`` enters.
    late_tile : In
        A tile that has come back from the shader.
    open : Out(1)
        ``late_tile`` may enter.
    accept : Out(1)
        The tile that ``i`` offers enters.
    state : Out(layout(payloads.DRAW_STATE))
        The draw state in force: that of ``tile``, also in the clock after ``tile``.
    state_changes : Out(1)
        It is another one from this clock on, and for
        :data:`~fixfunc.rtl.memory.surface.state_queue.SPACING` clocks.
    state_trails : Out(1)
        It is, and tiles before it are in flight: it is to be passed on behind them, as a tile would
        be that were valid in this clock.
    legal : Out(1)
        ``tile`` may be drawn.
    clear : Out(layout(payloads.CLEAR))
        The last clear, cut to the target.
    tile_valid : Out(1)
        ``tile`` is to be drawn, or cleared.
    tile : Out
    clearing : Out(1)
        ``tile`` is to be cleared.
    is_late : Out(1)
        ``tile`` was ``late_tile``.
    control_valid : Out(1)
        ``control`` has entered.
    control_passes : Out(1)
        It is to be passed on at once.
    control : Out
    visit_tiles : In(1)
        The clear must visit its tiles.
    visit_room : In(1)
        There is room for the next tile of a clear.
    visit_last : In(1)
        A clear of all of the target visits its last tile alone.
    covers_target : Out(1)
        ``clear`` is of all of the target.
    clear_begins : Out(1)
        ``clear`` is executed from now on.
    target_changes : Out(1)
        ``state`` has another target than the state before it.
    error : Out(1)
        A tile, or a clear, was refused.
    outside : In(1)
        A tile was found to lie outside the target.
    fence_error : Out(3)
        Error bits of a fence in ``control``: ``error`` and ``outside``, since the last fence.
    """

    def __init__(
        self,
        params: Any,
        latency: int,
        persistent: bool = False,
        planes: Sequence[str] = ("depth", "stencil"),
        colour_planes: int = 1,
        colour_formats: Sequence[Format] = BASE_FORMATS,
        second: bool = False,
        floats: bool = False,
        tile: Callable[[int], tuple[payloads.Field, ...]] = payloads.tile,
    ) -> None:
        self._params = params
        self._latency = latency
        self._persistent = persistent
        self._planes = planes
        self._colour_planes = colour_planes
        self._colour_formats = colour_formats
        self._second = second
        self._floats = floats
        self._tile = layout(tile(params.edge))
        shape = beat(tile=tile(params.edge), **payloads.CONTROL)
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "room": In(1),
                "stall": In(1),
                "drained": In(1, init=1),
                "states_wait": In(1),
                "late_offered": In(1),
                "late_enters": In(1),
                "late_tile": In(self._tile),
                "open": Out(1),
                "accept": Out(1),
                "state": Out(layout(payloads.DRAW_STATE)),
                "state_changes": Out(1),
                "state_trails": Out(1),
                "legal": Out(1),
                "clear": Out(layout(payloads.CLEAR)),
                "tile_valid": Out(1),
                "tile": Out(self._tile),
                "clearing": Out(1),
                "is_late": Out(1),
                "control_valid": Out(1),
                "control_passes": Out(1),
                "control": Out(shape),
                "visit_tiles": In(1),
                "visit_room": In(1, init=1),
                "visit_last": In(1),
                "covers_target": Out(1),
                "clear_begins": Out(1),
                "target_changes": Out(1),
                "error": Out(1),
                "outside": In(1),
                "fence_error": Out(3),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.walker = walker = TileWalker(self._params.edge)
        m.submodules.check = check = StateCheck(
            self._params,
            self._planes,
            self._persistent,
            self._colour_planes,
            self._colour_formats,
            self._second,
            self._floats,
        )
        m.submodules.timer = timer = DrainTimer(self._latency)

        # A control beat takes effect before the next beat enters.
        m.submodules.gate = gate = StateGate()
        work = self.i.payload.kind == Kind.WORK
        open_for_beat = self.open & ~self.late_offered
        control_accept = self.i.valid & open_for_beat & ~work & gate.passes
        clear_is_new = Signal()
        busy = Signal()
        m.d.comb += [
            gate.waits.eq(self.i.valid & ~(self.i.ready | self.states_wait)),
            gate.offered.eq(self.i.payload.draw_state),
            gate.state.eq(self.state),
            gate.drained.eq(timer.drained & self.drained),
            gate.control_valid.eq(self.control_valid),
            gate.kind.eq(self.control.kind),
            self.control_passes.eq(gate.passes_on),
            self.state_changes.eq(gate.changes),
            self.state_trails.eq(gate.trails),
            self.open.eq(self.room & ~self.control_valid & ~busy),
            self.accept.eq(self.i.valid & open_for_beat & work & ~self.stall),
            self.i.ready.eq(open_for_beat & Mux(work, ~self.stall, gate.passes)),
            timer.enter.eq(
                self.accept
                | self.late_enters
                | gate.in_flight
                | clear_is_new
                | self.clear_begins
                | walker.busy
            ),
        ]
        effects = (gate.changes, clear_is_new, self.clear_begins, self.target_changes, walker.busy)
        m.d.sync += [
            busy.eq(Cat(self.control_valid, *effects).any()),
            self.control_valid.eq(control_accept),
            self.control.eq(self.i.payload),
        ]
        self._set_state(m)
        self._clear(m, check, walker, clear_is_new)
        self._report_errors(m)
        m.d.comb += [
            check.state.eq(self.state),
            check.clear.eq(self.clear),
            check.clear_begins.eq(self.clear_begins),
            self.legal.eq(check.state_legal),
        ]

        visits = walker.busy & self.visit_room
        m.d.sync += [
            self.tile_valid.eq(self.accept | self.late_enters | visits),
            self.clearing.eq(visits),
            self.is_late.eq(self.late_enters),
            self.tile.eq(Mux(self.late_offered, self.late_tile, self.i.payload.tile)),
            self.error.eq(
                (self.tile_valid & ~self.clearing & ~self.legal)
                | (clear_is_new & check.touches & ~check.clear_legal)
            ),
        ]
        with m.If(walker.busy):
            m.d.sync += [
                self.tile.x.eq(walker.x),
                self.tile.y.eq(walker.y),
            ]
        return m

    def _set_state(self, m):
        """A draw state takes effect. It comes from a register: an enable reaches all of it."""
        m.submodules.previous = previous = TargetMatch()
        m.d.comb += [
            previous.state.eq(self.state),
            previous.remember.eq(self.state_changes),
        ]
        m.d.sync += self.target_changes.eq(
            self.state_changes & ~(previous.remembered & previous.equal)
        )
        with m.If(self.control_valid & (self.control.kind == Kind.STATE)):
            m.d.sync += self.state.eq(self.control.draw_state)

    def _clear(self, m, check, walker, clear_is_new):
        """A clear, cut to the target, walks over its tiles if it is legal."""
        offered = self.control.clear
        clear_valid = self.control_valid & (self.control.kind == Kind.CLEAR)
        with m.If(clear_valid):
            m.d.sync += self.clear.eq(offered)
            for end, side in (("x1", "width"), ("y1", "height")):
                size = self.state[f"target_{side}"]
                m.d.sync += self.clear[end].eq(Mux(offered[end] < size, offered[end], size))
        m.d.sync += [
            clear_is_new.eq(clear_valid),
            self.clear_begins.eq(clear_is_new & check.touches & check.clear_legal),
        ]
        m.d.comb += [
            self.covers_target.eq(covers_target(self.clear, self.state)),
            walker.start.eq(self.clear_begins & self.visit_tiles),
            walker.samples.eq(self.state.samples),
            walker.step.eq(self.visit_room),
        ]
        last_alone = self.visit_last & self.covers_target
        for name in RECTANGLE.members:
            place = self.clear[name]
            if name in ("x0", "y0"):
                place = Mux(last_alone, self.clear[f"{name[0]}1"] - 1, place)
            m.d.comb += walker.rectangle[name].eq(place)

    def _report_errors(self, m):
        """The next fence reports errors since the last one."""
        errors = Signal(2)
        m.d.sync += errors.eq(errors | Cat(self.error, self.outside))
        m.d.comb += self.fence_error.eq(self.control.fence.error | errors)
        is_fence = self.control_valid & (self.control.kind == Kind.FENCE)
        with m.If(is_fence & ~self.control.fence.release):
            m.d.sync += errors.eq(0)
