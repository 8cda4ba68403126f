# SPDX-License-Identifier: BSD-2-Clause
"""A draw call through the front half: every stage joined to the next."""

import numpy as np
import pytest

from fixfunc.models.frontend.input_assembler import Draw, IndexBuffer
from fixfunc.models.frontend.vertex_fetch import Element, VertexBuffer
from fixfunc.models.frontend.vertex_stage import LANES, VertexResults, VertexWaves
from fixfunc.models.frontend.work_distributor import Distributor
from fixfunc.models.geometry.projection import Rasterizer
from fixfunc.models.geometry.viewport import Viewport, fixed_depth, project, snap
from fixfunc.models.machine import front_half
from fixfunc.models.machine.front_half import FrontState
from fixfunc.spec.draw import StepClass, Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError, Stalled
from fixfunc.spec.state import Cull, DepthFormat
from tests.oracles.assembly import MODES

VIEW = Viewport(0, 0, 64, 64)
POSITION = Element(0, Format.R32G32B32_FLOAT)
TRIANGLES = Topology.TRIANGLE_LIST


def passed(waves):
    """A shader that moves positions by the instance's offset, and hands on the VertexID."""
    position = np.ones((*waves.mask.shape, 4), np.float32)
    position[..., :3] = waves.floats(0)[..., :3]
    if 1 in waves.registers:
        position[..., :2] += waves.floats(1)[..., :2]
    attributes = np.zeros((*waves.mask.shape, 1, 4), np.uint32)
    attributes[..., 0, 0] = waves.vertex
    attributes[..., 0, 1] = waves.instance
    return VertexResults(position, attributes)


def buffer(values, stride=12):
    return VertexBuffer(np.ascontiguousarray(values, np.float32).view(np.uint8).ravel(), stride)


