# SPDX-License-Identifier: BSD-2-Clause
"""Skid buffer: what still arrives when a stream stops."""

from amaranth.hdl import EnableInserter, Module, Mux, ShapeLike, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import delay
from fixfunc.spec.errors import InputError


class SkidBuffer(wiring.Component):
    """Places at the end of a pipeline whose enable comes of registers, and so falls a clock late.

    Parameters
    ----------
    shape : ShapeLike
        Of a beat.
    places : int
        Of two, ``o`` is a register. Of one, which costs half, it is ``i`` or the place: a beat
        leaves in the clock of its push.

    Members
    -------
    enable : Out(1)
        The pipeline moves: a register, so that it reaches many flip-flops.
    push, i : In(1), In(shape)
        A beat at the end of the pipeline; it counts if ``enable`` is set.
    o : Out(stream.Signature(shape))
        One clock later at the earliest, of one place in that clock; one beat a clock.
    """

    def __init__(self, shape: ShapeLike, places: int = 2) -> None:
        if places not in (1, 2):
            raise InputError("places", "be 1 or 2", places)
        self._places = places
        super().__init__(
            {
                "enable": Out(1, init=1),
                "push": In(1),
                "i": In(shape),
                "o": Out(stream.Signature(shape)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self._places == 1:
            self._hold(m)
            return m
        second = Signal.like(self.o.payload)
        level = Signal(2)
        next_level = Signal(2)
        push = Signal()
        pop = Signal()
        m.d.comb += [
            self.o.valid.eq(level != 0),
            pop.eq(self.o.valid & self.o.ready),
            push.eq(self.push & self.enable),
            next_level.eq(level + push - pop),
        ]
        m.d.sync += [
            level.eq(next_level),
            self.enable.eq(next_level < 2),
        ]
        with m.If(self.enable):
            m.d.sync += second.eq(self.i)
        with m.If(pop | (level == 0)):
            m.d.sync += self.o.payload.eq(Mux(level == 2, second, self.i))
        return m

    def _hold(self, m):
        """A beat that is not taken waits in the one place; the next one waits where it is.

        A pipeline without one at its end moves on, so that its bubbles are no clocks lost.
        """
        held = Signal.like(self.o.payload)
        is_held = Signal()
        waits = Signal()
        m.d.comb += [
            self.enable.eq(~(is_held & self.push)),
            self.o.valid.eq(is_held | self.push),
            self.o.payload.eq(Mux(is_held, held, self.i)),
            waits.eq(self.o.valid & ~self.o.ready),
        ]
        m.d.sync += is_held.eq(waits)
        with m.If(~is_held):
            m.d.sync += held.eq(self.i)


class StallablePipeline(wiring.Component):
    """A free-running pipeline between two streams, stopped by one enable.

    For beats too wide for a :class:`~fixfunc.rtl.lib.fifo.CreditedFIFO`.

    Parameters
    ----------
    unit : wiring.Component
        With members ``i`` and ``o``.
    latency : int
        Clocks from ``unit.i`` to ``unit.o``.
    places : int
        Of the skid buffer.

    Members
    -------
    i, o : In, Out(stream.Signature(...))
        One beat a clock; from ``i`` to ``o`` ``latency`` and :attr:`AROUND` more clocks, of one
        place one less.
    """

    AROUND = 2  # clocks before and after the unit

    def __init__(self, unit: wiring.Component, latency: int, places: int = 2) -> None:
        self._unit = unit
        self._latency = latency
        self._places = places
        super().__init__(
            {"i": In(stream.Signature(unit.i.shape())), "o": Out(stream.Signature(unit.o.shape()))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.skid = skid = SkidBuffer(self._unit.o.shape(), self._places)
        inner = Module()
        inner.submodules.unit = self._unit
        inner.d.sync += self._unit.i.eq(self.i.payload)
        inner.d.comb += skid.push.eq(delay(inner, self.i.valid, 1 + self._latency, "valid"))
        m.submodules.inner = EnableInserter(skid.enable)(inner)
        m.d.comb += [
            self.i.ready.eq(skid.enable),
            skid.i.eq(self._unit.o),
        ]
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        return m
