# SPDX-License-Identifier: BSD-2-Clause
"""Plane states: what each colour plane of a target has for itself of a draw state."""

from collections.abc import Sequence

from amaranth.hdl import Module, Mux, Signal, ValueLike
from amaranth.lib import wiring
from amaranth.lib.data import View
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.memory.surface.state_check import blending_known
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
    plane, and no plane is written as long as it is the last one.

    Parameters
    ----------
    planes : int
        Colour planes of a target.
    formats : sequence of Format
        What planes may be.

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

    def __init__(self, planes: int, formats: Sequence[Format] = BASE_FORMATS) -> None:
        self._planes = planes
        self._formats = formats
        state = layout(payloads.DRAW_STATE)
        super().__init__(
            {"new": In(state), "new_valid": In(1), "state": In(state)}
            | {f"states_{n}": Out(state) for n in range(planes)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        new = self.new
        written = Mux(blending_known(new, self._formats), new.colour_write, 0)
        for n in range(self._planes):
            own = {
                name: Signal.like(new[name], name=f"{name}_{n}") for name in payloads.PLANE_STATE
            }
            with m.If(self.new_valid):
                with m.If(new.slot == n):
                    m.d.sync += [value.eq(new[name]) for name, value in own.items()]
                    m.d.sync += own["colour_write"].eq(written)
                with m.Elif(new.slot == 0):
                    m.d.sync += own["colour_write"].eq(0)
            state = getattr(self, f"states_{n}")
            m.d.comb += state.eq(self.state)
            m.d.comb += [state[name].eq(value) for name, value in own.items()]
        return m


def plane_states(
    m: Module, front: wiring.Component, count: int, formats: Sequence[Format] = BASE_FORMATS
) -> list[View]:
    """The draw states of colour planes behind a front; of one plane that of the front."""
    if count == 1:
        return [front.state]
    m.submodules.states = states = PlaneStates(count, formats)
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
