# SPDX-License-Identifier: BSD-2-Clause
"""Facing, culling and bias of points, lines and wireframes, as Direct3D 11 decides them.

Source: [fs 3.4.6, 15.10-15.14].
"""

from itertools import product

import numpy as np
import pytest

from fixfunc.models.geometry.geometry_stage import Emitted
from fixfunc.models.host.states import DepthStencilState, RasterizerState, StencilFace
from fixfunc.models.machine.shaders import GeometryShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Cull, StencilOp
from tests.host.drawing import Scene

DEPTHS = {Format.D16_UNORM: "<u2", Format.D24_UNORM_S8_UINT: "<u4", Format.D32_FLOAT: "<f4"}
SEGMENT = [(2.5, 2.5), (10.5, 2.5)]
CLOCKWISE = [(2.5, 2.5), (26.5, 2.5), (2.5, 20.5)]
TURNED = CLOCKWISE[::-1]
FLAT = [(2.5, 2.5), (26.5, 2.5), (14.5, 2.5)]  # without area
TRIANGLES = {"clockwise": CLOCKWISE, "counter-clockwise": TURNED, "flat": FLAT}
WITHOUT_FACES = {
    Topology.POINT_LIST: (SEGMENT, 2),
    Topology.LINE_LIST: (SEGMENT, 8),
    Topology.LINE_STRIP: (SEGMENT, 8),
    Topology.LINE_LIST_ADJ: ([(0, 0), *SEGMENT, (0, 0)], 8),
}


def front(quads, _bound):
    """Red where the primitive faces front, else green."""
    colour = np.zeros((*quads.x.shape, 4), np.float32)
    colour[..., 0] = quads.front[:, None, None]
    colour[..., 1] = ~quads.front[:, None, None]
    return PixelResults(colour)


def drawn(places, topology=Topology.TRIANGLE_LIST, z=0.5, depth=Format.D32_FLOAT, **state):
    """A scene with one primitive: places are in pixels."""
    scene = Scene(depth=depth)
    scene.shade(front)
    scene.context.ia.set_primitive_topology(topology)
    scene.context.rs.set_state(RasterizerState(**{"cull": Cull.NONE} | state))
    x, y = np.array(places).T
    scene.draw(np.stack([x / 16 - 1, 1 - y / 12], 1), z=z)
    return scene


def sides(scene):
    """Pixels that face front, and back."""
    image = scene.image()[:, :, 0]
    return int((image[..., 0] > 0).sum()), int((image[..., 1] > 0).sum())


def depths(scene):
    """What is stored of depths: float64, shape (24, 32), of D24 and D16 in units."""
    raw = np.ascontiguousarray(scene.context.read(scene.depths))
    values = raw.view(DEPTHS[scene.depths.form])[:, :, 0, 0]
    if scene.depths.form == Format.D24_UNORM_S8_UINT:
        values = values & 0xFFFFFF
    return values.astype(np.float64)


@pytest.mark.plan("expand-6")
@pytest.mark.parametrize("topology", WITHOUT_FACES, ids=lambda topology: topology.name)
def test_points_and_lines_face_front_and_are_not_culled(topology):
    places, count = WITHOUT_FACES[topology]
    for cull, ccw in product(Cull, (False, True)):
        for wireframe in (False, True):
            state = {"cull": cull, "front_counter_clockwise": ccw, "wireframe": wireframe}
            assert sides(drawn(places, topology, **state)) == (count, 0), state
    wide = drawn(places, topology, cull=Cull.FRONT, multisample_enable=True)
    assert sides(wide)[0] and not sides(wide)[1]


@pytest.mark.plan("expand-6")
def test_lines_of_a_geometry_shader_face_front():
    scene = Scene()
    scene.shade(front)
    scene.context.rs.set_state(RasterizerState(cull=Cull.BACK, front_counter_clockwise=True))

    def edge(primitives, _bound):
        return Emitted(
            np.repeat(np.arange(len(primitives.primitive)), 2),
            primitives.position[:, :2].reshape(-1, 4),
            primitives.attributes[:, :2].reshape(-1, 1, 4),
        )

    program = GeometryShader(edge, output=Topology.LINE_STRIP, most=2)
    scene.context.gs.set_shader(scene.device.create_geometry_shader(program))
    scene.draw([(x / 16 - 1, 1 - y / 12) for x, y in CLOCKWISE])
    assert sides(scene) == (24, 0)


