# SPDX-License-Identifier: BSD-2-Clause
"""Multiply-add of float32 as Direct3D 11 has it."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.timeline import Timeline

MANTISSA = 24  # bits, with the one that is not stored
BIAS = 127
LARGEST = 255  # exponent of infinity and NaN
CANONICAL = 0x7FC00000  # NaN
INFINITY = 0x7F800000
ONE = 0x3F800000
MINUS_ZERO = 0x80000000
PRODUCT = 2 * MANTISSA
GAP = 3  # bits between a product and an addend that is far above it
WINDOW = PRODUCT + GAP + MANTISSA
UNIT = BIAS + MANTISSA - 1  # a number is its mantissa times 2^(exponent - UNIT)


def is_nan(value: Value) -> Value:
    """A float32 is no number."""
    return value[:31] > INFINITY


def flushed(value: Value) -> Value:
    """Denormals as zeros of their sign, NaN as the canonical one."""
    magnitude = Mux(value[23:31] == 0, 0, value[:31])
    return Mux(is_nan(value), CANONICAL, Cat(magnitude, value[31]))


class MultiplyAdd(wiring.Component):
    """a * b + c of float32, rounded once to the nearest, ties to even; one a clock, free-running.

    Denormals are zeros of their sign before and after. NaN is the canonical one.

    Members
    -------
    a, b : In(32)
    c : In(32)
    o : Out(32)
        :attr:`LATENCY` clocks later.
    """

    LATENCY = 6

    a: In(32)
    b: In(32)
    c: In(32)
    o: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        self._multiply(m, t)
        self._align(m, t)
        self._add(m, t)
        self._normalise(m, t)
        self._round(m, t)
        return m

    def _multiply(self, m, t):
        """Clock 0: product, in halves of a factor, and what is special; clock 1: their sum."""
        numbers = {"a": self.a, "b": self.b, "c": self.c}
        exponent = {name: value[23:31] for name, value in numbers.items()}
        zero = {name: value == 0 for name, value in exponent.items()}
        infinite = {name: value[:31] == INFINITY for name, value in numbers.items()}
        nan = Cat(is_nan(value) for value in numbers.values()).any()
        mantissa = {
            name: Mux(zero[name], 0, Cat(value[:23], Const(1, 1)))
            for name, value in numbers.items()
        }
        sign = self.a[31] ^ self.b[31]
        infinite_product = infinite["a"] | infinite["b"]
        half = MANTISSA // 2
        low = Signal(MANTISSA + half)
        high = Signal(MANTISSA + half)
        product = Signal(PRODUCT)
        exponents = Signal(9)
        special = Signal()
        special_value = Signal(32)
        wrong = (
            nan
            | (infinite["a"] & zero["b"])
            | (infinite["b"] & zero["a"])
            | (infinite_product & infinite["c"] & (sign ^ self.c[31]))
        )
        # Two zeros of both signs are a positive one.
        both_zero = (zero["a"] | zero["b"]) & zero["c"]
        zero_sign = sign & self.c[31]
        m.d.sync += [
            low.eq(mantissa["a"] * mantissa["b"][:half]),
            high.eq(mantissa["a"] * mantissa["b"][half:]),
            product.eq(low + (high << half)),
            exponents.eq(exponent["a"] + exponent["b"]),
            special.eq(wrong | infinite_product | infinite["c"] | both_zero),
            special_value.eq(
                Mux(
                    wrong,
                    CANONICAL,
                    Mux(
                        both_zero,
                        Cat(Const(0, 31), zero_sign),
                        Cat(Const(INFINITY, 31), Mux(infinite_product, sign, self.c[31])),
                    ),
                )
            ),
        ]
        t.enter(
            0,
            sign=sign,
            addend_sign=self.c[31],
            addend=mantissa["c"],
            addend_exponent=exponent["c"],
            no_product=zero["a"] | zero["b"],
            no_addend=zero["c"],
        )
        t.enter(1, exponents=exponents, special=special, value=special_value)
        t.enter(2, product=product)

    def _align(self, m, t):
        """Clock 1: the addend in the window whose lowest bits are the product."""
        now = t[1]
        place = Signal(signed(11))  # of the addend's lowest bit, in the product's unit
        top = PRODUCT + GAP
        m.d.comb += place.eq(now.addend_exponent - now.exponents + UNIT)
        far = ~now.no_addend & (now.no_product | (place > top))
        distance = Signal(range(WINDOW + 1))
        m.d.comb += distance.eq(
            Mux(far, 0, Mux(place < top - WINDOW, WINDOW, (top - place)[: len(distance)]))
        )
        aligned = Cat(Const(0, WINDOW), Const(0, top), now.addend) >> distance
        addend = Signal(WINDOW)
        lost = Signal()
        unit = Signal(signed(11))  # exponent of the window's lowest bit
        m.d.sync += [
            addend.eq(aligned[WINDOW:]),
            lost.eq(aligned[:WINDOW].any()),
            unit.eq(Mux(far, now.addend_exponent - top, now.exponents - UNIT)),
        ]
        t.enter(2, aligned=addend, lost=lost, unit=unit)

    def _add(self, m, t):
        """Clock 2: sum or difference, and that the other way; clock 3: the positive one."""
        now = t[2]
        total, reverse = _both_ways(
            m, now.product, now.aligned, now.sign ^ now.addend_sign, now.lost
        )
        magnitude = Signal(WINDOW + 1)
        negative = Signal()
        m.d.sync += [
            magnitude.eq(Mux(total < 0, reverse, total)),
            negative.eq((total < 0) ^ t[3].sign),
        ]
        t.enter(4, magnitude=magnitude, negative=negative)

    def _normalise(self, m, t):
        """Clock 4: the highest bit on top, what remains in one bit."""
        now = t[4]
        shifted = now.magnitude
        steps = []
        for k in reversed(range(WINDOW.bit_length())):
            empty = named(m, ~shifted[len(shifted) - (1 << k) :].any(), f"empty_{k}")
            shifted = named(
                m, Mux(empty, shifted << (1 << k), shifted)[: WINDOW + 1], f"shifted_{k}"
            )
            steps.append(empty)
        zeros = Cat(reversed(steps))
        mantissa = Signal(MANTISSA)
        half = Signal()
        sticky = Signal()
        exponent = Signal(signed(12))
        nothing = Signal()
        cut = WINDOW + 1 - MANTISSA
        m.d.sync += [
            mantissa.eq(shifted[cut:]),
            half.eq(shifted[cut - 1]),
            sticky.eq(shifted[: cut - 1].any() | now.lost),
            exponent.eq(now.unit + WINDOW - (MANTISSA - 1) - zeros),
            nothing.eq(now.magnitude == 0),
        ]
        t.enter(5, mantissa=mantissa, half=half, sticky=sticky, exponent=exponent, nothing=nothing)

    def _round(self, m, t):
        """Clock 5: the nearest.

        Below the least normal number a step is twice as wide: only a mantissa of ones rounds up.
        """
        now = t[5]
        ones = now.mantissa.all()
        up = now.half & (now.sticky | now.mantissa[0])
        carries = up & ones
        exponent = Signal(signed(12))
        m.d.comb += exponent.eq(now.exponent + (carries | ((now.exponent == 0) & ones)))
        fraction = (now.mantissa + up)[: MANTISSA - 1]
        fraction = Mux((now.exponent == 0) & ones, 0, fraction)
        finite = Mux(exponent <= 0, 0, Cat(fraction, exponent[:8]))
        number = Mux(exponent >= LARGEST, INFINITY, finite)
        # A difference of equals is positive.
        regular = Mux(now.nothing, 0, Cat(number[:31], now.negative))
        m.d.sync += self.o.eq(Mux(now.special, now.value, regular))


def _both_ways(m, product, addend, subtracts, lost):
    """A sum, or a difference, and that difference the other way.

    What was lost of an addend makes a difference less by one. Such an addend is far below the
    product, so that the other way has nothing to do with it.
    """
    total = Signal(signed(WINDOW + 2), name="total")
    reverse = Signal(WINDOW, name="reverse")
    signed_addend = Cat(addend ^ subtracts.replicate(WINDOW), subtracts.replicate(2))
    # A bit below both operands brings the carry in.
    carry = subtracts & ~lost
    m.d.sync += [
        total.eq((Cat(Const(1, 1), product) + Cat(carry, signed_addend))[1:]),
        reverse.eq(addend - product),
    ]
    return total, reverse
