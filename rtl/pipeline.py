"""Parts of free-running pipelines: they never stall, so that no enable has to reach every register.

What enters such a pipeline has a place reserved at its end (:class:`Credit`), where a queue absorbs the stalls.
"""

from amaranth.hdl import Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

# No row of these memories is read in the clock that writes it: nothing has to be built for that case.
NEVER_COLLIDES = {"no_rw_check": 1}


def delay(m, value, clocks, name):
    """``value``, ``clocks`` later, in registers."""
    for clock in range(clocks):
        later = Signal.like(value, name=f"{name}_{clock + 1}")
        m.d.sync += later.eq(value)
        value = later
    return value


class DelayLine(wiring.Component):
    """A long delay in block RAM.

    Parameters
    ----------
    width : int
        Bits.
    clocks : int
        Delay, above two.

    Members
    -------
    i : In(width)
    o : Out(width)
        ``i`` of :attr:`clocks` clocks before; before that many have passed, anything.
    """

    def __init__(self, width, clocks):
        if clocks < 3:
            raise ValueError(f"clocks must be above two, not {clocks!r}")
        self._width, self._clocks = width, clocks
        super().__init__({"i": In(width), "o": Out(width)})

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=self._width, depth=self._clocks - 1, init=[], attrs=NEVER_COLLIDES)
        write, read = memory.write_port(), memory.read_port()

        # The place read in this clock is the one that the next clock overwrites: the oldest.
        place, following = Signal(range(self._clocks - 1)), Signal(range(self._clocks - 1))
        last = place == self._clocks - 2
        m.d.comb += following.eq(0)
        with m.If(~last):
            m.d.comb += following.eq(place + 1)
        m.d.sync += [place.eq(following), self.o.eq(read.data)]
        m.d.comb += [write.en.eq(1), write.addr.eq(place), write.data.eq(self.i), read.addr.eq(following)]
        return m


