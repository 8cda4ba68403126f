# SPDX-License-Identifier: BSD-2-Clause
"""Eight scenes. Shaders are written twice: in numpy for the machine, in GLSL for others."""

import numpy as np

from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.texture.sampler import Sampler
from fixfunc.spec.state import Compare, StencilOp
from tests.machine.frames import shapes
from tests.machine.frames.scene import Bound, Frame, Pass, Patches, Stencil

SMOOTH = Sampler(address=("wrap", "wrap"))
ONE = np.float32(1)


def opaque(colour):
    """Colours with alpha 1."""
    out = np.ones((*colour.shape[:-1], 4), np.float32)
    out[..., :3] = colour
    return out


def plain(quads, _bound):
    """The first attribute."""
    return PixelResults(quads.floats(0))


PLAIN = "colour = a0;"


# Scene 1: an indexed mesh with two textures.


def _two(quads, bound):
    uv = quads.floats(0)
    first = bound.sample(0, 0, uv[..., :2])
    second = bound.sample(1, 1, uv[..., 2:])
    share = quads.floats(1)[..., 1:2]
    colour = (first + (second - first) * share) * quads.floats(1)[..., :1]
    return PixelResults(opaque(colour[..., :3]))


def textured_mesh():
    """A torus whose texture fades into another."""
    points, uv, faces = shapes.torus()
    both = np.concatenate([uv * (4, 2), uv * (1, 3)], 1)
    shade = np.concatenate([shapes.light(points * (0.6, 1, 0.6)), 0.5 + points[:, :1] / 3], 1)
    vertices = shapes.vertices(shapes.projected(points, shapes.view()), both, shade)
    textures = [Bound(shapes.waves(seed=1), SMOOTH), Bound(shapes.waves(64, 3, 2), SMOOTH)]
    glsl = """
    vec4 first = texture(t0, a0.xy), second = texture(t1, a0.zw);
    colour = vec4((mix(first, second, a1.y) * a1.x).rgb, 1.0);
    """
    return Frame([Pass(vertices, _two, glsl, faces, textures)])


# Scene 2: foliage, by a test of alpha.


def _cut(quads, bound):
    texel = bound.sample(0, 0, quads.floats(0)[..., :2])
    colour = opaque(texel[..., :3] * quads.floats(0)[..., 2:3])
    return PixelResults(colour, texel[..., 3] < np.float32(0.5))


def foliage():
    """Cards with leaves, in any order."""
    rng = np.random.default_rng(3)
    rows = []
    for _ in range(60):
        place = rng.uniform(-1.2, 1.2, 3) * (1, 0.5, 1)
        turn = rng.uniform(0, np.pi)
        across = np.array([np.cos(turn), 0, np.sin(turn)]) * 0.45
        up = np.array([0, 0.45, 0])
        card = [place - across - up, place + across - up, place + across + up, place - across + up]
        shade = rng.uniform(0.5, 1)
        for corner in (0, 1, 2, 0, 2, 3):
            uv = ((0, 1), (1, 1), (1, 0), (0, 0))[corner]
            rows.append([*card[corner], *uv, shade])
    rows = np.array(rows)
    vertices = shapes.vertices(shapes.projected(rows[:, :3], shapes.view()), rows[:, 3:])
    glsl = """
    vec4 texel = texture(t0, a0.xy);
    if (texel.a < 0.5) discard;
    colour = vec4(texel.rgb * a0.z, 1.0);
    """
    clamped = Sampler(address=("clamp", "clamp"))
    leaves = [Bound(shapes.leaves(), clamped)]
    return Frame([Pass(vertices, _cut, glsl, None, leaves, {"discards": True})])


# Scene 3: particles, blended over what is there.


def _soft(quads, _bound):
    place = quads.floats(0)[..., :2]
    square = (place * place).sum(-1)
    alpha = np.clip(ONE - square, 0, 1) * quads.floats(1)[..., 3]
    return PixelResults(np.concatenate([quads.floats(1)[..., :3], alpha[..., None]], -1))


def _glowing(quads, bound):
    soft = _soft(quads, bound).colour
    return PixelResults(opaque(soft[..., :3] * soft[..., 3:]))


