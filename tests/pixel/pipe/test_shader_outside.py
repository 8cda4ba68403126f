# SPDX-License-Identifier: BSD-2-Clause
"""A shader of quads in the place of the texture stage, which gives a colour for each output."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim import codec
from fixfunc.cosim.reference import probed_top
from fixfunc.cosim.reference import top as reference
from fixfunc.cosim.reference.texture_cache import cache_shape
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.cosim.verilog.generate import generate
from fixfunc.models.payload import carried, dtype
from fixfunc.models.pixel import texture_stage
from fixfunc.models.pixel.pixel_pipe import PixelPipe
from fixfunc.models.texture.texture_unit import TextureUnit
from fixfunc.rtl import top as rtl
from fixfunc.rtl.lib.fifo import StreamFIFO
from fixfunc.rtl.payload import layout
from fixfunc.rtl.pixel.texture_stage import TextureStage, TextureStageParams
from fixfunc.rtl.top_params import texture_rules
from fixfunc.spec.colours import format_name, quads
from fixfunc.spec.pixels.texture_stage import CHANNELS, SHADED_QUAD, shaded_quad
from fixfunc.spec.points import QUAD
from fixfunc.spec.textures.cache import LEVELS, LINE
from fixfunc.spec.textures.unit import TEXTURED_QUAD
from fixfunc.tb import catalogue
from fixfunc.tb import top as bench
from fixfunc.tb.bench.states import parted
from fixfunc.tb.frontend import streams
from fixfunc.tb.frontend.vertex_draws import TEXTURES, TEXTURES_SIZE
from fixfunc.tb.texture import texture_unit
from tests.pixel.pipe.test_pixel_pipe import rows_of
from tests.volume import LIMIT

BLOCK = "top"
CONFIG = "tiny"
PARAMS = rtl.CONFIGS[CONFIG]
MOST = 4  # colours of a quad: more than the top has outputs


def count_of(x, y):
    """Colours that the shader gives of the quad there: 1 to 4, as with all other operands."""
    return 1 + (x >> 1 & 1) + (y >> 1 & 1) + (x >> 2 & 1)


def several(states, beats, state_of):
    """Golden: colour n is that of the texture stage, its channels turned by n."""
    one = texture_stage.shade(states, beats, state_of)
    count = count_of(one["x"], one["y"]).astype(int)
    out = carried(one.repeat(count), shaded_quad(PARAMS.colour.outputs))
    ends = np.cumsum(count) - 1
    number = np.arange(len(out)) - (ends - count + 1).repeat(count)
    out["more"] = 1
    out["more"][ends] = 0
    for pixel in range(4):
        channels = np.stack([one[f"c{pixel}_{n}"] for n in range(4)], 1).repeat(count, 0)
        for n in range(4):
            out[f"c{pixel}_{n}"] = channels[np.arange(len(out)), (n + number) % 4]
    return out


class SeveralColours(wiring.Component):
    """The same in hardware, behind a texture stage."""

    i: In(stream.Signature(layout(SHADED_QUAD)))
    o: Out(stream.Signature(layout(shaded_quad(PARAMS.colour.outputs))))

    def elaborate(self, _platform):
        m = Module()
        number = Signal(range(MOST))
        quad, out = self.i.payload, self.o.payload
        last = Signal()
        m.d.comb += [
            last.eq(number + 1 == count_of(quad.x, quad.y)[:3]),
            self.o.valid.eq(self.i.valid),
            self.i.ready.eq(self.o.ready & last),
            out.more.eq(~last),
            *(out[f.name].eq(quad[f.name]) for f in QUAD),
        ]
        for pixel in range(4):
            own = [quad[f"c{pixel}_{n}"] for n in range(len(CHANNELS))]
            for n in range(4):
                turned = own[n]
                for k in range(1, MOST):
                    turned = Mux(number == k, own[(n + k) % 4], turned)
                m.d.comb += out[f"c{pixel}_{n}"].eq(turned)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += number.eq(Mux(last, 0, number + 1))
        return m


class ShadedOutside(wiring.Component):
    """A top with probes, whose quads are shaded outside it: by a texture stage of another pace.

    What is to be sampled comes from outside, from the first START on.
    """

    def __init__(self, params):
        pixels = dataclasses.replace(params.pixels, stage=False)
        self._top = rtl.Top(dataclasses.replace(params, pixels=pixels), probes=True)
        members = dict(self._top.signature.members)
        super().__init__({n: m for n, m in members.items() if n not in ("attributes", "shaded")})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.top = top = self._top
        begun = Signal()
        m.d.sync += begun.eq(begun | (self.i.valid & self.i.ready))
        for name, member in self.signature.members.items():
            ends = wiring.flipped(getattr(self, name)), getattr(top, name)
            if name != "texture_requests":
                wiring.connect(m, *(ends if member.flow is In else reversed(ends)))
        asked = self.texture_requests
        m.d.comb += [
            top.texture_requests.payload.eq(asked.payload),
            top.texture_requests.valid.eq(asked.valid & begun),
            asked.ready.eq(top.texture_requests.ready & begun),
        ]
        m.submodules.stage = stage = TextureStage(TextureStageParams(textured=False))
        m.submodules.several = shader = SeveralColours()
        m.submodules.late = late = StreamFIFO(shader.o.payload.shape(), 8)
        wiring.connect(m, top.attributes, stage.i)
        wiring.connect(m, stage.o, shader.i)
        wiring.connect(m, shader.o, late.i)
        clock = Signal(3)
        opens = clock[2] ^ clock[0]
        m.d.sync += clock.eq(clock + 1)
        m.d.comb += [
            top.shaded.valid.eq(late.o.valid & opens),
            top.shaded.payload.eq(late.o.payload),
            late.o.ready.eq(top.shaded.ready & opens),
        ]
        return m


class Harness(probed_top.Harness):
    top = ShadedOutside


@cache
def outside():
    harness = Harness(PARAMS)
    return Volume(harness, BLOCK, generate(harness, BLOCK))


@pytest.mark.qualify
@pytest.mark.plan("pixel-pipe-8", "pixel-pipe-15")
def test_a_shader_of_quads_outside(monkeypatch):
    """Its colours become those of a frame, while it samples textures through the same top."""
    block = catalogue.block(BLOCK)
    pipe = PARAMS.pixels.triangles, PARAMS.pixels.states, None, several
    monkeypatch.setattr(reference, "pipe", lambda _params: PixelPipe(*pipe))
    reader = dataclasses.replace(PARAMS.reader, **texture_rules(None))
    pixels = dataclasses.replace(PARAMS.pixels, texture=None)
    untextured = dataclasses.replace(PARAMS, reader=reader, pixels=pixels)
    own = bench.inputs
    asked_of = set()
    for seed in range(8):
        rng = np.random.default_rng(seed)
        rows = rows_of(streams.stream_of(rng, untextured).fence(1))
        asked, expected = sampled_outside(rng, rows, PARAMS.pixels.texture)
        monkeypatch.setattr(
            bench, "inputs", lambda *given, asked=asked: own(*given) | {"texture_requests": asked}
        )
        run, _, mismatches, first = block.compare(
            outside(), rows, CONFIG, ("full", "bursty"), seed, limit=LIMIT
        )
        assert not mismatches, first
        assert len(run.outputs["texture_results"]) > 100
        assert np.array_equal(run.outputs["texture_results"], expected)
        table = quads(PARAMS.raster.edge, PARAMS.colour.outputs)
        tiles = codec.unpack(run.outputs["probe_quads"], table, dtype(table))
        tiles = tiles[tiles["built_in"] == 1]
        asked_of |= set(zip(*(tiles[format_name(n)].tolist() for n in range(2)), strict=True))
    # Of the first plane alone, of another one beside it, of a second colour.
    kinds = {"one": False, "planes": False, "second": False}
    for first, other in asked_of:
        kinds["planes" if first != other > 0 else "second" if other else "one"] = True
    assert all(kinds.values()), asked_of


def sampled_outside(rng, rows, params):
    """Requests of textures that lie where nothing is drawn, and what comes of them."""
    requests = texture_unit.requests(rng, 300, params)
    states, quads, state_of = parted(requests, params.state, params.quad)
    states["coded"] = states["linear"] = 0  # rows of either may go on to what is drawn
    most = (TEXTURES_SIZE - (1 << 14)) // LINE  # a level of 64x64 texels has as much
    for level in range(LEVELS):
        states[f"base{level}"] = TEXTURES // LINE + states[f"base{level}"] % most
    is_state = (requests[:, 0] & np.uint64(1)) == 0
    requests[is_state] = codec.pack(states, params.state, texture_unit.bits(params))
    shape = cache_shape(params.cache)
    data = streams.memory(rows, PARAMS)
    found = TextureUnit(shape, data, bench.unreadable(rows)).sample(states, quads, state_of)
    return requests, codec.pack(found, TEXTURED_QUAD)
