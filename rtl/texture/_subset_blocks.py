# SPDX-License-Identifier: BSD-2-Clause
"""BC6H and BC7: texels between the two end points of their subset."""

from amaranth.hdl import Cat, Const, Module, Mux, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.bits import choose
from fixfunc.rtl.pipeline import delay
from fixfunc.rtl.texture._bc6h import WIDE, Bc6hEnds
from fixfunc.rtl.texture._bc7 import Bc7Ends
from fixfunc.rtl.texture._indices import SHARE, Indices

CHANNELS = 4


class SubsetBlocks(wiring.Component):
    """Decode blocks of BC6H or BC7; free-running.

    Parameters
    ----------
    lanes : int
        Texels a clock.
    half, unorm : bool
        Whether there are blocks of BC6H; of BC7.

    Members
    -------
    i, row : In
        The block; which ``lanes`` of its texels.
    half, signed : In
        It is one of BC6H; whose halves have a sign.
    o : Out(ArrayLayout(ArrayLayout(16, 4), lanes))
        :attr:`latency` clocks later: red, green, blue, alpha. BC6H has no alpha: zero.
    """

    def __init__(self, lanes, half=True, unorm=True):
        self._lanes, self._half, self._unorm = lanes, half, unorm
        self._bits = WIDE + 1 if half else 9
        super().__init__({
            "i": In(128), "row": In(range(max(16 // lanes, 2))), "half": In(1), "signed": In(1),
            "o": Out(ArrayLayout(ArrayLayout(16, CHANNELS), lanes)),
        })

    @property
    def _merged(self):
        """Clocks to end points of both, which are never before the indices' last but two."""
        return 1 + Bc6hEnds.LATENCY if self._half else Indices.LATENCY - 1

    @property
    def latency(self):
        """Clocks from a block to its texels."""
        return self._merged + 5 + (2 if self._half else 0)

    def elaborate(self, platform):
        m = Module()
        m.submodules.bc7, m.submodules.indices = bc7, indices = Bc7Ends(), Indices(self._lanes)
        ahead = self._merged + 1 - Indices.LATENCY  # so many clocks the indices would be too early
        m.d.comb += bc7.i.eq(self.i)
        is_half = self.half if self._half and self._unorm else Const(self._half)
        for name, value in (("i", self.i), ("half", is_half), ("row", self.row)):
            m.d.comb += getattr(indices, name).eq(delay(m, value, ahead, f"indices_{name}"))
        m.d.comb += [indices.number.eq(delay(m, bc7.number, ahead, "number")), indices.swaps.eq(delay(m, bc7.swaps, ahead, "swaps"))]
        ends = self._ends(m, bc7, is_half)
        exists = delay(m, self._exists(m, bc7, is_half), self.latency - 1, "exists")

        # Of each texel: its subset's first end point, and the way to the second.
        way = Signal(ArrayLayout(ArrayLayout(signed(self._bits + 1), CHANNELS), 3))
        first = Signal(ArrayLayout(ArrayLayout(signed(self._bits), CHANNELS), 3))
        for s in range(3):
            for c in range(CHANNELS):
                m.d.sync += [first[s][c].eq(ends[2 * s][c]), way[s][c].eq(ends[2 * s + 1][c] - ends[2 * s][c])]
        half, sign = (delay(m, value, self._merged + 4, f"late_{name}") for name, value in (("half", is_half), ("signed", self.signed)))
        rotation = delay(m, bc7.rotation, self._merged + 2, "rotation")
        for n in range(self._lanes):
            texel = [self._between(m, first, way, indices.subset[n], (indices.alpha if c == 3 else indices.colour)[n], c, f"texel_{n}_{c}")
                     for c in range(CHANNELS)]
            unorm = [Mux(rotation == c + 1, texel[3], texel[c]) for c in range(3)] + [choose(rotation, [texel[c] for c in (3, 0, 1, 2)])]
            for c in range(CHANNELS):
                turned = Signal(8, name=f"turned_{n}_{c}")
                m.d.sync += turned.eq(unorm[c])
                if self._half:
                    turned = delay(m, turned, 2, f"late_{n}_{c}")
                    floating = _half(m, texel[c], sign, f"half_{n}_{c}") if c < 3 else 0
                    turned = Mux(delay(m, half, 3, f"half_of_{n}_{c}"), floating, turned) if self._unorm else floating
                m.d.comb += self.o[n][c].eq(Mux(exists, turned, 0))
        return m

    def _exists(self, m, bc7, half):
        """Whether the block is of no reserved mode; a clock after it."""
        reserved = delay(m, self.i[:2].all() & self.i[4], 1, "reserved")
        return Mux(delay(m, half, 1, "is_half"), ~reserved, bc7.exists)

    def _ends(self, m, bc7, half):
        """End points of both formats; ``_merged`` clocks after the block."""
        ends = Signal(ArrayLayout(ArrayLayout(signed(self._bits), CHANNELS), 6))
        later = delay(m, bc7.ends.as_value(), self._merged - 3, "bc7_ends")
        unorm = ArrayLayout(ArrayLayout(8, CHANNELS), 6)(later)
        if self._half:
            m.submodules.bc6h = bc6h = Bc6hEnds()
            m.d.comb += [bc6h.i.eq(self.i), bc6h.signed.eq(self.signed)]
            half = delay(m, half, self._merged - 1, "half_of_ends")
        for e in range(6):
            for c in range(CHANNELS):
                value = unorm[e][c] if self._unorm else 0
                if self._half and e < 4 and c < 3:
                    value = Mux(half, bc6h.ends[e][c], value) if self._unorm else bc6h.ends[e][c]
                m.d.sync += ends[e][c].eq(value)
        return ends

    def _between(self, m, first, way, subset, share, channel, name):
        """A channel of a texel, three clocks after both."""
        bits = self._bits if channel < 3 else 9
        begin, step, product, total = (Signal(signed(size), name=f"{name}_{part}") for part, size in (
            ("begin", bits), ("step", bits + 1), ("product", bits + 1 + SHARE), ("total", bits)))
        m.d.sync += [begin.eq(choose(subset, [first[s][channel] for s in range(3)])), step.eq(choose(subset, [way[s][channel] for s in range(3)]))]
        m.d.sync += product.eq(step * Cat(delay(m, share, 1, f"{name}_share"), 0).as_signed())
        m.d.sync += total.eq((Cat(Const(32, 6), delay(m, begin, 1, f"{name}_from")).as_signed() + product) >> 6)
        return total


def _half(m, value, sign, name):
    """Bits of a half, three clocks later: a value of 16 bits scaled by 31/64, or of 15 bits and a sign by 31/32."""
    size, scaled, out = Signal(WIDE, name=f"{name}_size"), Signal(WIDE + 5, name=f"{name}_scaled"), Signal(16, name=name)
    m.d.sync += [size.eq(Mux(sign & value[-1], -value, value)), scaled.eq((size << 5) - size)]
    below = delay(m, sign & value[-1], 2, f"{name}_below")
    m.d.sync += out.eq(Mux(delay(m, sign, 2, f"{name}_signed"), Cat(scaled[5:20], below & scaled[5:20].any()), scaled[6:]))
    return out
