# SPDX-License-Identifier: BSD-2-Clause
"""a * b + c, rounded once."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal

from fixfunc.rtl.lib.arithmetic.carry_save import carry_save, partial_products
from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.float32.operation import Operation
from fixfunc.rtl.lib.float32.rounding import normalised, rounded
from fixfunc.rtl.lib.timeline import Steps

GAP = 3  # bits between a product and an addend that is far above it


class MultiplyAdd(Operation):
    """a * b + c, rounded once to the nearest, ties to even; one a clock, free-running.

    Parameters and members are those of :class:`~fixfunc.rtl.lib.float32.operation.Operation`.
    """

    OPERANDS = "abc"
    STEPS = 6

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Steps(m, self.STEPS, self.latency)
        self._multiply(m, t)
        self._align(m, t)
        self._add(t)
        self._normalise(m, t)
        self._round(m, t)
        return m

    @property
    def _product(self):
        """Bits of a product."""
        return 2 * self._form.mantissa

    @property
    def _window(self):
        """Bits in which a product and an addend are added: the lowest are the product's."""
        return self._product + GAP + self._form.mantissa

    @property
    def _unit(self):
        """A number is its mantissa times 2^(exponent - unit)."""
        return self._form.bias + self._form.fraction

    def _multiply(self, m, t):
        """Two addends of the product, and the result where it is special; then their sum."""
        form = self._form
        numbers = self.a, self.b, self.c
        zero_a, zero_b, zero_c = map(form.is_zero, numbers)
        infinite_a, infinite_b, infinite_c = map(form.is_infinite, numbers)
        first, second, addend = map(form.mantissa_of, numbers)
        sign = form.sign_of(self.a) ^ form.sign_of(self.b)
        addend_sign = form.sign_of(self.c)
        infinite = infinite_a | infinite_b
        wrong = (
            Cat(map(form.is_nan, numbers)).any()
            | (infinite_a & zero_b)
            | (infinite_b & zero_a)
            | (infinite & infinite_c & (sign ^ addend_sign))
        )
        no_product = zero_a | zero_b
        # Two zeros of both signs are a positive one.
        both_zero = no_product & zero_c
        zero = form.signed_zero(sign & addend_sign)
        infinity = form.signed_infinity(Mux(infinite, sign, addend_sign))
        rows = partial_products(first, second)
        low, high = carry_save(m, rows, self._product, "rows")
        t.put(
            0,
            low=low,
            high=high,
            sign=sign,
            addend=addend,
            addend_sign=addend_sign,
            no_product=no_product,
            exponents=form.exponent_of(self.a) + form.exponent_of(self.b),
            addend_exponent=form.exponent_of(self.c),
            special=wrong | infinite | infinite_c | both_zero,
            value=Mux(wrong, form.nan, Mux(both_zero, zero, infinity)),
        )
        t.put(1, product=(t[1].low + t[1].high)[: self._product])

    def _align(self, m, t):
        """The addend in the window whose lowest bits are the product."""
        now = t[1]
        window = self._window
        top = self._product + GAP
        # The place of the addend's lowest bit, in the product's unit.
        place = named(m, now.addend_exponent - now.exponents + self._unit, "place")
        # Beside an addend of 0 a product that is so small is none either: the exponent says so.
        far = named(m, now.no_product | (place > top), "far")
        distance = Signal(range(window + 1))
        near = (top - place)[: len(distance)]
        m.d.comb += distance.eq(Mux(far, 0, Mux(place < top - window, window, near)))
        aligned = Cat(Const(0, window + top), now.addend) >> distance
        t.put(
            1,
            aligned=aligned[window:],
            lost=aligned[:window].any(),
            unit=Mux(far, now.addend_exponent - top, now.exponents - self._unit),
        )

    def _add(self, t):
        """Sum or difference, and that the other way; then the positive one.

        What was lost of an addend makes a difference less by one. Such an addend is far below the
        product, so that the other way has nothing to do with it.
        """
        now = t[2]
        subtracts = now.sign ^ now.addend_sign
        addend = Cat(now.aligned ^ subtracts.replicate(self._window), subtracts.replicate(2))
        # A bit below both operands brings the carry in.
        carry = subtracts & ~now.lost
        total = (Cat(Const(1, 1), now.product) + Cat(carry, addend))[1 : self._window + 3]
        t.put(
            2,
            total=total.as_signed(),
            reverse=(now.aligned - now.product)[: self._window],
        )
        now = t[3]
        below = now.total < 0
        t.put(
            3,
            magnitude=Mux(below, now.reverse, now.total)[: self._window + 1],
            negative=below ^ now.sign,
        )

    def _normalise(self, m, t):
        """The highest bit on top; what is below a mantissa and its half becomes one bit."""
        now = t[4]
        form = self._form
        shifted, zeros = normalised(m, now.magnitude, "sum")
        cut = self._window - form.mantissa
        t.put(
            4,
            kept=shifted[cut:],
            sticky=shifted[:cut].any() | now.lost,
            exponent=now.unit + self._window - form.fraction - zeros,
            nothing=now.magnitude == 0,
        )

    def _round(self, m, t):
        """The nearest; a difference of equals is positive."""
        now = t[5]
        regular = rounded(m, self._form, now.negative, now.exponent, now.kept, now.sticky)
        t.put(5, o=Mux(now.special, now.value, Mux(now.nothing, 0, regular)))
        m.d.comb += self.o.eq(t[6].o)