@pytest.mark.plan("expand-6")
@pytest.mark.parametrize("topology", WITHOUT_FACES, ids=lambda topology: topology.name)
def test_points_and_lines_take_the_stencil_operations_of_the_front(topology):
    places, count = WITHOUT_FACES[topology]
    for ccw in (False, True):
        scene = Scene()
        scene.context.ia.set_primitive_topology(topology)
        scene.context.rs.set_state(RasterizerState(front_counter_clockwise=ccw))
        state = DepthStencilState(
            stencil_enable=True,
            front_face=StencilFace(pass_=StencilOp.INCR),
            back_face=StencilFace(pass_=StencilOp.DECR),
        )
        scene.context.om.set_depth_stencil_state(state)
        x, y = np.array(places).T
        scene.draw(np.stack([x / 16 - 1, 1 - y / 12], 1))
        stencil = scene.context.read(scene.depths)[:, :, 0, 3]
        assert (stencil == 1).sum() == count
        assert (stencil == 0).sum() == stencil.size - count


@pytest.mark.plan("expand-7")
@pytest.mark.parametrize("depth", DEPTHS, ids=lambda form: form.name)
@pytest.mark.parametrize("topology", WITHOUT_FACES, ids=lambda topology: topology.name)
def test_points_and_lines_have_no_bias(topology, depth):
    places, _ = WITHOUT_FACES[topology]
    z = np.linspace(0.25, 0.5, len(places))
    bias = {"depth_bias": 1000, "slope_scaled_depth_bias": 10.0}
    for wide in (False, True):
        plain, biased = (
            depths(drawn(places, topology, z, depth, multisample_enable=wide, **state))
            for state in ({}, bias)
        )
        assert np.array_equal(plain, biased)


@pytest.mark.plan("expand-6")
@pytest.mark.parametrize("name", TRIANGLES)
def test_wireframes_are_culled_and_face_as_their_triangle(name):
    for ccw, cull, wide in product((False, True), Cull, (False, True)):
        is_front = {"clockwise": not ccw, "counter-clockwise": ccw, "flat": False}[name]
        state = {"cull": cull, "front_counter_clockwise": ccw, "multisample_enable": wide}
        found = sides(drawn(TRIANGLES[name], wireframe=True, **state))
        is_drawn = cull == Cull.NONE or (cull == Cull.BACK) == is_front
        assert (found[0] > 0, found[1] > 0) == (is_drawn and is_front, is_drawn and not is_front)
        if name != "flat":
            filled = sides(drawn(TRIANGLES[name], **state))
            assert [many > 0 for many in filled] == [many > 0 for many in found]


def bias_of(form, constant, slope, z):
    """[fs 15.10], in what is stored: of CLOCKWISE with the depths z."""
    dx = (z[1] - z[0]) / 24
    dy = (z[2] - z[0]) / 18
    steepest = slope * max(abs(dx), abs(dy))
    if form == Format.D32_FLOAT:
        return constant * 2.0 ** (np.floor(np.log2(max(z))) - 23) + steepest
    return constant + steepest * {Format.D16_UNORM: 65535, Format.D24_UNORM_S8_UINT: 16777215}[form]


@pytest.mark.plan("expand-7")
@pytest.mark.parametrize("depth", DEPTHS, ids=lambda form: form.name)
@pytest.mark.parametrize("z", [(0.25, 0.5, 0.25), (0.25, 0.25, 0.75), (2.0**-20, 2.0**-20, 0.75)])
def test_wireframes_have_the_bias_of_their_triangle(depth, z):
    """Of an edge whose own depths are small, too: the unit is that of the greatest of all three."""
    error = 2.0**-22 if depth == Format.D32_FLOAT else 1
    for constant, slope in ((3000, 0.0), (-700, 3.0), (0, -2.0)):
        state = {"depth_bias": constant, "slope_scaled_depth_bias": slope}
        for wide, wireframe in ((False, True), (True, True), (False, False)):
            more = {"multisample_enable": wide, "wireframe": wireframe}
            plain = depths(drawn(CLOCKWISE, z=z, depth=depth, **more))
            biased = depths(drawn(CLOCKWISE, z=z, depth=depth, **more, **state))
            most = plain.max()
            seen = plain < most
            wanted = np.maximum(plain + bias_of(depth, constant, slope, z), 0)
            assert seen.sum() > 50
            assert np.abs(biased - wanted)[seen].max() <= error


@pytest.mark.plan("expand-7")
def test_a_bias_is_cut_where_it_is_clamped_and_samples_where_they_leave_the_range():
    z = (0.25, 0.75, 0.25)
    plain = depths(drawn(CLOCKWISE, z=z, wireframe=True))
    far = depths(drawn(CLOCKWISE, z=z, wireframe=True, depth_bias=1 << 22))  # a quarter
    seen = plain < 1
    assert np.abs(far - plain - 0.25)[seen & (plain < 0.74)].max() < 2.0**-22
    far = depths(drawn(CLOCKWISE, z=z, wireframe=True, depth_bias=1 << 23))
    assert np.abs(far - np.minimum(plain + 0.5, 1))[seen].max() < 2.0**-22
    held = {"depth_bias": 1 << 23, "depth_bias_clamp": 0.125}
    held = depths(drawn(CLOCKWISE, z=z, wireframe=True, **held))
    assert np.abs(held - plain - 0.125)[seen].max() < 2.0**-22


