# SPDX-License-Identifier: BSD-2-Clause
"""Payloads between structured arrays and packed vectors: the first field lowest."""

from collections.abc import Iterable, Sequence

import numpy as np

from fixfunc.spec.payloads import Field


def words(bits: int) -> int:
    """64-bit words of a packed payload."""
    return -(-bits // 64)


def wide(fields: Iterable[Field]) -> np.dtype:
    """A dtype that holds every record of a field table."""
    return np.dtype([(f.name, "i8" if f.signed else "u8") for f in fields])


def pack(
    records: np.ndarray | np.void, fields: Sequence[Field], bits: int | None = None
) -> np.ndarray:
    """Pack records.

    Parameters
    ----------
    records : structured ndarray, shape (n,)
    fields : tuple of :class:`fixfunc.spec.payloads.Field`
    bits : int, optional
        Width of the stream, where it is wider than the table.

    Returns
    -------
    ndarray of uint64, shape (n, words)
        Little end first.
    """
    records = np.atleast_1d(records)
    out = np.zeros((len(records), words(bits or sum(f.bits for f in fields))), np.uint64)
    low = 0
    for f in fields:
        mask = np.uint64((1 << f.bits) - 1)
        value = (
            records[f.name].astype(np.int64).view(np.uint64)
            if f.signed
            else records[f.name].astype(np.uint64)
        )
        value = value & mask
        word, shift = divmod(low, 64)
        out[:, word] |= value << np.uint64(shift)
        if shift + f.bits > 64:
            out[:, word + 1] |= value >> np.uint64(64 - shift)
        low += f.bits
    return out


def unpack(packed: np.ndarray, fields: Iterable[Field], dtype: np.dtype) -> np.ndarray:
    """The inverse of :func:`pack`, as records of ``dtype``."""
    out = np.zeros(len(packed), dtype)
    low = 0
    for f in fields:
        word, shift = divmod(low, 64)
        value = packed[:, word] >> np.uint64(shift)
        if shift + f.bits > 64:
            value = value | packed[:, word + 1] << np.uint64(64 - shift)
        value = value & np.uint64((1 << f.bits) - 1)
        if f.signed:
            unused_bits = np.uint64(64 - f.bits)
            value = (value << unused_bits).view(np.int64) >> np.int64(unused_bits)
        out[f.name] = value
        low += f.bits
    return out


def by_port(beats: np.ndarray | dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Beats out by port: those of a block with one stream out belong to ``o``."""
    return beats if isinstance(beats, dict) else {"o": beats}


def to_hex(row: np.ndarray) -> str:
    """One packed row as a hexadecimal number."""
    return f"{to_int(row):#x}"


def to_int(row: np.ndarray) -> int:
    """One packed row as a Python integer."""
    return int.from_bytes(np.ascontiguousarray(row, "<u8").tobytes(), "little")


def from_int(value: int, bits: int) -> np.ndarray:
    """A Python integer as one packed row."""
    return np.frombuffer(int(value).to_bytes(8 * words(bits), "little"), "<u8")
