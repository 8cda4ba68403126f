# SPDX-License-Identifier: BSD-2-Clause
"""Which channel, bank, row and column an address of DRAM is."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from fixfunc.spec.errors import InputError

PLACE = np.dtype([("channel", "u4"), ("bank", "u4"), ("row", "u8"), ("column", "u4")])
COLUMN = 32  # bytes of a column: of an access, as of a transfer of AXI4


@dataclass(frozen=True)
class AddressMap:
    """Bits of an address by what they select, the lowest first.

    Parameters
    ----------
    bits : tuple of (str, int)
        Name, ``column``, ``channel`` or ``bank``, and number of bits, from the bit above a column's
        bytes up. A name may come several times: its bits are joined, the lowest first. All bits
        above the last are the row's.

    Raises
    ------
    InputError
        A name that there is not, or a number of bits that is not 0 to 16.
    """

    bits: tuple[tuple[str, int], ...]

    def __post_init__(self):
        for name, count in self.bits:
            if name not in ("column", "channel", "bank"):
                raise InputError("bits", "be of column, channel or bank", name)
            if not isinstance(count, int) or not 0 <= count <= 16:
                raise InputError(f"bits of {name}", "lie in 0..16", count)

    @classmethod
    def by_row(cls, channels: int, banks: int, row: int) -> Self:
        """Addresses that follow each other fill a row, then the same row of the next channel.

        Parameters
        ----------
        channels, banks : int
            Powers of two.
        row : int
            Bytes of a row of a bank, a power of two.
        """
        return cls.by_tile(channels, banks, row, row)

    @classmethod
    def by_tile(cls, channels: int, banks: int, row: int, tile: int) -> Self:
        """Tiles of so many bytes go to the channels in turn; a row holds several of them.

        Parameters
        ----------
        channels, banks, row : int
            As those of :meth:`by_row`.
        tile : int
            Bytes, a power of two of a column to a row.
        """
        columns = _log2("row", row) - _log2("column", COLUMN)
        inside = _log2("tile", tile) - _log2("column", COLUMN)
        if columns < 0:
            raise InputError("row", f"hold a column of {COLUMN} bytes", row)
        if not 0 <= inside <= columns:
            raise InputError("tile", f"lie in {COLUMN}..{row} bytes", tile)
        return cls(
            (
                ("column", inside),
                ("channel", _log2("channels", channels)),
                ("column", columns - inside),
                ("bank", _log2("banks", banks)),
            )
        )

    def count(self, name: str) -> int:
        """How many channels there are, banks of a channel, or columns of a row."""
        return 1 << sum(count for own, count in self.bits if own == name)

    def places(self, addresses: np.ndarray) -> np.ndarray:
        """Places of columns: PLACE, shape (n,).

        Parameters
        ----------
        addresses : ndarray of uint64, shape (n,)
            Bytes: any byte of the column.
        """
        rest = np.asarray(addresses).astype(np.uint64) // np.uint64(COLUMN)
        found = np.zeros(rest.shape, PLACE)
        done = dict.fromkeys(("column", "channel", "bank"), 0)
        for name, count in self.bits:
            part = rest & np.uint64((1 << count) - 1)
            found[name] |= (part << np.uint64(done[name])).astype(np.uint32)
            done[name] += count
            rest = rest >> np.uint64(count)
        found["row"] = rest
        return found

    def addresses(self, places: np.ndarray) -> np.ndarray:
        """Addresses of the columns of places, the inverse of :meth:`places`: uint64, shape (n,)."""
        found = places["row"].astype(np.uint64)
        left = {name: places[name].astype(np.uint64) for name in ("column", "channel", "bank")}
        total = {name: self.count(name).bit_length() - 1 for name in left}
        for name, count in reversed(self.bits):
            total[name] -= count
            part = left[name] >> np.uint64(total[name]) & np.uint64((1 << count) - 1)
            found = found << np.uint64(count) | part
        return found * np.uint64(COLUMN)

    def row_hits(self, addresses: np.ndarray) -> np.ndarray:
        """Which accesses find their row open, if each is served in order: bool, shape (n,).

        A bank keeps the row of its last access open; at first none is.

        Parameters
        ----------
        addresses : ndarray of uint64, shape (n,)
            Bytes, in order.
        """
        places = self.places(addresses)
        bank = places["channel"].astype(np.int64) * self.count("bank") + places["bank"]
        order = np.argsort(bank, kind="stable")
        bank = bank[order]
        row = places["row"][order]
        found = np.zeros(len(order), bool)
        found[order[1:]] = (bank[1:] == bank[:-1]) & (row[1:] == row[:-1])
        return found


def _log2(name, value):
    """The exponent of a power of two."""
    if not isinstance(value, int) or value < 1 or value & value - 1:
        raise InputError(name, "be a power of two", value)
    return value.bit_length() - 1
