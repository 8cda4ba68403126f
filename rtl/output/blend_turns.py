# SPDX-License-Identifier: BSD-2-Clause
"""Blend turns: a tile that is blended goes through few lanes, a group of its samples a clock."""

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import lowest
from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.memory.tile_client.slot_front import COMMAND
from fixfunc.rtl.output.sample_interlock import SampleInterlock
from fixfunc.spec.state import SlotOp


def turn_layout(groups: int) -> StructLayout:
    """Which groups of a tile's samples enter, whether they are the tile's first and last ones, and
    whether they go through the lanes.
    """
    return StructLayout({"groups": groups, "first": 1, "last": 1, "blended": 1})


class BlendTurns(wiring.Component):
    """Let a tile of a draw enter in turns, each when no write of its samples is in flight.

    Groups of which no sample is written have no turn. A tile that is not blended has one. All
    planes take the same turns.

    Parameters
    ----------
    samples : int
        Of a tile.
    lanes : int
        Samples of a group, which divide a tile's.
    planes : int
    window, forwarded : int, range
        See :class:`~fixfunc.rtl.output.sample_interlock.SampleInterlock`.

    Members
    -------
    mask : In(samples)
        Samples that the tile that is offered may write.
    clearing : In(1)
        It is a clear's.
    commands : In(ArrayLayout(COMMAND, planes))
        To its slots.
    reads : In(planes)
        What is stored in a plane decides. All of these hold until the tile's last turn.
    enters : In(1)
        The tile enters, or a turn of it. Allowed unless ``stall``, if it is a draw's.
    stall : Out(1)
    last : Out(1)
        No turn of the tile is left.
    groups : Out(samples // lanes)
        Those that have the tile's next turn; all of them, where it is not blended.
    turn : Out(turn_layout(samples // lanes))
        What entered one clock ago; all groups at once where nothing did.
    """

    def __init__(
        self, samples: int, lanes: int, planes: int, window: int, forwarded: range
    ) -> None:
        self._lanes = lanes
        self._interlocks = [
            SampleInterlock(samples, samples // lanes, window, forwarded) for _ in range(planes)
        ]
        super().__init__(
            {
                "mask": In(samples),
                "clearing": In(1),
                "commands": In(ArrayLayout(COMMAND, planes)),
                "reads": In(planes),
                "enters": In(1),
                "stall": Out(1),
                "last": Out(1),
                "groups": Out(samples // lanes),
                "turn": Out(turn_layout(samples // lanes)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        count = len(self.turn.groups)
        taken = Signal(count)
        waiting = Signal(count)
        commands = [self.commands[n] for n in range(len(self.reads))]
        used = Cat(command.valid & has(command.op, SlotOp.USE) for command in commands)
        fills = Cat(has(command.op, SlotOp.FILL) for command in commands)
        turn = Signal.like(self.turn)
        written = Cat(self.mask.word_select(n, self._lanes).any() for n in range(count))
        m.d.comb += [
            turn.blended.eq((used & self.reads).any() & ~self.clearing),
            waiting.eq((written | (used & fills).any().replicate(count)) & ~taken),
            turn.groups.eq(Mux(turn.blended, lowest(waiting), ~0)),
            turn.first.eq(~taken.any()),
            turn.last.eq(~turn.blended | ~(waiting & ~turn.groups).any()),
            self.last.eq(turn.last),
            self.groups.eq(turn.groups),
            self.stall.eq(Cat(interlock.stall for interlock in self._interlocks).any()),
        ]
        whole = self.turn.shape().const({"groups": ~0, "first": 1, "last": 1})
        m.d.sync += self.turn.eq(Mux(self.enters, turn, whole))
        with m.If(self.enters):
            m.d.sync += taken.eq(Mux(turn.last, 0, taken | turn.groups))
        for n, interlock in enumerate(self._interlocks):
            m.submodules[f"interlock_{n}" if n else "interlock"] = interlock
            m.d.comb += [
                interlock.command.eq(commands[n]),
                interlock.groups.eq(turn.groups),
                interlock.mask.eq(self.mask),
                interlock.whole.eq(self.clearing),
                interlock.reads.eq(self.reads[n] & ~self.clearing),
                interlock.enters.eq(self.enters & used[n]),
            ]
        return m
