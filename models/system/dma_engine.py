# SPDX-License-Identifier: BSD-2-Clause
"""The DMA engine: copies beside the drawing, in an order that fences tell."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
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


Command = Copy | Draw | Signal | Wait


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

    def run(self, queues: Mapping[str, Sequence[Command]]) -> list[Span]:
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
        run = Run(self)
        for name, commands in queues.items():
            run.submit(name, commands)
        spans = run.advance()
        run.check()
        return spans

    def over(self, wait: Wait) -> bool:
        """Whether a fence, 0 at first, has come as far as a wait asks."""
        return reached(self.fences.get(wait.fence, 0), wait.value)

    def check(self, copy: Copy) -> None:
        """Raise ``InputError`` for a copy beyond a memory."""
        for place in (copy.source, copy.destination):
            size = len(self.memories[place.aperture])
            if not 0 <= place.address <= size - copy.size:
                raise InputError("copy", f"lie within {size} bytes", place.address)

    def read(self, command: Copy | Draw) -> np.ndarray | None:
        """What a copy moves; None of a draw."""
        if isinstance(command, Draw):
            return None
        source = command.source
        found = self.memories[source.aperture][source.address : source.address + command.size]
        return found.copy()

    def end(self, command: Copy | Draw, data: np.ndarray | None) -> None:
        """Write what a copy has read, or draw."""
        if isinstance(command, Draw):
            command.effect(self.memories[Aperture.LOCAL])
            return
        place = command.destination
        self.memories[place.aperture][place.address : place.address + command.size] = data


class Run:
    """Queues under way, which may be given more commands at any time.

    Parameters
    ----------
    engines : Engines

    Attributes
    ----------
    now : int
        Nanosecond up to which all has happened.
    """

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self._left: dict[str, deque[Command]] = {}
        self._under_way: dict[str, tuple[Span, np.ndarray | None]] = {}
        self.now = 0

    def submit(self, queue: str, commands: Iterable[Command]) -> None:
        """Put commands behind those of a queue; they begin with the next :meth:`advance`."""
        commands = list(commands)
        for command in commands:
            if isinstance(command, Copy):
                self._engines.check(command)
        self._left.setdefault(queue, deque()).extend(commands)

    def advance(self, until: int | None = None) -> list[Span]:
        """Go on to a nanosecond, or as far as it goes; returns what has ended, in order."""
        spans = []
        self._begin()
        while self._under_way and (until is None or self.next_end <= until):
            self.now = self.next_end
            for name in [
                name for name, (span, _) in self._under_way.items() if span.end == self.now
            ]:
                span, data = self._under_way.pop(name)
                self._engines.end(span.command, data)
                spans.append(span)
            self._begin()
        self.now = max(self.now, until or 0)
        return spans

    @property
    def next_end(self) -> int | None:
        """When the first of what is under way ends; None: nothing is."""
        return min((span.end for span, _ in self._under_way.values()), default=None)

    def check(self) -> None:
        """Raise ``DeadlockError`` for queues that wait, if nothing is under way."""
        stuck = {name: commands[0] for name, commands in self._left.items() if commands}
        if stuck and not self._under_way:
            text = ", ".join(f"{name} for {it.fence} {it.value}" for name, it in stuck.items())
            raise DeadlockError(f"queues wait for ever: {text}")

    def _begin(self):
        """Take from each queue what may begin; a signal may let another queue go on."""
        changed = True
        while changed:
            changed = False
            for name, commands in self._left.items():
                while commands and name not in self._under_way:
                    command = commands[0]
                    if isinstance(command, Wait) and not self._engines.over(command):
                        break
                    commands.popleft()
                    changed = True
                    if isinstance(command, Signal):
                        self._engines.fences[command.fence] = command.value
                    elif not isinstance(command, Wait):
                        span = Span(name, command, self.now, self.now + self._engines.time(command))
                        self._under_way[name] = span, self._engines.read(command)
