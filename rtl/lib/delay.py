# SPDX-License-Identifier: BSD-2-Clause
"""Delays of free-running pipelines: registers, block RAM for long ones, and a timer that knows
when a pipeline is empty.
"""

from amaranth.hdl import Module, Mux, ShapeLike, Signal, Value, ValueLike
from amaranth.lib import wiring
from amaranth.lib.data import View
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.spec.errors import InputError

# Attribute of memories of which no row is read in the clock that writes it: nothing has to be built
# for that case.
NO_COLLISION = {"no_rw_check": 1}


def delay(m: Module, value: Value | View, clocks: int, name: str) -> Value | View:
    """``value``, ``clocks`` later, in registers."""
    for clock in range(clocks):
        later = Signal.like(value, name=f"{name}_{clock + 1}")
        m.d.sync += later.eq(value)
        value = later
    return value


def register(m: Module, value: ValueLike, shape: ShapeLike, name: str) -> Signal | View:
    """``value`` cut to a shape, one clock later."""
    out = Signal(shape, name=name)
    m.d.sync += out.eq(value)
    return out


def held(m: Module, value: Value | View, when: Value, name: str) -> Value | View:
    """``value`` of the last clock in which ``when`` was set, from the clock after it on."""
    out = Signal.like(value, name=name)
    with m.If(when):
        m.d.sync += out.eq(value)
    return out


class DelayLine(wiring.Component):
    """A long delay in block RAM.

    Parameters
    ----------
    width : int
        Bits.
    clocks : int
        Delay, above two.
    near : bool
        In distributed RAM, for anything wide: the register of its read port is the output.

    Members
    -------
    i : In(width)
    o : Out(width)
        ``i`` of :attr:`clocks` clocks before; before that many have passed, anything.
    """

    def __init__(self, width: int, clocks: int, near: bool = False) -> None:
        if clocks < 3:
            raise InputError("clocks", "be above two", clocks)
        self._width = width
        self._clocks = clocks
        self._attrs = {"ram_style": "distributed"} if near else NO_COLLISION
        self._is_near = near
        super().__init__({"i": In(width), "o": Out(width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        # Block RAM is slow to read: its output has a register of its own, and a row less.
        rows = self._clocks if self._is_near else self._clocks - 1
        m.submodules.memory = memory = Memory(
            shape=self._width, depth=rows, init=[], attrs=self._attrs
        )
        write = memory.write_port()
        read = memory.read_port()

        # The place read in this clock is the one that the next clock overwrites: the oldest.
        following = Signal(range(rows), init=1)
        with m.If(following == rows - 1):
            m.d.sync += following.eq(0)
        with m.Else():
            m.d.sync += following.eq(following + 1)
        m.d.sync += write.addr.eq(following)
        m.d["comb" if self._is_near else "sync"] += self.o.eq(read.data)
        m.d.comb += [
            write.en.eq(1),
            write.data.eq(self.i),
            read.addr.eq(following),
        ]
        return m


def later(m: Module, value: View, clocks: int, name: str) -> View:
    """``value`` so many clocks later, from distributed RAM: see :class:`DelayLine`."""
    shape = value.shape()
    m.submodules[name] = line = DelayLine(shape.size, clocks, near=True)
    m.d.comb += line.i.eq(value)
    return shape(line.o)


class DrainTimer(wiring.Component):
    """Knows that nothing has entered a free-running pipeline for as long as it takes to leave it.

    Parameters
    ----------
    latency : int
        Clocks of the pipeline.

    Members
    -------
    enter : In(1)
        Something enters.
    drained : Out(1)
        A register: nothing entered in the last clock, nor in the ``latency`` clocks before it.
    """

    enter: In(1)
    drained: Out(1, init=1)

    def __init__(self, latency: int) -> None:
        if latency < 1:
            raise InputError("latency", "be above 0", latency)
        self._latency = latency
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        remaining = Signal(range(self._latency + 1))
        m.d.sync += [
            remaining.eq(Mux(self.enter, self._latency, Mux(remaining == 0, 0, remaining - 1))),
            self.drained.eq((remaining == 0) & ~self.enter),
        ]
        return m
