# SPDX-License-Identifier: BSD-2-Clause
"""Counts of bins, by name. A bin is declared by being counted, be it zero times.

An axis is a mapping of labels to booleans, one a row; a cross counts the rows of every combination
of labels. So a function of no rows declares all that a function of many counts.
"""

from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from itertools import product
from typing import Any, NamedTuple

import numpy as np

Axis = Mapping[str, np.ndarray]


class Seen(NamedTuple):
    """What one batch of a run came to.

    Parameters
    ----------
    rows : ndarray of uint64
        Packed beats in, as the bench's ``requests`` gives them.
    out : dict of ndarray of uint64
        Packed beats out, by port, all as expected.
    """

    rows: np.ndarray
    out: dict[str, np.ndarray]


class Batch(NamedTuple):
    """Directed beats, and what they meet.

    Parameters
    ----------
    rows : ndarray of uint64
        Packed beats in.
    paces : (str, str)
        Of all inputs, and of all outputs.
    memory : dict
        Fields of :class:`~fixfunc.cosim.simulation.volume.Memory`, by name, that are not as usual.
    """

    rows: np.ndarray
    paces: tuple[str, str] = ("full", "full")
    memory: dict[str, Any] = {}


def of(kinds: type[IntEnum] | Iterable[IntEnum], values: np.ndarray) -> Axis:
    """An axis of the members of an enumeration."""
    return {kind.name: np.asarray(values) == kind for kind in kinds}


def equal(values: np.ndarray, labels: Mapping[str, int]) -> Axis:
    """An axis of single values."""
    return {label: np.asarray(values) == value for label, value in labels.items()}


def samples_of(log2: np.ndarray, modes: Iterable[int] = range(4)) -> Axis:
    """An axis of samples a pixel."""
    return equal(log2, {f"{1 << mode}x": mode for mode in modes})


def flag(values: np.ndarray, no: str, yes: str) -> Axis:
    """An axis of two labels."""
    values = np.asarray(values).astype(bool)
    return {no: ~values, yes: values}


def ranges(values: np.ndarray, borders: Mapping[str, tuple[int, int]]) -> Axis:
    """An axis of ranges, both ends included."""
    values = np.asarray(values)
    return {name: (values >= low) & (values <= high) for name, (low, high) in borders.items()}


def ends(values: np.ndarray, low: int, high: int) -> Axis:
    """An axis of the least value, the greatest, and those between."""
    values = np.asarray(values)
    return {
        f"{low}": values == low,
        "between": (values > low) & (values < high),
        f"{high}": values == high,
    }


def cross(title: str, *axes: Axis, where: np.ndarray | bool = True) -> dict[str, int]:
    """Rows of each combination of labels, as ``title: label, label``."""
    return {
        f"{title}: {', '.join(labels)}": int(
            np.count_nonzero(
                np.logical_and.reduce(
                    [np.atleast_1d(axis[n]) & where for axis, n in zip(axes, labels, strict=True)]
                )
            )
        )
        for labels in product(*axes)
    }


def add(total: dict[str, int], counts: Mapping[str, int]) -> None:
    """Add counts of one batch to those of the batches before."""
    for name, count in counts.items():
        total[name] = total.get(name, 0) + count


Count = Callable[[Seen, object], dict[str, int]]
