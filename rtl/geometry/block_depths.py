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
from fixfunc.spec.payloads import FLOAT_DEPTH

MANTISSA = 23  # bits of a float32's fraction
ONE = 127 << MANTISSA  # 1.0 as a float32,
UNORM_ONE = (1 << 32) - (1 << 8)  # and as u24.8 in units of D24


class BlockDepths(wiring.Component):
    """Depths in units that all three vertices share; one triangle a clock.

    D16 and D24 arrive so. Of D32F the unit is that of the greatest depth's last place: the others
    move down, and what leaves at the low end is cut. Denormals count as zero [fs 3.1.3]. Depths
    above 1.0, by the order of their bits, count as 1.0.

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
        floats = [Signal(FLOAT_DEPTH, name=f"float_{k}") for k in range(3)]
        for k, value in enumerate(floats):
            depth = self.triangle[f"z{k}"]
            m.d.comb += value.eq(Mux(depth > ONE, ONE, depth))
            t.enter(0, **{f"z{k}": depth, f"float_{k}": value})
        greater = Signal(8)
        greatest = Signal(8)
        t.enter(1, is_float=self.is_float)
        m.d.sync += [
            greater.eq(maximum(floats[0][MANTISSA:], floats[1][MANTISSA:])),
            greatest.eq(maximum(greater, t[1].float_2[MANTISSA:])),
            self.exponent.eq(Mux(t[2].is_float, greatest, 0)),
        ]
        for k in range(3):
            depth = t.value(f"z{k}", 2)
            unorm = Mux(depth > UNORM_ONE, UNORM_ONE, depth)
            value = t.value(f"float_{k}", 2)
            exponent = value[MANTISSA:]
            mantissa = Cat(Const(0, 8), value[:MANTISSA], 1)
            places = Signal(FLOAT_DEPTH - MANTISSA, name=f"places_{k}")
            shifted = Signal(32, name=f"shifted_{k}")
            m.d.comb += [
                places.eq(greatest - exponent),
                shifted.eq(Mux(places[5:].any() | (exponent == 0), 0, mantissa >> places[:5])),
            ]
            m.d.sync += self.z[k].eq(Mux(t[2].is_float, shifted, unorm))
        return m
