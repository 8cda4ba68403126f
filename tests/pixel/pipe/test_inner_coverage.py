# SPDX-License-Identifier: BSD-2-Clause
"""Inner coverage at the port of a shader of quads, of triangles that are drawn conservatively."""

import dataclasses
from functools import cache

import numpy as np
import pytest
from amaranth.hdl import Module, Mux
from amaranth.lib import wiring

from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.reference import probed_top
from fixfunc.cosim.reference import top as reference
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.cosim.verilog.generate import generate
from fixfunc.models.geometry.triangle_setup import areas, vertices
from fixfunc.models.memory.surface import to_image
from fixfunc.models.payload import carried
from fixfunc.models.pixel.pixel_pipe import PixelPipe
from fixfunc.models.state import draw_state
from fixfunc.rtl import top as rtl
from fixfunc.rtl.top_params import texture_rules
from fixfunc.spec.errors import InputError
from fixfunc.spec.pixels.texture_stage import StageKind, shaded_quad
from fixfunc.spec.points import QUAD
from fixfunc.spec.state import Compare
from fixfunc.tb import catalogue
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.frontend import streams
from fixfunc.tb.frontend.vertex_draws import VertexDraws
from tests.geometry.test_conservative import FINE, contains, overlaps
from tests.pixel.pipe.test_centroids import draw
from tests.pixel.pipe.test_pixel_pipe import rows_of
from tests.volume import LIMIT

BLOCK = "top"
CONFIG = "tiny"
INSIDE, BORDER = 0x3F800000, 0x3F000000  # 1.0, 0.5
SIZE = 24


def shaped():
    """A tiny top whose quads are shaded outside, without textures."""
    whole = rtl.CONFIGS[CONFIG]
    inner = dataclasses.replace(whole.pixels.interpolator, inner=True)
    pixels = dataclasses.replace(whole.pixels, stage=False, texture=None, interpolator=inner)
    reader = dataclasses.replace(whole.reader, **texture_rules(None))
    return dataclasses.replace(whole, pixels=pixels, reader=reader)


PARAMS = shaped()
PIPE = PARAMS.pixels.triangles, PARAMS.pixels.states


def shade(_states, beats, _state_of):
    """Golden: pixels that a triangle has whole are bright, others half as bright."""
    one = beats[beats["end"] == 1]
    out = carried(one, shaded_quad(PARAMS.colour.outputs))
    for pixel in range(4):
        whole = one["inner"] >> pixel & 1
        for n in range(4):
            out[f"c{pixel}_{n}"] = np.where(whole, INSIDE, BORDER)
    return out


class Shaded(wiring.Component):
    """A top with probes, and the same shader in hardware."""

    def __init__(self, params):
        self._top = rtl.Top(params, probes=True)
        members = dict(self._top.signature.members)
        super().__init__({n: m for n, m in members.items() if n not in ("attributes", "shaded")})

    def elaborate(self, _platform):
        m = Module()
        m.submodules.top = top = self._top
        for name, member in self.signature.members.items():
            ends = wiring.flipped(getattr(self, name)), getattr(top, name)
            wiring.connect(m, *(ends if member.flow is wiring.In else reversed(ends)))
        beat, out = top.attributes.payload, top.shaded.payload
        is_shaded = (beat.kind == StageKind.QUAD) & beat.quad.end
        m.d.comb += [
            top.shaded.valid.eq(top.attributes.valid & is_shaded),
            top.attributes.ready.eq(top.shaded.ready | ~is_shaded),
            *(out[f.name].eq(beat.quad[f.name]) for f in QUAD),
            *(
                out[f"c{pixel}_{n}"].eq(Mux(beat.quad.inner[pixel], INSIDE, BORDER))
                for pixel in range(4)
                for n in range(4)
            ),
        ]
        return m


class Harness(probed_top.Harness):
    top = Shaded


@cache
def volume():
    harness = Harness(PARAMS)
    return Volume(harness, BLOCK, generate(harness, BLOCK))


