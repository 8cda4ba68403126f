# SPDX-License-Identifier: BSD-2-Clause
"""The volume tier: a component with stream ports as a shared library, driven from numpy."""

import ctypes
import time
from typing import NamedTuple

import numpy as np
from amaranth.lib import wiring

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.library import OPTIMISE, build, shim
from fixfunc.cosim.verilog.generate import generate, memory_ports, ports

PACES = ("full", "random", "bursty", "starved")
IDLE = 4096  # clocks without a beat after which a component counts as drained
CLOCK_LIMIT = 1 << 32
LATENCIES = (
    (400, 800),
    (0, 8),
    (20, 200),
)  # of memories, in clocks: as a processor's is, as fast as can be, between


class Memory(NamedTuple):
    """What lies behind a component's AXI4 ports, one for all of them.

    Parameters
    ----------
    data : ndarray of uint8
        Its bytes: read, and written.
    latency : (int, int)
        Clocks from a request to its answer, least and most.
    ready : int
        Clocks of 256 in which a channel takes a request; with 256 no channel ever stalls.
    faults : (int, int)
        A byte that cannot be read, and one that cannot be written: the answer is an error. By
        default there is none.
    """

    data: np.ndarray
    latency: tuple = LATENCIES[0]
    ready: int = 160
    faults: tuple = ((1 << 64) - 1,) * 2


class Stats(ctypes.Structure):
    """Clocks of one run: all; at the first beat taken; at the last beat given."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("clocks", "first", "last")]


class Run(NamedTuple):
    """Beats out, by port, packed.

    Clocks from the first beat taken to the last beat given, and all that were simulated; seconds.
    """

    outputs: dict
    clocks: int
    simulated: int
    seconds: float


class SimulationError(RuntimeError):
    """A component did not drain.

    It did not within the clock limit, or sent more beats than there is room for.
    """


class Volume:
    """One component, Verilated.

    Parameters
    ----------
    component : wiring.Component
        All of its ports must be streams, or AXI4.
    name : str
        Name of its module.
    source : str, optional
        Its SystemVerilog, where that has been generated already.
    optimise : int
        Level of the C++ compiler.

    Built once: see :func:`fixfunc.cosim.simulation.library.build`.
    """

    def __init__(
        self,
        component: wiring.Component,
        name: str,
        source: str | None = None,
        optimise: int = OPTIMISE,
    ) -> None:
        self.ports = ports(component)
        self.inputs = [p for p in self.ports if p.input]
        self.outputs = [p for p in self.ports if not p.input]
        self._memories = memory_ports(component)
        self._library = ctypes.CDLL(
            str(build(source or generate(component, name), shim(component, name), name, optimise))
        )
        self._library.sim_new.restype = ctypes.c_void_p
        self._library.sim_free.argtypes = [ctypes.c_void_p]
        self._handle = self._library.sim_new()

    def run(
        self,
        inputs: dict[str, np.ndarray],
        room: int,
        paces: tuple[str, str] = ("full", "full"),
        seed: int = 0,
        limit: int = CLOCK_LIMIT,
        memory: Memory | None = None,
    ) -> Run:
        """Send beats until the component has drained.

        Parameters
        ----------
        inputs : dict of ndarray of uint64
            By port: packed beats, shape (n, words).
        room : int
            Most beats that an output may give.
        paces : (str, str)
            Of all inputs and of all outputs: ``full``, ``random``, ``bursty``, ``starved``.
        seed : int
            Of the stalls.
        limit : int
            Clocks.
        memory : Memory, optional
            Behind the AXI4 port.

        Raises
        ------
        SimulationError
            The clock limit or the room was reached.
        """
        rows = [np.ascontiguousarray(inputs[p.name], np.uint64) for p in self.inputs]
        for p, beats in zip(self.inputs, rows, strict=True):
            if beats.ndim != 2 or beats.shape[1] != codec.words(p.width):
                raise ValueError(
                    f"{p.name} must have {codec.words(p.width)} words a beat, not shape "
                    f"{beats.shape}"
                )
        out = [np.zeros((room, codec.words(p.width)), np.uint64) for p in self.outputs]
        beat_counts = (ctypes.c_uint64 * len(out))()
        kinds = [PACES.index(paces[0])] * len(rows) + [PACES.index(paces[1])] * len(out)
        if self._memories:
            numbers = memory.data.size, *memory.latency, *memory.faults, memory.ready
            self._library.sim_memory(
                ctypes.c_void_p(memory.data.ctypes.data), *map(ctypes.c_uint64, numbers)
            )
        stats = Stats()
        start = time.perf_counter()
        status = self._library.sim_run(
            ctypes.c_void_p(self._handle),
            _pointers(rows),
            (ctypes.c_uint64 * len(rows))(*map(len, rows)),
            _pointers(out),
            (ctypes.c_uint64 * len(out))(*[room] * len(out)),
            beat_counts,
            (ctypes.c_int * len(kinds))(*kinds),
            ctypes.c_uint64(seed),
            ctypes.c_uint64(IDLE),
            ctypes.c_uint64(limit),
            ctypes.byref(stats),
        )
        if status == 1:
            raise SimulationError(f"not drained after {limit} clocks: {[*beat_counts]} beats out")
        if status == 2:
            raise SimulationError(f"more than {room} beats out")
        outputs = {
            p.name: beats[:n] for p, beats, n in zip(self.outputs, out, beat_counts, strict=True)
        }
        return Run(outputs, stats.last - stats.first + 1, stats.clocks, time.perf_counter() - start)

    def bare(self, rows: np.ndarray, clocks: int) -> None:
        """Clock a fresh component with the beats of its first input over and over.

        No output is read.
        """
        rows = np.ascontiguousarray(rows, np.uint64)
        handle = ctypes.c_void_p(self._library.sim_new())
        self._library.sim_bare(
            handle,
            ctypes.c_void_p(rows.ctypes.data),
            ctypes.c_uint64(len(rows)),
            ctypes.c_uint64(clocks),
        )
        self._library.sim_free(handle)

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.sim_free(self._handle)


def _pointers(arrays):
    return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))
