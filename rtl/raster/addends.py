# SPDX-License-Identifier: BSD-2-Clause
"""Column terms, row terms and sample offsets: the addends of a linear function at every lane."""

from typing import Any

from amaranth.hdl import Array, Cat, Const, Module, Signal, Value, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.samples import POSITIONS, SHAPES


class Addends(wiring.Component):
    """Split a linear function into three addends, so that no lane needs a multiplier or a mode.

    At lane (i, j), E = column term of i >> 1 + row term of j >> 2 + offset of (i & 1, j & 3).

    The eight sample offsets hold all that differs within two columns and four rows of lanes, pixels
    and samples alike. Whatever the number of samples, such groups lie evenly apart. The mode is
    therefore decoded here and never in a lane, and the first column group and the first row group
    add nothing. Multiples are formed once, by shifts and adds.

    The unit is free-running: one function a clock, :meth:`latency` clocks from inputs to outputs.

    Parameters
    ----------
    params : EdgeEvaluatorParams
    dense : bool
        Fewer registers, for users that do not need the highest clock frequency: multiples; values
        of rows and terms of lanes. Outputs are sums behind these.

    Members
    -------
    samples : In(2)
        log2 of the samples of a pixel.
    a, b : In(signed(params.step_bits))
        Steps of E for 1/16 pixel, or for a pixel if ``params.samples`` is 1.
    c : In(signed(params.width))
        E at the centre of the first pixel.
    column_term : Out(ArrayLayout(signed(params.width), 3))
        Terms of the second, third and fourth group of two columns.
    row_term : Out(signed(params.width))
        Term of the second group of four rows.
    sample_offset : Out(ArrayLayout(signed(params.width), 8))
        Offsets within a group; that of (i, j) is number ``2 * j + i``.
    """

    def __init__(self, params: Any, dense: bool = False) -> None:
        self._params = params
        self._dense = dense
        self._half = params.width // 2
        width = signed(params.width)
        step = signed(params.step_bits)
        super().__init__(
            {
                "samples": In(2),
                "a": In(step),
                "b": In(step),
                "c": In(width),
                "column_term": Out(ArrayLayout(width, 3)),
                "row_term": Out(width),
                "sample_offset": Out(ArrayLayout(width, 8)),
            }
        )

    @staticmethod
    def latency(params: Any, dense: bool = False) -> int:
        """Clocks: multiples, their selection by the mode (with MSAA), rows, offsets."""
        return 2 if dense else 3 + (params.samples > 1)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        t = Timeline(m)
        t.enter(0, c=self.c, mode=self.samples)

        # Clock 1: odd multiples of the steps. Every other multiple is a shift of one of them.
        odd = (1, 3, 5, 7) if p.samples > 1 else (1, 3)
        # With negative ones of a, no sample's term negates twice: left and above is a subtraction.
        negative = (-1, -3, -7) if p.samples > 1 else ()
        a = self._registers(m, "a_times", {n: odd_multiple(self.a, n) for n in odd + negative})
        b = self._registers(m, "b_times", {n: odd_multiple(self.b, n) for n in odd})

        # Clock 1, or 2 with MSAA, where the selection has a clock of its own: distances in pixels
        # between groups of columns and between rows, by the mode, and all sample positions.
        column_terms = {n: self._distance(t[1].mode, a, n, axis=0) for n in (2, 6)}
        row_terms = {n: self._distance(t[1].mode, b, n, axis=1) for n in (1, 2, 3, 4)}
        lanes = {
            (i, j): [self._position(mode, i, j) for mode in p.modes]
            for j in range(4)
            for i in range(2)
        }
        positions = list(dict.fromkeys(place for by_mode in lanes.values() for place in by_mode))
        operands = {n: (multiple(a, x), multiple(b, y)) for n, (x, y) in enumerate(positions)}
        terms = {n: x + y for n, (x, y) in operands.items()}
        selected = 1
        if p.samples > 1:
            selected = 1 if self._dense else 2
            column_terms = self._stage(m, "column_distance", column_terms)
            row_terms = self._stage(m, "row_distance", row_terms)
            terms = terms if self._dense else self._halves(m, operands)
        t.enter(selected, column_2=column_terms[2], column_6=column_terms[6], row_4=row_terms[4])

        # One clock on: E at the first four rows, and each lane's term among those of all positions.
        c = t[selected].c
        row_values = self._registers(
            m, "row_value", {0: c} | {j: c + row_terms[j] for j in (1, 2, 3)}
        )
        chosen = {
            lane: Array([terms[positions.index(place)] for place in by_mode])[t[selected].mode]
            for lane, by_mode in lanes.items()
        }
        if selected == 2:
            chosen = {lane: self._joined(halves) for lane, halves in chosen.items()}
        lane_terms = self._registers(m, "lane_term", chosen)

        # Two clocks on: the offsets; the terms of the groups wait for them.
        last = t[self.latency(p, self._dense)]
        m.d.comb += [
            self.column_term[0].eq(last.column_2),
            self.column_term[1].eq(last.column_2 << 1),
            self.column_term[2].eq(last.column_6),
            self.row_term.eq(last.row_4),
        ]
        offsets = {(i, j): row_values[j] + lane_terms[i, j] for i, j in lanes}
        for (i, j), offset in self._stage(m, "sample_offset", offsets).items():
            m.d.comb += self.sample_offset[2 * j + i].eq(offset)
        return m

    def row_addends(self, i: int, j: int) -> list[Value]:
        """What the row of lane (i, j) adds: an offset, and from the fifth row on the row term."""
        offset = self.sample_offset[2 * (j & 3) + (i & 1)]
        return [offset, self.row_term] if j >> 2 else [offset]

    def column_addends(self, i: int) -> list[Value]:
        """What column i adds: nothing in the first two columns, else a column term."""
        return [self.column_term[(i >> 1) - 1]] if i >> 1 else []

    def _stage(self, m, name, values):
        """A register for each value, or where registers are few the value itself, cut as there."""
        if not self._dense:
            return self._registers(m, name, values)
        width = self._params.width
        return {
            key: value if len(value) <= width else value[:width].as_signed()
            for key, value in values.items()
        }

    def _halves(self, m, operands):
        """Sums in registers: the carry out of the lower half stands between the halves."""
        halves = {}
        for n, pair in operands.items():
            low, high = [], []
            for axis, operand in zip("xy", pair, strict=True):
                extended = Signal(signed(self._params.width), name=f"position_{axis}_{n}")
                m.d.comb += extended.eq(operand)
                low.append(extended[: self._half])
                high.append(extended[self._half :])
            upper = (high[0] + high[1])[: len(high[0])]
            out = Cat(low[0] + low[1], upper)
            halves[n] = register(m, out, len(out), f"position_term_{n}")
        return halves

    def _joined(self, halves):
        """A sum whose halves were added apart."""
        carry = halves[self._half]
        upper = halves[self._half + 1 :]
        return Cat(halves[: self._half], (upper + carry)[: len(upper)]).as_signed()

    def _registers(self, m, name, values):
        """A register for each value, under the same keys."""
        registers = {}
        for key, value in values.items():
            numbers = key if isinstance(key, tuple) else (key,)
            suffix = "_".join(str(n).replace("-", "minus_") for n in numbers)
            shape = signed(min(len(value), self._params.width))
            registers[key] = register(m, value, shape, f"{name}_{suffix}")
        return registers

    def _distance(self, mode, multiples, lanes, axis):
        """What E gains over so many columns (axis 0) or rows (axis 1) by their pixels alone."""
        pixels = [lanes >> SHAPES[k][axis] for k in self._params.modes]
        return Array([multiple(multiples, self._params.unit * n) for n in pixels])[mode]

    def _position(self, mode, i, j):
        """Where a lane's sample lies in a mode: x from its column group, y from its pixel's row."""
        lx, ly = SHAPES[mode]
        x, y = POSITIONS[mode][(i & (1 << lx) - 1) + ((j & (1 << ly) - 1) << lx)]
        return x + self._params.unit * (i >> lx), y


def odd_multiple(step: Value, n: int) -> Value:
    """n * step for an odd n from -7 to 7, but for -5, by one adder at most."""
    return {
        1: step,
        3: (step << 1) + step,
        5: (step << 2) + step,
        7: (step << 3) - step,
        -1: -step,
        -3: step - (step << 2),
        -7: step - (step << 3),
    }[n]


def multiple(odd_multiples: dict[int, Value], n: int) -> Value:
    """n times a number, by a shift of one of its odd multiples, which is negated if it must be."""
    if n == 0:
        return Const(0, signed(1))
    shift = (n & -n).bit_length() - 1
    if n >> shift in odd_multiples:
        return odd_multiples[n >> shift] << shift
    return -(odd_multiples[-n >> shift] << shift)
