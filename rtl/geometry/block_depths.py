# SPDX-License-Identifier: BSD-2-Clause
"""Depths of a triangle under one exponent: block floating point."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.geometry.bounds import maximum
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads

MANTISSA = 23  # bits of a float32's fraction


class BlockDepths(wiring.Component):
    """Depths in units that all three vertices share; one triangle a clock.

    D16 and D24 arrive so. Of D32F the unit is that of the greatest depth's last place: the others
    move down, and what leaves at the low end is cut. Denormals count as zero [fs 3.1.3].

    Members
    -------
    triangle : In(layout(TRIANGLE))
    is_float : In(1)
        Depths are of D32F. In clock 1.
    z : Out(ArrayLayout(32, 3))
        u24.8 units, in clock :attr:`LATENCY`.
    exponent : Out(8)
        Of D32F: a unit is 2^(exponent - 150); else zero. As late.
    """

    LATENCY = 3  # the greater of two exponents, the greatest, the shift

    triangle: In(layout(payloads.TRIANGLE))
    is_float: In(1)
    z: Out(ArrayLayout(32, 3))
    exponent: Out(8)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        depths = [self.triangle[f"z{k}"] for k in range(3)]
        exponents = [depth[MANTISSA : MANTISSA + 8] for depth in depths]
        greater = Signal(8)
        greatest = Signal(8)
        t.enter(0, **{f"z{k}": depth for k, depth in enumerate(depths)})
        t.enter(1, is_float=self.is_float)
        m.d.sync += [
            greater.eq(maximum(exponents[0], exponents[1])),
            greatest.eq(maximum(greater, t[1].z2[MANTISSA : MANTISSA + 8])),
            self.exponent.eq(Mux(t[2].is_float, greatest, 0)),
        ]
        for k in range(3):
            depth = t.value(f"z{k}", 2)
            exponent = depth[MANTISSA : MANTISSA + 8]
            mantissa = Cat(Const(0, 8), depth[:MANTISSA], 1)
            places = Signal(8, name=f"places_{k}")
            shifted = Signal(32, name=f"shifted_{k}")
            m.d.comb += [
                places.eq(greatest - exponent),
                shifted.eq(Mux(places[5:].any() | (exponent == 0), 0, mantissa >> places[:5])),
            ]
            m.d.sync += self.z[k].eq(Mux(t[2].is_float, shifted, depth))
        return m
