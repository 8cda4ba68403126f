# SPDX-License-Identifier: BSD-2-Clause
"""Golden models of the AXI4 burst reader and writer: untimed, in the order of the bursts."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

BYTES = 32  # of a transfer


class Burst(NamedTuple):
    """A burst: byte address, number of transfers, and the tag of who wants it."""

    address: int
    transfers: int
    tag: int


class Transfer(NamedTuple):
    """A transfer that has been read; ``empty`` stands for a burst of none."""

    data: int | None
    index: int
    last: bool
    empty: bool
    tag: int


def read(memory: np.ndarray, bursts: Iterable[Burst]) -> list[Transfer]:
    """What comes of bursts.

    Parameters
    ----------
    memory : ndarray of uint8
    bursts : iterable of Burst
    """
    out = []
    for burst in bursts:
        if not burst.transfers:
            out.append(Transfer(None, 0, True, True, burst.tag))
        for n in range(burst.transfers):
            first = burst.address + n * BYTES
            data = int.from_bytes(memory[first : first + BYTES].tobytes(), "little")
            out.append(Transfer(data, n, n == burst.transfers - 1, False, burst.tag))
    return out


def write(memory: np.ndarray, bursts: Iterable[Burst], data: Iterable[int]) -> np.ndarray:
    """Memory after bursts have been written, of which ``data`` are the transfers, in order.

    Returns
    -------
    ndarray of uint8
    """
    out = memory.copy()
    transfers = iter(data)
    for burst in bursts:
        for n in range(burst.transfers):
            first = burst.address + n * BYTES
            out[first : first + BYTES] = np.frombuffer(
                next(transfers).to_bytes(BYTES, "little"), np.uint8
            )
    return out
