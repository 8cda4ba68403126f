# SPDX-License-Identifier: BSD-2-Clause
"""From what lies in memory to tiles of colours, and what cannot be one."""

from amaranth.hdl import Cat, EnableInserter, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import gated, named
from fixfunc.rtl.lib.delay import delay, later
from fixfunc.rtl.lib.skid_buffer import SkidBuffer
from fixfunc.rtl.output.compression.palette import looked_up, palette_bits
from fixfunc.rtl.output.differences.colour_order import ALPHA, ColourOrder
from fixfunc.rtl.output.differences.difference_decoder import DifferenceDecoder
from fixfunc.rtl.payload import layout
from fixfunc.spec.colours import LANES, decoded, stored
from fixfunc.spec.state import DIFFERENCES, TileMode


class ColourDecoder(wiring.Component):
    """The inverse of :class:`~fixfunc.rtl.output.compression.colour_coder.ColourCoder`.

    The tile that came last is kept until another comes: for four clocks, if it is one by
    differences. Every other tile waits as long as differences take, so that the order stays. One
    enable stops everything.

    Parameters
    ----------
    order : ColourOrder

    Members
    -------
    i : In(stream.Signature(layout(stored(order.colour))))
    o : Out(stream.Signature(layout(decoded(order.colour))))
        :attr:`latency` clocks later at the earliest. A tile is wrong if there is no such code, if
        spare or trailing bits are set, or if payloads go on beyond its bytes.
    """

    def __init__(self, order: ColourOrder) -> None:
        self._order = order
        self._differences = DifferenceDecoder(order)
        super().__init__(
            {
                "i": In(stream.Signature(layout(stored(order.colour)))),
                "o": Out(stream.Signature(layout(decoded(order.colour)))),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks: the tile is kept, its differences, the skid buffer."""
        return 1 + self._differences.latency + 1

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.skid = skid = SkidBuffer(self.o.payload.shape())
        wiring.connect(m, skid.o, wiring.flipped(self.o))
        tile, valid, channel = self._kept(m, skid.enable)
        inner = Module()
        inner.submodules.differences = differences = self._differences
        waiting = later(inner, tile, differences.then, "waiting")
        inner.d.comb += [
            differences.samples.eq(tile.samples),
            differences.data.eq(self._data(tile)),
            differences.channel.eq(channel),
            differences.later_steps.eq(waiting.code - DIFFERENCES),
            differences.later_data.eq(self._data(waiting)),
        ]
        end = later(inner, waiting, differences.latency - differences.then, "waited")
        self._choose(inner, end, differences.o, skid.i)
        inner.d.comb += skid.push.eq(delay(inner, valid, differences.latency, "valid"))
        m.submodules.inner = EnableInserter(skid.enable)(inner)
        return m

    def _data(self, tile):
        return Cat(tile[f"data{n}"] for n in range(self._order.words))

    def _is_differences(self, code):
        last = DIFFERENCES + self._order.steps
        is_differences = code > DIFFERENCES
        return is_differences & (code <= last) if last < max(TileMode) else is_differences

    def _kept(self, m, enable):
        """The tile that came last; whether it is there, for the first clock; which clock of it this
        is.
        """
        tile = Signal(self.i.payload.shape())
        valid = Signal()
        channel = Signal(2)
        is_slow = named(m, valid & self._is_differences(tile.code), "is_slow")
        moves = named(m, enable & (~is_slow | (channel == ALPHA)), "moves")
        m.d.comb += self.i.ready.eq(moves)
        with m.If(enable & is_slow):
            m.d.sync += channel.eq(channel + 1)
        with m.If(moves):
            m.d.sync += valid.eq(self.i.valid)
        with m.If(moves & self.i.valid):  # what is not a tile moves nothing
            m.d.sync += tile.eq(self.i.payload)
        return tile, valid & (channel == 0), channel

    def _choose(self, m, tile, differences, out):
        """The tile by its code."""
        order = self._order
        data = self._data(tile)
        code = tile.code
        is_palette = code == TileMode.PALETTE
        spare = data[palette_bits(order.colour) : order.step]
        if len(spare):
            is_palette &= ~spare.any()
        kinds = {
            "differences": (
                self._is_differences(code) & ~differences.wrong,
                differences.colours.as_value(),
            ),
            "cleared": (code == TileMode.CLEARED, tile.cleared.replicate(LANES)),
            "palette": (is_palette, Cat(looked_up(data, order.colour))),
            "raw": (code == TileMode.RAW, data),
        }
        flags = [named(m, flag, f"is_{name}") for name, (flag, _) in kinds.items()]
        colours = 0
        for flag, (_, value) in zip(flags, kinds.values(), strict=True):
            colours = colours | gated(value, flag)
        m.d.comb += [
            out.wrong.eq(~Cat(flags).any()),
            Cat(out[f"colour{n}"] for n in range(LANES)).eq(colours),
        ]
