# SPDX-License-Identifier: BSD-2-Clause
"""Pixel pipe: the colours of tiles, without a shader."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Member, Out

from fixfunc.rtl.frontend.vertex_ring.operation import ATTRIBUTE
from fixfunc.rtl.frontend.vertex_ring.vertex_ring import VertexRingParams
from fixfunc.rtl.lib.bits import gated
from fixfunc.rtl.output.colour_write import ColourWriteParams
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.interpolator.attribute_quads import AttributeQuads
from fixfunc.rtl.pixel.interpolator.interpolator import CONFIGS as INTERPOLATORS
from fixfunc.rtl.pixel.interpolator.interpolator import InterpolatorParams
from fixfunc.rtl.pixel.pixel_pipe.shader_choice import ShaderChoice
from fixfunc.rtl.pixel.pixel_pipe.stage_feed import StageFeed
from fixfunc.rtl.pixel.pixel_pipe.texture_reads import COUNTED as TEXELS_COUNTED
from fixfunc.rtl.pixel.pixel_pipe.texture_reads import TextureReads, count_texels
from fixfunc.rtl.pixel.pixel_pipe.tile_feed import TileFeed
from fixfunc.rtl.pixel.pixel_pipe.tile_gather import TileGather
from fixfunc.rtl.pixel.pixel_pipe.triangle_fetch import TriangleFetch
from fixfunc.rtl.pixel.pixel_pipe.triangle_table import BEAT, STATE, TriangleTable
from fixfunc.rtl.pixel.quad_dispatch import QuadDispatch, QuadDispatchParams
from fixfunc.rtl.pixel.texture_stage import BEATS, TextureStage, TextureStageParams
from fixfunc.rtl.texture.unit.layouts import TextureUnitParams
from fixfunc.rtl.texture.unit.texture_unit import TextureUnit
from fixfunc.spec import commands
from fixfunc.spec.colours import colours, format_name, quads
from fixfunc.spec.commands import SLOT_BITS
from fixfunc.spec.errors import InputError
from fixfunc.spec.pixels.texture_stage import StageKind, shaded_quad
from fixfunc.spec.points import QUAD_SAMPLES
from fixfunc.spec.textures.unit import TEXTURED_QUAD

COUNTED = StructLayout({"quads": 1, "helpers": 3, "attributes": 1})


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
        As many attributes as the vertex ring has. Inner coverage is for a shader outside.
    stage : bool
        The texture stage shades quads; else what is outside takes its place.
    texture : TextureUnitParams, optional
        What the texture stage samples textures by, or a shader outside; None: there are no
        textures.
    """

    triangles: int = 512
    states: int = 8
    interpolator: InterpolatorParams = INTERPOLATORS["default"]
    stage: bool = True
    texture: TextureUnitParams | None = None

    def __post_init__(self):
        for name, least in (("triangles", 4), ("states", 2)):
            value = getattr(self, name)
            if value < least or value & value - 1:
                raise InputError(name, f"be a power of two from {least} on", value)
        if self.triangles * self.states > 1 << SLOT_BITS:
            rule = f"be at most {(1 << SLOT_BITS) // self.states}, with so many states"
            raise InputError("triangles", rule, self.triangles)
        if self.interpolator.inner and self.stage:
            rule = "be False with the texture stage, which does not take it"
            raise InputError("interpolator.inner", rule, True)


def shader_of_quads(params: PixelPipeParams | None, outputs: int) -> dict[str, Member]:
    """Members that a pipe, and the top around it, have for a shader of quads outside."""
    if params is None or params.stage:
        return {}
    shader = {
        "attributes": Out(stream.Signature(BEATS)),
        "shaded": In(stream.Signature(layout(shaded_quad(outputs)))),
    }
    textures = params.texture and {
        "texture_requests": In(stream.Signature(params.texture.requests)),
        "texture_results": Out(stream.Signature(layout(TEXTURED_QUAD))),
    }
    return shader | (textures or {})


