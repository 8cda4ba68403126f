# SPDX-License-Identifier: BSD-2-Clause
"""float32: nearest even, denormals as zeros, one NaN; smaller formats too.

float_unit.py        the block: one of the operations between two streams
operation.py         operands and latency of those below
add.py               a + b
multiply.py          a * b
multiply_add.py      a * b + c, rounded once
invert.py            1 / a
digit_recurrence.py  a / b, and the square root of a
compare.py           a < b, a = b
unorm.py             to UNORM
convert.py           to fixed point, and from there
rounding.py          the highest bit on top, then the nearest float
fields.py            sign, exponent, fraction; special numbers
"""
