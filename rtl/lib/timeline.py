# SPDX-License-Identifier: BSD-2-Clause
"""Timeline: the values of a free-running pipeline, by the clock in which they are valid."""

from typing import Any

from amaranth.hdl import Module, Signal, Value
from amaranth.lib.data import View


class Clock:
    """What is known in one clock of a :class:`Timeline`: its values are attributes."""

    def __init__(self, timeline: "Timeline", clock: int) -> None:
        self._timeline = timeline
        self._clock = clock

    def __getattr__(self, name: str) -> Any:
        return self._timeline.value(name, self._clock)


class Timeline:
    """Delays that nobody counts by hand.

    A value enters once, with the clock in which it is valid, counted from any common beginning.
    ``timeline[clock].name`` is the same value in a later clock, through registers that all readers
    share; a register is named by its clock, so that waves tell which beat is where.

    Parameters
    ----------
    m : Module
        Where the registers are described.

    Raises
    ------
    ValueError
        A value is read before it is valid, or enters twice.
    AttributeError
        Nothing of that name has entered.

    Example
    -------
    >>> t = Timeline(m)
    >>> t.enter(0, tile=self.i.payload, valid=self.i.valid)
    >>> t.enter(3, number=tile_number.o)
    >>> m.d.comb += memory.address.eq(Mux(t[3].valid, t[3].number, 0))
    """

    def __init__(self, m: Module) -> None:
        self._m = m
        self._first = {}
        self._later = {}

    def enter(self, clock: int, **values: Value | View) -> None:
        """Values, by name, that are valid in this clock."""
        for name, value in values.items():
            if name in self._first:
                raise ValueError(f"{name} enters twice, in clocks {self._first[name]} and {clock}")
            self._first[name] = clock
            self._later[name] = [value]

    def value(self, name: str, clock: int) -> Value | View:
        """A value as of a clock."""
        if name not in self._first:
            raise AttributeError(f"{name} has not entered; known: {', '.join(self._first)}")
        first = self._first[name]
        if clock < first:
            raise ValueError(f"{name} is valid from clock {first} on, not in {clock}")
        values = self._later[name]
        while len(values) <= clock - first:
            later = Signal.like(values[-1], name=f"{name}_{first + len(values)}")
            self._m.d.sync += later.eq(values[-1])
            values.append(later)
        return values[clock - first]

    def __getitem__(self, clock: int) -> Clock:
        return Clock(self, clock)
