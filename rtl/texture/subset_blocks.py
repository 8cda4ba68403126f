# SPDX-License-Identifier: BSD-2-Clause
"""BC6H and BC7: texels between the two end points of their subset."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed, unsigned
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose
from fixfunc.rtl.lib.delay import register
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.texture.bc6h import WIDE, Bc6hEndpoints
from fixfunc.rtl.texture.bc7 import Bc7Endpoints
from fixfunc.rtl.texture.indices import WEIGHT_BITS, Indices

CHANNELS = 4


class SubsetBlocks(wiring.Component):
    """Decode blocks of BC6H or BC7; free-running.

    Parameters
    ----------
    lanes : int
        Texels a clock.
    half : bool
        There are blocks of BC6H.
    unorm : bool
        There are blocks of BC7.

    Members
    -------
    i : In(128)
        The block.
    row : In(range(max(16 // lanes, 2)))
        Which ``lanes`` of its texels to decode.
    half : In(1)
        The block is of BC6H.
    signed : In(1)
        Halves of the block have a sign.
    o : Out(ArrayLayout(ArrayLayout(16, 4), lanes))
        Red, green, blue, alpha, :attr:`latency` clocks later. BC6H has no alpha: zero.
    """

    def __init__(self, lanes, half=True, unorm=True):
        self._lanes = lanes
        self._half = half
        self._unorm = unorm
        self._bits = WIDE + 1 if half else 9
        super().__init__(
            {
                "i": In(128),
                "row": In(range(max(16 // lanes, 2))),
                "half": In(1),
                "signed": In(1),
                "o": Out(ArrayLayout(ArrayLayout(16, CHANNELS), lanes)),
            }
        )

    @property
    def _ends_clock(self):
        """Clock of the end points of both formats, a clock ahead of the indices or later."""
        return 1 + Bc6hEndpoints.LATENCY if self._half else Indices.LATENCY - 1

    @property
    def _texels_clock(self):
        """Clock of the interpolated texels: end points, spans, selection, products, sums."""
        return self._ends_clock + 4

    @property
    def latency(self):
        """Clocks from a block to its texels: interpolation, rotation, and two more of halves."""
        return self._texels_clock + 1 + (2 if self._half else 0)

    def elaborate(self, platform):
        m = Module()
        t = Timeline(m)
        m.submodules.bc7 = bc7 = Bc7Endpoints()
        m.d.comb += bc7.i.eq(self.i)
        half = self.half if self._half and self._unorm else Const(self._half)
        t.enter(0, block=self.i, row=self.row, half=half, signed=self.signed)
        t.enter(0, bc6h_reserved=self.i[:2].all() & self.i[4])
        t.enter(1, mode=bc7.mode)
        t.enter(2, selector=bc7.selector, rotation=bc7.rotation, bc7_endpoints=bc7.endpoints)
        t.enter(1, mode_valid=Mux(t[1].half, ~t[1].bc6h_reserved, bc7.mode_valid))

        # Indices take fewer clocks than end points, and begin so many clocks later.
        start = self._ends_clock + 1 - Indices.LATENCY
        m.submodules.indices = indices = Indices(self._lanes)
        m.d.comb += [
            indices.i.eq(t[start].block),
            indices.row.eq(t[start].row),
            indices.half.eq(t[start].half),
            indices.mode.eq(t[start + 1].mode),
            indices.selector.eq(t[start + 2].selector),
        ]

        # Of each subset the first end point, and the span to the second.
        endpoints = self._endpoints(m, t)
        first = Signal(ArrayLayout(ArrayLayout(signed(self._bits), CHANNELS), 3))
        span = Signal(ArrayLayout(ArrayLayout(signed(self._bits + 1), CHANNELS), 3))
        for s in range(3):
            for c in range(CHANNELS):
                m.d.sync += [
                    first[s][c].eq(endpoints[2 * s][c]),
                    span[s][c].eq(endpoints[2 * s + 1][c] - endpoints[2 * s][c]),
                ]
        for n in range(self._lanes):
            weights = [indices.colour_weight[n]] * 3 + [indices.alpha_weight[n]]
            texel = [
                self._interpolate(m, first, span, indices.subset[n], weights[c], c, n)
                for c in range(CHANNELS)
            ]
            self._output(m, t, n, texel)
        return m

    def _endpoints(self, m, t):
        """End points of both formats, in clock :attr:`_ends_clock`."""
        clock = self._ends_clock - 1
        unorm = t[clock].bc7_endpoints
        if self._half:
            m.submodules.bc6h = bc6h = Bc6hEndpoints()
            m.d.comb += [
                bc6h.i.eq(self.i),
                bc6h.signed.eq(self.signed),
            ]
        endpoints = Signal(ArrayLayout(ArrayLayout(signed(self._bits), CHANNELS), 6))
        for e in range(6):
            for c in range(CHANNELS):
                value = unorm[e][c] if self._unorm else 0
                if self._half and e < 4 and c < 3:
                    floating = bc6h.endpoints[e][c]
                    value = Mux(t[clock].half, floating, value) if self._unorm else floating
                m.d.sync += endpoints[e][c].eq(value)
        return endpoints

    def _interpolate(self, m, first, span, subset, weight, channel, lane):
        """A channel of a texel, three clocks behind end points and weight."""
        bits = self._bits if channel < 3 else 9
        name = f"texel_{lane}_{channel}"
        firsts = [first[s][channel] for s in range(3)]
        spans = [span[s][channel] for s in range(3)]
        begin = register(m, choose(subset, firsts), signed(bits), f"{name}_begin")
        step = register(m, choose(subset, spans), signed(bits + 1), f"{name}_step")
        factor = register(m, weight, WEIGHT_BITS, f"{name}_weight")
        product = register(
            m,
            step * Cat(factor, 0).as_signed(),
            signed(bits + 1 + WEIGHT_BITS),
            f"{name}_product",
        )
        offset = register(m, begin, signed(bits), f"{name}_offset")
        total = Cat(Const(32, 6), offset).as_signed() + product  # rounded
        # Between the end points, and so without a sign where they have none.
        shape = signed(bits) if channel < 3 else unsigned(8)
        return register(m, total >> 6, shape, f"{name}_total")

    def _output(self, m, t, n, texel):
        """A texel of BC7 with its channels rotated, or of BC6H as halves."""
        rotation = t[self._texels_clock].rotation
        rotated = [Mux(rotation == c + 1, texel[3], texel[c]) for c in range(3)]
        rotated.append(choose(rotation, [texel[c] for c in (3, 0, 1, 2)]))
        for c in range(CHANNELS):
            value = register(m, rotated[c], 8, f"rotated_{n}_{c}")
            if self._half:
                t.enter(self._texels_clock + 1, **{f"rotated_{n}_{c}": value})
                unorm = t.value(f"rotated_{n}_{c}", self.latency)
                floating = self._half_bits(m, t, texel[c], f"half_{n}_{c}") if c < 3 else 0
                value = Mux(t[self.latency].half, floating, unorm) if self._unorm else floating
            m.d.comb += self.o[n][c].eq(Mux(t[self.latency].mode_valid, value, 0))

    def _half_bits(self, m, t, value, name):
        """Bits of a half, three clocks behind its value.

        A value of 16 bits is scaled by 31/64, one of 15 bits and a sign by 31/32.
        """
        has_sign = t[self._texels_clock].signed
        negative = has_sign & value[-1]
        size = register(m, Mux(negative, -value, value), WIDE, f"{name}_size")
        scaled = register(m, (size << 5) - size, WIDE + 5, f"{name}_scaled")
        t.enter(self._texels_clock, **{f"{name}_negative": negative})
        clock = self._texels_clock + 2
        sign = t.value(f"{name}_negative", clock) & scaled[5:20].any()
        signed_bits = Cat(scaled[5:20], sign)
        return register(m, Mux(t[clock].signed, signed_bits, scaled[6:]), 16, name)
