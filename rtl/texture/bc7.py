# SPDX-License-Identifier: BSD-2-Clause
"""BC7: end points of a block, by its mode."""

from typing import NamedTuple

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import choose, lowest, number


class Bits(NamedTuple):
    """Numbers that follow one another in a block."""

    first: int  # first bit of the first number
    bits: int  # bits of each number


class Mode(NamedTuple):
    """A mode of a block: where its fields lie, or None if it lacks them.

    Parameters
    ----------
    subsets : int
        Number of subsets.
    colour, alpha : Bits
        Channels of the end points. All reds come first, then greens, blues, alphas.
    index, second_index : Bits
        Indices, and second indices. Anchors lack a bit.
    partition : Bits
        Number of the partition.
    p_bits : int
        First of the lowest bits of end points (P bits).
    shared_p_bits : bool
        Both end points of a subset share a P bit; else each has its own.
    rotation : int
        First of two bits: the channel that changes places with alpha, and one.
    selector : int
        The bit that is set if the second indices are the colours'.
    """

    subsets: int
    colour: Bits
    index: Bits
    partition: Bits = None
    alpha: Bits = None
    p_bits: int = None
    shared_p_bits: bool = False
    second_index: Bits = None
    rotation: int = None
    selector: int = None


MODES = (
    Mode(3, Bits(5, 4), Bits(83, 3), partition=Bits(1, 4), p_bits=77),
    Mode(2, Bits(8, 6), Bits(82, 3), partition=Bits(2, 6), p_bits=80, shared_p_bits=True),
    Mode(3, Bits(9, 5), Bits(99, 2), partition=Bits(3, 6)),
    Mode(2, Bits(10, 7), Bits(98, 2), partition=Bits(4, 6), p_bits=94),
    Mode(
        1,
        Bits(8, 5),
        Bits(50, 2),
        alpha=Bits(38, 6),
        second_index=Bits(81, 3),
        rotation=5,
        selector=7,
    ),
    Mode(1, Bits(8, 7), Bits(66, 2), alpha=Bits(50, 8), second_index=Bits(97, 2), rotation=6),
    Mode(1, Bits(7, 7), Bits(65, 4), alpha=Bits(49, 7), p_bits=63),
    Mode(2, Bits(14, 5), Bits(98, 2), partition=Bits(8, 6), alpha=Bits(74, 5), p_bits=94),
)
# Modes whose indices lie where those of BC6H do, with two subsets and with one.
BC6H_PAIR_MODE = 1
BC6H_SINGLE_MODE = 6


def _end(block, mode, end, channel):
    """A channel of an end point, expanded to 8 bits; None if the mode lacks the end point."""
    count = 2 * mode.subsets
    if end >= count:
        return None
    if channel == 3 and not mode.alpha:
        return 255
    field = mode.alpha if channel == 3 else mode.colour
    number = end if channel == 3 else channel * count + end
    first = field.first + number * field.bits
    value = block[first : first + field.bits]
    if mode.p_bits is not None:
        p_bit = end // 2 if mode.shared_p_bits else end
        value = Cat(block[mode.p_bits + p_bit], value)
    return Cat(value[2 * len(value) - 8 :], value)


class Bc7Endpoints(wiring.Component):
    """End points of a BC7 block, one block a clock; free-running.

    Members
    -------
    i : In(128)
        The block.
    mode : Out(3)
        Number of its mode, in clock 1.
    mode_valid : Out(1)
        The block has a mode; in clock 1.
    endpoints : Out(ArrayLayout(ArrayLayout(8, 4), 6))
        First and second end point of each subset, as red, green, blue, alpha; in clock 2.
    rotation : Out(2)
        The channel that changes places with alpha, and one; in clock 2.
    selector : Out(1)
        The second indices are the colours', if the mode is 4; in clock 2.
    """

    i: In(128)
    mode: Out(3)
    mode_valid: Out(1)
    endpoints: Out(ArrayLayout(ArrayLayout(8, 4), 6))
    rotation: Out(2)
    selector: Out(1)

    def elaborate(self, platform):
        m = Module()
        block = Signal(128)
        m.d.sync += [
            block.eq(self.i),
            self.mode.eq(number(lowest(self.i[:8]))),
            self.mode_valid.eq(self.i[:8].any()),
        ]
        for end in range(6):
            for channel in range(4):
                m.d.sync += self.endpoints[end][channel].eq(
                    choose(self.mode, [_end(block, mode, end, channel) for mode in MODES])
                )
        rotations = [
            0 if mode.rotation is None else block[mode.rotation : mode.rotation + 2]
            for mode in MODES
        ]
        m.d.sync += [
            self.rotation.eq(choose(self.mode, rotations)),
            self.selector.eq(block[MODES[4].selector]),
        ]
        return m
