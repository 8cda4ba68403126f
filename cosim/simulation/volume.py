# SPDX-License-Identifier: BSD-2-Clause
"""The volume tier: a component with stream ports as a shared library, driven from numpy."""

import ctypes
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from amaranth.lib import wiring

from fixfunc.cosim import codec
from fixfunc.cosim.simulation import events
from fixfunc.cosim.simulation.events import Events, Keep
from fixfunc.cosim.simulation.library import OPTIMISE, build, shim
from fixfunc.cosim.verilog.generate import generate, memory_ports, ports
from fixfunc.spec.errors import InputError

PACES = ("full", "random", "bursty", "starved")
PATIENT = "patient"  # of outputs alone: each beat is taken in the clock after it was first offered
IDLE = 4096  # clocks without a beat: above what whole frames of the top need
CLOCK_LIMIT = 1 << 32
LATENCIES = (
    (400, 800),
    (0, 8),
    (20, 200),
)  # of memories, in clocks: as a processor's is, as fast as can be, between
CHANNELS = ("", "own", "shared")

NOWHERE = (1 << 64) - 1  # an address that no memory has


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
        A byte that cannot be read: the transfer that holds it has an error. One that cannot be
        written: its burst has, and leaves memory as it was. By default there is none.
    channel : str
        "own": each port has a channel of DRAM, of 32 bytes a clock. "shared": all ports have one,
        of 64. Banks, rows and turns of the data lines then say when an answer comes, not
        ``latency``.

    Bytes written are those that ``wstrb`` names. A transfer beyond the end is answered DECERR, and
    its address is kept: see :class:`Run`.
    """

    data: np.ndarray
    latency: tuple = LATENCIES[0]
    ready: int = 160
    faults: tuple = (NOWHERE,) * 2
    channel: str = ""


class Behind(NamedTuple):
    """A memory that has a name: fields of :class:`Memory`, and what people are told."""

    fields: dict
    text: str


MEMORIES = {
    "near": Behind({"latency": (0, 8)}, "answers after 0 to 8 clocks"),
    "far": Behind({"latency": (400, 800)}, "answers after 400 to 800 clocks"),
    "dram": Behind({"channel": "own"}, "a channel of DRAM a port, 32 bytes a clock"),
    "shared": Behind({"channel": "shared"}, "one channel of DRAM, 64 bytes a clock"),
}


class Stats(ctypes.Structure):
    """Clocks of a run: all; at the first beat taken; at the last beat given; of parts, left out."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("clocks", "first", "last", "left_out")]


class Run(NamedTuple):
    """Beats out, by port, packed.

    Clocks from the first beat taken to the last beat given, and all that were simulated; seconds;
    addresses of transfers that memory does not have, ndarray of uint64; what was kept by clocks, if
    that was asked for; clocks that were left out, of all parts that stood still.
    """

    outputs: dict
    clocks: int
    simulated: int
    seconds: float
    outside: np.ndarray = np.zeros(0, np.uint64)
    events: Events | None = None
    left_out: int = 0


class SimulationError(RuntimeError):
    """A component did not drain.

    It did not within the clock limit, or sent more beats than there is room for.
    """


class ProtocolError(SimulationError):
    """A port broke a rule of its protocol: which port, in which clock, which rule.

    Streams: what is offered stays until it is taken; nothing is offered in reset. AXI4: the same of
    every channel; whole, aligned transfers at ascending addresses; ids of one bit are 0; no burst
    crosses 4 KB; ``wlast`` is at the end of a burst.
    """


