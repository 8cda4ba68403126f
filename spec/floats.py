# SPDX-License-Identifier: BSD-2-Clause
"""Operations of floats, and the payloads of a unit that does one of them."""

from enum import IntEnum

from fixfunc.spec.payloads import Field


class FloatOp(IntEnum):
    """What a float unit does."""

    ADD = 0  # a + b
    MULTIPLY = 1  # a * b
    MULTIPLY_ADD = 2  # a * b + c
    INVERT = 3  # 1 / a
    COMPARE = 4  # a < b, a = b
    TO_FIXED = 5  # a as a signed number of fixed point
    FROM_FIXED = 6  # the other way
    DIVIDE = 7  # a / b
    SQUARE_ROOT = 8  # of a


_OPERANDS = {
    FloatOp.MULTIPLY_ADD: "abc",
    FloatOp.INVERT: "a",
    FloatOp.SQUARE_ROOT: "a",
    FloatOp.TO_FIXED: "a",
    FloatOp.FROM_FIXED: "a",
}


def operands(op: FloatOp, bits: int, fixed: int) -> tuple[Field, ...]:
    """Operands, of floats of so many bits; of FROM_FIXED a signed number of ``fixed`` bits."""
    if op == FloatOp.FROM_FIXED:
        return (Field("a", fixed, True, "operand, signed fixed point"),)
    return tuple(Field(name, bits, meaning="operand, a float") for name in _OPERANDS.get(op, "ab"))


def results(op: FloatOp, bits: int, fixed: int) -> tuple[Field, ...]:
    """Results, of floats of so many bits; of TO_FIXED a signed number of ``fixed`` bits."""
    if op == FloatOp.COMPARE:
        return (Field("less", 1, meaning="a < b"), Field("equal", 1, meaning="a = b"))
    if op == FloatOp.TO_FIXED:
        return (Field("o", fixed, True, "result, signed fixed point"),)
    return (Field("o", bits, meaning="result, a float"),)
