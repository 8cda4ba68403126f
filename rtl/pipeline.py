# SPDX-License-Identifier: BSD-2-Clause
"""Parts of free-running pipelines: they never stall, so that no enable has to reach every register.

What enters such a pipeline has a place reserved at its end (:class:`Credit`), where a queue absorbs the stalls.
"""

from amaranth.hdl import EnableInserter, Module, Mux, ShapeLike, Signal, Value, ValueLike
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import View
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

# No row of these memories is read in the clock that writes it: nothing has to be built for that case.
NEVER_COLLIDES = {"no_rw_check": 1}


def delay(m: Module, value: Value | View, clocks: int, name: str) -> Value | View:
    """``value``, ``clocks`` later, in registers."""
    for clock in range(clocks):
        later = Signal.like(value, name=f"{name}_{clock + 1}")
        m.d.sync += later.eq(value)
        value = later
    return value


def held(m: Module, value: ValueLike, bits: ShapeLike, name: str) -> Signal | View:
    """``value`` modulo 2^bits, a clock later."""
    out = Signal(bits, name=name)
    m.d.sync += out.eq(value)
    return out


def some_left(m: Module, places: int, enters: Value, left: Value) -> Value:
    """Whether a queue of so many places holds a beat; ``left``: one left in the clock before, so that no counter waits for who takes it."""
    level, following, one, more = Signal(range(places + 1)), Signal(range(places + 1)), Signal(), Signal()
    m.d.comb += following.eq(level + enters - left)
    m.d.sync += [level.eq(following), one.eq(following == 1), more.eq(following > 1)]
    return more | (one & ~left)


