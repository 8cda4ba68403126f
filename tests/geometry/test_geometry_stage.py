# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.frontend.input_assembler import Draw
from fixfunc.models.geometry.geometry_stage import Emitted, GeometryStage
from fixfunc.models.geometry.projection import Rasterizer
from fixfunc.models.geometry.stream_output import Declaration, Entry, StreamBuffer
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.machine import front_half
from fixfunc.models.machine.front_half import FrontState
from fixfunc.spec.draw import Topology
from fixfunc.spec.errors import InputError
from tests.machine.test_front_half import POSITION, VIEW, buffer, drawn, passed, strip

COORDINATES = ("x0", "y0", "z0", "x1", "y1", "z1", "x2", "y2", "z2")


def through(inputs):
    """Every primitive as it is: its corners, one after another."""
    count, corners, _ = inputs.position.shape
    return Emitted(
        np.repeat(np.arange(count), corners),
        inputs.position.reshape(-1, 4),
        inputs.attributes.reshape(count * corners, -1, 4),
    )


@pytest.mark.plan("geometry-stage-1")
@pytest.mark.parametrize(
    ("topology", "output"),
    [
        (Topology.TRIANGLE_STRIP, Topology.TRIANGLE_STRIP),
        (Topology.LINE_LIST, Topology.LINE_STRIP),
        (Topology.POINT_LIST, Topology.POINT_LIST),
    ],
)
def test_a_shader_that_passes_primitives_on_changes_nothing(topology, output):
    state = {"topology": topology, "vertex_buffers": {0: buffer(strip(30))}}
    plain = drawn(Draw(30, instances=2), **state)
    staged = drawn(Draw(30, instances=2), geometry=GeometryStage(through, output, 32), **state)
    for field in COORDINATES:
        assert np.array_equal(plain[0][field], staged[0][field])
    for n in (1, 2, 3):
        assert np.array_equal(plain[n], staged[n])
    assert staged[4]["gs_invocations"] == staged[4]["gs_primitives"] == plain[4]["c_invocations"]


@pytest.mark.plan("geometry-stage-2")
def test_strips_end_with_cuts_and_invocations():
    """Seven vertices of an invocation, cut behind the third: a triangle, and two more."""

    def shader(inputs):
        count = len(inputs.primitive)
        places = np.tile(np.arange(7), count)
        position = np.ones((7 * count, 4), np.float32) * np.float32(0.5)
        position[:, 0] = places * np.float32(0.01)
        position[:, 1] = (places % 2) * np.float32(0.1)
        position[:, 3] = 1
        attributes = np.zeros((7 * count, 1, 4), np.uint32)
        attributes[:, 0, 0] = places
        return Emitted(np.repeat(np.arange(count), 7), position, attributes, places == 2)

    _, _, primitive, attributes, counters = drawn(
        Draw(6),
        vertex_buffers={0: buffer(strip(6))},
        geometry=GeometryStage(shader, most=7),
    )
    assert attributes[..., 0, 0].tolist() == [[0, 1, 2], [3, 4, 5], [4, 6, 5]] * 2
    assert primitive.tolist() == [0, 0, 0, 1, 1, 1]
    assert counters["gs_invocations"] == 2
    # Beyond what is declared nothing is written: six vertices leave two triangles.
    short = drawn(
        Draw(6),
        vertex_buffers={0: buffer(strip(6))},
        geometry=GeometryStage(shader, most=6),
    )
    assert short[3][..., 0, 0].tolist() == [[0, 1, 2], [3, 4, 5]] * 2


@pytest.mark.plan("geometry-stage-2")
def test_instances_of_a_primitive_follow_one_another():
    def shader(inputs):
        emitted = through(inputs)
        emitted.attributes[:, 0, 1] = np.repeat(inputs.instance, 3)
        return emitted

    _, _, primitive, attributes, counters = drawn(
        Draw(6),
        vertex_buffers={0: buffer(strip(6))},
        geometry=GeometryStage(shader, most=3, instances=4),
    )
    assert primitive.tolist() == [0] * 4 + [1] * 4
    assert attributes[:, 0, 0, 1].tolist() == [0, 1, 2, 3] * 2
    assert counters["gs_invocations"] == 8


@pytest.mark.plan("geometry-stage-3")
def test_adjacent_vertices_reach_the_shader_and_no_further():
    seen = []

    def shader(inputs):
        seen.append(inputs)
        one = inputs._replace(
            position=inputs.position[:, ::2], attributes=inputs.attributes[:, ::2]
        )
        return through(one)

    state = {"topology": Topology.TRIANGLE_STRIP_ADJ, "vertex_buffers": {0: buffer(strip(12))}}
    staged = drawn(Draw(12), geometry=GeometryStage(shader, most=3), **state)
    plain = drawn(Draw(12), **state)
    assert seen[0].attributes[:, :, 0, 0].tolist() == [
        [0, 1, 2, 6, 4, 3],
        [2, 5, 6, 8, 4, 0],
        [4, 2, 6, 10, 8, 7],
        [6, 9, 10, 11, 8, 4],
    ]
    for field in COORDINATES:
        assert np.array_equal(plain[0][field], staged[0][field])


