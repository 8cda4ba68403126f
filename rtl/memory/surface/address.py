# SPDX-License-Identifier: BSD-2-Clause
"""Where tiles lie in memory."""

from dataclasses import dataclass

from amaranth.hdl import Array, Value, ValueLike

from fixfunc.rtl.depth.compression import tile_modes as modes
from fixfunc.rtl.lib.axi import ADDRESS, TRANSFER
from fixfunc.spec.colours import TRANSFERS as MOST
from fixfunc.spec.memory.depth_tiles import coded_words
from fixfunc.spec.payloads import COLOUR, DEPTH, FLOAT_DEPTH, TILE_NUMBER
from fixfunc.spec.state import DIFFERENCES, TileMode

BYTES = TRANSFER // 8


@dataclass(frozen=True)
class Surface:
    """Tiles of a target's depths, stencil values or colours, and behind them their table.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    bits : int
        Bits of a value. Those of ``FLOAT_DEPTH`` belong to D32F, or to formats with planes.
    differences : bool
        Tiles are coded by differences: depths that no planes give, or colours, by a palette too.
    """

    edge: int
    bits: int
    differences: bool = False

    def __post_init__(self):
        assert TILE_NUMBER + self.room <= ADDRESS

    @property
    def modes(self) -> range:
        """Numbers of modes, of which some may not be."""
        return range(DIFFERENCES + MOST + 1 if self.differences else TileMode.RAW + 1)

    @property
    def mode_bits(self) -> int:
        """Bits of a tile's mode on chip."""
        return (len(self.modes) - 1).bit_length()

    def transfers(self, mode: int, is_float: bool = False) -> int:
        """Transfers of a tile of a mode; of depths that are D32F."""
        if mode > DIFFERENCES:
            return mode - DIFFERENCES
        if self.differences and self.bits == COLOUR and mode == TileMode.PALETTE:
            return 1
        if mode in modes.MODES and self.bits in (DEPTH, FLOAT_DEPTH) and not is_float:
            return -(-modes.bits(mode, self.edge) // TRANSFER)
        return self.most if mode == TileMode.RAW else 0

    def sizes(self, is_float: Value) -> ValueLike:
        """Transfers of a tile, by its mode."""
        coded = Array(self.transfers(mode) for mode in self.modes)
        if self.bits != FLOAT_DEPTH:
            return coded
        return Array([coded, Array(self.transfers(mode, True) for mode in self.modes)])[is_float]

    @property
    def most(self) -> int:
        """Most transfers of a tile: those of a raw one."""
        return coded_words(self.edge, self.bits) * 32 // TRANSFER

    @property
    def room(self) -> int:
        """log2 of the bytes kept for a tile: it never crosses a page, nor does a burst."""
        return (BYTES * self.most - 1).bit_length()

    def tile_address(self, base: Value, number: Value) -> Value:
        """Address of a tile's first byte."""
        return base + (number << self.room)

    def table_address(self, base: Value, count: int, line: Value) -> Value:
        """Address of a line of the mode table, which lies behind the tiles."""
        return base + (count << self.room) + (line << BYTES.bit_length() - 1)
