# SPDX-License-Identifier: BSD-2-Clause
"""BC3 to BC5: a channel of two values of 8 bits, and six or four between."""

from amaranth.hdl import Cat, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.arithmetic import Multiplier
from fixfunc.rtl.bits import choose
from fixfunc.rtl.pipeline import delay

SHIFT = 18  # bits after the point, of factors: with these every value is rounded as the exact one would be
FACTOR, SUM = 25, 12  # bits of a factor and of what it multiplies, signs counted
RANGES = ((255, 255), (65535, 255), (32767, 127))  # by kind: greatest value, greatest end point
UNORM8, UNORM16, SNORM16 = range(3)


def factor(kind, steps):
    """What the weighted sum of end points, of ``steps`` parts, is multiplied by."""
    most, unit = RANGES[kind]
    return (most << SHIFT) // (steps * unit)


class Channel(wiring.Component):
    """Decode one channel; free-running.

    Parameters
    ----------
    lanes : int
        Texels a clock.
    wide : bool
        Whether there are channels of 16 bits.

    Members
    -------
    i, row : In
        Eight bytes; which ``lanes`` of their texels.
    kind : In(2)
        UNORM8, UNORM16 or SNORM16.
    o : Out(ArrayLayout(16, lanes))
        :attr:`latency` clocks later.
    """

    def __init__(self, lanes, wide=True):
        self._lanes, self._wide = lanes, wide
        self._multipliers = [Multiplier(SUM, FACTOR if wide else 18) for _ in range(8)]
        super().__init__({"i": In(64), "row": In(range(max(16 // lanes, 2))), "kind": In(2), "o": Out(ArrayLayout(16, lanes))})

    @property
    def latency(self):
        """Clocks from a block to its texels."""
        return 7 + self._multipliers[0].latency

    def elaborate(self, platform):
        m = Module()
        kinds = range(3 if self._wide else 1)
        sign = self.kind == SNORM16 if self._wide else 0
        raw = [Cat(self.i[at:at + 8], self.i[at + 7] & sign).as_signed() for at in (0, 8)]
        eight, ends = Signal(), [Signal(signed(9), name=f"end_{n}") for n in range(2)]
        m.d.sync += [eight.eq(raw[0] > raw[1]), *(end.eq(Mux(value == -128, -127, value)) for end, value in zip(ends, raw, strict=True))]

        # Multiples of end points, sums of two, and their share of the range.
        sums = self._sums(m, ends, delay(m, eight, 1, "eight"))
        ahead = 4 + self._multipliers[0].latency
        kind, scales = delay(m, self.kind, 3, "kind"), Signal(signed(FACTOR))
        of_eight = delay(m, eight, 2, "of_eight")
        m.d.sync += scales.eq(choose(kind, [Mux(of_eight, factor(k, 7), factor(k, 5)) for k in kinds]))
        late_eight, late_kind = delay(m, eight, ahead, "late_eight"), delay(m, kind, ahead - 2, "late_kind")
        palette = [Signal(16, name=f"entry_{n}") for n in range(8)]
        for n, (entry, multiplier) in enumerate(zip(palette, self._multipliers, strict=True)):
            m.submodules[f"multiplier_{n}"] = multiplier
            m.d.comb += [multiplier.a.eq(sums[n]), multiplier.b.eq(scales)]
            rounded = Signal(16, name=f"rounded_{n}")
            m.d.sync += rounded.eq(multiplier.o + (1 << SHIFT - 1) >> SHIFT)
            extreme = choose(late_kind, [(-RANGES[k][0] if k == SNORM16 else 0, RANGES[k][0])[n - 6] & 0xFFFF for k in kinds]) if n > 5 else None
            m.d.sync += entry.eq(rounded if extreme is None else Mux(late_eight, rounded, extreme))
        index, row = delay(m, self.i[16:], self.latency - 1, "index"), delay(m, self.row, self.latency - 1, "row")
        for n in range(self._lanes):
            of_rows = [index[3 * texel:3 * texel + 3] for texel in range(n, 16, self._lanes)]
            m.d.sync += self.o[n].eq(choose(choose(row, of_rows), palette))
        return m

    @staticmethod
    def _sums(m, ends, eight):
        """Weighted sums of the end points, in the order of a palette, three clocks later than they; ``eight`` one clock later."""
        multiples = []
        for n, end in enumerate(ends):
            of = {k: Signal(signed(SUM), name=f"end_{n}_times_{k}") for k in (1, 3, 5, 7)}
            m.d.sync += [of[1].eq(end), of[3].eq((end << 1) + end), of[5].eq((end << 2) + end), of[7].eq((end << 3) - end)]
            multiples.append({0: 0, **of, 2: of[1] << 1, 4: of[1] << 2, 6: of[3] << 1})
        out = []
        for n, k in enumerate((7, 0, 6, 5, 4, 3, 2, 1)):
            of_five = (5, 0, 4, 3, 2, 1, 0, 0)[n]
            parts = [Signal(signed(SUM), name=f"part_{n}_{e}") for e in range(2)]
            for part, of, seventh, fifth in zip(parts, multiples, (k, 7 - k), (of_five, 5 - of_five), strict=True):
                m.d.sync += part.eq(Mux(eight, of[seventh], of[fifth]))
            total = Signal(signed(SUM), name=f"total_{n}")
            m.d.sync += total.eq(parts[0] + parts[1])
            out.append(total)
        return out
