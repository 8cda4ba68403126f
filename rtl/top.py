# SPDX-License-Identifier: BSD-2-Clause
"""The hardware pipeline: a command stream in memory becomes a picture in memory."""

from itertools import pairwise

from amaranth.hdl import Module, Mux, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.counters import Counters, watch
from fixfunc.rtl.depth import cached_depth
from fixfunc.rtl.depth.test.test_output import tested_beat
from fixfunc.rtl.frontend import command_reader
from fixfunc.rtl.geometry import triangle_setup
from fixfunc.rtl.lib.axi import Axi
from fixfunc.rtl.output import colour_write
from fixfunc.rtl.output.resolve.resolve import Resolve
from fixfunc.rtl.payload import beat, layout
from fixfunc.rtl.pixel.pixel_pipe.pixel_pipe import COUNTED, PixelPipe, shader_of_quads
from fixfunc.rtl.pixel.pixel_pipe.texture_reads import COUNTED as TEXELS_COUNTED
from fixfunc.rtl.probes import ports as probe_ports
from fixfunc.rtl.probes import show
from fixfunc.rtl.raster import tile_rasterizer
from fixfunc.rtl.top_params import CONFIGS, PURPOSE, TopParams
from fixfunc.spec import payloads
from fixfunc.spec.colours import colours
from fixfunc.spec.colours import quads as quads_of
from fixfunc.spec.commands import START, STATUS
from fixfunc.spec.state import FenceError, Kind

__all__ = ["CONFIGS", "PURPOSE", "Top", "TopParams"]

MEMORY = FenceError.MEMORY.bit_length() - 1  # number of that bit


