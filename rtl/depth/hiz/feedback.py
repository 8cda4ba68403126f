# SPDX-License-Identifier: BSD-2-Clause
"""Feedback: bounds that the depth test reports of tiles that it has written."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.bounds_ram import BANKS
from fixfunc.rtl.depth.hiz.pending_clears import bounds_layout
from fixfunc.rtl.lib.scoreboard import Scoreboard
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads

ADDRESS = 15
KEY = StructLayout({"x": 3, "y": 3})  # tiles eight rows or columns apart share a count
# The note of a tile, which its report returns: the number of clears before it, whether the tile has
# an entry, and where.
NOTE = StructLayout({"serial": 8, "has_entry": 1, "address": ADDRESS})


class FeedbackWrite(wiring.Signature):
    """Reported bounds on their way to the bounds RAM.

    Members
    -------
    accept : Out(1)
        A report counts, and leaves.
    fits : Out(1)
        Its bounds may be written.
    bank, address, bounds : Out
        Where they are written, and the bounds themselves.
    initialising, bank_busy : In(1), In(BANKS)
        The bounds RAM is swept; a bank is written by a tile.
    depth_known : In(1)
        Bounds of depths are known.
    """

    def __init__(self):
        super().__init__(
            {
                "accept": Out(1),
                "fits": Out(1),
                "bank": Out(range(BANKS)),
                "address": Out(ADDRESS),
                "bounds": Out(bounds_layout(payloads.HIZ_BITS)),
                "initialising": In(1),
                "bank_busy": In(BANKS),
                "depth_known": In(1),
            }
        )


class Feedback(wiring.Component):
    """Accept reports of the depth test.

    A report counts where no other test of its tile is in flight, and no tile that shares its count
    is between lookup and outcome.

    Parameters
    ----------
    edge : int
        Samples along a tile's edge.
    most : int
        Most tests in flight.
    first : int
        Clocks from a tile's ``key`` to the first in which a report counts too late for it.
    beyond : int
        Clocks from a tile's ``key`` to the one after its outcome.

    Members
    -------
    i : In(stream.Signature(layout(payloads.feedback(edge))))
        Reports wait in a register, beside another one that says whether they must wait.
    tile_valid, key : In
        A tile that is looked up.
    test_begins, test_key : In
        A test begins, of tiles of this key.
    serial : In(8)
        Clears so far.
    write : Out(FeedbackWrite())
        Bounds for the bounds RAM.
    """

    def __init__(self, edge, most, first, beyond):
        self._most = most
        self._first = first
        self._beyond = beyond
        self._report = layout(payloads.feedback(edge))
        super().__init__(
            {
                "i": In(stream.Signature(self._report)),
                "tile_valid": In(1),
                "key": In(KEY),
                "test_begins": In(1),
                "test_key": In(KEY),
                "serial": In(8),
                "write": Out(FeedbackWrite()),
            }
        )

    def elaborate(self, platform):
        m = Module()
        write = self.write
        m.submodules.scoreboard = scoreboard = Scoreboard(1 << KEY.size, self._most, threshold=1)
        waiting = Signal()
        report = Signal(self._report)
        pending = Signal()
        offered = self.i.payload
        t = Timeline(m)
        t.enter(0, tile_valid=self.tile_valid, key=self.key.as_value())
        # Tiles that are between lookup and outcome in the next clock.
        tiles = [t[clock] for clock in range(self._first - 1, self._beyond - 1)]

        def blocked(candidate):
            key = key_of(candidate)
            return Cat(tile.tile_valid & (tile.key == key) for tile in tiles).any()

        m.d.comb += [
            write.bank.eq(Cat(report.x[0], report.y[0])),
            self.i.ready.eq(~waiting | write.accept),
            write.accept.eq(
                waiting
                & ~write.initialising
                & (scoreboard.above | ~(pending | write.bank_busy.bit_select(write.bank, 1)))
            ),
        ]
        m.d.comb += [
            scoreboard.increment.eq(self.test_begins),
            scoreboard.increment_key.eq(self.test_key),
            scoreboard.decrement.eq(write.accept),
            scoreboard.decrement_key.eq(key_of(report)),
            scoreboard.lookup.eq(self.i.ready),
            scoreboard.lookup_key.eq(key_of(offered)),
        ]
        m.d.sync += pending.eq(Mux(self.i.ready, blocked(offered), blocked(report)))
        with m.If(self.i.ready):
            m.d.sync += [
                waiting.eq(self.i.valid),
                report.eq(offered),
            ]

        note = NOTE(report.note)
        m.d.comb += [
            write.fits.eq(
                write.depth_known
                & ~scoreboard.above
                & note.has_entry
                & (note.serial == self.serial)
            ),
            write.address.eq(note.address),
            write.bounds.low.eq(report.low),
            write.bounds.high.eq(report.high),
        ]
        return m


def key_of(tile):
    """The count of a tile, by its position."""
    return Cat(tile.x[:3], tile.y[:3])
