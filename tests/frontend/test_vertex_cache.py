# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.frontend.vertex_cache import BATCH, reuse
from fixfunc.spec.errors import InputError


def naive_batches(keys, primitives, size):
    """Primitive by primitive: vertices shaded, and slots."""
    new = []
    slots = []
    known = {}
    for primitive in primitives.tolist():
        fresh = dict.fromkeys(keys[v] for v in primitive if keys[v] not in known)
        if len(known) + len(fresh) > size:
            known = {}
        for vertex in primitive:
            if keys[vertex] not in known:
                known[keys[vertex]] = len(new)
                new.append(vertex)
        slots.append([known[keys[vertex]] for vertex in primitive])
    return new, slots


def naive_fifo(keys, primitives, size):
    new = []
    known = []
    for vertex in primitives.ravel().tolist():
        if keys[vertex] not in known:
            known = [*known, keys[vertex]][-size:]
            new.append(vertex)
    return new


ROWS = st.integers(1, 6).flatmap(
    lambda corners: st.tuples(
        st.lists(st.integers(0, 12), min_size=8, max_size=8),
        st.lists(
            st.lists(st.integers(0, 7), min_size=corners, max_size=corners),
            min_size=1,
            max_size=40,
        ),
        st.integers(corners, 9),
    )
)


@pytest.mark.plan("vertex-cache-1")
@given(ROWS)
def test_batches_are_those_of_a_walk(row):
    keys, primitives, size = row
    primitives = np.array(primitives)
    got = reuse(np.array(keys), primitives, size=size)
    new, slots = naive_batches(keys, primitives, size)
    assert got.vertices.tolist() == new
    assert got.slots.tolist() == slots


@pytest.mark.plan("vertex-cache-1")
@given(ROWS)
def test_a_fifo_is_that_of_a_walk(row):
    keys, primitives, size = row
    primitives = np.array(primitives)
    got = reuse(np.array(keys), primitives, "fifo", size)
    assert got.vertices.tolist() == naive_fifo(keys, primitives, size)
    keys = np.array(keys)
    assert np.array_equal(keys[got.vertices][got.slots], keys[primitives])


def grid(width):
    """Triangles of a grid, row by row: keys are places."""
    y, x = np.mgrid[:width, :width]
    corner = (y * (width + 1) + x).ravel()
    lower = np.stack([corner, corner + 1, corner + width + 1], 1)
    upper = np.stack([corner + 1, corner + width + 2, corner + width + 1], 1)
    return np.stack([lower, upper], 1).reshape(-1, 3)


@pytest.mark.plan("vertex-cache-2")
def test_no_primitive_is_split_and_no_batch_too_large():
    triangles = grid(60)
    got = reuse(np.arange(61 * 61), triangles)
    batch = got.batch[got.slots]
    assert (batch == got.primitive_batch[:, None]).all()
    sizes = np.bincount(got.batch)
    assert sizes.max() <= BATCH
    # A batch is sent when the next triangle does not fit: at most two vertices fewer.
    assert (sizes[:-1] > BATCH - 3).all()
    assert (np.diff(got.primitive_batch) >= 0).all()


@pytest.mark.plan("vertex-cache-2")
def test_hit_rates_of_a_grid():
    # A batch of two rows of 16 vertices has 30 triangles, which have 90 corners: 64.4 %.
    batch = reuse(np.arange(61 * 61), grid(60)).hit_rate
    fifo = reuse(np.arange(61 * 61), grid(60), "fifo").hit_rate
    assert 0.63 < batch < 0.65
    assert batch < fifo < 2 / 3 + 0.01


@pytest.mark.plan("vertex-cache-2")
def test_one_triangle_again_and_again_is_one_batch():
    got = reuse(np.arange(3), np.tile([[0, 1, 2]], (5000, 1)))
    assert got.vertices.tolist() == [0, 1, 2]
    assert (got.primitive_batch == 0).all()


@pytest.mark.plan("vertex-cache-3")
def test_bad_sizes_are_refused():
    with pytest.raises(InputError, match="how must be one of batch, fifo, not lru"):
        reuse(np.arange(3), np.zeros((1, 3), int), "lru")
    with pytest.raises(InputError, match=r"size must lie in 6\.\.1024, not 5"):
        reuse(np.arange(6), np.zeros((1, 6), int), size=5)


@pytest.mark.plan("vertex-cache-3")
def test_nothing_is_shaded_for_nothing():
    for how in ("batch", "fifo"):
        got = reuse(np.zeros(0, int), np.zeros((0, 3), int), how)
        assert len(got.vertices) == 0
        assert got.slots.shape == (0, 3)
