# SPDX-License-Identifier: BSD-2-Clause
"""Attributes: their corners under one exponent, and what lies between."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import maximum, named
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.float32.rounding import normalised, rounded
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.pixel.interpolator.weights import FRACTION, WEIGHTS

MANTISSA = FLOAT32.mantissa
FIRST = MANTISSA + 1  # bits of the first corner
STEP = MANTISSA + 2  # of a difference of corners
TOTAL = 53  # of a value, under its exponents
# A component of a triangle. As it is: ``first`` and ``second`` are the bits of the first corner.
CORNERS = StructLayout(
    {
        "first": signed(FIRST),
        "second": signed(STEP),
        "third": signed(STEP),
        "exponent": 8,
        "special": 1,  # a corner is not finite
        "constant": 1,
    }
)


class Align(wiring.Component):
    """Corners of a component under the greatest exponent of the three; free-running.

    Members
    -------
    corner0, corner1, corner2 : In(32)
        float32; denormals are zeros.
    constant : In(1)
        The first one, as it is.
    o : Out(CORNERS)
        :attr:`LATENCY` clocks later: the first, and differences of the others from it, in units of
        2^(exponent - 150), the nearest.
    """

    LATENCY = 4

    def __init__(self) -> None:
        super().__init__(
            {
                **{f"corner{n}": In(32) for n in range(3)},
                "constant": In(1),
                "o": Out(CORNERS),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        corners = [self.corner0, self.corner1, self.corner2]
        exponents = [FLOAT32.exponent_of(corner) for corner in corners]
        top = Signal(8)
        m.d.sync += top.eq(maximum(maximum(*exponents[:2]), exponents[2]))
        t.enter(0, constant=self.constant, first=self.corner0)
        t.enter(1, top=top)
        aligned = []
        for n, corner in enumerate(corners):
            t.enter(0, **{f"corner{n}": corner})
            now = getattr(t[1], f"corner{n}")
            down = named(m, top - FLOAT32.exponent_of(now), f"down_{n}")
            distance = register(m, Mux(down[5:].any(), 31, down[:5]), 5, f"distance_{n}")
            now = getattr(t[2], f"corner{n}")
            doubled = Cat(Const(0, 1), FLOAT32.mantissa_of(now)) >> distance
            magnitude = named(m, doubled + 1 >> 1, f"magnitude_{n}")
            value = Signal(signed(FIRST), name=f"aligned_{n}")
            m.d.sync += value.eq(Mux(FLOAT32.sign_of(now), -magnitude, magnitude))
            aligned.append(value)
        now = t[3]
        out = self.o
        m.d.sync += [
            out.first.eq(aligned[0]),
            out.second.eq(aligned[1] - aligned[0]),
            out.third.eq(aligned[2] - aligned[0]),
            out.exponent.eq(now.top),
            out.special.eq(now.top == FLOAT32.top),
            out.constant.eq(now.constant),
        ]
        first = now.first
        with m.If(now.constant):
            m.d.sync += Cat(out.first, out.second).eq(first)
        return m


class Between(wiring.Component):
    """A component at a pixel: the first corner and weighted differences, exact, rounded once.

    One a clock, free-running.

    Members
    -------
    corners : In(CORNERS)
    weights : In(WEIGHTS)
    o : Out(32)
        float32, :attr:`LATENCY` clocks later.
    """

    LATENCY = 7

    def __init__(self) -> None:
        super().__init__({"corners": In(CORNERS), "weights": In(WEIGHTS), "o": Out(32)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        half = STEP // 2
        corners, weights = self.corners, self.weights
        t.enter(
            0,
            first=corners.first,
            exponent=corners.exponent,
            special=corners.special,
            constant=corners.constant,
            as_it_is=Cat(corners.first, corners.second)[:32],
            up=weights.exponent,
        )
        parts = []
        for name, weight in (("second", weights.u), ("third", weights.v)):
            step = corners[name]
            for part, factor in (("low", step[:half]), ("high", step[half:].as_signed())):
                product = Signal(signed(len(weight) + half + 1), name=f"{name}_{part}")
                m.d.sync += product.eq(weight * factor)
                parts.append(product)
        low = Signal(signed(len(parts[0]) + 1))
        high = Signal(signed(len(parts[1]) + 1))
        base = Signal(signed(FIRST + FRACTION))
        m.d.sync += [
            low.eq(parts[0] + parts[2]),
            high.eq(parts[1] + parts[3]),
            base.eq((t[1].first << FRACTION) >> t[1].up),
        ]
        total = Signal(signed(TOTAL))
        m.d.sync += total.eq(base + low + (high << half))
        t.enter(3, total=total)
        self._round(m, t)
        return m

    def _round(self, m, t):
        """The nearest float32, ties to even; what is no number, and what is as it is."""
        negative = t[3].total < 0
        t.enter(3, negative=negative)
        # Half by half, so that a carry has half of the way in a clock.
        half = TOTAL // 2
        turned = named(m, t[3].total ^ negative.replicate(TOTAL), "turned")
        low = register(m, turned[:half] + negative, half + 1, "low_turned")
        high = register(m, turned[half:], TOTAL - half, "high_turned")
        magnitude = register(m, Cat(low[:half], high + low[half]), TOTAL - 1, "magnitude")
        shifted, zeros = normalised(m, magnitude, "total")
        cut = TOTAL - 1 - MANTISSA - 1
        bits = Signal(MANTISSA + 1)
        sticky = Signal()
        exponent = Signal(signed(11))
        nothing = Signal()
        m.d.sync += [
            bits.eq(shifted[cut:]),
            sticky.eq(shifted[:cut].any()),
            exponent.eq(t[5].exponent + t[5].up + (TOTAL - 2 - FRACTION - 23) - zeros),
            nothing.eq(magnitude == 0),
        ]
        value = rounded(m, FLOAT32, t[6].negative, exponent, bits, sticky)
        found = Mux(t[6].special, FLOAT32.nan, Mux(nothing, 0, value))
        m.d.sync += self.o.eq(Mux(t[6].constant, t[6].as_it_is, found))
