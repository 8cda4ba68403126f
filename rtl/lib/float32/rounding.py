# SPDX-License-Identifier: BSD-2-Clause
"""The last steps of every operation: the highest bit on top, then the nearest float."""

from amaranth.hdl import Cat, Module, Mux, Value, ValueLike

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.float32.fields import FloatFormat


def normalised(
    m: Module, value: Value, name: str, steps: range | None = None
) -> tuple[Value, Value]:
    """``value`` shifted until its highest bit is set, and by how much; of zero nothing matters.

    ``steps`` are the bits of that number which are found: all of them, unless the work is shared
    between clocks, whose first one finds the upper bits.
    """
    shifted = value
    found = []
    for k in reversed(steps or range((len(value) - 1).bit_length())):
        empty = named(m, ~shifted[len(value) - (1 << k) :].any(), f"{name}_empty_{k}")
        moved = Mux(empty, shifted << (1 << k), shifted)[: len(value)]
        shifted = named(m, moved, f"{name}_by_{k}")
        found.append(empty)
    return shifted, Cat(reversed(found))


def rounded(
    m: Module, form: FloatFormat, sign: Value, exponent: Value, value: Value, sticky: ValueLike
) -> Value:
    """The float nearest to a number, ties to even; what is below the least normal number is zero.

    Parameters
    ----------
    m : Module
    form : FloatFormat
    sign : Value
    exponent : Value
        Signed and biased: of the highest bit of ``value``.
    value : Value
        A mantissa, its highest bit set, and one bit below it at least.
    sticky : Value
        Something is set below ``value``.
    """
    cut = len(value) - form.mantissa
    mantissa = value[cut:]
    half = value[cut - 1]
    below = value[: cut - 1].any() | sticky
    up = half & (below | mantissa[0])
    # Below the least normal number a step is twice as wide: ones alone round up to it.
    ones = mantissa.all()
    least = named(m, (exponent == 0) & ones, "rounds_to_least")
    higher = named(m, exponent + ((up & ones) | least), "rounded_exponent")
    fraction = Mux(least, 0, (mantissa + up)[: form.fraction])
    magnitude = Mux(higher <= 0, 0, Cat(fraction, higher[: form.exponent]))
    beyond = higher >= form.top
    return Cat(Mux(beyond, form.infinity, magnitude)[: form.magnitude], sign)
