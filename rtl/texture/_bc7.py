# SPDX-License-Identifier: BSD-2-Clause
"""BC7: what a block's bits mean, by its mode."""

from typing import NamedTuple

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.bits import choose, lowest, number


class Place(NamedTuple):
    """Where something begins, and bits of one of it."""

    at: int
    bits: int


class Mode(NamedTuple):
    """Places in a block: of the number of its partition, of end points' colours and alphas, of their lowest bits, of indices."""

    subsets: int
    colour: Place
    index: Place
    partition: Place = None
    alpha: Place = None
    lowest: int = None
    shared: bool = False
    second: Place = None
    rotation: int = None
    selector: int = None


MODES = (
    Mode(3, Place(5, 4), Place(83, 3), partition=Place(1, 4), lowest=77),
    Mode(2, Place(8, 6), Place(82, 3), partition=Place(2, 6), lowest=80, shared=True),
    Mode(3, Place(9, 5), Place(99, 2), partition=Place(3, 6)),
    Mode(2, Place(10, 7), Place(98, 2), partition=Place(4, 6), lowest=94),
    Mode(1, Place(8, 5), Place(50, 2), alpha=Place(38, 6), second=Place(81, 3), rotation=5, selector=7),
    Mode(1, Place(8, 7), Place(66, 2), alpha=Place(50, 8), second=Place(97, 2), rotation=6),
    Mode(1, Place(7, 7), Place(65, 4), alpha=Place(49, 7), lowest=63),
    Mode(2, Place(14, 5), Place(98, 2), partition=Place(8, 6), alpha=Place(74, 5), lowest=94),
)
PAIR_LIKE, SINGLE_LIKE = 1, 6  # modes whose indices lie as those of BC6H, of two subsets or of one


def _end(block, mode, end, channel):
    """An end point's channel, of 8 bits; None where the mode has no such end point."""
    count = 2 * mode.subsets
    if end >= count:
        return None
    if channel == 3 and not mode.alpha:
        return 255
    at, bits = mode.alpha if channel == 3 else (mode.colour.at + channel * count * mode.colour.bits, mode.colour.bits)
    value = block[at + end * bits:at + (end + 1) * bits]
    if mode.lowest is not None:
        value = Cat(block[mode.lowest + (end // 2 if mode.shared else end)], value)
    return Cat(value[2 * len(value) - 8:], value)


class Bc7Ends(wiring.Component):
    """End points of a BC7 block.

    Members
    -------
    i : In(128)
        The block.
    number, exists : Out
        Its mode, a clock later; a block may have none.
    ends : Out(ArrayLayout(ArrayLayout(8, 4), 6))
        Two clocks later: first and second of each subset; red, green, blue, alpha.
    rotation, swaps : Out
        Likewise: the channel that changes places with alpha, and one; whether the second indices are the colours'.
    """

    i: In(128)
    number: Out(3)
    exists: Out(1)
    ends: Out(ArrayLayout(ArrayLayout(8, 4), 6))
    rotation: Out(2)
    swaps: Out(1)

    def elaborate(self, platform):
        m = Module()
        block = Signal(128)
        m.d.sync += [block.eq(self.i), self.number.eq(number(lowest(self.i[:8]))), self.exists.eq(self.i[:8].any())]
        for end in range(6):
            for channel in range(4):
                m.d.sync += self.ends[end][channel].eq(choose(self.number, [_end(block, mode, end, channel) for mode in MODES]))
        rotations = [0 if mode.rotation is None else block[mode.rotation:mode.rotation + 2] for mode in MODES]
        m.d.sync += [self.rotation.eq(choose(self.number, rotations)), self.swaps.eq(block[MODES[4].selector])]
        return m