def strip(count, seed=0):
    """Positions of a strip within the view."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0, 0.9, (count, 3)).astype(np.float32) * np.float32([2, 2, 1]) - [1, 1, 0]


def drawn(draw, **state):
    """All parts of a draw joined: triangles, ids, attributes of their corners."""
    raster = {"viewports": [VIEW]}
    raster |= {name: state.pop(name) for name in vars(Rasterizer()) if name in state}
    fields = {"shader": passed, "elements": [POSITION], "rasterizer": Rasterizer(**raster)} | state
    parts = list(front_half.run(draw, FrontState(**fields)))
    counters = sum((part.counters for part in parts[1:]), parts[0].counters)
    joined = [
        np.concatenate([get(part) for part in parts])
        for get in (
            lambda part: part.triangles,
            lambda part: part.instance,
            lambda part: part.primitive,
            lambda part: part.vertices.attributes[part.slots],
        )
    ]
    return *joined, counters


@pytest.mark.plan("front-half-1")
def test_triangles_are_those_of_each_vertex_alone():
    positions = strip(60)
    triangles, _, primitive, attributes, counters = drawn(
        Draw(60), topology=Topology.TRIANGLE_STRIP, vertex_buffers={0: buffer(positions)}
    )
    assert len(triangles) == 58
    assert counters["vs_invocations"] < 3 * 58
    for n, triangle in enumerate(triangles):
        order = (n, n + 2, n + 1) if n % 2 else (n, n + 1, n + 2)
        assert primitive[n] == n
        assert attributes[n, :, 0, 0].tolist() == list(order)
        for corner, vertex in enumerate(order):
            screen = project(np.append(positions[vertex], np.float32(1)), VIEW)
            x, y = snap(screen[:2])
            wanted = x, y, fixed_depth(screen[2])
            got = tuple(triangle[f"{name}{corner}"] for name in "xyz")
            assert got == wanted


@pytest.mark.plan("front-half-1")
@pytest.mark.parametrize("reuse", ["batch", "fifo"])
def test_an_indexed_list_is_the_strip(reuse):
    """Reuse changes what is shaded, never what is drawn."""
    positions = strip(200)
    order = [(n, n + 2, n + 1) if n % 2 else (n, n + 1, n + 2) for n in range(198)]
    indices = IndexBuffer(np.array(order, np.uint16).view(np.uint8).ravel(), 2)
    state = {"vertex_buffers": {0: buffer(positions)}}
    listed = drawn(Draw(594, indexed=True), index_buffer=indices, reuse=reuse, **state)
    stripped = drawn(Draw(200), topology=Topology.TRIANGLE_STRIP, **state)
    assert listed[0].tobytes() == stripped[0].tobytes()
    assert np.array_equal(listed[3], stripped[3])
    assert listed[4]["vs_invocations"] < 594 / 2


@pytest.mark.plan("front-half-2")
@pytest.mark.parametrize("step_rate", [0, 1, 2])
def test_instances_are_draws_of_their_own(step_rate, monkeypatch):
    positions = strip(9)
    offsets = np.random.default_rng(1).uniform(-0.1, 0.1, (7, 2)).astype(np.float32)
    elements = [
        POSITION,
        Element(
            1,
            Format.R32G32_FLOAT,
            slot=1,
            step_class=StepClass.PER_INSTANCE,
            step_rate=step_rate,
        ),
    ]
    buffers = {0: buffer(positions), 1: buffer(offsets, 8)}
    draw = Draw(9, instances=5, first_instance=1)
    whole = drawn(draw, elements=elements, vertex_buffers=buffers)
    assert whole[1].tolist() == [n for n in range(5) for _ in range(3)]
    assert whole[2].tolist() == [0, 1, 2] * 5
    for n in range(5):
        row = 1 + (n // step_rate if step_rate else 0)
        alone = drawn(
            Draw(9),
            elements=elements[:1],
            vertex_buffers={
                0: buffer(positions + np.append(offsets[row], np.float32(0)).astype(np.float32))
            },
        )
        for field in ["x0", "y1", "x2"]:
            assert np.array_equal(whole[0][field][3 * n : 3 * n + 3], alone[0][field])
    # In parts of one instance each it is the same, but for the numbers of slots.
    monkeypatch.setattr(front_half, "PART", 1)
    parts = drawn(draw, elements=elements, vertex_buffers=buffers)
    assert np.array_equal(parts[0]["x1"], whole[0]["x1"])
    assert np.array_equal(parts[3], whole[3])


@pytest.mark.plan("front-half-3")
def test_waves_are_batches_and_lanes_without_a_vertex_are_masked():
    seen = []

    def shader(waves):
        seen.append(waves)
        assert not waves.vertex[~waves.mask].any()
        return passed(waves)

    drawn(Draw(300), shader=shader, vertex_buffers={0: buffer(strip(300))})
    (waves,) = seen
    assert waves.mask.shape == (10, LANES)
    # Ten triangles of three different vertices each fill 30 of 32 lanes.
    assert waves.mask.sum(1).tolist() == [30] * 10
    assert waves.vertex[waves.mask].tolist() == list(range(300))


@pytest.mark.plan("front-half-3")
@pytest.mark.parametrize("seed", range(5))
def test_waves_may_come_back_in_any_order(seed):
    """Clusters shade waves, and finish them as they like; the distributor puts them right."""
    rng = np.random.default_rng(seed)
    orders = []

    def shader(waves):
        clusters = Distributor(clusters=3, room=4)
        left = list(range(len(waves.mask)))
        under_way, shaded, leaving, order = [], {}, [], []
        while left or under_way:
            try:
                if left and rng.random() < 0.6:
                    under_way.append(clusters.give(left[0]))
                    left.pop(0)
                    continue
            except Stalled:
                pass
            if under_way:
                given = under_way.pop(int(rng.integers(len(under_way))))
                n = given.batch
                registers = {k: v[n : n + 1] for k, v in waves.registers.items()}
                wave = VertexWaves(registers, *(value[n : n + 1] for value in waves[1:]))
                shaded[n] = passed(wave)
                order.append(n)
                leaving += [shaded[done.batch] for done in clusters.finish(given)]
        orders.append(order)
        return VertexResults(
            np.concatenate([result.position for result in leaving]),
            np.concatenate([result.attributes for result in leaving]),
        )

    arguments = {"topology": Topology.TRIANGLE_STRIP, "vertex_buffers": {0: buffer(strip(500))}}
    whole = drawn(Draw(500, instances=2), **arguments)
    mixed = drawn(Draw(500, instances=2), shader=shader, **arguments)
    for expected, found in zip(whole, mixed, strict=True):
        assert np.array_equal(expected, found)
    (order,) = orders
    assert order != sorted(order)


@pytest.mark.plan("front-half-3")
@pytest.mark.parametrize(
    ("results", "text"),
    [
        (lambda w: VertexResults(np.zeros((w, 32, 3), np.float32)), "position must be float32"),
        (lambda w: VertexResults(np.zeros((w, 32, 4))), "position must be float32"),
        (
            lambda w: VertexResults(
                np.zeros((w, 32, 4), np.float32), np.zeros((w, 32, 17, 4), np.float32)
            ),
            "attributes must be at most 16 of 32 bits",
        ),
        (
            lambda w: VertexResults(
                np.zeros((w, 32, 4), np.float32), clip_distances=np.zeros((w, 8), np.float32)
            ),
            "clip_distances must be float32",
        ),
    ],
)
def test_wrong_results_of_a_shader_are_refused(results, text):
    with pytest.raises(InputError, match=text):
        drawn(
            Draw(3),
            shader=lambda waves: results(len(waves.mask)),
            vertex_buffers={0: buffer(strip(3))},
        )


@pytest.mark.plan("front-half-4")
def test_clipped_triangles_keep_their_slots_and_weights():
    """A corner's weights times its primitive's positions give the corner, in clip space."""
    positions = strip(60, 3)
    positions[::4, 2] = -0.5
    state = FrontState(passed, [POSITION], {0: buffer(positions)}, rasterizer=Rasterizer([VIEW]))
    (part,) = front_half.run(Draw(60), state)
    assert part.counters["clipped"] > 5
    assert part.counters["c_primitives"] == len(part.triangles)
    corners = part.vertices.position[part.slots].astype(np.float64)
    blended = np.einsum("nck,nkx->ncx", part.weights, corners).astype(np.float32)
    screen = project(blended, VIEW)
    xy = snap(screen[..., :2])
    for k in range(3):
        assert np.abs(xy[:, k, 0] - part.triangles[f"x{k}"]).max() <= 1
        assert np.abs(xy[:, k, 1] - part.triangles[f"y{k}"]).max() <= 1
    assert np.allclose(part.rhw, 1 / blended[..., 3], rtol=1e-6)


@pytest.mark.plan("front-half-5")
def test_points_lines_and_wireframes_are_triangles():
    buffers = {0: buffer(strip(30, 4))}
    pointed = drawn(Draw(30), topology=Topology.POINT_LIST, vertex_buffers=buffers)
    assert len(pointed[0]) == 60
    assert pointed[2].tolist() == [n for n in range(30) for _ in range(2)]
    assert pointed[3][:, :, 0, 0].tolist() == [[n] * 3 for n in range(30) for _ in range(2)]
    lined = drawn(Draw(30), topology=Topology.LINE_STRIP, vertex_buffers=buffers)
    assert len(lined[0]) == 58
    framed = drawn(Draw(30), wireframe=True, vertex_buffers=buffers)
    assert len(framed[0]) == 60  # ten triangles, three edges, two triangles each
    # Edges of a list are lines between their vertices.
    order = np.array(
        [(a, b) for n in range(0, 30, 3) for a, b in ((n, n + 1), (n + 1, n + 2), (n + 2, n))]
    )
    indices = IndexBuffer(order.astype(np.uint32).view(np.uint8).ravel())
    edges = drawn(
        Draw(60, indexed=True),
        topology=Topology.LINE_LIST,
        index_buffer=indices,
        vertex_buffers=buffers,
    )
    for field in ["x0", "y0", "z0", "x1", "y1", "z1", "x2", "y2", "z2"]:
        assert np.array_equal(framed[0][field], edges[0][field])


@pytest.mark.plan("front-half-5")
def test_wireframes_are_culled_as_triangles_are():
    buffers = {0: buffer(strip(300, 5))}
    counts = {
        cull: len(drawn(Draw(300), wireframe=True, cull=cull, vertex_buffers=buffers)[0])
        for cull in Cull
    }
    assert counts[Cull.NONE] == 600
    assert counts[Cull.FRONT] + counts[Cull.BACK] == 600
    turned = drawn(
        Draw(300), wireframe=True, cull=Cull.BACK, front_ccw=True, vertex_buffers=buffers
    )
    assert len(turned[0]) == counts[Cull.FRONT]


@pytest.mark.plan("front-half-6")
def test_depths_of_float_targets_are_bits():
    positions = strip(3)
    positions[:, 2] = np.float32([0, 0.25, 1e-9])
    triangles = drawn(
        Draw(3),
        vertex_buffers={0: buffer(positions)},
        depth_format=DepthFormat.D32F,
    )[0]
    depths = np.array([triangles[0][f"z{n}"] for n in range(3)], np.uint32).view(np.float32)
    assert np.array_equal(depths, positions[:, 2].astype(np.float32))


@pytest.mark.plan("front-half-6")
@pytest.mark.parametrize("topology", MODES, ids=lambda topology: topology.name)
def test_statistics_are_llvmpipes(llvmpipe_assembly, topology):
    """Vertices and primitives of a draw, and what the clipper takes."""
    oracle = llvmpipe_assembly()
    for count in (0, 1, 5, 7, 30):
        counters = drawn(Draw(count), topology=topology, vertex_buffers={0: buffer(strip(30))})[4]
        theirs = oracle.statistics(topology, count)
        assert counters["ia_vertices"] == theirs["vertices"]
        assert counters["ia_primitives"] == theirs["primitives"]
        assert counters["c_invocations"] == theirs["clipped"]


@pytest.mark.plan("front-half-6")
@pytest.mark.parametrize(
    ("topology", "count", "is_indexed", "invocations"),
    [
        (Topology.TRIANGLE_STRIP, 6, True, range(1, 13)),
        (Topology.TRIANGLE_LIST, 12, True, range(1, 13)),
        (Topology.TRIANGLE_STRIP, 6, False, range(6, 13)),
        (Topology.TRIANGLE_LIST, 12, False, range(12, 13)),
    ],
)
def test_statistics_are_the_specifications_examples(topology, count, is_indexed, invocations):
    counters = drawn(
        Draw(count, indexed=is_indexed),
        topology=topology,
        index_buffer=IndexBuffer(np.zeros(48, np.uint8)),
        vertex_buffers={0: buffer(strip(12))},
    )[4]
    assert counters["ia_vertices"] == count
    assert counters["ia_primitives"] == 4
    assert counters["vs_invocations"] in invocations


@pytest.mark.plan("front-half-6")
@pytest.mark.parametrize("instances", [0, 1])
def test_nothing_is_drawn_of_nothing(instances):
    state = FrontState(passed, [POSITION], {0: buffer(strip(3))}, rasterizer=Rasterizer([VIEW]))
    parts = list(front_half.run(Draw(0, instances=instances), state))
    assert sum(len(part.triangles) for part in parts) == 0
