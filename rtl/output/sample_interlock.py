# SPDX-License-Identifier: BSD-2-Clause
"""Sample interlock: no sample is read while a write of it is in flight."""

from itertools import pairwise

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.memory.tile_client.slot_front import COMMAND
from fixfunc.spec.state import SlotOp


class SampleInterlock(wiring.Component):
    """Stall a tile that reads samples which a tile before it, in the same slot, writes.

    Neighbours of a mesh share tiles and no samples: they follow one another in consecutive clocks.
    A tile that is filled, or cleared, writes all of its slot. One that is filled reads no slot.
    A tile may enter in several turns, each of samples of its own.

    Parameters
    ----------
    lanes : int
        Samples of a tile.
    groups : int
        Of samples, which have turns of their own.
    window : int
        Least distance in clocks between two tiles of which the later reads what the other writes.
    forwarded : range
        Distances below that at which the later is given what the other writes.

    Members
    -------
    command : In(COMMAND)
        To the slot of the tile that is offered.
    groups : In(groups)
        Those that have their turn.
    mask : In(lanes)
        Samples that it may write, in this turn or another.
    whole : In(1)
        It writes all samples.
    reads : In(1)
        What is stored decides what it writes.
    enters : In(1)
        The command is accepted. Allowed unless ``stall``, if it is a USE.
    stall : Out(1)
    """

    def __init__(self, lanes: int, groups: int, window: int, forwarded: range) -> None:
        self._window = window
        self._forwarded = forwarded
        super().__init__(
            {
                "command": In(COMMAND),
                "groups": In(groups),
                "mask": In(lanes),
                "whole": In(1),
                "reads": In(1),
                "enters": In(1),
                "stall": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        command = self.command
        fills = has(command.op, SlotOp.FILL)
        in_flight = StructLayout({"valid": 1, "slot": len(command.slot), "mask": len(self.mask)})
        earlier = [Signal(in_flight, name=f"earlier_{n}") for n in range(1, self._window)]
        size = len(self.mask) // len(self.groups)
        turn = Cat(group.replicate(size) for group in self.groups)
        m.d.sync += [
            earlier[0].valid.eq(self.enters & has(command.op, SlotOp.USE)),
            earlier[0].slot.eq(command.slot),
            earlier[0].mask.eq(turn & (self.mask | (self.whole | fills).replicate(len(turn)))),
            *(later.eq(preceding) for preceding, later in pairwise(earlier)),
        ]
        # Of every group, before it is known which has its turn.
        hazards = Cat(
            tile.valid
            & (tile.slot == command.slot)
            & Cat(
                group & (tile.mask & self.mask).word_select(n, size).any()
                for n, group in enumerate(self.groups)
            ).any()
            for distance, tile in enumerate(earlier, 1)
            if distance not in self._forwarded
        )
        m.d.comb += self.stall.eq(command.valid & self.reads & ~fills & hazards.any())
        return m
