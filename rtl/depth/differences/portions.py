# SPDX-License-Identifier: BSD-2-Clause
"""Portions: payloads of a tile in four parts, of so many groups each, in their order.

In a portion, each group has a slot. A slot has as many places as the largest group that it takes.
"""

from collections.abc import Hashable, Mapping, Sequence

from amaranth.hdl import Cat, Module, Value

from fixfunc.rtl.depth.differences.grid import QUARTERS, index_of, indexes
from fixfunc.rtl.depth.differences.widths import CODE
from fixfunc.rtl.lib.bits import Selection
from fixfunc.rtl.lib.tile_groups.tile_order import TileOrder
from fixfunc.spec.payloads import DEPTH

# Groups of each portion, by the groups of a tile: as few lanes a portion as it takes.
GROUPS = {16: (4, 4, 4, 4), 20: (4, 5, 5, 6), 10: (3, 2, 2, 3)}


class Portions:
    """Which groups, of which lanes, are in which slots.

    Parameters
    ----------
    order : TileOrder

    Attributes
    ----------
    groups : dict
        By slot, then by :func:`~fixfunc.rtl.depth.differences.grid.index_of` of portion and mode.
    sizes : dict
        The same, how many lanes the group has.
    most : list of int
        Places of each slot.
    lanes : int
        Most lanes of a portion.
    """

    def __init__(self, order: TileOrder) -> None:
        self._order = order
        self.groups: list[dict[int, int]] = []
        for mode, groups in zip(order.modes, order.groups, strict=True):
            number = 0
            for portion, count in zip(QUARTERS, GROUPS[len(groups)], strict=True):
                for slot in range(count):
                    if slot == len(self.groups):
                        self.groups.append({})
                    self.groups[slot][index_of(portion, mode)] = number
                    number += 1
        self.sizes = [
            {index: order.sizes[group][index >> 2] for index, group in groups.items()}
            for groups in self.groups
        ]
        self.most = [max(sizes.values()) for sizes in self.sizes]
        self.lanes = max(sum(sizes.get(index, 0) for sizes in self.sizes) for index in self.indexes)

    @property
    def indexes(self) -> list[int]:
        """Of all portions and modes."""
        return indexes(self._order.modes, [0])

    def lane(self, slot: int, place: int, index: int) -> int | None:
        """The lane of a place."""
        if self.sizes[slot].get(index, 0) <= place:
            return None
        return self._order.groups[index >> 2][self.groups[slot][index]][place]

    def place_of(self, lane: int, mode: int) -> tuple[int, int]:
        """Portion of a lane, and its place among those of all slots."""
        return next(
            (portion, sum(self.most[:slot]) + place)
            for portion in QUARTERS
            for slot, most in enumerate(self.most)
            for place in range(most)
            if self.lane(slot, place, index_of(portion, mode)) == lane
        )

    def selection(self, m: Module, portion: Value, samples: Value, name: str) -> Selection:
        """What is chosen by portion and mode."""
        return Selection(m, Cat(portion, samples), self.indexes, name)

    def by_mode(self, m: Module, samples: Value) -> Selection:
        """What is chosen by mode alone."""
        return Selection(m, samples, self._order.modes, "mode")

    def codes(self, selection: Selection, codes: Sequence[Value]) -> list[Value]:
        """Codes of a portion's groups, by slot; 0 where a slot has none."""
        options: Mapping[Hashable, Value] = dict(enumerate(codes))
        return [selection.of(groups, options)[:CODE] for groups in self.groups]

    def length(self, selection: Selection, code: Value, slot: int) -> Value:
        """Bits of a payload: lanes times width."""
        options = {size: (code * (2 * size))[:8] for size in set(self.sizes[slot].values())}
        return selection.of(self.sizes[slot], options)[: (DEPTH * self.most[slot]).bit_length()]
