# SPDX-License-Identifier: BSD-2-Clause
"""Particles that a geometry shader moves from buffer to buffer, and draw_auto draws.

Old ones die, some split in two, and the host never hears how many there are [fs 14.4, 14.5]. Every
particle is followed one by one in float32.
"""

import numpy as np
import pytest

from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry.geometry_stage import Emitted
from fixfunc.models.geometry.stream_output import Declaration, Entry
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import BlendState, DepthStencilState, RenderTargetBlend
from fixfunc.models.machine.shaders import GeometryShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor
from tests.host.drawing import Scene

STRIDE = 32  # bytes: place, speed, age, number
WIDTH, HEIGHT = 32, 24
GRAVITY = np.float32(-1 / 64)
OLD, SPLITS = 7, 3  # ages in steps
STEP = np.float32(1 / 255)
KEPT = Bind.STREAM_OUTPUT | Bind.VERTEX_BUFFER


def vertex(waves, _bound):
    """A particle as it lies in the buffer."""
    rows = np.stack([waves.floats(0), waves.floats(1)], 2)
    return VertexResults(waves.floats(0), rows)


def moved(inputs, _bound):
    """Particles a step later: the old ones die, those of one age split."""
    place, other = np.moveaxis(inputs.attributes.view(np.float32)[:, 0], 1, 0)
    age = other[:, 2] + np.float32(1)
    speed = np.stack([other[:, 0], other[:, 1] + GRAVITY], 1)
    place = place.copy()
    place[:, :2] += speed
    rows = np.stack([place, np.concatenate([speed, age[:, None], other[:, 3:]], 1)], 1)
    twins = rows.copy()
    twins[:, 1, 0] = -twins[:, 1, 0]
    twins[:, 1, 3] += np.float32(0.5)
    alive = np.flatnonzero(age < OLD)
    split = np.flatnonzero(age == SPLITS)
    invocation = np.concatenate([alive, split])
    order = np.argsort(invocation, kind="stable")
    both = np.concatenate([rows[alive], twins[split]])[order]
    return Emitted(invocation[order], both[:, 0].copy(), both)


def simulated(rows):
    """The same, one after the other: float32, shape (n, 8)."""
    out = []
    for x, y, z, w, right, before, years, number in rows:
        age = years + np.float32(1)
        if age >= OLD:
            continue
        up = before + GRAVITY
        row = [x + right, y + up, z, w, right, up, age, number]
        out.append(row)
        if age == SPLITS:
            out.append([*row[:4], -right, up, age, number + np.float32(0.5)])
    return np.array(out, np.float32).reshape(-1, 8)


def begin(count, seed):
    """Particles of ages and speeds of their own."""
    rng = np.random.default_rng(seed)
    out = np.zeros((count, 8), np.float32)
    out[:, :2] = rng.integers(-40, 41, (count, 2)) / 64
    out[:, 2:4] = 0.5, 1
    out[:, 4:6] = rng.integers(-8, 9, (count, 2)) / 128
    out[:, 6] = rng.integers(0, OLD, count)
    out[:, 7] = np.arange(count)
    return out


