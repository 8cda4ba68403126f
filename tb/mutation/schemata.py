# SPDX-License-Identifier: BSD-2-Clause
"""An elaborated component whose nodes are choices by the number of a mutant."""

import sys
from collections.abc import Iterator
from typing import NamedTuple

from amaranth.hdl import Const, Fragment, Mux, ResetSignal, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.tb.mutation import kinds
from fixfunc.tb.mutation.nodes import (
    Assign,
    Concat,
    FragmentTransformer,
    LHSMaskCollector,
    MemoryFragment,
    Operator,
    Part,
    SignalSet,
    StatementTransformer,
    Switch,
    SwitchValue,
    ValueTransformer,
)
from fixfunc.tb.mutation.signals import live, name_of, remembering
from fixfunc.tb.mutation.trace import Location, Span, Trace

NUMBER = 16  # bits of a mutant's number; 0 is the component as it was written


class Site(NamedTuple):
    """One change of the source: where, what kind, in what way, and of which signal if it matters.

    All nodes that one piece of the source makes, such as the lanes of a tile, have one site.
    """

    span: Span
    kind: str
    words: str
    subject: str = ""


class Schemata(FragmentTransformer, ValueTransformer, StatementTransformer):
    """Put choices into a fragment.

    Parameters
    ----------
    number : Signal
        Number of the mutant that is active.
    chosen : dict of Site to int
        Numbers of mutants. Sites that are not chosen stay as they are.
    trace : Trace
    outputs : list of Signal
        What does not reach them stays as it is: nobody could tell.

    ``sites`` are all that were met, in their order; ``inserted`` those that became choices.
    """

    def __init__(
        self, number: Signal, chosen: dict[Site, int], trace: Trace, outputs: list[Signal]
    ) -> None:
        self._outputs = outputs
        self._live: SignalSet | None = None
        self._unsigned: set[int] = set()
        self._number = number
        self._chosen = chosen
        self._trace = trace
        self._done: dict[int, tuple[Value, Value]] = {}
        self._active: dict[int, Value] = {}
        self.sites: dict[Site, None] = {}
        self.inserted: set[Site] = set()
        self._written: set[int] = set()

    def __call__(self, fragment: Fragment) -> Fragment:
        if self._live is not None:  # a part of the fragment
            return self.on_fragment(fragment)
        self._live = live(fragment, self._outputs)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(20_000)
        try:
            return self.on_fragment(fragment)
        finally:
            sys.setrecursionlimit(limit)

    def _choice(self, location: object, kind: str, words: str, subject: str = "") -> Value | None:
        """The condition under which a change counts, or None if it was not chosen."""
        span = getattr(location, "span", None)
        if span is None:
            return None
        site = Site(span, kind, words, subject if location.helper or kind == "reset" else "")
        self.sites[site] = None
        number = self._chosen.get(site)
        if number is None:
            return None
        self.inserted.add(site)
        return self._active.setdefault(number, self._number == number)

    # Values.

    def on_value(self, value):
        known = self._done.get(id(value))
        if known:
            return known[1]
        new = result = super().on_value(value)
        for change in self._changes(value):
            active = self._choice(value.src_loc, change.kind, change.words)
            if active is not None:
                changed = change.make(new)
                if change.words != kinds.UNSIGNED:  # which shows where the value is extended
                    changed = kinds.fit(changed, value.shape())
                result = Mux(active, changed, result)
        self._done[id(value)] = value, result
        return result

    def _changes(self, value):
        location = value.src_loc
        direct = isinstance(location, Location) and location.span and not location.helper
        changes = kinds.of_value(value, self._trace.siblings) if direct else []
        return [
            change
            for change in changes
            if id(value) not in self._unsigned or change.kind != "width"
        ]

    # A value that has lost its sign is a bit wider: here widths count.

    def _fitted(self, value):
        return kinds.fit(self.on_value(value), value.shape())

    def on_Concat(self, value):
        return Concat(self._fitted(part) for part in value.parts)

    def on_SwitchValue(self, value):
        cases = [(patterns, self.on_value(case)) for patterns, case in value.cases]
        return SwitchValue(self._fitted(value.test), cases)

    def replace_value_src_loc(self, value, new_value):
        return value is not new_value

    def on_target(self, value: Value) -> Value:
        """The left side of an assignment: only what selects within it is a value."""
        if isinstance(value, Part):
            return Part(
                self.on_target(value.value), self.on_value(value.offset), value.width, value.stride
            )
        if isinstance(value, SwitchValue):
            cases = [(patterns, self.on_target(case)) for patterns, case in value.cases]
            return SwitchValue(self.on_value(value.test), cases)
        return value

    # Statements.

    def on_Assign(self, stmt):
        if not any(signal in self._live for signal in stmt.lhs._lhs_signals()):
            return stmt
        if len(stmt.lhs) <= len(stmt.rhs) and isinstance(stmt.rhs, Operator):
            self._unsigned.add(id(stmt.rhs))  # nothing is extended by its sign
        rhs = self.on_value(stmt.rhs)
        location = stmt.src_loc
        subject = subject_of(stmt.lhs)
        for change in kinds.of_assigned(stmt):
            active = self._choice(location, change.kind, change.words, subject)
            if active is not None:
                whole = kinds.fit(rhs, stmt.lhs.shape())
                changed = kinds.fit(change.make(rhs), stmt.lhs.shape())
                rhs = Mux(active, changed, whole)
        new = Assign(self.on_target(stmt.lhs), rhs)
        active = self._choice(location, "assignment", "dropped", subject)
        return new if active is None else Switch(active, [(0, [new], None)])

    def on_Switch(self, stmt):
        test = stmt.test
        if _is_if(stmt):
            locations = [location for _, _, location in stmt.cases]
            parts = [
                self._condition(part, location)
                for part, location in zip(test.parts, locations, strict=False)
            ]
            new_test = Concat(parts)
        else:
            new_test = self._fitted(test)
        cases = [
            (patterns, self._case(stmt, patterns, body, location), location)
            for patterns, body, location in stmt.cases
        ]
        return Switch(new_test, cases)

    def _condition(self, part: Value, location: object) -> Value:
        condition = self._fitted(part)
        if isinstance(part, Const):
            return condition
        result = condition
        for change in kinds.of_condition():
            active = self._choice(location, change.kind, change.words)
            if active is not None:
                result = Mux(active, change.make(condition), result)
        return result

    def _case(self, stmt, patterns, body, location):
        new = self.on_statement(body)
        if patterns is None or _is_if(stmt):
            return new
        active = self._choice(location, "condition", "case never")
        return new if active is None else [Switch(active, [(0, new, None)])]

    # Fragments.

    def map_statements(self, fragment, new_fragment):
        super().map_statements(fragment, new_fragment)
        for domain, statements in fragment.statements.items():
            if domain != "comb":
                for reset in self._resets(domain, statements):
                    new_fragment.add_statements(domain, reset)

    def _resets(self, domain, statements) -> Iterator[Switch]:
        """Resets written out, for registers that get another value there."""
        collector = LHSMaskCollector()
        collector.visit_stmt(statements)
        kept = remembering(statements)
        for signal, start, stop in collector.chunks():
            if id(signal) in self._written or (
                signal in kept
                and not signal.reset_less
                and signal in self._live
                and not getattr(signal.src_loc, "helper", True)
            ):
                active = self._choice(signal.src_loc, "reset", "other value", name_of(signal))
                if active is not None:
                    self._written.add(id(signal))
                    signal._reset_less = True
                    value = Mux(active, kinds.reset_value(signal), signal.init)
                    part = slice(start, stop)
                    value = kinds.fit(value, signal.shape())
                    yield Switch(ResetSignal(domain), [(1, [signal[part].eq(value[part])], None)])

    def map_memory_ports(self, fragment, new_fragment):
        for port in [*new_fragment._read_ports, *new_fragment._write_ports]:
            port._en = self._fitted(port._en)
            port._addr = self._fitted(port._addr)
        for port in new_fragment._write_ports:
            port._data = self._fitted(port._data)

    def on_fragment(self, fragment):
        # A memory has no source of its own; its ports are signals of the component around it.
        assert not isinstance(fragment, MemoryFragment) or not fragment.statements
        return super().on_fragment(fragment)


