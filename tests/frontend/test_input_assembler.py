# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.frontend import topology as topologies
from fixfunc.models.frontend.input_assembler import Draw, IndexBuffer, assemble, fetch
from fixfunc.models.geometry import primitive_assembly
from fixfunc.spec.draw import InstanceMark, PrimitiveMark, Topology
from fixfunc.spec.errors import InputError
from tests.oracles.assembly import MODES

DTYPES = {2: np.uint16, 4: np.uint32}


def indexed(values, size=4, offset=0, **draw):
    """A draw of all of these indices, and its buffer."""
    data = np.concatenate(
        [np.zeros(offset, np.uint8), np.array(values, DTYPES[size]).view(np.uint8)]
    )
    return Draw(**{"count": len(values), "indexed": True} | draw), IndexBuffer(data, size, offset)


def drawn(draw, topology, buffer=None):
    """Vertices of each primitive by their VertexIDs, and PrimitiveIDs."""
    records = assemble(draw, topology, buffer).records
    primitives = primitive_assembly.assemble(records, topology)
    return records["index"][primitives.vertices], primitives.number


# Against llvmpipe.


@pytest.mark.plan("input-assembler-1")
@pytest.mark.parametrize("topology", MODES, ids=lambda topology: topology.name)
def test_rows_give_llvmpipes_primitives(llvmpipe_assembly, topology):
    oracle = llvmpipe_assembly()
    for count in [*range(20), 1000, 1001]:
        vertices, number = oracle.primitives(topology, count)
        mine, numbers = drawn(Draw(count), topology)
        assert np.array_equal(mine.reshape(vertices.shape), vertices), count
        assert np.array_equal(numbers, number), count


@pytest.mark.plan("input-assembler-1")
@pytest.mark.parametrize("size", DTYPES)
@pytest.mark.parametrize("topology", MODES, ids=lambda topology: topology.name)
def test_cut_rows_give_llvmpipes_primitives(llvmpipe_assembly, topology, size):
    oracle = llvmpipe_assembly()
    rng = np.random.default_rng(size)
    primitives = 0
    for density in [0.5, 0.2, 0.1, 0.02] * 5:
        values = rng.integers(0, 1 << 15, 300).astype(DTYPES[size])
        values[rng.random(300) < density] = -1 & (1 << 8 * size) - 1
        vertices, number = oracle.primitives(topology, len(values), values)
        draw, buffer = indexed(values, size)
        mine, numbers = drawn(draw, topology, buffer)
        assert np.array_equal(mine.reshape(vertices.shape), vertices)
        assert np.array_equal(numbers, number)
        primitives += len(vertices)
    assert primitives > 300


# Against the specification, vertex by vertex.


def naive_numbers(values, cut, first, step, is_strip_adj):
    """PrimitiveIDs of an instance in order of completion, as the text of [fs 8.6.2] counts them.

    The text counts seven vertices to the first triangle of a strip with adjacency.
    """
    needed = 7 if is_strip_adj else first
    until = needed
    number = 0
    numbers = []
    for value in [*values, cut]:
        if value == cut:
            if is_strip_adj and until == 1:
                numbers.append(number)
                number += 1
            until = needed
            continue
        until -= 1
        if until == 0:
            numbers.append(number)
            number += 1
            until = step
    return numbers


SPECIFIED = [
    topology
    for topology in Topology
    if topology not in (Topology.LINE_LOOP, Topology.POLYGON)  # not D3D's
]


@pytest.mark.plan("input-assembler-2")
@given(
    st.sampled_from(SPECIFIED),
    st.lists(st.integers(0, 9) | st.just(0xFFFF), max_size=60),
)
def test_primitives_are_counted_as_the_specification_counts(topology, values):
    draw, buffer = indexed(values, 2)
    assembled = assemble(draw, topology, buffer)
    rule = topologies.RULES[topology]
    expected = naive_numbers(
        values, 0xFFFF, rule.first, rule.step, topology == Topology.TRIANGLE_STRIP_ADJ
    )
    _, numbers = drawn(draw, topology, buffer)
    assert assembled.primitives == len(expected)
    assert list(dict.fromkeys(numbers.tolist())) == expected


