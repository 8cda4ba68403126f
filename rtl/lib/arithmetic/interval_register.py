# SPDX-License-Identifier: BSD-2-Clause
"""Admit a beat every few clocks."""

from amaranth.hdl import Module, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.spec.errors import InputError


class IntervalRegister(wiring.Component):
    """The register in front of a pipeline that takes a beat every ``interval`` clocks.

    Parameters
    ----------
    shape : ShapeLike
        Of a beat.
    interval : int
        Clocks from one beat to the next, at least.

    Members
    -------
    i : In(stream.Signature(shape))
    room : In(1)
        The pipeline has room for a beat.
    accept : Out(1)
        A beat moves.
    start : Out(1)
        ``o`` is a new beat: one clock after ``accept``.
    o : Out(shape)
        The beat, until the next one.
    """

    def __init__(self, shape: ShapeLike, interval: int = 1) -> None:
        if interval < 1:
            raise InputError("interval", "be above 0", interval)
        self._interval = interval
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "room": In(1),
                "accept": Out(1),
                "start": Out(1),
                "o": Out(shape),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        wait = Signal(range(max(2, self._interval)))
        m.d.comb += [
            self.i.ready.eq(self.room & (wait == 0)),
            self.accept.eq(self.i.valid & self.i.ready),
        ]
        m.d.sync += [
            self.start.eq(self.accept),
            wait.eq(wait - (wait != 0)),
        ]
        with m.If(self.accept):
            m.d.sync += [
                wait.eq(self._interval - 1),
                self.o.eq(self.i.payload),
            ]
        return m
