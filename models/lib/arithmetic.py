# SPDX-License-Identifier: BSD-2-Clause
"""Golden models of the pipelined product and quotient: exact integers of any width."""

import numpy as np


def wrap(values: np.ndarray, bits: int) -> np.ndarray:
    """Integers modulo 2^bits, as signed ones. Arrays of objects, which hold any integer."""
    half = 1 << bits - 1
    return (values + half) % (2 * half) - half


def multiply(a: np.ndarray, b: np.ndarray, bits: int) -> np.ndarray:
    """Products modulo 2^bits, signed: ndarray of object.

    Parameters
    ----------
    a, b : array_like of int
        Signed factors, of any width.
    """
    return wrap(np.asarray(a, object) * np.asarray(b, object), bits)


def divide(
    high: np.ndarray, low: np.ndarray, divisor: np.ndarray, low_bits: int, quotient_bits: int
) -> np.ndarray:
    """Floors of quotients: ndarray of object.

    Parameters
    ----------
    high, low, divisor : array_like of int
        A dividend is ``high``, then ``low`` of ``low_bits``, then zeros: ``quotient_bits`` below
        ``high`` in all. ``high`` is less than ``divisor``.
    """
    dividend = np.asarray(high, object) * (1 << quotient_bits)
    dividend = dividend + np.asarray(low, object) * (1 << quotient_bits - low_bits)
    return dividend // np.asarray(divisor, object)


def multiplier_latency(a_bits: int, b_bits: int, bits: int) -> int:
    """Clocks of a product: two, and one for each halving of its partial products.

    Factors are cut into limbs of 17 bits, the highest of which has a sign and up to 18. Partial
    products that lie wholly above ``bits`` are not formed.
    """
    limbs = [max(1, -(-(width - 1) // 17)) for width in (a_bits, b_bits)]
    partial = sum(17 * (i + j) < bits for i in range(limbs[0]) for j in range(limbs[1]))
    return 2 + int(np.ceil(np.log2(partial)))
