# SPDX-License-Identifier: BSD-2-Clause
"""What reads a slot keeps its distance from what writes it."""

from itertools import pairwise

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._cache_moves import TOKEN
from fixfunc.spec.payloads import SLOT
from fixfunc.spec.state import LineOp


class Apart(wiring.Component):
    """Hold back EVICT, and USE if it reads, while something done to the same slot is under way; a line a clock otherwise.

    Slots are compared a clock ahead, so that what goes does not wait for it.

    Parameters
    ----------
    clocks : int
        That anything is under way: above one.

    Members
    -------
    i, o : In, Out(stream.Signature(TOKEN))
        A clock later at the earliest.
    reads : In(1)
        USE does.
    some : Out(1)
        One waits here.
    """

    def __init__(self, clocks):
        self._clocks = clocks
        super().__init__({"i": In(stream.Signature(TOKEN)), "o": Out(stream.Signature(TOKEN)), "reads": In(1), "some": Out(1)})

    def elaborate(self, platform):
        m = Module()
        item = StructLayout({"on": 1, "slot": SLOT})
        given, here, gone = self.i.payload, self.o.payload, [Signal(item, name=f"gone_{n + 1}") for n in range(self._clocks - 1)]
        goes, came, other, follows, same = (Signal(name=name) for name in ("goes", "came", "other", "follows", "same"))
        m.d.comb += [goes.eq(self.o.valid & self.o.ready), self.i.ready.eq(~self.some | goes)]
        with m.If(self.i.ready):
            m.d.sync += [self.some.eq(self.i.valid), here.eq(given)]
        m.d.sync += [gone[0].on.eq(goes & (here.op != LineOp.DONE)), gone[0].slot.eq(here.slot),
                     *(later.eq(before) for before, later in pairwise(gone))]

        def is_under_way(token):  # in the next clock too; what goes in this one is known late, and compared by itself
            return Cat(one.on & (one.slot == token.slot) for one in gone).any()

        m.d.sync += [came.eq(self.i.ready), other.eq(is_under_way(given)), follows.eq(given.slot == here.slot), same.eq(is_under_way(here))]
        reads = (here.op == LineOp.EVICT) | ((here.op == LineOp.USE) & self.reads)
        m.d.comb += self.o.valid.eq(self.some & ~(reads & Mux(came, other | (follows & gone[0].on), same)))
        return m