def begun(conservative):
    """A target that has been cleared, under a state whose quads are shaded outside."""
    packets = CommandList().target(**streams.PLACES)
    packets.state(state_of(conservative))
    planes = {"depth": 1, "stencil": 1, "colour": 1, "depth_value": (1 << 24) - 1}
    return packets.clear((0, 0, SIZE, SIZE), **planes)


def state_of(conservative):
    tests = {"depth_test": 0, "depth_write": 0} if conservative else {}
    return draw_state(SIZE, SIZE, built_in=1, conservative=conservative, **tests)


def draws(rng):
    """Triangles of every kind, cut ones among them, with and without conservative coverage."""
    packets = begun(1)
    vertices = VertexDraws(rng, PARAMS.reader)
    for conservative in (1, 0, 1, 1):
        packets.state(state_of(conservative))
        for _ in range(3):
            vertices.state(packets)
            triangles = scenes.at_borders(rng, depths.triangles(rng, 12, (SIZE, SIZE)))
            vertices.draw(packets, triangles)
    return packets.fence(1)


def golden(packets):
    """Colours of the golden top: uint32, shape (SIZE, SIZE)."""
    rows = rows_of(packets)
    top = reference.machine(
        PARAMS, streams.memory(rows, PARAMS), pixels=PixelPipe(*PIPE, shader=shade, inner=True)
    )
    for start, _ in streams.starts(rows):
        assert not top.draw(*map(int, start)).status["error"].any()
    return to_image(top.colour.planes[0].cache.values(), SIZE, SIZE, 1)[..., 0]


@pytest.mark.plan("pixel-pipe-19", "interpolator-12")
def test_pixels_are_bright_that_a_triangle_has_whole():
    """Against squares of pixels and half planes: outer and inner coverage, of integers."""
    rng = np.random.default_rng(0)
    some = scenes.at_borders(rng, scenes.triangles(rng, 100, SIZE, SIZE))
    points = np.stack(vertices(some)[:2], -1) * FINE
    has_area = areas(*np.moveaxis(points, 2, 0)) != 0
    outer = overlaps(points, FINE, side=SIZE) & has_area[:, None, None]
    inner = contains(points, FINE, side=SIZE)
    seen = np.zeros(2, int)
    for conservative in (1, 0):
        for n, triangle in enumerate(some):
            packets = begun(conservative).pixel_state(alpha_test=Compare.ALWAYS)
            draw(packets, 0, np.stack([its[n] for its in vertices(some)[:2]], -1), 0)
            colours = golden(packets) & 255
            bright = inner[n] & bool(conservative)
            assert ((colours == 255) == bright).all(), triangle
            if conservative:
                assert ((colours > 0) == outer[n]).all(), triangle
                seen += [bright.sum(), outer[n].sum()]
    assert (seen > 3000).all() and seen[1] > seen[0] + 1000


@pytest.mark.qualify
@pytest.mark.plan("pixel-pipe-19")
def test_a_shader_outside_has_inner_coverage(monkeypatch):
    """The hardware draws the same picture; every stage and every byte is compared."""
    monkeypatch.setattr(
        reference, "pipe", lambda _params: PixelPipe(*PIPE, shader=shade, inner=True)
    )
    block = catalogue.block(BLOCK)
    seen = np.zeros(2, int)
    for seed in range(6):
        packets = draws(np.random.default_rng(seed))
        _, _, mismatches, first = block.compare(
            volume(), rows_of(packets), CONFIG, ("full", "bursty"), seed, limit=LIMIT
        )
        assert not mismatches, first
        colours = golden(packets) & 255
        seen += [(colours == value).sum() for value in (255, 128)]
    assert (seen > 100).all()


@pytest.mark.plan("pixel-pipe-19")
def test_inner_coverage_needs_conservative_draws():
    setup = dataclasses.replace(PARAMS.setup, conservative=False)
    with pytest.raises(InputError, match=r"reader.conservative must be setup.conservative False"):
        dataclasses.replace(PARAMS, setup=setup)
    reader = dataclasses.replace(PARAMS.reader, conservative=False)
    with pytest.raises(InputError, match=r"interpolator.inner must be False without conservative"):
        dataclasses.replace(PARAMS, setup=setup, reader=reader)
