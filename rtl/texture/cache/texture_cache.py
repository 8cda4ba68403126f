# SPDX-License-Identifier: BSD-2-Clause
"""Texture cache: texels of quads, through blocks and lines on chip."""

from dataclasses import replace

from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import UnionLayout
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.bits import among, named
from fixfunc.rtl.lib.skid_buffer import StallablePipeline
from fixfunc.rtl.payload import layout
from fixfunc.rtl.texture.cache.block_rounds import BlockRounds
from fixfunc.rtl.texture.cache.fill import Fill
from fixfunc.rtl.texture.cache.formats import PLAIN, format_of
from fixfunc.rtl.texture.cache.layouts import TextureCacheParams
from fixfunc.rtl.texture.cache.line_cache import LineCache
from fixfunc.rtl.texture.cache.line_reads import LineReads
from fixfunc.rtl.texture.cache.lookup import Lookup
from fixfunc.rtl.texture.cache.miss_scheduler import MissScheduler
from fixfunc.rtl.texture.cache.texel_reads import TexelReads
from fixfunc.spec.textures.cache import (
    CACHE_QUAD,
    CACHE_STATE,
    COLOURS,
    FLOATS,
    MORE,
    PITCH,
    TEXEL_QUAD,
    CacheKind,
    StoredFormat,
)

BEATS = UnionLayout({"kind": 1, "state": layout(CACHE_STATE), "quad": layout(CACHE_QUAD)})
SHORT = tuple(form for form in PLAIN if form in COLOURS)
CONFIGS = {
    "default": TextureCacheParams(),
    "full": TextureCacheParams(formats=(*COLOURS, *MORE)),
    "plain": TextureCacheParams(formats=SHORT),
    "small": TextureCacheParams(
        sets=8, line_sets=32, line_ways=4, in_flight=16, queue=64, formats=SHORT
    ),
    "tiny": TextureCacheParams(
        sets=8,
        ways=2,
        line_sets=4,
        line_ways=2,
        in_flight=8,
        queue=16,
        layers=True,
        formats=(
            StoredFormat.R8G8B8A8_UNORM,
            StoredFormat.B5G5R5A1_UNORM,
            StoredFormat.A8_UNORM,
            StoredFormat.R16_UNORM,
            StoredFormat.BC1_UNORM_SRGB,
            StoredFormat.BC4_SNORM,
            StoredFormat.R16G16B16A16_UNORM,
            StoredFormat.R16G16B16A16_SNORM,
            *FLOATS,
            StoredFormat.R32G32_FLOAT,
        ),
    ),
}
CONFIGS["tiny_coded"] = replace(CONFIGS["tiny"], coded=2, linear=True)
PURPOSE = {  # of each configuration
    "default": "all of TEXTURE packets; 64 blocks, 512 lines on chip; hides 250 clocks of latency",
    "full": "the same, SNORM of 8 and 16 bits, texels of 8 bytes, and floats of up to 16 bits",
    "plain": "the default without BC1 to BC7",
    "small": "without BC1 to BC7; 32 blocks and 128 lines on chip; hides 60 clocks of latency",
    "tiny": "for benches: some of each kind of format, layers, 16 blocks and 8 lines on chip",
    "tiny_coded": "the same, rows of texels, and coded surfaces, two tiles on chip",
}


class TextureCache(wiring.Component):
    """Texels of the footprints of quads, in order: a quad a clock on hits.

    Taps of a quad that lie in more blocks than one a quarter, or whose pixel has two texels in a
    bank, take a clock for each round. Lookups go on under misses: see
    :class:`~fixfunc.rtl.texture.cache.layouts.TextureCacheParams`.

    Parameters
    ----------
    params : TextureCacheParams

    Members
    -------
    i : In(stream.Signature(BEATS))
        STATE, or QUAD: :class:`fixfunc.spec.textures.cache.CacheKind`. A STATE waits until the
        quads before it have been looked up.
    o : Out(stream.Signature(layout(TEXEL_QUAD)))
        One a quad, in order: :attr:`latency` clocks later at the earliest.
    memory : Out(Axi(...))
        Reads lines of 64 bytes, under as many ids as there are reads in flight; tiles and mode
        tables of coded surfaces in order under one more. Read channels alone are used.
    forget : In(1)
        Memory may have changed: nothing is on chip. While no quad is under way.
    """

    def __init__(self, params: TextureCacheParams = CONFIGS["default"]) -> None:
        self._params = params
        self._reads = LineReads(params)
        self._lookup = Lookup(params)
        super().__init__(
            {
                "i": In(stream.Signature(BEATS)),
                "o": Out(stream.Signature(layout(TEXEL_QUAD))),
                "memory": self._reads.signature.members["memory"],
                "forget": In(1),
            }
        )

    @property
    def latency(self) -> int:
        """Clocks of a quad of one round, on hits."""
        return BlockRounds.LATENCY + self._lookup.latency + TexelReads.LATENCY

    def elaborate(self, platform: object) -> Module:
        m = Module()
        params = self._params
        fill = Fill(params)
        m.submodules.rounds = rounds = BlockRounds(params)
        m.submodules.lookup = lookup = self._lookup
        m.submodules.misses = misses = MissScheduler(params)
        m.submodules.reads = reads = self._reads
        m.submodules.lines = lines = LineCache(params)
        m.submodules.fill = fills = StallablePipeline(fill, fill.latency, places=1)
        m.submodules.texels = texels = TexelReads(params)
        wiring.connect(m, rounds.o, lookup.i)
        wiring.connect(m, lookup.pending, texels.i)
        wiring.connect(m, lookup.missed, misses.i)
        wiring.connect(m, misses.order, lines.i)
        wiring.connect(m, misses.read, reads.i)
        wiring.connect(m, lines.o, fills.i)
        wiring.connect(m, fills.o, texels.filled)
        wiring.connect(m, texels.o, wiring.flipped(self.o))
        wiring.connect(m, reads.memory, wiring.flipped(self.memory))
        m.d.comb += [
            lines.present.eq(reads.present),
            lines.data.eq(reads.data),
            lines.error.eq(reads.error),
            reads.take.eq(lines.take),
            misses.taken.eq(lines.take),
            lookup.forget.eq(self.forget),
            misses.forget.eq(self.forget),
            *([reads.forget.eq(self.forget)] if params.coded else []),
        ]

        state = Signal(layout(CACHE_STATE))
        is_quad = named(m, self.i.payload.kind == CacheKind.QUAD, "is_quad")
        idle = named(m, rounds.idle & lookup.idle, "idle")
        form = format_of(state)
        known = among(form, params.formats)
        if params.coded:
            known &= ~state.coded | among(form, params.surfaces)
        if params.linear:
            known &= ~state.linear | self._is_row_known(state)
        m.d.comb += [
            self.i.ready.eq(Mux(is_quad, rounds.i.ready, idle)),
            rounds.i.valid.eq(self.i.valid & is_quad),
            rounds.i.payload.quad.eq(self.i.payload.quad),
            rounds.i.payload.first_set.eq(state.first_set),
            rounds.i.payload.format.eq(form),
            rounds.i.payload.refused.eq(~known),
            lookup.state.eq(state),
        ]
        with m.If(self.i.valid & ~is_quad & idle):
            m.d.sync += state.eq(self.i.payload.state)
        return m

    def _is_row_known(self, state):
        """A texture may lie as rows of texels: tags of blocks have the bits of its pitch."""
        known = among(format_of(state), self._params.rows)
        return known & ~state.coded & ~state.distance[PITCH:].any()
