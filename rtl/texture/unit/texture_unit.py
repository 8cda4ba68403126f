# SPDX-License-Identifier: BSD-2-Clause
"""Texture unit: coordinates of quads become filtered texels of textures in memory."""

from dataclasses import replace

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import named
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.lib.fork_join import move_together
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import carried, layout
from fixfunc.rtl.texture.addresses import addresses
from fixfunc.rtl.texture.cache import texture_cache
from fixfunc.rtl.texture.cube.cube_quads import CubeQuads
from fixfunc.rtl.texture.cube.edge_rounds import EdgeParts
from fixfunc.rtl.texture.cube.edge_texels import EdgeTexels
from fixfunc.rtl.texture.filter.filter import Filter
from fixfunc.rtl.texture.level_of_detail.level_of_detail import LevelOfDetail
from fixfunc.rtl.texture.unit.converted_queue import ConvertedQueue
from fixfunc.rtl.texture.unit.grid_rounds import GridRounds
from fixfunc.rtl.texture.unit.layers import LayerNumbers, enter_layers
from fixfunc.rtl.texture.unit.layouts import (
    COUNTS,
    PIXELS,
    QUADS,
    TextureUnitParams,
    brings_gradients,
)
from fixfunc.rtl.texture.unit.placed_grids import PlacedGrids
from fixfunc.rtl.texture.unit.places import Places
from fixfunc.rtl.texture.unit.references import StoredReferences, enter_references
from fixfunc.rtl.texture.unit.sample_places import SamplePlaces
from fixfunc.rtl.texture.unit.state_rows import StateRows
from fixfunc.rtl.texture.unit.texel_grids import OUTCOME, TexelGrids
from fixfunc.rtl.texture.unit.texel_requests import TexelRequests
from fixfunc.spec.textures.cache import FORMAT, MORE, POINT_SAMPLED
from fixfunc.spec.textures.level_of_detail import LodKind
from fixfunc.spec.textures.unit import TEXTURED_QUAD, TextureKind

CONFIGS = {
    name: TextureUnitParams(
        *(texture_cache.CONFIGS[name], addresses.CONFIGS[size]),
        footprints=name != "small",
        layers=name != "small",
        cubes=name != "small",
        gradients=name == "full",
    )
    for name, size in {
        "default": "default",
        "full": "default",
        "plain": "default",
        "small": "small",
        "tiny": "tiny",
    }.items()
}
_TINY = CONFIGS["tiny"]
_FEW = tuple(form for form in _TINY.cache.formats if not form >> FORMAT)
CONFIGS["tiny"] = replace(_TINY, cache=replace(_TINY.cache, formats=_FEW))
_TINY_FULL = replace(texture_cache.CONFIGS["tiny_coded"], formats=(*_FEW, *MORE, *POINT_SAMPLED))
CONFIGS["tiny_full"] = replace(_TINY, cache=_TINY_FULL, gradients=True)
PURPOSE = {  # of each configuration
    "default": "every format of TEXTURE packets, textures of up to 16,384 texels across",
    "full": "the same, SNORM, texels of 8 bytes, floats, and gradients that quads bring",
    "plain": "the default without BC1 to BC7",
    "small": "no BC1 to BC7, footprints, layers, cubes; up to 2,048 texels, a quarter of the cache",
    "tiny": "for benches: six formats, textures of up to 64 texels across, 16 blocks on chip",
    "tiny_full": "the same, SNORM, floats, float32, gradients, coded surfaces, rows",
}
BEATS = CONFIGS["default"].requests
PLACED = "kind", *(f"{axis}{pixel}" for axis in "uv" for pixel in range(PIXELS))
BESIDE = 16  # places of FIFOs beside a block: more than it has clocks


