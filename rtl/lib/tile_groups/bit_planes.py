# SPDX-License-Identifier: BSD-2-Clause
"""Signed numbers of a group by bit plane: bit 0 of each, then bit 1 of each, up to its width."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Signal, Value

from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder


def by_planes(
    order: TileOrder, samples: Value, values: Sequence[Value], used: Value, group: int
) -> Value:
    """A group's payload.

    Parameters
    ----------
    order : TileOrder
    samples : Value
        log2 of the samples of a pixel.
    values : sequence of Value
        Of the places of the group, each of ``len(used)`` bits.
    used : Value
        Planes that the payload has.
    group : int
    """

    def of(size):
        bits = [
            Cat(value[plane] & used[plane] for value in values[:size]) for plane in range(len(used))
        ]
        return Cat(*bits) if size else Const(0, 1)

    known = {size: of(size) for size in set(order.sizes[group])}
    return order.by_mode(samples, [known[size] for size in order.sizes[group]])


def from_planes(
    m: Module, order: TileOrder, samples: Value, payload: Value, used: Value, place: tuple[int, int]
) -> Value:
    """A number of a payload: the highest plane that is used is a sign above.

    Parameters
    ----------
    m : Module
    order : TileOrder
    samples, used : Value
        As :func:`by_planes` has them.
    payload : Value
        Of the group; behind its length, anything.
    place : (int, int)
        The group, and which of its numbers.
    """
    group, at = place
    width = len(used)

    def of(size):
        nothing = Const(0, 1)
        return Cat(payload[n * size + at] if at < size else nothing for n in range(width))

    known = {size: of(size) for size in set(order.sizes[group])}
    bits = Signal(width, name="bits")
    m.d.comb += bits.eq(order.by_mode(samples, [known[size] for size in order.sizes[group]]))
    top = used & ~(used >> 1)
    sign = Signal(name="sign")
    m.d.comb += sign.eq((bits & top).any())
    return (bits & used) | (sign.replicate(width) & ~used)
