# SPDX-License-Identifier: BSD-2-Clause
"""Quotients by one divisor, one set of them a clock or less often."""

from typing import NamedTuple

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.shared_multiplier import arrivals_of, collect
from fixfunc.rtl.lib.delay import delay
from fixfunc.spec.errors import InputError


class Partial(NamedTuple):
    """A division under way."""

    negative: Value
    dividend: Value  # bits that are left, the next one on top
    remainder: Value
    quotient: Value  # bits that have been found and are kept
    above: Value  # a bit that is not kept is set


class Divider(wiring.Component):
    """Restoring division of ``count`` dividends by one divisor, a set every ``interval`` clocks.

    One quotient bit a clock. With an ``interval`` of 1 a stage for each bit, and in it a subtractor
    for each dividend. A longer interval first lets the dividends take turns in one subtractor; what
    remains of it lets each stage find several bits, one after another.

    A negative dividend is complemented, and so is its quotient: its fraction is then of ones, and
    floors need no carry. Remainders grow from stage to stage until they are as wide as the divisor.

    Parameters
    ----------
    bits : int
        Width of the divisor.
    dividend_bits : int
        Width of a dividend. Its bits without the sign are a multiple of what a stage finds.
    fraction : int
        Bits of the quotient below those of the dividend; a multiple of what a stage finds.
    out_bits : int
        Width of ``o``.
    count : int
        Dividends of a set.
    interval : int
        Clocks from one set to the next, at least.

    Members
    -------
    start : In(1)
        First clock of a set. It holds for ``interval`` clocks, and so do its quotients. With an
        ``interval`` of 1 every clock is the first of a set.
    dividend : In(ArrayLayout(signed(dividend_bits), count))
    divisor : In(bits)
        Above zero.
    o : Out(ArrayLayout(signed(out_bits), count))
        The floors of ``dividend * 2**fraction / divisor`` modulo ``2**out_bits``, :attr:`latency`
        clocks after ``start``.
    beyond : Out(count)
        Those floors do not fit ``signed(out_bits)``. As late.
    """

    def __init__(
        self,
        bits: int,
        dividend_bits: int,
        fraction: int,
        out_bits: int,
        count: int = 1,
        interval: int = 1,
    ) -> None:
        if dividend_bits < 2:
            raise InputError("dividend_bits", "be above 1", dividend_bits)
        if fraction < 0:
            raise InputError("fraction", "not be negative", fraction)
        if count < 1:
            raise InputError("count", "be above 0", count)
        if interval < 1:
            raise InputError("interval", "be above 0", interval)
        self._bits = bits
        self._magnitude = dividend_bits - 1
        self._quotient = self._magnitude + fraction
        if not 1 <= out_bits <= self._quotient:
            raise InputError("out_bits", f"be 1 to {self._quotient}", out_bits)
        self._interval = interval
        self._lanes = -(-count // interval)
        self._turns = -(-count // self._lanes)
        self._bits_a_stage = interval // self._turns
        for name, value in (("dividend_bits - 1", self._magnitude), ("fraction", fraction)):
            if value % self._bits_a_stage:
                raise InputError(name, f"be a multiple of {self._bits_a_stage}", value)
        # Quotient bits that are not kept; whether one of them is set is.
        self._dropped = (self._quotient - out_bits) // self._bits_a_stage * self._bits_a_stage
        super().__init__(
            {
                "start": In(1),
                "dividend": In(ArrayLayout(signed(dividend_bits), count)),
                "divisor": In(bits),
                "o": Out(ArrayLayout(signed(out_bits), count)),
                "beyond": Out(count),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from dividends to quotients: one a bit; the other turns, and a register."""
        others = (self._turns - 1) * self._bits_a_stage
        return self._quotient + (others + 1 if self._interval > 1 else 0)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turns = [
            delay(m, self.start, turn * self._bits_a_stage, f"start_{turn}")
            for turn in range(self._turns)
        ]
        enters = Const(1)
        if self._bits_a_stage > 1:
            enters = Cat(turns).any()
        lanes = [self._enter(m, lane, turns) for lane in range(self._lanes)]
        divisor = self.divisor
        for stage in range(self._quotient // self._bits_a_stage):
            held_divisor = Signal(self._bits, name=f"divisor_{stage}")
            current_divisor = Mux(enters, divisor, held_divisor)
            m.d.sync += held_divisor.eq(current_divisor)
            lanes = [
                self._stage(m, f"{stage}_{lane}", stage, enters, current_divisor, entering)
                for lane, entering in enumerate(lanes)
            ]
            divisor = held_divisor
            if self._bits_a_stage > 1:
                enters = delay(m, enters, self._bits_a_stage, f"enters_{stage}")
        # A stage of several bits finds wrong ones when its set has left: quotients are collected.
        arrivals = []
        if self._interval > 1:
            arrivals = arrivals_of(m, self.start, self._quotient, self._turns, self._bits_a_stage)
        for k in range(len(self.o)):
            lane, turn = divmod(k, self._turns)
            self._put_out(m, k, lanes[lane], arrivals, turn)
        return m

    def _enter(self, m, lane, turns):
        """A lane at the first stage, with the dividend whose turn it is."""
        negative = Signal(name=f"negative_{lane}")
        magnitude = Signal(self._magnitude, name=f"magnitude_{lane}")
        for k in range(lane * self._turns, min((lane + 1) * self._turns, len(self.o))):
            turn = k % self._turns
            dividend = self.dividend[k]
            with m.If(turns[turn] if turn else 1):
                m.d.comb += [
                    negative.eq(dividend[-1]),
                    magnitude.eq(dividend[:-1] ^ dividend[-1].replicate(self._magnitude)),
                ]
        none = Const(0, 0)
        return Partial(negative, magnitude, none, none, Const(0, 1))

    def _stage(self, m, name, stage, enters, divisor, entering):
        """A lane behind a stage."""
        first = stage * self._bits_a_stage
        found = first + self._bits_a_stage
        left = len(entering.dividend)
        widths = Partial(
            negative=1,
            dividend=max(left - 1, 0),
            remainder=min(found, self._bits),
            quotient=max(found - self._dropped, 0),
            above=1,
        )
        held = Partial(
            *(
                Signal(width, name=f"{part}_{name}") if width else Const(0, 0)
                for part, width in widths._asdict().items()
            )
        )
        # Of a stage that finds several bits, the dividend's move up, to be the top one in turn.
        negative, dividend, remainder, quotient, above = (
            Mux(enters, entering_part, held_part)
            for entering_part, held_part in zip(
                entering,
                held._replace(dividend=Cat(Const(0, 1), held.dividend)[:left]),
                strict=True,
            )
        )
        digit = dividend[left - 1] if left else negative
        shifted = Signal(min(found, self._bits + 1), name=f"shifted_{name}")
        difference = Signal(len(shifted) + 1, name=f"difference_{name}")
        m.d.comb += [
            shifted.eq(Cat(digit, remainder)),
            difference.eq(shifted - divisor[: len(shifted)]),
        ]
        fits = ~difference[-1] & ~divisor[len(shifted) :].any()
        found_parts = Partial(
            negative=negative,
            dividend=dividend,
            remainder=Mux(fits, difference, shifted),
            quotient=Cat(fits, quotient),
            above=above | fits if first < self._dropped else above,
        )
        m.d.sync += [
            part.eq(value) for part, value in zip(held, found_parts, strict=True) if len(part)
        ]
        return held._replace(dividend=held.dividend[self._bits_a_stage - 1 :])

    def _put_out(self, m, k, result, arrivals, turn):
        """A quotient, complemented again, and whether it is beyond the range."""
        out_bits = len(self.o[k])
        collected = Signal(
            StructLayout({"o": signed(out_bits), "beyond": 1}), name=f"collected_{k}"
        )
        current = Signal.like(collected, name=f"result_{k}")
        m.d.comb += [
            current.o.eq(result.quotient[:out_bits] ^ result.negative.replicate(out_bits)),
            current.beyond.eq(result.above | result.quotient[out_bits - 1 :].any()),
            self.o[k].eq(collected.o),
            self.beyond[k].eq(collected.beyond),
        ]
        collect(m, current.as_value(), collected.as_value(), arrivals, turn)
