# SPDX-License-Identifier: BSD-2-Clause
"""Depths of a triangle under one exponent: block floating point."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import clamp, maximum, minimum, negated
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads

MANTISSA = 23  # bits of a float32's fraction
VERTEX_DEPTH = signed(40)  # s31.8
FAR = 127 << 32  # the greatest depth of a vertex, and less the least, in units of D24
FAR_FLOAT = 133 << MANTISSA | 0x7E0000  # the same as a float32
ONE_EXPONENT = 127  # of 1.0
FAR_PLACES = 6  # how far that of the greatest is above it


class BlockDepths(wiring.Component):
    """Depths in units that all three vertices share; one triangle a clock.

    D16 and D24 arrive so. Of D32F the unit is that of the greatest depth's last place, or of 1.0's
    if that is less: the others move down, and what leaves at the low end is cut. Denormals count as
    zero [fs 3.1.3]. Depths beyond 127 or -127, by the order of their bits, count as those.

    Members
    -------
    triangle : In(layout(TRIANGLE))
    is_float : In(1)
        Depths are of D32F. In clock 1.
    z : Out(ArrayLayout(signed(40), 3))
        s31.8 units, in clock :attr:`LATENCY`.
    exponent : Out(8)
        Of D32F: a unit is 2^(exponent - 150); else zero. As late.
    """

    LATENCY = 4  # the greater of two exponents, the greatest, the shift, the sign

    triangle: In(layout(payloads.TRIANGLE))
    is_float: In(1)
    z: Out(ArrayLayout(VERTEX_DEPTH, 3))
    exponent: Out(8)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        floats = [Signal(31, name=f"float_{k}") for k in range(3)]
        for k, value in enumerate(floats):
            depth = self.triangle[f"z{k}"]
            m.d.comb += value.eq(minimum(depth[:31], FAR_FLOAT))
            t.enter(0, **{f"z{k}": depth, f"float_{k}": value})
        greater = Signal(8)
        greatest = Signal(8)
        exponent = maximum(greater, t[1].float_2[MANTISSA:])
        t.enter(1, is_float=self.is_float)
        m.d.sync += [
            greater.eq(maximum(floats[0][MANTISSA:], floats[1][MANTISSA:])),
            greatest.eq(Mux(exponent[-1], ONE_EXPONENT, exponent)),
        ]
        t.enter(2, exponent=Mux(t[2].is_float, greatest, 0))
        m.d.comb += self.exponent.eq(t[self.LATENCY].exponent)
        for k in range(3):
            depth = t.value(f"z{k}", 2).as_signed()
            unorm = clamp(depth, -FAR, FAR)
            shifted = Signal(VERTEX_DEPTH, name=f"shifted_{k}")
            negative = depth[31] & t[2].is_float
            m.d.sync += shifted.eq(
                Mux(t[2].is_float, self._magnitude(t.value(f"float_{k}", 2), greatest), unorm)
            )
            t.enter(2, **{f"negative_{k}": negative})
            m.d.sync += self.z[k].eq(negated(shifted, t.value(f"negative_{k}", 3)))
        return m

    @staticmethod
    def _magnitude(value, unit):
        """A float32 without its sign under an exponent, u31.8."""
        exponent = value[MANTISSA:]
        mantissa = Cat(Const(0, 8 + FAR_PLACES), value[:MANTISSA], 1)
        places = unit - exponent + FAR_PLACES
        is_zero = places[6:].any() | (exponent == 0)
        return Mux(is_zero, 0, mantissa >> places[:6])
