# SPDX-License-Identifier: BSD-2-Clause
"""Reflections: a room is drawn into the six faces of a cube, and looked at all around.

Corners of the room have colours that change along its walls, so that what a direction shows is
known. Directions along edges and corners of faces are among those that are looked at [fs 7.18.12].
"""

import numpy as np
import pytest

from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import DepthStencilState, RasterizerState, SamplerState
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import Cull
from tests.host.drawing import WHOLE, Scene

EDGE = 64  # pixels of a face
ROOM = np.array((1.0, 0.75, 1.25))  # half of its sides
# Where the camera of each face looks, and what is up for it: x, y and z are those of a left hand.
LOOKS = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))
UPS = ((0, 1, 0), (0, 1, 0), (0, 0, -1), (0, 0, 1), (0, 1, 0), (0, 1, 0))
BOTH = Bind.RENDER_TARGET | Bind.SHADER_RESOURCE
NEAR, FAR = 0.1, 10


def walls():
    """Triangles of the room: float64, shape (36, 3)."""
    out = []
    for axis in range(3):
        for side in (-1, 1):
            u, v = (n for n in range(3) if n != axis)
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1)):
                corner = np.zeros(3)
                corner[[axis, u, v]] = side, a, b
                out.append(corner * ROOM)
    return np.array(out)


def tint(points):
    """Colours on the walls: 0.1 to 0.9."""
    return 0.5 + 0.4 * points / ROOM


def hit(directions):
    """Where directions from the middle meet a wall."""
    return directions / (np.abs(directions) / ROOM).max(-1, keepdims=True)


def seen_by(face, points):
    """Points in the clip space of a face's camera, which sees a right angle."""
    look, up = np.array(LOOKS[face], float), np.array(UPS[face], float)
    right = np.cross(up, look)
    x, y, z = points @ right, points @ up, points @ look
    return np.stack([x, y, (z - NEAR) * FAR / (FAR - NEAR), z], 1)


class Room(Scene):
    """A scene with a cube that shows the room."""

    def __init__(self, width, height, form=Format.R8G8B8A8_UNORM):
        super().__init__(width, height)
        device, context = self.device, self.context
        cube = device.create_texture2d(
            form, EDGE, EDGE, mip_levels=0, array_size=6, bind=BOTH, cube=True
        )
        depths = device.create_texture2d(
            Format.D24_UNORM_S8_UINT, EDGE, EDGE, bind=Bind.DEPTH_STENCIL
        )
        depth = device.create_depth_stencil_view(depths)
        context.rs.set_viewports([Viewport(width=EDGE, height=EDGE)])
        for face in range(6):
            view = device.create_render_target_view(cube, first_layer=face, layer_count=1)
            context.clear_render_target_view(view, (0, 0, 0, 0))
            context.clear_depth_stencil_view(depth, 1.0)
            context.om.set_render_targets([view], depth)
            rows = np.ones((36, 8), np.float32)
            rows[:, :4] = seen_by(face, walls())
            rows[:, 4:7] = tint(walls())
            self.bind(rows)
            context.draw(36)
        self.view = device.create_shader_resource_view(cube, cube=True)
        context.generate_mips(self.view)
        context.om.set_render_targets([self.target], self.depth)
        context.rs.set_viewports([Viewport(width=width, height=height)])
        context.rs.set_state(RasterizerState(cull=Cull.NONE))
        context.om.set_depth_stencil_state(DepthStencilState(depth_enable=False))
        context.ps.set_shader_resources(0, [self.view])

    def look(self, directions, level=0.0, smooth="linear"):
        """Sample the cube for each pixel: int, shape (height, width, 3)."""
        table = np.float32(directions)

        def shader(quads, bound):
            inside = np.minimum(quads.y, len(table) - 1), np.minimum(quads.x, table.shape[1] - 1)
            return PixelResults(bound.sample(0, 0, table[inside], lod=level))

        self.context.ps.set_samplers(0, [SamplerState(smooth, smooth, "point")])
        self.shade(shader)
        self.draw(WHOLE)
        return self.image()[:, :, 0, :3].astype(int)


def around(width, height):
    """Directions all around."""
    angle = (np.arange(width) + 0.5) / width * 2 * np.pi
    lift = ((np.arange(height) + 0.5) / height - 0.5) * np.pi
    across = np.cos(lift)[:, None]
    flat = across * np.sin(angle), np.sin(lift)[:, None] + 0 * angle, across * np.cos(angle)
    return np.stack(flat, -1)


def along_seams(count=48):
    """Directions along every edge of the cube, ends with it, and a little to both sides."""
    out = []
    for axis in range(3):
        for a in (-1, 1):
            for b in (-1, 1):
                for beside in (-1e-3, 0, 1e-3):
                    row = np.empty((count, 3))
                    others = [n for n in range(3) if n != axis]
                    row[:, axis] = np.linspace(-1, 1, count)
                    row[:, others] = a + beside, b
                    out.append(row)
    return np.stack(out)


# A texel is a 32nd of half a face, over which the walls' colours change by 1.25 / 0.75 of it at
# most; the filter's corners of the room are half a texel off.
ERROR = 255 * 0.4 / 32 * 1.25 / 0.75


@pytest.mark.plan("frames-11")
@pytest.mark.parametrize("made, size", [(around, (96, 48)), (along_seams, (48, 36))])
@pytest.mark.parametrize("smooth", ["linear", "point"])
def test_the_cube_shows_the_room_in_every_direction(made, size, smooth):
    directions = made(*size) if made is around else made()
    found = Room(*size).look(directions, smooth=smooth)
    wanted = 255 * tint(hit(directions))
    assert np.abs(found - wanted).max() <= ERROR + 1, np.abs(found - wanted).max()


@pytest.mark.plan("frames-11")
@pytest.mark.parametrize("level", [1, 2])
def test_smaller_levels_have_no_seams(level):
    """Across an edge colours change no more than a texel of the level allows."""
    directions = along_seams()
    found = Room(48, 36).look(directions, level)
    before, on, behind = (found[n::3] for n in range(3))
    for beside in (before, behind):
        assert np.abs(beside - on).max() <= 2
    wanted = 255 * tint(hit(directions))
    assert np.abs(found - wanted).max() <= ERROR * 2**level + 1


@pytest.mark.plan("frames-11")
def test_a_ball_mirrors_the_room():
    """The eye looks along z from afar: what a point of the ball reflects follows from its place."""
    size = 48
    x, y = np.meshgrid(*[(np.arange(size) + 0.5) / size * 2 - 1] * 2)
    y = -y
    square = x**2 + y**2
    on_ball = square < 0.9
    normal = np.stack([x, y, -np.sqrt(np.maximum(1 - square, 0))], -1)
    eye = np.array((0.0, 0, 1))
    mirrored = eye - 2 * (normal @ eye)[..., None] * normal
    found = Room(size, size).look(mirrored)
    wanted = 255 * tint(hit(mirrored))
    assert np.abs(found - wanted)[on_ball].max() <= ERROR + 1
    assert on_ball.sum() > 1000
