# SPDX-License-Identifier: BSD-2-Clause
"""Ranges of memory, and whether two have a byte in common."""

from typing import NamedTuple

from amaranth.hdl import Cat, Const, Value

from fixfunc.rtl.memory.surface.address import Surface

END = 40  # bits of an end, where a plane may go on beyond the memory that can be addressed


class ByteRange(NamedTuple):
    """A place in memory: its first byte, the first one behind it, and whether it is in use."""

    begin: Value
    end: Value
    present: Value | None = None  # None: always


def disjoint(first: ByteRange, second: ByteRange) -> Value:
    """Whether two ranges have no byte in common."""
    apart = (first.end <= second.begin) | (second.end <= first.begin)
    for one in (first, second):
        apart = apart if one.present is None else apart | ~one.present
    return apart


def surface_end(begin: Value, count: Value, surface: Surface) -> Value:
    """The first byte behind so many tiles and the table behind them, of a transfer for each 64."""
    table = Cat(Const(0, 5), ((count + 63) >> 6)[:23])
    return begin + (count << surface.room) + table
