# SPDX-License-Identifier: BSD-2-Clause
"""HiZ and depth test, with caches behind them: depths and stencil values lie in memory."""

from dataclasses import dataclass

from amaranth.hdl import Module
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.depth.hiz.hiz import Hiz, HizParams
from fixfunc.rtl.depth.test.cached_test import CachedTest, planes
from fixfunc.rtl.depth.test.depth_test import DepthTestParams
from fixfunc.rtl.depth.test.test_output import tested_beat
from fixfunc.rtl.lib.axi import Axi
from fixfunc.rtl.memory.tile_cache.tile_cache import TileCache, TileCacheParams
from fixfunc.rtl.memory.tile_client.slot_requests import SlotRequests
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.probes import ports as probe_ports
from fixfunc.rtl.probes import show
from fixfunc.spec import payloads
from fixfunc.spec.memory import caching
from fixfunc.spec.state import DepthFormat


@dataclass(frozen=True)
class CachedDepthParams:
    """Shape of a :class:`CachedDepth`; each parameter as of the block that it is for.

    Parameters
    ----------
    edge, samples, stencil
        Of all of them.
    entries, clears
        Of HiZ.
    sets, ways, table_lines, reads, writes, ahead, victims
        Of the caches.
    differences : bool
        Depths that no planes give are coded by differences, where ``edge`` is 8; else by anchors.
    formats : tuple of DepthFormat
        Of all of them. D24 is one of them.
    shader_depths : bool
        Shaders may put out depths.
    any_order : bool
        Of the caches.
    """

    edge: int = 8
    samples: int = 8
    stencil: bool = True
    entries: int = 1 << 16
    clears: int = 4
    sets: int = 256
    ways: int = 4
    table_lines: int = 1024
    reads: int = 256
    writes: int = 256
    ahead: int = 1024
    victims: int = 512
    differences: bool = True
    formats: tuple = tuple(DepthFormat)
    shader_depths: bool = True
    any_order: bool = False

    def __post_init__(self):
        if DepthFormat.D24 not in self.formats:
            raise ValueError(f"formats must have D24, not {self.formats!r}")
        self.hiz, self.cache(payloads.DEPTH), self.test

    @property
    def hiz(self) -> HizParams:
        """Of the HiZ."""
        return HizParams(
            self.edge, self.samples, self.entries, self.clears, self.stencil, self.formats
        )

    @property
    def test(self) -> DepthTestParams:
        """Of the depth test."""
        return DepthTestParams(
            self.edge,
            self.samples,
            self.sets * self.ways,
            self.formats,
            self.stencil,
            self.shader_depths,
        )

    def cache(self, bits: int) -> TileCacheParams:
        """Of the cache of values of so many bits."""
        return TileCacheParams(
            self.edge,
            self.samples,
            self.sets,
            self.ways,
            self.table_lines,
            self.reads,
            self.writes,
            self.ahead,
            self.victims,
            bits,
            self.differences and bits != payloads.STENCIL,
            self.any_order,
        )


CONFIGS = {
    "default": CachedDepthParams(),
    "tiny": CachedDepthParams(
        edge=4,
        entries=128,
        clears=2,
        sets=8,
        ways=2,
        table_lines=2,
        reads=8,
        writes=8,
        ahead=128,
        victims=4,
        differences=False,
    ),
    "depth": CachedDepthParams(stencil=False, shader_depths=False),
}
PURPOSE = {  # of each configuration
    "default": "depth and stencil, caches of 1,024 tiles each",
    "tiny": "for benches: tiles of 4x4, caches of 16",
    "depth": "no stencil, no depths from the shader",
}
UNREAD = (*payloads.RASTER_STATE, *payloads.OUTPUT_STATE)  # of a draw state


