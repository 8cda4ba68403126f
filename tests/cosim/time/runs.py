# SPDX-License-Identifier: BSD-2-Clause
"""A run of a top that nobody simulated, small enough to see through."""

import numpy as np

from fixfunc.cosim.simulation.events import BURST, MOVES, Events
from fixfunc.spec.counters import PROBES
from fixfunc.spec.state import Kind

INTERVAL = 10
INTERVALS = 12  # the third is that of the START, the ninth that of the last status
PORTS = "commands_memory", "depth_memory"
# Of the port in PORTS: write, address, transfers, and clocks: address, first, last, due, answer.
BURSTS = [
    (0, 0, 0x2000, 4, 23, 30, 33, 29, 33),
    (0, 0, 0x2080, 1, 24, 35, 35, 34, 35),  # two under way at a time
    (1, 1, 0x100, 2, 45, 41, 42, 60, 61),  # its data come before its address
    (1, 0, 0x100, 2, 62, 70, 72, 70, 72),
    (1, 1, 0x1E0, 1, 62, 63, 63, 64, 65),
]


def stream(**beats):
    """A stream: ``_3=(2, 5)`` are 2 beats and 5 stalls in interval 3."""
    found = np.zeros(INTERVALS, MOVES)
    for place, moved in beats.items():
        found[int(place[1:])] = moved
    return found


def run(stalls=(36, 0, 0, 0, 0, 0, 20), late=4):
    """A clear, two draws of two triangles and one, a fence; a stall in clocks 40 to 76."""
    kinds = [Kind.STATE, Kind.CLEAR, Kind.WORK, Kind.WORK, Kind.STATE, Kind.WORK, Kind.FENCE]
    streams = {
        "i": stream(_2=(1, 0)),
        "o": stream(_8=(1, 0)),
        "colours": stream(_6=(4, 6)),
        "probe_commands": stream(_3=(2, 0), _4=(3, 0), _6=(1, 0), _7=(1, 0)),
        **{f"probe_{name}": stream(_5=(3, 0)) for name in PROBES[1:-1]},
    }
    bursts = np.zeros(len(BURSTS), BURST)
    names = "port", "write", "address", "transfers", "addressed", "first", "last", "due", "answered"
    for name, column in zip(names, zip(*BURSTS, strict=True), strict=True):
        bursts[name] = column
    for number, port in enumerate(PORTS):
        for way in (0, 1):
            found = streams[f"{port}.{('read', 'write')[way]}"] = stream()
            for burst in bursts[(bursts["port"] == number) & (bursts["write"] == way)]:
                found["beats"][int(burst["last"]) // INTERVAL] += burst["transfers"]
    sampled = np.zeros((3, len(PROBES), 2), np.uint64)
    sampled[:, :, 0] = np.array([[40], [76], [93]])
    sampled[1:, :, 1] = stalls
    sampled[2, -1, 1] += late  # before the last status
    outputs = {
        "probe_commands": np.array(kinds, np.uint64)[:, None],
        "sampled": sampled.reshape(-1, 2),
    }
    return outputs, Events(INTERVAL, streams, PORTS, bursts)
