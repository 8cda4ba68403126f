# SPDX-License-Identifier: BSD-2-Clause
"""Golden models of what joins values, and takes them apart: trees, packer, unpacker."""

from collections.abc import Sequence


def levels(count: int) -> int:
    """Of a tree of so many values: clocks of the placing one, half of those of the other."""
    return (count - 1).bit_length()


def placed(values: Sequence[int], lengths: Sequence[int], most: int) -> tuple[int, int]:
    """Values one behind the other, cut to ``most`` bits; the sum of their lengths."""
    out = 0
    total = 0
    for value, length in zip(values, lengths, strict=True):
        out |= value << total
        total += length
    return out & (1 << most) - 1, total


def taken(value: int, lengths: Sequence[int], widths: Sequence[int]) -> list[int]:
    """What lies behind the lengths before each value, cut to its width."""
    out = []
    at = 0
    for length, width in zip(lengths, widths, strict=True):
        out.append(value >> at & (1 << width) - 1)
        at += length
    return out


def unpacked(row: int, position: int, most: int) -> int:
    """Bits of a row from a position on, behind it zeros."""
    return row >> position & (1 << most) - 1


def packed(row: int, value: int, position: int, most: int) -> int:
    """A row with a value from a position on, cut to ``most`` bits."""
    return (row | value << position) & (1 << most) - 1
