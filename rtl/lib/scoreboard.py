# SPDX-License-Identifier: BSD-2-Clause
"""Scoreboard: counts of what is in flight, by key."""

from amaranth.hdl import Array, Cat, Const, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.spec.errors import InputError


class Scoreboard(wiring.Component):
    """Counts what is in flight to each key, and watches one of them.

    Decoding a key is long, and so is the selection of a count. So an event reaches its count two
    clocks after it, and the watched count is a copy; events that are not yet in it are added as it
    is compared. The answer is exact all the same: it holds every event of the clocks before.

    Parameters
    ----------
    keys : int
        Number of keys.
    most : int
        Most in flight to a key.
    threshold : int
        See ``above``.

    Members
    -------
    increment, increment_key : In(1), In(range(keys))
        Something begins. Allowed while fewer than ``most`` are in flight to its key.
    decrement, decrement_key : In(1), In(range(keys))
        Something ends that began in an earlier clock.
    lookup, lookup_key : In(1), In(range(keys))
        This key is watched from the next clock on.
    above : Out(1)
        More than ``threshold`` are in flight to the watched key. Holds the events of all clocks
        before; that of this clock not.
    settled : Out(range(most + 1))
        The count of ``lookup_key``, without the events of the clock before. Combinational.
    """

    def __init__(self, keys: int, most: int, threshold: int = 0) -> None:
        if keys < 2:
            raise InputError("keys", "be above 1", keys)
        if not 0 <= threshold < most:
            raise InputError("threshold", f"be 0 to {most - 1}", threshold)
        self._keys = keys
        self._most = most
        self._threshold = threshold
        super().__init__(
            {
                "increment": In(1),
                "increment_key": In(range(keys)),
                "decrement": In(1),
                "decrement_key": In(range(keys)),
                "lookup": In(1),
                "lookup_key": In(range(keys)),
                "above": Out(1),
                "settled": Out(range(most + 1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Events in registers: the key and, above it, whether there is one, so that one comparison
        # decodes both.
        incremented = Signal(len(self.lookup_key) + 1)
        decremented = Signal(len(self.lookup_key) + 1)
        m.d.sync += [
            incremented.eq(Cat(self.increment_key, self.increment)),
            decremented.eq(Cat(self.decrement_key, self.decrement)),
        ]

        def change(key):
            """What the events in registers add to the count of a key."""
            event = Cat(key, Const(1, 1))
            return (incremented == event) - (decremented == event)

        counts = Array(Signal(range(self._most + 1), name=f"count_{n}") for n in range(self._keys))
        for n, count in enumerate(counts):
            m.d.sync += count.eq(count + change(Const(n, len(self.lookup_key))))
        m.d.comb += self.settled.eq(counts[self.lookup_key])

        # The watched count lacks events of the two clocks before: what the earlier one adds is in a
        # register; those of the later one are compared with the key as the count is.
        watched = Signal.like(self.lookup_key)
        count = Signal(range(self._most + 1))
        earlier = Signal(signed(2))
        later = Signal(signed(2))
        m.d.comb += later.eq(change(watched))
        m.d.sync += [
            count.eq(count + earlier),
            earlier.eq(later),
        ]
        with m.If(self.lookup):
            m.d.sync += [
                watched.eq(self.lookup_key),
                count.eq(self.settled),
                earlier.eq(change(self.lookup_key)),
            ]
        unsettled = Signal(signed(3))
        m.d.comb += unsettled.eq(earlier + later)
        with m.Switch(unsettled):  # comparisons side by side: a sum would come first otherwise
            for n in range(-2, 3):
                settled_most = self._threshold - n  # most in the copy if not above
                with m.Case(n):
                    if settled_most < 0:
                        m.d.comb += self.above.eq(1)
                    elif settled_most < self._most:
                        m.d.comb += self.above.eq(count > settled_most)
        return m
