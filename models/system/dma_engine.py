# SPDX-License-Identifier: BSD-2-Clause
"""The DMA engine: copies beside the drawing, in an order that fences tell."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from fixfunc.models.payload import integer
from fixfunc.models.system.bus import PCIE_2_X16, SECOND, Bus
from fixfunc.models.system.page_table import Aperture
from fixfunc.models.system.sequence import reached
from fixfunc.spec.errors import InputError

LOCAL_BANDWIDTH = 180 * 10**9  # bytes a second [trip 2]


class CopyError(InputError):
    """A copy that is none of the engine's: from system memory to system memory."""


class DeadlockError(Exception):
    """Every queue that has commands left waits for a fence that none of them signals."""


@dataclass(frozen=True)
class Place:
    """Bytes of a memory."""

    aperture: Aperture
    address: int


@dataclass(frozen=True)
class Copy:
    """Bytes go from one place to another.

    Parameters
    ----------
    source, destination : Place
        Not both in system memory: that is the host's own work [trip 2].
    size : int
        Bytes, 1 or more.

    Raises
    ------
    CopyError
        Both are in system memory.
    """

    source: Place
    destination: Place
    size: int

    def __post_init__(self):
        integer("size", self.size, 1, 1 << 40)
        if self.source.aperture == self.destination.aperture == Aperture.SYSTEM:
            raise CopyError("copy", "have an end in local memory", "from system to system memory")


@dataclass(frozen=True)
class Draw:
    """Work of the 3D engine.

    Parameters
    ----------
    time : int
        Nanoseconds.
    effect : callable
        Given local memory, ndarray of uint8, when the work ends.
    """

    time: int
    effect: Callable[[np.ndarray], None] = lambda _: None


@dataclass(frozen=True)
class Signal:
    """A fence gets a value when all before it in its queue is done."""

    fence: str
    value: int


@dataclass(frozen=True)
class Wait:
    """Nothing behind it in its queue begins before a fence has reached a value.

    Values are sequence numbers of 32 bits that wrap: one has been reached if the fence is less than
    2^31 beyond it.
    """

    fence: str
    value: int


@dataclass(frozen=True)
class Span:
    """A copy or a draw, in time."""

    queue: str
    command: Copy | Draw
    begin: int  # nanoseconds
    end: int


@dataclass(frozen=True)
class Engines:
    """Queues that go on side by side, each in its own order.

    Parameters
    ----------
    memories : mapping of Aperture to ndarray of uint8
        Read and written in place: a copy reads when it begins, and writes when it ends.
    bus : Bus
    local_bandwidth : int
        Bytes a second of local memory; a copy within it reads and writes each byte.
    fences : dict of str to int
        Values by name, changed in place; one that is not there is 0.
    """

    memories: Mapping[Aperture, np.ndarray]
    bus: Bus = PCIE_2_X16
    local_bandwidth: int = LOCAL_BANDWIDTH
    fences: dict[str, int] = field(default_factory=dict)

    def time(self, command: Copy | Draw) -> int:
        """Nanoseconds that a command takes."""
        if isinstance(command, Draw):
            return integer("time", command.time, 0, 1 << 48)
        if command.source.aperture == command.destination.aperture:
            return -(-2 * command.size * SECOND // self.local_bandwidth)
        return self.bus.time(command.size)

    def run(self, queues: Mapping[str, Sequence[Copy | Draw | Signal | Wait]]) -> list[Span]:
        """Execute queues until all are empty.

        What ends in a nanosecond ends before anything begins in it.

        Parameters
        ----------
        queues : mapping of str to sequence
            By name; a queue is one engine's.

        Returns
        -------
        list of Span
            In the order in which they end.

        Raises
        ------
        DeadlockError
            Fences that nobody signals any more.
        InputError
            A copy beyond a memory.
        """
        left = {name: list(commands) for name, commands in queues.items()}
        for command in (it for commands in left.values() for it in commands):
            if isinstance(command, Copy):
                self._check(command)
        under_way: dict[str, tuple[Span, np.ndarray | None]] = {}
        spans = []
        now = 0
        while True:
            self._begin(left, under_way, now)
            if not under_way:
                break
            now = min(span.end for span, _ in under_way.values())
            for name in [name for name in under_way if under_way[name][0].end == now]:
                span, data = under_way.pop(name)
                self._end(span.command, data)
                spans.append(span)
        stuck = {name: commands[0] for name, commands in left.items() if commands}
        if stuck:
            text = ", ".join(f"{name} for {it.fence} {it.value}" for name, it in stuck.items())
            raise DeadlockError(f"queues wait for ever: {text}")
        return spans

    def _begin(self, left, under_way, now):
        """Take from each queue what may begin; a signal may let another queue go on."""
        changed = True
        while changed:
            changed = False
            for name, commands in left.items():
                while commands and name not in under_way:
                    command = commands[0]
                    if isinstance(command, Wait) and not self._over(command):
                        break
                    commands.pop(0)
                    changed = True
                    if isinstance(command, Signal):
                        self.fences[command.fence] = command.value
                    elif not isinstance(command, Wait):
                        span = Span(name, command, now, now + self.time(command))
                        under_way[name] = span, self._read(command)

    def _over(self, wait):
        """Whether a fence, 0 at first, has come as far as a wait asks."""
        return reached(self.fences.get(wait.fence, 0), wait.value)

    def _check(self, copy):
        for place in (copy.source, copy.destination):
            size = len(self.memories[place.aperture])
            if not 0 <= place.address <= size - copy.size:
                raise InputError("copy", f"lie within {size} bytes", place.address)

    def _read(self, command):
        if isinstance(command, Draw):
            return None
        source = command.source
        found = self.memories[source.aperture][source.address : source.address + command.size]
        return found.copy()

    def _end(self, command, data):
        if isinstance(command, Draw):
            command.effect(self.memories[Aperture.LOCAL])
            return
        place = command.destination
        self.memories[place.aperture][place.address : place.address + command.size] = data
