"""The volume tier: any component with stream ports as a shared library, driven from numpy in batches."""

import ctypes
import fcntl
import hashlib
import os
import shutil
import subprocess
import time
from pathlib import Path
from string import Template
from typing import NamedTuple

import numpy as np

from cosim import codec, toolchain
from cosim.verilog import generate, memory_ports, ports

PACES = ("full", "random", "bursty", "starved")
SHIM, MEMORY = (Path(__file__).with_name(f"{name}.cpp.in") for name in ("shim", "memory"))
IDLE = 4096  # clocks without a beat after which a component counts as drained
CLOCK_LIMIT = 1 << 32
THREADS = min(2, os.cpu_count() or 1)  # for whole frames: two simulate them almost twice as fast as one
SEAM = "seam_"  # names of outputs begin so that no one may hold up: what is seen there is recorded
LATENCIES = ((400, 800), (0, 8), (20, 200))  # of memories, in clocks: as a processor's is, as fast as can be, between

# Verilator writes the second of two underscores as its code.
_DRIVE = """\
        if (!in[{n}].offered && in[{n}].sent < in[{n}].count && pace[{n}].next()) {{
            in[{n}].offered = true;
            std::memcpy(&top->{name}___05Fpayload, in[{n}].rows + in[{n}].sent * {words}, {size});
        }}
        top->{name}___05Fvalid = in[{n}].offered;
        pending |= in[{n}].sent < in[{n}].count;"""
_READY = """\
        top->{name}___05Fready = out[{n}].ready = {always} || pace[$inputs + {n}].next();"""
_TAKEN = """\
        if (in[{n}].offered && top->{name}___05Fready) {{
            in[{n}].offered = false, ++in[{n}].sent, moved = true;
            if (!begun) begun = true, stats->first = stats->clocks;
        }}"""
_GIVEN = """\
        if (top->{name}___05Fvalid) pending = true;
        if (top->{name}___05Fvalid && out[{n}].ready) {{
            if (out[{n}].got == out[{n}].room) {{ status = 2; break; }}
            std::memcpy(out[{n}].rows + out[{n}].got++ * {words}, &top->{name}___05Fpayload, {size});
            moved = true, stats->last = stats->clocks;
        }}"""

_READY_ALWAYS = """\
    top->{name}___05Fready = 1;"""
_BARE = """\
    top->{name}___05Fvalid = 1;
    std::memcpy(&top->{name}___05Fpayload, rows, {size});"""
_FOLLOW = """\
        if (top->{name}___05Fready) {{
            std::memcpy(&top->{name}___05Fpayload, rows + sent * {words}, {size});
            if (++sent == count) sent = 0;
        }}"""


_MEMORY = {
    "begin": "{name}.begin(seed + {n});",
    "drive": "{name}.drive(top);",
    "observe": "{name}.observe(top); moved |= {name}.busy();",
}
_SET = """\
void sim_memory(uint8_t *bytes, uint64_t size, uint64_t least, uint64_t most, uint64_t unreadable, uint64_t fixed, uint64_t ready) {
    MemoryBytes::bytes = bytes, MemoryBytes::size = size, MemoryBytes::least = least, MemoryBytes::most = most;
    MemoryBytes::unreadable = unreadable, MemoryBytes::fixed = fixed, MemoryBytes::ready = ready;
}
"""


class Memory(NamedTuple):
    """What lies behind a component's AXI4 ports, one for all of them.

    Parameters
    ----------
    data : ndarray of uint8
        Its bytes: read, and written.
    latency : (int, int)
        Clocks from a request to its answer, least and most.
    ready : bool
        No channel ever stalls.
    faults : (int, int)
        A byte that cannot be read, and one that cannot be written: the answer is an error. By default there is none.
    """

    data: np.ndarray
    latency: tuple = LATENCIES[0]
    ready: bool = False
    faults: tuple = ((1 << 64) - 1,) * 2


class Stats(ctypes.Structure):
    """Clocks of one run: all; at the first beat taken; at the last beat given."""

    _fields_ = [(name, ctypes.c_uint64) for name in ("clocks", "first", "last")]


class Run(NamedTuple):
    """Beats out, by port, packed; clocks from the first beat taken to the last beat given, and all that were simulated; seconds."""

    outputs: dict
    clocks: int
    simulated: int
    seconds: float


class SimulationError(RuntimeError):
    """A component did not come to rest within the clock limit, or gave more beats than there is room for."""