@pytest.mark.plan("expand-7")
def test_a_wireframe_edge_on_is_as_steep_as_there_is():
    """Depths that differ where positions do not: the bias is infinite, but for its clamp."""
    state = {"wireframe": True, "slope_scaled_depth_bias": 1.0, "depth_bias_clamp": 0.125}
    z = (0.25, 0.25, 0.5)
    plain = depths(drawn(FLAT, z=z, wireframe=True))
    seen = plain < 1
    assert np.abs(depths(drawn(FLAT, z=z, **state)) - plain - 0.125)[seen].max() < 2.0**-22
    level = depths(drawn(FLAT, z=0.25, **state))
    assert (level[seen] == 0.25).all()


@pytest.mark.plan("expand-7")
@pytest.mark.parametrize("z", [(0.25, 0.25, 0.25), (1.9 * 2.0**-20, 1.9 * 2.0**-20, 0.75)])
def test_a_shader_reads_the_depth_of_a_wireframe_with_its_bias(z):
    def position(quads, _bound):
        return PixelResults(np.repeat(quads.position[..., 2:3], 4, 3))

    for bias in (0.0, 0.125):
        scene = Scene(depth=Format.D32_FLOAT)
        scene.shade(position)
        unit = 2.0 ** (np.floor(np.log2(max(z))) - 23)
        state = RasterizerState(wireframe=True, cull=Cull.NONE, depth_bias=round(bias / unit))
        scene.context.rs.set_state(state)
        scene.draw([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5)], z=z)
        stored = depths(scene)
        seen = stored < 1
        assert np.abs(stored - z[0] - bias)[seen].min() < 2.0**-20
        wanted = np.floor(stored * 255 + 0.5)
        assert (scene.image()[:, :, 0, 0] == wanted)[seen].all()


@pytest.mark.plan("expand-8")
@pytest.mark.parametrize("samples", [1, 4])
def test_alpha_of_antialiased_lines_is_their_coverage(samples):
    """[fs 3.4.4, 15.14.1]: of the first colour, the same in all samples of a pixel."""
    scene = Scene(samples=samples)
    scene.context.ia.set_primitive_topology(Topology.LINE_LIST)
    scene.context.rs.set_state(RasterizerState(antialiased_line_enable=True))
    # A row and a quarter of the next, from the middle of a pixel to that of another.
    scene.draw([(x / 16 - 1, 1 - 10.75 / 12) for x in (4.5, 12.5)], (1, 0.5, 0.25, 0.5))
    image = scene.image().astype(int)
    assert (image == image[:, :, :1]).all()
    alpha = image[:, :, 0, 3]
    assert (np.flatnonzero(alpha.any(1)) == (10, 11)).all()
    for row, share in ((10, 0.75), (11, 0.25)):
        assert (alpha[row, 5:12] == round(255 * 0.5 * share)).all()
        assert np.abs(alpha[row, [4, 12]] - 255 * 0.5 * share / 2).max() <= 4  # two points
        assert not alpha[row, :4].any() and not alpha[row, 13:].any()
    assert (image[10, 5:12, 0, :3] == (255, 128, 64)).all()


@pytest.mark.plan("expand-8")
def test_lines_with_multisampling_and_triangles_are_not_antialiased_by_alpha():
    places = [(2.5, 2.5), (20.5, 9.5)]
    lines = {}
    for name, state in (
        ("plain", {}),
        ("antialiased", {"antialiased_line_enable": True}),
        ("both", {"antialiased_line_enable": True, "multisample_enable": True}),
    ):
        alphas = drawn_alphas(places, Topology.LINE_LIST, **state)
        lines[name] = len(alphas - {0, 255})
    assert lines["plain"] == lines["both"] == 0
    assert lines["antialiased"] > 10
    assert drawn_alphas(CLOCKWISE, antialiased_line_enable=True) == {0, 255}
    assert len(drawn_alphas(CLOCKWISE, wireframe=True, antialiased_line_enable=True)) > 5


def drawn_alphas(places, topology=Topology.TRIANGLE_LIST, **state):
    """Which values of alpha there are in a picture."""
    scene = Scene()
    scene.context.ia.set_primitive_topology(topology)
    scene.context.rs.set_state(RasterizerState(**{"cull": Cull.NONE} | state))
    scene.draw([(x / 16 - 1, 1 - y / 12) for x, y in places])
    return set(scene.image()[..., 3].ravel().tolist())
