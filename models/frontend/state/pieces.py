# SPDX-License-Identifier: BSD-2-Clause
"""Pieces of state, and tables in memory, as records of their fields."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.payload import integers, unpack
from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import Field
from fixfunc.spec.ring import TRANSFER


def piece(data: bytes, fields: Sequence[Field]) -> np.void:
    """One piece; of no bytes, as before the first one, all fields are zero."""
    rows = np.frombuffer(data.ljust(TRANSFER, b"\0"), np.uint8)[None]
    return unpack(rows, fields)[0]


def table(memory: np.ndarray, address: int, count: int, fields: Sequence[Field]) -> np.ndarray:
    """Records of a table, each in a transfer.

    Raises
    ------
    InputError
        It goes on beyond memory.
    """
    end = int(address) + int(count) * TRANSFER
    if end > len(memory):
        raise InputError("table", f"end within memory, at {len(memory)}", end)
    return unpack(memory[int(address) : end].reshape(-1, TRANSFER), fields)


def encode(fields: Sequence[Field], **values: int) -> bytes:
    """A transfer with these fields; those that are not named are zero.

    Raises
    ------
    InputError
        There is no such field, or a value does not fit it.
    """
    known = integers(values, fields, "descriptor")
    word = 0
    low = 0
    for field in fields:
        word |= (known.get(field.name, 0) & (1 << field.bits) - 1) << low
        low += field.bits
    return word.to_bytes(TRANSFER, "little")


def floats(*values: float) -> tuple[int, ...]:
    """Bits of float32; what is beyond it is infinite."""
    with np.errstate(over="ignore"):
        return tuple(np.array(values, np.float32).view(np.uint32).tolist())


def as_float(bits: np.integer) -> float:
    """A float32 by its bits."""
    return float(np.uint32(bits).view(np.float32))
