# SPDX-License-Identifier: BSD-2-Clause
"""Depth bias of a triangle."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.bits import clamp, gated
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.state import DepthFormat

BIAS = 42  # bits of s33.8: any constant, and far more than any range
UNORM_BIAS = 41  # bits of s32.8: enough to take any plane out of the range of D16 and D24
UNIT = 8  # fraction bits
D24_MAX = (1 << 24) - 1
STEEP = 1 << 31  # what the slope of a steep triangle counts as


def bias_bits(formats: tuple) -> int:
    """Bits of a bias that a unit of these formats needs."""
    return BIAS if DepthFormat.D32F in formats else UNORM_BIAS


class FloatScale(wiring.Component):
    """A number times a float32, rounded half up and cut to s33.8; one a clock.

    Members
    -------
    value : In(32)
        In 2^-8.
    scale : In(32)
        Bits of a finite float32.
    unit : In(8)
        Its mantissa counts 2^(exponent - unit): 150 makes it the float's own value.
    o : Out(signed(BIAS))
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 9  # mantissa, four of the product, two of shifting, rounding, cutting

    def __init__(self) -> None:
        super().__init__({"value": In(32), "scale": In(32), "unit": In(8), "o": Out(signed(BIAS))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.product = product = Multiplier(33, 25)
        fraction = self.scale[:23]
        exponent = self.scale[23:31]
        sign = self.scale[31]
        t = Timeline(m)
        mantissa = Signal(signed(25))
        value = Signal(32)
        places = Signal(signed(10))
        unsigned = Cat(fraction, exponent != 0)
        m.d.sync += [
            mantissa.eq(Mux(sign, -unsigned, unsigned)),
            value.eq(self.value),
            places.eq(self.unit + BIAS - Mux(exponent == 0, 1, exponent)),
        ]
        m.d.comb += [
            product.a.eq(value),
            product.b.eq(mantissa),
        ]

        # Shifted to the left as far as a result may lie, then to the right with one more bit, which
        # rounds; from 128 places on the result is zero.
        t.enter(1, places=places)
        multiplied = t[1 + product.latency]
        widest = Signal(signed(len(product.o) + BIAS + 1))
        coarse = Signal.like(widest)
        fine = Signal.like(widest)
        fine_places = Signal(3)
        out_of_range = Signal()
        negative = Signal()
        places = multiplied.places
        m.d.comb += widest.eq(product.o << BIAS + 1)
        m.d.sync += [
            coarse.eq(gated(widest >> (places[3:7] << 3), ~places[7:9].any())),
            fine_places.eq(places[:3]),
            out_of_range.eq((places < 0) & (product.o != 0)),
            negative.eq(product.o < 0),
            fine.eq(coarse >> fine_places),
        ]
        # The bits that the result has are rounded; those above tell, beside it, whether it fits.
        most = (1 << BIAS - 1) - 1
        rounded = Signal(signed(BIAS + 1))
        fits = Signal()
        fine_negative = Signal()
        above = fine[BIAS:]
        m.d.sync += [
            rounded.eq((fine[: BIAS + 1].as_signed() + 1) >> 1),
            fits.eq(above.all() | ~above.any()),
            fine_negative.eq(fine < 0),
        ]
        t.enter(2 + product.latency, out_of_range=out_of_range, negative=negative)
        end = t[self.LATENCY - 1]
        is_negative = Mux(end.out_of_range, end.negative, fine_negative)
        with m.If(end.out_of_range | ~fits | (rounded > most)):
            m.d.sync += self.o.eq(Mux(is_negative, -most - 1, most))
        with m.Else():
            m.d.sync += self.o.eq(rounded)
        return m


class DepthBias(wiring.Component):
    """Constant steps of the format, and the slope times a factor, cut by a limit; one triangle a
    clock.

    Parameters
    ----------
    bits : int
        Of ``o``.

    Members
    -------
    form, constant, slope, clamp : In
        Of the draw state: the form holds while triangles of the draw are under way, and for
        :attr:`LATENCY` clocks before; the constant is of clock :attr:`CONSTANT`, the others are of
        clock :attr:`SCALE`.
    dx, dy, steep, exponent : In
        As in :func:`fixfunc.spec.payloads.tile`.
    o : Out(signed(bits))
        In 2^-8 units, :attr:`LATENCY` clocks later.
    """

    SCALE = 2  # magnitudes, the greater one; then it is scaled
    CONSTANT = SCALE + FloatScale.LATENCY - 2
    # Then: sum, comparison with the limit, cut to it, cut to the range.
    LATENCY = SCALE + FloatScale.LATENCY + 4

    def __init__(self, bits: int = BIAS) -> None:
        super().__init__(
            {
                "form": In(2),
                "constant": In(signed(32)),
                "slope": In(32),
                "clamp": In(32),
                "dx": In(signed(44)),
                "dy": In(signed(44)),
                "steep": In(1),
                "exponent": In(8),
                "o": Out(signed(bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.by_slope = by_slope = FloatScale()
        m.submodules.limit = limit = FloatScale()
        t = Timeline(m)
        t.enter(0, steep=self.steep, exponent=self.exponent)
        is_float = self.form == DepthFormat.D32F

        # The greater slope a pixel. One that is steep is known modulo its range alone.
        magnitudes = [Signal(32, name=f"magnitude_{axis}") for axis in "xy"]
        for magnitude, step in zip(magnitudes, (self.dx, self.dy), strict=True):
            m.d.sync += magnitude.eq(abs(step[:32].as_signed()))
        greater = Signal(32)
        m.d.sync += greater.eq(
            Mux(t[1].steep, STEEP, Mux(magnitudes[0] > magnitudes[1], *magnitudes))
        )
        # A limit counts whole units: of D32F those of the triangle, of others 1.0 in D24's.
        m.d.comb += [
            by_slope.value.eq(greater),
            by_slope.scale.eq(self.slope),
            by_slope.unit.eq(150),
            limit.value.eq(Mux(is_float, 1, D24_MAX) << UNIT),
            limit.scale.eq(self.clamp),
            limit.unit.eq(Mux(is_float, t[self.SCALE].exponent, 150)),
        ]

        # Constant steps, cut where a slope no longer changes what the range cuts: D16's alone.
        most_steps = (1 << BIAS + 1) - 1
        steps = Signal(signed(50))
        clamped_steps = Signal(signed(BIAS + 2))
        is_16 = self.form == DepthFormat.D16
        m.d.sync += [
            steps.eq(Mux(is_16, (self.constant << 16) + self.constant, self.constant << UNIT)),
            clamped_steps.eq(clamp(steps, -most_steps - 1, most_steps)),
        ]

        scaled = self.SCALE + FloatScale.LATENCY
        total = Signal(signed(BIAS + 3))
        cut = Signal(signed(BIAS + 3))
        over = Signal()
        m.d.sync += total.eq(clamped_steps + by_slope.o)
        t.enter(scaled, limit=limit.o)
        t.enter(scaled + 1, total=total)
        least = t[scaled + 1].limit
        m.d.sync += [
            over.eq(Mux(least < 0, total < least, (least > 0) & (total > least))),
            cut.eq(Mux(over, t[scaled + 2].limit, t[scaled + 2].total)),
        ]
        most = (1 << len(self.o) - 1) - 1
        m.d.sync += self.o.eq(clamp(cut, -most - 1, most))
        return m