class PixelPipe(wiring.Component):
    """Colours of tiles from attributes of their triangles' corners, by the texture stage.

    Quads of tiles in order, an attribute a clock, and a clock for every output up to the last that
    is asked for: colour planes, each in its format, and a second colour for the first. The texture
    stage gives all of them the one colour. A triangle with its quads takes three clocks at least,
    and three for each attribute; a new pixel state takes three.

    Parameters
    ----------
    params : PixelPipeParams
    ring : VertexRingParams
        Where attributes are.
    target : ColourWriteParams
        What takes the colours: its tiles, its planes with their formats, and how many tiles can be
        on their way. Shaders may put out depths there; this one does not.

    Members
    -------
    restart, i, o, corners, state, returned
        Triangles on their way to the setup: see
        :class:`~fixfunc.rtl.pixel.pixel_pipe.triangle_table.TriangleTable`.
    fenced : In(1)
        A FENCE has ended: memory may have changed, and no texel of the texture stage stays on chip.
    slot, attribute, found
        As of the vertex ring.
    quads, colours : In(stream.Signature(layout(quads(edge, outputs)))), Out(...)
        Tiles in order, and their colours, of :func:`fixfunc.spec.colours.colours`.
    outside, outside_colours : Out, In
        The same, of tiles for a shader outside.
    attributes, shaded : Out(stream.Signature(BEATS)), In(stream.Signature(...))
        Quads with their attributes and pixel states, as the texture stage takes them, and what is
        made of them, in order: colours of :func:`fixfunc.spec.pixels.texture_stage.shaded_quad`.
        Absent with ``params.stage``.
    texture_requests, texture_results : In(stream.Signature(params.texture.requests)), Out
        Texture states and quads of the shader outside, and texels, in order, at any pace: as of
        :class:`~fixfunc.rtl.texture.unit.texture_unit.TextureUnit`. Absent with ``params.stage``.
    texture : In(layout(params.texture.sampled))
        What a pixel state samples that comes now. Absent without ``params.stage``.
    texture_memory : Out(Axi(...))
        Textures are read through it.
    sampled, failed : Out(texture_reads.COUNTED), Out(1)
        Blocks and lines of quads, whether a line could not be read. They and the four before are
        absent without ``params.texture``.
    counted : Out(COUNTED)
        What goes by in this clock: quads, pixels of these that are helpers, attributes of quads.
    """

    def __init__(
        self, params: PixelPipeParams, ring: VertexRingParams, target: ColourWriteParams
    ) -> None:
        self._params = params
        self._ring = ring
        self._target = target
        edge, depths, outputs = target.edge, target.shader_depths, target.outputs
        self._table = TriangleTable(params.triangles, params.states)
        super().__init__(
            shader_of_quads(params, outputs)
            | (self._textures() if params.texture else {})
            | {
                "restart": In(1),
                "fenced": In(1),
                "i": In(stream.Signature(BEAT)),
                "o": Out(stream.Signature(BEAT)),
                "corners": In(layout(commands.RING_TRIANGLE)),
                "state": In(stream.Signature(STATE)),
                "returned": In(self._table.returned.shape()),
                "slot": Out(range(ring.slots)),
                "attribute": Out(range(ring.attributes)),
                "found": In(ATTRIBUTE),
                "quads": In(stream.Signature(layout(quads(edge, outputs)))),
                "colours": Out(stream.Signature(layout(colours(edge, depths, outputs)))),
                "outside": Out(stream.Signature(layout(quads(edge, outputs)))),
                "outside_colours": In(stream.Signature(layout(colours(edge, depths, outputs)))),
                "counted": Out(COUNTED),
            }
        )

    def _textures(self):
        """Members that a texture unit has."""
        p = self._params
        self._reads = TextureReads(p.texture, p.states) if p.stage else TextureUnit(p.texture)
        return ({"texture": In(layout(p.texture.sampled))} if p.stage else {}) | {
            "texture_memory": self._reads.signature.members["memory"],
            "sampled": Out(TEXELS_COUNTED),
            "failed": Out(1),
        }

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        target = self._target
        components = p.interpolator.components
        m.submodules.table = table = self._table
        m.submodules.dispatch = dispatch = QuadDispatch(QuadDispatchParams(target.edge))
        m.submodules.tile_feed = tiles = TileFeed(target.edge, p.interpolator.triangles)
        m.submodules.fetch = fetch = TriangleFetch(self._ring)
        m.submodules.interpolator = interpolator = AttributeQuads(p.interpolator)
        m.submodules.stage_feed = feed = StageFeed(components, p.triangles, p.states)
        shape = target.edge, target.shader_depths, target.outputs
        quad_colours = 1 if p.stage else target.outputs
        m.submodules.gather = gather = TileGather(
            *shape, target.formats, target.shading, quad_colours, target.floats
        )
        for name in ("i", "state"):
            wiring.connect(m, wiring.flipped(getattr(self, name)), getattr(table, name))
        wiring.connect(m, table.o, wiring.flipped(self.o))
        m.submodules.choice = choice = ShaderChoice(*shape, target.shading)
        wiring.connect(m, gather.o, choice.built_in_colours)
        wiring.connect(m, choice.outside, wiring.flipped(self.outside))
        for name in ("quads", "outside_colours"):
            wiring.connect(m, wiring.flipped(getattr(self, name)), getattr(choice, name))
        wiring.connect(m, choice.colours, wiring.flipped(self.colours))
        self._take_tiles(m, choice.built_in, tiles, gather, table)
        wiring.connect(m, tiles.tiles, dispatch.i)
        wiring.connect(m, dispatch.o, tiles.quads)
        wiring.connect(m, tiles.request, fetch.i)
        wiring.connect(m, tiles.o, interpolator.quads)
        wiring.connect(m, interpolator.o, feed.i)
        if p.stage:
            textured = p.texture is not None
            m.submodules.stage = stage = TextureStage(TextureStageParams(textured=textured))
            wiring.connect(m, self._sample(m, feed, table) if textured else feed.o, stage.i)
            wiring.connect(m, stage.o, gather.i)
        else:
            wiring.connect(m, feed.o, wiring.flipped(self.attributes))
            wiring.connect(m, wiring.flipped(self.shaded), gather.i)
            if p.texture:
                self._sample_outside(m)
        row_bits = len(table.row)
        request = fetch.i.payload
        m.d.comb += [
            table.restart.eq(self.restart),
            table.corners.eq(self.corners),
            table.returned.eq(self.returned),
            table.shaded.valid.eq(interpolator.o.valid & interpolator.o.ready),
            table.shaded.slot.eq(interpolator.o.payload.slot),
            table.looks_up.eq(fetch.looks_up),
            table.row.eq(request[:row_bits]),
            table.state_row.eq(request[row_bits:]),
            table.stage_row.eq(feed.state_row),
            tiles.forget.eq(self.restart | self.returned.valid),
            tiles.fetched.eq(fetch.o.valid & fetch.o.ready & fetch.o.payload.last),
            interpolator.current.eq(tiles.current),
            interpolator.triangles.valid.eq(fetch.o.valid),
            interpolator.triangles.payload.eq(fetch.o.payload.beat),
            fetch.o.ready.eq(interpolator.triangles.ready),
            fetch.row.eq(table.found),
            fetch.state.eq(table.state_found),
            fetch.found.eq(self.found),
            self.slot.eq(fetch.slot),
            self.attribute.eq(fetch.attribute),
            feed.restart.eq(self.restart),
            feed.renewed.eq(table.renewed),
            feed.state.eq(table.stage_found),
        ]
        self._count(m, dispatch.o, feed.o)
        return m

    def _sample(self, m, feed, table):
        """Quads get texels on their way to the texture stage."""
        m.submodules.reads = reads = self._reads
        wiring.connect(m, feed.o, reads.i)
        wiring.connect(m, reads.memory, wiring.flipped(self.texture_memory))
        m.d.comb += [
            reads.renewed.eq(table.renewed),
            reads.texture.eq(self.texture),
            reads.number.eq(feed.state_row),
            reads.state.eq(table.stage_found),
            reads.forget.eq(self.restart | self.fenced),
            self.sampled.eq(reads.counted),
            self.failed.eq(reads.failed),
        ]
        return reads.o

    def _sample_outside(self, m):
        """A shader outside samples textures as it likes."""
        m.submodules.texture_unit = unit = self._reads
        wiring.connect(m, wiring.flipped(self.texture_requests), unit.i)
        wiring.connect(m, unit.o, wiring.flipped(self.texture_results))
        wiring.connect(m, unit.memory, wiring.flipped(self.texture_memory))
        m.d.comb += [
            unit.forget.eq(self.restart),
            *count_texels(m, unit.o, self.sampled, self.failed),
        ]

    def _count(self, m, quads, attributes):
        """What goes by."""
        moves = quads.valid & quads.ready
        mask = quads.payload.mask
        helpers = [~mask.word_select(n, QUAD_SAMPLES).any() for n in range(4)]
        is_quad = attributes.payload.kind == StageKind.QUAD
        m.d.comb += [
            self.counted.quads.eq(moves),
            self.counted.helpers.eq(gated(sum(helpers), moves)),
            self.counted.attributes.eq(attributes.valid & attributes.ready & is_quad),
        ]

    def _take_tiles(self, m, tiles, feed, gather, table):
        """Tiles enter; under some pixel states a quad of them is of one sample. Formats of their
        outputs wait for the colours."""
        tile = tiles.payload
        out = feed.i.payload
        number = tile.slot[len(table.row) :][: len(table.state_row)]
        m.d.comb += [
            feed.i.valid.eq(tiles.valid & gather.tiles.ready),
            tiles.ready.eq(feed.i.ready & gather.tiles.ready),
            gather.tiles.valid.eq(tiles.valid & feed.i.ready),
            *(
                gather.tiles.payload[output].eq(tile[format_name(output)])
                for output in range(self._target.outputs)
            ),
            *(out[name].eq(tile[name]) for name in ("slot", "x", "y", "samples", "back")),
            *(out[name].eq(tile[name]) for name in ("mask", "covered")),
            out.by_sample.eq(table.by_sample.bit_select(number, 1)),
        ]
