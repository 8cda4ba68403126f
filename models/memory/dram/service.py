# SPDX-License-Identifier: BSD-2-Clause
"""What a DRAM's commands mean for its clients: answers, row hits, efficiency."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from fixfunc.models.memory.dram.address_map import COLUMN
from fixfunc.models.memory.dram.controller import Command, Dram, schedule


class Outcome(IntEnum):
    """How an access found its bank."""

    HIT = 0  # its row was opened for another access
    CLOSED = 1  # an ACTIVATE was for it
    CONFLICT = 2  # a PRECHARGE and an ACTIVATE were for it


CLIENT = np.dtype(
    [
        ("client", "u1"),
        ("accesses", "u8"),
        ("read", "u8"),  # bytes
        ("written", "u8"),  # bytes
        ("hits", "u8"),
        ("closed", "u8"),
        ("conflicts", "u8"),
        ("latency", "f8"),  # clocks from being asked to the answer, the mean
        ("worst", "u8"),  # the longest of these
        ("efficiency", "f8"),  # share of all data lines' clocks that carry its data
    ]
)


@dataclass(frozen=True)
class Service:
    """A DRAM's answers to accesses.

    Parameters
    ----------
    dram : Dram
    accesses : ndarray of ACCESS, shape (n,)
    commands : ndarray of COMMAND
    column : ndarray of int64, shape (n,)
        Clock of each access' READ or WRITE.
    answered : ndarray of int64, shape (n,)
        Clock in which its client has the data, or knows that they are written: behind the last
        clock of its data, and the way.
    outcome : ndarray of uint8, shape (n,)
        :class:`Outcome` of each.
    """

    dram: Dram
    accesses: np.ndarray
    commands: np.ndarray
    column: np.ndarray
    answered: np.ndarray
    outcome: np.ndarray

    @property
    def latency(self) -> np.ndarray:
        """Clocks from being asked to the answer: int64, shape (n,)."""
        return self.answered - self.accesses["clock"].astype(np.int64)

    @property
    def clocks(self) -> int:
        """From the first access to the end of the last one's data."""
        if not len(self.accesses):
            return 0
        end = int(self.answered.max()) - self.dram.distance
        return end - int(self.accesses["clock"][0])

    @property
    def efficiency(self) -> float:
        """Share of the data lines' clocks, of all channels, in which data move; 0 of nothing."""
        return float(self.clients()["efficiency"].sum())

    def clients(self) -> np.ndarray:
        """A row a client that has accesses, by number: ndarray of CLIENT."""
        numbers, own = np.unique(self.accesses["client"], return_inverse=True)
        found = np.zeros(len(numbers), CLIENT)
        found["client"] = numbers

        def count(chosen=None):
            return np.bincount(own if chosen is None else own[chosen], minlength=len(numbers))

        found["accesses"] = count()
        found["written"] = COLUMN * count(self.accesses["write"])
        found["read"] = COLUMN * count(~self.accesses["write"])
        for name, outcome in zip(("hits", "closed", "conflicts"), Outcome, strict=True):
            found[name] = count(self.outcome == outcome)
        found["latency"] = np.bincount(own, self.latency, len(numbers)) / found["accesses"]
        np.maximum.at(found["worst"], own, self.latency.astype(np.uint64))
        lines = self.clocks * self.dram.map.count("channel")
        found["efficiency"] = found["accesses"] * self.dram.timing.burst / max(lines, 1)
        return found


def serve(dram: Dram, accesses: np.ndarray) -> Service:
    """Put accesses through a DRAM.

    Parameters
    ----------
    dram : Dram
    accesses : ndarray of ACCESS, shape (n,)
        As :func:`~fixfunc.models.memory.dram.controller.schedule` takes them, with its errors.
    """
    commands = schedule(dram, accesses)
    timing = dram.timing
    kind = commands["kind"]
    columns = commands[kind >= Command.READ]
    column = np.zeros(len(accesses), np.int64)
    column[columns["access"]] = columns["clock"]
    latency = np.where(accesses["write"], timing.t_cwl, timing.t_cas)
    outcome = np.zeros(len(accesses), np.uint8)
    outcome[commands["access"][kind == Command.ACTIVATE]] = Outcome.CLOSED
    outcome[commands["access"][kind == Command.PRECHARGE]] = Outcome.CONFLICT
    answered = column + latency + timing.burst + dram.distance
    return Service(dram, accesses, commands, column, answered, outcome)
