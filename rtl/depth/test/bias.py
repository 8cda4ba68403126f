# SPDX-License-Identifier: BSD-2-Clause
"""Depth bias of a triangle."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.bits import leading_zeros
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.spec.state import DepthFormat

BIAS = 34  # bits of s25.8: enough to take any depth out of the range
UNIT = 8  # fraction bits
D24_MAX = (1 << 24) - 1


class FloatScale(wiring.Component):
    """A number times a float32, rounded half up and cut to s25.8; one a clock.

    Members
    -------
    value : In(32)
        In 2^-8.
    scale : In(32)
        Bits of a finite float32.
    o : Out(signed(BIAS))
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 9  # mantissa, four of the product, two of shifting, rounding, cutting

    def __init__(self) -> None:
        super().__init__({"value": In(32), "scale": In(32), "o": Out(signed(BIAS))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.product = product = Multiplier(33, 25)
        fraction = self.scale[:23]
        exponent = self.scale[23:31]
        sign = self.scale[31]
        t = Timeline(m)
        mantissa = Signal(signed(25))
        value = Signal(32)
        shift = Signal(8)
        beyond = Signal()
        unsigned = Cat(fraction, exponent != 0)
        m.d.sync += [
            mantissa.eq(Mux(sign, -unsigned, unsigned)),
            value.eq(self.value),
            shift.eq(150 - Mux(exponent == 0, 1, exponent)),
            beyond.eq(exponent > 150),
        ]
        m.d.comb += [
            product.a.eq(value),
            product.b.eq(mantissa),
        ]

        # Shifted to the right with one more bit, which rounds; above 63 places the result is zero.
        t.enter(1, shift=shift, beyond=beyond)
        multiplied = t[1 + product.latency]
        places = multiplied.shift
        coarse = Signal(signed(59))
        fine = Signal(signed(59))
        fine_places = Signal(3)
        out_of_range = Signal()
        negative = Signal()
        m.d.sync += [
            coarse.eq(
                ((product.o << 1) >> (places[3:6] << 3)) & Cat(~places[6:8].any()).replicate(59)
            ),
            fine_places.eq(places[:3]),
            out_of_range.eq(multiplied.beyond & (product.o != 0)),
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

    Members
    -------
    form, constant, slope, clamp : In
        Of the draw state: they hold while triangles of the draw are under way, and for
        :attr:`LATENCY` clocks before.
    dx, dy, zmax : In
        As in :func:`fixfunc.spec.payloads.tile`.
    o : Out(signed(BIAS))
        s25.8 in units of D24, :attr:`LATENCY` clocks later.
    """

    SCALE = 2  # magnitudes, the greater one; then it is scaled
    # Then: sum, comparison with the limit, cut to it, cut to the range.
    LATENCY = SCALE + FloatScale.LATENCY + 4

    def __init__(self) -> None:
        super().__init__(
            {
                "form": In(2),
                "constant": In(signed(32)),
                "slope": In(32),
                "clamp": In(32),
                "dx": In(signed(32)),
                "dy": In(signed(32)),
                "zmax": In(24),
                "o": Out(signed(BIAS)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.by_slope = by_slope = FloatScale()
        m.submodules.limit = limit = FloatScale()

        # The greater slope a pixel.
        steep = [Signal(32, name=f"magnitude_{axis}") for axis in "xy"]
        for magnitude, step in zip(steep, (self.dx, self.dy), strict=True):
            m.d.sync += magnitude.eq(abs(step))
        greater = Signal(32)
        m.d.sync += greater.eq(Mux(steep[0] > steep[1], *steep))
        m.d.comb += [
            by_slope.value.eq(greater),
            by_slope.scale.eq(self.slope),
            limit.value.eq(D24_MAX << UNIT),
            limit.scale.eq(self.clamp),
        ]

        # Constant steps: D32F's is that of the float just not above the triangle's greatest depth.
        length = Signal(range(26))
        steps = Signal(signed(52))
        m.d.sync += length.eq(
            Mux(self.zmax == 0, 0, Mux(self.zmax.all(), 25, 24 - leading_zeros(self.zmax)))
        )
        shifted = Signal(signed(57))
        m.d.sync += shifted.eq(self.constant << length)
        float_step = ((shifted >> 15) + 1) >> 1
        by_form = {
            DepthFormat.D16: (self.constant << 16) + self.constant,
            DepthFormat.D24: self.constant << UNIT,
            DepthFormat.D32F: float_step,
        }
        with m.Switch(self.form):
            for form, value in by_form.items():
                with m.Case(form):
                    m.d.sync += steps.eq(value)

        # Beyond 36 bits the slope can no longer change what the range cuts.
        clamped_steps = Signal(signed(36))
        total = Signal(signed(37))
        cut = Signal(signed(37))
        beyond = (steps >= 1 << 35) | (steps < -1 << 35)
        m.d.sync += clamped_steps.eq(
            Mux(beyond, Mux(steps < 0, Const(-1 << 35, signed(36)), (1 << 35) - 1), steps)
        )
        t = Timeline(m)
        t.enter(4, clamped_steps=clamped_steps)
        scaled = self.SCALE + FloatScale.LATENCY
        m.d.sync += total.eq(t[scaled].clamped_steps + by_slope.o)
        t.enter(scaled + 1, total=total)
        over = Signal()  # the limit holds with the draw state
        m.d.sync += [
            over.eq(Mux(limit.o < 0, total < limit.o, (limit.o > 0) & (total > limit.o))),
            cut.eq(Mux(over, limit.o, t[scaled + 2].total)),
        ]
        most = (1 << BIAS - 1) - 1
        m.d.sync += self.o.eq(Mux(cut > most, most, Mux(cut < -most - 1, -most - 1, cut)))
        return m
