# SPDX-License-Identifier: BSD-2-Clause
"""What pixel shaders read and write, in whole draws."""

import numpy as np
import pytest

from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import DepthStencilState, RasterizerState
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.raster.edge_evaluator import SAMPLE_POSITIONS
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Cull
from tests.host.drawing import D24S8, LEFT, RED, WHOLE, Scene, corners, words

TILTED = np.array([(-0.9, -0.8), (0.1, 0.95), (0.85, -0.4)], np.float32)


def depth_bytes(scene):
    """What the depth target holds."""
    return scene.context.read(scene.depths).copy()


def tilted(z=(0.1, 0.9, 0.4), w=(1.0, 2.0, 4.0)):
    """Vertices of a triangle whose depths and w differ."""
    vertices = corners(TILTED)
    vertices[:, :4] *= np.float32(w)[:, None]
    vertices[:, 3] = w
    vertices[:, 2] = np.float32(z) * np.float32(w)
    return vertices


@pytest.mark.plan("pixel-stage-9")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_a_sample_has_its_own_position_and_number(samples):
    scene = Scene(samples=samples)

    def place(quads, _bound):
        at = np.stack([quads.x, quads.y], -1) + np.float32(0.5)
        inside = quads.position[..., :2] - at + np.float32(0.5)
        number = np.broadcast_to(quads.sample[:, None, None], quads.x.shape) / np.float32(255)
        colour = [inside[..., 0], inside[..., 1], number, np.ones_like(number)]
        return PixelResults(np.stack(colour, -1).astype(np.float32))

    scene.shade(place, position="sample")
    query = scene.device.create_query(QueryKind.PIPELINE_STATISTICS)
    scene.context.begin(query)
    scene.draw(TILTED)
    scene.context.end(query)
    image = scene.image()
    shown = image.any(3)
    positions = np.array(SAMPLE_POSITIONS[samples.bit_length() - 1])
    for sample in range(samples):
        x, y = positions[sample] / 16 + 0.5
        wanted = [round(x * 255), round(y * 255), sample, 255]
        assert (np.abs(image[:, :, sample][shown[:, :, sample]].astype(int) - wanted) <= 1).all()
    assert shown.any((0, 1)).all()
    # Each sample that is covered was shaded once.
    assert scene.context.get_data(query).ps_invocations == shown.sum()


@pytest.mark.plan("pixel-stage-9")
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("form", [D24S8, Format.D16_UNORM, Format.D32_FLOAT])
@pytest.mark.parametrize("bias", [0, 700])
def test_depths_that_a_shader_reads_and_puts_out_change_nothing(form, samples, bias):
    """[fs 16.3.1]: of every sample, in every format."""

    def same(quads, _bound):
        return PixelResults(quads.floats(0), depth=quads.position[..., 2])

    found = []
    for declared in ({}, {"depth": "any", "position": "sample"}):
        scene = Scene(width=64, height=48, samples=samples, depth=form)
        scene.context.rs.set_state(RasterizerState(cull=Cull.NONE, depth_bias=bias))
        if declared:
            scene.shade(same, **declared)
        vertices = tilted()
        scene.bind(vertices)
        scene.context.draw(3)
        found.append((depth_bytes(scene), scene.image()))
    assert (found[0][0] == found[1][0]).all() and (found[0][1] == found[1][1]).all()
    assert len(np.unique(found[0][0][..., 1])) > 30


@pytest.mark.plan("pixel-stage-9")
def test_w_is_the_reciprocal_of_the_interpolated_one():
    scene = Scene(width=64, height=48)
    seen = []

    def keep(quads, _bound):
        seen.append((quads.position[quads.live], quads.floats(0)[quads.live]))
        return PixelResults(quads.floats(0))

    scene.shade(keep)
    vertices = tilted()
    vertices[:, 4] = vertices[:, 3]  # an attribute that is w, with perspective
    scene.bind(vertices)
    scene.context.draw(3)
    position, attribute = (np.concatenate(part) for part in zip(*seen, strict=True))
    assert len(position) > 300
    # Of a plane in space w is linear, too: both ways to it agree.
    assert np.abs(position[:, 3] / attribute[:, 0] - 1).max() < 1e-6


