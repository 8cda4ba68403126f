# SPDX-License-Identifier: BSD-2-Clause
"""What the parts of a tile cache hand to one another."""

from amaranth.hdl import Value
from amaranth.lib.data import StructLayout

from fixfunc.rtl.lib.axi import TRANSFER
from fixfunc.spec.payloads import SLOT, TILE_NUMBER
from fixfunc.spec.state import SlotOp

ENTRY = 4  # bits of a tile's mode in memory
TILES = TRANSFER // ENTRY  # tiles of a line, which is a transfer of the mode table
IN_LINE = (TILES - 1).bit_length()  # bits of a tile's place in its line
LINE = TILE_NUMBER - IN_LINE  # bits of a line's number

OP = max(SlotOp).bit_length()
SLOT_COMMAND = StructLayout({"op": OP, "slot": SLOT})  # fixfunc.spec.state.SlotOp
# ``number``: the tile that is used, and maybe brought. ``victim``: the one that leaves.
TAG_COMMAND = StructLayout({"op": OP, "slot": SLOT, "number": TILE_NUMBER, "victim": TILE_NUMBER})
# A line for memory. The sender of a posted one does not wait until memory has it.
LINE_STORE = StructLayout({"line": LINE, "data": TRANSFER, "posted": 1})


def has(op: Value, part: SlotOp) -> Value:
    """Whether a command has a part, such as EVICT."""
    return op[part.bit_length() - 1]


def tile_mode(mode: int) -> StructLayout:
    """A tile and its mode of so many bits."""
    return StructLayout({"number": TILE_NUMBER, "mode": mode})


def fill_request(mode: int, sequence: int) -> StructLayout:
    """A tile that is to be filled; where victims are counted in so many bits, whether it is read
    in the row of one, and of which.
    """
    recalled = {"recalled": 1, "victim": sequence} if sequence else {}
    return StructLayout({"number": TILE_NUMBER, "mode": mode} | recalled)


def evicted(mode: int) -> StructLayout:
    """A tile that has left its slot; its mode of so many bits from now on, if it was written."""
    return StructLayout({"number": TILE_NUMBER, "mode": mode, "dirty": 1})
