# SPDX-License-Identifier: BSD-2-Clause
"""A controller of DRAM: which command each channel takes in each clock."""

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from fixfunc.models.memory.dram import accesses as access_check
from fixfunc.models.memory.dram.address_map import AddressMap
from fixfunc.models.memory.dram.timing import Timing
from fixfunc.models.payload import integer


class Command(IntEnum):
    """What a channel is told in a clock."""

    ACTIVATE = 0  # open a row of a bank
    PRECHARGE = 1  # close a bank's row
    READ = 2  # a column of a bank's open row
    WRITE = 3


COMMAND = np.dtype(
    [
        ("clock", "u8"),
        ("channel", "u4"),
        ("kind", "u1"),  # Command
        ("bank", "u4"),
        ("row", "u8"),  # of a PRECHARGE that which it closes
        ("access", "u8"),  # the number of the access that it is for
    ]
)
NEVER = 1 << 62  # a clock that does not come
LONG_AGO = -NEVER


@dataclass(frozen=True)
class Dram:
    """Channels of DRAM and their controllers.

    Parameters
    ----------
    timing : Timing
    map : AddressMap
    window : int
        Accesses of a channel among which its controller chooses.
    patience : int
        Clocks in the window after which an access is overdue: see :func:`schedule`.
    distance : int
        Clocks from a client to its controller and back.
    hertz : int
        Clocks a second.
    """

    timing: Timing
    map: AddressMap
    window: int = 32
    patience: int = 512
    distance: int = 0
    hertz: int = 10**9

    def __post_init__(self):
        integer("window", self.window, 1, 1024)
        integer("patience", self.patience, 0, 1 << 30)
        integer("distance", self.distance, 0, 1 << 30)
        integer("hertz", self.hertz, 1, 10**12)


def schedule(dram: Dram, accesses: np.ndarray) -> np.ndarray:
    """Commands of all channels, until every access has had its READ or WRITE.

    Each channel goes by itself, and takes at most one command a clock. Accesses enter its window in
    order, one a clock, in the clock in which they are asked for or the first in which there is
    room; one leaves with its READ or WRITE, and its place is free a clock later. In a clock a
    channel takes the first of these that the timing lets it take:

    1. READ or WRITE of the oldest access whose row is open. Accesses to one address keep their
       order. If the oldest access of the window is overdue, no other one is read or written.
    2. ACTIVATE or PRECHARGE for the oldest access that is the oldest of its bank: ACTIVATE if the
       bank is closed, PRECHARGE if another row is open that no access in the window wants. The
       overdue oldest access of the window closes a row that others want, too.

    Parameters
    ----------
    dram : Dram
    accesses : ndarray of ACCESS, shape (n,)
        In the order in which they are asked for: clocks never fall.

    Returns
    -------
    ndarray of COMMAND
        By clock, then by channel.

    Raises
    ------
    InputError
        See :func:`~fixfunc.models.memory.dram.accesses.check`.
    """
    access_check.check(accesses)
    channels = _Channels(dram, accesses)
    while channels.active.any():
        channels.step()
    log = [np.concatenate(column) for column in zip(*channels.log)] or [[]] * 6
    commands = np.zeros(len(log[0]), COMMAND)
    for name, column in zip(COMMAND.names, log):
        commands[name] = column
    return commands[np.lexsort((commands["channel"], commands["clock"]))]


