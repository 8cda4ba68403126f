# SPDX-License-Identifier: BSD-2-Clause
"""Work that fails changes nothing, and work of nothing does not fail."""

import numpy as np
import pytest

from fixfunc.models.frontend.compute_stage import ComputeShader
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry.geometry_stage import Emitted
from fixfunc.models.geometry.stream_output import Declaration, Entry
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import RasterizerState
from fixfunc.models.machine.shaders import GeometryShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Cull
from tests.host.drawing import GREEN, LEFT, RED, RIGHT, WHOLE, Scene, corners

# Work that fails.


class Failure(BaseException):
    """What no code but the test's knows."""


class Written:
    """A scene whose draws write all that a draw can: targets, a stream, a buffer."""

    def __init__(self, samples, coded):
        self.scene = Scene(samples=samples, coded=coded)
        device, context = self.scene.device, self.scene.context
        port = Viewport(width=32, height=24)
        context.rs.set_viewports([port, port])
        self.stream = device.create_buffer(4096, Bind.STREAM_OUTPUT | Bind.VERTEX_BUFFER)
        self.counts = device.create_buffer(64, bind=Bind.UNORDERED_ACCESS)
        self.queries = [
            device.create_query(kind) for kind in (QueryKind.OCCLUSION, QueryKind.SO_STATISTICS)
        ]
        context.so.set_targets([self.stream])
        view = device.create_unordered_access_view(self.counts)
        context.ps.set_unordered_access_views(0, [view])
        program = GeometryShader(
            by_viewport, most=3, stream_output={0: Declaration([Entry(0), Entry(1)], {0: 32})}
        )
        context.gs.set_shader(device.create_geometry_shader(program))

    def draw(self, places, colour, z, fails=None):
        """Two triangles, one of each viewport; of the second the shader may fail."""
        calls = []

        def counted(quads, bound):
            calls.append(len(quads.x))
            bound.unordered(0).view("<u4")[0] += 1
            if len(calls) == 2 and fails:
                return fails(quads)
            return PixelResults(quads.floats(0))

        self.scene.shade(counted, unordered=True)
        for query in self.queries:
            self.scene.context.begin(query)
        try:
            self.scene.draw(places, colour, z)
        finally:
            for query in self.queries:
                self.scene.context.end(query)
            assert len(calls) == 2

    def state(self):
        """All that there is."""
        context = self.scene.context
        places = self.scene.colours, self.scene.depths, self.stream, self.counts
        return [context.read(place).tobytes() for place in places]

    def told(self):
        """What queries say of the last draw."""
        return [self.scene.context.get_data(query) for query in self.queries]


def by_viewport(inputs, _bound):
    """Each primitive by a viewport of its own."""
    return Emitted(
        np.repeat(np.arange(len(inputs.primitive)), 3),
        inputs.position.reshape(-1, 4),
        inputs.attributes.reshape(-1, 1, 4),
        viewport=np.repeat(inputs.primitive, 3),
    )


def raises(_quads):
    raise Failure


def of_another_shape(quads):
    return PixelResults(quads.floats(0)[:, :1])


@pytest.mark.plan("host-18")
@pytest.mark.parametrize("is_drawn_before", [False, True])
@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize(("fails", "error"), [(raises, Failure), (of_another_shape, InputError)])
def test_a_draw_that_fails_changes_nothing(fails, error, coded, is_drawn_before):
    found = []
    for attempts in (0, 2):
        written = Written(4, coded)
        if is_drawn_before:
            written.draw(LEFT, RED, 0.6)
        for _ in range(attempts):
            with pytest.raises(error):
                written.draw(np.concatenate([WHOLE, WHOLE]), GREEN, 0.3, fails)
            assert written.told() == [0, (0, 0)]
        before = written.state()
        written.draw(RIGHT, GREEN, 0.5)
        assert written.told()[1] == (2, 2)
        found.append((before, written.state()))
    assert found[0] == found[1]
    assert found[0][0] != found[0][1]


@pytest.mark.plan("host-18")
def test_a_dispatch_that_fails_changes_nothing():
    scene = Scene()
    device, context = scene.device, scene.context
    counts = device.create_buffer(64, bind=Bind.UNORDERED_ACCESS)
    views = [device.create_unordered_access_view(counts, first=first) for first in (0, 16)]
    context.cs.set_unordered_access_views(0, views)

    def shader(_waves, bound):
        for slot in (0, 1, 0):
            bound.unordered(slot)[:] += 7
        raise Failure

    context.cs.set_shader(device.create_compute_shader(ComputeShader(shader, (8, 1, 1))))
    with pytest.raises(Failure):
        context.dispatch(1, 1, 1)
    assert not context.read(counts).any()


