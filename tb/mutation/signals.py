# SPDX-License-Identifier: BSD-2-Clause
"""Which signals an elaborated component reads, and which of them reach its outputs."""

import re
from collections.abc import Iterable, Iterator

from amaranth.hdl import Fragment, Signal, Value

from fixfunc.tb.mutation.nodes import (
    Assign,
    Concat,
    MemoryFragment,
    Operator,
    Part,
    SignalDict,
    SignalSet,
    Slice,
    Switch,
    SwitchValue,
)

STATE = 32  # bits of a register, at most, of which the reset counts


def operands(value: Value) -> tuple[Value, ...]:
    """Values that a value is made of."""
    if isinstance(value, Operator):
        return tuple(value.operands)
    if isinstance(value, Slice):
        return (value.value,)
    if isinstance(value, Part):
        return value.value, value.offset
    if isinstance(value, Concat):
        return tuple(value.parts)
    if isinstance(value, SwitchValue):
        return value.test, *(one for _, one in value.cases)
    return ()


def read(*values: Value) -> SignalSet:
    """Signals in values; a value that many share is looked at once."""
    found = SignalSet()
    seen = set()
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, Signal):
                found.add(value)
            waiting += operands(value)
    return found


def name_of(signal: Signal) -> str:
    """Name of a signal without its numbers, which tell lanes apart."""
    return re.sub(r"_?\d+", "", signal.name)


def remembering(statements: Iterable) -> SignalSet:
    """Registers whose reset outlives the reset: flags that are set and cleared, counters, states.

    Flags are single bits that are assigned in several places; counters are assigned from
    themselves. A register that is loaded at one place forgets its reset there, while nothing is
    valid; one of more than :data:`STATE` bits is data. So are registers that a helper makes.
    """
    found = SignalSet()
    places = SignalDict()
    waiting = list(statements)
    while waiting:
        stmt = waiting.pop()
        if isinstance(stmt, Assign):
            kept = read(stmt.rhs)
            for signal in read(stmt.lhs):
                places[signal] = places.get(signal, 0) + 1
                if signal in kept or (places[signal] > 1 and len(signal) == 1):
                    found.add(signal)
        elif isinstance(stmt, Switch):
            if isinstance(stmt.test, Signal) and stmt.test in stmt._lhs_signals():
                found.add(stmt.test)
            for _, body, _ in stmt.cases:
                waiting += body
    return SignalSet(signal for signal in found if len(signal) <= STATE)


def live(fragment: Fragment, outputs: Iterable[Signal]) -> SignalSet:
    """Signals that outputs depend on, the outputs among them."""
    sources = SignalDict()
    for target, needed in _dependencies(fragment):
        sources.setdefault(target, SignalSet()).update(needed)
    found = SignalSet()
    waiting = list(outputs)
    while waiting:
        signal = waiting.pop()
        if signal not in found:
            found.add(signal)
            waiting += sources.get(signal, ())
    return found


def _dependencies(fragment: Fragment) -> Iterator[tuple[Signal, SignalSet]]:
    """Pairs of a signal, and signals that decide its value."""
    if isinstance(fragment, MemoryFragment):
        written = [(p._addr, p._data, p._en) for p in fragment._write_ports]
        needed = read(*(value for port in written for value in port))
        for port in fragment._read_ports:
            every = SignalSet(needed)
            every.update(read(port._addr, port._en))
            for signal in read(port._data):
                yield signal, every
    for statements in fragment.statements.values():
        yield from _assigned(statements, SignalSet())
    for subfragment, _, _ in fragment.subfragments:
        yield from _dependencies(subfragment)


def _assigned(statements: Iterable, conditions: SignalSet) -> Iterator[tuple[Signal, SignalSet]]:
    for stmt in statements:
        if isinstance(stmt, Assign):
            needed = SignalSet(conditions)
            needed.update(read(stmt.rhs, stmt.lhs))
            for signal in stmt.lhs._lhs_signals():
                yield signal, needed
        elif isinstance(stmt, Switch):
            within = SignalSet(conditions)
            within.update(read(stmt.test))
            for _, body, _ in stmt.cases:
                yield from _assigned(body, within)
