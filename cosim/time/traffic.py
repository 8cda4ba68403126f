# SPDX-License-Identifier: BSD-2-Clause
"""Bursts of AXI4 ports as the traces that Ramulator 2 and DRAMsim3 read: a line a transfer."""

from collections.abc import Callable

import numpy as np

from fixfunc.cosim.simulation.events import asked
from fixfunc.cosim.time.timeline import Timeline
from fixfunc.spec.payloads import TRANSFER

BYTES = TRANSFER // 8  # of a line
BANKS = 16  # of a channel, in groups; as of the memory "dram"
GROUP = 4
ROW = 2048  # bytes


def dramsim3(write: bool, address: int, clock: int) -> str:
    """DRAMsim3's trace, ``src/common.cc``: address, READ or WRITE, clock, which never falls."""
    return f"{address:#x} {'WRITE' if write else 'READ'} {clock}"


def load_store(write: bool, address: int, _clock: int) -> str:
    """Ramulator 2's LoadStoreTrace, ``src/frontend/impl/memory_trace/loadstore_trace.cpp``."""
    return f"{'ST' if write else 'LD'} {address:#x}"


def read_write(write: bool, address: int, _clock: int) -> str:
    """Ramulator 2's ReadWriteTrace, ``readwrite_trace.cpp`` beside the other.

    Channel, rank, group of banks, bank, row, and column of 32 bytes.
    """
    row, bank = divmod(address // ROW, BANKS)
    group, bank = divmod(bank, GROUP)
    column = address % ROW // BYTES
    return f"{'W' if write else 'R'} 0,0,{group},{bank},{row},{column}"


FORMATS: dict[str, Callable[[bool, int, int], str]] = {
    "dramsim3": dramsim3,
    "ramulator.loadstore": load_store,
    "ramulator.readwrite": read_write,
}


def files(timeline: Timeline) -> dict[str, bytes]:
    """Contents of ``<port>.<format>.trace`` by name, and of ``all``; a silent port has none.

    Clocks count from ``timeline.start`` on. Memory is asked for a read when its address was taken,
    for a write when its last transfer was, too; the transfers of a burst follow each other.
    """
    bursts = timeline.bursts
    clocks = asked(bursts)
    order = np.lexsort((bursts["write"], bursts["port"], clocks))
    chosen = {"all": order}
    for number, port in enumerate(timeline.ports):
        chosen[port] = order[bursts["port"][order] == number]
    out = {}
    for name, places in chosen.items():
        if not len(places):
            continue
        transfers = _transfers(bursts[places], clocks[places] - np.uint64(timeline.start))
        for form, line in FORMATS.items():
            text = "".join(f"{line(*transfer)}\n" for transfer in transfers)
            out[f"{name}.{form}.trace"] = text.encode()
    return out


def _transfers(bursts, clocks):
    """Whether it is written, address and clock of each transfer."""
    counts = bursts["transfers"].astype(np.int64)
    first = np.repeat(np.cumsum(counts) - counts, counts)
    place = (np.arange(len(first)) - first) * BYTES
    addresses = np.repeat(bursts["address"].astype(np.int64), counts) + place
    writes = np.repeat(bursts["write"] == 1, counts)
    return list(zip(*(it.tolist() for it in (writes, addresses, np.repeat(clocks, counts)))))