class TextureUnit(wiring.Component):
    """Filtered texels of quads, in order: a grid a clock, of which a quad has one or two a sample.

    Parameters
    ----------
    params : TextureUnitParams

    Members
    -------
    i : In(stream.Signature(params.requests))
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
                "i": In(stream.Signature(params.requests)),
                "o": Out(stream.Signature(layout(TEXTURED_QUAD))),
                "memory": self._cache.signature.members["memory"],
                "forget": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.states = states = StateRows(4, p.state)
        beats = p.beats
        m.submodules.lod = lod = LevelOfDetail(p.level_of_detail)
        m.submodules.quads = quads = StreamFIFO(QUADS, self._levels_beside)
        m.submodules.rounds = rounds = GridRounds(p)
        place = Places(beats)
        m.submodules.places = places = StallablePipeline(place, place.latency, places=1)
        m.submodules.placed = placed = PlacedGrids(p)
        m.submodules.addresses = address = addresses.Addresses(p.addresses)
        m.submodules.levels = levels = StreamFIFO(beats.levels, BESIDE)
        m.submodules.requests = requests = TexelRequests(p)
        m.submodules.cache = cache = self._cache
        beside = requests.o.payload.shape()
        m.submodules.weights = weights = StreamFIFO(beside, p.cache.queue + BESIDE)
        m.submodules.grids = grids = TexelGrids(p)
        m.submodules.filter = unit = Filter(p.filter)
        m.submodules.outcomes = outcomes = StreamFIFO(OUTCOME, 2 * BESIDE)
        beats, faced = self._cubes(m)
        ahead = (*self._references(m, beats, grids), *self._layers(m, beats, requests))
        ahead += self._edges(m, faced, levels.o, address.o, requests)
        self._enter(m, beats, faced, states, lod, quads.i, ahead)
        wiring.connect(m, quads.o, rounds.i)
        wiring.connect(m, lod.o, rounds.levels)
        self._walk(m, rounds, places, grids)
        wiring.connect(m, places.o, placed.i)
        wiring.connect(m, placed.address, address.i)
        wiring.connect(m, placed.levels, levels.i)
        wiring.connect(m, requests.cache, cache.i)
        wiring.connect(m, requests.o, weights.i)
        if p.cubes:
            m.submodules.joint = joint = EdgeTexels(p.beats, p.stored.halves > 1)
            joint.join(m, weights.o, cache.o, grids)
        else:
            wiring.connect(m, weights.o, grids.i)
            wiring.connect(m, cache.o, grids.texels)
        wiring.connect(m, grids.filter, unit.i)
        wiring.connect(m, grids.outcome, outcomes.i)
        wiring.connect(m, cache.memory, wiring.flipped(self.memory))
        for n, part in enumerate((rounds, placed, requests, grids)):
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
        m.submodules.samples = samples = StallablePipeline(
            SamplePlaces(self._params.beats), SamplePlaces.LATENCY, places=1
        )
        m.submodules.counts = counts = StreamFIFO(COUNTS, self._params.cache.queue + 4 * BESIDE)
        wiring.connect(m, rounds.o, samples.i)
        wiring.connect(m, samples.o, places.i)
        wiring.connect(m, rounds.counts, counts.i)
        wiring.connect(m, counts.o, grids.counts)

    def _cubes(self, m):
        """Beats, on faces of cubes, and these; the same beats if there are none."""
        if not self._params.cubes:
            return self.i, None
        m.submodules.cubes = cubes = CubeQuads(self._params.requests, self._params.gradients)
        wiring.connect(m, wiring.flipped(self.i), cubes.i)
        return cubes.o, cubes.faced

    def _edges(self, m, faced, levels, texels, requests):
        """Where faces of quads enter, which levels and texels of grids are joined with."""
        if not self._params.cubes:
            wiring.connect(m, levels, requests.i)
            wiring.connect(m, texels, requests.texels)
            return ()
        m.submodules.edges = edges = EdgeParts(self._params.beats, self._before_cache)
        faces = edges.faces.payload
        m.d.comb += [faces[pixel].eq(faced[f"face{pixel}"]) for pixel in range(PIXELS)]
        wiring.connect(m, levels, edges.i)
        wiring.connect(m, texels, edges.texels)
        wiring.connect(m, edges.o, requests.i)
        return (edges.faces,)

    @property
    def _before_cache(self):
        """Quads on their way to the cache."""
        return self._levels_beside + 3 * BESIDE

    def _references(self, m, beats, grids):
        """Where references of quads enter; nowhere if none are compared."""
        if not self._params.compared:
            return ()
        # Quads on their way through all blocks.
        depth = self._params.cache.queue + 2 * BESIDE + self._levels_beside
        m.submodules.references = references = ConvertedQueue(
            StoredReferences(), StoredReferences.LATENCY, depth
        )
        wiring.connect(m, references.o, grids.references)
        enter_references(m, beats, references.i.payload)
        return (references.i,)

    def _layers(self, m, beats, requests):
        """Where layers of quads enter; nowhere if there are none."""
        if not self._params.layers:
            return ()
        unit = LayerNumbers(self._params.cubes)
        m.submodules.layers = layers = ConvertedQueue(unit, unit.latency, self._before_cache)
        wiring.connect(m, layers.o, requests.layers)
        enter_layers(m, beats, layers.i.payload)
        return (layers.i,)

    def _enter(self, m, beats, faced, states, lod, quads, ahead):
        """Levels of detail begin; coordinates, references, layers and faces wait beside them."""
        beat = beats.payload
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
            if self._params.cubes:
                m.d.comb += carried(lod.i.payload.quad, faced, PLACED)
            move_together(m, (beats,), (lod.i, quads, *ahead))
        with m.Else():
            m.d.comb += [
                *carried(lod.i.payload.state, beat.state),
                lod.i.payload.state.kind.eq(LodKind.STATE),
                lod.i.payload.state.explicit_gradients.eq(
                    brings_gradients(beat.state, self._params)
                ),
                states.write.eq(move_together(m, (beats,), (lod.i, quads), states.free)),
            ]
