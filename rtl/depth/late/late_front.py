# SPDX-License-Identifier: BSD-2-Clause
"""Late front: a slot front whose tiles may go out for shading, and come back to be written."""

from collections.abc import Sequence
from typing import Any

from amaranth.hdl import Cat, Module, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.late.late_z import LateZScoreboard
from fixfunc.rtl.lib.fifo import CreditedFIFO
from fixfunc.rtl.memory.tile_cache.layouts import has
from fixfunc.rtl.memory.tile_client.slot_front import HELD, SlotFront
from fixfunc.rtl.payload import layout
from fixfunc.spec import payloads
from fixfunc.spec.state import Kind, SlotOp

MOST = 128  # tiles that are out
INNER = ("stall", "stays", "drained", "late_tile", "late_refused")  # members of the slot front


class LateFront(wiring.Component):
    """Let tiles of late draws through twice: before they are shaded, and when they come back.

    Everything else passes as in :class:`~fixfunc.rtl.memory.tile_client.slot_front.SlotFront`. A
    late draw is one that does not let its tiles be written early.

    Such a tile keeps its slots meanwhile. Each plane has a late-Z scoreboard of its slots. A tile
    of a late draw waits while one with a sample of its own is out, and where it replaces the tile
    of its slot while that is out; an EVICT of no tile waits for all tiles of its slot. No command
    of a cache is needed for a tile that comes back, so nothing that waits here is in its way. A
    tile of which an early test leaves no sample is not shaded: it comes back by itself, in its
    order; one that has nothing to change then leaves its slots, and does not enter again.

    Parameters
    ----------
    params : DepthTestParams
    planes, bits, latency
        See :class:`~fixfunc.rtl.memory.tile_client.slot_front.SlotFront`.

    Members
    -------
    Those of :class:`~fixfunc.rtl.memory.tile_client.slot_front.SlotFront`, except inputs of late
    tiles, and
    late_draw : Out(1)
        Tiles of the draw state are written late.
    late_room : In(1)
        The block behind can take a tile that comes back.
    late_enters : Out(1)
        A tile that comes back enters.
    late_shaded : Out(1)
        It has been shaded.
    tested, tested_tile, tested_finished : In(1), In, In(1)
        A tile of a late draw has been tested early: with the samples that go to the shader. It is
        finished if there are none, and it has nothing to change.
    shaded : In(stream.Signature(layout(payloads.survivors(params.edge, params.shader_depths))))
        One for each tile of a late draw of which a sample goes to the shader.
    shader : Out
        Depths that it puts out for the tile that enters. Only with ``params.shader_depths``.
    """

    legal = 1  # as of the slot front

    def __init__(self, params: Any, planes: Sequence, bits: Sequence[int], latency: int) -> None:
        self._params = params
        self._names = [plane.name for plane in planes]
        self._front = SlotFront(params.edge, planes, bits, latency)
        inner = {*INNER, *(f"{name}_{of}" for name in self._names for of in ("hold", "late"))}
        self._passed_on = {
            name: member
            for name, member in self._front.signature.members.items()
            if name not in (*inner, "late_enters")
        }
        tile = layout(payloads.tile(params.edge))
        survivors = layout(payloads.survivors(params.edge, params.shader_depths))
        members = {
            "late_draw": Out(1),
            "late_room": In(1),
            "late_enters": Out(1),
            "late_shaded": Out(1),
            "tested": In(1),
            "tested_tile": In(tile),
            "tested_finished": In(1),
            "shaded": In(stream.Signature(survivors)),
        }
        if params.shader_depths:
            depths = ArrayLayout(params.depth_bits, params.edge**2)
            members["shader"] = Out(StructLayout({"replaces": 1, "depths": depths}))
        super().__init__(self._passed_on | members)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.front = front = self._front
        for name, member in self._passed_on.items():
            inner, outer = getattr(front, name), getattr(self, name)
            if member.is_signature:
                wiring.connect(m, wiring.flipped(outer), inner)
            elif member.flow is In:
                m.d.comb += inner.eq(outer)
            else:
                m.d.comb += outer.eq(inner)
        boards = [self._scoreboard(m, front, n, name) for n, name in enumerate(self._names)]
        m.d.comb += [
            self.late_draw.eq(~front.state.early_write),
            front.stall.eq(Cat(board.stall for board in boards).any()),
            front.drained.eq(boards[0].idle),  # each counts all tiles
        ]
        self._come_back(m, front, boards)
        return m

    def _scoreboard(self, m, front, number, name):
        """Slots of a plane whose tiles are out. A tile is offered once its slot is known."""
        m.submodules[f"late_{name}"] = board = LateZScoreboard(
            MOST, self._params.tiles, self._params.edge**2
        )
        request = self.i.payload
        command = getattr(self, name)
        drawn = (request.beat.kind == Kind.WORK) & ~request.clearing
        op = command.payload.op
        m.d.comb += [
            board.late_draw.eq(self.late_draw),
            board.is_held.eq(request.requested[number]),
            board.tests.eq(front.state.early_reject),
            board.offered.eq(self.i.valid & drawn & command.valid & has(op, SlotOp.USE)),
            board.place.eq(command.payload.slot),
            board.mask.eq(request.beat.tile.mask),
            board.is_replacement.eq(op != SlotOp.USE),
            board.accept.eq(front.accept),
            getattr(front, f"{name}_hold").eq(self._hold(m, board, command, name)),
        ]
        return board

    def _hold(self, m, board, command, name):
        """Whether an EVICT must not touch its slot yet.

        A command is looked up in the first clock in which it is offered, unless no tile is out.
        """
        looked_up = Signal(name=f"{name}_looked_up")
        occupied = Signal(name=f"{name}_occupied")
        m.d.sync += [
            looked_up.eq(command.valid & ~command.ready),
            occupied.eq(board.is_occupied(command.payload.slot[: len(board.place)])),
        ]
        return ~board.idle & (~looked_up | occupied)

    def _come_back(self, m, front, boards):
        """Tiles and their slots wait for the shader, in order."""
        held = StructLayout(dict.fromkeys(self._names, HELD) | {"refused": 1})
        waiting = StructLayout({"tile": self.tested_tile.shape(), "shaded": 1, "finished": 1})
        m.submodules.slots = slots = fifo.SyncFIFOBuffered(width=held.size, depth=MOST)
        m.submodules.tiles = tiles = CreditedFIFO(waiting, MOST)
        slot = held(slots.r_data)
        leaves = Signal()
        m.d.comb += [
            leaves.eq(self.late_enters | (tiles.o.valid & tiles.o.payload.finished)),
            slots.w_en.eq(front.tile_valid & ~front.clearing & ~front.is_late & self.late_draw),
            held(slots.w_data).refused.eq(front.refused),
            slots.r_en.eq(leaves),
            front.late_refused.eq(slot.refused),
            tiles.consume.eq(front.accept & self.late_draw),
            tiles.push.eq(self.tested),
            tiles.i.tile.eq(self.tested_tile),
            tiles.i.shaded.eq(self.tested_tile.mask.any()),
            tiles.i.finished.eq(self.tested_finished),
            tiles.o.ready.eq(leaves),
        ]
        for name, board in zip(self._names, boards, strict=True):
            command = getattr(front, f"{name}_command")
            m.d.comb += [
                board.back.eq(leaves),
                board.back_held.eq(slot[name].valid),
                board.back_place.eq(slot[name].slot),
                held(slots.w_data)[name].valid.eq(command.valid),
                held(slots.w_data)[name].slot.eq(command.slot),
                getattr(front, f"{name}_late").eq(slot[name]),
            ]
        tile = tiles.o.payload.tile
        result = self.shaded.payload
        shaded = tiles.o.payload.shaded
        returns = tiles.o.valid & ~tiles.o.payload.finished & (~shaded | self.shaded.valid)
        m.d.comb += [
            self.late_shaded.eq(shaded),
            self.late_enters.eq(returns & self.late_room),
            self.shaded.ready.eq(self.late_enters & shaded),
            front.late_enters.eq(self.late_enters),
            front.late_tile.eq(tile),
            front.late_tile.mask.eq(tile.mask & result.survivors),
        ]
        if self._params.shader_depths:
            m.d.comb += self.shader.replaces.eq(result.replaces & self.late_enters & shaded)
            for n in range(self._params.edge**2):
                m.d.comb += self.shader.depths[n].eq(result[f"depth{n}"])
