# SPDX-License-Identifier: BSD-2-Clause
"""numpy dtypes of the payload tables in :mod:`fixfunc.spec.payloads`."""

import operator
from collections.abc import Iterable, Mapping
from enum import IntEnum

import numpy as np

from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import Field


def dtype(fields: Iterable[Field]) -> np.dtype:
    """Structured dtype of a field table: the narrowest integer that holds each field."""

    def scalar(field):
        size = next(b for b in (8, 16, 32, 64) if field.bits <= b)
        return f"{'i' if field.signed else 'u'}{size // 8}"

    return np.dtype([(f.name, scalar(f)) for f in fields])


def bounds(field: Field) -> tuple[int, int]:
    """The least and the greatest value of a field."""
    if field.signed:
        return -(1 << field.bits - 1), (1 << field.bits - 1) - 1
    return 0, (1 << field.bits) - 1


def integer(name: str, value: object, low: int, high: int) -> int:
    """A value as an integer of a range; none is cut to one.

    Anything else raises :class:`~fixfunc.spec.errors.InputError`.
    """
    try:
        number = int(value) if isinstance(value, np.bool_) else operator.index(value)
    except TypeError:
        raise InputError(name, "be an integer", value) from None
    if not low <= number <= high:
        raise InputError(name, f"lie in {low}..{high}", number)
    return number


def enumerated(kind: type[IntEnum], value: int | np.integer, name: str) -> IntEnum:
    """A member by its number; one that there is not raises ``InputError``."""
    try:
        return kind(int(value))
    except ValueError:
        names = ", ".join(member.name for member in kind)
        raise InputError(name, f"be one of {names}", int(value)) from None


def integers(values: Mapping[str, object], fields: Iterable[Field], what: str) -> dict[str, int]:
    """Values by the names of their fields, each an integer that fits its field.

    ``what`` they are: for the :class:`~fixfunc.spec.errors.InputError` of a wrong name.
    """
    by_name = {f.name: f for f in fields}
    for name in values:
        if name not in by_name:
            raise InputError(f"{what} field", f"be one of {', '.join(by_name)}", name)
    return {name: integer(name, value, *bounds(by_name[name])) for name, value in values.items()}


def check(records: np.ndarray | Mapping[str, np.integer], fields: Iterable[Field]) -> None:
    """Check that every value fits the bits of its field.

    The first that does not raises :class:`~fixfunc.spec.errors.InputError`.
    """
    for f in fields:
        low, high = bounds(f)
        values = np.atleast_1d(records[f.name])
        wrong = (values < low) | (values > high)
        if wrong.any():
            raise InputError(f.name, f"lie in {low}..{high}", int(values[wrong][0]))


def unpack(rows: np.ndarray, fields: Iterable[Field]) -> np.ndarray:
    """Records of a packet's fields, from rows of bytes, little end first."""
    out = np.zeros(len(rows), dtype(fields))
    low = 0
    bits = np.unpackbits(rows, axis=1, bitorder="little")
    for field in fields:
        value = bits[:, low : low + field.bits].astype(np.int64) @ (
            1 << np.arange(field.bits, dtype=np.int64)
        )
        out[field.name] = (
            np.where(value >> field.bits - 1, value - (1 << field.bits), value)
            if field.signed
            else value
        )
        low += field.bits
    return out


def carried(rows: np.ndarray, table: Iterable[Field]) -> np.ndarray:
    """Records of another table: fields of the same name, all others 0; ``kind`` is a field, too."""
    out = np.zeros(np.shape(rows), dtype(table))
    for name in set(out.dtype.names) & set(rows.dtype.names):
        out[name] = rows[name]
    return out
