# SPDX-License-Identifier: BSD-2-Clause
"""What the depth test reports of tiles that it has written."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth._flight import KEY, InFlight
from fixfunc.rtl.depth._ranges import BANKS, range_layout
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pipeline import delay
from fixfunc.spec import payloads

PLACE = 15
NOTE = StructLayout({"serial": 8, "kept": 1, "place": PLACE})  # clears so far; whether and where the tile has an entry


class Reports(wiring.Component):
    """A report counts where no other write is under way, and no tile that shares its count between look-up and outcome.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    most : int
        Writes under way.
    first, beyond : int
        Clocks from a tile's :attr:`key` to the first in which a report counts too late for it, and to the one after its
        outcome.

    Members
    -------
    i : In(stream.Signature(layout(payloads.feedback(edge))))
        Held for a clock, so that what a report must wait for comes from a register.
    valid, key : In
        A tile that is looked up.
    begins, begun : In
        A write begins, to tiles of this key.
    serial : In(8)
        Clears so far.
    busy, taken, holds : In
        Of the memory, and whether what it holds of depths is known.
    heard, fits : Out(1)
        A report counts; then it is written if it fits.
    bank, place, range : Out
        Where, and what.
    """

    def __init__(self, edge, most, first, beyond):
        self._most, self._first, self._beyond, self._report = most, first, beyond, layout(payloads.feedback(edge))
        super().__init__({
            "i": In(stream.Signature(self._report)), "valid": In(1), "key": In(KEY), "begins": In(1), "begun": In(KEY), "serial": In(8),
            "busy": In(1), "taken": In(BANKS), "holds": In(1), "heard": Out(1), "fits": Out(1), "bank": Out(range(BANKS)), "place": Out(PLACE),
            "range": Out(range_layout(payloads.HIZ_BITS)),
        })

    def elaborate(self, platform):
        m = Module()
        m.submodules.flight = flight = InFlight(self._most)
        waits, given, pending, offered = Signal(), Signal(self._report), Signal(), self.i.payload
        keys, valids = [self.key.as_value()], [self.valid]
        for n in range(1, self._beyond):
            keys.append(delay(m, keys[-1], 1, f"key_{n}"))
            valids.append(delay(m, valids[-1], 1, f"key_valid_{n}"))
        following = list(zip(valids, keys, strict=True))[self._first - 1:-1]  # where they are in the next clock

        def will_wait(report):
            return Cat(v & (k == Cat(report.x[:3], report.y[:3])) for v, k in following).any()

        m.d.comb += [self.bank.eq(Cat(given.x[0], given.y[0])), self.i.ready.eq(~waits | self.heard),
                     self.heard.eq(waits & ~self.busy & (flight.crowded | ~(pending | self.taken.bit_select(self.bank, 1))))]
        m.d.comb += [flight.take.eq(self.begins), flight.taken.eq(self.begun), flight.free.eq(self.heard), flight.next.eq(self.i.ready),
                     flight.next_key.x.eq(offered.x), flight.next_key.y.eq(offered.y)]
        m.d.sync += pending.eq(Mux(self.i.ready, will_wait(offered), will_wait(given)))
        with m.If(self.i.ready):
            m.d.sync += [waits.eq(self.i.valid), given.eq(offered)]

        note = NOTE(given.note)
        m.d.comb += [self.fits.eq(self.holds & ~flight.many & note.kept & (note.serial == self.serial)),
                     self.place.eq(note.place), self.range.low.eq(given.low), self.range.high.eq(given.high)]
        return m
