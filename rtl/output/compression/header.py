# SPDX-License-Identifier: BSD-2-Clause
"""What lies before the payloads: a lane, flags, codes of widths."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Mux, Value

from fixfunc.rtl.lib.tile_groups.tile_order import squares
from fixfunc.rtl.output.compression.colour_order import ColourOrder


def _leaves(order, mode):
    """Payloads whose codes follow one another: of colours, then of alpha."""
    count = len(order.groups[mode])
    colours = []
    for group in range(count):
        channels = range(3) if group < squares(mode) else range(1)
        colours += [order.leaf(channel, group) for channel in channels]
    return colours, [order.leaf(3, group) for group in range(count)]


def bits(order: ColourOrder, mode: int, with_alpha: bool) -> int:
    """Of a header."""
    colours, alphas = _leaves(order, mode)
    return order.header + order.code * (len(colours) + len(alphas) * with_alpha)


def longest(order: ColourOrder) -> int:
    """Bits of the longest header."""
    return max(bits(order, mode, True) for mode in order.modes)


def length(order: ColourOrder, samples: Value, with_alpha: Value) -> Value:
    """Bits of the header of a tile."""
    wide = longest(order).bit_length()
    with_it, without = (
        order.by_mode(samples, [Const(bits(order, mode, has), wide) for mode in order.modes])
        for has in (True, False)
    )
    return Mux(with_alpha, with_it, without)


def packed(
    order: ColourOrder,
    samples: Value,
    lane: Value,
    with_alpha: Value,
    turn: Value,
    codes: Sequence[Value],
) -> Value:
    """The header of a tile, zeros behind it."""

    def of(mode):
        colours, alphas = _leaves(order, mode)
        found = [lane, with_alpha, turn, Const(0, 2)]
        found += [codes[n] for n in colours]
        found += [Mux(with_alpha, codes[n], 0) for n in alphas]
        return Cat(*found)

    return order.by_mode(samples, [of(mode) for mode in order.modes])


def codes_of(order: ColourOrder, samples: Value, data: Value, with_alpha: Value) -> list[Value]:
    """Codes by payload, from a header; 0 of those that it does not have."""
    found = [[Const(0, order.code)] * len(order.modes) for _ in range(order.leaves)]
    for mode in order.modes:
        colours, alphas = _leaves(order, mode)
        at = order.header
        for n in (*colours, *alphas):
            code = data[at : at + order.code]
            found[n][mode] = Mux(with_alpha, code, 0) if n in alphas else code
            at += order.code
        for group in range(squares(mode), len(order.groups[mode])):
            # One code for all three.
            for channel in (1, 2):
                found[order.leaf(channel, group)][mode] = found[order.leaf(0, group)][mode]
    return [order.by_mode(samples, options) for options in found]