def particles():
    """Soft discs in front of a torus, some over and some added; depths are not written."""
    points, _, faces = shapes.torus()
    matrix = shapes.view()
    solid = shapes.vertices(
        shapes.projected(points, matrix), opaque(shapes.light(points).repeat(3, 1))
    )
    rng = np.random.default_rng(5)
    centre = shapes.projected(rng.uniform(-1.3, 1.3, (40, 3)), matrix)
    centre = centre[np.argsort(-centre[:, 3])]
    corner = np.array([(-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1)])
    positions = centre.repeat(6, 0)
    positions[:, :2] += np.tile(corner, (40, 1)) * (0.35, 0.6)
    colour = rng.uniform(0.1, 0.9, (40, 4)).repeat(6, 0)
    vertices = shapes.vertices(positions, np.tile(corner, (40, 1)), colour)
    glsl = "colour = vec4(a1.rgb, clamp(1.0 - dot(a0.xy, a0.xy), 0.0, 1.0) * a1.a);"
    glow = glsl + "colour = vec4(colour.rgb * colour.a, 1.0);"
    half = 20 * 6
    soft = {"depth_write": False}
    return Frame(
        [
            Pass(solid, plain, PLAIN, faces),
            Pass(vertices[:half], _soft, glsl, blend="over", **soft),
            Pass(vertices[half:], _soft, glsl, blend="over", **soft),
            Pass(vertices[: 9 * 6], _glowing, glow, blend="add", **soft),
        ]
    )


# Scene 4: a shadow by the stencil.


def stencil_shadow():
    """The volume of a slab's shadow, counted behind what is seen."""
    matrix = shapes.view(eye=(2.6, 2.2, 3.0))
    lit, (hidden, volume) = shapes.shadowed(matrix, np.array([-1.2, -3.0, -0.8]))
    count = Stencil(
        front=(StencilOp.KEEP, StencilOp.DECR, StencilOp.KEEP),
        back=(StencilOp.KEEP, StencilOp.INCR, StencilOp.KEEP),
    )
    outside = Stencil(Compare.EQUAL)

    def dark(quads, _bound):
        return PixelResults(opaque(quads.floats(0)[..., :3] * np.float32(0.3)))

    dim = "colour = vec4(a0.rgb * 0.3, 1.0);"
    return Frame(
        [
            *(Pass(those, dark, dim, faces) for those, faces in lit),
            Pass(hidden, None, "", volume, depth_write=False, stencil=count, colour=False),
            *(Pass(those, plain, PLAIN, faces, stencil=outside) for those, faces in lit),
        ]
    )


# Scene 5: a shadow map.


def _shadowed(quads, bound):
    place = quads.floats(1)
    light = bound.sample_compare(0, 0, place[..., :2], place[..., 2] - np.float32(0.004), lod=0)
    share = np.float32(0.3) + np.float32(0.7) * light[..., None]
    return PixelResults(opaque(quads.floats(0)[..., :3] * share))


def shadow_map():
    """A torus and its shadow, filtered over four texels."""
    matrix = shapes.view(eye=(2.6, 2.4, 3.0))
    lamp = shapes.view(eye=(1.5, 3.5, 1.0), degrees=60)
    points, _, faces = shapes.torus()
    floor, _, floor_faces = shapes.ground(2.4, -0.5)
    parts = ((points, faces, (0.9, 0.5, 0.2)), (floor, floor_faces, (0.7, 0.7, 0.75)))
    passes = [
        Pass(
            shapes.vertices(shapes.projected(those, lamp)),
            None,
            "",
            triangles,
            into_shadow=True,
        )
        for those, triangles, _ in parts
    ]
    state = Sampler(
        mip="point",
        address=("clamp", "clamp"),
        reduction="comparison",
        comparison=Compare.LESS_EQUAL,
    )
    glsl = """
    float light = textureLod(t0, vec3(a1.xy, a1.z - 0.004), 0.0);
    colour = vec4(a0.rgb * (0.3 + 0.7 * light), 1.0);
    """
    for those, triangles, tint in parts:
        seen = shapes.projected(those, lamp)
        seen = seen[:, :3] / seen[:, 3:]
        place = np.stack([seen[:, 0] / 2 + 0.5, 0.5 - seen[:, 1] / 2, seen[:, 2]], 1)
        colour = shapes.light(those if those is points else np.array([(0, 1, 0)])) * tint
        colour = np.broadcast_to(colour, (len(those), 3))
        vertices = shapes.vertices(shapes.projected(those, matrix), colour, place)
        passes.append(Pass(vertices, _shadowed, glsl, triangles, [Bound(None, state)]))
    return Frame(passes)


# Scene 6: a ball that mirrors a cube.


def _mirrored(quads, bound):
    texel = bound.sample(0, 0, quads.floats(0)[..., :3], lod=0)
    return PixelResults(opaque(texel[..., :3]))


