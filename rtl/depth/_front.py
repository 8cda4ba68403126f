# SPDX-License-Identifier: BSD-2-Clause
"""Order of tiles, draw states, clears and fences before the depth test."""

from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._rectangle import RECTANGLE, Walker
from fixfunc.rtl.depth._samples import MOST
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind


class Front(wiring.Component):
    """Let tiles through; hold everything else back until the tiles before it have been tested.

    A clear becomes tiles. Nothing here waits for a draw state that changes: it holds as long as tiles are under way.

    Parameters
    ----------
    params : DepthTestParams
    under_way : int
        Clocks that a tile is under way.
    keeps : bool
        What lies in planes is kept: nothing of a target is legal before all of all of them has been cleared at once.
    planes : tuple of str
        What clears are heeded for: depth, stencil, colour.

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
    go, waits, idle : In(1)
        There is room for a beat; a tile that is offered must wait; nothing is out for shading, which must be in before
        anything but tiles passes.
    back, late, late_tile : In
        A tile that comes back is offered, and no other enters; it is let through in this clock.
    state : Out(layout(payloads.DRAW_STATE))
    legal : Out(1)
        The unit can obey it.
    clear : Out(layout(payloads.CLEAR))
        The last one, cut to the target.
    valid, clearing, is_late, tile : Out
        A tile, to be tested, or to be cleared; one that has come back.
    open, enters : Out(1)
        A tile may come back; the one that is offered enters.
    control, beat : Out
        A beat to be passed on.
    walk : In(1)
        The clear must visit its tiles.
    steps : In(1)
        There is room for the next of them.
    once, whole : In, Out(1)
        A clear of all of the target visits its last tile alone; the clear is one.
    clears, switches : Out(1)
        The clear counts from now on; the draw state has another target than the one before.
    error : Out(1)
        Tiles were refused, or a clear, because of what a beat asked for.
    """

    def __init__(self, params, under_way, keeps=False, planes=("depth", "stencil")):
        self._params, self._under_way, self._keeps, self._planes = params, under_way, keeps, planes
        self._tile = layout(payloads.tile(params.edge))
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        super().__init__({
            "i": In(stream.Signature(shape)), "go": In(1), "waits": In(1), "idle": In(1, init=1),
            "back": In(1), "late": In(1), "late_tile": In(self._tile),
            "state": Out(layout(payloads.DRAW_STATE)), "legal": Out(1), "clear": Out(layout(payloads.CLEAR)),
            "open": Out(1), "enters": Out(1), "valid": Out(1), "clearing": Out(1), "is_late": Out(1), "tile": Out(self._tile),
            "control": Out(1), "beat": Out(shape), "error": Out(1), "walk": In(1), "steps": In(1, init=1), "once": In(1), "whole": Out(1),
            "clears": Out(1), "switches": Out(1),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.walker = walker = Walker(self._params.edge)
        given, kind = self.i.payload, self.i.payload.kind

        # Quiet a fixed time after the last tile: what is under way never stalls.
        rest, quiet, walks, taken, follows, held = Signal(range(self._under_way + 1)), Signal(init=1), Signal(), Signal(), Signal(), Signal()
        m.d.sync += [rest.eq(Mux(taken, self._under_way, Mux(rest == 0, 0, rest - 1))), quiet.eq((rest == 0) & ~taken)]
        work, free = kind == Kind.WORK, self.open & ~self.back
        tests, passes = self.i.valid & free & work & ~self.waits, self.i.valid & free & ~work & quiet & self.idle
        m.d.sync += held.eq(Cat(self.control, follows, walks, self.clears, self.switches, walker.busy).any())
        m.d.comb += [self.open.eq(self.go & ~self.control & ~held),
                     self.enters.eq(tests), taken.eq(tests | self.late | walks | self.clears | walker.busy),
                     self.i.ready.eq(free & Mux(work, ~self.waits, quiet & self.idle))]
        m.d.sync += [self.control.eq(passes), self.beat.eq(given)]

        # The state in force, and whether it can be obeyed: from a register, since an enable reaches all of it.
        state, first, names = self.state, Signal(init=1), ("target", "target_width", "target_height", "samples", "depth_format")
        before = [Signal.like(state[name], name=f"before_{name}") for name in names]
        other = Cat(state[name] != old for name, old in zip(names, before, strict=True)).any()
        m.d.sync += [follows.eq(0), self.switches.eq(follows & (first | other))]
        with m.If(self.control & (self.beat.kind == Kind.STATE)):
            m.d.sync += [state.eq(self.beat.draw_state), follows.eq(1), *(old.eq(state[name]) for name, old in zip(names, before, strict=True))]
        with m.If(follows):
            m.d.sync += first.eq(0)
        one = Array(MOST.get(form, 0) for form in range(4))[state.depth_format]
        known = Array(form in self._params.formats for form in range(4))[state.depth_format]
        finite = ~(state.bias_slope[23:31].all() | state.bias_clamp[23:31].all())
        stencil = ~state.stencil_test if not self._params.stencil else 1
        mode = Array(mode in self._params.modes for mode in range(4))[state.samples]
        obeyed = Signal()
        m.d.sync += obeyed.eq(known & (state.depth_min <= state.depth_max) & (state.depth_min <= one) & finite & stencil & mode)

        # A clear, cut to the target, walks over its tiles.
        clears, cleared = self.beat.clear, self.control & (self.beat.kind == Kind.CLEAR)
        with m.If(cleared):
            m.d.sync += [self.clear.eq(clears), self.clear.x1.eq(Mux(clears.x1 < state.target_width, clears.x1, state.target_width)),
                         self.clear.y1.eq(Mux(clears.y1 < state.target_height, clears.y1, state.target_height))]
        clear = self.clear
        whole = (clear.x0 == 0) & (clear.y0 == 0) & (clear.x1 == state.target_width) & (clear.y1 == state.target_height)
        touches = Cat(clear[plane] for plane in self._planes).any()
        too_far = clear.depth & (clear.depth_value > one) if "depth" in self._planes else 0
        allowed = obeyed & ~too_far & self._kept(m, obeyed, names)
        m.d.sync += [walks.eq(cleared), self.clears.eq(walks & touches & allowed)]
        m.d.comb += [self.whole.eq(whole), walker.start.eq(self.clears & self.walk), walker.samples.eq(state.samples), walker.steps.eq(self.steps)]
        once = self.once & whole
        m.d.comb += [walker.rectangle[name].eq(Mux(once, clear[name.replace("0", "1")] - 1, clear[name]) if "0" in name else clear[name])
                     for name in RECTANGLE.members]

        visits = walker.busy & self.steps
        m.d.sync += [self.valid.eq(tests | self.late | visits), self.clearing.eq(visits), self.is_late.eq(self.late),
                     self.tile.eq(Mux(self.back, self.late_tile, given.tile)),
                     self.error.eq((self.valid & ~self.clearing & ~self.legal) | (walks & touches & ~allowed))]
        with m.If(walker.busy):
            m.d.sync += [self.tile.x.eq(walker.x), self.tile.y.eq(walker.y)]
        return m

    def _kept(self, m, obeyed, names):
        """What is legal; returns whether a clear is, of what is kept."""
        if not self._keeps:
            m.d.comb += self.legal.eq(obeyed)
            return 1
        state, clear, some = self.state, self.clear, Signal()
        kept = [Signal.like(state[name], name=f"kept_{name}") for name in names]
        same, wanted = Signal(), (plane for plane in self._planes if plane != "stencil" or self._params.stencil)
        all_of_it = self.whole & Cat(clear[plane] for plane in wanted).all()
        m.d.sync += same.eq(some & Cat(state[name] == old for name, old in zip(names, kept, strict=True)).all())
        with m.If(self.clears & all_of_it):
            m.d.sync += [some.eq(1), *(old.eq(state[name]) for name, old in zip(names, kept, strict=True))]
        m.d.comb += self.legal.eq(obeyed & same)
        return same | all_of_it

    def report(self, m, out, outside):
        """Let fences that go ``out`` tell of errors since the last one: those here, and tiles ``outside`` the target."""
        error = Signal(2)
        m.d.sync += error.eq(error | Cat(self.error, outside))
        with m.If(self.control & (self.beat.kind == Kind.FENCE)):
            m.d.comb += out.fence.error.eq(self.beat.fence.error | error)
            m.d.sync += error.eq(0)