class CachedDepth(wiring.Component):
    """Depth and stencil test of tiles that lie in memory, HiZ before it.

    One tile per clock, in order, as long as tiles are on chip; a tile that is not waits for memory,
    and those behind it with it. What passes is what would pass without HiZ. A target begins with a
    clear of all of it, both planes; a fence with ``flush`` waits until memory holds everything.

    Draws without ``early_write`` are written late: their tiles go out with what an early test
    leaves, and are tested and written when the shader has decided. Tiles of one set of the caches
    are out one at a time, and 128 in all; two clocks a tile at best. What goes out, passes and is
    written does not depend on when the shader answers.

    Parameters
    ----------
    params : CachedDepthParams
    probes : bool
        ``probe_hiz`` shows what goes from HiZ to the caches, ``hiz_stalls`` when it waits.

    Members
    -------
    i : In(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Tiles and control beats, as :class:`~fixfunc.rtl.depth.hiz.hiz.Hiz` takes them.
    o : Out(stream.Signature(beat(tile=..., draw_state=..., clear=..., fence=...)))
        Tiles with what passed, as :class:`~fixfunc.rtl.depth.test.depth_test.DepthTest` gives
        them; tiles of late draws with what is to be shaded, if any is; error 4 of a fence: memory
        failed.
    shaded, answers, passed : In, Out, Out
        To a shader and back: see :class:`~fixfunc.rtl.depth.test.cached_test.CachedTest`.
    context, saved : In, Out
        Bounds saved and restored: see :class:`~fixfunc.rtl.depth.hiz.hiz.Hiz`.
    initialising : Out(1)
        The bounds RAM of HiZ is swept: tiles wait.
    flush_early : Out(1)
        Only a fence that flushes is in flight: the next user of memory may begin its own flush.
    depth_counted, stencil_counted : Out(stream.Signature(layout(caching.counted(...))))
    depth_memory, stencil_memory : Out(Axi(...))
        Memory behind each :class:`~fixfunc.rtl.memory.tile_cache.tile_cache.TileCache`.
    """

    def __init__(
        self, params: CachedDepthParams = CONFIGS["default"], probes: bool = False
    ) -> None:
        self._params = params
        self._planes = planes(params.test)
        self._probes = probes
        shape = beat(tile=payloads.tile(params.edge), **payloads.CONTROL)
        ports = {}
        for plane, bits in zip(*self._planes, strict=True):
            cache = params.cache(bits)
            counted = layout(caching.counted(cache.differences))
            ports |= {
                f"{plane.name}_counted": Out(stream.Signature(counted)),
                f"{plane.name}_memory": Out(Axi(cache.ids)),
            }
        if probes:
            ports |= probe_ports({"hiz": shape}) | {"hiz_stalls": Out(1)}
        super().__init__(
            {
                "i": In(stream.Signature(shape)),
                "o": Out(stream.Signature(tested_beat(params.edge))),
                "shaded": In(
                    stream.Signature(layout(payloads.survivors(params.edge, params.shader_depths)))
                ),
                "answers": Out(stream.Signature(layout(payloads.coverage(params.edge**2)))),
                "passed": Out(params.edge**2),
                "context": In(stream.Signature(layout(payloads.context(params.edge)))),
                "saved": Out(stream.Signature(layout(payloads.context(params.edge)))),
                "initialising": Out(1),
                "flush_early": Out(1),
            }
            | ports
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.hiz = hiz = Hiz(self._params.hiz)
        m.submodules.requests = requests = SlotRequests(
            self._params.test, self._planes[0], self._params.ahead
        )
        m.submodules.test = test = CachedTest(self._params.test)
        m.d.comb += [
            self.initialising.eq(hiz.initialising),
            self.flush_early.eq(test.flush_early),
            self.passed.eq(test.passed),
        ]
        wiring.connect(m, wiring.flipped(self.i), hiz.i)
        wiring.connect(m, hiz.o, requests.i)
        wiring.connect(m, requests.o, test.i)
        wiring.connect(m, test.feedback, hiz.feedback)
        wiring.connect(m, test.o, wiring.flipped(self.o))
        wiring.connect(m, wiring.flipped(self.shaded), test.shaded)
        wiring.connect(m, test.answers, wiring.flipped(self.answers))
        wiring.connect(m, wiring.flipped(self.context), hiz.context)
        wiring.connect(m, hiz.saved, wiring.flipped(self.saved))
        if self._probes:
            show(m, hiz.o, self.probe_hiz)
            m.d.comb += self.hiz_stalls.eq(hiz.o.valid & ~hiz.o.ready)
        for plane, bits in zip(*self._planes, strict=True):
            m.submodules[f"{plane.name}_cache"] = cache = TileCache(self._params.cache(bits))
            wiring.connect(m, getattr(requests, plane.name), cache.i)
            wiring.connect(m, cache.o, getattr(test, plane.name))
            wiring.connect(m, getattr(test, f"{plane.name}_done"), cache.done)
            wiring.connect(m, cache.counted, wiring.flipped(getattr(self, f"{plane.name}_counted")))
            wiring.connect(m, cache.memory, wiring.flipped(getattr(self, f"{plane.name}_memory")))
        return m
