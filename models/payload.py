# SPDX-License-Identifier: BSD-2-Clause
"""numpy dtypes of the payload tables in :mod:`fixfunc.spec.payloads`."""

from collections.abc import Iterable, Mapping

import numpy as np

from fixfunc.spec.errors import InputError
from fixfunc.spec.payloads import Field


def dtype(fields: Iterable[Field]) -> np.dtype:
    """Structured dtype of a field table: the narrowest integer that holds each field."""

    def scalar(field):
        size = next(b for b in (8, 16, 32, 64) if field.bits <= b)
        return f"{'i' if field.signed else 'u'}{size // 8}"

    return np.dtype([(f.name, scalar(f)) for f in fields])


def check(records: np.ndarray | Mapping[str, np.integer], fields: Iterable[Field]) -> None:
    """Check that every value fits the bits of its field.

    The first that does not raises :class:`~fixfunc.spec.errors.InputError`.
    """
    for f in fields:
        low, high = (
            (-(1 << f.bits - 1), (1 << f.bits - 1) - 1) if f.signed else (0, (1 << f.bits) - 1)
        )
        values = np.atleast_1d(records[f.name])
        wrong = (values < low) | (values > high)
        if wrong.any():
            raise InputError(f.name, f"lie in {low}..{high}", int(values[wrong][0]))
