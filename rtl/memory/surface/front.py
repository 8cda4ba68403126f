# SPDX-License-Identifier: BSD-2-Clause
"""Surface front: tiles of a target and control beats, in order, before a free-running pipeline."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import DrainTimer
from fixfunc.rtl.memory.surface.rectangle import RECTANGLE, TileWalker
from fixfunc.rtl.memory.surface.state_check import StateCheck, TargetMatch, covers_target
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Kind


class SurfaceFront(wiring.Component):
    """Let tiles through; hold control beats until the tiles before them have drained.

    A clear becomes tiles. Nothing behind this block waits for a draw state to change: the state
    holds as long as tiles of it are in flight.

    Parameters
    ----------
    params
        Parameters of the block behind this one: ``edge``, ``samples``, ``modes``, ``formats``,
        ``stencil``.
    latency : int
        Clocks that a tile is in flight.
    persistent, planes, colour_planes, colour_formats
        See :class:`~fixfunc.rtl.memory.surface.state_check.StateCheck`.

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
    room : In(1)
        The block behind can take a beat.
    stall : In(1)
        A tile that is offered must wait.
    drained : In(1)
        No work of tiles is in flight in other blocks. Control beats wait for it.
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
        The draw state in force.
    legal : Out(1)
        Tiles may be drawn in ``state``.
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
        ``control`` is to be passed on.
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
    ) -> None:
        self._params = params
        self._latency = latency
        self._persistent = persistent
        self._planes = planes
        self._colour_planes = colour_planes
        self._colour_formats = colour_formats
        self._tile = layout(payloads.tile(params.edge))
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "room": In(1),
                "stall": In(1),
                "drained": In(1, init=1),
                "late_offered": In(1),
                "late_enters": In(1),
                "late_tile": In(self._tile),
                "open": Out(1),
                "accept": Out(1),
                "state": Out(layout(payloads.DRAW_STATE)),
                "legal": Out(1),
                "clear": Out(layout(payloads.CLEAR)),
                "tile_valid": Out(1),
                "tile": Out(self._tile),
                "clearing": Out(1),
                "is_late": Out(1),
                "control_valid": Out(1),
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
        )
        m.submodules.timer = timer = DrainTimer(self._latency)

        # A control beat passes when everything before it has drained; it takes effect before the
        # next beat enters.
        work = self.i.payload.kind == Kind.WORK
        open_for_beat = self.open & ~self.late_offered
        all_drained = timer.drained & self.drained
        control_accept = self.i.valid & open_for_beat & ~work & all_drained
        state_is_new = Signal()
        clear_is_new = Signal()
        busy = Signal()
        m.d.comb += [
            self.open.eq(self.room & ~self.control_valid & ~busy),
            self.accept.eq(self.i.valid & open_for_beat & work & ~self.stall),
            self.i.ready.eq(open_for_beat & Mux(work, ~self.stall, all_drained)),
            timer.enter.eq(
                self.accept | self.late_enters | clear_is_new | self.clear_begins | walker.busy
            ),
        ]
        effects = (state_is_new, clear_is_new, self.clear_begins, self.target_changes, walker.busy)
        m.d.sync += [
            busy.eq(Cat(self.control_valid, *effects).any()),
            self.control_valid.eq(control_accept),
            self.control.eq(self.i.payload),
        ]
        self._set_state(m, state_is_new)
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

    def _set_state(self, m, state_is_new):
        """A draw state takes effect. It comes from a register: an enable reaches all of it."""
        m.submodules.previous = previous = TargetMatch()
        state_valid = self.control_valid & (self.control.kind == Kind.STATE)
        m.d.comb += [
            previous.state.eq(self.state),
            previous.remember.eq(state_is_new),
        ]
        m.d.sync += [
            state_is_new.eq(state_valid),
            self.target_changes.eq(state_is_new & ~(previous.remembered & previous.equal)),
        ]
        with m.If(state_valid):
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
