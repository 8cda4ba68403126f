# SPDX-License-Identifier: BSD-2-Clause
"""Averages: tiles of samples become tiles of pixels."""

from itertools import product

from amaranth.hdl import Array, Cat, Const, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.resolve.group_place import GroupPlace
from fixfunc.rtl.samples import SHAPES
from fixfunc.spec.colours import EDGE, LANES
from fixfunc.spec.payloads import COLOUR

CHANNEL = 8  # bits
CHANNELS = COLOUR // CHANNEL
TILE = ArrayLayout(COLOUR, LANES)  # lane (i, j) at 8 j + i


class PixelMeans(wiring.Component):
    """Means of the samples of each pixel of a tile; free-running, a tile a clock.

    Parameters
    ----------
    most : int
        log2 of the most samples of a pixel.

    Members
    -------
    i : In(StructLayout({"samples": 2, "colours": TILE}))
    o : Out(TILE)
        :attr:`latency` clocks later: pixel (x, y) at lane (x, y); other lanes are zero. Exact sums,
        rounded once to the nearest, ties up.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        super().__init__({"i": In(StructLayout({"samples": 2, "colours": TILE})), "o": Out(TILE)})

    @property
    def latency(self) -> int:
        """Clocks from samples to means: as many sums of two, and the choice."""
        return self._most + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        t.enter(0, samples=self.i.samples)
        totals = {
            (i, j): [self.i.colours[EDGE * j + i].word_select(c, CHANNEL) for c in range(CHANNELS)]
            for i, j in product(range(EDGE), repeat=2)
        }
        for n in range(self._most + 1):
            if n:
                totals = self._add_pairs(m, totals, n)
            means = [_means(totals.get((k % EDGE, k // EDGE)), n) for k in range(LANES)]
            t.enter(n, **{f"means_{n}": Cat(means)})
        end = t[self._most]
        choices = [t.value(f"means_{n}", self._most) for n in range(self._most + 1)]
        m.d.sync += self.o.as_value().eq(Array(choices)[end.samples])
        return m

    def _add_pairs(self, m, totals, n):
        """Sums of twice as many samples: of two rows, or of two columns."""
        axis = SHAPES[n][1] == SHAPES[n - 1][1]  # columns
        pairs = {}
        for (i, j), channels in totals.items():
            place = (i >> 1, j) if axis else (i, j >> 1)
            pairs.setdefault(place, []).append(channels)
        sums = {}
        for (i, j), pair in pairs.items():
            sums[i, j] = []
            for c, (one, other) in enumerate(zip(*pair, strict=True)):
                total = Signal(CHANNEL + n, name=f"sum_{1 << n}_{i}_{j}_{c}")
                m.d.sync += total.eq(one + other)
                sums[i, j].append(total)
        return sums


def _means(channels, n):
    """A pixel's colour from sums of 2^n samples; zero without them."""
    if channels is None:
        return Const(0, COLOUR)
    return Cat(((total + (1 << n >> 1)) >> n)[:CHANNEL] for total in channels)


class Averages(wiring.Component):
    """Put the means of a group of tiles together; a tile of samples a clock.

    Parameters
    ----------
    most : int
        log2 of the most samples of a pixel.

    Members
    -------
    samples : In(2)
        log2 of the samples of a pixel; it holds while tiles are in flight.
    i : In(stream.Signature(TILE))
        Tiles of samples, group by group, in a group row by row.
    o : Out(stream.Signature(TILE))
        A tile of pixels for each group.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        super().__init__(
            {
                "samples": In(2),
                "i": In(stream.Signature(TILE)),
                "o": Out(stream.Signature(TILE)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        unit = PixelMeans(self._most)
        m.submodules.pixels = pixels = StallablePipeline(unit, unit.latency)
        m.d.comb += [
            pixels.i.valid.eq(self.i.valid),
            pixels.i.payload.samples.eq(self.samples),
            pixels.i.payload.colours.eq(self.i.payload),
            self.i.ready.eq(pixels.i.ready),
        ]
        m.submodules.place = place = GroupPlace()
        accept = named(m, pixels.o.valid & pixels.o.ready, "accept")
        m.d.comb += [
            pixels.o.ready.eq(~self.o.valid | self.o.ready),
            place.samples.eq(self.samples),
            place.advance.eq(accept),
        ]
        with m.If(pixels.o.ready):
            m.d.sync += self.o.valid.eq(accept & place.last)
        self._join(m, pixels.o.payload, accept, place)
        return m

    def _join(self, m, means, accept, place):
        """Means go to where their tile lies in the group."""
        is_place = {
            (n, a, b): named(
                m,
                accept & (self.samples == n) & (place.x == a) & (place.y == b),
                f"is_place_{1 << n}_{a}_{b}",
            )
            for n, (columns, rows) in enumerate(SHAPES[: self._most + 1])
            for a, b in product(range(1 << columns), range(1 << rows))
        }
        for x, y in product(range(EDGE), repeat=2):
            for n, (columns, rows) in enumerate(SHAPES[: self._most + 1]):
                wide, high = EDGE >> columns, EDGE >> rows
                with m.If(is_place[n, x // wide, y // high]):
                    source = means[EDGE * (y % high) + x % wide]
                    m.d.sync += self.o.payload[EDGE * y + x].eq(source)
