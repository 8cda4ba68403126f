# SPDX-License-Identifier: BSD-2-Clause
"""Timeline: the values of a free-running pipeline, by the clock in which they are valid; those that
seldom change, with fewer registers; and steps of a computation, of which several may share a clock.
"""

from typing import Any

from amaranth.hdl import Module, Signal, Value, ValueLike
from amaranth.lib.data import View

from fixfunc.spec.errors import InputError


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
    InputError
        A value is read before it is valid, or enters twice; or its first read in a clock is within
        ``m.If``, ``m.Switch`` or ``m.FSM``, where its registers would move under that condition
        alone. Read it before.
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
                raise InputError(name, f"enter once, in clock {self._first[name]}", clock)
            self._first[name] = clock
            self._later[name] = [value]

    def value(self, name: str, clock: int) -> Value | View:
        """A value in a clock."""
        if name not in self._first:
            raise AttributeError(f"{name} has not entered; known: {', '.join(self._first)}")
        first = self._first[name]
        if clock < first:
            raise InputError(name, f"be read from clock {first} on", clock)
        values = self._later[name]
        # Amaranth says nowhere in public how deep a module is in conditions.
        if len(values) <= clock - first and self._m.domain._depth:
            raise InputError(name, "be read first outside of conditions", f"in clock {clock}")
        while len(values) <= clock - first:
            later = Signal.like(values[-1], name=f"{name}_{first + len(values)}")
            self._m.d.sync += later.eq(values[-1])
            values.append(later)
        return values[clock - first]

    def __getitem__(self, clock: int) -> Clock:
        return Clock(self, clock)


class HeldTimeline:
    """A value that seldom changes, by the clocks of a pipeline: ``held[clock]`` is what it was so
    many clocks before.

    A timeline of it would move all of its bits in every clock. Here a register holds them until a
    change comes by, and the next one is up to ``spacing`` clocks further on.

    Parameters
    ----------
    m : Module
        Where the registers are described.
    value : Value or View
        In clock 0.
    changes : Value
        The value is another one from this clock on, and for ``spacing`` clocks at least.
    spacing : int

    Raises
    ------
    InputError
        A clock below 0.
    """

    def __init__(self, m: Module, value: Value | View, changes: Value, spacing: int) -> None:
        self._m = m
        self._spacing = spacing
        self._timeline = Timeline(m)
        self._timeline.enter(0, changes=changes)
        self._values = {0: value}

    def __getitem__(self, clock: int) -> Value | View:
        if clock < 0:
            raise InputError("clock", "be 0 or above", clock)
        if clock not in self._values:
            before = self[(clock - 1) // self._spacing * self._spacing]
            held = Signal.like(before, name=f"held_{clock}")
            change = self.changes(clock - 1)
            with self._m.If(change):
                self._m.d.sync += held.eq(before)
            self._values[clock] = held
        return self._values[clock]

    def changes(self, clock: int) -> Value:
        """The value of that clock is another one from now on."""
        return self._timeline.value("changes", clock)


class Steps:
    """A computation in steps, with registers between as many of them as its latency asks for.

    A value belongs to a step; :meth:`put` hands values to the next one. A step is a clock of its
    own where the latency is the number of steps; where it is less, some share a clock.

    Parameters
    ----------
    m : Module
    steps : int
        Steps of the computation; what the last one puts are its results.
    latency : int
        Clocks from operands to results: 1 to ``steps``.

    Raises
    ------
    InputError
        For any other latency; the rest is as with :class:`Timeline`.
    """

    def __init__(self, m: Module, steps: int, latency: int) -> None:
        if not 1 <= latency <= steps:
            raise InputError("latency", f"be 1 to {steps}", latency)
        self._m = m
        self._clocks = [-(-step * latency // steps) for step in range(steps + 1)]
        self._timeline = Timeline(m)

    def enter(self, **values: Value | View) -> None:
        """Operands, by name: of the first step."""
        self._timeline.enter(0, **values)

    def put(self, step: int, **values: ValueLike) -> None:
        """Values that a step computes, by name: of the next one."""
        before, after = self._clocks[step : step + 2]
        for name, value in values.items():
            held = Signal(Value.cast(value).shape(), name=f"{name}_of_{step + 1}")
            self._m.d["sync" if after > before else "comb"] += held.eq(value)
            self._timeline.enter(after, **{name: held})

    def __getitem__(self, step: int) -> Clock:
        return self._timeline[self._clocks[step]]