class Fountain(Scene):
    """Two buffers of particles, one of which is read while the other one is written."""

    def __init__(self, rows, room=256):
        super().__init__(WIDTH, HEIGHT)
        device, context = self.device, self.context
        elements = [Element(n, Format.R32G32B32A32_FLOAT, offset=16 * n) for n in range(2)]
        context.ia.set_input_layout(device.create_input_layout(elements))
        context.ia.set_primitive_topology(Topology.POINT_LIST)
        context.vs.set_shader(device.create_vertex_shader(vertex))
        declaration = Declaration([Entry(1), Entry(2)], {0: STRIDE})
        program = GeometryShader(
            moved, Topology.POINT_LIST, 2, stream_output={0: declaration}, rasterized=None
        )
        self._program = device.create_geometry_shader(program)
        self._buffers = [device.create_buffer(STRIDE * room, KEPT) for _ in range(2)]
        self._statistics = device.create_query(QueryKind.SO_STATISTICS)
        context.om.set_blend_state(
            BlendState([RenderTargetBlend(True, BlendFactor.ONE, BlendFactor.ONE)])
        )
        self._first = device.create_buffer(data=rows)
        self._count = len(rows)
        self._steps = 0

    def step(self):
        """Move all particles; returns how many are written and how many would have been."""
        context = self.context
        context.gs.set_shader(self._program)
        context.so.set_targets([self._buffers[self._steps % 2]])
        context.begin(self._statistics)
        if self._steps:
            context.ia.set_vertex_buffers(0, [self._buffers[1 - self._steps % 2]], [STRIDE])
            context.draw_auto()
        else:
            context.ia.set_vertex_buffers(0, [self._first], [STRIDE])
            context.draw(self._count)
        context.end(self._statistics)
        context.so.set_targets([])
        context.gs.set_shader(None)
        self._steps += 1
        return context.get_data(self._statistics)

    def particles(self, count):
        """The first particles of the buffer that has been written."""
        data = self.context.read(self._buffers[1 - self._steps % 2])
        return data.view("<f4").reshape(-1, 8)[:count]

    def points(self):
        """How many particles each pixel shows: int, shape (height, width)."""
        self.context.clear_render_target_view(self.target, (0, 0, 0, 0))
        self.context.om.set_depth_stencil_state(DepthStencilState(depth_enable=False))
        self.context.ia.set_vertex_buffers(0, [self._buffers[1 - self._steps % 2]], [STRIDE])

        def each(quads, _bound):
            return PixelResults(np.full((*quads.x.shape, 4), STEP, np.float32))

        self.shade(each)
        self.context.draw_auto()
        return self.image()[:, :, 0, 0].astype(int)


def shown(rows):
    """How many particles each pixel shows, by integers: points are a pixel wide [fs 3.4.6]."""
    out = np.zeros((HEIGHT, WIDTH), int)
    for x, y in rows[:, :2].astype(float):
        # Snapped to 1/256 of a pixel; a square from half a pixel before to half a pixel behind.
        at = [round(256 * v) for v in ((x + 1) * WIDTH / 2, (1 - y) * HEIGHT / 2)]
        # Centres in the square, or on its left or upper edge: v - 128 <= 256 n + 128 < v + 128.
        column, row = (-(-(v - 256) // 256) for v in at)
        if 0 <= row < HEIGHT and 0 <= column < WIDTH:
            out[row, column] += 1
    return out


@pytest.mark.plan("frames-9")
@pytest.mark.parametrize("count", [0, 1, 33, 90])
def test_particles_are_those_that_are_followed(count):
    rows = begin(count, count)
    fountain = Fountain(rows if count else np.zeros((1, 8), np.float32))
    fountain._count = count
    for _ in range(5):
        rows = simulated(rows)
        assert fountain.step() == (len(rows), len(rows))
        assert np.array_equal(fountain.particles(len(rows)), rows)


@pytest.mark.plan("frames-9")
def test_what_does_not_fit_is_lost_and_counted():
    rows = simulated(begin(90, 1))
    fountain = Fountain(begin(90, 1), room=40)
    assert fountain.step() == (40, len(rows))
    rows = simulated(rows[:40])
    assert fountain.step() == (min(40, len(rows)), len(rows))
    written = min(40, len(rows))
    assert np.array_equal(fountain.particles(written), rows[:written])


@pytest.mark.plan("frames-9")
def test_draw_auto_shows_every_particle_as_a_point():
    rows = begin(90, 2)
    fountain = Fountain(rows)
    for _ in range(3):
        rows = simulated(rows)
        fountain.step()
    found = fountain.points()
    assert np.array_equal(found, shown(rows))
    assert found.max() > 1 and found.sum() > 40
