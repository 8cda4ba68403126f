# SPDX-License-Identifier: BSD-2-Clause
"""The contract of streams, as properties.

A beat that is offered stays until it is taken. Beats come out in order, each once: any one of them
is chosen, its value is remembered, and the beats ahead of it are counted.
"""

from collections.abc import Callable, Sequence

from amaranth.hdl import Mux, Signal, Value, ValueLike

from fixfunc.tb.proofs.engine.properties import Properties


def _kept(p: Properties, valid: Value, ready: Value, payload: Value) -> Value:
    """A beat that was offered in the clock before, and not taken, is offered still."""
    waits = p.past(valid & ~ready)
    return ~waits | (valid & (payload == p.past(payload)))


def source_keeps(p: Properties, stream: object) -> None:
    """Assume the contract of whoever offers beats."""
    payload = Value.cast(stream.payload)
    p.assume(_kept(p, Value.cast(stream.valid), Value.cast(stream.ready), payload))


def output_keeps(p: Properties, stream: object, name: str = "stable") -> None:
    """Prove that beats that are offered stay until they are taken."""
    payload = Value.cast(stream.payload)
    p.prove(name, _kept(p, Value.cast(stream.valid), Value.cast(stream.ready), payload))


class Order:
    """Beats leave in the order in which they entered; none is lost, none comes twice.

    Parameters
    ----------
    p : Properties
    push, value : ValueLike
        A beat enters.
    pop, out : ValueLike
        A beat leaves.
    most : int
        Most beats inside.
    name : str
        Of the properties, in front.

    Attributes
    ----------
    count : Signal
        Beats inside, by what has entered and left.
    """

    def __init__(
        self,
        p: Properties,
        push: ValueLike,
        value: ValueLike,
        pop: ValueLike,
        out: ValueLike,
        most: int,
        name: str = "",
    ) -> None:
        m = p.m
        self._p = p
        self._name = name
        push = p.named(f"{name}push", push)
        pop = p.named(f"{name}pop", pop)
        value = p.named(f"{name}pushed", value)
        out = p.named(f"{name}popped", out)
        choose = p.free(1, f"{name}choose")
        self.count = Signal(range(most + 2), name=f"{name}count")
        self.chosen = Signal(name=f"{name}chosen")
        self.ahead = Signal(range(most + 2), name=f"{name}ahead")
        self.value = Signal(value.shape(), name=f"{name}chosen_value")
        done = Signal(name=f"{name}done")
        m.d.sync += self.count.eq(self.count + push - pop)
        begins = push & choose & ~self.chosen & ~done
        with m.If(begins):
            m.d.sync += [
                self.chosen.eq(1),
                self.value.eq(value),
                self.ahead.eq(self.count - pop),
            ]
        leaves = self.chosen & pop & (self.ahead == 0)
        with m.If(self.chosen & pop):
            m.d.sync += self.ahead.eq(self.ahead - 1)
        with m.If(leaves):
            m.d.sync += [
                self.chosen.eq(0),
                done.eq(1),
            ]
        p.prove(f"{name}none_twice", ~pop | (self.count != 0))
        p.prove(f"{name}room", self.count <= most)
        p.prove(f"{name}in_order", ~leaves | (out == self.value))
        p.prove(f"{name}none_lost", ~self.chosen | (self.ahead < self.count))
        p.reach(f"{name}leaves", leaves & (p.past(self.count) > (most > 1)))

    def holds(self, count: ValueLike, peek: Callable[[Value], ValueLike]) -> None:
        """Strengthen the induction: how many beats the hardware holds, and each one of them.

        ``peek(n)`` is the beat behind n others.
        """
        p = self._p
        p.prove(f"{self._name}inside", count == self.count)
        p.prove(f"{self._name}kept", ~self.chosen | (peek(self.ahead) == self.value))

    def holds_slots(self, slots: Sequence[tuple[ValueLike, ValueLike]]) -> None:
        """Places of the hardware, the one next to the output first: (valid, payload) of each."""
        self.holds(sum(valid for valid, _ in slots), lambda n: peek_slots(slots, n))


def peek_slots(slots: Sequence[tuple[ValueLike, ValueLike]], n: Value) -> ValueLike:
    """Payload of the valid place that is behind n valid ones."""
    beat = Value.cast(slots[0][1])
    before = 0
    for valid, payload in slots:
        beat = Mux(valid & (n == before), payload, beat)
        before = before + valid
    return beat


def no_deadlock(
    p: Properties, waits: ValueLike, moves: ValueLike, clocks: int, name: str = "no_deadlock"
) -> Signal:
    """Prove that what waits, while its surroundings let it, moves within so many clocks.

    Returns the count of clocks that it has waited.
    """
    waited = Signal(range(clocks + 2), name=f"{name}_waited")
    p.m.d.sync += waited.eq(Mux(Value.cast(waits).any() & ~Value.cast(moves).any(), waited + 1, 0))
    p.prove(name, waited <= clocks)
    return waited
