# SPDX-License-Identifier: BSD-2-Clause
"""Blend constant of planes of bytes."""

from collections.abc import Iterable

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.float32.unorm import ToUnorm
from fixfunc.rtl.output.byte_blender import BYTE
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind


class BlendConstant(wiring.Component):
    """Hold the blend constant in steps of a shader's channels, to which it is cut.

    It takes effect three clocks after its beat: the beat has waited until tiles have drained, and
    the next tile comes to a lane later than that.

    Members
    -------
    valid, clear : In(1), In(layout(payloads.CLEAR))
        A clear is executed; it may say that another constant holds from here on.
    o : Out(ArrayLayout(2 * BYTE, 4))
        Red, green, blue, alpha.
    """

    def __init__(self) -> None:
        super().__init__(
            {
                "valid": In(1),
                "clear": In(layout(payloads.CLEAR)),
                "o": Out(ArrayLayout(2 * BYTE, 4)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for n, field in enumerate(payloads.BLEND_CONSTANT):
            value = Signal(32, name=field.name)
            m.submodules[f"unorm_{n}"] = unorm = ToUnorm((BYTE, BYTE))
            with m.If(self.valid & self.clear.constant):
                m.d.sync += value.eq(self.clear[field.name])
            m.d.comb += [
                unorm.a.eq(value),
                self.o[n].eq(Cat(unorm.fraction, (unorm.o - unorm.fraction[-1])[:BYTE])),
            ]
        return m


def hold_constant(m: Module, front: wiring.Component, slots: Iterable[wiring.Component]) -> None:
    """Slots of planes of bytes are given the constant that control beats bring."""
    m.submodules.constant = constant = BlendConstant()
    m.d.comb += [
        constant.valid.eq(front.control_valid & (front.control.kind == Kind.CLEAR)),
        constant.clear.eq(front.control.clear),
        *(slot.constants.eq(constant.o) for slot in slots),
    ]