# Work of nothing.


def position_alone(waves, _bound):
    return VertexResults(waves.floats(0))


def no_channels(waves, _bound):
    """Attributes and distances that are there, and of which there are none."""
    none = np.zeros((*waves.mask.shape, 0), np.float32)
    return VertexResults(waves.floats(0), none[..., None, :].reshape(*none.shape, 4), none, none)


def white(quads, _bound):
    return PixelResults(np.ones((*quads.x.shape, 4), np.float32))


@pytest.mark.plan("host-18")
@pytest.mark.parametrize("vertex", [position_alone, no_channels], ids=lambda stage: stage.__name__)
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize(
    ("topology", "count"),
    [(Topology.TRIANGLE_LIST, 24 * 32), (Topology.LINE_LIST, 16), (Topology.POINT_LIST, 3)],
)
def test_vertices_without_attributes_are_drawn(vertex, samples, topology, count):
    for by_sample in (False, True):
        scene = Scene(samples=samples)
        context = scene.context
        context.vs.set_shader(scene.device.create_vertex_shader(vertex))
        context.ia.set_primitive_topology(topology)
        scene.shade(white, sample_index=by_sample)
        places = {
            Topology.TRIANGLE_LIST: WHOLE,
            Topology.LINE_LIST: [(-0.5, 0.02), (0.5, 0.02)],
            Topology.POINT_LIST: [(-0.47, 0.04), (0.03, 0.04), (0.53, 0.04)],
        }
        scene.draw(places[topology])
        assert scene.shown().sum() == count


@pytest.mark.plan("host-18")
def test_a_shader_that_asks_for_an_attribute_that_there_is_not_is_told():
    asks = {
        "floats": lambda quads: quads.floats(0),
        "at_sample": lambda quads: quads.at_sample(0, 0),
        "at_centroid": lambda quads: quads.at_centroid(0),
        "snapped": lambda quads: quads.snapped(0, np.zeros(2, np.int64)),
    }
    for ask in asks.values():
        scene = Scene()
        scene.context.vs.set_shader(scene.device.create_vertex_shader(position_alone))
        scene.shade(lambda quads, _bound, ask=ask: PixelResults(ask(quads)))
        with pytest.raises(InputError, match="attribute must be one of 0, not 0"):
            scene.draw(WHOLE)
        assert not scene.shown().any()
        assert (scene.context.read(scene.depths)[..., :3] == 255).all()


def emits_nothing(_inputs, _bound):
    return Emitted(np.zeros(0, np.intp), np.zeros((0, 4), np.float32))


NOTHING = {
    "vertices": lambda scene: scene.context.draw(0),
    "vertices of a primitive": lambda scene: scene.context.draw(2),
    "instances": lambda scene: scene.context.draw_instanced(3, 0),
    "groups": lambda scene: scene.context.dispatch(0, 1, 1),
    "viewports": lambda scene: scene.context.rs.set_viewports([]),
    "pixels of a viewport": lambda scene: scene.context.rs.set_viewports([Viewport(width=32)]),
    "targets": lambda scene: scene.context.om.set_render_targets([]),
    "samples of a mask": lambda scene: scene.context.om.set_blend_state(None, (0,) * 4, 0),
    "colours": lambda scene: scene.shade(lambda _quads, _bound: PixelResults([])),
    "emitted vertices": lambda scene: scene.context.gs.set_shader(
        scene.device.create_geometry_shader(GeometryShader(emits_nothing, most=3))
    ),
    "pixels of a scissor": lambda scene: (
        scene.context.rs.set_state(RasterizerState(cull=Cull.NONE, scissor_enable=True)),
        scene.context.rs.set_scissor_rects([(3, 3, 3, 3)]),
    ),
}


@pytest.mark.plan("host-18")
@pytest.mark.parametrize("name", NOTHING)
@pytest.mark.parametrize("is_without_attributes", [False, True])
def test_no_count_that_is_zero_fails(name, is_without_attributes):
    scene = Scene()
    device, context = scene.device, scene.context
    shader = ComputeShader(lambda _waves, _bound: None, (8, 1, 1))
    context.cs.set_shader(device.create_compute_shader(shader))
    if is_without_attributes:
        context.vs.set_shader(device.create_vertex_shader(position_alone))
        scene.shade(white)
    scene.bind(corners(WHOLE))
    NOTHING[name](scene)
    if name not in ("vertices", "vertices of a primitive", "instances", "groups"):
        context.draw(3)
    assert not scene.shown().any()
