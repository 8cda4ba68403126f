# SPDX-License-Identifier: BSD-2-Clause
"""Floats to fixed point, and back; smaller floats as float32."""

from amaranth.hdl import Cat, Const, Module, Mux, Value, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import leading_zeros, minimum, named, pick
from fixfunc.rtl.lib.float32.fields import FLOAT32, FloatFormat
from fixfunc.rtl.lib.float32.rounding import normalised, rounded
from fixfunc.rtl.lib.timeline import Steps
from fixfunc.spec.errors import InputError

FRACTIONS = {16: 10, 11: 6, 10: 5}  # of smaller floats: bits of them -> of their fraction
SMALL_EXPONENT = 5  # bits
INFINITE = (1 << SMALL_EXPONENT) - 1
SMALL_BIAS = 15
WIDEST = FRACTIONS[16]


class ToFixed(wiring.Component):
    """A float as a signed number of fixed point: the nearest, ties to even; one a clock.

    What is beyond saturates, and NaN is 0 [fs 3.2.4.1]. Free-running.

    Parameters
    ----------
    bits : int
        Of the result, with its sign: 2 to 64.
    point : int
        Of them behind the point: 0 to ``bits``.
    form : FloatFormat
    latency : int
        1 to :attr:`STEPS` clocks.

    Members
    -------
    a : In(form.bits)
    o : Out(signed(bits))
        ``latency`` clocks later.
    """

    STEPS = 2

    def __init__(
        self, bits: int, point: int, form: FloatFormat = FLOAT32, latency: int = STEPS
    ) -> None:
        check(bits, point)
        self._bits = bits
        self._point = point
        self._form = form
        self.latency = latency
        super().__init__({"a": In(form.bits), "o": Out(signed(bits))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        form = self._form
        bits = self._bits
        t = Steps(m, self.STEPS, self.latency)
        mantissa = form.mantissa_of(self.a)
        # A mantissa on top of all bits, with its half below, is moved down to its place.
        top = bits - self._point + form.bias  # exponent of what has its highest bit there
        exponent = form.exponent_of(self.a)
        beyond = named(m, exponent >= top, "beyond")
        most = bits + 2
        distance = minimum(named(m, top - exponent, "distance")[: form.exponent + 8], Const(most))
        wide = Cat(Const(0, most + max(0, bits + 1 - form.mantissa)), mantissa)
        placed = wide >> distance
        low = len(wide) - (bits + 1) - 1  # of the bit that is a half
        t.put(
            0,
            whole=placed[low + 1 :],
            half=placed[low],
            sticky=placed[:low].any(),
            beyond=beyond | form.is_infinite(self.a),
            nan=form.is_nan(self.a),
            sign=form.sign_of(self.a),
        )
        now = t[1]
        most = (1 << bits - 1) - 1
        whole = named(m, now.whole + (now.half & (now.sticky | now.whole[0])), "rounded")
        saturates = now.beyond | (whole > most + now.sign)
        magnitude = Mux(saturates, most + now.sign, whole)
        t.put(1, o=Mux(now.nan, 0, Mux(now.sign, -magnitude, magnitude))[:bits])
        m.d.comb += self.o.eq(t[2].o)
        return m


class FromFixed(wiring.Component):
    """A signed number of fixed point as the nearest float, ties to even; one a clock, free-running.

    Parameters
    ----------
    bits : int
        Of the number, with its sign: 2 to 64.
    point : int
        Of them behind the point: 0 to ``bits``.
    form : FloatFormat
    latency : int
        1 to :attr:`STEPS` clocks.

    Members
    -------
    a : In(signed(bits))
    o : Out(form.bits)
        ``latency`` clocks later.
    """

    STEPS = 3

    def __init__(
        self, bits: int, point: int, form: FloatFormat = FLOAT32, latency: int = STEPS
    ) -> None:
        check(bits, point)
        self._bits = bits
        self._point = point
        self._form = form
        self.latency = latency
        super().__init__({"a": In(signed(bits)), "o": Out(form.bits)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        form = self._form
        t = Steps(m, self.STEPS, self.latency)
        negative = self.a < 0
        t.put(0, sign=negative, magnitude=Mux(negative, -self.a, self.a)[: self._bits])
        now = t[1]
        shifted, zeros = normalised(m, now.magnitude, "magnitude")
        t.put(
            1,
            kept=Cat(Const(0, max(0, form.mantissa + 1 - self._bits)), shifted),
            exponent=(self._bits - 1 - self._point + form.bias) - zeros,
            nothing=now.magnitude == 0,
        )
        now = t[2]
        t.put(2, o=Mux(now.nothing, 0, rounded(m, form, now.sign, now.exponent, now.kept, 0)))
        m.d.comb += self.o.eq(t[3].o)
        return m


def check(bits: int, point: int) -> None:
    """Raise :class:`~fixfunc.spec.errors.InputError` for a fixed point that there is not."""
    if not 2 <= bits <= 64:
        raise InputError("bits", "be 2 to 64", bits)
    if not 0 <= point <= bits:
        raise InputError("point", f"be 0 to {bits}", point)


def widened(m: Module, word: Value, width: Value, name: str) -> Value:
    """A float of 32, 16, 11 or 10 bits, which one bit of ``width`` says, as float32.

    Those of 16 bits alone have a sign. NaN keeps its bits.
    """
    exponent = named(
        m,
        pick(width[1:], [word[f : f + SMALL_EXPONENT] for f in FRACTIONS.values()]),
        f"{name}_exponent",
    )
    fraction = named(
        m,
        pick(width[1:], [word[:f] << WIDEST - f for f in FRACTIONS.values()])[:WIDEST],
        f"{name}_fraction",
    )
    sign = width[1] & word[15]
    zeros = named(m, leading_zeros(fraction), f"{name}_zeros")
    shifted = named(m, (fraction << zeros)[: WIDEST - 1], f"{name}_shifted")
    pad = Const(0, FLOAT32.mantissa - 1 - WIDEST)
    least = FLOAT32.bias - SMALL_BIAS
    normal = Cat(pad, fraction, (exponent + least)[:8], sign)
    # Without the highest bit set.
    denormal = Cat(pad, Const(0, 1), shifted, (Const(least, 8) - zeros)[:8], sign)
    special = Cat(pad, fraction, Const(255, 8), sign)
    small = Mux(
        exponent == 0,
        Mux(fraction == 0, Cat(Const(0, 31), sign), denormal),
        Mux(exponent == INFINITE, special, normal),
    )
    return Mux(width[0], word, small)
