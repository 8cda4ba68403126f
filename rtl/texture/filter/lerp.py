# SPDX-License-Identifier: BSD-2-Clause
"""Linear interpolation of two floats, or their extreme."""

from amaranth.hdl import Cat, Const, Module, Mux, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import leading_zeros, named
from fixfunc.rtl.lib.float32.add import Add
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.rtl.lib.float32.multiply_add import MultiplyAdd
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.texture.filter.channel_sum import FRACTION

SIGN = 1 << 31


class Lerp(wiring.Component):
    """a + share (b - a): a difference, and a multiply-add; free-running.

    It lies between a and b without being held there, since a share is below 1 by more than the
    difference is rounded up. A difference of halves is finite, so that only an operand that is not
    finite needs another rule: of both weighted, NaN, or the infinity [fs 7.18.16.2].

    Members
    -------
    a, b : In(32)
        float32: halves, or what lies between them. A NaN may have any bits.
    share : In(32)
        Of b, a float32 from 0 to below 1; of 0 the result is a.
    extreme, greatest : In(1)
        Not between both, but the least of them; the greatest. NaN is passed over, and a zero of the
        sign is less than one without.
    unaltered : In(1)
        Without a share a stays as it is, a denormal or a NaN of any bits.
    o : Out(32)
        :attr:`LATENCY` clocks later; NaN is the canonical one.
    """

    LATENCY = Add.STEPS + MultiplyAdd.STEPS + 1
    a: In(32)
    b: In(32)
    share: In(32)
    extreme: In(1)
    greatest: In(1)
    unaltered: In(1)
    o: Out(32)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        form = FLOAT32
        m.submodules.difference = difference = Add()
        m.submodules.step = step = MultiplyAdd()
        t = Timeline(m)
        has_share = named(m, self.share.any(), "has_share")
        nan_a, nan_b = form.is_nan(self.a), form.is_nan(self.b)
        infinite_a, infinite_b = form.is_infinite(self.a), form.is_infinite(self.b)
        is_less = named(m, _ordered(self.b) < _ordered(self.a), "is_less")
        b_counts = Mux(nan_a | nan_b, nan_a, is_less ^ self.greatest)
        opposed = infinite_a & infinite_b & (form.sign_of(self.a) ^ form.sign_of(self.b))
        weighted = Mux(nan_a | nan_b | opposed, form.nan, Mux(infinite_a, self.a, self.b))
        is_special = named(m, nan_a | nan_b | infinite_a | infinite_b, "is_special")
        selects_b = Mux(self.extreme, b_counts, 0)
        chosen = Mux(self.extreme | ~is_special, Mux(selects_b, self.b, self.a), weighted)
        direct = named(m, ~has_share | self.extreme | is_special, "direct")
        # With a step, the multiply-add begins at a.
        value = form.flushed(named(m, Mux(has_share, chosen, self.a), "value_0"))
        value = Mux(self.unaltered, self.a, value)
        t.enter(0, value=value, share=self.share, direct=direct)
        now = t[Add.STEPS]
        m.d.comb += [
            difference.a.eq(self.b),
            difference.b.eq(self.a ^ SIGN),
            step.a.eq(now.share),
            step.b.eq(difference.o),
            step.c.eq(now.value),
        ]
        end = t[self.LATENCY - 1]
        m.d.sync += self.o.eq(Mux(end.direct, end.value, step.o))
        return m


def _ordered(word: Value) -> Value:
    """A word that rises, without a sign, with a float32 that is a number."""
    return Mux(FLOAT32.sign_of(word), ~word, word | SIGN)


def share_of(m: Module, fraction: Value, name: str) -> Value:
    """A weight of 256 as a float32."""
    zeros = named(m, leading_zeros(fraction), f"{name}_zeros")
    shifted = named(m, (fraction << zeros)[: FRACTION - 1], f"{name}_shifted")
    exponent = named(m, (Const(FLOAT32.bias - 1, 8) - zeros)[:8], f"{name}_exponent")
    pad = Const(0, FLOAT32.fraction - FRACTION + 1)
    return Mux(fraction.any(), Cat(pad, shifted, exponent, Const(0, 1)), 0)
