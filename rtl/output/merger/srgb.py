# SPDX-License-Identifier: BSD-2-Clause
"""Linear colours as sRGB."""

import itertools

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.formats import ALPHA, LINEAR_BITS, FormatSet
from fixfunc.rtl.texture.linear import linear

BITS = 8
LINEAR = [linear(n) for n in range(1 << BITS)]
# From which linear value on a byte is the nearest, or the greater of two.
FIRST = [0, *(-(-(low + high) // 2) for low, high in itertools.pairwise(LINEAR))]
# Half a byte, and what 255/65536 is too little by; tried for all 65,536 values.
ROUNDING = 32895


class SrgbEncoder(wiring.Component):
    """The sRGB byte whose linear value is the nearest, of two the greater; free-running.

    A binary search: each clock a table of as many rows as there are bytes that it can still be
    says one bit.

    Members
    -------
    i : In(16)
    o : Out(8)
        :attr:`LATENCY` clocks later.
    """

    LATENCY = BITS

    i: In(16)
    o: Out(BITS)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        value = self.i
        known_bits = []  # the highest first
        for level in range(BITS):
            step = 1 << BITS - level
            rows = [FIRST[n * step + step // 2] for n in range(1 << level)]
            if level:
                m.submodules[f"table_{level}"] = table = Memory(
                    shape=16, depth=len(rows), init=rows, attrs={"rom_style": "distributed"}
                )
                read = table.read_port(domain="comb")
                m.d.comb += read.addr.eq(Cat(reversed(known_bits)))
                threshold = read.data
            else:
                threshold = rows[0]
            later = Signal(16, name=f"value_{level + 1}")
            bits = [Signal(name=f"bit_{level + 1}_{n}") for n in range(level + 1)]
            m.d.sync += later.eq(value)
            m.d.sync += [
                bit.eq(now)
                for bit, now in zip(bits, [*known_bits, value >= threshold], strict=True)
            ]
            value = later
            known_bits = bits
        m.d.comb += self.o.eq(Cat(reversed(known_bits)))
        return m


class ChannelEncoder(wiring.Component):
    """Channels of linear light as bytes of sRGB; free-running. Alpha is linear in both.

    Parameters
    ----------
    formats : FormatSet

    Members
    -------
    words : In(ArrayLayout(formats.word, 4))
    encodes : In(4)
        Channels that are linear light, :attr:`LATENCY` clocks after ``words``; others pass.
    o : Out(ArrayLayout(formats.word, 4))
        Together with ``encodes``.
    """

    LATENCY = SrgbEncoder.LATENCY

    def __init__(self, formats: FormatSet) -> None:
        words = ArrayLayout(formats.word, 4)
        super().__init__({"words": In(words), "encodes": In(4), "o": Out(words)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        for channel in range(4):
            word = self.words[channel]
            t.enter(0, **{f"word_{channel}": word})
            if channel == ALPHA:
                t.enter(0, alpha=alpha_byte(word[:LINEAR_BITS]))
                byte = t[self.LATENCY].alpha
            else:
                m.submodules[f"encoder_{channel}"] = encoder = SrgbEncoder()
                m.d.comb += encoder.i.eq(word[:LINEAR_BITS])
                byte = encoder.o
            passed = t.value(f"word_{channel}", self.LATENCY)
            m.d.comb += self.o[channel].eq(Mux(self.encodes[channel], byte, passed))
        return m


def alpha_byte(value: Value) -> Value:
    """The byte that is nearest to 16 bits of alpha: of 255/65535 of it."""
    return ((value << BITS) - value + ROUNDING)[2 * BITS : 3 * BITS]
