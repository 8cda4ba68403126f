# SPDX-License-Identifier: BSD-2-Clause
"""Quotients by one divisor, one set of them a clock or less often."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.shared_multiplier import arrivals_of, collect
from fixfunc.rtl.lib.delay import delay
from fixfunc.spec.errors import InputError


class Divider(wiring.Component):
    """Restoring division of ``count`` dividends by one divisor, a set every ``interval`` clocks.

    One quotient bit a clock. With an ``interval`` of 1 a stage for each bit, and in it a subtractor
    for each dividend. A longer interval first lets the dividends take turns in one subtractor; what
    remains of it lets each stage find several bits, one after another.

    Parameters
    ----------
    bits : int
        Width of the divisor.
    low_bits : int
        Width of ``low``.
    quotient : int
        Width of the quotient; a multiple of the bits that a stage finds.
    count : int
        Dividends of a set.
    interval : int
        Clocks from one set to the next, at least.

    Members
    -------
    start : In(1)
        First clock of a set. It holds for ``interval`` clocks, and so do its quotients. With an
        ``interval`` of 1 every clock is the first of a set.
    high : In(ArrayLayout(bits, count))
        The dividends above their low ``quotient`` bits; less than the divisor.
    low : In(ArrayLayout(low_bits, count))
        The highest of those bits; the others are zero.
    divisor : In(bits)
        Above zero.
    o : Out(ArrayLayout(quotient, count))
        The floors of the quotients, :attr:`latency` clocks after ``start``.
    """

    def __init__(
        self, bits: int, low_bits: int, quotient: int, count: int = 1, interval: int = 1
    ) -> None:
        if not 1 <= low_bits <= quotient:
            raise InputError("low_bits", f"be 1 to {quotient}", low_bits)
        if count < 1:
            raise InputError("count", "be above 0", count)
        if interval < 1:
            raise InputError("interval", "be above 0", interval)
        self._bits = bits
        self._quotient = quotient
        self._interval = interval
        self._lanes = -(-count // interval)
        self._turns = -(-count // self._lanes)
        self._bits_a_stage = interval // self._turns
        if quotient % self._bits_a_stage:
            raise InputError("quotient", f"be a multiple of {self._bits_a_stage}", quotient)
        super().__init__(
            {
                "start": In(1),
                "high": In(ArrayLayout(bits, count)),
                "low": In(ArrayLayout(low_bits, count)),
                "divisor": In(bits),
                "o": Out(ArrayLayout(quotient, count)),
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
            divisor, lanes = self._stage(m, stage, enters, divisor, lanes)
            if self._bits_a_stage > 1:
                enters = delay(m, enters, self._bits_a_stage, f"enters_{stage}")
        # A stage of several bits finds wrong ones when its set has left: quotients are collected.
        arrivals = []
        if self._interval > 1:
            arrivals = arrivals_of(m, self.start, self._quotient, self._turns, self._bits_a_stage)
        for k in range(len(self.o)):
            lane, turn = divmod(k, self._turns)
            collect(m, lanes[lane][1], self.o[k], arrivals, turn)
        return m

    def _enter(self, m, lane, turns):
        """Remainder and digits of a lane at the first stage.

        Dividend bits leave the digits at the top, quotient bits enter below.
        """
        remainder = Signal(self._bits, name=f"dividend_{lane}")
        digits = Signal(self._quotient, name=f"digits_{lane}")
        for k in range(lane * self._turns, min((lane + 1) * self._turns, len(self.o))):
            turn = k % self._turns
            with m.If(turns[turn] if turn else 1):
                m.d.comb += [
                    remainder.eq(self.high[k]),
                    digits.eq(self.low[k] << self._quotient - len(self.low[k])),
                ]
        return remainder, digits

    def _stage(self, m, stage, enters, divisor, lanes):
        """Divisor, and remainder and digits of every lane, behind a stage."""
        held_divisor = Signal(self._bits, name=f"divisor_{stage}")
        current_divisor = Mux(enters, divisor, held_divisor)
        m.d.sync += held_divisor.eq(current_divisor)
        results = []
        for lane, (entering_remainder, entering_digits) in enumerate(lanes):
            name = f"{stage}_{lane}"
            held_remainder = Signal(self._bits, name=f"remainder_{name}")
            held_digits = Signal(self._quotient, name=f"digits_{name}")
            remainder = Mux(enters, entering_remainder, held_remainder)
            digits = Mux(enters, entering_digits, held_digits)
            shifted = Signal(self._bits + 1, name=f"shifted_{name}")
            difference = Signal(self._bits + 2, name=f"difference_{name}")
            m.d.comb += [
                shifted.eq((remainder << 1) | digits[-1]),
                difference.eq(shifted - current_divisor),
            ]
            fits = ~difference[-1]
            m.d.sync += [
                held_remainder.eq(Mux(fits, difference, shifted)),
                held_digits.eq((digits << 1) | fits),
            ]
            results.append((held_remainder, held_digits))
        return held_divisor, results
