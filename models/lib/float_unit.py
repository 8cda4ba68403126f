# SPDX-License-Identifier: BSD-2-Clause
"""Golden model of an operation of floats, of any format up to float32: exact integers, then the
nearest.

float32 alone is :mod:`fixfunc.models.lib.float32`, whose operations are those of the processor;
here a number is an integer mantissa and the exponent of its unit, as on paper.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from fixfunc.spec.floats import FloatOp


class Form(NamedTuple):
    """A format: bits of its exponent and of its fraction."""

    exponent: int
    fraction: int


FLOAT32 = Form(8, 23)


class Numbers(NamedTuple):
    """Floats taken apart: each ``mantissa`` * 2^``unit``, or what the flags say."""

    negative: np.ndarray  # bool
    mantissa: np.ndarray  # object: exact integers, 0 of zeros
    unit: np.ndarray  # object
    infinite: np.ndarray  # bool
    nan: np.ndarray  # bool


def taken(bits: ArrayLike, form: Form) -> Numbers:
    """Numbers of packed floats: denormals are zeros."""
    bits = np.asarray(bits, np.int64)
    fraction = bits & (1 << form.fraction) - 1
    exponent = bits >> form.fraction & (1 << form.exponent) - 1
    top = exponent == (1 << form.exponent) - 1
    mantissa = np.where((exponent == 0) | top, 0, fraction | 1 << form.fraction)
    unit = exponent - _bias(form) - form.fraction
    return Numbers(
        bits >> form.exponent + form.fraction & 1 == 1,
        mantissa.astype(object),
        unit.astype(object),
        top & (fraction == 0),
        top & (fraction != 0),
    )


def operate(
    op: FloatOp, operands: list[np.ndarray], form: Form = FLOAT32, point: int = 0, bits: int = 32
) -> list[np.ndarray]:
    """Results of an operation.

    Parameters
    ----------
    op : FloatOp
    operands : list of ndarray of int64, shape (n,)
        Packed floats, as many as the operation has; of FROM_FIXED integers.
    form : Form
    point, bits : int
        Of fixed point: bits behind the point, and all of them with the sign.

    Returns
    -------
    list of ndarray of int64, shape (n,)
        Packed floats; of COMPARE whether a is less, whether equal; of TO_FIXED integers.

    Source: [fs 3.1.3], [fs 3.2.4.1].
    """
    if op == FloatOp.FROM_FIXED:
        value = np.asarray(operands[0], np.int64).astype(object)
        units = np.full(len(value), -point, object)
        return [_rounded(value < 0, abs(value), units, 0, form)]
    numbers = [taken(operand, form) for operand in operands]
    if op == FloatOp.COMPARE:
        return _compared(*numbers)
    if op == FloatOp.TO_FIXED:
        return [_fixed(numbers[0], point, bits)]
    if op == FloatOp.INVERT:
        return [_inverted(numbers[0], form)]
    if op == FloatOp.SQUARE_ROOT:
        return [_root(numbers[0], form)]
    a, b = numbers[0], numbers[1]
    if op == FloatOp.ADD:
        return [_sum(a, b, form)]
    if op == FloatOp.DIVIDE:
        return [_quotient(a, b, form)]
    product = Numbers(
        a.negative ^ b.negative,
        a.mantissa * b.mantissa,
        a.unit + b.unit,
        a.infinite | b.infinite,
        a.nan | b.nan | (a.infinite & _zero(b)) | (b.infinite & _zero(a)),
    )
    if op == FloatOp.MULTIPLY:
        out = _rounded(product.negative, product.mantissa, product.unit, 0, form)
        return [_special(out, product, form)]
    return [_sum(product, numbers[2], form)]


def _bias(form):
    return (1 << form.exponent - 1) - 1


def _zero(number):
    return (number.mantissa == 0) & ~number.infinite & ~number.nan


def _aligned(a, b):
    """Mantissas of two numbers in the lesser of their units, signed, and that unit."""
    unit = np.minimum(a.unit, b.unit)
    values = [
        np.where(number.negative, -1, 1) * (number.mantissa << number.unit - unit)
        for number in (a, b)
    ]
    return *values, unit


def _sum(a, b, form):
    first, second, unit = _aligned(a, b)
    total = first + second
    # A difference of equals is positive; so are two zeros unless both are negative.
    negative = np.where(total == 0, a.negative & b.negative & _zero(a) & _zero(b), total < 0)
    out = _rounded(negative.astype(bool), abs(total), unit, 0, form)
    nan = a.nan | b.nan | (a.infinite & b.infinite & (a.negative ^ b.negative))
    infinite = a.infinite | b.infinite
    sign = np.where(a.infinite, a.negative, b.negative)
    return _special(out, Numbers(sign, total, unit, infinite, nan), form)


def _special(out, number, form):
    """Infinities and NaN in place of what was computed."""
    infinity = ((1 << form.exponent) - 1) << form.fraction
    signed = infinity | number.negative.astype(np.int64) << form.exponent + form.fraction
    out = np.where(number.infinite, signed, out)
    return np.where(number.nan, infinity | 1 << form.fraction - 1, out)


def _rounded(negative, magnitude, unit, lost, form):
    """The nearest floats of ``magnitude`` * 2^``unit``, and a little more where ``lost``."""
    lengths = np.array([int(value).bit_length() for value in magnitude], object)
    least = 1 - _bias(form) - form.fraction  # the unit of the least normal number
    # In the unit of the result, in which denormals are rounded, too.
    shift = np.maximum(lengths - form.fraction - 1, least - unit)
    down = np.maximum(shift, 0)
    whole = magnitude >> down
    rest = 2 * (magnitude - (whole << down)) + lost
    half = 1 << down
    up = (rest > half) | ((rest == half) & (whole & 1 == 1))
    whole = np.where(shift > 0, whole + up, magnitude << np.maximum(-shift, 0))
    carried = whole >> form.fraction + 1 != 0
    exponent = unit + shift + carried - least + 1
    whole = np.where(carried, whole >> 1, whole)
    packed = (exponent << form.fraction) + whole - (1 << form.fraction)
    infinity = ((1 << form.exponent) - 1) << form.fraction
    packed = np.where(packed > infinity, infinity, packed)
    flushed = whole >> form.fraction == 0
    packed = np.where(flushed, 0, packed).astype(np.int64)
    return packed | negative.astype(np.int64) << form.exponent + form.fraction


def _quotient(a, b, form):
    """As :func:`_inverted`, of any dividend."""
    extra = 2 * form.fraction + 4
    divisor = np.where(b.mantissa == 0, 1, b.mantissa)
    dividend = a.mantissa << extra
    quotient = dividend // divisor
    lost = np.where(quotient * divisor != dividend, 1, 0).astype(object)
    negative = a.negative ^ b.negative
    out = _rounded(negative, quotient, a.unit - b.unit - extra, lost, form)
    sign = negative.astype(np.int64) << form.exponent + form.fraction
    out = np.where(b.infinite, sign, out)
    nan = a.nan | b.nan | (_zero(a) & _zero(b)) | (a.infinite & b.infinite)
    return _special(out, Numbers(negative, quotient, a.unit, a.infinite | _zero(b), nan), form)


def _root(a, form):
    """A root of so many bits that what it lacks cannot be half a unit."""
    extra = 2 * form.fraction + 6
    extra = extra + (a.unit + extra) % 2  # an even unit has a root
    square = a.mantissa << extra
    root = np.array([math.isqrt(int(value)) for value in square], object)
    lost = np.where(root * root != square, 1, 0).astype(object)
    out = _rounded(a.negative, root, (a.unit - extra) // 2, lost, form)
    return _special(out, a._replace(nan=a.nan | (a.negative & ~_zero(a))), form)


def _inverted(a, form):
    """A quotient of so many bits that what it lacks cannot be half a unit."""
    extra = 2 * form.fraction + 4
    divisor = np.where(a.mantissa == 0, 1, a.mantissa)
    quotient = (1 << extra) // divisor
    lost = np.where(quotient * divisor != 1 << extra, 1, 0).astype(object)
    out = _rounded(a.negative, quotient, -a.unit - extra, lost, form)
    sign = a.negative.astype(np.int64) << form.exponent + form.fraction
    out = np.where(a.infinite, sign, out)
    return _special(out, a._replace(infinite=_zero(a)), form)


def _compared(a, b):
    first, second, _ = _aligned(a, b)
    infinite = [number.infinite * np.where(number.negative, -1, 1) for number in (a, b)]
    numbers = ~(a.nan | b.nan)
    either = a.infinite | b.infinite
    less = np.where(either, infinite[0] < infinite[1], first < second)
    equal = np.where(either, infinite[0] == infinite[1], first == second)
    return [
        (less.astype(bool) & numbers).astype(np.int64),
        (equal.astype(bool) & numbers).astype(np.int64),
    ]


def _fixed(a, point, bits):
    up = np.maximum(a.unit + point, 0)
    down = np.maximum(-a.unit - point, 0)
    # Beyond so many bits nothing is different: it saturates, or is nothing.
    value = a.mantissa << np.minimum(up, bits)
    down = np.minimum(down, 32)
    whole = value >> down
    rest = 2 * (value - (whole << down))
    half = 1 << down
    whole = whole + ((rest > half) | ((rest == half) & (whole & 1 == 1)))
    most = 1 << bits - 1
    whole = np.where(a.infinite, most, whole)
    whole = np.where(a.negative, -np.minimum(whole, most), np.minimum(whole, most - 1))
    return np.where(a.nan, 0, whole).astype(np.int64)
