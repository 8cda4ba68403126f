# SPDX-License-Identifier: BSD-2-Clause
"""Terrain whose patches meet: with any factors on shared edges no crack shows, and no overlap.

A plane is cut into patches that a shader bends. Each pixel adds one for a front face and subtracts
one for a back face, since the chords of a bent edge may turn small triangles over. The sum is one,
wherever edges meet; where neighbours disagreed about one, it would be none, or two [fs 11.7.13].
"""

import numpy as np
import pytest

from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.host.states import BlendState, DepthStencilState, RenderTargetBlend
from fixfunc.models.machine.shaders import HullShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.tessellation.stages import HullResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor
from tests.host.drawing import Scene

SIDE = 4  # patches along a side
PIXELS = 96
ONE = np.float32(1)
STEP = np.float32(1 / 255)
PARTITIONINGS = ("integer", "pow2", "fractional_odd", "fractional_even")


def vertex(waves, _bound):
    """Corners of patches, from 0 to 1."""
    position = np.ones((*waves.mask.shape, 4), np.float32)
    position[..., :2] = waves.floats(0)[..., :2]
    return VertexResults(position)


def pixel(quads, _bound):
    """A step of the target: red of front faces, green of back faces."""
    colour = np.zeros((*quads.x.shape, 4), np.float32)
    colour[quads.front, ..., 0] = STEP
    colour[~quads.front, ..., 1] = STEP
    return PixelResults(colour)


def bent(point):
    """Points of the plane, bent; the plane reaches beyond the screen."""
    x, y = point[..., 0], point[..., 1]
    across = x + np.float32(0.035) * np.sin(np.float32(9) * y + np.float32(4) * x)
    down = y + np.float32(0.035) * np.sin(np.float32(11) * x + ONE)
    flat = [(value - np.float32(0.5)) * np.float32(2.4) for value in (across, down)]
    z = np.full_like(x, 0.5)
    return np.stack([*flat, z, np.ones_like(x)], -1)


def quad_point(waves):
    """Between four corners, the same along an edge from either side."""
    corner = waves.hull.control[waves.patch]
    u, v = waves.uv[..., 0, None], waves.uv[..., 1, None]
    lower = (ONE - u) * corner[..., 0, :] + u * corner[..., 1, :]
    upper = (ONE - u) * corner[..., 3, :] + u * corner[..., 2, :]
    return lower * (ONE - v) + upper * v


def triangle_point(waves):
    """Between three corners; of an edge the two products are added in either order."""
    corner = waves.hull.control[waves.patch]
    u, v = waves.uv[..., 0, None], waves.uv[..., 1, None]
    w = ONE - u - v
    terms = np.stack([u * corner[..., 0, :], v * corner[..., 1, :], w * corner[..., 2, :]])
    # Sorted, sums of the same three products are the same.
    terms = np.sort(terms, 0)
    return (terms[0] + terms[1]) + terms[2]


def factor_of_edge(a, b, seed, most):
    """A factor for an edge, from either side: 1 to ``most``, whole ones among them."""
    middle = np.rint((a + b) * SIDE).astype(np.int64)
    mixed = (
        (middle[..., 0] * 7919 + middle[..., 1] * 104729 + seed * 65537) * 2654435761 % (1 << 32)
    )
    share = mixed.astype(np.float64) / (1 << 32)
    value = 1 + share * (most - 1)
    return np.where(mixed >> 7 & 1, np.rint(value), value).astype(np.float32)


def quad_hull(seed, most):
    def hull(patches, _bound):
        corner = patches.position[..., :2]
        # Edges u = 0, v = 0, u = 1, v = 1 lie between corners 3 0, 0 1, 1 2, 2 3.
        outer = factor_of_edge(np.roll(corner, 1, 1), corner, seed, most)
        inner = np.random.default_rng(seed).uniform(1, most, (len(corner), 2)).astype(np.float32)
        return HullResults(outer, inner, corner)

    return hull


def triangle_hull(seed, most):
    def hull(patches, _bound):
        corner = patches.position[..., :2]
        # Edges u = 0, v = 0, w = 0 lie across from corners 0, 1, 2.
        outer = factor_of_edge(np.roll(corner, -1, 1), np.roll(corner, -2, 1), seed, most)
        inner = np.random.default_rng(seed).uniform(1, most, (len(corner), 1)).astype(np.float32)
        return HullResults(outer, inner, corner)

    return hull


def quad_patches(rng):
    """Corners in order around each; each begins at any of its corners."""
    y, x = np.mgrid[:SIDE, :SIDE].reshape(2, -1, 1)
    out = np.stack([x + (0, 1, 1, 0), y + (0, 0, 1, 1)], -1) / SIDE
    return np.stack([np.roll(of, rng.integers(4), 0) for of in out]).astype(np.float32)


def triangle_patches(rng):
    """Two of each square."""
    squares = quad_patches(np.random.default_rng(0))
    halves = np.concatenate([squares[:, [0, 1, 2]], squares[:, [0, 2, 3]]])
    return np.stack([np.roll(of, rng.integers(3), 0) for of in halves]).astype(np.float32)


KINDS = {
    "quad": (quad_patches, quad_hull, quad_point, Topology.PATCH_4),
    "triangle": (triangle_patches, triangle_hull, triangle_point, Topology.PATCH_3),
}


def counts(kind, partitioning, seed, most=17, wrong=False, samples=1):
    """Front faces less back faces over each sample: int, shape (height, width, samples)."""
    patches, hull, point, topology = KINDS[kind]
    scene = Scene(PIXELS, PIXELS, samples)
    device, context = scene.device, scene.context
    data = patches(np.random.default_rng(seed))
    context.ia.set_input_layout(device.create_input_layout([Element(0, Format.R32G32_FLOAT)]))
    context.ia.set_vertex_buffers(0, [device.create_buffer(data=data)], [8])
    context.ia.set_primitive_topology(topology)

    def domain(waves, _bound):
        return VertexResults(bent(point(waves)))

    made = hull(seed, most)

    def disagreeing(inputs, bound):
        results = made(inputs, bound)
        results.outer[0] += ONE
        return results

    program = HullShader(disagreeing if wrong else made, kind, partitioning, "triangle_ccw")
    context.vs.set_shader(device.create_vertex_shader(vertex))
    context.hs.set_shader(device.create_hull_shader(program))
    context.ds.set_shader(device.create_domain_shader(domain))
    scene.shade(pixel)
    add = RenderTargetBlend(True, BlendFactor.ONE, BlendFactor.ONE)
    context.om.set_blend_state(BlendState([add]))
    context.om.set_depth_stencil_state(DepthStencilState(depth_enable=False))
    context.draw(data.size // 2)
    image = scene.image().astype(int)
    return image[..., 0] - image[..., 1]


@pytest.mark.plan("frames-7")
@pytest.mark.parametrize("partitioning", PARTITIONINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_no_crack_and_no_overlap(kind, partitioning):
    for seed in range(4):
        found = counts(kind, partitioning, seed, most=(3, 17, 40, 64)[seed])
        assert (found == 1).all(), (seed, np.unique(found, return_counts=True))


@pytest.mark.plan("frames-7")
@pytest.mark.parametrize("kind", KINDS)
def test_no_sample_lies_in_a_crack(kind):
    assert (counts(kind, "fractional_odd", 9, samples=4) == 1).all()


@pytest.mark.plan("frames-7")
def test_patches_that_disagree_about_an_edge_show_it():
    assert (counts("quad", "integer", 1, most=5, wrong=True) != 1).any()
