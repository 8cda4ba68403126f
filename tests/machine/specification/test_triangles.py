# SPDX-License-Identifier: BSD-2-Clause
"""Triangles: facing, culls, samples, leading vertices, depths."""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.states import DepthStencilState, RasterizerState
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Compare, Cull
from tests.host.drawing import WHOLE, Scene, corners
from tests.machine.specification.drawing import SIDE, float_of
from tests.oracles.specification import triangles as rules

DEPTHS = {"D16": Format.D16_UNORM, "D24": Format.D24_UNORM_S8_UINT, "D32F": Format.D32_FLOAT}
UNITS = SIDE * 256
CLAMPED = (0.0, 1.0, 0.5, -0.25, 1.5, 1e-9, 0.9999999, float("nan"), float("inf"), -1e30)


def random_corners(rng):
    """Three corners, 1/256 pixel, about the target: on the grid of pixels, or anywhere."""
    step = int(rng.choice([1, 16, 128, 256]))
    found = rng.integers(-UNITS // 4, UNITS * 5 // 4, (3, 2)) // step * step
    if rng.random() < 0.1:
        found[2] = found[int(rng.integers(2))]
    return [tuple(int(value) for value in corner) for corner in found]


def vertices(points, z=0.5):
    """Vertices at corners, which clip space holds exactly: SIDE is a power of two."""
    place = np.array(points, np.float64) / (UNITS // 2)
    return corners(np.stack([place[:, 0] - 1, 1 - place[:, 1]], 1), z=z)


def seen_of(scene):
    """A list that a shader fills: pixels, front, coverage of quads that are drawn."""
    seen = []

    def look(quads, _bound):
        front = np.broadcast_to(quads.front[:, None, None], quads.x.shape)
        seen.append([part[quads.live] for part in (quads.x, quads.y, front, quads.coverage)])
        return PixelResults(np.ones((*quads.x.shape, 4), np.float32))

    scene.shade(look)
    return seen


@pytest.mark.plan("specification-1")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_facing_culls_and_coverage(samples):
    """Each pixel that is shaded, its samples, and the side it sees."""
    rng = np.random.default_rng(samples)
    scene = Scene(width=SIDE, height=SIDE, samples=samples)
    seen = seen_of(scene)
    scene.context.om.set_depth_stencil_state(DepthStencilState(False))
    drawn = culled = 0
    for _ in range(120):
        points = random_corners(rng)
        cull = str(rng.choice(["NONE", "FRONT", "BACK"]))
        ccw = bool(rng.random() < 0.5)
        scene.context.rs.set_state(RasterizerState(cull=Cull[cull], front_counter_clockwise=ccw))
        scene.bind(vertices(points))
        seen.clear()
        scene.context.draw(3)
        front = rules.is_front(points, ccw)
        wanted = {}
        if not rules.is_culled(front, cull):
            for y in range(SIDE):
                for x in range(SIDE):
                    mask = rules.covered(points, (x, y), samples)
                    if mask:
                        wanted[x, y] = front, mask
        found = {
            (int(x), int(y)): (bool(side), int(mask))
            for part in seen
            for x, y, side, mask in zip(*part, strict=True)
        }
        assert found == wanted, (points, cull, ccw)
        drawn += bool(wanted)
        culled += rules.is_culled(front, cull)
    assert drawn > 30
    assert culled > 20


@pytest.mark.plan("specification-1")
def test_edges_face_and_are_culled_as_their_triangle():
    """Without an area it faces back, and its edges are drawn for all that [fs 15.11.1, 15.13]."""
    rng = np.random.default_rng(3)
    scene = Scene(width=SIDE, height=SIDE)
    seen = seen_of(scene)
    scene.context.om.set_depth_stencil_state(DepthStencilState(False))
    sides = set()
    for _ in range(120):
        points = random_corners(rng)
        if rng.random() < 0.3:
            points[2] = points[0]
        cull = str(rng.choice(["NONE", "FRONT", "BACK"]))
        ccw = bool(rng.random() < 0.5)
        scene.context.rs.set_state(RasterizerState(True, Cull[cull], ccw))
        scene.bind(vertices(points))
        seen.clear()
        scene.context.draw(3)
        front = rules.is_front(points, ccw)
        found = {bool(side) for _, _, part, _ in seen for side in part}
        assert found <= (set() if rules.is_culled(front, cull) else {front}), (points, cull, ccw)
        sides |= {(side, rules.area(points) == 0) for side in found}
    assert sides == {(True, False), (False, False), (False, True)}


@pytest.mark.plan("specification-2")
@pytest.mark.parametrize("topology", sorted(rules.LEADING))
def test_constants_are_those_of_the_leading_vertex(topology):
    scene = Scene(width=SIDE, height=SIDE)
    seen = []

    def look(quads, _bound):
        number = np.broadcast_to(quads.primitive[:, None, None], quads.x.shape)
        value = quads.floats(0)[..., 0]
        seen.extend(zip(number[quads.live].tolist(), value[quads.live].tolist(), strict=True))
        return PixelResults(np.ones((*quads.x.shape, 4), np.float32))

    scene.shade(look, modes=("constant",))
    scene.context.om.set_depth_stencil_state(DepthStencilState(False))
    # On a circle no three are in a row.
    angle = np.arange(24) * 2.4
    rows = corners(0.9 * np.stack([np.cos(angle), np.sin(angle)], 1))
    rows[:, 4] = np.arange(24)
    scene.bind(rows)
    scene.context.ia.set_primitive_topology(Topology[topology])
    scene.context.draw(24)
    assert len(set(seen)) == len({primitive for primitive, _ in seen}) >= 4
    for primitive, value in set(seen):
        assert value == rules.leading_vertex(topology, primitive)


def depth_words(scene, form):
    """What is stored, as integers, or as rationals of D32F; shape (SIDE, SIDE)."""
    raw = scene.context.read(scene.depths)[:, :, 0].astype(np.int64)
    size = {"D16": 2, "D24": 3, "D32F": 4}[form]
    word = sum(raw[..., n] << 8 * n for n in range(size))
    if form != "D32F":
        return word.astype(object)
    return np.array([[Fraction(float_of(int(bits))) for bits in row] for row in word], object)


@pytest.mark.plan("specification-3")
@pytest.mark.parametrize("form", sorted(DEPTHS))
def test_depths_of_a_shader_are_clamped_and_converted(form):
    """To the viewport's range, then to the nearest that the format has."""
    rng = np.random.default_rng(5)
    for low, high in ((0.0, 1.0), (0.25, 0.75), (0.5, 0.5)):
        scene = Scene(width=SIDE, height=SIDE, depth=DEPTHS[form])
        scene.context.rs.set_viewports([Viewport(0, 0, SIDE, SIDE, low, high)])
        scene.context.om.set_depth_stencil_state(DepthStencilState(True, True, Compare.ALWAYS))
        z = rng.uniform(0, 1, (SIDE, SIDE)).astype(np.float32)
        z = np.where(rng.random(z.shape) < 0.4, rng.choice(np.float32(CLAMPED), z.shape), z)

        def look(quads, _bound, z=z):
            y, x = np.clip(quads.y, 0, SIDE - 1), np.clip(quads.x, 0, SIDE - 1)
            return PixelResults(np.ones((*x.shape, 4), np.float32), depth=z[y, x])

        scene.shade(look, depth="any")
        scene.draw(WHOLE)
        found = depth_words(scene, form)
        for y in range(SIDE):
            for x in range(SIDE):
                given = float(z[y, x])
                # min and max pass over what is no number [fs 3.1.3.1].
                exactly = Fraction(low) if given != given else Fraction(max(min(given, 2.0), -1.0))
                first, last = rules.depth((exactly, exactly), (low, high), form)
                assert first <= found[y, x] <= last, (given, low, high)


@pytest.mark.plan("specification-3")
@pytest.mark.parametrize("form", sorted(DEPTHS))
def test_biases_are_those_of_the_formula(form):
    """Constant, slope, clamp, both signs: within float32's arithmetic, and the format's 0.6."""
    rng = np.random.default_rng(6)
    biased = clamped = 0
    for _ in range(60):
        # On the grid of pixels, with w of 1: z is a plane whose numbers are exact.
        points = [(0, 0), (2 * UNITS, 0), (0, 2 * UNITS)]
        z = np.float32(rng.choice([0.25, 0.5, 0.75], 3) + rng.choice([0, 1 / 64, -1 / 128], 3))
        constant = int(rng.choice([0, 1, -1, 100, -3000, 1 << 20]))
        slope = float(np.float32(rng.choice([0, 1, -2.5, 0.125])))
        clamp = float(np.float32(rng.choice([0, 2.0**-20, -(2.0**-20), 1 / 1024, -1 / 4096])))
        scene = Scene(width=SIDE, height=SIDE, depth=DEPTHS[form])
        scene.context.rs.set_state(
            RasterizerState(
                cull=Cull.NONE,
                depth_bias=constant,
                depth_bias_clamp=clamp,
                slope_scaled_depth_bias=slope,
            )
        )
        scene.context.om.set_depth_stencil_state(DepthStencilState(True, True, Compare.ALWAYS))
        scene.bind(vertices(points, z))
        scene.context.draw(3)
        found = depth_words(scene, form)
        exactly = [Fraction(float(value)) for value in z]
        start, dx, dy = rules.plane(points, exactly)
        bias = rules.bias(constant, slope, clamp, form, (dx, dy), max(exactly))
        biased += bias != 0
        clamped += bias == Fraction(clamp) != 0
        for y in range(0, SIDE, 3):
            for x in range(0, SIDE, 5):
                place = start + dx * Fraction(2 * x + 1, 2) + dy * Fraction(2 * y + 1, 2) + bias
                slack = abs(bias) / 2**22 + Fraction(1, 1 << 24)
                first, last = rules.depth((place - slack, place + slack), (0.0, 1.0), form)
                assert first <= found[y, x] <= last, (z, constant, slope, clamp)
    assert biased > 30
    assert clamped > 10
