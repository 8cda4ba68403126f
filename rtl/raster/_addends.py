# SPDX-License-Identifier: BSD-2-Clause
"""The three addends of a linear function at every lane of a tile."""

from amaranth.hdl import Array, Const, Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.samples import POSITIONS, SHAPES


class Addends(wiring.Component):
    """Split a linear function into three addends: E = column[i >> 1] + row[j >> 2] + offset[i & 1, j & 3].

    The eight offsets hold all that differs within two columns and four rows of lanes, pixels and samples alike.
    Whatever the number of samples, such groups lie evenly apart: the mode is looked at here and never in a lane, and
    the first column and the first row add nothing. Multiples are formed once, by shifts and adds.

    Parameters
    ----------
    params : EdgeEvaluatorParams

    Members
    -------
    move : In(1)
        Every register moves on.
    samples : In(2)
        log2 of the samples of a pixel.
    a, b, c : In
        Steps for 1/16 pixel (a pixel if ``params.samples`` is 1), and the value at the centre of the first pixel.
    two, six, four, offset : Out
        :meth:`moves` later: what two and six columns add, what four rows add, and the offsets, that of
        (i, j) at ``2 * j + i``. :meth:`near` and :meth:`far` pick from them.
    """

    def __init__(self, params):
        self._params = params
        width, step = signed(params.width), signed(params.step_bits)
        super().__init__({
            "move": In(1), "samples": In(2), "a": In(step), "b": In(step), "c": In(width),
            "two": Out(width), "six": Out(width), "four": Out(width), "offset": Out(ArrayLayout(width, 8)),
        })

    @staticmethod
    def moves(params):
        """Latency: multiples, what the mode chooses of them (with several samples a pixel), rows, offsets."""
        return 3 + (params.samples > 1)

    def elaborate(self, platform):
        m = Module()
        p = self._params

        # The odd multiples; all others are shifts of them.
        odd = (1, 3, 5, 7) if p.samples > 1 else (1, 3)
        a, b = (self._held(m, f"{name}_times", {n: multiple(getattr(self, name), n) for n in odd}) for name in "ab")
        c, mode = self._held(m, "c", {0: self.c})[0], self._mode(m, self.samples, "mode")

        # Pixels between columns and between rows of lanes, as the mode has it; and every place within two columns and a pixel.
        across = {n: self._pixels(mode, a, n, 0) for n in (2, 6)}
        down = {n: self._pixels(mode, b, n, 1) for n in (1, 2, 3, 4)}
        lanes = {(i, j): [self._place(k, i, j) for k in p.modes] for j in range(4) for i in range(2)}
        places = list(dict.fromkeys(place for by_mode in lanes.values() for place in by_mode))
        within = {n: times(a, x) + times(b, y) for n, (x, y) in enumerate(places)}
        if p.samples > 1:
            across, down, within = (self._held(m, name, values) for name, values in (("across", across), ("down", down), ("within", within)))
            c, mode = self._held(m, "late_c", {0: c})[0], self._mode(m, mode, "late_mode")

        # Row by row, then the second column and the samples.
        rows = self._held(m, "rows", {0: c} | {j: c + down[j] for j in (1, 2, 3)})
        within = self._held(m, "chosen", {
            lane: Array([within[places.index(place)] for place in by_mode])[mode] for lane, by_mode in lanes.items()})
        offsets = self._held(m, "offset", {(i, j): rows[j] + within[i, j] for i, j in within})
        m.d.comb += [self.offset[2 * j + i].eq(value) for (i, j), value in offsets.items()]
        far = {"two": across[2], "six": across[6], "four": down[4]}
        for clock in ("late", "out"):
            far = self._held(m, clock, far)
        m.d.comb += [getattr(self, name).eq(value) for name, value in far.items()]
        return m

    def near(self, i, j):
        """What lane (i, j) adds up by its row: one value, two from the fifth row on."""
        offset = self.offset[2 * (j & 3) + (i & 1)]
        return [offset, self.four] if j >> 2 else [offset]

    def far(self, i):
        """What it adds by its column: nothing in the first two, else one value."""
        return [[], [self.two], [self.two << 1], [self.six]][i >> 1]

    def _held(self, m, name, values):
        """A register a value, under the same keys."""
        held = {}
        for key, value in values.items():
            suffix = "_".join(map(str, key if isinstance(key, tuple) else (key,)))
            held[key] = Signal(signed(min(len(value), self._params.width)), name=f"{name}_{suffix}")
            with m.If(self.move):
                m.d.sync += held[key].eq(value)
        return held

    def _pixels(self, mode, multiples, lanes, axis):
        """How far columns (axis 0) or rows lie apart by their pixels alone."""
        apart = [lanes >> SHAPES[k][axis] for k in self._params.modes]
        return Array([times(multiples, self._params.unit * n) for n in apart])[mode]

    def _place(self, k, i, j):
        """Where a lane's sample lies in mode k: from the pair's first column, and from its pixel's row."""
        lx, ly = SHAPES[k]
        x, y = POSITIONS[k][(i & (1 << lx) - 1) + ((j & (1 << ly) - 1) << lx)]
        return x + self._params.unit * (i >> lx), y

    def _mode(self, m, mode, name):
        held = Signal(2, name=name)
        with m.If(self.move):
            m.d.sync += held.eq(mode)
        return held


def multiple(step, n):
    """n * step for an odd n up to 7, by one adder at most."""
    return {1: step, 3: (step << 1) + step, 5: (step << 2) + step, 7: (step << 3) - step}[n]


def times(multiples, n):
    """n times the number that ``multiples`` holds odd multiples of."""
    if n == 0:
        return Const(0, signed(1))
    shift = (n & -n).bit_length() - 1
    held = multiples[abs(n) >> shift] << shift
    return held if n > 0 else -held