class Volume:
    """One component, Verilated.

    Parameters
    ----------
    component : wiring.Component
        All of its ports must be streams, AXI4, or inputs of up to 64 bits: see :meth:`hold`.
    name : str
        Name of its module.
    source : str, optional
        Its SystemVerilog, where that has been generated already.
    optimise : str
        Level of the C++ compiler.
    covered : bool
        Coverage is counted: see :meth:`coverage`.
    traced : bool
        Waves can be written: see :meth:`waves`.

    Built once: see :func:`fixfunc.cosim.simulation.library.build`.
    """

    def __init__(
        self,
        component: wiring.Component,
        name: str,
        source: str | None = None,
        optimise: str = OPTIMISE,
        covered: bool = False,
        traced: bool = False,
    ) -> None:
        self.ports = ports(component)
        self.inputs = [p for p in self.ports if p.input]
        self.outputs = [p for p in self.ports if not p.input]
        self._memories = memory_ports(component)
        self._library = ctypes.CDLL(
            str(
                build(
                    source or generate(component, name),
                    shim(component, name, covered, traced),
                    name,
                    optimise,
                    covered,
                    traced,
                )
            )
        )
        self._library.sim_new.restype = ctypes.c_void_p
        self._library.sim_violation.restype = ctypes.c_char_p
        if self._memories:
            self._library.sim_outside.restype = ctypes.c_uint64
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
        keep: Keep | None = None,
        idle: int = IDLE,
    ) -> Run:
        """Send beats until the component has drained.

        Parameters
        ----------
        inputs : dict of ndarray of uint64
            By port: packed beats, shape (n, words).
        room : int
            Most beats that an output may give.
        paces : (str, str)
            Of all inputs and of all outputs: ``full``, ``random``, ``bursty``, ``starved``. Of
            outputs ``patient``, too.
        seed : int
            Of the stalls.
        limit : int
            Clocks.
        memory : Memory, optional
            Behind the AXI4 port.
        keep : Keep, optional
            What is kept by clocks. Nothing is built for it.
        idle : int
            Clocks without a beat after which it has drained.

        Raises
        ------
        InputError
            More bursts than ``keep`` allows.
        SimulationError
            The clock limit or the room was reached.
        ProtocolError
            A port broke a rule.
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
        kinds = [PACES.index(paces[0])] * len(rows)
        kinds += [(*PACES, PATIENT).index(paces[1])] * len(out)
        if self._memories:
            numbers = memory.data.size, *memory.latency, *memory.faults, memory.ready
            numbers = *numbers, CHANNELS.index(memory.channel)
            self._library.sim_memory(
                ctypes.c_void_p(memory.data.ctypes.data), *map(ctypes.c_uint64, numbers)
            )
        events.ask(self._library, keep)
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
            ctypes.c_uint64(idle),
            ctypes.c_uint64(limit),
            ctypes.byref(stats),
        )
        if status == 1:
            raise SimulationError(f"not drained after {limit} clocks: {[*beat_counts]} beats out")
        if status == 2:
            raise SimulationError(f"more than {room} beats out")
        if status == 3:
            raise ProtocolError(self._library.sim_violation().decode())
        if status == 4:
            rule = f"be at most {keep.bursts}, which memory is kept for"
            raise InputError("bursts of a run", rule, f"more in clock {stats.clocks}")
        outputs = {
            p.name: beats[:n] for p, beats, n in zip(self.outputs, out, beat_counts, strict=True)
        }
        seconds = time.perf_counter() - start
        clocks = stats.last - stats.first + 1
        names = [port.name for port in (*self.inputs, *self.outputs)]
        kept = events.told(self._library, names, self._memories) if keep else None
        outside = self._outside()
        return Run(outputs, clocks, stats.clocks, seconds, outside, kept, stats.left_out)

    def replay(self, bursts: np.ndarray, channel: str) -> np.ndarray:
        """When the DRAM behind the ports answers bursts: clocks, ndarray of uint64.

        Parameters
        ----------
        bursts : ndarray of fixfunc.cosim.simulation.events.BURST
        channel : str
            "own" or "shared": see :class:`Memory`.
        """
        return events.replay(self._library, bursts, channel == "shared")

    def hold(self, port: str, value: int) -> None:
        """Give an input that is no stream its value, 0 at first, for the runs from now on."""
        getattr(self._library, f"sim_hold_{port}")(
            ctypes.c_void_p(self._handle), ctypes.c_uint64(value)
        )

    def waves(self, path: Path, clocks: tuple[int, int]) -> None:
        """Write waves of the next run to a file, FST, of a component that was built for it.

        Of clocks from the first one up to, and not with, the second, since reset. A clock is a
        nanosecond there, whose rising edge is in the middle.
        """
        first, end = clocks
        if not 0 <= first < end:
            raise InputError(
                "clocks", "be FIRST:END, the first less than the end", f"{first}:{end}"
            )
        self._library.sim_waves(
            ctypes.c_void_p(self._handle),
            str(path).encode(),
            ctypes.c_uint64(first),
            ctypes.c_uint64(end),
        )

    def coverage(self, path: Path) -> None:
        """Write the counts of all runs so far, of a component that was built for it, to a file."""
        self._library.sim_coverage(ctypes.c_void_p(self._handle), str(path).encode())

    def _outside(self) -> np.ndarray:
        """Addresses of transfers that memory did not have in the last run."""
        if not self._memories:
            return np.zeros(0, np.uint64)
        addresses = ctypes.POINTER(ctypes.c_uint64)()
        count = self._library.sim_outside(ctypes.byref(addresses))
        return (
            np.ctypeslib.as_array(addresses, (count,)).copy() if count else np.zeros(0, np.uint64)
        )

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