@pytest.mark.plan("pixel-stage-9")
def test_depths_of_pixels_that_are_not_covered_lie_on_the_plane():
    """Helpers and centres outside have the depth that their derivatives need."""
    scene = Scene(width=64, height=48, samples=4)
    seen = []

    def keep(quads, _bound):
        seen.append(quads.position)
        return PixelResults(quads.floats(0))

    scene.shade(keep)
    vertices = corners(TILTED)
    vertices[:, 2] = 0.0, 1.0, 0.5
    scene.bind(vertices)
    scene.context.draw(3)
    position = np.concatenate(seen).reshape(-1, 4).astype(np.float64)
    a = np.concatenate([(vertices[:, :2] * (1, -1) + 1) / 2 * (64, 48), np.ones((3, 1))], 1)
    plane = np.linalg.solve(a.astype(np.float64), vertices[:, 2].astype(np.float64))
    wanted = position[:, 0] * plane[0] + position[:, 1] * plane[1] + plane[2]
    assert np.abs(position[:, 2] - wanted).max() < 1e-3  # vertices are snapped to 1/256 pixel
    assert (position[:, 2] < 0).any() or (position[:, 2] > 1).any()


@pytest.mark.plan("pixel-stage-9")
@pytest.mark.parametrize("depth", [Format.D24_UNORM_S8_UINT, Format.D32_FLOAT])
def test_helpers_of_a_triangle_much_smaller_than_a_pixel_lie_on_its_plane(depth):
    """102.4 a pixel, over 1/128 of one."""
    scene = Scene(depth=depth)
    seen = []

    def keep(quads, _bound):
        seen.append((quads.position[..., 2], quads.floats(0)[..., 0]))
        return PixelResults(quads.floats(0))

    scene.shade(keep)
    places = np.array([(8.5 - 1 / 256, 8.25), (8.5 + 1 / 256, 8.25), (8.5, 8.75)])
    vertices = corners(np.stack([places[:, 0] / 16 - 1, 1 - places[:, 1] / 12], 1))
    vertices[:, 2] = vertices[:, 4] = 0.1, 0.9, 0.5
    scene.bind(vertices)
    scene.context.draw(3)
    ((z, attribute),) = seen
    for found in (z, attribute):
        assert np.abs(found[0] - [[0.5, 102.9], [0.5, 102.9]]).max() < 1e-3


@pytest.mark.plan("pixel-stage-10")
def test_a_shader_chooses_samples():
    """Coverage that is put out joins the triangle's, and alpha no longer decides [fs 16.9.4]."""
    scene = Scene(samples=4)

    def odd(quads, _bound):
        return PixelResults(quads.floats(0), coverage=np.full(quads.x.shape, 0b1010, np.uint32))

    scene.shade(odd, coverage=True)
    query = scene.device.create_query(QueryKind.OCCLUSION)
    scene.context.begin(query)
    scene.draw(LEFT, RED)
    scene.context.end(query)
    shown = scene.image().any(3)
    assert (shown[:, :16] == [False, True, False, True]).all() and not shown[:, 16:].any()
    assert scene.context.get_data(query) == shown.sum()
    assert (depth_bytes(scene)[:, :16, 0] == depth_bytes(scene)[:, 16:, 0]).all()
    assert (depth_bytes(scene)[:, :16, 1] != depth_bytes(scene)[:, 16:, 1]).any()


@pytest.mark.plan("pixel-stage-10")
@pytest.mark.parametrize("early", [False, True])
def test_a_sample_is_left_by_its_own_bit(early):
    """[fs 16.9.4]: at sample frequency bit n of the coverage is about sample n alone."""
    scene = Scene(samples=4)

    def odd(quads, _bound):
        return PixelResults(quads.floats(0), coverage=np.full(quads.x.shape, 0b1010, np.uint32))

    scene.shade(odd, coverage=True, sample_index=True, early=early)
    scene.draw(LEFT, RED)
    shown = scene.image().any(3)
    assert (shown[:, :16] == [False, True, False, True]).all() and not shown[:, 16:].any()


@pytest.mark.plan("pixel-stage-10")
@pytest.mark.parametrize("early", [False, True])
def test_unordered_writes_happen_wherever_the_triangle_is(early):
    """A hidden triangle writes, but not if tests come first [fs 16.12]."""
    scene = Scene()
    device, context = scene.device, scene.context
    counts = device.create_buffer(4 * 32 * 24, Bind.UNORDERED_ACCESS)
    context.clear_depth_stencil_view(scene.depth, 0.25)

    def count(quads, bound):
        place = (quads.y * 32 + quads.x)[quads.live]
        np.add.at(bound.unordered(1).view("<u4"), place, 1)
        return PixelResults(quads.floats(0))

    scene.shade(count, unordered=True, early=early)
    context.ps.set_unordered_access_views(1, [device.create_unordered_access_view(counts)])
    scene.draw(LEFT, z=0.75)
    got = context.read(counts).view("<u4").reshape(24, 32)
    assert (got[:, :16] == (not early)).all() and not got[:, 16:].any()
    assert not scene.shown().any()
    scene.draw(LEFT, z=0.1)
    got = context.read(counts).view("<u4").reshape(24, 32)
    assert (got[:, :16] == 1 + (not early)).all()


