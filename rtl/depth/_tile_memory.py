"""Where tiles of depths lie in memory."""

from rtl.axi import ADDRESS, TRANSFER
from rtl.depth import _tile_modes as modes
from spec.payloads import TILE_NUMBER
from spec.state import TileMode

BYTES = TRANSFER // 8


def transfers(mode, edge):
    """Of a tile of a mode."""
    return -(-modes.bits(mode, edge) // TRANSFER)


def room(edge):
    """log2 of the bytes kept for a tile: raw depths, and a stencil plane."""
    return (BYTES * transfers(TileMode.RAW, edge) + edge**2 - 1).bit_length()


def most(edge):
    """Most transfers of a tile."""
    return transfers(TileMode.RAW, edge)


def tile_address(base, number, edge):
    """Of a tile's first byte; a tile never crosses a page, nor does a burst."""
    assert TILE_NUMBER + room(edge) <= ADDRESS
    return base + (number << room(edge))


def table_address(base, count, line, edge):
    """Of a transfer of the table, which lies behind the tiles."""
    return base + (count << room(edge)) + (line << BYTES.bit_length() - 1)
