# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.frontend.input_assembler import Draw
from fixfunc.models.frontend.vertex_stage import Vertices
from fixfunc.models.geometry.stream_output import (
    GAP,
    POSITION,
    Declaration,
    Entry,
    StreamBuffer,
    draw_auto,
    write,
)
from fixfunc.models.machine import front_half
from fixfunc.models.machine.front_half import FrontState
from fixfunc.spec.draw import Topology
from fixfunc.spec.errors import InputError
from tests.machine.test_front_half import POSITION as ELEMENT
from tests.machine.test_front_half import buffer, drawn, passed, strip
from tests.oracles.assembly import MODES


def vertices(count, attributes=2):
    rng = np.random.default_rng(count)
    return Vertices(
        rng.normal(size=(count, 4)).astype(np.float32),
        rng.integers(0, 1 << 32, (count, attributes, 4), dtype=np.uint32),
        np.zeros((count, 0), np.float32),
        np.zeros((count, 0), np.float32),
    )


def space(size):
    return StreamBuffer(np.full(size, 0xAA, np.uint8))


# GL streams out vertices with adjacent ones only from a geometry shader.
WITHOUT_ADJACENCY = [topology for topology in MODES if not topology.name.endswith("ADJ")]
IDS = Declaration([Entry(1, 0, 1)], {0: 4})  # of the shader of the front half's tests


@pytest.mark.plan("stream-output-1")
@pytest.mark.parametrize("topology", WITHOUT_ADJACENCY, ids=lambda topology: topology.name)
def test_strips_become_lists_as_llvmpipes_do(llvmpipe_assembly, topology):
    oracle = llvmpipe_assembly()
    for count in (0, 1, 5, 6, 7, 8, 30):
        out = space(4096)
        counters = drawn(
            Draw(count),
            topology=topology,
            vertex_buffers={0: buffer(strip(30))},
            stream_output={0: IDS},
            stream_buffers={0: out},
        )[4]
        theirs = oracle.streamed(topology, count)
        ours = out.data[: out.filled].view(np.int32).reshape(theirs.shape)
        assert np.array_equal(ours, theirs)
        assert counters["so_written_0"] == counters["so_needed_0"] == len(theirs)


@pytest.mark.plan("stream-output-2")
def test_components_lie_where_the_declaration_says():
    """Gaps, and what a stride leaves behind a vertex, stay as they were."""
    source = vertices(5)
    triangles = np.array([[0, 1, 2], [4, 3, 2]])
    declaration = Declaration(
        [
            Entry(2, 1, 2),
            Entry(GAP, 0, 1),
            Entry(POSITION, 3, 1),
            Entry(POSITION, 0, 3, slot=3),
        ],
        {0: 24, 3: 12},
    )
    buffers = {0: space(400), 3: space(100), 1: space(0)}
    assert write(declaration, buffers, source, triangles) == (2, 2)
    assert (buffers[0].filled, buffers[3].filled) == (144, 72)
    words = buffers[0].data[:144].view(np.uint32).reshape(6, 6)
    order = triangles.ravel()
    assert np.array_equal(words[:, :2], source.attributes[order, 1, 1:3])
    assert (words[:, 2] == 0xAAAAAAAA).all()
    assert np.array_equal(words[:, 3], source.position[order, 3].view(np.uint32))
    assert (words[:, 4:] == 0xAAAAAAAA).all()
    positions = buffers[3].data[:72].view(np.float32).reshape(6, 3)
    assert np.array_equal(positions, source.position[order, :3])
    assert (buffers[3].data[72:] == 0xAA).all()


