# SPDX-License-Identifier: BSD-2-Clause
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.frontend.work_distributor import Distributor, order_needed, thread_groups
from fixfunc.spec.errors import InputError, Stalled
from fixfunc.spec.state import Compare


@pytest.mark.plan("work-distributor-1")
def test_batches_go_round_and_skip_busy_clusters():
    distributor = Distributor(3, room=1)
    first = [distributor.give(n) for n in range(3)]
    assert [batch.cluster for batch in first] == [0, 1, 2]
    with pytest.raises(Stalled):
        distributor.give(3)
    distributor.finish(first[1])
    # Cluster 0 is asked first, and is busy.
    assert distributor.give(3).cluster == 1
    distributor.finish(first[0])
    assert distributor.give(4).cluster == 0


@pytest.mark.plan("work-distributor-1")
def test_every_cluster_gets_as_many():
    distributor = Distributor(16, room=4)
    clusters = [distributor.give(n).cluster for n in range(64)]
    assert np.bincount(clusters).tolist() == [4] * 16


@pytest.mark.plan("work-distributor-2")
@given(st.integers(1, 8), st.integers(1, 3), st.lists(st.integers(0, 30), max_size=120))
def test_batches_leave_once_and_in_order(clusters, room, choices):
    """Whatever finishes first: the oldest leaves first, and none is lost."""
    distributor = Distributor(clusters, room)
    in_flight = []
    left = []
    given_away = 0
    for choice in choices:
        if choice % 2 == 0 or not in_flight:
            try:
                in_flight.append(distributor.give(given_away))
                given_away += 1
            except Stalled:
                assert len(in_flight) == clusters * room
        else:
            left += distributor.finish(in_flight.pop(choice % len(in_flight)))
        assert len(left) + len(in_flight) + distributor.waiting == given_away
    for batch in in_flight:
        left += distributor.finish(batch)
    assert [batch.batch for batch in left] == list(range(given_away))


@pytest.mark.plan("work-distributor-2")
def test_without_order_none_waits():
    distributor = Distributor(2, ordered=False)
    first, second = distributor.give("a"), distributor.give("b")
    assert distributor.finish(second) == [second]
    assert distributor.finish(first) == [first]
    assert distributor.waiting == 0


# Whether order is needed: by drawing in both orders.


def draw(order, *, blend, write, test, compare):
    """A colour and a depth after fragments: a sum, or what was drawn last; and how many passed."""
    colour, depth, passed = 0, 5, 0
    for new_depth, new_colour in order:
        passes = (
            not test
            or {
                Compare.NEVER: False,
                Compare.LESS: new_depth < depth,
                Compare.EQUAL: new_depth == depth,
                Compare.LESS_EQUAL: new_depth <= depth,
                Compare.GREATER: new_depth > depth,
                Compare.NOT_EQUAL: new_depth != depth,
                Compare.GREATER_EQUAL: new_depth >= depth,
                Compare.ALWAYS: True,
            }[compare]
        )
        if passes:
            colour = colour + new_colour if blend else new_colour
            depth = new_depth if test and write else depth
            passed += 1
    return colour, depth, passed


@pytest.mark.plan("work-distributor-3")
@pytest.mark.parametrize(
    ("blend", "write", "test", "query", "colour"),
    list(itertools.product([False, True], repeat=5)),
)
@pytest.mark.parametrize("compare", Compare, ids=lambda compare: compare.name)
def test_order_is_needed_where_it_shows(blend, write, test, query, colour, compare):
    """Where any order of fragments gives another picture, or another count, order is kept."""
    needed = order_needed(
        colour_written=colour,
        blend=blend,
        accumulates=blend,
        depth_test=test,
        depth_write=write,
        depth_compare=compare,
        occlusion_query=query,
    )
    fragments = [(3, 1), (5, 2), (8, 4), (3, 16)]
    seen = {
        (result[0] if colour else 0, result[1], result[2] if query else 0)
        for order in itertools.permutations(fragments)
        for result in [draw(order, blend=blend, write=write, test=test, compare=compare)]
    }
    assert len(seen) == 1 or needed


@pytest.mark.plan("work-distributor-3")
def test_order_is_not_kept_for_nothing():
    """What the documents name is free: sums of colours without depths, and depths alone."""
    assert not order_needed(blend=True, accumulates=True)
    assert not order_needed(colour_written=False, depth_test=True, depth_write=True)
    assert not order_needed(blend=True, accumulates=True, depth_test=True)
    assert order_needed()
    assert order_needed(blend=True)
    assert order_needed(blend=True, accumulates=True, logic_operation=True)
    assert order_needed(colour_written=False, stencil_test=True)


# Thread groups.


@pytest.mark.plan("work-distributor-4")
def test_thread_groups_run_along_x_first():
    groups = thread_groups(3, 2, 2)
    assert groups.tolist() == [[x, y, z] for z in range(2) for y in range(2) for x in range(3)]
    assert thread_groups(4, 0, 9).shape == (0, 3)


@pytest.mark.plan("work-distributor-4")
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: thread_groups(65536, 1, 1), r"x must lie in 0\.\.65535"),
        (lambda: thread_groups(65535, 65535, 1), r"x \* y \* z must lie in 0\.\.16777216"),
        (lambda: Distributor(0), r"clusters must lie in 1\.\.64"),
        (lambda: Distributor(1, 0), r"room must lie in 1\.\.65536"),
    ],
)
def test_bad_numbers_are_refused(make, text):
    with pytest.raises(InputError, match=text):
        make()
