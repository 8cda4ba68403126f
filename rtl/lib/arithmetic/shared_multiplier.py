# SPDX-License-Identifier: BSD-2-Clause
"""Several products of one pipeline, from multipliers that take turns."""

from amaranth.hdl import Array, Module, Mux, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.arithmetic.multiplier import Multiplier
from fixfunc.rtl.lib.delay import delay
from fixfunc.spec.errors import InputError


class SharedMultiplier(wiring.Component):
    """Signed products of ``count`` pairs of factors, a set of them every ``interval`` clocks.

    ``ceil(count / interval)`` multipliers take turns, one pair a clock each. With an ``interval``
    of 1 each pair has its own. Factors hold for the whole interval, and so do the products: values
    of a pipeline that admits a beat every ``interval`` clocks do so by themselves.

    Parameters
    ----------
    count : int
        Products of a set.
    a_bits, b_bits : int
        Widths of the factors.
    out_bits : int, optional
        Width of a product; a smaller one takes it modulo 2^out_bits.
    interval : int
        Clocks from one set to the next, at least.

    Members
    -------
    start : In(1)
        First clock of a set of factors.
    a, b : In(ArrayLayout(signed(...), count))
        Signed factors, for ``interval`` clocks.
    o : Out(ArrayLayout(signed(out_bits), count))
        Signed products, :attr:`latency` clocks after ``start``, for ``interval`` clocks.
    """

    def __init__(
        self, count: int, a_bits: int, b_bits: int, out_bits: int | None = None, interval: int = 1
    ) -> None:
        if count < 1:
            raise InputError("count", "be above 0", count)
        if interval < 1:
            raise InputError("interval", "be above 0", interval)
        units = -(-count // interval)
        self._count = count
        self._turns = -(-count // units)
        self._multipliers = [Multiplier(a_bits, b_bits, out_bits) for _ in range(units)]
        super().__init__(
            {
                "start": In(1),
                "a": In(ArrayLayout(signed(a_bits), count)),
                "b": In(ArrayLayout(signed(b_bits), count)),
                "o": Out(ArrayLayout(signed(out_bits or a_bits + b_bits), count)),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks from factors to products: the multiplier; all turns, and their register."""
        return self._multipliers[0].latency + (self._turns if self._turns > 1 else 0)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        turn = Signal(range(max(2, self._turns)))
        next_turn = Signal.like(turn)
        m.d.comb += turn.eq(Mux(self.start, 0, next_turn))
        m.d.sync += next_turn.eq(Mux(turn == self._turns - 1, turn, turn + 1))
        for n, multiplier in enumerate(self._multipliers):
            m.submodules[f"multiplier_{n}"] = multiplier
            pairs = range(n * self._turns, min((n + 1) * self._turns, self._count))
            m.d.comb += [
                multiplier.a.eq(Array([self.a[k] for k in pairs])[turn]),
                multiplier.b.eq(Array([self.b[k] for k in pairs])[turn]),
            ]
        first = self._multipliers[0].latency
        arrivals = arrivals_of(m, self.start, first, self._turns, 1) if self._turns > 1 else []
        for k in range(self._count):
            n, turn_of_pair = divmod(k, self._turns)
            collect(m, self._multipliers[n].o, self.o[k], arrivals, turn_of_pair)
        return m


def arrivals_of(m: Module, start: Value, first: int, turns: int, pitch: int) -> list[Value]:
    """Whether the result of each turn arrives: after ``first`` clocks, then every ``pitch``."""
    arrivals = [delay(m, start, first, "arrives")]
    for turn in range(1, turns):
        arrivals.append(delay(m, arrivals[-1], pitch, f"turn_{turn}"))
    return arrivals


def collect(m: Module, result: Value, output: Value, arrivals: list[Value], turn: int) -> None:
    """Results of the first turns wait for those of the last; then all outputs change at once.

    Without arrivals a result is the output, and holds as long as its factors did.
    """
    if not arrivals:
        m.d.comb += output.eq(result)
        return
    if turn < len(arrivals) - 1:
        waiting = Signal.like(result, name="waiting")
        with m.If(arrivals[turn]):
            m.d.sync += waiting.eq(result)
        result = waiting
    with m.If(arrivals[-1]):
        m.d.sync += output.eq(result)