class Queue(wiring.Component):
    """Where a pipeline that never stalls meets a stream that may: a queue in block RAM, behind a register.

    What enters must have a place reserved (:class:`Credit`): the queue does not say when it is full. Block RAM is
    slow and lies far apart: a register takes what it gives, and it does not wait for ``o.ready`` of the same clock.

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

    LATENCY = 4

    def __init__(self, shape, depth):
        self._depth = 1 << (depth - 1).bit_length()  # of the memory; places then wrap by themselves
        super().__init__({"valid": In(1), "i": In(shape), "o": Out(stream.Signature(shape))})

    def elaborate(self, platform):
        m = Module()
        m.submodules.memory = memory = Memory(shape=len(Value.cast(self.i)), depth=self._depth, init=[], attrs=NEVER_COLLIDES)
        write, read = memory.write_port(), memory.read_port()
        first, last, level = Signal(range(self._depth)), Signal(range(self._depth)), Signal(range(self._depth + 1))
        read_before, one, more = Signal(), Signal(), Signal()  # ``level`` is a read behind, and is one, or more
        given, taken, waits = Signal(), Signal(), Signal()  # the memory's output holds a beat; ``data`` does; ``aside`` does
        data, aside, following = Signal.like(read.data), Signal.like(read.data), Signal.like(level)
        stuck = taken & waits
        m.d.comb += [write.en.eq(self.valid), write.addr.eq(last), write.data.eq(self.i), read.addr.eq(first),
                     read.en.eq((more | (one & ~read_before)) & ~(given & stuck)), following.eq(level + self.valid - read_before)]
        m.d.sync += [last.eq(last + self.valid), first.eq(first + read.en), read_before.eq(read.en), given.eq(read.en | (given & stuck)),
                     level.eq(following), one.eq(following == 1), more.eq(following > 1)]
        with m.If(~stuck):
            m.d.sync += [taken.eq(given), data.eq(read.data)]

        # What comes while the output waits is set aside, and goes first.
        with m.If(~self.o.valid | self.o.ready):
            m.d.sync += [self.o.valid.eq(waits | taken), self.o.payload.eq(Mux(waits, aside, data)), waits.eq(0)]
        with m.Elif(~waits):
            m.d.sync += [waits.eq(taken), aside.eq(data)]
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

    def __init__(self, places, ahead=1):
        self._places, self._ahead = places, ahead
        super().__init__()

    def elaborate(self, platform):
        m = Module()
        count = Signal(range(self._places + 1), init=self._places)
        m.d.comb += self.all.eq(count == self._places)
        m.d.sync += [count.eq(count - self.take + self.free + self.drop), self.any.eq(count > self._ahead)]
        return m


class Multiplier(wiring.Component):
    """Signed product, one a clock, from 18-bit multipliers.

    Parameters
    ----------
    a_bits, b_bits : int
        Widths of the factors.
    out_bits : int, optional
        Width of the product; a smaller one takes it modulo 2^out_bits.

    Members
    -------
    a, b : In
        Signed factors.
    o : Out
        Signed product, :attr:`latency` clocks later.
    """

    LIMB = 17  # bits of an unsigned limb: an 18-bit signed multiplier takes it with a zero on top

    def __init__(self, a_bits, b_bits, out_bits=None):
        self._a, self._b = a_bits, b_bits
        self._out = out_bits or a_bits + b_bits
        self._factors = Signal(signed(a_bits), name="factor_a"), Signal(signed(b_bits), name="factor_b")
        super().__init__({"a": In(signed(a_bits)), "b": In(signed(b_bits)), "o": Out(signed(self._out))})

    @classmethod
    def _limbs(cls, value, bits):
        """(shift, limb) of a value: unsigned limbs, the highest one signed."""
        whole = max(0, -(-(bits - 18) // cls.LIMB))
        limbs = [(n * cls.LIMB, value[n * cls.LIMB:(n + 1) * cls.LIMB]) for n in range(whole)]
        return [*limbs, (whole * cls.LIMB, value[whole * cls.LIMB:].as_signed())]

    @property
    def _pairs(self):
        pairs = [(i, j) for i in self._limbs(self._factors[0], self._a) for j in self._limbs(self._factors[1], self._b)]
        return [(i[0] + j[0], i[1], j[1]) for i, j in pairs if i[0] + j[0] < self._out]

    @property
    def latency(self):
        """Clocks from the factors to the product: one to travel to the multipliers, one for partial products, one a level of their sum."""
        return 2 + (len(self._pairs) - 1).bit_length()

    def elaborate(self, platform):
        m = Module()
        m.d.sync += [self._factors[0].eq(self.a), self._factors[1].eq(self.b)]
        terms = []
        for n, (shift, a, b) in enumerate(self._pairs):
            part = Signal(signed(len(a) + len(b) + 1), name=f"part_{n}")
            m.d.sync += part.eq(a * b)
            terms.append(part << shift)
        level = 0
        while len(terms) > 1:
            sums = [Signal(signed(self._out), name=f"sum_{level}_{n}") for n in range((len(terms) + 1) // 2)]
            for n, total in enumerate(sums):
                m.d.sync += total.eq(sum(terms[2 * n + 1:2 * n + 2], terms[2 * n]))
            terms, level = sums, level + 1
        m.d.comb += self.o.eq(terms[0])
        return m


class Divider(wiring.Component):
    """Restoring division, one quotient bit a stage, one division a clock.

    Parameters
    ----------
    bits : int
        Width of the divisor.
    dividend : int
        Low bits of the dividend that are given; the others below them are zero.
    quotient : int
        Width of the quotient, and number of stages.

    Members
    -------
    high : In(bits)
        The dividend above its low ``quotient`` bits; less than the divisor.
    low : In(dividend)
        The next bits of the dividend.
    divisor : In(bits)
    o : Out(quotient)
        The floor of the quotient, :attr:`latency` clocks later.
    """

    def __init__(self, bits, dividend, quotient):
        self._bits, self._quotient = bits, quotient
        super().__init__({"high": In(bits), "low": In(dividend), "divisor": In(bits), "o": Out(quotient)})

    @property
    def latency(self):
        """Clocks from dividend to quotient: one a bit."""
        return self._quotient

    def elaborate(self, platform):
        m = Module()
        rest, divisor = self.high, self.divisor
        digits = Signal(unsigned(self._quotient))  # dividend bits leave at the top, quotient bits enter below
        m.d.comb += digits.eq(self.low << self._quotient - len(self.low))
        for n in range(self._quotient):
            trial = Signal(self._bits + 2, name=f"trial_{n}")
            shifted = Signal(self._bits + 1, name=f"shifted_{n}")
            m.d.comb += [shifted.eq((rest << 1) | digits[-1]), trial.eq(shifted - divisor)]
            fits = ~trial[-1]
            next_rest, next_divisor, next_digits = (Signal.like(s, name=f"{name}_{n}")
                                                    for s, name in ((rest, "rest"), (divisor, "divisor"), (digits, "digits")))
            m.d.sync += [next_digits.eq((digits << 1) | fits), next_divisor.eq(divisor), next_rest.eq(shifted)]
            with m.If(fits):
                m.d.sync += next_rest.eq(trial)
            rest, divisor, digits = next_rest, next_divisor, next_digits
        m.d.comb += self.o.eq(digits)
        return m