@pytest.mark.plan("input-assembler-3")
@given(
    st.sampled_from(list(Topology)),
    st.lists(st.integers(0, 9) | st.just(0xFFFF), max_size=60),
)
def test_marks_and_cuts_say_what_was_kept(topology, values):
    draw, buffer = indexed(values, 2)
    assembled = assemble(draw, topology, buffer)
    records = assembled.records
    kept = [value for value in values if value != 0xFFFF]
    assert len(records) + assembled.incomplete == len(kept)
    assert assembled.cuts == len(values) - len(kept)
    assert assembled.out_of_bounds == 0
    marks = records["primitive"]
    assert (marks != PrimitiveMark.NORMAL).sum() == assembled.primitives
    if len(records):
        assert records["cut"][-1]
        assert marks[0] == PrimitiveMark.INSTANCE_START
        assert (marks[1:] != PrimitiveMark.INSTANCE_START).all()
        assert assembled.instance(0)["instance"].tolist() == [
            InstanceMark.DRAW_START,
            *[InstanceMark.NORMAL] * (len(records) - 1),
        ]
        assert assembled.instance(3)["instance"][0] == InstanceMark.INSTANCE_START


@pytest.mark.plan("input-assembler-3")
def test_lists_are_cut_behind_each_primitive():
    assert assemble(Draw(7), Topology.TRIANGLE_LIST).records["cut"].tolist() == [0, 0, 1, 0, 0, 1]
    assert assemble(Draw(5), Topology.TRIANGLE_STRIP).records["cut"].tolist() == [0, 0, 0, 0, 1]


# Index fetch.


@pytest.mark.plan("input-assembler-4")
def test_indices_out_of_bounds_are_zero_and_never_cut():
    draw, buffer = indexed([5, 6, 0xFFFF, 7], 2, count=6, start=1)
    values, inside = fetch(draw, buffer)
    assert values.tolist() == [6, 0xFFFF, 7, 0, 0, 0]
    assert inside.tolist() == [True, True, True, False, False, False]
    assembled = assemble(draw, Topology.POINT_LIST, buffer)
    assert assembled.records["index"].tolist() == [6, 7, 0, 0, 0]
    assert assembled.out_of_bounds == 3
    # Half an index lies in the buffer.
    odd = IndexBuffer(buffer.data[:-1], 2)
    assert fetch(draw, odd)[1].tolist() == [True, True, False, False, False, False]


@pytest.mark.plan("input-assembler-4")
def test_addresses_of_indices_wrap_and_are_compared_with_the_offset():
    draw, buffer = indexed([1, 2, 3], 4, offset=4, start=(1 << 30) - 1)
    # Address 2^32 - 4 + 4 wraps to 0, which lies before the offset; then the buffer begins.
    assert fetch(draw, buffer)[0].tolist() == [0, 1, 2]
    assert fetch(draw, buffer)[1].tolist() == [False, True, True]


@pytest.mark.plan("input-assembler-4")
def test_without_a_buffer_indices_are_zero():
    draw = Draw(3, indexed=True)
    assert fetch(draw, None)[0].tolist() == [0, 0, 0]
    assert assemble(draw, Topology.TRIANGLE_LIST).primitives == 1


@pytest.mark.plan("input-assembler-5")
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Draw(-1), "count must lie in 0..67108864, not -1"),
        (lambda: Draw(1, instances=1 << 32), "instances must lie in 0..4294967295, not 4294967296"),
        (lambda: Draw(1, base=-(1 << 31) - 1), "base must lie in -2147483648..4294967295"),
        (lambda: IndexBuffer(np.zeros(4, np.uint8), 1), "size must be 2 or 4, not 1"),
        (lambda: IndexBuffer(np.zeros(4, np.uint8), 4, 2), "offset must be a multiple of 4, not 2"),
        (lambda: assemble(Draw(3), 15), "topology must be one of fixfunc.spec.draw.Topology"),
    ],
)
def test_bad_draws_are_refused(make, text):
    with pytest.raises(InputError, match=text.replace(".", r"\.")):
        make()