class Volume:
    """One component, Verilated.

    Parameters
    ----------
    component : wiring.Component
        All of its ports must be streams, or AXI4.
    name : str
        Name of its module.
    threads : int
        That simulate it: more than one pays only for a component of the top's size, with a core for each.

    Built once; the library is kept under ``build/volume``, named by the hash of all that it is made of.
    """

    def __init__(self, component, name, threads=1):
        self.ports = ports(component)
        self.inputs = [p for p in self.ports if p.input]
        self.outputs = [p for p in self.ports if not p.input]
        self._memories = memory_ports(component)
        self._library = ctypes.CDLL(str(build(generate(component, name), self.shim(name), name, threads)))
        self._library.sim_new.restype = ctypes.c_void_p
        self._library.sim_free.argtypes = [ctypes.c_void_p]
        self._handle = self._library.sim_new()

    def shim(self, name):
        """The C++ around the component, its ports filled in."""
        def lines(form, of):
            return "\n".join(form.format(n=n, name=p.name, words=codec.words(p.width), size=_port_bytes(p.width),
                                         always="true" if p.name.startswith(SEAM) else "false")
                             for n, p in enumerate(of))

        known = {"name": name, "inputs": len(self.inputs), "outputs": len(self.outputs)}
        drive = Template(lines(_DRIVE, self.inputs) + "\n" + lines(_READY, self.outputs)).substitute(known)
        bare = lines(_READY_ALWAYS, self.outputs) + "\n" + lines(_BARE, self.inputs[:1])
        observe = lines(_TAKEN, self.inputs) + "\n" + lines(_GIVEN, self.outputs)
        memory = {f"memory_{key}": " ".join(text.format(name=port, n=n) for n, port in enumerate(self._memories)) for key, text in _MEMORY.items()}
        both, each = MEMORY.read_text().split("// One port.\n")
        of_ports = [Template(each).substitute(name=name, memory=port, port=f"{port}___05F") for port in self._memories]
        memory |= {"memory": "\n".join([both, *of_ports]) if of_ports else "", "memory_set": _SET if of_ports else ""}
        return Template(SHIM.read_text()).substitute(known, **memory, drive=drive, observe=observe, bare=bare, follow=lines(_FOLLOW, self.inputs[:1]))

    def run(self, inputs, room, paces=("full", "full"), seed=0, limit=CLOCK_LIMIT, memory=None):
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
                raise ValueError(f"{p.name} must have {codec.words(p.width)} words a beat, not shape {beats.shape}")
        out = [np.zeros((room, codec.words(p.width)), np.uint64) for p in self.outputs]
        got = (ctypes.c_uint64 * len(out))()
        kinds = [PACES.index(paces[0])] * len(rows) + [PACES.index(paces[1])] * len(out)
        if self._memories:
            numbers = memory.data.size, *memory.latency, *memory.faults, memory.ready
            self._library.sim_memory(ctypes.c_void_p(memory.data.ctypes.data), *map(ctypes.c_uint64, numbers))
        stats, begun = Stats(), time.perf_counter()
        status = self._library.sim_run(
            ctypes.c_void_p(self._handle), _pointers(rows), (ctypes.c_uint64 * len(rows))(*map(len, rows)),
            _pointers(out), (ctypes.c_uint64 * len(out))(*[room] * len(out)), got, (ctypes.c_int * len(kinds))(*kinds),
            ctypes.c_uint64(seed), ctypes.c_uint64(IDLE), ctypes.c_uint64(limit), ctypes.byref(stats))
        if status == 1:
            raise SimulationError(f"not drained after {limit} clocks: {[*got]} beats out")
        if status == 2:
            raise SimulationError(f"more than {room} beats out")
        outputs = {p.name: beats[:n] for p, beats, n in zip(self.outputs, out, got, strict=True)}
        return Run(outputs, stats.last - stats.first + 1, stats.clocks, time.perf_counter() - begun)

    def bare(self, rows, clocks):
        """Clock a fresh component with the beats of its first input over and over, and look at nothing."""
        rows = np.ascontiguousarray(rows, np.uint64)
        handle = ctypes.c_void_p(self._library.sim_new())
        self._library.sim_bare(handle, ctypes.c_void_p(rows.ctypes.data), ctypes.c_uint64(len(rows)), ctypes.c_uint64(clocks))
        self._library.sim_free(handle)

    def __del__(self):
        if getattr(self, "_handle", None):
            self._library.sim_free(self._handle)


def _port_bytes(bits):
    """Bytes of a port in Verilator's C++."""
    return next((size for size in (1, 2, 4, 8) if bits <= 8 * size), 4 * -(-bits // 32))


def _pointers(arrays):
    return (ctypes.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))


def build(source, shim, name, threads=1):
    """Compile one shared library, or find it; safe against others that build the same at the same time."""
    flags = ["--cc", "--build", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "-j", "2",
             *(["--threads", str(threads)] if threads > 1 else []),
             "--top-module", name, "-Wall", *toolchain.waivers(), "-LDFLAGS", "-shared",
             "-CFLAGS", "-fPIC -O2 -fvisibility=default"]
    digest = hashlib.sha256("\0".join([source, shim, *flags]).encode()).hexdigest()[:16]
    folder = toolchain.BUILD / "volume" / f"{name}-{digest}"
    library = folder / f"{name}.so"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if library.exists():
            return library
        tool = toolchain.verilator()
        (folder / f"{name}.sv").write_text(source)
        (folder / "shim.cpp").write_text(shim)
        command = [tool, *flags, "--Mdir", folder / "obj", "-o", folder / "built.so", f"{name}.sv", "shim.cpp"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        (folder / "log").write_text(done.stdout + done.stderr)
        if done.returncode:
            raise toolchain.ToolError(f"Verilator failed on {name}: see {folder / 'log'}\n{(done.stdout + done.stderr)[-2000:]}")
        (folder / "built.so").rename(library)
        shutil.rmtree(folder / "obj", ignore_errors=True)
    return library
