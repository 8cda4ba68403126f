# SPDX-License-Identifier: BSD-2-Clause
"""Credits for the places at the end of a free-running pipeline."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from fixfunc.spec.errors import InputError


class CreditCounter(wiring.Component):
    """Counts the free places downstream of a pipeline that cannot stall.

    Parameters
    ----------
    places : int
        Places downstream.
    lookahead : int
        Clocks from the count of free places to the ``consume`` that it allows: 1 for one in the
        clock of ``available``, and one more for each clock later. As many places are held back,
        since so many beats may still enter.

    Members
    -------
    consume : In(1)
        A beat enters the pipeline. Allowed ``lookahead`` - 1 clocks after ``available``.
    release : In(1)
        A beat leaves its place at the end.
    cancel : In(1)
        A beat was dropped on the way. May happen together with ``release``.
    available : Out(1)
        A place is free.
    idle : Out(1)
        Every place is free: nothing is in flight.
    """

    consume: In(1)
    release: In(1)
    cancel: In(1)
    available: Out(1, init=1)
    idle: Out(1)

    def __init__(self, places: int, lookahead: int = 1) -> None:
        if not 1 <= lookahead < places:
            raise InputError("lookahead", f"be 1 to {places - 1}", lookahead)
        self._places = places
        self._lookahead = lookahead
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        free = Signal(range(self._places + 1), init=self._places)
        m.d.comb += self.idle.eq(free == self._places)
        m.d.sync += [
            free.eq(free - self.consume + self.release + self.cancel),
            self.available.eq(free > self._lookahead),
        ]
        return m
