# SPDX-License-Identifier: BSD-2-Clause
"""Rounds: the taps of a quad, as few blocks at a time as quarters and banks can read."""

from itertools import combinations

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, lowest, named, pick
from fixfunc.rtl.texture.cache.layouts import PIXELS, QUARTERS, TAPS, TextureCacheParams
from fixfunc.spec.textures.filter import CORNERS

SIDES = (("left", "right"), ("upper", "lower"))
# Of two corners of a pixel, whether their columns are two, and their rows.
APART = {
    pair: ((pair[0] ^ pair[1]) & 1, (pair[0] ^ pair[1]) >> 1)
    for pair in combinations(range(CORNERS), 2)
}
# Which taps have the same block; which of two taps of a pixel are different texels of a bank.
COMPARED = StructLayout(
    {
        "same": ArrayLayout(TAPS, TAPS),
        "clash": ArrayLayout(ArrayLayout(CORNERS, CORNERS), PIXELS),
    }
)


class BlockRounds(wiring.Component):
    """A quad becomes rounds: one if all of its taps lie in a block a quarter, a bank a texel.

    A round takes the first block of each quarter that taps still want, and all taps of it but those
    whose bank another texel of their pixel takes. A bank is the parity of column and row.

    Parameters
    ----------
    params : TextureCacheParams

    Members
    -------
    i : In(stream.Signature(params.quad))
    o : Out(stream.Signature(params.round))
        :attr:`LATENCY` clocks later at the earliest; a round a clock.
    idle : Out(1)
        No quad is inside.
    """

    LATENCY = 2

    def __init__(self, params: TextureCacheParams) -> None:
        self._layers = params.layers
        super().__init__(
            {
                "i": In(stream.Signature(params.quad)),
                "o": Out(stream.Signature(params.round)),
                "idle": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        arrived = Signal(self.i.payload.shape())
        arrived_valid = Signal()
        current = Signal(self.i.payload.shape())
        current_valid = Signal()
        compared = Signal(COMPARED)
        remaining = Signal(TAPS)
        first = Signal()
        ends = Signal()
        load = named(m, ~current_valid | (self.o.ready & ends), "load")
        m.d.comb += [
            self.i.ready.eq(~arrived_valid | load),
            self.idle.eq(~arrived_valid & ~current_valid),
        ]
        with m.If(self.i.ready):
            m.d.sync += [
                arrived.eq(self.i.payload),
                arrived_valid.eq(self.i.valid),
            ]
        reads = Cat(arrived.quad[f"reads{pixel}"] for pixel in range(PIXELS))
        unread = self._select(m, current, compared, remaining)
        m.d.comb += [
            ends.eq(~unread.any()),
            self.o.valid.eq(current_valid),
            self.o.payload.first.eq(first),
            self.o.payload.last.eq(ends),
            self.o.payload.refused.eq(current.refused),
            self.o.payload.format.eq(current.format),
            self.o.payload.first_set.eq(current.first_set),
        ]
        with m.If(load):
            m.d.sync += [
                current.eq(arrived),
                current_valid.eq(arrived_valid),
                remaining.eq(gated(reads, ~arrived.refused)),
                first.eq(1),
            ]
            self._compare(m, arrived.quad, compared)
        with m.Elif(self.o.ready):
            m.d.sync += [remaining.eq(unread), first.eq(0)]
        return m

    def _compare(self, m, quad, compared):
        """Blocks of all taps with each other, texels of each pixel: a clock before the rounds."""
        axes = [[quad[f"{name}{p}"] for p in range(PIXELS) for name in names] for names in SIDES]
        equal = [[[a[2:] == b[2:] for b in values] for a in values] for values in axes]
        for a in range(TAPS):
            for b in range(TAPS):
                p, q = a // CORNERS, b // CORNERS
                level = self._image(quad, p) == self._image(quad, q)
                column = equal[0][2 * p + (a & 1)][2 * q + (b & 1)]
                row = equal[1][2 * p + (a >> 1 & 1)][2 * q + (b >> 1 & 1)]
                m.d.sync += compared.same[a][b].eq(level & column & row)
        for p in range(PIXELS):
            pairs = [values[2 * p : 2 * p + 2] for values in axes]
            for (a, b), differing in APART.items():
                two = [pair for pair, is_two in zip(pairs, differing, strict=True) if is_two]
                banks = [first[0] == second[0] for first, second in two]
                texels = [first == second for first, second in two]
                m.d.sync += compared.clash[p][a][b].eq(Cat(banks).all() & ~Cat(texels).all())

    def _image(self, quad, pixel):
        """The level that a pixel reads, of its layer."""
        return Cat(quad[f"level{pixel}"], quad[f"layer{pixel}"] if self._layers else [])

    def _select(self, m, current, compared, remaining):
        """The round of the first taps that remain; returns those that remain behind it."""
        quad = current.quad
        out = self.o.payload
        quarters = []
        free = Signal(TAPS)
        for tap in range(TAPS):
            p, corner = divmod(tap, CORNERS)
            x = quad[f"{SIDES[0][corner & 1]}{p}"]
            y = quad[f"{SIDES[1][corner >> 1]}{p}"]
            sum_ = Cat(x[2], y[2]) + quad[f"level{p}"] + current.first_set
            if self._layers:
                sum_ += quad[f"layer{p}"]
            quarter = Signal(2, name=f"quarter_{tap}")
            m.d.comb += quarter.eq(sum_)
            quarters.append((quarter, x[2:], y[2:], quad[f"level{p}"], quad[f"layer{p}"]))
            before = [
                remaining[p * CORNERS + other] & compared.clash[p][other][corner]
                for other in range(corner)
            ]
            m.d.comb += free[tap].eq(remaining[tap] & ~Cat(before).any())
        leaders = Signal(TAPS)
        of_quarter = []
        for n in range(QUARTERS):
            wanted = Cat(free[tap] & (quarters[tap][0] == n) for tap in range(TAPS))
            leader = named(m, lowest(wanted), f"leader_{n}")
            of_quarter.append(leader)
            m.d.comb += out.wanted[n].eq(wanted.any())
            names = ("x", "y", "level", "layer") if self._layers else ("x", "y", "level")
            for place, name in enumerate(names):
                values = [quarter[1 + place] for quarter in quarters]
                m.d.comb += out.places[n][name].eq(pick(leader, values))
        m.d.comb += leaders.eq(of_quarter[0] | of_quarter[1] | of_quarter[2] | of_quarter[3])
        selected = named(
            m,
            Cat(free[tap] & (leaders & compared.same[tap]).any() for tap in range(TAPS)),
            "selected",
        )
        for p in range(PIXELS):
            footprint = out.reads[p]
            for side in range(2):
                m.d.comb += [
                    footprint.x[side].eq(quad[f"{SIDES[0][side]}{p}"]),
                    footprint.y[side].eq(quad[f"{SIDES[1][side]}{p}"]),
                ]
            m.d.comb += [
                footprint.selected.eq(selected[p * CORNERS :]),
                footprint.u.eq(quad[f"u{p}"]),
                footprint.v.eq(quad[f"v{p}"]),
                *(footprint.quarter[c].eq(quarters[p * CORNERS + c][0]) for c in range(CORNERS)),
            ]
        return named(m, remaining & ~selected, "unread")
