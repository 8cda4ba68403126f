# SPDX-License-Identifier: BSD-2-Clause
"""Structured buffers with a hidden counter: structures are appended and consumed [fs 5.3.10].

Lanes take numbers in the order of their arrays, so that what is written does not depend on luck;
hardware may take any order.
"""

import numpy as np

from fixfunc.spec.errors import InputError

COUNTS = 1 << 32  # a counter wraps here [fs 22.17.17]


def count(counter: np.ndarray, mask: np.ndarray, step: int) -> np.ndarray:
    """Count lanes up, or down, and give each the number of a structure [fs 22.17.17, 22.17.18].

    Parameters
    ----------
    counter : ndarray of uint32, shape (1,)
        Written in place.
    mask : ndarray of bool
        Lanes that take part.
    step : int
        1: each lane has the counter as it was before it. -1: as it is behind it.

    Returns
    -------
    ndarray of uint32, of the mask's shape
        0 of the other lanes.

    Raises
    ------
    InputError
        A mask that is not of bool.
    """
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise InputError("mask", "be an array of bool", getattr(mask, "dtype", type(mask)))
    before = int(counter[0])
    place = np.cumsum(mask.reshape(-1), dtype=np.int64).reshape(mask.shape)
    numbers = before + place - 1 if step > 0 else before - place
    counter[0] = (before + step * int(mask.sum())) % COUNTS
    return np.where(mask, numbers, 0).astype(np.uint32)  # which wraps, too


def store(rows: np.ndarray, numbers: np.ndarray, mask: np.ndarray, values: np.ndarray) -> None:
    """Write lanes' structures; what lies beyond the buffer is dropped [fs 18.6.5.1].

    Parameters
    ----------
    rows : ndarray of uint8, shape (structures, stride)
        Written in place.
    numbers, mask : ndarray of uint32, of bool
        The structure of each lane, and which take part.
    values : ndarray, shape (*mask.shape, ...)
        Of as many bytes a lane as a structure has; others raise ``InputError``.
    """
    stride = rows.shape[1]
    values = np.ascontiguousarray(values)
    has_lanes = values.shape[: mask.ndim] == mask.shape and not values.dtype.hasobject
    if not has_lanes or values.nbytes != mask.size * stride:
        found = f"{values.dtype} of {values.shape}"
        raise InputError("structures", f"be of {stride} bytes for lanes of {mask.shape}", found)
    fits = mask & (numbers < len(rows))
    octets = values.reshape(-1).view(np.uint8).reshape(*mask.shape, stride)
    rows[numbers[fits]] = octets[fits]


def load(
    rows: np.ndarray, numbers: np.ndarray, mask: np.ndarray, structure: np.dtype
) -> np.ndarray:
    """Structures of lanes: zeros beyond the buffer, and of lanes that take no part.

    ``structure`` has as many bytes as a row; another raises ``InputError``.
    """
    stride = rows.shape[1]
    if structure.itemsize != stride or structure.hasobject:
        raise InputError("structure", f"be of {stride} bytes", structure.itemsize)
    fits = mask & (numbers < len(rows))
    found = np.zeros(mask.shape, structure)
    found.reshape(-1).view(np.uint8).reshape(*mask.shape, stride)[fits] = rows[numbers[fits]]
    return found