class DelayLine(wiring.Component):
    """A long delay in block RAM.

    Parameters
    ----------
    width : int
        Bits.
    clocks : int
        Delay, above two.
    near : bool
        In distributed RAM: up to 17 clocks of anything wide.

    Members
    -------
    i : In(width)
    o : Out(width)
        ``i`` of :attr:`clocks` clocks before; before that many have passed, anything.
    """

    def __init__(self, width: int, clocks: int, near: bool = False) -> None:
        if clocks < 3:
            raise ValueError(f"clocks must be above two, not {clocks!r}")
        self._width, self._clocks, self._attrs = width, clocks, {"ram_style": "distributed"} if near else NEVER_COLLIDES
        super().__init__({"i": In(width), "o": Out(width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.memory = memory = Memory(shape=self._width, depth=self._clocks - 1, init=[], attrs=self._attrs)
        write, read = memory.write_port(), memory.read_port()

        # The place read in this clock is the one that the next clock overwrites: the oldest.
        following = Signal(range(self._clocks - 1), init=1)
        with m.If(following == self._clocks - 2):
            m.d.sync += following.eq(0)
        with m.Else():
            m.d.sync += following.eq(following + 1)
        m.d.sync += [write.addr.eq(following), self.o.eq(read.data)]
        m.d.comb += [write.en.eq(1), write.data.eq(self.i), read.addr.eq(following)]
        return m


class Queue(wiring.Component):
    """Where a pipeline that never stalls meets a stream that may: a queue in block RAM.

    What enters must have a place reserved (:class:`Credit`): the queue does not say when it is full. Block RAM is slow
    and lies far apart, so that nothing but addresses goes there: it is read ahead, through a register, into a few
    places of distributed RAM, and only those wait for ``o.ready``.

    Parameters
    ----------
    shape : ShapeLike
        Of a beat.
    depth : int
        Beats.

    Members
    -------
    valid, i : In
        A beat enters.
    o : Out(stream.Signature(shape))
        :attr:`LATENCY` clocks later at the earliest.
    """

    LATENCY = 5
    AHEAD = 16  # places of distributed RAM: no fewer cost less

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        self._depth = 1 << (depth - 1).bit_length()  # of the memory; places then wrap by themselves
        super().__init__({"valid": In(1), "i": In(shape), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = len(Value.cast(self.i))
        m.submodules.memory = memory = Memory(shape=width, depth=self._depth, init=[], attrs=NEVER_COLLIDES)
        m.submodules.ahead = ahead = Memory(shape=width, depth=self.AHEAD, init=[])
        write, read, write_ahead, read_ahead = memory.write_port(), memory.read_port(), ahead.write_port(), ahead.read_port(domain="comb")

        # Read ahead while there is something to read, and room: what is under way and what lies ready.
        level, following, taken = Signal(range(self._depth + 1)), Signal(range(self._depth + 1)), Signal(range(self.AHEAD + 1))
        reads, room, pop, popped, data = Signal(), Signal(init=1), Signal(), Signal(), Signal(width)
        m.d.comb += [write.en.eq(self.valid), write.data.eq(self.i), following.eq(level + self.valid - reads)]
        m.d.sync += [write.addr.eq(write.addr + self.valid), read.addr.eq(read.addr + reads), level.eq(following),
                     reads.eq((following != 0) & room), taken.eq(taken + reads - popped), room.eq(taken < self.AHEAD - 3)]
        m.d.sync += data.eq(read.data)
        m.d.comb += [write_ahead.en.eq(delay(m, reads, 2, "arrives")), write_ahead.data.eq(data)]
        m.d.sync += write_ahead.addr.eq(write_ahead.addr + write_ahead.en)

        some = some_left(m, self.AHEAD, write_ahead.en, popped)
        m.d.comb += pop.eq(some & (~self.o.valid | self.o.ready))
        m.d.sync += [popped.eq(pop), read_ahead.addr.eq(read_ahead.addr + pop)]
        with m.If(~self.o.valid | self.o.ready):
            m.d.sync += [self.o.valid.eq(some), self.o.payload.eq(read_ahead.data)]
        return m


class Buffer(wiring.Component):
    """A queue between two streams, in block RAM, whose end is a register: what block RAM tells comes late in a clock.

    Parameters
    ----------
    shape : ShapeLike
        Of a beat.
    depth : int
        Beats.

    Members
    -------
    i, o : In, Out(stream.Signature(shape))
    some : Out(1)
        It holds a beat.
    """

    def __init__(self, shape: ShapeLike, depth: int) -> None:
        self._depth = depth
        super().__init__({"i": In(stream.Signature(shape)), "o": Out(stream.Signature(shape)), "some": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.queue = queue = fifo.SyncFIFOBuffered(width=Value.cast(self.i.payload).shape().width, depth=self._depth)
        wiring.connect(m, wiring.flipped(self.i), queue.w_stream)
        m.d.comb += [queue.r_en.eq(~self.o.valid | self.o.ready), self.some.eq(self.o.valid | (queue.level != 0))]
        with m.If(queue.r_en):
            m.d.sync += [self.o.valid.eq(queue.r_rdy), self.o.payload.eq(queue.r_data)]
        return m


class Stallable(wiring.Component):
    """A pipeline between streams, all of whose registers stop by one enable; for beats too wide to be queued.

    The enable is a register: two places at the end hold what still comes when the stream there stops.

    Parameters
    ----------
    unit : wiring.Component
        With members ``i`` and ``o``; free-running.
    clocks : int
        From ``i`` to ``o``.

    Members
    -------
    i, o : In, Out(stream.Signature(...))
        From beat to beat ``clocks`` and two more.
    """

    AROUND = 2  # clocks before and after the unit

    def __init__(self, unit: wiring.Component, clocks: int) -> None:
        self._unit, self._clocks = unit, clocks
        super().__init__({"i": In(stream.Signature(unit.i.shape())), "o": Out(stream.Signature(unit.o.shape()))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        unit, inner, moves, arrives = self._unit, Module(), Signal(init=1), Signal()
        inner.submodules.unit = unit
        inner.d.sync += unit.i.eq(self.i.payload)
        inner.d.comb += arrives.eq(delay(inner, self.i.valid, 1 + self._clocks, "valid"))
        m.submodules.inner = EnableInserter(moves)(inner)

        second, level, to_level, pushes, pops = Signal.like(self.o.payload), Signal(2), Signal(2), Signal(), Signal()
        m.d.comb += [self.i.ready.eq(moves), self.o.valid.eq(level != 0), pops.eq(self.o.valid & self.o.ready), pushes.eq(arrives & moves),
                     to_level.eq(level + pushes - pops)]
        m.d.sync += [level.eq(to_level), moves.eq(to_level < 2)]
        with m.If(moves):
            m.d.sync += second.eq(unit.o)
        with m.If(pops | (level == 0)):
            m.d.sync += self.o.payload.eq(Mux(level == 2, second, unit.o))
        return m


class Credit(wiring.Component):
    """Counts the free places at the end of a pipeline.

    Parameters
    ----------
    places : int
        How many there are.
    ahead : int
        Clocks from :attr:`any` to what it allows.

    Members
    -------
    take : In(1)
        Something enters; only if :attr:`any` allowed it.
    free, drop : In(1)
        Something left at the end; something was dropped on the way. Both may happen in a clock.
    any, all : Out(1)
        A place is free, known :attr:`ahead` clocks before: as many are held back; every place is free.
    """

    take: In(1)
    free: In(1)
    drop: In(1)
    any: Out(1, init=1)
    all: Out(1)

    def __init__(self, places: int, ahead: int = 1) -> None:
        self._places, self._ahead = places, ahead
        super().__init__()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = Signal(range(self._places + 1), init=self._places)
        m.d.comb += self.all.eq(count == self._places)
        m.d.sync += [count.eq(count - self.take + self.free + self.drop), self.any.eq(count > self._ahead)]
        return m