def mirrored_ball():
    """A ball that shows a sky."""
    eye = np.array((2.2, 1.6, 2.4))
    points, _, faces = shapes.sphere()
    towards = points - eye
    towards /= np.linalg.norm(towards, axis=1, keepdims=True)
    mirror = towards - 2 * (towards * points).sum(1, keepdims=True) * points
    vertices = shapes.vertices(shapes.projected(points, shapes.view(eye)), mirror)
    glsl = "colour = vec4(textureLod(t0, a0.xyz, 0.0).rgb, 1.0);"
    cube = [Bound(shapes.sky(), Sampler(mip="point"))]
    return Frame([Pass(vertices, _mirrored, glsl, faces, cube)])


# Scene 7: terrain from patches.


def _hills(x, z):
    return np.float32(0.25) * np.sin(2 * x) * np.cos(np.float32(1.7) * z)


def tessellated_terrain():
    """Four by four patches, each of sixteen by sixteen quads."""
    matrix = shapes.view(eye=(2.2, 1.8, 2.6)).astype(np.float32)

    def domain(waves, _bound):
        corner = waves.hull.control[waves.patch][..., 0, :]  # (w, 32, 4, 4)
        u, v = waves.uv[..., 0, None], waves.uv[..., 1, None]
        low = corner[..., 0, :] * (ONE - u) + corner[..., 1, :] * u
        high = corner[..., 3, :] * (ONE - u) + corner[..., 2, :] * u
        point = low * (ONE - v) + high * v
        y = _hills(point[..., 0], point[..., 2]).astype(np.float32)
        place = np.stack([point[..., 0], y, point[..., 2], np.ones_like(y)], -1)
        position = np.stack([(place * row).sum(-1) for row in matrix], -1).astype(np.float32)
        tint = np.stack([ONE / 2 + y, ONE / 2 + 0 * y, ONE / 2 - y, np.ones_like(y)], -1)
        return VertexResults(position, tint[..., None, :].astype(np.float32))

    rows = ", ".join(f"vec4({', '.join(f'{v:.9g}' for v in row)})" for row in matrix)
    glsl = f"""
    vec4 low = mix(p0[0], p0[1], gl_TessCoord.x), high = mix(p0[3], p0[2], gl_TessCoord.x);
    vec4 p = mix(low, high, gl_TessCoord.y);
    p.y = 0.25 * sin(2.0 * p.x) * cos(1.7 * p.z);
    p.w = 1.0;
    vec4 rows[4] = vec4[]({rows});
    gl_Position = vec4(dot(p, rows[0]), -dot(p, rows[1]), dot(p, rows[2]), dot(p, rows[3]));
    e0 = vec4(0.5 + p.y, 0.5, 0.5 - p.y, 1.0);
    """
    cells = []
    for j in range(4):
        for i in range(4):
            for dx, dz in ((0, 0), (1, 0), (1, 1), (0, 1)):
                cells.append(((i + dx) * 0.8 - 1.6, 0, (j + dz) * 0.8 - 1.6, 1))
    vertices = shapes.vertices(np.array(cells), np.array(cells))
    patches = Patches(16, domain, glsl)
    return Frame([Pass(vertices, plain, PLAIN, patches=patches)])


# Scene 8: four samples a pixel, and their mean.


def multisampled():
    """A fan of thin triangles and a torus, four samples a pixel."""
    points, _, faces = shapes.torus(24, 12)
    tint = opaque(shapes.light(points) * (0.9, 0.7, 0.4))
    solid = shapes.vertices(shapes.projected(points, shapes.view()), tint)
    angle = np.linspace(0, 2 * np.pi, 61)
    rows = []
    for n in range(0, 60, 2):
        rows += [(0, 0), (np.cos(angle[n]), np.sin(angle[n]))]
        rows += [(np.cos(angle[n + 1]), np.sin(angle[n + 1]))]
    rows = np.array(rows)
    flat = np.concatenate([rows, np.full((len(rows), 1), 0.95), np.ones((len(rows), 1))], 1)
    fan = shapes.vertices(flat, np.tile((0.3, 0.6, 0.9, 1), (len(rows), 1)))
    return Frame([Pass(fan, plain, PLAIN), Pass(solid, plain, PLAIN, faces)], samples=4)


SCENES = {
    scene.__name__: scene
    for scene in (
        textured_mesh,
        foliage,
        particles,
        stencil_shadow,
        shadow_map,
        mirrored_ball,
        tessellated_terrain,
        multisampled,
    )
}
