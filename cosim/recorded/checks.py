# SPDX-License-Identifier: BSD-2-Clause
"""What numbers of a file may be: rows that break a rule are refused, the first by its number."""

from enum import IntEnum

import numpy as np

from fixfunc.spec.errors import InputError


def each(name: str, values: np.ndarray, legal: np.ndarray, rule: str) -> None:
    """Refuse the first row of which a value is not legal."""
    legal = np.asarray(legal, bool)
    rows = np.flatnonzero(~legal.all(tuple(range(1, legal.ndim))))
    if len(rows):
        array, _, field = name.partition(".")
        value = values[rows[0]]
        raise InputError(f"{array}[{rows[0]}].{field}", rule, value)


def within(rows: np.ndarray, array: str, field: str, low: int, high: int) -> None:
    """Refuse numbers of a field out of a range."""
    values = rows[field]
    rule = f"be {low} to {high}" if high >= low else "be of something that is there"
    each(f"{array}.{field}", values, (values >= low) & (values <= high), rule)


def one_of(name: str, values: np.ndarray, kind: type[IntEnum]) -> None:
    """Refuse numbers that an enumeration has not."""
    names = ", ".join(f"{its.value} {its.name}" for its in kind)
    each(name, values, np.isin(values, [its.value for its in kind]), f"be one of {names}")


def finite(rows: np.ndarray, array: str, field: str) -> None:
    """Refuse floats that are no numbers."""
    each(f"{array}.{field}", rows[field], np.isfinite(rows[field]), "be finite")


def spans(
    rows: np.ndarray, array: str, first: str, count: np.ndarray, end: np.uint64, of: str
) -> None:
    """Refuse rows that have data beyond the end."""
    begin = rows[first]
    # In the order of subtraction, so that nothing wraps.
    legal = (begin <= end) & (count <= end - np.minimum(begin, end))
    each(f"{array}.{first}", begin, legal, f"leave room for its own within {end} {of}")
