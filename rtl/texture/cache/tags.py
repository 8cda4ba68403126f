# SPDX-License-Identifier: BSD-2-Clause
"""Tags of a cache: one lookup a clock, the least recently used way of a set is the victim."""

from amaranth.hdl import Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.lib.forwarded_memory import ForwardedMemory


class Tags(wiring.Component):
    """Look up keys one after the other; those that miss are held from then on.

    A row holds the ways of a set in the order of their use, the last one first: a lookup moves its
    way to the front, so that the victim is always the one at the end, and nothing is counted. After
    a reset all rows are swept, one a clock.

    Parameters
    ----------
    sets, ways : int
        Above 1.
    key : int
        Bits of a key.

    Members
    -------
    lookup, set, key : In(1), In(range(sets)), In(key)
        A lookup, allowed while ``ready``.
    hit : Out(1)
        :attr:`LATENCY` clocks later: the key was held.
    way : Out(range(ways))
        In that clock: where it is held from now on.
    ready : Out(1)
        The rows have been swept.
    forget : In(1)
        Sweep them: nothing is held. While no lookup is under way.
    """

    LATENCY = 2

    def __init__(self, sets: int, ways: int, key: int) -> None:
        self._sets = sets
        self._ways = ways
        entry = StructLayout({"valid": 1, "key": key, "way": range(ways)})
        self._row = ArrayLayout(entry, ways)
        super().__init__(
            {
                "lookup": In(1),
                "set": In(range(sets)),
                "key": In(key),
                "hit": Out(1),
                "way": Out(range(ways)),
                "ready": Out(1),
                "forget": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.rows = rows = ForwardedMemory(self._row, self._sets)
        swept = Signal(range(self._sets + 1))
        empty = Const([{"valid": 0, "key": 0, "way": n} for n in range(self._ways)], self._row)
        m.d.comb += [
            self.ready.eq(swept == self._sets),
            rows.valid.eq(self.lookup | ~self.ready),
            rows.address.eq(Mux(self.ready, self.set, swept)),
            rows.fill.eq(delay(m, ~self.ready, rows.fill_latency, "sweeps")),
            rows.filled.eq(empty),
        ]
        with m.If(self.forget):
            m.d.sync += swept.eq(0)
        with m.Elif(~self.ready):
            m.d.sync += swept.eq(swept + 1)

        lookup = delay(m, self.lookup, self.LATENCY, "lookup")
        key = delay(m, self.key, self.LATENCY, "key")
        held = rows.value
        found = Signal(self._ways)
        m.d.comb += [found[n].eq(held[n].valid & (held[n].key == key)) for n in range(self._ways)]
        m.d.comb += [
            self.hit.eq(found.any()),
            self.way.eq(held[self._ways - 1].way),
        ]
        for n in range(self._ways):
            with m.If(found[n]):
                m.d.comb += self.way.eq(held[n].way)
        used = rows.result[0]
        with m.If(lookup):
            m.d.comb += [used.valid.eq(1), used.key.eq(key), used.way.eq(self.way)]
        with m.Else():
            m.d.comb += Value.cast(used).eq(Value.cast(held[0]))
        for n in range(1, self._ways):
            # What was used after the key, or is all that there is, is one place older now.
            ages = named(m, lookup & ~found[:n].any(), f"ages_{n}")
            m.d.comb += rows.result[n].eq(Mux(ages, Value.cast(held[n - 1]), Value.cast(held[n])))
        return m
