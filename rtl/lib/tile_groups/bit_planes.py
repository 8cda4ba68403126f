# SPDX-License-Identifier: BSD-2-Clause
"""Signed numbers of a group by bit plane: bit 0 of each, then bit 1 of each, up to its width."""

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Value

from fixfunc.rtl.lib.bits import named
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


def from_planes(m: Module, bits: Value, used: Value, name: str) -> Value:
    """A number from its planes: the highest that is used is a sign above.

    Parameters
    ----------
    m : Module
    bits : Value
        The number's bit of every plane; of those that are not used, anything.
    used : Value
        As :func:`by_planes` has it.
    name : str
        Of the sign.
    """
    top = used & ~(used >> 1)
    sign = named(m, (bits & top).any(), name)
    return (bits & used) | (sign.replicate(len(used)) & ~used)
