# SPDX-License-Identifier: BSD-2-Clause
"""A controller of DRAM, clock by clock: every rule is asked about every earlier command."""

from typing import NamedTuple

ACTIVATE, PRECHARGE, READ, WRITE = range(4)
COLUMNS = READ, WRITE


class Told(NamedTuple):
    clock: int
    kind: int
    bank: int
    row: int
    access: int


class Waiting(NamedTuple):
    number: int
    address: int
    write: bool
    bank: int
    row: int
    entered: int


def data(timing, told):
    """First clock of a column's data, and the clock behind its last."""
    start = told.clock + (timing.t_cas if told.kind == READ else timing.t_cwl)
    return start, start + timing.burst


# Of a channel's earlier command and a later one: does the timing allow both?
RULES = {
    "command lines": lambda _, a, b: b.clock > a.clock,
    "t_rcd": lambda t, a, b: (
        not (a.kind == ACTIVATE and b.kind in COLUMNS and a.bank == b.bank)
        or b.clock >= a.clock + t.t_rcd
    ),
    "t_rp": lambda t, a, b: (
        not (a.kind == PRECHARGE and b.kind == ACTIVATE and a.bank == b.bank)
        or b.clock >= a.clock + t.t_rp
    ),
    "t_ras": lambda t, a, b: (
        not (a.kind == ACTIVATE and b.kind == PRECHARGE and a.bank == b.bank)
        or b.clock >= a.clock + t.t_ras
    ),
    "t_rtp": lambda t, a, b: (
        not (a.kind == READ and b.kind == PRECHARGE and a.bank == b.bank)
        or b.clock >= a.clock + t.t_rtp
    ),
    "t_wr": lambda t, a, b: (
        not (a.kind == WRITE and b.kind == PRECHARGE and a.bank == b.bank)
        or b.clock >= data(t, a)[1] + t.t_wr
    ),
    "t_wtr": lambda t, a, b: (
        not (a.kind == WRITE and b.kind == READ) or b.clock >= data(t, a)[1] + t.t_wtr
    ),
    "t_rrd": lambda t, a, b: (
        not (a.kind == ACTIVATE and b.kind == ACTIVATE) or b.clock >= a.clock + t.t_rrd
    ),
    "burst": lambda t, a, b: (
        not (a.kind in COLUMNS and b.kind == a.kind) or data(t, b)[0] >= data(t, a)[1]
    ),
    "turnaround": lambda t, a, b: (
        not (a.kind in COLUMNS and b.kind in COLUMNS and a.kind != b.kind)
        or data(t, b)[0] >= data(t, a)[1] + t.turnaround
    ),
}


def broken(timing, log, told):
    """Rules that a command would break behind those of a log."""
    return {name for name, rule in RULES.items() if not all(rule(timing, a, told) for a in log)}


def place(bits, address):
    """Channel, bank, row and column, bit by bit."""
    found = {"channel": [], "bank": [], "column": []}
    at = 5
    for name, count in bits:
        for _ in range(count):
            found[name].append(address >> at & 1)
            at += 1
    numbers = {name: sum(bit << n for n, bit in enumerate(taken)) for name, taken in found.items()}
    return numbers["channel"], numbers["bank"], address >> at, numbers["column"]


def channel_log(dram, queue):
    """Commands of one channel: ``queue`` has clock, number, address, write, bank, row of each."""
    window = []
    log = []
    rows = {}
    clock = 0
    while queue or window:
        if queue and len(window) < dram.window and queue[0][0] <= clock:
            window.append(Waiting(*queue.pop(0)[1:], clock))
        told = choose(dram, window, log, rows, clock)
        if told:
            log.append(told)
            if told.kind == ACTIVATE:
                rows[told.bank] = told.row
            elif told.kind == PRECHARGE:
                del rows[told.bank]
            else:
                window = [access for access in window if access.number != told.access]
        clock += 1
    return log


def choose(dram, window, log, rows, clock):
    """The command of a clock; None: there is none."""
    overdue = window[0] if window and clock - window[0].entered >= dram.patience else None
    for n, access in enumerate(window):
        if overdue and access is not overdue:
            continue
        if rows.get(access.bank) != access.row:
            continue
        if any(older.address == access.address for older in window[:n]):
            continue
        kind = WRITE if access.write else READ
        told = Told(clock, kind, access.bank, access.row, access.number)
        if not broken(dram.timing, log, told):
            return told
    for n, access in enumerate(window):
        if any(older.bank == access.bank for older in window[:n]):
            continue
        opened = rows.get(access.bank)
        wants = window if access is not overdue else [access]
        if any(other.bank == access.bank and other.row == opened for other in wants):
            continue
        kind, row = (ACTIVATE, access.row) if opened is None else (PRECHARGE, opened)
        told = Told(clock, kind, access.bank, row, access.number)
        if not broken(dram.timing, log, told):
            return told
    return None


def schedule(dram, accesses):
    """Commands of all channels: clock, channel, kind, bank, row, access; by clock and channel."""
    queues = {}
    for number, (clock, address, write, _) in enumerate(accesses.tolist()):
        channel, bank, row, _ = place(dram.map.bits, address)
        queues.setdefault(channel, []).append((clock, number, address, write, bank, row))
    found = []
    for channel, queue in queues.items():
        for told in channel_log(dram, queue):
            found.append((told.clock, channel, told.kind, told.bank, told.row, told.access))
    return sorted(found)
