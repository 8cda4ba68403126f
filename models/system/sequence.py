# SPDX-License-Identifier: BSD-2-Clause
"""Sequence numbers of 32 bits that wrap."""

WRAP = 1 << 32


def reached(number: int, value: int) -> bool:
    """Whether a number is at a value or beyond it, by less than 2^31."""
    return (number - value) % WRAP < WRAP // 2
