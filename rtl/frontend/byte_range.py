# SPDX-License-Identifier: BSD-2-Clause
"""Ranges of memory: where planes and packets lie, and whether two have a byte in common."""

from typing import NamedTuple

from amaranth.hdl import Cat, Value

from fixfunc.rtl.memory.surface.address import Surface
from fixfunc.rtl.memory.tile_cache.layouts import IN_LINE, TILES
from fixfunc.spec.commands import ALIGNED

END = 40  # bits of an end, where a plane may go on beyond the memory that can be addressed
LINES = 23  # bits of a number of lines: there are 2^28 tiles at most


class ByteRange(NamedTuple):
    """A place in memory: its first byte, the first one behind it, and whether it is in use."""

    begin: Value
    end: Value
    present: Value | None = None  # None: always


def disjoint(first: ByteRange, second: ByteRange) -> Value:
    """Whether two ranges have no byte in common."""
    absent = [~one.present for one in (first, second) if one.present is not None]
    return Cat(first.end <= second.begin, second.end <= first.begin, *absent).any()


def fits(place: ByteRange, limit: Value) -> Value:
    """Whether a range begins on a boundary of planes, and ends at a limit or below."""
    return (place.end <= limit) & ~place.begin[: ALIGNED.bit_length() - 1].any()


def surface_end(begin: Value, count: Value, surface: Surface) -> Value:
    """The first byte behind so many tiles, and behind their table, of a transfer for each 64."""
    lines = ((count + TILES - 1) >> IN_LINE)[:LINES]
    return surface.table_address(begin, count, lines)