def _is_if(stmt: Switch) -> bool:
    """Whether a switch is a chain of ``m.If``: one bit of its test for each condition."""
    test = stmt.test
    return isinstance(test, Concat) and all(
        patterns is None or (len(patterns) == 1 and patterns[0] == _one_bit(n, len(test)))
        for n, (patterns, _, _) in enumerate(stmt.cases)
    )


def _one_bit(n: int, width: int) -> str:
    """Pattern of bit ``n``, lowest last."""
    return ("1" + "-" * n).rjust(width, "-")


def subject_of(target: Value) -> str:
    """Names of the signals that an assignment drives."""
    return " ".join(sorted({name_of(signal) for signal in target._lhs_signals()}))


class Mutated(wiring.Component):
    """A component with choices, and one more input: ``mutant``, the number of the active one.

    Parameters
    ----------
    component : wiring.Component
    chosen : dict of Site to int
    trace : Trace
        That was active when ``component`` was made, and still is.
    """

    def __init__(self, component: wiring.Component, chosen: dict[Site, int], trace: Trace) -> None:
        self._component = component
        self._chosen = chosen
        self._trace = trace
        self.schemata: Schemata | None = None
        super().__init__({**component.signature.members, "mutant": In(NUMBER)})
        for name in component.signature.members:
            setattr(self, name, getattr(component, name))

    def elaborate(self, platform: object) -> Fragment:
        ports = self._component.signature.flatten(self._component)
        outputs = [Value.cast(value) for _, member, value in ports if member.flow == Out]
        self.schemata = Schemata(self.mutant, self._chosen, self._trace, outputs)
        return self.schemata(Fragment.get(self._component, platform))


def sites(component: wiring.Component, trace: Trace) -> list[Site]:
    """Every change that a component offers, in the order of the source."""
    mutated = Mutated(component, {}, trace)
    mutated.elaborate(None)
    return sorted(mutated.schemata.sites)
