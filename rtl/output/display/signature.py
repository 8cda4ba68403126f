# SPDX-License-Identifier: BSD-2-Clause
"""Signature: CRC-64 of the bytes of a tile, 32 of them a clock."""

from amaranth.hdl import Cat, Const, Module, Signal, Value

from fixfunc.rtl.lib.axi import TRANSFER
from fixfunc.rtl.lib.bits import named

BITS = 64
POLYNOMIAL = 0xC96C5795D7870F42  # of CRC-64/XZ: the coefficient of the highest power lowest


def columns(bits: int) -> list[int]:
    """What each bit of data adds to the remainder of so many bits, the first one first.

    The remainder is linear over GF(2) in the bits before it. A bit steps the register of a serial
    CRC once for itself, and once for every bit behind it.
    """
    found = []
    register = 0
    for _ in range(bits):
        feedback = register & 1 if found else 1
        register = (register >> 1) ^ (POLYNOMIAL if feedback else 0)
        found.append(register)
    return found[::-1]


def following(m: Module, remainder: Signal, data: Value) -> Value:
    """The remainder behind one more transfer.

    The remainder so far is added to the first bits of the data, so that one matrix serves both. A
    bit of the result is a tree over about half of the data's bits, 8 levels deep.
    """
    added = named(m, data ^ remainder, "added")
    matrix = columns(TRANSFER)
    rows = []
    for n in range(BITS):
        mask = sum((column >> n & 1) << k for k, column in enumerate(matrix))
        rows.append((added & Const(mask, TRANSFER)).xor())
    return Cat(rows)
