# SPDX-License-Identifier: BSD-2-Clause
"""Fill: a line of memory becomes a block of 16 texels."""

from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated
from fixfunc.rtl.lib.delay import delay
from fixfunc.rtl.texture.cache.layouts import BLOCK, TextureCacheParams
from fixfunc.rtl.texture.linear import Linear
from fixfunc.spec.textures.cache import StoredFormat
from fixfunc.spec.textures.filter import CHANNELS

# Number of texel (x, y) in memory, by 4 y + x: bits of x and y in turn.
MORTON = [x & 1 | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2 for y in range(4) for x in range(4)]


class Fill(wiring.Component):
    """Texels of a block, all at once; free-running.

    Channels of 8 bits become 16 by repetition; colours that are sRGB become linear. A line that
    memory could not give is zero texels.

    Parameters
    ----------
    params : TextureCacheParams

    Members
    -------
    i : In(params.filling)
    o : Out(params.filled)
        :attr:`latency` clocks later.
    """

    def __init__(self, params: TextureCacheParams) -> None:
        self._params = params
        super().__init__({"i": In(params.filling), "o": Out(params.filled)})

    @property
    def latency(self) -> int:
        """Clocks from a line to its texels."""
        return Linear.LATENCY + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        srgb = StoredFormat.R8G8B8A8_UNORM_SRGB
        bytes_ = ArrayLayout(ArrayLayout(8, len(CHANNELS)), len(MORTON))(self.i.data)
        stored = Signal(BLOCK)
        m.d.comb += [
            stored[texel][n].eq(bytes_[place][n].replicate(2))
            for texel, place in enumerate(MORTON)
            for n in range(len(CHANNELS))
        ]
        texels = stored
        if srgb in self._params.formats:
            m.submodules.linear = linear = Linear(len(MORTON))
            m.d.comb += [
                linear.i.eq(stored),
                linear.enable.eq(self.i.format == srgb),
            ]
            texels = linear.o
        else:
            texels = delay(m, stored, Linear.LATENCY, "stored")
        error = delay(m, self.i.error, Linear.LATENCY, "error")
        m.d.sync += [
            self.o.texels[n][c].eq(gated(texels[n][c], ~error))
            for n in range(len(MORTON))
            for c in range(len(CHANNELS))
        ]
        m.d.comb += [
            self.o.error.eq(delay(m, error, 1, "failed")),
            self.o.fetched.eq(delay(m, self.i.fetched, self.latency, "fetched")),
            self.o.target.eq(delay(m, self.i.target, self.latency, "target")),
        ]
        return m
