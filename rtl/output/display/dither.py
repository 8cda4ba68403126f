# SPDX-License-Identifier: BSD-2-Clause
"""Pixels of 5, 6 and 5 bits."""

from amaranth.hdl import Cat, Const, Module, Value

from fixfunc.rtl.lib.bits import named

LEVELS = (5, 6, 5)  # bits of red, green and blue


def threshold(x: int, y: Value) -> Value:
    """Of a pixel, in sixteenths, 4 bits: neighbours in four by four pixels differ most.

    Parameters
    ----------
    x : int
        Column of the pixel, of four.
    y : Value
        Row of the pixel, 2 bits.
    """
    x0 = Const(x & 1, 1)
    x1 = Const(x >> 1 & 1, 1)
    return Cat(y[1], x1 ^ y[1], y[0], x0 ^ y[0])


def dithered(m: Module, channels: list[Value], x: int, y: Value) -> Value:
    """Red, green and blue of 8 bits as 16 bits, blue lowest.

    A channel v of m levels above 0 becomes floor(v m / 255 + (2 t + 1) / 32). Both terms are taken
    times 255: v m is exact, and of 255 (2 t + 1) / 32 only the integer below matters, 16 t + 7. The
    quotient by 255 of x below 65535 is (x + x / 256 + 1) / 256.
    """
    share = named(m, (threshold(x, y) << 4) + 7, f"share_{x}")
    packed = []
    for name, value, bits in zip(("red", "green", "blue"), channels, LEVELS, strict=True):
        scaled = named(m, (value << bits) - value + share, f"{name}_scaled_{x}")
        quotient = named(m, (scaled[:16] + scaled[8:16] + 1) >> 8, f"{name}_level_{x}")
        packed.append(quotient[:bits])
    return Cat(reversed(packed))
