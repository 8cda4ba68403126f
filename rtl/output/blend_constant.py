# SPDX-License-Identifier: BSD-2-Clause
"""Blend constant of colour planes."""

from collections.abc import Iterable

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import pick
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.float32.unorm import ToUnorm
from fixfunc.rtl.output.plane_formats import PlaneFormats
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind

FLOATS = ArrayLayout(32, 4)


class ConstantSteps(wiring.Component):
    """The blend constant as a plane's format has a shader's channels: in steps; free-running.

    Of sRGB it is linear light.

    Parameters
    ----------
    formats : PlaneFormats

    Members
    -------
    i : In(ArrayLayout(32, 4))
        Red, green, blue, alpha: float32.
    widths : In(ArrayLayout(len(formats.units), 4))
        Which of ``formats.units`` each channel has; with ``i``. Not read if there is one.
    is_signed : In(1)
        The format is SNORM; with ``i``.
    o : Out(ArrayLayout(formats.value_shape, 4))
        :attr:`LATENCY` clocks later.
    """

    LATENCY = ToUnorm.LATENCY

    def __init__(self, formats: PlaneFormats) -> None:
        self._formats = formats
        super().__init__(
            {
                "i": In(FLOATS),
                "widths": In(ArrayLayout(len(formats.units), 4)),
                "is_signed": In(1),
                "o": Out(ArrayLayout(formats.value_shape, 4)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        units, has_sign = self._formats.units, self._formats.has_sign
        for channel in range(4):
            unorm = ToUnorm(*units, with_sign=has_sign)
            m.submodules[f"unorm_{channel}"] = unorm
            m.d.comb += unorm.a.eq(self.i[channel])
            if has_sign:
                m.d.comb += unorm.is_signed.eq(self.is_signed)
            if len(units) == 1:
                ((_, fraction),) = units
                whole = unorm.o << fraction
            else:
                m.d.comb += unorm.unit.eq(self.widths[channel])
                width = delay(m, self.widths[channel], self.LATENCY, f"widths_{channel}")
                whole = pick(width, [unorm.o << fraction for _, fraction in units])
            m.d.comb += self.o[channel].eq(whole + unorm.fraction)
        return m


def hold_constant(m: Module, front: wiring.Component, slots: Iterable[wiring.Component]) -> None:
    """Slots are given the constant that control beats bring, from the next clock on: ones at first.

    Such a beat has waited until tiles have drained, so no tile is under way that it changes. Lanes
    have it in steps two clocks later, before the next tile comes to them.
    """
    held = Signal(FLOATS, name="blend_constant", init=[FLOAT32.one] * 4)
    clear = front.control.clear
    with m.If(front.control_valid & (front.control.kind == Kind.CLEAR) & clear.constant):
        m.d.sync += [
            channel.eq(clear[field.name])
            for channel, field in zip(held, payloads.BLEND_CONSTANT, strict=True)
        ]
    m.d.comb += [slot.constants.eq(held) for slot in slots]
