# SPDX-License-Identifier: BSD-2-Clause
"""The scheduler: which process the card works for, and what ends one that hangs [trip 1]."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from fixfunc.models.payload import integer


@dataclass(frozen=True)
class Submission:
    """A command buffer of a process.

    Parameters
    ----------
    arrival : int
        Nanosecond in which it is submitted; those of a process never fall.
    time : int, callable, or None
        Nanoseconds that the card works on it; None: it hangs. What is called is given the
        nanosecond in which the command buffer begins, executes it, and returns its time.
    """

    arrival: int
    time: int | Callable[[int], int | None] | None

    def __post_init__(self):
        integer("arrival", self.arrival, 0, 1 << 60)
        if self.time is not None and not callable(self.time):
            integer("time", self.time, 1, 1 << 60)


@dataclass(frozen=True)
class Execution:
    """What has become of a command buffer.

    Parameters
    ----------
    process : str
    number : int
        Of the process' command buffers, from 0 on.
    begin, end : int
        Nanoseconds; without the switch before it.
    completed : bool
        False: it hung, and was reset.
    """

    process: str
    number: int
    begin: int
    end: int
    completed: bool


@dataclass(frozen=True)
class Scheduler:
    """One process at a time has the card; a command buffer is never interrupted.

    Parameters
    ----------
    switch : int
        Nanoseconds until another process' state, and what it has in memory, is there.
    time_slice : int or None
        Nanoseconds after which a process gives way to another that waits, at the end of a command
        buffer; None: it stays as long as it has one, and others may starve.
    timeout : int
        Nanoseconds after which a command buffer hangs, and is reset. The rest of its process is
        dropped; others go on.
    reset : int
        Nanoseconds that a reset takes.
    """

    switch: int
    time_slice: int | None
    timeout: int
    reset: int

    def __post_init__(self):
        for name in ("switch", "timeout", "reset"):
            integer(name, getattr(self, name), int(name == "timeout"), 1 << 60)
        if self.time_slice is not None:
            integer("time_slice", self.time_slice, 0, 1 << 60)

    def run(self, processes: Mapping[str, Sequence[Submission]]) -> list[Execution]:
        """Execute what processes submit.

        The next process is the first behind the last one, in the order given and around, that has a
        command buffer waiting. The first process of all costs a switch, too; so does every one
        behind a reset.

        Parameters
        ----------
        processes : mapping of str to sequence of Submission

        Returns
        -------
        list of Execution
            In order. Those that were dropped have none.

        Raises
        ------
        InputError
            Arrivals of a process that fall.
        """
        names = list(processes)
        for submissions in processes.values():
            for before, after in pairwise(submissions):
                integer("arrival", after.arrival, before.arrival, 1 << 60)
        left = {name: list(enumerate(processes[name])) for name in names}
        found = []
        now = began = 0
        current = None  # whose state the card has
        last = len(names) - 1
        while any(left.values()):
            now = max(now, min(queue[0][1].arrival for queue in left.values() if queue))
            around = names[last + 1 :] + names[: last + 1]
            ready = [it for it in around if left[it] and left[it][0][1].arrival <= now]
            stays = current in ready and (self.time_slice is None or now - began < self.time_slice)
            name = current if stays else ready[0]
            if name != current:
                now += self.switch
                began = now
            elif not stays:
                began = now  # another slice: nobody waits
            current = name
            last = names.index(name)
            number, submission = left[name].pop(0)
            time = submission.time(now) if callable(submission.time) else submission.time
            hangs = time is None or time > self.timeout
            end = now + (self.timeout if hangs else time)
            found.append(Execution(name, number, now, end, not hangs))
            now = end
            if hangs:
                now += self.reset
                left[name] = []
                current = None
        return found