@pytest.mark.plan("stream-output-3")
def test_the_first_primitive_that_does_not_fit_stops_all_buffers():
    source = vertices(3)
    triangles = np.tile([[0, 1, 2]], (10, 1))
    declaration = Declaration([Entry(1), Entry(2, slot=1)], {0: 16, 1: 16})
    buffers = {0: space(16 * 3 * 4 + 47), 1: space(16 * 3 * 7)}
    assert write(declaration, buffers, source, triangles) == (4, 10)
    assert buffers[0].filled == buffers[1].filled == 192
    assert (buffers[0].data[192:] == 0xAA).all()
    # Appended to, it stays full; a slot without a buffer counts as full.
    assert write(declaration, buffers, source, triangles) == (0, 10)
    del buffers[1]
    buffers[0] = space(1000)
    assert write(declaration, buffers, source, triangles) == (0, 10)
    assert buffers[0].filled == 0


@pytest.mark.plan("stream-output-4")
def test_what_has_been_written_is_drawn_automatically():
    """Positions of a strip are written as a list, and drawn from there: the same triangles."""
    out = space(4000)
    state = {"vertex_buffers": {0: buffer(strip(20))}, "topology": Topology.TRIANGLE_STRIP}
    declaration = Declaration([Entry(POSITION, 0, 3)], {0: 12})
    first = drawn(Draw(20), stream_output={0: declaration}, stream_buffers={0: out}, **state)
    draw = draw_auto(out, 12)
    assert draw.count == 54
    again = drawn(draw, vertex_buffers={0: buffer(out.data[: out.filled].view(np.float32))})
    for field in ("x0", "y0", "z0", "x1", "y1", "z1", "x2", "y2", "z2"):
        assert np.array_equal(first[0][field], again[0][field])
    assert draw_auto(out, 12, 24).count == 52
    assert draw_auto(space(10), 12, 24).count == 0


@pytest.mark.plan("stream-output-4")
def test_control_points_are_written_without_being_drawn():
    out = space(4000)
    state = FrontState(
        passed,
        [ELEMENT],
        {0: buffer(strip(10))},
        topology=Topology.PATCH_4,
        rasterized=None,
        stream_output={0: IDS},
        stream_buffers={0: out},
    )
    (part,) = front_half.run(Draw(10), state)
    assert out.data[: out.filled].view(np.uint32).tolist() == list(range(8))
    assert len(part.triangles) == 0
    assert part.counters["c_invocations"] == 0


@pytest.mark.plan("stream-output-5")
@pytest.mark.parametrize(
    ("entries", "strides", "text"),
    [
        ([], {}, "components must lie in 1..128"),
        ([Entry(33)], {0: 16}, "register must lie in -1..32"),
        ([Entry(0, 2, 3)], {0: 16}, "first must lie in 0..1"),
        ([Entry(0, slot=4)], {4: 16}, "slot must lie in 0..3"),
        ([Entry(0), Entry(0, 3, 1)], {0: 32}, "entries must name a component once"),
        ([Entry(0)], {0: 12}, "stride of slot 0 must lie in 16..2048"),
        ([Entry(0)], {}, "stride of slot 0 must lie in 16..2048"),
        ([Entry(0)], {0: 18}, "stride of slot 0 must be a multiple of 4"),
        ([Entry(n) for n in range(33)], {0: 2048}, "components must lie in 1..128, not 132"),
    ],
)
def test_bad_declarations_are_refused(entries, strides, text):
    with pytest.raises(InputError, match=text.replace(".", r"\.")):
        Declaration(entries, strides)


@pytest.mark.plan("stream-output-5")
def test_a_register_that_is_not_there_writes_nothing():
    out = space(100)
    declaration = Declaration([Entry(POSITION), Entry(3)], {0: 32})
    with pytest.raises(InputError, match=r"register must lie in -1\.\.2, not 3"):
        write(declaration, {0: out}, vertices(3), np.array([[0, 1, 2]]))
    assert out.filled == 0
    assert (out.data == 0xAA).all()


@pytest.mark.plan("stream-output-5")
def test_a_slot_of_two_streams_is_refused():
    with pytest.raises(InputError, match="stream_output must name a slot for one stream"):
        FrontState(passed, stream_output={0: IDS, 1: IDS})
