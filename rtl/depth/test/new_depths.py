# SPDX-License-Identifier: BSD-2-Clause
"""New depths: what a tile brings to its test, of its plane or of its shader."""

from typing import Any

from amaranth.hdl import Array, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.test.bias import DepthBias, bias_bits
from fixfunc.rtl.depth.test.sample_depths import MOST, SampleDepths
from fixfunc.rtl.lib.delay import DelayLine
from fixfunc.rtl.lib.timeline import HeldTimeline
from fixfunc.rtl.memory.surface.state_queue import SPACING
from fixfunc.rtl.payload import layout
from fixfunc.rtl.raster.addends import Addends
from fixfunc.spec import payloads
from fixfunc.spec.state import DepthFormat

PLANE = StructLayout({"z0": 40, "dx": 44, "dy": 44, "exponent": 8})


def test_clock(params: Any) -> int:
    """Clocks from a tile to its test: bias, depths, and what a clear puts in their place."""
    return DepthBias.LATENCY - Addends.latency(params) - 1 + SampleDepths.latency(params) + 1


class NewDepths(wiring.Component):
    """Depths of a tile's samples, biased and cut to the range of the state. One tile a clock.

    Parameters
    ----------
    params : DepthTestParams

    Members
    -------
    state : In(layout(payloads.DRAW_STATE))
        That of ``tile``; its target's fields hold while tiles are in flight.
    state_changes : In(1)
    tile : In(layout(payloads.tile(params.edge)))
    shader : In
        Depths that replace those of the plane. Only with ``params.shader_depths``.
    o : Out(ArrayLayout(32, edge**2))
        One clock before :func:`test_clock`.
    exact : Out(edge**2)
        The plane gives these depths as they are stored. As late.
    bias : Out(signed(bias_bits(params.formats)))
        :attr:`DepthBias.LATENCY` clocks later.
    """

    def __init__(self, params: Any) -> None:
        self._params = params
        lanes = params.edge**2
        members = {
            "state": In(layout(payloads.DRAW_STATE)),
            "state_changes": In(1),
            "tile": In(layout(payloads.tile(params.edge))),
            "o": Out(ArrayLayout(32, lanes)),
            "exact": Out(lanes),
            "bias": Out(signed(bias_bits(params.formats))),
        }
        if params.shader_depths:
            depths = ArrayLayout(params.depth_bits, lanes)
            members["shader"] = In(StructLayout({"replaces": 1, "depths": depths}))
        super().__init__(members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        state = self.state
        states = HeldTimeline(m, state, self.state_changes, SPACING)
        cut = test_clock(p) - 2
        m.submodules.depth_bias = bias = DepthBias(bias_bits(p.formats))
        m.submodules.depths = depths = SampleDepths(p)
        one = Array(MOST[form] for form in DepthFormat)[state.depth_format]
        most = Signal(32)
        depth_max = states[cut - 1].depth_max
        m.d.sync += most.eq(Mux(depth_max < one, depth_max, one))
        m.d.comb += [
            bias.form.eq(state.depth_format),
            bias.constant.eq(states[DepthBias.CONSTANT].bias_constant),
            bias.slope.eq(states[DepthBias.SCALE].bias_slope),
            bias.clamp.eq(states[DepthBias.SCALE].bias_clamp),
            *(
                getattr(bias, name).eq(self.tile[name])
                for name in ("dx", "dy", "steep", "exponent")
            ),
            depths.samples.eq(state.samples),
            depths.form.eq(state.depth_format),
            depths.least.eq(states[cut].depth_min),
            depths.most.eq(most),
            depths.bias.eq(bias.o),
            self.bias.eq(bias.o),
            self.exact.eq(depths.exact),
        ]
        m.submodules.planes = planes = DelayLine(
            PLANE.size, DepthBias.LATENCY - Addends.latency(p) - 1
        )
        for name in PLANE.members:
            m.d.comb += [
                PLANE(planes.i)[name].eq(self.tile[name]),
                getattr(depths, name).eq(PLANE(planes.o)[name]),
            ]
        if p.shader_depths:
            shape = self.shader.shape()
            m.submodules.shader_depths = line = DelayLine(shape.size, test_clock(p) - 1)
            replaced = shape(line.o)
            m.d.comb += [
                line.i.eq(self.shader),
                depths.replace.eq(replaced.replaces),
            ]
            for n in range(p.edge**2):
                m.d.comb += depths.replacements[n].eq(replaced.depths[n])
        m.d.comb += self.o.eq(depths.o)
        return m
