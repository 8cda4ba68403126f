# SPDX-License-Identifier: BSD-2-Clause
"""Logarithms of floats, s8.8."""

import math

from amaranth.hdl import Cat, Const, Module, Mux, Value

from fixfunc.rtl.lib.bits import choose, named
from fixfunc.rtl.lib.float32.fields import FLOAT32
from fixfunc.spec.textures.level_of_detail import LOD

LEAST = -(1 << LOD - 1)
MOST = (1 << LOD - 1) - 1
FINITE = 0x7F7FFFFF  # the greatest float32
# Of mantissas, by their first eight bits.
LOGARITHMS = [round(256 * math.log2(1 + n / 256)) for n in range(256)]


def logarithm(m: Module, value: Value, name: str) -> Value:
    """The exponent of a float32 without its sign, and a table's entry; of zero the least."""
    fraction = FLOAT32.fraction
    entry = choose(value[fraction - 8 : fraction], [Const(n, 8) for n in LOGARITHMS])
    exponent = named(m, value[fraction:] - FLOAT32.bias, f"exponent_{name}")
    found = named(m, Cat(entry, exponent[:9]).as_signed(), f"logarithm_{name}")
    return Mux(value[fraction:].any(), found, LEAST)


def finite(value: Value) -> Value:
    """The greatest number for infinity, 0 for what is no number."""
    return Mux(FLOAT32.is_nan(value), 0, Mux(FLOAT32.is_infinite(value), FINITE, value))
