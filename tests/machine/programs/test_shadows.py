# SPDX-License-Identifier: BSD-2-Clause
"""Shadows without depth clip, beside Mesa's llvmpipe.

Casters in front of a lamp's near plane cast their shadow, and a volume that the camera's planes
cut still counts [fs 15.4, 17.10]: depths are cut sample by sample, not at corners.
"""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.examples.scaffold import camera
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.texture.sampler import Sampler
from fixfunc.spec.state import Compare, StencilOp
from tests.machine.frames import shapes
from tests.machine.frames.drawing import Drawing
from tests.machine.frames.scene import SIZE, Bound, Frame, Pass, Stencil
from tests.machine.frames.scenes import PLAIN, opaque, plain

SMALL = np.float32(0.004)
FILTERED = Sampler(
    mip="point",
    address=("clamp", "clamp"),
    reduction="comparison",
    comparison=Compare.LESS_EQUAL,
)
SHADOWED = """
float light = textureLod(t0, vec3(a1.xy, clamp(a1.z - 0.004, 0.0, 1.0)), 0.0);
colour = vec4(a0.rgb * (0.3 + 0.7 * light), 1.0);
"""


def shadowed(quads, bound):
    """Light where nothing is nearer to the lamp."""
    place = quads.floats(1)
    # As depths of the map are cut, so are those that are compared with them.
    depth = np.clip(place[..., 2] - SMALL, np.float32(0), np.float32(1))
    light = bound.sample_compare(0, 0, place[..., :2], depth, lod=0)
    share = np.float32(0.3) + np.float32(0.7) * light[..., None]
    return PixelResults(opaque(quads.floats(0)[..., :3] * share))


def lamp_from(direction, near, far, width=3.0):
    """A lamp far away: to its clip space, depths 0 at ``near`` and 1 at ``far`` along its rays."""
    back = np.array(direction) / np.linalg.norm(direction)
    right = np.cross((0, 0, -1), back)
    right /= np.linalg.norm(right)
    out = np.eye(4)
    out[0, :3] = right / width
    out[1, :3] = np.cross(back, right) / width
    out[2, :3] = -back / (far - near)
    out[2, 3] = -near / (far - near)
    return out


def map_frame(near, far, depth_clip=False):
    """A torus and a tall slanted board, and their shadow on the ground."""
    matrix = shapes.view(eye=(2.6, 2.4, 3.0))
    lamp = lamp_from((0.5, 0.9, 0.3), near, far)
    points, _, faces = shapes.torus()
    board = np.array([(-1.6, -0.4, -1.2), (-0.6, -0.4, -1.4), (-0.4, 2.5, -0.2), (-1.4, 2.5, 0)])
    floor, _, floor_faces = shapes.ground(2.4, -0.5)
    parts = (
        (points, faces, (0.9, 0.5, 0.2)),
        (board, np.array([(0, 1, 2), (0, 2, 3)]), (0.3, 0.6, 0.8)),
        (floor, floor_faces, (0.7, 0.7, 0.75)),
    )
    passes = []
    for those, triangles, _ in parts:
        seen = shapes.vertices(shapes.projected(those, lamp))
        caster = Pass(seen, None, "", triangles, into_shadow=True, depth_clip=depth_clip)
        passes.append(caster)
    for those, triangles, tint in parts:
        seen = shapes.projected(those, lamp)
        place = np.stack([seen[:, 0] / 2 + 0.5, 0.5 - seen[:, 1] / 2, seen[:, 2]], 1)
        colour = shapes.light(those if those is points else np.array([(0, 1, 0)])) * tint
        colour = np.broadcast_to(colour, (len(those), 3))
        vertices = shapes.vertices(shapes.projected(those, matrix), colour, place)
        passes.append(Pass(vertices, shadowed, SHADOWED, triangles, [Bound(None, FILTERED)]))
    return Frame(passes)


def volume_frame(eye, at, reach, depth_clip=False):
    """A slab's shadow, counted where it fails the depth test: it may reach beyond any plane."""
    matrix = np.float64(camera(eye, at, SIZE[0] / SIZE[1], far=6))
    lit, (hidden, volume) = shapes.shadowed(matrix, np.array([1.2, -3.0, 1.0]) * reach)
    count = Stencil(
        front=(StencilOp.KEEP, StencilOp.DECR, StencilOp.KEEP),
        back=(StencilOp.KEEP, StencilOp.INCR, StencilOp.KEEP),
    )

    def dark(quads, _bound):
        return PixelResults(opaque(quads.floats(0)[..., :3] * np.float32(0.3)))

    counted = Pass(hidden, None, "", volume, stencil=count)
    counted = replace(counted, depth_write=False, colour=False, depth_clip=depth_clip)
    outside = Stencil(Compare.EQUAL)
    return Frame(
        [
            *(Pass(of, dark, "colour = vec4(a0.rgb * 0.3, 1.0);", faces) for of, faces in lit),
            counted,
            *(Pass(of, plain, PLAIN, faces, stencil=outside) for of, faces in lit),
        ]
    )


def drawn(frame):
    """Colours of the machine's picture: int, shape (height, width, 3)."""
    return Drawing(frame).image()[..., :3].astype(int)


# llvmpipe keeps depths of the map in 24 bits and the machine in floats: where a shadow's edge runs
# along a texel, comparisons of nearly equal depths differ.
ALLOWED = 0.001
# Edges that are cut where w is nearly zero end in corners that are snapped otherwise: of a side of
# the volume a pixel in ten.
EDGES = 0.0002


def differing(ours, theirs):
    """The share of pixels that differ by more than 2 of 255."""
    return (np.abs(ours - theirs).max(2) > 2).mean()


# Near and far planes of the lamp: in front of all casters, through them, behind them all.
@pytest.mark.plan("frames-4")
@pytest.mark.parametrize("near, far", [(-3.5, 1.5), (-0.6, 1.5), (-0.2, 0.9), (-3.5, 0.2)])
def test_a_shadow_map_without_depth_clip(llvmpipe_frames, near, far):
    ours = drawn(map_frame(near, far))
    theirs = llvmpipe_frames()(map_frame(near, far))[..., :3].astype(int)
    assert differing(ours, theirs) <= ALLOWED, differing(ours, theirs)
    if near == -0.6:  # casters that are cut cast less of a shadow: the state is seen
        assert differing(drawn(map_frame(near, far, True)), theirs) > 2 * ALLOWED


# Cameras outside of the volume, at its edge, and in it, along the light.
CAMERAS = {
    "outside": ((2.6, 2.2, 3.0), (0, -0.4, 0)),
    "edge": ((0.75, -0.2, 0.7), (0, -0.4, 0)),
    "inside": ((0.1, 0.35, 0.1), (0.5, -0.6, 0.43)),
}


@pytest.mark.plan("frames-4")
@pytest.mark.parametrize("name", CAMERAS)
@pytest.mark.parametrize("reach", [1, 90])
def test_shadow_volumes_around_the_camera(llvmpipe_frames, name, reach):
    camera_at = CAMERAS[name]
    ours = drawn(volume_frame(*camera_at, reach))
    theirs = llvmpipe_frames()(volume_frame(*camera_at, reach))[..., :3].astype(int)
    assert differing(ours, theirs) <= EDGES, differing(ours, theirs)
    if (name, reach) == ("inside", 90):  # a volume that is cut has no end there: it is seen
        assert differing(drawn(volume_frame(*camera_at, reach, True)), theirs) > 0.001