class _Channels:
    """All channels side by side: in a step each goes to its own next clock that matters.

    Arrays have a row a channel; those of the window a column an access, those of banks one a bank.
    """

    def __init__(self, dram, accesses):
        self._timing = dram.timing
        self._patience = dram.patience
        count = dram.map.count("channel")
        banks = dram.map.count("bank")
        self._each = np.arange(count)
        self._accesses = accesses
        self._clocks = accesses["clock"].astype(np.int64)
        self._places = dram.map.places(accesses["address"])
        # Numbers of accesses by channel, each channel's in order, from ``next`` to ``end``.
        channel = self._places["channel"]
        self._queue = np.argsort(channel, kind="stable")
        edges = np.searchsorted(channel[self._queue], np.arange(count + 1))
        self._next = edges[:-1].copy()
        self._end = edges[1:]
        window = (count, dram.window)
        self._age = np.full(window, NEVER)  # numbers of accesses, which ascend; NEVER: no access
        self._entered = np.zeros(window, np.int64)
        self._bank = np.zeros(window, np.int64)
        self._row = np.zeros(window, np.int64)
        self._write = np.zeros(window, bool)
        self._column = np.zeros(window, np.int64)
        self._behind = np.zeros(window, np.int64)  # older accesses to the address, in the window
        self._in_bank = np.zeros((*window, banks), bool)
        self._open = np.full((count, banks), -1)  # rows
        self._column_from = np.full((count, banks), LONG_AGO)
        self._precharge_from = np.full((count, banks), LONG_AGO)
        self._activate_from = np.full((count, banks), LONG_AGO)
        self._any_activate_from = np.full(count, LONG_AGO)
        self._read_from = np.full(count, LONG_AGO)  # by t_wtr
        self._data_end = np.full(count, LONG_AGO)  # of the data lines
        self._data_write = np.zeros(count, bool)  # their direction
        self._clock = self._arrival()
        self.log = []

    @property
    def active(self):
        """Channels that have accesses left."""
        return (self._next < self._end) | (self._age < NEVER).any(1)

    def step(self):
        """Take a command in each channel's clock, or go to the next clock in which one may be."""
        self._admit()
        column_time, oldest = self._column_times()
        row_time, bank_age = self._row_times(oldest)
        now = self._clock[:, None]
        age = np.where(column_time <= now, self._age, NEVER)
        slot = age.argmin(1)
        columns = age[self._each, slot] < NEVER
        ready = np.where(row_time <= now, bank_age, NEVER)
        bank = ready.argmin(1)
        rows = ~columns & (ready[self._each, bank] < NEVER)
        self._take_columns(np.flatnonzero(columns), slot[columns])
        self._take_rows(np.flatnonzero(rows), bank[rows], ready[rows, bank[rows]])
        self._go_on(columns | rows, column_time, row_time, oldest)

    def _arrival(self):
        """When the next access of each channel is asked for."""
        some = self._next < self._end
        found = np.full(len(some), NEVER)
        found[some] = self._clocks[self._queue[self._next[some]]]
        return found

    def _admit(self):
        """Let an access into each window that has room, if one has been asked for."""
        free = self._age == NEVER
        asked = (self._next < self._end) & (self._arrival() <= self._clock)
        entering = np.flatnonzero(asked & free.any(1))
        if not len(entering):
            return
        slot = free[entering].argmax(1)
        at = entering, slot
        number = self._queue[self._next[entering]]
        self._next[entering] += 1
        place = self._places[number]
        self._bank[at] = place["bank"]
        self._row[at] = place["row"]
        self._column[at] = place["column"]
        self._behind[at] = self._same_address(entering, slot).sum(1)
        self._age[at] = number
        self._entered[at] = self._clock[entering]
        self._write[at] = self._accesses["write"][number]
        self._in_bank[at] = np.arange(self._in_bank.shape[2]) == place["bank"][:, None]

    def _same_address(self, channel, slot):
        """Accesses of a channel's window to the address of one of them."""
        found = self._age[channel] < NEVER
        for array in (self._bank, self._row, self._column):
            found &= array[channel] == array[channel, slot][:, None]
        return found

    def _column_times(self):
        """First clocks for READ or WRITE of each access; the overdue oldest one, or -1."""
        timing = self._timing
        rank = self._each[:, None]
        turn = np.where(self._write == self._data_write[:, None], 0, timing.turnaround)
        latency = np.where(self._write, timing.t_cwl, timing.t_cas)
        time = np.maximum(
            self._column_from[rank, self._bank], self._data_end[:, None] + turn - latency
        )
        time = np.maximum(time, np.where(self._write, LONG_AGO, self._read_from[:, None]))
        allowed = (self._age < NEVER) & (self._behind == 0)
        allowed &= self._open[rank, self._bank] == self._row
        oldest = self._age.argmin(1)
        overdue = self._age[self._each, oldest] < NEVER
        overdue &= self._clock - self._entered[self._each, oldest] >= self._patience
        allowed &= ~overdue[:, None] | (np.arange(allowed.shape[1]) == oldest[:, None])
        return np.where(allowed, time, NEVER), np.where(overdue, oldest, -1)

    def _row_times(self, oldest):
        """First clocks for ACTIVATE or PRECHARGE of each bank; the access each would be for."""
        hits = (self._open[self._each[:, None], self._bank] == self._row) & (self._age < NEVER)
        wanted = (hits[:, :, None] & self._in_bank).any(1)
        age = np.where(self._in_bank, self._age[:, :, None], NEVER).min(1)
        overdue = np.flatnonzero(oldest >= 0)
        bank = self._bank[overdue, oldest[overdue]]
        wanted[overdue, bank] = hits[overdue, oldest[overdue]]
        closed = self._open < 0
        time = np.where(
            closed,
            np.maximum(self._activate_from, self._any_activate_from[:, None]),
            np.where(wanted, NEVER, self._precharge_from),
        )
        return np.where(age < NEVER, time, NEVER), age

    def _take_columns(self, channel, slot):
        """READ or WRITE: the access leaves the window."""
        timing = self._timing
        at = channel, slot
        bank = self._bank[at]
        write = self._write[at]
        clock = self._clock[channel]
        kind = np.where(write, Command.WRITE, Command.READ)
        self._keep(channel, kind, bank, self._row[at], self._age[at])
        end = clock + np.where(write, timing.t_cwl, timing.t_cas) + timing.burst
        self._data_end[channel] = end
        self._data_write[channel] = write
        self._read_from[channel] = np.where(write, end + timing.t_wtr, self._read_from[channel])
        closes = np.where(write, end + timing.t_wr, clock + timing.t_rtp)
        self._precharge_from[channel, bank] = np.maximum(
            self._precharge_from[channel, bank], closes
        )
        self._behind[channel] -= self._same_address(channel, slot)
        self._age[at] = NEVER
        self._in_bank[at] = False

    def _take_rows(self, channel, bank, number):
        """ACTIVATE where the bank is closed, PRECHARGE where a row is open."""
        timing = self._timing
        at = channel, bank
        clock = self._clock[channel]
        activate = self._open[at] < 0
        row = np.where(activate, self._places["row"][number].astype(np.int64), self._open[at])
        kind = np.where(activate, Command.ACTIVATE, Command.PRECHARGE)
        self._keep(channel, kind, bank, row, number)
        opened = channel[activate], bank[activate]
        self._column_from[opened] = clock[activate] + timing.t_rcd
        self._precharge_from[opened] = clock[activate] + timing.t_ras
        self._any_activate_from[opened[0]] = clock[activate] + timing.t_rrd
        self._activate_from[channel[~activate], bank[~activate]] = clock[~activate] + timing.t_rp
        self._open[at] = np.where(activate, row, -1)

    def _keep(self, channel, kind, bank, row, number):
        self.log.append((self._clock[channel], channel, kind, bank, row, number))

    def _go_on(self, taken, column_time, row_time, oldest):
        """A clock on behind a command; else to the next event.

        That is a command that timing lets through, an access that enters, or the oldest access that
        becomes overdue.
        """
        age = self._age.argmin(1)
        waits = (oldest < 0) & (self._age[self._each, age] < NEVER)
        due = np.where(waits, self._entered[self._each, age] + self._patience, NEVER)
        enters = np.maximum(self._arrival(), self._clock + 1)
        enters = np.where((self._age == NEVER).any(1), enters, NEVER)
        event = np.minimum(column_time.min(1), row_time.min(1))
        event = np.minimum(event, np.minimum(due, enters))
        self._clock = np.where(taken, self._clock + 1, event)
