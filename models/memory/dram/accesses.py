# SPDX-License-Identifier: BSD-2-Clause
"""What clients ask DRAM for: columns, each with the clock in which it is asked for."""

import numpy as np

from fixfunc.models.memory.dram.address_map import COLUMN
from fixfunc.spec.errors import InputError

ACCESS = np.dtype(
    [
        ("clock", "u8"),  # in which the controller is asked
        ("address", "u8"),  # bytes, a multiple of 32
        ("write", "?"),
        ("client", "u1"),
    ]
)


def check(accesses: np.ndarray) -> None:
    """Refuse accesses that no controller takes.

    Raises
    ------
    InputError
        Records of another kind, clocks that fall, or an address within a column.
    """
    if accesses.dtype != ACCESS or accesses.ndim != 1:
        raise InputError("accesses", "be a row of ACCESS", accesses.dtype)
    clock = accesses["clock"]
    falls = np.flatnonzero(clock[1:] < clock[:-1])
    if len(falls):
        raise InputError("clock", "never fall", int(clock[falls[0] + 1]))
    if len(clock) and clock[-1] >= 1 << 62:
        raise InputError("clock", "lie below 2^62", int(clock[-1]))
    within = np.flatnonzero(accesses["address"] % COLUMN)
    if len(within):
        raise InputError(
            "address", f"be a multiple of {COLUMN}", int(accesses["address"][within[0]])
        )


def of_bursts(
    clock: np.ndarray,
    address: np.ndarray,
    transfers: np.ndarray,
    write: np.ndarray,
    client: np.ndarray,
) -> np.ndarray:
    """Accesses of bursts of AXI4 ports: an access a transfer, all in the clock of the burst.

    Accesses of one clock keep the order of their bursts; bursts may come in any order of clocks.

    Parameters
    ----------
    clock : ndarray of uint64, shape (n,)
        When memory is asked: for a write when its last transfer was taken, too.
    address : ndarray of uint64, shape (n,)
        Bytes, of the first transfer.
    transfers : ndarray of int, shape (n,)
        Of 32 bytes, at ascending addresses.
    write : ndarray of bool, shape (n,)
    client : ndarray of int, shape (n,)
        The number of the port, below 256.

    Returns
    -------
    ndarray of ACCESS
    """
    client = np.asarray(client)
    if len(client) and not 0 <= client.min() <= client.max() < 256:
        raise InputError("client", "lie in 0..255", int(client.max()))
    counts = np.asarray(transfers).astype(np.int64)
    order = np.argsort(clock, kind="stable")
    burst = np.repeat(order, counts[order])
    first = np.cumsum(counts[order]) - counts[order]
    number = np.arange(len(burst)) - np.repeat(first, counts[order])
    found = np.zeros(len(burst), ACCESS)
    found["clock"] = np.asarray(clock)[burst]
    found["address"] = np.asarray(address)[burst] + (number * COLUMN).astype(np.uint64)
    found["write"] = np.asarray(write)[burst]
    found["client"] = client[burst]
    check(found)
    return found
