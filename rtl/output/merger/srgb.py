# SPDX-License-Identifier: BSD-2-Clause
"""Linear colours as sRGB."""

import itertools
from bisect import bisect_right

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.delay import NO_COLLISION
from fixfunc.rtl.lib.timeline import Timeline
from fixfunc.rtl.output.merger.formats import ALPHA, LINEAR_BITS, FormatSet
from fixfunc.rtl.texture.linear import LINEAR

# From which linear value on a byte is the nearest, or the greater of two.
FIRST = [0, *(-(-(low + high) // 2) for low, high in itertools.pairwise(LINEAR))]
# Half a byte, and what 255/65536 is too little by; tried for all 65,536 values.
ROUNDING = 32895
# Linear values from 2^n on lie in segments of 2^k: (n, k). In none begins more than one byte.
SEGMENTS = (14, 8), (12, 7), (10, 6), (0, 4)
LAST_BITS = 8  # of the last value of a segment that has the first one's byte


def _rows() -> list[int]:
    """A segment's first byte and, above it, the last value of the segment that has it.

    Value v has row v >> k | 1 << k; those of the least segments have no such one.
    """
    rows = [0] * 512
    end = 1 << LINEAR_BITS
    for start, size in SEGMENTS:
        begin = 1 << start if start else 0
        for low in range(begin, end, 1 << size):
            byte = bisect_right(FIRST, low) - 1
            following = FIRST[byte + 1] if byte < 255 else end
            assert byte > 253 or FIRST[byte + 2] >= low + (1 << size), "a segment of three bytes"
            last = min(following - low, 1 << size) - 1
            rows[low >> size | (1 << size if start else 0)] = byte | last << 8
        end = begin
    return rows


ROWS = _rows()


class SrgbEncoder(wiring.Component):
    """Linear channels as bytes of sRGB; free-running. Alpha is linear in both.

    Of sRGB the byte whose linear value is the nearest, of two the greater: a table knows that of
    the first value of a segment, and where in it the next byte begins.

    Parameters
    ----------
    formats : FormatSet

    Members
    -------
    words : In(ArrayLayout(formats.word, 4))
    is_linear : In(4)
        Channels that become sRGB, :attr:`LATENCY` clocks after ``words``; others pass.
    o : Out(ArrayLayout(formats.word, 4))
        Together with ``is_linear``.
    """

    LATENCY = 2

    def __init__(self, formats: FormatSet) -> None:
        words = ArrayLayout(formats.word, 4)
        super().__init__({"words": In(words), "is_linear": In(4), "o": Out(words)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        t = Timeline(m)
        m.submodules.table = table = Memory(
            shape=8 + LAST_BITS, depth=len(ROWS), init=ROWS, attrs=NO_COLLISION
        )
        for channel in range(4):
            word = self.words[channel]
            t.enter(0, **{f"word_{channel}": word})
            if channel == ALPHA:
                t.enter(0, **{f"byte_{ALPHA}": alpha_byte(word[:LINEAR_BITS])})
            else:
                byte = self._encode(m, t, table.read_port(), word[:LINEAR_BITS], channel)
                t.enter(2, **{f"byte_{channel}": byte})
            byte, passed = (t.value(f"{name}_{channel}", self.LATENCY) for name in ("byte", "word"))
            m.d.comb += self.o[channel].eq(Mux(self.is_linear[channel], byte, passed))
        return m

    def _encode(self, m, t, read, value, channel):
        """The byte of a linear value, two clocks later."""
        row, place = value[4:10], value[:4]
        for start, size in reversed(SEGMENTS[:-1]):
            is_above = value[start:].any()
            row = Mux(is_above, Cat(value[size : 2 * size], Const(1, 1)), row)
            place = Mux(is_above, value[:size], place)
        m.d.comb += read.addr.eq(row)
        t.enter(0, **{f"place_{channel}": named(m, place, f"place_{channel}_0")})
        byte = Signal(8, name=f"byte_{channel}_2")
        m.d.sync += byte.eq(read.data[:8] + (t.value(f"place_{channel}", 1) > read.data[8:]))
        return byte


def alpha_byte(value: Value) -> Value:
    """The byte that is nearest to 16 bits of alpha: of 255/65535 of it."""
    return ((value << 8) - value + ROUNDING)[16:24]
