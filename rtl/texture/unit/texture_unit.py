# SPDX-License-Identifier: BSD-2-Clause
"""Texture unit: coordinates of quads become filtered texels of textures in memory."""

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.data import UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.addresses import addresses
from fixfunc.rtl.texture.cache import texture_cache
from fixfunc.rtl.texture.filter.filter import Filter
from fixfunc.rtl.texture.level_of_detail.level_of_detail import LevelOfDetail, LevelOfDetailParams
from fixfunc.rtl.texture.unit.converted_queue import ConvertedQueue
from fixfunc.rtl.texture.unit.grid_rounds import GridRounds
from fixfunc.rtl.texture.unit.layers import LayerNumbers, enter_layers
from fixfunc.rtl.texture.unit.layouts import (
    COUNTS,
    LEVELS,
    PIXELS,
    QUADS,
    WEIGHTS,
    TextureUnitParams,
)
from fixfunc.rtl.texture.unit.places import Places
from fixfunc.rtl.texture.unit.references import StoredReferences, enter_references
from fixfunc.rtl.texture.unit.sample_places import SamplePlaces
from fixfunc.rtl.texture.unit.state_rows import StateRows
from fixfunc.rtl.texture.unit.texel_grids import OUTCOME, TexelGrids
from fixfunc.rtl.texture.unit.texel_requests import TexelRequests
from fixfunc.spec.textures.addresses import AddressKind
from fixfunc.spec.textures.filter import FilterOp
from fixfunc.spec.textures.level_of_detail import LodKind
from fixfunc.spec.textures.unit import SAMPLE_STATE, TEXTURE_QUAD, TEXTURED_QUAD, TextureKind

BEATS = UnionLayout({"kind": 1, "state": layout(SAMPLE_STATE), "quad": layout(TEXTURE_QUAD)})
CONFIGS = {
    name: TextureUnitParams(
        *(cache, addresses.CONFIGS[size]), footprints=name != "small", layers=name != "small"
    )
    for (name, cache), size in zip(
        texture_cache.CONFIGS.items(), ("default", "default", "small", "tiny"), strict=True
    )
}
PURPOSE = {  # of each configuration
    "default": "every format of the texture cache, textures of up to 16,384 texels across",
    "plain": "the same without BC1 to BC7",
    "small": "no BC1 to BC7, footprints or layers, up to 2,048 texels, a quarter of the cache",
    "tiny": "for benches: six formats, textures of up to 64 texels across, 16 blocks on chip",
}
BESIDE = 16  # places of FIFOs beside a block: more than it has clocks


