# SPDX-License-Identifier: BSD-2-Clause
"""What lies before the payloads: a lane, flags, codes of widths."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Mux, Value

from fixfunc.rtl.lib.bits import Selection
from fixfunc.rtl.lib.tile_groups.tile_order import squares
from fixfunc.rtl.output.differences.colour_order import ALPHA, CHANNELS, ColourOrder


def _leaves(order, mode):
    """Payloads whose codes follow one another: of colours, then of alpha."""
    count = len(order.groups[mode])
    colours = []
    for group in range(count):
        channels = CHANNELS[:ALPHA] if group < squares(mode) else CHANNELS[:1]
        colours += [order.leaf(channel, group) for channel in channels]
    return colours, [order.leaf(ALPHA, group) for group in range(count)]


def bits(order: ColourOrder, mode: int, with_alpha: bool) -> int:
    """Of a header."""
    colours, alphas = _leaves(order, mode)
    return order.header + order.code * (len(colours) + len(alphas) * with_alpha)


def length(order: ColourOrder, samples: Value, with_alpha: Value) -> Value:
    """Bits of the header of a tile: of 8 or 16 bits a channel, no more than it takes at least."""
    wide = order.step.bit_length()
    with_it, without = (
        order.by_mode(samples, [Const(bits(order, mode, has), wide) for mode in order.modes])
        for has in (True, False)
    )
    return Mux(with_alpha, with_it, without)


def packed(
    order: ColourOrder, samples: Value, lane: Value, turn: Value, codes: Sequence[Value]
) -> Value:
    """The header of a tile, from codes by payload, zeros behind it."""
    alphas = [codes[order.leaf(ALPHA, group)] for group in range(order.count)]

    def of(mode):
        fields = [codes[n] for its in _leaves(order, mode) for n in its]
        return Cat(lane, with_alpha(alphas), turn, Const(0, 2), *fields)

    return order.by_mode(samples, [of(mode) for mode in order.modes])


def with_alpha(alphas: Sequence[Value]) -> Value:
    """Whether alpha follows: where all alphas are the same, all of its codes are 0."""
    return Cat(alphas).any()


def codes_of(order: ColourOrder, selection: Selection, data: Value) -> list[Value]:
    """Codes of a channel's groups, from a header.

    Parameters
    ----------
    order : ColourOrder
    selection : Selection
        By ``order.index``.
    data : Value
        Where no alpha follows, its codes are anything.
    """
    fields = {}
    found: list[dict[int, int]] = [{} for _ in range(order.count)]
    for mode in order.modes:
        colours, alphas = _leaves(order, mode)
        at = {leaf: order.header + order.code * n for n, leaf in enumerate((*colours, *alphas))}
        for group in range(len(order.groups[mode])):
            for channel in CHANNELS:
                # One code for all three.
                leaf = at.get(order.leaf(channel, group), at[order.leaf(0, group)])
                found[group][order.index(channel, mode)] = leaf
                fields[leaf] = data[leaf : leaf + order.code]
    return [selection.of(keys, fields)[: order.code] for keys in found]
