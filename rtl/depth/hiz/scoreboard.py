# SPDX-License-Identifier: BSD-2-Clause
"""Writes in flight, counted by where they go."""

from amaranth.hdl import Array, Cat, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

APART = 8  # tiles so many rows and columns apart share a count
KEY = StructLayout({"x": 3, "y": 3})


class Scoreboard(wiring.Component):
    """How many writes are under way to the tiles that share a count.

    Parameters
    ----------
    most : int
        At once, to all.

    Members
    -------
    take, taken : In
        A write begins, to tiles of this key.
    next, next_key : In
        The key asked about from the next clock on.
    free : In(1)
        A write to the key asked about ends.
    many, crowded : Out(1)
        More than one is under way to the key asked about; the same but for writes that began in the
        last two clocks.
    """

    def __init__(self, most):
        self._most = most
        super().__init__(
            {
                "take": In(1),
                "taken": In(KEY),
                "free": In(1),
                "next": In(1),
                "next_key": In(KEY),
                "many": Out(1),
                "crowded": Out(1),
            }
        )

    def elaborate(self, platform):
        m = Module()
        key = Signal(KEY)
        taken = Signal(1 + KEY.size)
        freed = Signal(1 + KEY.size)
        m.d.sync += [
            taken.eq(Cat(self.taken.as_value(), self.take)),
            freed.eq(Cat(key.as_value(), self.free)),
        ]

        # Counts are a clock late: what has happened since then is added as they are looked at.
        counts = Array(Signal(range(self._most + 1), name=f"count_{n}") for n in range(APART**2))
        above = {1: [], 2: [], 3: []}
        for n, count in enumerate(counts):
            following = Signal.like(count, name=f"following_{n}")
            m.d.comb += following.eq(count + (taken == n + APART**2) - (freed == n + APART**2))
            m.d.sync += count.eq(following)
            for least, flags in above.items():
                flags.append(Signal(name=f"above_{least}_{n}"))
                m.d.sync += flags[n].eq(following > least)

        # One of 64 is a long way: it is chosen a clock ahead, and so one more clock late. What ends
        # in that clock is of the key asked about until then.
        count = Signal.like(counts[0])
        up = Signal()
        down = Signal()
        more = taken == Cat(key.as_value(), 1)
        less = freed == Cat(key.as_value(), 1)
        m.d.sync += [
            count.eq(count + up - down),
            up.eq(more),
            down.eq(less),
            self.crowded.eq(self.many),
        ]
        asked = self.next_key.as_value()
        ended = (freed == Cat(asked, 1)) + (asked == key.as_value())
        with m.If(self.next):
            m.d.sync += [
                key.eq(asked),
                count.eq(counts[asked]),
                up.eq(taken == Cat(asked, 1)),
                down.eq(freed == Cat(asked, 1)),
                self.crowded.eq(Array(Array(flags)[asked] for flags in above.values())[ended]),
            ]
        since = Signal(signed(3))
        m.d.comb += since.eq(up + more - down - less)
        with m.Switch(since):  # side by side: a sum would come first otherwise
            for n in range(-2, 3):
                with m.Case(n):
                    m.d.comb += self.many.eq(count > 1 - n if n < 2 else 1)
        return m
