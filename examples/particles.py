# SPDX-License-Identifier: BSD-2-Clause
"""A fountain of sparks: a geometry shader moves them from buffer to buffer, draw_auto draws them.

Sources emit a spark each at every step; sparks fall, jump off the ground and die. The host never
learns how many there are.
"""

import numpy as np

from fixfunc.examples.scaffold import Picture, camera, main, opaque, project
from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.geometry.geometry_stage import Emitted, GeometryInputs
from fixfunc.models.geometry.stream_output import Declaration, Entry
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
)
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.machine.shaders import GeometryShader, PixelShader
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, Cull

SOURCES = 40
STEPS = 70
OLD = 64  # steps
ROOM = 4096  # sparks of a buffer
GRAVITY = np.float32(0.0042)
STRIDE = 32  # bytes: place and age, speed and number; a source has an age of -1
LAYOUT = [Element(n, Format.R32G32B32A32_FLOAT, offset=16 * n) for n in range(2)]
BOTH = Bind.STREAM_OUTPUT | Bind.VERTEX_BUFFER


def vertex(waves: VertexWaves, _bound: Bindings) -> VertexResults:
    """A spark as it lies in the buffer."""
    rows = np.stack([waves.floats(0), waves.floats(1)], 2)
    return VertexResults(waves.floats(0), rows)


def move(inputs: GeometryInputs, bound: Bindings) -> Emitted:
    """Sparks a step later, without the old ones; behind each source a new one."""
    rows = inputs.attributes[:, 0].view(np.float32).copy()
    source = rows[:, 0, 3] < 0
    made = rows[source].copy()
    made[:, 0, 3] = 0
    made[:, 1, :3] = _speeds(made[:, 1, 3], bound.floats(0)[0])
    rows[~source, 0, 3] += 1
    rows[~source, 1, 1] -= GRAVITY
    rows[~source, 0, :3] += rows[~source, 1, :3]
    below = ~source & (rows[:, 0, 1] < 0)
    rows[below, 0, 1] *= -1
    rows[below, 1, 1] *= np.float32(-0.55)
    kept = np.flatnonzero(rows[:, 0, 3] < OLD)
    invocation = np.concatenate([kept, np.flatnonzero(source)])
    order = np.argsort(invocation, kind="stable")
    both = np.concatenate([rows[kept], made])[order]
    return Emitted(invocation[order], both[:, 0].copy(), both)


def _speeds(number, step):
    """Up and outwards, in a direction that turns with time, a little different for each spark."""
    angle = number * np.float32(2 * np.pi / SOURCES) + step * np.float32(0.11)
    noise = (number * np.float32(7.31) + step * np.float32(3.77)) % np.float32(1)
    out = np.float32(0.016) + np.float32(0.026) * noise
    up = np.float32(0.135) - np.float32(0.045) * noise
    return np.stack([out * np.cos(angle), up, out * np.sin(angle)], 1)


def billboard(inputs: GeometryInputs, bound: Bindings) -> Emitted:
    """A square for each spark, and a fainter one mirrored in the ground; none for sources."""
    spark = inputs.attributes[:, 0].view(np.float32)
    flying = np.flatnonzero(spark[:, 0, 3] >= 0)
    matrix = bound.floats(0)[:16].reshape(4, 4)
    aspect = bound.floats(0)[16]
    corners = np.float32([(-1, 1), (1, 1), (-1, -1), (1, -1)])
    squares, attributes = [], []
    for side, strength in ((1, 1.0), (-1, 0.28)):
        place = spark[flying, 0, :3] * np.float32((1, side, 1))
        middle = project(place, matrix)
        squares.append(np.repeat(middle[:, None], 4, 1))
        squares[-1][..., :2] += corners * np.float32((0.085, 0.085 * aspect))
        rows = np.zeros((len(flying), 4, 4), np.float32)
        rows[..., :2] = corners
        rows[..., 2] = (spark[flying, 0, 3] / np.float32(OLD))[:, None]
        rows[..., 3] = strength
        attributes.append(rows)
    # The two squares of a spark, one after the other.
    position = np.stack(squares, 1).reshape(-1, 4).astype(np.float32)
    rows = np.stack(attributes, 1).reshape(-1, 1, 4)
    cut = np.tile([False, False, False, True], 2 * len(flying))
    return Emitted(np.repeat(flying, 8), position, rows, cut)


def pixel(quads: PixelQuads, _bound: Bindings) -> PixelResults:
    """A soft dot, white, then yellow, then red; in whole steps of the target, so sums are exact."""
    across, down, age, strength = np.moveaxis(quads.floats(0), -1, 0)
    near = np.clip(np.float32(1) - across * across - down * down, 0, 1)
    bright = near * near * strength * (np.float32(1) - age)
    hot = np.stack([np.ones_like(age), 1 - age * np.float32(0.9), (1 - age) ** 4], -1)
    light = bright[..., None] * hot.astype(np.float32) * np.float32(0.75)
    return PixelResults(opaque(np.rint(light * np.float32(255)) / np.float32(255)))


def sources() -> np.ndarray:
    """Sources in a small circle: float32, shape (n, 8)."""
    out = np.zeros((SOURCES, 8), np.float32)
    angle = 2 * np.pi * np.arange(SOURCES) / SOURCES
    out[:, 0], out[:, 2] = 0.12 * np.cos(angle), 0.12 * np.sin(angle)
    out[:, 3] = -1
    out[:, 7] = np.arange(SOURCES)
    return out


def draw(width: int = 640, height: int = 360) -> np.ndarray:
    """A fountain of sparks after some steps."""
    picture = Picture(width, height)
    device = picture.device
    context = picture.context
    context.ia.set_input_layout(device.create_input_layout(LAYOUT))
    context.ia.set_primitive_topology(Topology.POINT_LIST)
    context.vs.set_shader(device.create_vertex_shader(vertex))
    declaration = Declaration([Entry(1), Entry(2)], {0: STRIDE})
    mover = GeometryShader(
        move, Topology.POINT_LIST, 2, stream_output={0: declaration}, rasterized=None
    )
    context.gs.set_shader(device.create_geometry_shader(mover))
    buffers = [device.create_buffer(STRIDE * ROOM, BOTH) for _ in range(2)]
    first = device.create_buffer(data=sources())
    for step in range(STEPS):
        context.gs.set_constant_buffers(0, [picture.constants(np.array([step]))])
        context.so.set_targets([buffers[step % 2]])
        context.ia.set_vertex_buffers(0, [buffers[1 - step % 2] if step else first], [STRIDE])
        if step:
            context.draw_auto()
        else:
            context.draw(SOURCES)
    context.so.set_targets([])

    context.ia.set_vertex_buffers(0, [buffers[1 - STEPS % 2]], [STRIDE])
    matrix = camera((0, 1.5, 5.2), (0, 0.85, 0), width / height, 42)
    context.gs.set_shader(device.create_geometry_shader(GeometryShader(billboard, most=8)))
    context.gs.set_constant_buffers(0, [picture.constants(matrix, np.array([width / height]))])
    context.ps.set_shader(device.create_pixel_shader(PixelShader(pixel)))
    context.rs.set_state(RasterizerState(cull=Cull.NONE, multisample_enable=True))
    context.om.set_depth_stencil_state(DepthStencilState(depth_enable=False))
    add = RenderTargetBlend(True, BlendFactor.ONE, BlendFactor.ONE)
    context.om.set_blend_state(BlendState([add]))
    context.draw_auto()
    return picture.image()


if __name__ == "__main__":
    main(draw, "particles")
