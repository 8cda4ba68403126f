# SPDX-License-Identifier: BSD-2-Clause
"""What lies before the payloads: a lane, flags, codes of widths."""

from amaranth.hdl import Cat, Const, Mux, Value

from fixfunc.rtl.output.compression.tile_order import COUNT, GROUPS, MODES, by_mode, squares
from fixfunc.rtl.output.compression.widths import CODE, leaf

FIXED = 36  # bits: lane (0, 0), "alpha follows", turn, two zeros


def order(mode: int) -> tuple[list[int], list[int]]:
    """Leaves whose codes follow one another: of colours, then of alpha."""
    count = len(GROUPS[mode])
    colours = []
    for group in range(count):
        channels = range(3) if group < squares(mode) else range(1)
        colours += [leaf(channel, group) for channel in channels]
    return colours, [leaf(3, group) for group in range(count)]


def bits(mode: int, with_alpha: bool) -> int:
    """Of a header."""
    colours, alphas = order(mode)
    return FIXED + CODE * (len(colours) + len(alphas) * with_alpha)


LONGEST = max(bits(mode, True) for mode in MODES)


def length(samples: Value, with_alpha: Value) -> Value:
    """Bits of the header of a tile."""
    wide = LONGEST.bit_length()
    return Mux(
        with_alpha,
        by_mode(samples, [Const(bits(mode, True), wide) for mode in MODES]),
        by_mode(samples, [Const(bits(mode, False), wide) for mode in MODES]),
    )


def packed(samples: Value, lane: Value, with_alpha: Value, turn: Value, codes: list) -> Value:
    """The header of a tile, zeros behind it."""

    def of(mode):
        colours, alphas = order(mode)
        found = [lane, with_alpha, turn, Const(0, 2)]
        found += [codes[n] for n in colours]
        found += [Mux(with_alpha, codes[n], 0) for n in alphas]
        return Cat(*found)

    return by_mode(samples, [of(mode) for mode in MODES])


def codes_of(samples: Value, data: Value, with_alpha: Value) -> list[Value]:
    """Codes by leaf, from a header; 0 of those that it does not have."""
    places: list[list[Value]] = [[Const(0, CODE)] * len(MODES) for _ in range(4 * COUNT)]
    for mode in MODES:
        colours, alphas = order(mode)
        at = FIXED
        for n in (*colours, *alphas):
            found = data[at : at + CODE]
            places[n][mode] = Mux(with_alpha, found, 0) if n in alphas else found
            at += CODE
        for group in range(squares(mode), len(GROUPS[mode])):
            # One code for all three.
            for channel in (1, 2):
                places[leaf(channel, group)][mode] = places[leaf(0, group)][mode]
    return [by_mode(samples, options) for options in places]
