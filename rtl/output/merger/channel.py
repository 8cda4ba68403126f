# SPDX-License-Identifier: BSD-2-Clause
"""A channel of normalised colours, blended exactly."""

from amaranth.hdl import Cat, Const, Module, Mux, Value, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named, pick
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.control import (
    ALPHA_GROUP,
    COLOUR_GROUP,
    FRACTION,
    SOURCE,
    TARGET,
    constant_shape,
    control_layout,
)
from fixfunc.rtl.output.merger.factor import Factor
from fixfunc.rtl.output.merger.formats import ALPHA, GREEN, FormatSet
from fixfunc.rtl.output.merger.quotient import Quotient

ONES_565 = 31, 63  # ones of 5:6:5 that are no multiples of one another
BITS_565 = 18, 11  # of two times 31 * 31 * 63 with a sign, and of that by 63


class BlendChannel(wiring.Component):
    """Source times its factor and target times its own, rounded once; free-running.

    Factors are integers over their unit: what one is of the channel, of alpha, or 2^24, which a
    blend constant without steps has. Where the units of both sides differ each product is
    multiplied by the other's, and the sum is divided by both in turn, to the integer below: that is
    what division by their product gives.

    Parameters
    ----------
    formats : FormatSet
    channel : int
        Red, green, blue, alpha: 0 to 3.
    constant : bool
        The blend constant is known.

    Members
    -------
    colours, alphas : In(ArrayLayout(formats.value_shape, 3))
        The channel, and alpha: the shader's, the target's, the shader's second.
    controls : In(ArrayLayout(control_layout(formats).size, self.latency))
        Each so many clocks after ``colours``.
    constant : In(constant_shape(formats))
        One clock after ``colours``.
    o : Out(formats.value_shape)
        :attr:`latency` clocks after ``colours``.
    """

    def __init__(self, formats: FormatSet, channel: int, constant: bool) -> None:
        self._formats = formats
        self._control = control_layout(formats)
        self._channel = channel
        self._scaled = constant and not formats.constant_in_steps
        self._apart = formats.has_units_apart and channel not in (GREEN, ALPHA)
        self._factors = [Factor(formats, channel, constant) for _ in (SOURCE, TARGET)]
        # Products of 2^24 leave the sum before it is divided. A factor is at most two.
        widest = max(formats.widths)
        sizes = [2 * widest + 5, widest + 3]
        if formats.has_units_apart:
            sizes = [max(pair) for pair in zip(sizes, BITS_565, strict=True)]
        self._quotient = Quotient(formats, *sizes)
        self._total = signed(sizes[0] + 2 * max(fraction for _, fraction in formats.units))
        colours = ArrayLayout(formats.value_shape, 3)
        super().__init__(
            {
                "colours": In(colours),
                "alphas": In(colours),
                "controls": In(ArrayLayout(control_layout(formats).size, self.latency)),
                "constant": In(constant_shape(formats)),
                "o": Out(formats.value_shape),
            }
        )

    @property
    def _multiplied(self):
        """Clocks until products are there: a factor of 2^24 is multiplied in halves."""
        return Factor.LATENCY + (2 if self._scaled else 1)

    @property
    def _summed(self):
        """Clocks until products are one sum."""
        crossing = 2 if self._scaled or self._formats.has_units_apart else 0
        return self._multiplied + 1 + crossing

    @property
    def latency(self) -> int:
        """Clocks: factors, products, their sum, quotients, what is cut."""
        second = 1 if self._formats.has_units_apart else 0
        return self._summed + Quotient.LATENCY + second + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        t.enter(0, new=self.colours[0], old=self.colours[1])
        products = []
        for n, factor in enumerate(self._factors):
            m.submodules[f"factor_{n}"] = factor
            sides = [self._group(clock).sides[n] for clock in (0, 1)]
            m.d.comb += [
                factor.colours.eq(self.colours),
                factor.alphas.eq(self.alphas),
                factor.side.eq(Cat(*sides)),
                factor.first_alpha_widths.eq(self._at(0).widths[ALPHA]),
                factor.widths.eq(self._at(1).widths[self._channel]),
                factor.alpha_widths.eq(self._at(1).widths[ALPHA]),
                factor.spreads.eq(self._at(1).spreads[self._channel]),
                factor.constant.eq(self.constant),
            ]
            colour = (t[factor.LATENCY].new, t[factor.LATENCY].old)[n]
            products.append(_product(m, colour, factor.o, self._scaled, f"product_{n}"))
        clock = self._multiplied
        if self._summed == clock + 1:
            total = self._sum_same(m, products, clock)
        else:
            total = self._sum(m, products, clock)
        m.submodules.quotient = quotient = self._quotient
        unit, constant_units, _ = self._division(self._summed)
        m.d.comb += [
            quotient.i.eq(total),
            quotient.unit.eq(unit),
            quotient.whole.eq(constant_units),
        ]
        clock = self._summed + Quotient.LATENCY
        rounded = quotient.o
        if self._formats.has_units_apart:
            rounded = register(m, self._divide_again(m, rounded, clock), rounded.shape(), "again")
            clock += 1
        self._cut(m, rounded, clock)
        return m

    def _at(self, clock):
        """The state in a clock."""
        return self._control(self.controls[clock])

    def _group(self, clock):
        which = ALPHA_GROUP if self._channel == ALPHA else COLOUR_GROUP
        return self._at(clock).groups[which]

    def _units(self, clock):
        """Units of both sides as widths, and whether they are 2^24."""
        control = self._at(clock)
        sides = self._group(clock).sides
        units = [control.widths[self._channel]] * 2
        if self._apart:
            units = [
                Mux(side.unit_alpha, control.widths[ALPHA], unit)
                for side, unit in zip(sides, units, strict=True)
            ]
        constant = [side.unit_constant if self._scaled else Const(0) for side in sides]
        return units, constant

    def _differ(self, units):
        return units[0] != units[1] if self._apart else Const(0)

    def _sum_same(self, m, products, clock):
        """Both sides have the channel's unit."""
        unit = self._at(clock).widths[self._channel]
        total = products[0] + products[1] + _half(self._formats, unit)
        return register(m, _whole(m, self._formats, total, unit), self._quotient.i.shape(), "total")

    def _sum(self, m, products, clock):
        """Products times the unit of the other side where that is another, and half a unit."""
        widths = self._formats.widths
        units, constant = self._units(clock)
        crossed = []
        for n, product in enumerate(products):
            other = 1 - n
            crosses = ~constant[other] & (constant[n] | self._differ(units))
            above = pick(units[other], [product << k for k in widths])
            value = named(m, above - product, f"multiple_{n}")
            crossed.append(
                register(m, Mux(crosses, value, product), signed(len(value)), f"crossed_{n}")
            )
        units, constant = self._units(clock + 1)
        either = constant[0] | constant[1]
        unit = Mux(constant[0], units[1], units[0])
        apart = (ONES_565[0] * ONES_565[1] << 2 * self._formats.fraction_565) >> 1
        half = Mux(self._differ(units), apart, _half(self._formats, unit))
        one = Mux(constant[0] & constant[1], 1, pick(unit, [(1 << n) - 1 for n in widths]))
        total = register(
            m,
            Mux(constant[0], 0, crossed[0])
            + Mux(constant[1], 0, crossed[1])
            + Mux(either, 0, half),
            self._total,
            "sum",
        )
        if self._scaled:
            sum_shape = signed(len(crossed[0]) + 2)
            scaled = register(
                m,
                Mux(constant[0], crossed[0], 0)
                + Mux(constant[1], crossed[1], 0)
                + Mux(either, one << FRACTION - 1, 0),
                sum_shape,
                "scaled",
            )
            total = total + (scaled >> FRACTION)
        units, _ = self._units(clock + 2)  # without constants both have the same fraction
        total = _whole(m, self._formats, total, units[0])
        return register(m, total, self._quotient.i.shape(), "total")

    def _division(self, clock):
        """What the sum is divided by first, whether by nothing; whether by 31 then."""
        units, constant = self._units(clock)
        constant_units = constant[0] & constant[1]
        unit = Mux(constant[0], units[1], units[0])
        apart = self._differ(units) & ~constant[0] & ~constant[1]
        if self._apart:
            unit = Mux(apart, self._at(clock).widths[ALPHA], unit)
        if 1 in self._formats.widths:
            constant_units |= unit[self._formats.widths.index(1)]
        return unit, constant_units, apart

    def _divide_again(self, m, value, clock):
        """By 31, what has been divided by 63: less than 2^11, not below 0."""
        if not self._apart:
            return value
        _, _, apart = self._division(clock)
        high = value[5:11]
        folded = named(m, high + value[:5], "folded")
        last = named(m, folded[5:] + folded[:5], "last")
        quotient = high + folded[5:] + (last >= ONES_565[0])
        return Mux(apart & ~value[-1], quotient, value)

    def _cut(self, m, value: Value, clock):
        """The format's range."""
        control = self._at(clock)
        most = pick(control.widths[self._channel], [(1 << n) - 1 for n in self._formats.widths])
        most = named(m, most, "most")
        least = Mux(control.is_signed, -most, 0) if self._formats.has_sign else 0
        m.d.sync += self.o.eq(
            Mux(value[-1], Mux(value < least, least, value), Mux(value > most, most, value))
        )


def _half(formats, unit):
    """Half of a unit, times the steps of both factors."""
    return pick(unit, [((1 << n) - 1 << 2 * fraction) >> 1 for n, fraction in formats.units])


def _whole(m, formats, total, unit):
    """What of a sum of products is not below a step times a step."""
    shifts = [2 * fraction for _, fraction in formats.units]
    if not any(shifts):
        return total
    total = named(m, total, "in_steps")
    return pick(unit, [total >> shift for shift in shifts]).as_signed()


def _product(m, colour, factor, halves, name):
    """Of a colour and its factor, a clock later; two where the factor comes in halves."""
    shape = signed((colour * factor).shape().width)
    if not halves:
        return register(m, colour * factor, shape, name)
    half = FRACTION // 2
    low = colour * factor[:half]
    high = colour * (factor >> half)
    low = register(m, low, low.shape(), f"{name}_low")
    high = register(m, high, high.shape(), f"{name}_high")
    return register(m, low + (high << half), shape, name)
