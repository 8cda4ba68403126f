# SPDX-License-Identifier: BSD-2-Clause
"""Plane states: what each colour plane of a target has for itself of a draw state."""

from collections.abc import Sequence

from amaranth.hdl import Module, Mux, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.data import View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated
from fixfunc.rtl.memory.surface.state_check import blending_known, needs_second
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.colours import BASE_FORMATS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Kind


class PlaneStates(wiring.Component):
    """Keep the format, the blending and the channels of each colour plane.

    A draw state is of one plane, its ``slot``. That of the first plane begins all of them: the
    others are not written until each has had a state of its own. What planes have in common is as
    the last draw state says. A state whose format or blending is not known writes nothing to its
    plane, and no plane is written as long as it is the last one. Where the first plane is blended
    with a second colour, no other one is written [fs 17.6].

    Parameters
    ----------
    planes : int
        Colour planes of a target.
    formats : sequence of Format
        What planes may be.
    second : bool
        Shaders may give a second colour for the first plane.
    floats : bool
        Planes of floats are blended.

    Members
    -------
    new : In(layout(payloads.DRAW_STATE))
    new_valid : In(1)
        ``new`` is in force from the next clock on.
    state : In(layout(payloads.DRAW_STATE))
        The last draw state in force, of whatever plane.
    states_<n> : Out(layout(payloads.DRAW_STATE))
        The draw state of a plane.
    """

    def __init__(
        self,
        planes: int,
        formats: Sequence[Format] = BASE_FORMATS,
        second: bool = False,
        floats: bool = False,
    ) -> None:
        self._floats = floats
        self._planes = planes
        self._second = second
        self._formats = formats
        state = layout(payloads.DRAW_STATE)
        super().__init__(
            {"new": In(state), "new_valid": In(1), "state": In(state)}
            | {f"states_{n}": Out(state) for n in range(planes)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        new = self.new
        known = blending_known(new, self._formats, self._second, self._planes, self._floats)
        written = Mux(known, new.colour_write, 0)
        others = written
        if self._second:
            others = gated(written, ~takes_both(m, new, self.new_valid, known))
        for n in range(self._planes):
            own = {
                name: Signal.like(new[name], name=f"{name}_{n}") for name in payloads.PLANE_STATE
            }
            with m.If(self.new_valid):
                with m.If(new.slot == n):
                    m.d.sync += [value.eq(new[name]) for name, value in own.items()]
                    m.d.sync += own["colour_write"].eq(others if n else written)
                with m.Elif(new.slot == 0):
                    m.d.sync += own["colour_write"].eq(0)
            state = getattr(self, f"states_{n}")
            m.d.comb += state.eq(self.state)
            m.d.comb += [state[name].eq(value) for name, value in own.items()]
        return m


def takes_both(m: Module, new: View, new_valid: Value, known: Value) -> Signal:
    """The first plane is blended with a shader's second colour, as its last state says."""
    both = Signal()
    with m.If(new_valid & (new.slot == 0)):
        m.d.sync += both.eq(known & needs_second(new))
    return both


def plane_states(
    m: Module,
    front: wiring.Component,
    count: int,
    formats: Sequence[Format] = BASE_FORMATS,
    second: bool = False,
    floats: bool = False,
) -> list[View]:
    """The draw states of colour planes behind a front; of one plane that of the front."""
    if count == 1:
        return [front.state]
    m.submodules.states = states = PlaneStates(count, formats, second, floats)
    m.d.comb += [
        states.new.eq(front.control.draw_state),
        states.new_valid.eq(front.control_valid & (front.control.kind == Kind.STATE)),
        states.state.eq(front.state),
    ]
    return [getattr(states, f"states_{n}") for n in range(count)]


def planes_begun(m: Module, front: wiring.Component, count: int) -> list[ValueLike]:
    """For each colour plane, whether a clear of all of that plane has begun it on this target.

    It is always 1 for the first plane, without which there is no target.
    """
    if count == 1:
        return [1]
    begun = Signal(count)
    with m.If(front.clear_begins & front.covers_target):
        with m.If(front.clear.slot != 0):
            m.d.sync += begun.bit_select(front.clear.slot, 1).eq(1)
        with m.Elif(~front.legal):  # another target than before
            m.d.sync += begun.eq(0)
    return [1, *begun[1:]]