@pytest.mark.plan("geometry-stage-4")
def test_viewports_and_layers_are_those_of_the_leading_vertex():
    """One beyond the viewports takes the first, in API order whatever the viewport."""

    def shader(inputs):
        emitted = through(inputs)
        count = len(emitted.position)
        select = np.arange(count, dtype=np.uint32) // 3 % 4
        others = np.arange(count) % 3 != 0
        return emitted._replace(
            viewport=np.where(others, 9, select).astype(np.uint32),
            layer=np.where(others, 7, 10 + select).astype(np.uint32),
        )

    ports = [VIEW, Viewport(10, 0, 64, 64), Viewport(0, 20, 64, 64)]
    state = FrontState(
        passed,
        [POSITION],
        {0: buffer(strip(24))},
        geometry=GeometryStage(shader, most=3),
        rasterizer=Rasterizer(ports),
    )
    (part,) = front_half.run(Draw(24), state)
    (plain,) = front_half.run(
        Draw(24),
        FrontState(passed, [POSITION], {0: buffer(strip(24))}, rasterizer=Rasterizer([VIEW])),
    )
    assert part.layer.tolist() == [10, 11, 12, 13] * 2
    assert part.primitive.tolist() == list(range(8))
    across = (part.triangles["x0"] - plain.triangles["x0"]) // 256
    down = (part.triangles["y1"] - plain.triangles["y1"]) // 256
    assert across.tolist() == [0, 10, 0, 0] * 2
    assert down.tolist() == [0, 0, 20, 0] * 2
    assert part.triangles["slot"].tolist() == list(range(8))


@pytest.mark.plan("geometry-stage-5")
@pytest.mark.parametrize("rasterized", [0, 1, None])
def test_streams_are_drawn_and_written_apart(rasterized):
    def shader(inputs):
        first = through(inputs)
        second = Emitted(np.arange(len(inputs.primitive)), inputs.position[:, 0])
        return [first, second]

    buffers = {slot: StreamBuffer(np.zeros(1000, np.uint8)) for slot in (0, 2)}
    state = FrontState(
        passed,
        [POSITION],
        {0: buffer(strip(9))},
        geometry=GeometryStage(shader, Topology.POINT_LIST, 32),
        stream_output={
            0: Declaration([Entry(1, 0, 1)], {0: 4}),
            1: Declaration([Entry(0, slot=2)], {2: 16}),
        },
        stream_buffers=buffers,
        rasterized=rasterized,
    )
    (part,) = front_half.run(Draw(9), state)
    assert buffers[0].data[:36].view(np.uint32).tolist() == list(range(9))
    assert buffers[2].filled == 48
    assert len(part.triangles) == {0: 18, 1: 6, None: 0}[rasterized]
    assert part.counters["so_written_0"] == 9
    assert part.counters["so_written_1"] == 3


@pytest.mark.plan("geometry-stage-6")
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: GeometryStage(through, Topology.TRIANGLE_LIST),
            "output must be one of POINT_LIST",
        ),
        (lambda: GeometryStage(through, most=0), r"most must lie in 1\.\.1024"),
        (lambda: GeometryStage(through, instances=33), r"instances must lie in 1\.\.32"),
        (lambda: emits(lambda i: [through(i)] * 2), "output must be POINT_LIST of several"),
        (lambda: emits(lambda _: []), r"streams must be 1 to 4, not 0"),
        (lambda: emits(through, most=129), "most must be at most 128 vertices, not 129"),
        (
            lambda: emits(lambda i: through(i)._replace(invocation=np.array([1, 0, 0]))),
            "invocation must be in order, below 1",
        ),
        (
            lambda: emits(lambda i: through(i)._replace(cut=np.zeros(2, bool))),
            "cut must be bool",
        ),
        (
            lambda: emits(lambda i: through(i)._replace(layer=np.zeros(3, np.int32))),
            "layer must be uint32",
        ),
    ],
)
def test_bad_declarations_and_results_are_refused(make, text):
    with pytest.raises(InputError, match=text):
        make()


def emits(shader, most=3):
    return drawn(
        Draw(3), vertex_buffers={0: buffer(strip(3))}, geometry=GeometryStage(shader, most=most)
    )


@pytest.mark.plan("geometry-stage-6")
def test_a_stream_that_is_not_there_is_refused():
    with pytest.raises(InputError, match="streams must be 2 at least, not 1"):
        drawn(Draw(3), vertex_buffers={0: buffer(strip(3))}, rasterized=1)
