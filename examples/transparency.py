# SPDX-License-Identifier: BSD-2-Clause
"""Glass in any order: each pixel keeps a list of what covers it, which a second pass sorts.

The first pass counts nodes with the counter of a view, and puts each in front of its pixel's list;
the second blends them from far to near, for every sample those that cover it.
"""

import numpy as np
import trimesh

from fixfunc.examples.scaffold import Picture, camera, main, opaque, project, smooth
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import DepthStencilState, RasterizerState
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults
from fixfunc.spec.descriptors import UnorderedFlag
from fixfunc.spec.state import Cull

EYE = np.array((0.0, 2.6, 7.2), np.float32)
GROUND = np.array((0.80, 0.82, 0.86), np.float32)
DEEPEST = 24  # nodes of a pixel that are blended
ROOM = 8  # nodes a pixel, over the whole picture
END = 0xFFFFFFFF
NODE = np.dtype([("depth", "<f4"), ("next", "<u4"), ("samples", "<u4"), ("colour", "u1", 4)])
BOTH = Bind.SHADER_RESOURCE | Bind.UNORDERED_ACCESS


def vertex(waves: VertexWaves, bound: Bindings) -> VertexResults:
    """To clip space; normal, place and glass are attributes."""
    place = waves.floats(0)
    position = project(place[..., :3], bound.floats(0).reshape(4, 4))
    return VertexResults(position, np.stack([waves.floats(1), place, waves.floats(2)], 2))


def on_screen(waves: VertexWaves, _bound: Bindings) -> VertexResults:
    """Positions are those of clip space already."""
    return VertexResults(opaque(waves.floats(0)[..., :3]))


def keep(quads: PixelQuads, bound: Bindings) -> PixelResults:
    """Put fragments in front of their pixels' lists."""
    width = int(bound.floats(0)[0])
    nodes, heads = bound.unordered(0).view(NODE), bound.unordered(1).view("<u4")
    number = bound.increment(0, quads.live)[quads.live]
    fits = number < len(nodes)
    number = number[fits]
    made = np.zeros(len(number), NODE)
    made["depth"] = quads.position[quads.live][fits, 2]
    made["samples"] = (quads.covered << np.arange(quads.covered.shape[3])).sum(3)[quads.live][fits]
    made["colour"] = np.rint(_glass(quads)[quads.live][fits] * np.float32(255)).astype(np.uint8)
    pixel = (quads.y * width + quads.x)[quads.live][fits]
    # As an exchange of one lane after the other: each is followed by the one before on its pixel.
    order = np.argsort(pixel, kind="stable")
    again = np.append(False, pixel[order][1:] == pixel[order][:-1])
    before = np.append(0, number[order][:-1])
    made["next"][order] = np.where(again, before, heads[pixel[order]])
    heads[pixel] = number
    nodes[number] = made
    return PixelResults([])


def _glass(quads):
    """Colour and opacity: more of it where a surface is seen from the side."""
    normal = quads.floats(0)[..., :3]
    towards = EYE - quads.floats(1)[..., :3]
    cosine = np.abs((normal * towards).sum(-1)) / (_length(normal) * _length(towards))
    hue = quads.floats(2)[..., :1] + np.float32((0.0, 1 / 3, 2 / 3))
    tint = np.float32(0.55) + np.float32(0.45) * np.cos(np.float32(2 * np.pi) * hue)
    rim = (np.float32(1) - cosine[..., None]) ** 3
    alpha = np.float32(0.22) + np.float32(0.7) * rim
    return np.clip(np.concatenate([tint + rim * np.float32(0.35), alpha], -1), 0, 1)


def _length(vector):
    return np.sqrt((vector * vector).sum(-1)) + np.float32(1e-20)