@pytest.mark.plan("pixel-stage-10")
def test_without_targets_a_viewport_is_shaded_and_counted():
    """[fs 16.11]: one sample a pixel, over all of the viewport."""
    scene = Scene()
    device, context = scene.device, scene.context
    counts = device.create_buffer(4 * 100 * 60, Bind.UNORDERED_ACCESS)
    context.om.set_render_targets([])
    context.rs.set_viewports([Viewport(width=100, height=60)])
    context.ps.set_unordered_access_views(0, [device.create_unordered_access_view(counts)])

    def count(quads, bound):
        np.add.at(bound.unordered(0).view("<u4"), (quads.y * 100 + quads.x)[quads.live], 1)
        return PixelResults([])

    scene.shade(count, unordered=True)
    query = device.create_query(QueryKind.OCCLUSION)
    inner = device.create_query(QueryKind.OCCLUSION)
    context.begin(query)
    scene.draw(WHOLE)
    context.begin(inner)
    scene.draw(LEFT)
    context.end(inner)
    context.end(query)
    got = context.read(counts).view("<u4").reshape(60, 100)
    assert (got[:, :50] == 2).all() and (got[:, 50:] == 1).all()
    assert context.get_data(query) == 100 * 60 * 3 // 2 and context.get_data(inner) == 100 * 30
    # Without a shader, a depth test and a stencil test nothing is rasterized.
    context.ps.set_shader(None)
    context.om.set_depth_stencil_state(DepthStencilState(depth_enable=False))
    statistics = device.create_query(QueryKind.PIPELINE_STATISTICS)
    context.begin(query)
    context.begin(statistics)
    scene.draw(WHOLE)
    context.end(query)
    context.end(statistics)
    assert context.get_data(query) == 0
    # Nor are the rasterizer's primitives counted [fs 16.9.1].
    found = context.get_data(statistics)
    assert (found.ia_primitives, found.c_invocations, found.c_primitives) == (1, 0, 0)


@pytest.mark.plan("pixel-stage-10")
def test_predicates_of_hidden_things_nest():
    """A predicate that lies within another's draws, both by what passed."""
    scene = Scene()
    device, context = scene.device, scene.context
    outer, inner = (device.create_query(QueryKind.OCCLUSION_PREDICATE) for _ in range(2))
    context.begin(outer)
    scene.draw(LEFT, z=0.2)
    context.begin(inner)
    scene.draw(LEFT, z=0.9)
    context.end(inner)
    context.end(outer)
    assert context.get_data(outer) is True and context.get_data(inner) is False
    context.set_predication(inner, False)
    scene.draw(WHOLE, RED, z=0.1)
    assert not (scene.image()[:, :, 0, :2] == (255, 0)).all(2).any()
    context.set_predication(outer, False)
    scene.draw(WHOLE, RED, z=0.1)
    assert (scene.image()[:, :, 0, :2] == (255, 0)).all()


@pytest.mark.plan("pixel-stage-8")
def test_quads_are_counted_with_what_they_waste():
    scene = Scene()
    scene.draw(LEFT)
    totals = scene.device.machine.totals
    # Two triangles of a rectangle: along their edge quads are shaded twice.
    assert totals["quads"] == 12 * 8 + totals["quad_merges"]
    assert totals["quad_merges"] > 5
    assert totals["quad_helpers"] == 4 * totals["quads"] - 16 * 24


@pytest.mark.plan("pixel-stage-10")
def test_unordered_access_that_is_refused():
    scene = Scene()
    with pytest.raises(InputError, match="unordered access must be of a pixel or compute shader"):
        scene.context.vs.set_unordered_access_views(0, [])
    buffer = scene.device.create_buffer(bind=Bind.SHADER_RESOURCE, data=words(1))
    view = scene.device.create_shader_resource_view(buffer)
    with pytest.raises(InputError, match="view must be one of UNORDERED_ACCESS"):
        scene.context.ps.set_unordered_access_views(0, [view])
