# SPDX-License-Identifier: BSD-2-Clause
"""What is in flight: the pending set and the scoreboard, each against a count by key."""

from types import ModuleType

from amaranth.hdl import Array, Cat, Mux, Signal

from fixfunc.rtl.lib import pending_set, scoreboard
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.properties import Properties

BITS = 2
PLACES = 2
KEYS = 3
MOST = 3


def pending(module: ModuleType = pending_set) -> Properties:
    """A set of two keys out of four."""
    p = Properties()
    unit = module.PendingSet(BITS, PLACES, (slice(None), slice(1, 2)))
    p.add(unit)
    member = Signal(1 << BITS)
    inserted = (unit.insert << unit.key)[: len(member)]
    removed = (unit.remove << unit.removed)[: len(member)]
    p.m.d.sync += member.eq((member & ~removed) | inserted)
    p.assume(~unit.insert | (unit.available & ~member.bit_select(unit.key, 1)))
    p.prove("pending", unit.pending_0 == member.bit_select(unit.lookup_0, 1))
    p.prove("pending_bit", unit.pending_1 == member.word_select(unit.lookup_1, 2).any())
    p.prove("available", unit.available == (sum(member) < PLACES))
    valid = p.inner("unit.valid")
    keys = [p.inner(f"unit.key_{n}") for n in range(PLACES)]
    for n in range(1 << BITS):
        held = sum(valid[place] & (key == n) for place, key in enumerate(keys))
        p.prove(f"held_{n}", held == member[n])
    p.reach(
        "full", ~unit.available & unit.pending_0 & unit.remove & (unit.removed == unit.lookup_0)
    )
    return p


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
        "pending_set",
        "lib/pending_set.py PendingSet",
        "A key is pending exactly from its insertion to its removal; a place is available exactly "
        "while fewer keys than places are pending.",
        pending,
        depth=3,
        size="keys of 2 bits, 2 places, lookups of a key and of its upper bit",
        assumed="A key is inserted while a place is available, and not while it is pending.",
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
