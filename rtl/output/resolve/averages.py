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
from fixfunc.rtl.output.merger.formats import LINEAR_BITS, UNORM_AND_SRGB, FormatSet
from fixfunc.rtl.output.merger.srgb import SrgbEncoder
from fixfunc.rtl.output.resolve.group_place import GroupPlace
from fixfunc.rtl.samples import SHAPES
from fixfunc.rtl.texture.linear import Linear
from fixfunc.spec.colours import EDGE, LANES
from fixfunc.spec.payloads import COLOUR

CHANNEL = 8  # bits
CHANNELS = COLOUR // CHANNEL
TILE = ArrayLayout(COLOUR, LANES)  # lane (i, j) at 8 j + i
FORMATS = FormatSet(UNORM_AND_SRGB)


class PixelMeans(wiring.Component):
    """Means of the samples of each pixel of a tile; free-running, a tile a clock. Without sRGB sums
    are short, and have no registers.

    Parameters
    ----------
    most : int
        log2 of the most samples of a pixel.
    srgb : bool
        sRGB is known.

    Members
    -------
    i : In(StructLayout({"samples": 2, "srgb": 1, "colours": TILE}))
    o : Out(TILE)
        :attr:`latency` clocks later: pixel (x, y) at lane (x, y); other lanes are zero. Exact sums,
        rounded once to the nearest, ties up. Of sRGB the sums are of linear channels, of 16 bits;
        a mean of 16 bits becomes the nearest byte.
    """

    def __init__(self, most: int, srgb: bool) -> None:
        self._most = most
        self._srgb = srgb and most > 0  # of one sample the mean is that byte
        self._domain = "sync" if self._srgb else "comb"
        self._added = Linear.LATENCY if self._srgb else 0  # clocks until channels are added
        fields = {"samples": 2, "srgb": 1, "colours": TILE}
        super().__init__({"i": In(StructLayout(fields)), "o": Out(TILE)})

    @property
    def latency(self) -> int:
        """Clocks from samples to means: linear ones, as many sums of two, the choice, sRGB."""
        return self._added + self._most + 1 + SrgbEncoder.LATENCY if self._srgb else 0

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        t.enter(0, samples=self.i.samples)
        lanes = self._to_linear(m, t) if self._srgb else [_channels(c) for c in self.i.colours]
        width = LINEAR_BITS if self._srgb else CHANNEL
        totals = {(k % EDGE, k // EDGE): lanes[k] for k in range(LANES)}
        end = self._added + (self._most if self._srgb else 0)
        for n in range(self._most + 1):
            if n:
                totals = self._add_pairs(m, totals, n)
            bits = width if n else CHANNEL  # one sample is no sum
            means = [_means(totals.get((k % EDGE, k // EDGE)), n, bits) for k in range(LANES)]
            t.enter(min(self._added + n, end), **{f"means_{n}": Cat(means)})
        one_sample = named(m, t.value("means_0", end), "one_sample")
        words = [one_sample.word_select(k, CHANNEL) for k in range(LANES * CHANNELS)]
        choices = [Cat(Cat(word, Const(0, width - CHANNEL)) for word in words)]
        choices += [t.value(f"means_{n}", end) for n in range(1, self._most + 1)]
        chosen = Signal(len(choices[0]))
        m.d[self._domain] += chosen.eq(Array(choices)[t[end].samples])
        if self._srgb:
            t.enter(end + 1, chosen=chosen)
            self._to_srgb(m, t, end + 1)
        else:
            m.d.comb += self.o.as_value().eq(chosen)
        return m

    def _to_linear(self, m, t):
        """Channels of 16 bits: of sRGB linear ones, else bytes, and so of one sample."""
        m.submodules.linear = linear = Linear(LANES)
        is_linear = named(m, self.i.srgb & (self.i.samples != 0), "is_linear")
        t.enter(0, is_linear=is_linear)
        m.d.comb += linear.enable.eq(is_linear)
        for lane, colour in zip(linear.i, self.i.colours, strict=True):
            m.d.comb += [lane[c].eq(byte) for c, byte in enumerate(_channels(colour))]
        return [list(lane) for lane in linear.o]

    def _to_srgb(self, m, t, clock):
        """Bytes again, in the lanes of pixels of two samples and more; others hold bytes."""
        after = clock + SrgbEncoder.LATENCY
        is_linear = t[after].is_linear
        columns, rows = (EDGE >> shift for shift in SHAPES[1])
        size = LINEAR_BITS * CHANNELS
        for k in range(LANES):
            if k % EDGE < columns and k // EDGE < rows:
                m.submodules[f"encoder_{k}"] = encoder = SrgbEncoder(FORMATS)
                m.d.comb += [
                    encoder.words.eq(t[clock].chosen.word_select(k, size)),
                    encoder.is_linear.eq(is_linear.replicate(CHANNELS)),
                ]
                words = list(encoder.o)
            else:
                passed = t[clock].chosen.word_select(k, size)
                bits = [passed.word_select(c, LINEAR_BITS)[:CHANNEL] for c in range(CHANNELS)]
                t.enter(clock, **{f"passed_{k}": Cat(bits)})
                words = _channels(t.value(f"passed_{k}", after))
            m.d.comb += self.o[k].eq(Cat(word[:CHANNEL] for word in words))

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
            for c, (left, right) in enumerate(zip(*pair, strict=True)):
                total = Signal(len(left) + 1, name=f"sum_{1 << n}_{i}_{j}_{c}")
                m.d[self._domain] += total.eq(left + right)
                sums[i, j].append(total)
        return sums


def _channels(colour):
    """The bytes of a colour."""
    return [colour.word_select(c, CHANNEL) for c in range(CHANNELS)]


def _means(channels, n, bits):
    """A pixel's colour from sums of 2^n samples, of so many bits a channel; zero without them."""
    if channels is None:
        return Const(0, bits * CHANNELS)
    return Cat(((total + (1 << n >> 1)) >> n)[:bits] for total in channels)


class Averages(wiring.Component):
    """Put the means of a group of tiles together; a tile of samples a clock.

    Parameters
    ----------
    most : int
        log2 of the most samples of a pixel.
    srgb : bool
        sRGB is known.

    Members
    -------
    samples : In(2)
        log2 of the samples of a pixel.
    srgb : In(1)
        Colours are averaged as linear ones. Both hold while tiles are in flight.
    i : In(stream.Signature(TILE))
        Tiles of samples, group by group, in a group row by row.
    o : Out(stream.Signature(TILE))
        A tile of pixels for each group.
    """

    def __init__(self, most: int, srgb: bool) -> None:
        self._most = most
        self._srgb = srgb
        super().__init__(
            {
                "samples": In(2),
                "srgb": In(1),
                "i": In(stream.Signature(TILE)),
                "o": Out(stream.Signature(TILE)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        unit = PixelMeans(self._most, self._srgb)
        valid = self.i.valid
        ready = named(m, ~self.o.valid | self.o.ready, "ready")
        if unit.latency:
            m.submodules.pixels = pixels = StallablePipeline(unit, unit.latency)
            given, means = pixels.i.payload, pixels.o.payload
            m.d.comb += [
                pixels.i.valid.eq(self.i.valid),
                self.i.ready.eq(pixels.i.ready),
                pixels.o.ready.eq(ready),
            ]
            valid = pixels.o.valid
        else:
            m.submodules.pixels = unit
            given, means = unit.i, unit.o
            m.d.comb += self.i.ready.eq(ready)
        m.submodules.place = place = GroupPlace()
        accept = named(m, valid & ready, "accept")
        m.d.comb += [
            given.samples.eq(self.samples),
            given.srgb.eq(self.srgb),
            given.colours.eq(self.i.payload),
            place.samples.eq(self.samples),
            place.advance.eq(accept),
        ]
        with m.If(ready):
            m.d.sync += self.o.valid.eq(accept & place.last)
        self._join(m, means, accept, place)
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
