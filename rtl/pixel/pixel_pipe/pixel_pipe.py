# SPDX-License-Identifier: BSD-2-Clause
"""Pixel pipe: the colours of tiles, without a shader."""

from dataclasses import dataclass, field, replace

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.frontend.vertex_ring.operation import ATTRIBUTE
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRingParams
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.interpolator.interpolator import CONFIGS as INTERPOLATORS
from fixfunc.rtl.pixel.interpolator.interpolator import Interpolator, InterpolatorParams
from fixfunc.rtl.pixel.pixel_pipe.corner_feed import CornerFeed
from fixfunc.rtl.pixel.pixel_pipe.stage_feed import StageFeed
from fixfunc.rtl.pixel.pixel_pipe.tile_gather import TileGather
from fixfunc.rtl.pixel.pixel_pipe.triangle_table import BEAT, STATE, TriangleTable
from fixfunc.rtl.pixel.quad_dispatch import QuadDispatch, QuadDispatchParams
from fixfunc.rtl.pixel.texture_stage import TextureStage, TextureStageParams
from fixfunc.spec import commands
from fixfunc.spec.colours import colours, quads
from fixfunc.spec.commands import SLOT_BITS
from fixfunc.spec.errors import InputError


@dataclass(frozen=True)
class PixelPipeParams:
    """Shape of a :class:`PixelPipe`.

    Parameters
    ----------
    triangles : int
        Most on their way from the reader to their colours: a power of two from 4 on.
    states : int
        Most pixel states that these have: a power of two from 2 on. The product is at most 4096.
    interpolator : InterpolatorParams
        As many attributes as the vertex ring has.
    """

    triangles: int = 512
    states: int = 8
    interpolator: InterpolatorParams = field(default=INTERPOLATORS["default"])

    def __post_init__(self):
        for name, least in (("triangles", 4), ("states", 2)):
            value = getattr(self, name)
            if value < least or value & value - 1:
                raise InputError(name, f"be a power of two from {least} on", value)
        if self.triangles * self.states > 1 << SLOT_BITS:
            rule = f"be at most {(1 << SLOT_BITS) // self.states}, with so many states"
            raise InputError("triangles", rule, self.triangles)


CONFIGS = {
    "default": PixelPipeParams(),
    "tiny": PixelPipeParams(8, 2, replace(INTERPOLATORS["tiny"], attributes=4)),
}
PURPOSE = {  # of each configuration
    "default": "an attribute of a quad a clock",
    "tiny": "for benches: one component, eight triangles",
}


class PixelPipe(wiring.Component):
    """Colours of tiles from attributes of their triangles' corners, by the texture stage.

    Quads of tiles in order, one a clock with one attribute; a new triangle takes two clocks more,
    and five for each attribute, a new pixel state three.

    Parameters
    ----------
    params : PixelPipeParams
    ring : VertexRingParams
        Where attributes are.
    edge : int
        Samples along a tile's edge.
    depths : bool
        Shaders may put out depths: this one does not.

    Members
    -------
    restart, i, o, corners, state, returned
        Triangles on their way to the setup: see
        :class:`~fixfunc.rtl.pixel.pixel_pipe.triangle_table.TriangleTable`.
    slot, attribute, found
        As of the vertex ring.
    quads : In(stream.Signature(layout(quads(edge))))
        Tiles of these triangles, in order.
    colours : Out(stream.Signature(layout(colours(edge, depths))))
        The same, coloured.
    """

    def __init__(
        self, params: PixelPipeParams, ring: VertexRingParams, edge: int, depths: bool
    ) -> None:
        self._params = params
        self._ring = ring
        self._edge = edge
        self._depths = depths
        self._table = TriangleTable(params.triangles, params.states)
        super().__init__(
            {
                "restart": In(1),
                "i": In(stream.Signature(BEAT)),
                "o": Out(stream.Signature(BEAT)),
                "corners": In(layout(commands.RING_TRIANGLE)),
                "state": In(stream.Signature(STATE)),
                "returned": In(self._table.returned.shape()),
                "slot": Out(range(ring.slots)),
                "attribute": Out(range(ring.attributes)),
                "found": In(ATTRIBUTE),
                "quads": In(stream.Signature(layout(quads(edge)))),
                "colours": Out(stream.Signature(layout(colours(edge, depths)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        components = p.interpolator.components
        m.submodules.table = table = self._table
        m.submodules.dispatch = dispatch = QuadDispatch(QuadDispatchParams(self._edge))
        m.submodules.corner_feed = corners = CornerFeed(self._ring)
        m.submodules.interpolator = interpolator = Interpolator(p.interpolator)
        m.submodules.stage_feed = feed = StageFeed(components, p.triangles, p.states)
        m.submodules.stage = stage = TextureStage(TextureStageParams(textured=False))
        m.submodules.gather = gather = TileGather(self._edge, self._depths)
        for name in ("i", "state"):
            wiring.connect(m, wiring.flipped(getattr(self, name)), getattr(table, name))
        wiring.connect(m, table.o, wiring.flipped(self.o))
        self._dispatch(m, dispatch, table)
        wiring.connect(m, dispatch.o, corners.i)
        wiring.connect(m, corners.o, interpolator.i)
        wiring.connect(m, interpolator.o, feed.i)
        wiring.connect(m, feed.o, stage.i)
        wiring.connect(m, stage.o, gather.i)
        wiring.connect(m, gather.o, wiring.flipped(self.colours))
        row_bits = len(table.row)
        loaded = dispatch.o.payload.slot
        m.d.comb += [
            table.restart.eq(self.restart),
            table.corners.eq(self.corners),
            table.returned.eq(self.returned),
            table.shaded.valid.eq(interpolator.o.valid & interpolator.o.ready),
            table.shaded.slot.eq(interpolator.o.payload.slot),
            table.row.eq(loaded[:row_bits]),
            table.state_row.eq(loaded[row_bits:]),
            table.stage_row.eq(feed.state_row),
            corners.forget.eq(self.restart | self.returned.valid),
            corners.row.eq(table.found),
            corners.state.eq(table.state_found),
            corners.found.eq(self.found),
            self.slot.eq(corners.slot),
            self.attribute.eq(corners.attribute),
            feed.restart.eq(self.restart),
            feed.renewed.eq(table.renewed),
            feed.state.eq(table.stage_found),
        ]
        return m

    def _dispatch(self, m, dispatch, table):
        """Tiles become quads; under some pixel states one of each sample."""
        tile = self.quads.payload
        out = dispatch.i.payload
        number = tile.slot[len(table.row) :][: len(table.state_row)]
        m.d.comb += [
            dispatch.i.valid.eq(self.quads.valid),
            self.quads.ready.eq(dispatch.i.ready),
            *(out[name].eq(tile[name]) for name in ("slot", "x", "y", "samples", "back", "mask")),
            out.covered.eq(tile.mask),
            out.by_sample.eq(table.by_sample.bit_select(number, 1)),
        ]