def show(quads: PixelQuads, bound: Bindings) -> PixelResults:
    """Blend the nodes of a sample, far ones first, over a ground with a soft light."""
    width, height = bound.floats(0)[:2]
    nodes, heads = bound.buffer(0).view(NODE), bound.buffer(1).view("<u4")
    link = heads[np.minimum(quads.y * int(width) + quads.x, len(heads) - 1)]
    depths, colours = [], []
    for _ in range(DEEPEST):
        node = nodes[np.where(link == END, 0, link)]
        covers = (link != END) & (node["samples"] >> quads.sample[:, None, None] & 1 != 0)
        depths.append(np.where(covers, node["depth"], np.float32(2)))
        colours.append(node["colour"].astype(np.float32) * covers[..., None] / np.float32(255))
        link = np.where(link == END, END, node["next"])
    order = np.argsort(-np.stack(depths), axis=0, kind="stable")
    colours = np.take_along_axis(np.stack(colours), order[..., None], 0)
    across, down = (quads.x / width - 0.5, quads.y / height - 0.5)
    light = (1 - 0.9 * (across**2 + down**2)).astype(np.float32)
    out = light[..., None] * GROUND
    for colour in colours:
        out = out + (colour[..., :3] - out) * colour[..., 3:]
    return PixelResults(opaque(out))


def shapes() -> list[tuple[np.ndarray, np.ndarray]]:
    """Vertices, float32 of shape (n, 8), and faces of things that go through one another."""
    ball = trimesh.creation.icosphere(4, 1.0)
    out = [(smooth(ball.vertices, ball.faces, (0.08, 0)), ball.faces)]
    for n in range(7):
        ring = trimesh.creation.torus(1.05, 0.26, major_sections=48, minor_sections=20)
        turn = trimesh.transformations.rotation_matrix(2 * np.pi * n / 7, (0, 1, 0))
        move = trimesh.transformations.translation_matrix((1.5, 0, 0))
        points = trimesh.transform_points(ring.vertices, turn @ move)
        out.append((smooth(points, ring.faces, (n / 7, 0)), ring.faces))
    return out


def draw(width: int = 640, height: int = 360) -> np.ndarray:
    """Rings and a ball of glass, drawn in any order."""
    picture = Picture(width, height)
    device = picture.device
    context = picture.context
    size = NODE.itemsize
    nodes = device.create_buffer(size * ROOM * width * height, BOTH, stride=size)
    heads = device.create_buffer(4 * width * height, BOTH)
    node_view = device.create_unordered_access_view(nodes, flag=UnorderedFlag.COUNTER)
    head_view = device.create_unordered_access_view(heads)
    context.clear_unordered_access_view_uint(head_view, END)
    context.rs.set_state(RasterizerState(cull=Cull.NONE, multisample_enable=True))
    context.om.set_depth_stencil_state(DepthStencilState(depth_write=False))
    matrix = camera(tuple(EYE), (0, -0.25, 0), width / height, 38)
    picture.shaders(vertex, keep, picture.constants(matrix))
    keeper = PixelShader(keep, unordered=True)
    context.ps.set_shader(device.create_pixel_shader(keeper))
    context.ps.set_constant_buffers(0, [picture.constants(np.array([width, height]))])
    context.ps.set_unordered_access_views(0, [node_view, head_view], [0, -1])
    for vertices, faces in shapes():
        context.draw_indexed(picture.mesh(vertices, faces))

    context.ps.set_unordered_access_views(0, [None, None])
    views = [device.create_shader_resource_view(buffer) for buffer in (nodes, heads)]
    context.ps.set_shader_resources(0, views)
    context.vs.set_shader(device.create_vertex_shader(on_screen))
    shower = PixelShader(show, sample_index=True)
    context.ps.set_shader(device.create_pixel_shader(shower))
    screen = np.zeros((3, 8), np.float32)
    screen[:, :2] = (-1, 3), (3, -1), (-1, -1)
    context.draw_indexed(picture.mesh(screen))
    return picture.image()


if __name__ == "__main__":
    main(draw, "transparency")
