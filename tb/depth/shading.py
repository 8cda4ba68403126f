# SPDX-License-Identifier: BSD-2-Clause
"""A depth test with a shader behind it, so that its bench has one stream in."""

import numpy as np
from amaranth.hdl import Array, Cat, Module, Mux, Signal
from amaranth.lib import fifo, stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.models.depth.depth_unit import Shaded
from fixfunc.models.formats import MOST
from fixfunc.rtl.payload import beat, layout
from fixfunc.spec import payloads
from fixfunc.spec.state import DepthFormat, Kind
from fixfunc.tb.depth.noise import sometimes

WAITING = 256
MOVES = 12  # bit of a tile's z0: its conservative depths move


class Harness(wiring.Component):
    """A unit whose tiles, where their draw is written late, come back sooner or later.

    What is discarded, and which depths are put out, is made up from the tile: a golden model can do
    the same. Conservative depths stay, or move to the end of their direction. Where tiles may be
    rejected early, no depths are put out. All that goes out is passed on as well.

    Broken promises show as beats that are inverted: one that goes out where ``flush_early`` has
    announced a fence that flushes, and one that HiZ gives while ``hiz_stalls`` says that it waits.

    Parameters
    ----------
    unit : wiring.Component
        A :class:`~fixfunc.rtl.depth.test.depth_test.DepthTest`, or another with its streams
        ``shaded`` and ``answers``. Where ``shaded`` has ``survivors`` and no tile, tiles without
        samples are not shaded.
    edge : int
        Samples along a tile's edge.
    """

    def __init__(self, unit, edge):
        self._unit = unit
        self._edge = edge
        members = unit.signature.members
        self._ports = [
            name
            for name, member in members.items()
            if member.flow is Out and name not in ("o", "saved")
        ]
        shape = beat(tile=payloads.tile(edge), **payloads.CONTROL)
        super().__init__(
            {"i": In(stream.Signature(shape)), "o": members["o"]}
            | {name: members[name] for name in self._ports}
        )

    def elaborate(self, platform):
        m = Module()
        m.submodules.unit = unit = self._unit
        for name in self._ports:
            inner, outer = getattr(unit, name), getattr(self, name)
            if unit.signature.members[name].is_port:
                m.d.comb += outer.eq(inner)
            else:
                wiring.connect(m, inner, wiring.flipped(outer))
        wiring.connect(m, wiring.flipped(self.i), unit.i)
        if "hiz_stalls" in unit.signature.members:
            with m.If(unit.hiz_stalls):
                m.d.comb += self.probe_hiz.payload.eq(~unit.probe_hiz.payload.as_value())

        # Tiles of draws that are written late go to the shader; the draw state goes by in the same
        # stream.
        tile = layout(payloads.tile(self._edge))
        m.submodules.shader = shader = fifo.SyncFIFOBuffered(width=tile.size, depth=WAITING)
        late = Signal()
        replaces = Signal()
        raised = Signal()
        lowered = Signal()
        form = Signal(2)
        sent = Signal()
        beat_out = unit.o.payload
        shades = 1
        if "survivors" in unit.shaded.payload.shape().members:
            shades = beat_out.tile.mask.any()
        m.d.comb += [
            self.o.payload.eq(Mux(self._broken(m, sent), ~beat_out.as_value(), beat_out)),
            self.o.valid.eq(unit.o.valid & shader.w_rdy),
            unit.o.ready.eq(self.o.ready & shader.w_rdy),
            sent.eq(unit.o.valid & unit.o.ready),
            shader.w_data.eq(beat_out.tile),
            shader.w_en.eq(sent & (beat_out.kind == Kind.WORK) & late & shades),
        ]
        with m.If(sent & (beat_out.kind == Kind.STATE)):
            state = beat_out.draw_state
            m.d.sync += [
                late.eq(~state.early_write),
                replaces.eq(~state.early_reject),
                raised.eq(state.depth_raised),
                lowered.eq(state.depth_lowered),
                form.eq(state.depth_format),
            ]

        # Sooner or later.
        offered = Signal()
        enable = sometimes(m, 256)
        with m.If(~offered | unit.shaded.ready):
            m.d.sync += offered.eq(shader.r_rdy & ~(offered & (shader.level == 1)) & enable)
        m.d.comb += [
            unit.shaded.valid.eq(offered),
            shader.r_en.eq(offered & unit.shaded.ready),
        ]
        self._shade(m, tile(shader.r_data), replaces, raised, lowered, form)
        return m

    def _broken(self, m, sent):
        """Whether the beat that goes out is not the fence that has been announced."""
        unit = self._unit
        if "flush_early" not in unit.signature.members:
            return 0
        beat = unit.o.payload
        announced = Signal()
        with m.If(unit.flush_early):
            m.d.sync += announced.eq(1)
        with m.Elif(sent):
            m.d.sync += announced.eq(0)
        return announced & ~((beat.kind == Kind.FENCE) & beat.fence.flush)

    def _shade(self, m, tile, replaces, raised, lowered, form):
        """As :func:`shade`."""
        shaded = self._unit.shaded.payload
        lanes = self._edge**2
        surviving = ~Cat(tile.z0[n % 16] & tile.dx[n % 13] for n in range(lanes))
        if "survivors" in shaded.shape().members:
            m.d.comb += shaded.survivors.eq(surviving)
        else:
            m.d.comb += [shaded[name].eq(tile[name]) for name in tile.shape().members]
            m.d.comb += shaded.mask.eq(tile.mask & surviving)
        if "replaces" in shaded.shape().members:
            z0 = tile.z0[:32]
            base = Array([z0 >> 16, z0 >> 8, (z0 >> 9) | 0x3F000000, 0])[form]
            limit = Mux(raised, Array([*MOST.values(), 0])[form], 0)
            moved = raised | lowered
            m.d.comb += [
                shaded.replaces.eq(Mux(moved, tile.z0[MOVES], replaces)),
                *(shaded[f"depth{n}"].eq(Mux(moved, limit, base ^ n)) for n in range(lanes)),
            ]


def shade(tiles, state, edge, depths):
    """What the shader makes of tiles: :class:`~fixfunc.models.depth.depth_unit.Shaded`."""
    z0 = tiles["z0"].astype(np.int64)[:, None] & (1 << 32) - 1
    dx = tiles["dx"].astype(np.int64)[:, None]
    n = np.arange(edge**2)
    surviving = ~((z0 >> n % 16) & (dx >> n % 13) & 1).astype(bool)
    base = {
        DepthFormat.D16: z0 >> 16,
        DepthFormat.D24: z0 >> 8,
        DepthFormat.D32F: z0 >> 9 | 0x3F000000,
    }.get(int(state["depth_format"]), 0 * z0)
    shape = (len(tiles), edge, edge)
    replaced = (base ^ n).astype(np.uint32).reshape(shape)
    if depths and (state["depth_raised"] or state["depth_lowered"]):
        limit = MOST[DepthFormat(state["depth_format"])] if state["depth_raised"] else 0
        moves = (tiles["z0"] >> MOVES & 1).astype(bool)
        return Shaded(surviving.reshape(shape), np.full(shape, limit, np.uint32), moves)
    replaces = depths and not state["early_reject"]
    return Shaded(surviving.reshape(shape), replaced if replaces else None)