class Top(wiring.Component):
    """Execute packets of :mod:`fixfunc.spec.commands`: draw their triangles into memory.

    The triangles become colours, depths and stencil values. At best one triangle and one tile a
    clock, in order. After reset nothing is in flight and nothing on chip; a reset at any time
    leaves memory as it is.

    Parameters
    ----------
    params : TopParams
    probes : bool
        For benches: every stream between two stages is shown at a port ``probe_<name>`` of
        :data:`fixfunc.spec.counters.PROBES`.

    Members
    -------
    i : In(stream.Signature(layout(START)))
        Where packets lie. A START is accepted when the one before is done; the first after a reset,
        when HiZ's memory has been initialised.
    o : Out(stream.Signature(layout(STATUS)))
        One for each FENCE. A START ends with one, which reports errors: that of its last packet,
        or another one where that is no FENCE.
    quads, colours : Out, In
        Quads to a shader, and the colours that it returns: see
        :class:`~fixfunc.rtl.output.colour_write.ColourWrite`. With them come the samples that
        survive and, with ``params.depth.shader_depths``, depths: both count in draws without
        ``early_write``. With ``params.pixels`` those of draw states that are not ``built_in``.
    attributes, shaded : Out, In
        Quads with attributes to a shader in the place of the texture stage, and its colours: see
        :class:`~fixfunc.rtl.pixel.pixel_pipe.pixel_pipe.PixelPipe`. Absent unless
        ``params.pixels.stage`` is false.
    texture_requests, texture_results : In, Out
        What that shader samples, and texels. Absent without ``params.pixels.texture``, too.
    context, saved : In, Out
        Bounds of HiZ, saved and restored: see :class:`~fixfunc.rtl.depth.hiz.hiz.Hiz`. Requests
        belong to the target of the last draw state; between a status and the next START nothing
        else is in flight.
    counter_address, counter_value : In, Out
        Address of a counter, and its value: see :class:`~fixfunc.rtl.counters.Counters`.
    commands_memory, depth_memory, stencil_memory, colour_memory, resolve_memory : Out(Axi(...))
        One for each client; with several colour planes ``colour1_memory`` and so on. The last is
        absent without ``params.resolve``.
    texture_memory : Out(Axi(...))
        Textures are read through it. Absent without ``params.pixels.texture``.
    """

    def __init__(self, params: TopParams = CONFIGS["default"], probes: bool = False) -> None:
        self._params = params
        self._probes = probes
        edge = params.raster.edge
        outputs = params.colour.outputs
        shaded = layout(colours(edge, params.depth.shader_depths, outputs))
        shader = {
            "quads": Out(stream.Signature(layout(quads_of(edge, outputs)))),
            "colours": In(stream.Signature(shaded)),
        }
        tile = beat(tile=payloads.tile(edge), **payloads.CONTROL)
        probed = {
            "commands": beat(triangle=payloads.TRIANGLE, **payloads.CONTROL),
            "setup": beat(setup=payloads.SETUP, **payloads.CONTROL),
            "raster": tile,
            "hiz": tile,
            "depth": tested_beat(edge),
            "quads": layout(quads_of(edge, outputs)),
        }
        super().__init__(
            {
                "i": In(stream.Signature(layout(START))),
                "o": Out(stream.Signature(layout(STATUS))),
                "context": In(stream.Signature(layout(payloads.context(edge)))),
                "saved": Out(stream.Signature(layout(payloads.context(edge)))),
                "counter_address": In(stream.Signature(8)),
                "counter_value": Out(stream.Signature(64)),
            }
            | shader
            | shader_of_quads(params.pixels, outputs)
            | {f"{client}_memory": Out(self._port(client)) for client in params.ports}
            | (probe_ports(probed) if probes else {})
        )

    def _port(self, client):
        """Memory port of a client: of textures, and of caches in any order, with an id a read."""
        p = self._params
        if client == "texture":
            return Axi(p.pixels.texture.cache.ids)
        if client in p.colour.names:
            return Axi(p.colour.cache.ids)
        if client in p.clients:
            return Axi(p.depth.cache(payloads.DEPTH).ids)
        return Axi()

    def elaborate(self, platform: object) -> Module:
        m = Module()
        p = self._params
        m.submodules.reader = reader = command_reader.CommandReader(p.reader)
        m.submodules.setup = setup = triangle_setup.TriangleSetup(p.setup)
        m.submodules.raster = raster = tile_rasterizer.TileRasterizer(p.raster)
        m.submodules.depth = depth = cached_depth.CachedDepth(p.depth, probes=True)
        m.submodules.colour = colour = colour_write.ColourWrite(p.colour)
        m.submodules.counters = counters = Counters(
            p.counted, p.resolve is not None, p.pixels is not None
        )
        m.d.comb += [
            reader.i.payload.eq(self.i.payload),
            reader.i.valid.eq(self.i.valid & ~depth.initialising),
            self.i.ready.eq(reader.i.ready & ~depth.initialising),
        ]
        wiring.connect(m, wiring.flipped(self.counter_address), counters.counter_address)
        wiring.connect(m, counters.counter_value, wiring.flipped(self.counter_value))
        stages = reader, setup, raster, depth, colour
        if p.pixels:
            stages = reader, self._add_pixels(m, reader, colour, counters), *stages[1:]
        else:
            wiring.connect(m, colour.quads, wiring.flipped(self.quads))
            wiring.connect(m, wiring.flipped(self.colours), colour.colours)
        for stage, following in pairwise(stages):
            wiring.connect(m, stage.o, following.i)
        wiring.connect(m, wiring.flipped(self.context), depth.context)
        wiring.connect(m, depth.saved, wiring.flipped(self.saved))
        wiring.connect(m, colour.shaded, depth.shaded)
        wiring.connect(m, depth.answers, colour.answers)
        m.d.comb += colour.flush_early.eq(depth.flush_early)
        failed = self._resolve(m, reader, counters) if p.resolve else 0
        if p.pixels and p.pixels.texture:
            failed |= self._sample(m, reader, stages[1], counters)
        self._finish(m, reader, colour, failed)

        wiring.connect(m, reader.memory, wiring.flipped(self.commands_memory))
        for client in p.clients:
            block = colour if client in p.colour.names else depth
            wiring.connect(
                m,
                getattr(block, f"{client}_memory"),
                wiring.flipped(getattr(self, f"{client}_memory")),
            )
            wiring.connect(
                m, getattr(block, f"{client}_counted"), getattr(counters, f"{client}_counted")
            )
        probes = {
            "commands": reader.o,
            "setup": setup.o,
            "raster": raster.o,
            "depth": depth.o,
            "quads": colour.quads,
            "colours": colour.colours,
        }
        busy = is_busy(m, self.i.valid & self.i.ready, reader.ended & colour.o.payload.slot[0])
        m.d.sync += [
            counters.clocks.eq(busy),
            counters.stall_hiz.eq(depth.hiz_stalls & busy),
        ]
        watch(m, counters, probes, depth, reader.memory, busy)
        if self._probes:
            show_beats(m, self, probes, depth.probe_hiz)
        return m

    def _add_pixels(self, m, reader, colour, counters):
        """The pixel pipe, which triangles pass on their way to the setup."""
        p = self._params
        m.submodules.pixels = pixels = PixelPipe(p.pixels, p.reader.ring, p.colour)
        wiring.connect(m, reader.pixel_state, pixels.state)
        wiring.connect(m, colour.quads, pixels.quads)
        wiring.connect(m, pixels.colours, colour.colours)
        wiring.connect(m, pixels.outside, wiring.flipped(self.quads))
        wiring.connect(m, wiring.flipped(self.colours), pixels.outside_colours)
        for name, member in shader_of_quads(p.pixels, p.colour.outputs).items():
            ends = getattr(pixels, name), wiring.flipped(getattr(self, name))
            wiring.connect(m, *(ends if member.flow is Out else reversed(ends)))
        fence = colour.o.payload
        returns = colour.o.valid & fence.release
        m.d.comb += [
            pixels.restart.eq(reader.i.valid & reader.i.ready),
            pixels.fenced.eq(reader.ended),
            pixels.corners.eq(reader.corners),
            pixels.found.eq(reader.found),
            reader.slot.eq(pixels.slot),
            reader.attribute.eq(pixels.attribute),
            reader.released.eq(Mux(returns, fence.sequence, 0)),
            pixels.returned.valid.eq(returns),
            pixels.returned.passed.eq(fence.passed),
            pixels.returned.sequence.eq(fence.sequence),
        ]
        for name in COUNTED.members:
            m.d.sync += getattr(counters, f"pipe_{name}").eq(pixels.counted[name])
        return pixels

    def _sample(self, m, reader, pixels, counters):
        """Textures of the pixel pipe; returns whether a read failed since the last status."""
        wiring.connect(m, pixels.texture_memory, wiring.flipped(self.texture_memory))
        if self._params.pixels.stage:
            m.d.comb += pixels.texture.eq(reader.texture)
        for name in TEXELS_COUNTED.members:
            m.d.sync += getattr(counters, f"texture_{name}").eq(pixels.sampled[name])
        return remembered(m, pixels.failed, self.o.valid & self.o.ready, "texture_failed")

    def _resolve(self, m, reader, counters):
        """The unit that resolves surfaces; returns whether one failed since the last status."""
        m.submodules.resolve = unit = Resolve(self._params.resolve)
        wiring.connect(m, reader.resolve, unit.i)
        wiring.connect(m, unit.memory, wiring.flipped(self.resolve_memory))
        m.d.comb += [
            unit.o.ready.eq(1),
            reader.resolved.eq(unit.o.valid),
        ]
        port = self.resolve_memory
        m.d.sync += counters.resolve_transfers.eq(
            (port.rvalid & port.rready) + (port.wvalid & port.wready)
        )
        fails = unit.o.valid & unit.o.payload.error.any()
        return remembered(m, fails, self.o.valid & self.o.ready, "resolve_failed")

    def _finish(self, m, reader, colour, resolve_failed):
        """Fences become status words."""
        fence = colour.o.payload
        out = self.o.payload
        m.d.comb += [
            self.o.valid.eq(colour.o.valid & ~fence.release),
            colour.o.ready.eq(self.o.ready | fence.release),
            out.last.eq(fence.slot[0]),
            *(out[name].eq(fence[name]) for name in ("sequence", "any", "passed")),
            out.failed.eq(fence.error | (resolve_failed << MEMORY)),
            reader.ended.eq(self.o.valid & self.o.ready),
        ]
        with m.If(fence.slot[0]):
            m.d.comb += [
                out.error.eq(reader.error),
                out.vertex_error.eq(reader.vertex_error if self._params.pixels else 0),
                out.at.eq(reader.at),
            ]


def remembered(m: Module, event: Value, forget: Value, name: str) -> Signal:
    """Whether there has been an event since it was last forgotten."""
    flag = Signal(name=name)
    with m.If(event):
        m.d.sync += flag.eq(1)
    with m.Elif(forget):
        m.d.sync += flag.eq(0)
    return flag


def is_busy(m: Module, start: Value, ended: Value) -> Signal:
    """Whether a START is being obeyed: stalls count in those clocks alone."""
    busy = Signal()
    with m.If(ended | start):
        m.d.sync += busy.eq(start)
    return busy


def show_beats(m: Module, top: wiring.Component, probes: dict, hiz: wiring.PureInterface) -> None:
    """What goes from stage to stage, but releases: where these come depends on when."""
    show(m, probes["quads"], top.probe_quads)
    moving = {
        name: (probes[name].valid & probes[name].ready, probes[name].payload)
        for name in ("commands", "setup", "raster", "depth")
    } | {"hiz": (hiz.valid, hiz.payload)}
    for name, (moves, payload) in moving.items():
        port = getattr(top, f"probe_{name}")
        m.d.comb += [
            port.valid.eq(moves & ~((payload.kind == Kind.FENCE) & payload.fence.release)),
            port.payload.eq(payload),
        ]
