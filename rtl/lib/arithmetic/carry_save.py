# SPDX-License-Identifier: BSD-2-Clause
"""Sums without a carry that passes from bit to bit."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Signal, Value, ValueLike, signed

from fixfunc.rtl.lib.bits import gated


def carry_save(
    m: Module, addends: Sequence[ValueLike], width: int, name: str
) -> tuple[Signal, Signal]:
    """Two numbers whose sum, modulo 2^width, is that of all addends; combinational.

    A level makes two of three, by a full adder a bit: nine take four levels, at any width. Their
    sum is for another clock.

    Parameters
    ----------
    m : Module
    addends : sequence of Value
        Two or more, each with or without a sign.
    width : int
    name : str
        Prefix of the levels' signals.

    Returns
    -------
    (Signal, Signal)
        Signed, of ``width`` bits.
    """
    left = _held(m, addends, width, name)
    while len(left) > 2:
        sums = []
        for n in range(0, len(left) - 2, 3):
            x, y, z = left[n : n + 3]
            sums += [x ^ y ^ z, ((x & y) | (x & z) | (y & z)) << 1]
        # One or two that were left over.
        sums += left[len(left) - len(left) % 3 :]
        left = _held(m, sums, width, f"{name}_{len(sums)}")
    first, second = left
    return first, second


def partial_products(first: Value, second: Value) -> list[Value]:
    """Addends whose sum is a product: one for each bit of the second factor, which has no sign."""
    return [gated(first, bit) << k for k, bit in enumerate(second)]


def square_products(value: Value) -> list[Value]:
    """Addends whose sum is the square of a number without a sign: half of its partial products.

    Of two bits both products are one, a place higher; of a bit with itself it is the bit. They are
    packed by places, so that there are half as many addends as bits, and one.
    """
    bits = len(value)
    places = [[] for _ in range(2 * bits)]
    for low in range(bits):
        places[2 * low].append(value[low])
        for high in range(low + 1, bits):
            places[low + high + 1].append(value[low] & value[high])
    rows = max(map(len, places))
    return [
        Cat(place[row] if row < len(place) else Const(0, 1) for place in places)
        for row in range(rows)
    ]


def _held(m, values, width, name):
    """Values by names of their own, of one width."""
    held = []
    for n, value in enumerate(values):
        out = Signal(signed(width), name=f"{name}_{n}")
        m.d.comb += out.eq(value)
        held.append(out)
    return held
