# SPDX-License-Identifier: BSD-2-Clause
"""Machines by name, what is told of a frame on each, and parameters that are worth changing."""

from fixfunc.models.performance.params import FAR, MachineParams
from fixfunc.models.performance.studies import STUDIES

MACHINES = {
    "near": MachineParams(),
    "far": MachineParams(memory=FAR),
    **{name.lower().replace(" ", "-"): machine for name, machine in STUDIES.items()},
}
COLUMNS = {
    "clocks": "clocks of the frame, predicted",
    "milliseconds": "milliseconds of the frame at the machine's clock",
    "holding": "the station, or the port, that works for most of the clocks",
    "depth_bytes": "bytes of depths, read and written",
    "stencil_bytes": "bytes of stencil values",
    "colour_bytes": "bytes of colours",
    "command_bytes": "bytes of commands",
}
WHAT_IF = {
    "cache.sets": ["4", "16", "64", "256"],
    "cache.table_lines": ["64", "256", "1024"],
    "memory.latency": ["0+8", "100+200", "400+800", "1600+3200"],
    "queues.tiles": ["64", "256", "1024"],
    "tiles": ["0.5", "1", "2", "4"],
    "rasterizers": ["1", "2", "4"],
    "pixel_pipes": ["1", "2", "4"],
    "attributes": ["1", "2", "4"],
    "lanes": ["1", "2", "4"],
}
