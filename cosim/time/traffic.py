# SPDX-License-Identifier: BSD-2-Clause
"""Bursts of AXI4 ports as the traces that Ramulator 2 and DRAMsim3 read: a line a transfer."""

from collections.abc import Callable

import numpy as np

from fixfunc.cosim.simulation.events import asked
from fixfunc.cosim.time.timeline import Timeline
from fixfunc.models.memory.dram.accesses import of_bursts
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


def accesses(timeline: Timeline) -> np.ndarray:
    """Transfers as accesses that the golden DRAM takes: ACCESS, whose clients are the ports.

    They come in the order in which memory is asked. Clocks count from ``timeline.start`` on.
    """
    bursts = timeline.bursts
    clocks = asked(bursts)
    order = np.lexsort((bursts["write"], bursts["port"], clocks))
    own = bursts[order]
    return of_bursts(
        clocks[order] - np.uint64(timeline.start),
        own["address"],
        own["transfers"],
        own["write"] == 1,
        own["port"],
    )


def files(timeline: Timeline) -> dict[str, bytes]:
    """Contents of ``<port>.<format>.trace`` by name, and of ``all``; a silent port has none.

    Clocks count from ``timeline.start`` on. Memory is asked for a read when its address was taken,
    for a write when its last transfer was, too; the transfers of a burst follow each other.
    """
    found = accesses(timeline)
    chosen = {"all": found}
    for number, port in enumerate(timeline.ports):
        chosen[port] = found[found["client"] == number]
    out = {}
    for name, some in chosen.items():
        if not len(some):
            continue
        transfers = list(zip(*(some[it].tolist() for it in ("write", "address", "clock"))))
        for form, line in FORMATS.items():
            text = "".join(f"{line(*transfer)}\n" for transfer in transfers)
            out[f"{name}.{form}.trace"] = text.encode()
    return out
