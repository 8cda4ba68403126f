# SPDX-License-Identifier: BSD-2-Clause
"""Hills from 256 patches, near ones divided more; the far half is drawn as a wireframe."""

import numpy as np

from fixfunc.examples.scaffold import Picture, camera, lambert, main, opaque, project
from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.host.states import RasterizerState
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.machine.shaders import HullShader, PixelShader
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults
from fixfunc.models.tessellation.stages import DomainWaves, HullPatches, HullResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Cull

SIDE = 16  # patches along a side
EYE = (0.0, 2.5, 6.2)
LIGHT = np.array((0.65, 0.6, 0.2), np.float32)
STEP = np.float32(0.02)  # of the differences that give normals


def vertex(waves: VertexWaves, _bound: Bindings) -> VertexResults:
    """Control points: corners of the patches on the ground."""
    return VertexResults(opaque(waves.floats(0)[..., :3]))


def hull(patches: HullPatches, _bound: Bindings) -> HullResults:
    """Factors by the distance of each edge's middle, so that neighbours agree."""
    corner = patches.position[..., :3]  # in order around the patch
    # Edges u = 0, v = 0, u = 1, v = 1 lie between corners 3 0, 0 1, 1 2, 2 3.
    middle = (np.roll(corner, 1, 1) + corner) / 2
    outer = np.clip(34 / np.linalg.norm(middle - np.float32(EYE), axis=2), 1, 32)
    inner = np.stack([(outer[:, 1] + outer[:, 3]) / 2, (outer[:, 0] + outer[:, 2]) / 2], 1)
    return HullResults(outer.astype(np.float32), inner.astype(np.float32), corner)


def height(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Of the hills."""
    hills = np.sin(0.9 * x + 0.3) * np.cos(0.7 * z) + 0.45 * np.sin(2.1 * x + 1.3 * z)
    return (0.55 * hills + 0.16 * np.sin(4.3 * x) * np.cos(3.9 * z - 1)).astype(np.float32)


def domain(waves: DomainWaves, bound: Bindings) -> VertexResults:
    """Points on the hills, with their normals and heights."""
    corner = waves.hull.control[waves.patch]
    u, v = waves.uv[..., 0, None], waves.uv[..., 1, None]
    one = np.float32(1)
    point = ((one - u) * corner[..., 0, :] + u * corner[..., 1, :]) * (one - v) + (
        (one - u) * corner[..., 3, :] + u * corner[..., 2, :]
    ) * v
    x, z = point[..., 0], point[..., 2]
    high = height(x, z)
    slopes = height(x + STEP, z) - high, height(x, z + STEP) - high
    normal = np.stack([-slopes[0], np.full_like(x, STEP), -slopes[1], high], -1)
    surface = np.stack([x, high, z], -1)
    position = project(surface, bound.floats(0).reshape(4, 4))
    return VertexResults(position, normal[..., None, :])


def pixel(quads: PixelQuads, _bound: Bindings) -> PixelResults:
    """Grass in the valleys, rock on the hills."""
    share = np.clip(quads.floats(0)[..., 3:] * np.float32(0.9) + np.float32(0.45), 0, 1)
    low, high = np.float32((0.20, 0.36, 0.16)), np.float32((0.72, 0.66, 0.58))
    colour = low + (high - low) * share
    return PixelResults(opaque(colour * lambert(quads.floats(0)[..., :3], LIGHT, 0.3)))


def ink(quads: PixelQuads, _bound: Bindings) -> PixelResults:
    """Of the wireframe."""
    colour = np.broadcast_to(np.float32((0.55, 0.78, 1.0, 1.0)), (*quads.x.shape, 4))
    return PixelResults(np.ascontiguousarray(colour))


def ground() -> np.ndarray:
    """Corners of patches, in order around each: float32, shape (patches, 4, 3)."""
    z, x = np.mgrid[:SIDE, :SIDE].reshape(2, -1, 1)
    x = (x + (0, 1, 1, 0)) * 0.75 - 0.375 * SIDE
    z = (z + (0, 0, 1, 1)) * 0.75 - 0.375 * SIDE
    return np.stack([x, np.zeros_like(x), z], -1).astype(np.float32)


def draw(width: int = 640, height: int = 360) -> np.ndarray:
    """Hills from patches, half of them as a wireframe."""
    picture = Picture(width, height)
    device = picture.device
    context = picture.context
    patches = ground()
    context.ia.set_input_layout(device.create_input_layout([Element(0, Format.R32G32B32_FLOAT)]))
    context.ia.set_vertex_buffers(0, [device.create_buffer(data=patches)], [12])
    context.ia.set_primitive_topology(Topology.PATCH_4)
    context.vs.set_shader(device.create_vertex_shader(vertex))
    context.hs.set_shader(device.create_hull_shader(HullShader(hull)))
    context.ds.set_shader(device.create_domain_shader(domain))
    matrix = picture.constants(camera(EYE, (0, 0.2, 0), width / height, 48))
    context.ds.set_constant_buffers(0, [matrix])
    half = SIDE * SIDE // 2 * 4
    context.ps.set_shader(device.create_pixel_shader(PixelShader(pixel)))
    context.rs.set_state(RasterizerState(cull=Cull.NONE, multisample_enable=True))
    context.draw(half, half)
    context.ps.set_shader(device.create_pixel_shader(PixelShader(ink)))
    wires = RasterizerState(wireframe=True, cull=Cull.NONE, multisample_enable=True)
    context.rs.set_state(wires)
    context.draw(half)
    return picture.image()


if __name__ == "__main__":
    main(draw, "tessellated_terrain")
