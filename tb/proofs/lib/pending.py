# SPDX-License-Identifier: BSD-2-Clause
"""What is in flight: the pending table and the scoreboard, each against a count by key."""

from types import ModuleType

from amaranth.hdl import Array, Cat, Mux, Signal, Value

from fixfunc.rtl.lib import pending_table, scoreboard
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties

ROWS = 2
COLUMNS = 2
KEYS = 3
MOST = 3


def pending(module: ModuleType = pending_table) -> Properties:
    """A table of four keys, two a row."""
    p = Properties()
    unit = module.PendingTable(ROWS, COLUMNS)
    p.add(unit)
    inserted = p.inner("unit.key_1")
    p.assume(~unit.insert | (unit.ready & ~unit.pending_1))
    member = keys_of(p, "unit", unit.insert, inserted, unit.remove, unit.removed)
    for n in range(2):
        key = Signal.like(inserted, name=f"watched_{n}")
        p.m.d.sync += key.eq(Mux(unit.lookup, getattr(unit, f"lookup_{n}"), key))
        row = Array([member[:COLUMNS], member[COLUMNS:]])[key[-1]]
        p.prove(f"same_{n}", p.inner(f"unit.key_{n}") == key)
        p.prove(
            f"pending_{n}",
            ~unit.ready | (getattr(unit, f"pending_{n}") == member.bit_select(key, 1)),
        )
        p.prove(f"any_{n}", ~unit.ready | (getattr(unit, f"any_{n}") == row.any()))
    removed = p.past(unit.remove) & (p.past(unit.removed) == unit.lookup_1)
    again = unit.lookup & removed & p.past(unit.ready, 3)
    p.reach("again", unit.insert & p.past(again))
    return p


def keys_of(
    p: Properties,
    path: str,
    insert: Value,
    key: Value,
    remove: Value,
    removed: Value,
) -> Signal:
    """Which keys of a table of two rows are pending, a bit each; its memories say the same.

    What is removed is pending, and is so for a clock more.
    """
    member = Signal(ROWS * COLUMNS)
    leaves = p.past((remove << removed)[: len(member)])
    p.assume(~remove | (member & ~leaves).bit_select(removed, 1))
    p.m.d.sync += member.eq((member & ~leaves) | (insert << key)[: len(member)])
    ready = p.inner(f"{path}.ready")
    p.prove("none_yet", ready | ~member.any())
    later = p.past(1)
    swept = [ready | p.inner(f"{path}.row"), ready]
    turns = [p.row(f"{path}.inserted", n) for n in range(ROWS)]
    follows = [p.row(f"{path}.followed", n) for n in range(ROWS)]
    for n in range(ROWS):
        its = member.word_select(n, COLUMNS)
        p.prove(f"row_{n}", ~swept[n] | ((turns[n] ^ follows[n]) == its))
    for n, name in enumerate(("key_0", "key_1", "leaving")):
        row = p.inner(f"{path}.{name}")[-1]
        read = p.read_data(f"{path}.inserted", n)
        p.prove(f"turn_{n}", ~later | (read == Array(turns)[row]))
    for n in range(2):
        row = p.inner(f"{path}.key_{n}")[-1]
        read = p.read_data(f"{path}.followed", n)
        p.prove(f"follow_{n}", ~later | (read == Array(follows)[row]))
    p.prove("leaves", p.inner(f"{path}.leaves") == p.past(remove))
    p.prove("leaving", ~later | (p.inner(f"{path}.leaving") == p.past(removed)))
    return member


def counts(module: ModuleType = scoreboard) -> Properties:
    """A scoreboard of three keys that counts to three, with a threshold of one."""
    p = Properties()
    threshold = 1
    unit = module.Scoreboard(KEYS, MOST, threshold)
    p.add(unit)
    in_flight = [Signal(range(MOST + 2), name=f"in_flight_{n}") for n in range(KEYS)]
    for n, count in enumerate(in_flight):
        begins = unit.increment & (unit.increment_key == n)
        ends = unit.decrement & (unit.decrement_key == n)
        p.m.d.sync += count.eq(count + begins - ends)
    for key in (unit.increment_key, unit.decrement_key, unit.lookup_key):
        p.assume(key < KEYS)
    p.assume(~unit.increment | (Array(in_flight)[unit.increment_key] < MOST))
    p.assume(~unit.decrement | (Array(in_flight)[unit.decrement_key] != 0))
    watched = Signal(range(KEYS))
    p.m.d.sync += watched.eq(Mux(unit.lookup, unit.lookup_key, watched))
    p.prove("above", unit.above == (Array(in_flight)[watched] > threshold))
    earlier = Array([p.past(count) for count in in_flight])
    p.prove("settled", unit.settled == earlier[unit.lookup_key])
    for n, count in enumerate(in_flight):
        p.prove(f"most_{n}", count <= MOST)
        p.prove(f"count_{n}", p.inner(f"unit.count_{n}") == earlier[n])
    for event in ("increment", "decrement"):
        key = p.past(getattr(unit, f"{event}_key"))
        happened = p.past(getattr(unit, event))
        p.prove(event, p.inner(f"unit.{event}ed") == Cat(key, happened))
    p.prove("key", watched < KEYS)
    p.prove("same_key", p.inner("unit.watched") == watched)
    copy = p.inner("unit.count") + p.inner("unit.earlier") + p.inner("unit.later")
    p.prove("copy", copy == Array(in_flight)[watched])
    p.reach("falls", ~unit.above & p.past(unit.above) & (Array(in_flight)[watched] == 1))
    return p


PROOFS = [
    Proof(
        "pending_table",
        "lib/pending_table.py PendingTable",
        "A key is pending from its insertion until the second clock after its removal, and what is "
        "said of a row is true of its keys, whatever the memories held before.",
        pending,
        depth=4,
        size="2 rows of 2 keys",
        assumed="A key is inserted once the rows have been swept, and not while it is pending; "
        "what is removed is pending.",
    ),
    Proof(
        "scoreboard",
        "lib/scoreboard.py Scoreboard",
        "`above` compares the exact count of the watched key, events of all clocks before "
        "included; `settled` is the count of the clock before.",
        counts,
        depth=4,
        size="3 keys, 3 in flight, threshold 1",
        assumed="No more than the most begin; only what began ends.",
    ),
]