class TextureUnit(wiring.Component):
    """Filtered texels of quads, in order: a grid a clock, of which a quad has one or two a sample.

    Parameters
    ----------
    params : TextureUnitParams

    Members
    -------
    i : In(stream.Signature(BEATS))
        STATE, or QUAD: :class:`fixfunc.spec.textures.unit.TextureKind`. Quads under a STATE need
        not have left before the next one: four are on chip.
    o : Out(stream.Signature(layout(TEXTURED_QUAD)))
        One a quad, in order.
    memory, forget : Out(Axi(...)), In(1)
        As of :class:`~fixfunc.rtl.texture.cache.texture_cache.TextureCache`.
    """

    def __init__(self, params: TextureUnitParams = CONFIGS["default"]) -> None:
        self._params = params
        self._cache = texture_cache.TextureCache(params.stored)
        super().__init__(
            {
                "i": In(stream.Signature(BEATS)),
                "o": Out(stream.Signature(layout(TEXTURED_QUAD))),
                "memory": self._cache.signature.members["memory"],
                "forget": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.states = states = StateRows(4)
        own = LevelOfDetailParams(p.footprints)
        m.submodules.lod = lod = LevelOfDetail(own)
        m.submodules.quads = quads = StreamFIFO(QUADS, self._levels_beside)
        m.submodules.rounds = rounds = GridRounds(own)
        m.submodules.places = places = StallablePipeline(Places(), Places.LATENCY)
        m.submodules.addresses = address = addresses.Addresses(p.addresses)
        m.submodules.levels = levels = StreamFIFO(LEVELS, BESIDE)
        m.submodules.requests = requests = TexelRequests(p)
        m.submodules.cache = cache = self._cache
        m.submodules.weights = weights = StreamFIFO(WEIGHTS, p.cache.queue + BESIDE)
        m.submodules.grids = grids = TexelGrids(p)
        m.submodules.filter = unit = Filter(p.filter)
        m.submodules.outcomes = outcomes = StreamFIFO(OUTCOME, 2 * BESIDE)
        ahead = (*self._references(m, grids), *self._layers(m, requests))
        self._enter(m, states, lod, quads.i, ahead)
        wiring.connect(m, quads.o, rounds.i)
        wiring.connect(m, lod.o, rounds.levels)
        self._walk(m, rounds, places, grids)
        self._address(m, states, places, address, levels)
        wiring.connect(m, levels.o, requests.i)
        wiring.connect(m, address.o, requests.texels)
        wiring.connect(m, requests.cache, cache.i)
        wiring.connect(m, requests.o, weights.i)
        wiring.connect(m, weights.o, grids.i)
        wiring.connect(m, cache.o, grids.texels)
        wiring.connect(m, grids.filter, unit.i)
        wiring.connect(m, grids.outcome, outcomes.i)
        wiring.connect(m, cache.memory, wiring.flipped(self.memory))
        for n, part in ((0, rounds), (2, requests), (3, grids)):
            m.d.comb += [
                states.asking[n].eq(part.asking),
                states.taken[n].eq(part.taken),
                part.found.eq(states.found[n]),
            ]
        m.d.comb += [
            states.release.eq(grids.taken),
            cache.forget.eq(self.forget),
        ]
        move_together(m, (unit.o, outcomes.o), (self.o,))
        m.d.comb += [
            *carried(self.o.payload, outcomes.o.payload),
            *carried(self.o.payload, unit.o.payload),
        ]
        return m

    @property
    def _levels_beside(self):
        """Places beside the level of detail, which is long where there are footprints."""
        return (8 if self._params.footprints else 2) * BESIDE

    def _walk(self, m, rounds, places, grids):
        """Grids go on, each at the place of its sample; numbers of samples wait for texels."""
        if not self._params.footprints:
            wiring.connect(m, rounds.o, places.i)
            return
        m.submodules.samples = samples = StallablePipeline(SamplePlaces(), SamplePlaces.LATENCY)
        m.submodules.counts = counts = StreamFIFO(COUNTS, self._params.cache.queue + 4 * BESIDE)
        wiring.connect(m, rounds.o, samples.i)
        wiring.connect(m, samples.o, places.i)
        wiring.connect(m, rounds.counts, counts.i)
        wiring.connect(m, counts.o, grids.counts)

    def _references(self, m, grids):
        """Where references of quads enter; nowhere if none are compared."""
        if not self._params.compared:
            return ()
        # Quads on their way through all blocks.
        depth = self._params.cache.queue + 2 * BESIDE + self._levels_beside
        m.submodules.references = references = ConvertedQueue(
            StoredReferences(), StoredReferences.LATENCY, depth
        )
        wiring.connect(m, references.o, grids.references)
        enter_references(m, self.i, references.i.payload)
        return (references.i,)

    def _layers(self, m, requests):
        """Where layers of quads enter; nowhere if there are none."""
        if not self._params.layers:
            return ()
        # Quads on their way to the cache.
        depth = self._levels_beside + 3 * BESIDE
        m.submodules.layers = layers = ConvertedQueue(LayerNumbers(), LayerNumbers.LATENCY, depth)
        wiring.connect(m, layers.o, requests.layers)
        enter_layers(m, self.i, layers.i.payload)
        return (layers.i,)

    def _enter(self, m, states, lod, quads, ahead):
        """Levels of detail begin; coordinates, references and layers wait beside them."""
        beat = self.i.payload
        is_quad = named(m, beat.kind == TextureKind.QUAD, "is_quad")
        beside = quads.payload
        m.d.comb += [
            beside.kind.eq(beat.kind),
            beside.row.eq(states.row),
            beside.live.eq(beat.quad.live),
            states.state.eq(beat.state),
        ]
        for pixel in range(PIXELS):
            for axis in "uv":
                m.d.comb += beside.pixels[pixel][axis].eq(beat.quad[f"{axis}{pixel}"])
        with m.If(is_quad):
            m.d.comb += [
                *carried(lod.i.payload.quad, beat.quad),
                lod.i.payload.quad.kind.eq(LodKind.QUAD),
            ]
            move_together(m, (self.i,), (lod.i, quads, *ahead))
        with m.Else():
            m.d.comb += [
                *carried(lod.i.payload.state, beat.state),
                lod.i.payload.state.kind.eq(LodKind.STATE),
                states.write.eq(move_together(m, (self.i,), (lod.i, quads), states.free)),
            ]

    def _address(self, m, states, places, address, levels):
        """Texels of grids begin; levels wait beside them."""
        grid = places.o.payload
        is_grid = named(m, grid.kind == TextureKind.QUAD, "is_grid")
        found = states.found[1]
        beside = levels.i.payload
        request = address.i.payload
        m.d.comb += [
            beside.kind.eq(grid.kind),
            *carried(beside, grid, ("kind", "pixels")),
            states.asking[1].row.eq(grid.row),
            states.asking[1].valid.eq(places.o.valid & ~is_grid),
        ]
        for pixel in range(PIXELS):
            m.d.comb += carried(beside.pixels[pixel], grid.pixels[pixel])
        with m.If(is_grid):
            m.d.comb += request.quad.kind.eq(AddressKind.QUAD)
            for pixel in range(PIXELS):
                for name in ("x", "y", "level", "smooth"):
                    m.d.comb += request.quad[f"{name}{pixel}"].eq(grid.pixels[pixel][name])
            move_together(m, (places.o,), (address.i, levels.i))
        with m.Else():
            m.d.comb += [
                *carried(request.state, found.state),
                request.state.kind.eq(AddressKind.STATE),
                request.state.gathers.eq(found.state.op == FilterOp.GATHER),
                states.taken[1].eq(
                    move_together(m, (places.o,), (address.i, levels.i), found.valid)
                ),
            ]
