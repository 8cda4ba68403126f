# SPDX-License-Identifier: BSD-2-Clause
"""What no hardware here can show: other machines, and processors of the documents."""

from dataclasses import replace

from fixfunc.models.performance.events import FrameEvents
from fixfunc.models.performance.params import (
    FAR,
    NEAR,
    CacheParams,
    MachineParams,
    MemoryParams,
    QueueParams,
)
from fixfunc.models.performance.predict import predict
from fixfunc.models.performance.stations import STATIONS
from fixfunc.models.performance.studies import STUDIES

PLAIN = MachineParams()
MACHINES = {
    "as it is": PLAIN,
    "2 rasterizers and pixel pipes": replace(PLAIN, rasterizers=2, pixel_pipes=2),
    "4 rasterizers and pixel pipes": replace(PLAIN, rasterizers=4, pixel_pipes=4),
    "8 rasterizers and pixel pipes": replace(PLAIN, rasterizers=8, pixel_pipes=8),
    "a ring of 4,096 slots": replace(PLAIN, queues=QueueParams(slots=4096)),
    "the same, 8 rasterizers and pixel pipes": replace(
        PLAIN, queues=QueueParams(slots=4096, triangles=4096), rasterizers=8, pixel_pipes=8
    ),
    "caches of 256 tiles": replace(PLAIN, cache=CacheParams(sets=64)),
    "caches of 4,096 tiles": replace(PLAIN, cache=CacheParams(sets=1024)),
    "far memory": replace(PLAIN, memory=FAR),
    "far memory, a ring of 4,096 slots": replace(PLAIN, memory=FAR, queues=QueueParams(slots=4096)),
    "memory whose channels never stall": replace(
        PLAIN, memory=MemoryParams(NEAR.latency, 1.0, 1.0, 1.0)
    ),
    "one such channel for all": replace(
        PLAIN, memory=MemoryParams(NEAR.latency, 1.0, 1.0, 1.0, True)
    ),
}


def machines(events: FrameEvents) -> dict[str, int]:
    """Clocks by machine."""
    return {name: predict(events, machine).clocks for name, machine in MACHINES.items()}


def without(events: FrameEvents) -> dict[str, int]:
    """Clocks by station, of a machine of which it takes no time."""
    return {name: predict(events, PLAIN, free=[name]).clocks for name in STATIONS}


def processors(events: FrameEvents) -> dict[str, dict]:
    """Microseconds, what holds the frame, and megabytes, by processor."""
    found = {name: predict(events, machine) for name, machine in STUDIES.items()}
    return {
        name: {
            "microseconds": 1e6 * it.seconds,
            "holding": it.holding,
            "megabytes": sum(it.bytes.values()) / 1e6,
        }
        for name, it in found.items()
    }
