# SPDX-License-Identifier: BSD-2-Clause
"""Tiled caching: fragments stay in order at each pixel, and targets in the cache."""

import numpy as np
import pytest

from fixfunc.models.architecture.tiled.tiled_caching import accesses, binned
from fixfunc.models.memory.dram.last_level import LastLevelCache
from fixfunc.spec.errors import InputError
from tests.architecture.test_sorting import frame


@pytest.mark.plan("tiled-caching-1")
@pytest.mark.parametrize(("tile", "batch"), [(8, 1000), (16, 7), (3, 1), (64, 20)])
def test_order_is_that_of_bins(tile, batch):
    """Batch by batch, tile by tile; within a tile as they were drawn."""
    work = frame(np.random.default_rng(tile), 40)
    bins = {}
    for number, (triangle, x, y) in enumerate(work.fragments.tolist()):
        bins.setdefault((triangle // batch, y // tile, x // tile), []).append(number)
    expected = [number for key in sorted(bins) for number in bins[key]]
    assert binned(work, tile, batch).tolist() == expected


@pytest.mark.plan("tiled-caching-1")
def test_accesses_are_those_of_each_fragment():
    work = frame(np.random.default_rng(2), 20)
    order = binned(work, 8, 100)
    found = accesses(work, order).tolist()
    pitch = -(-work.width // 8)
    for n, (_, x, y) in enumerate(work.fragments[order].tolist()):
        depth = 32 * (y * pitch + x // 8)
        colour = depth + 32 * pitch * work.height
        assert found[4 * n : 4 * n + 4] == [
            (n, depth, False, 0),
            (n, depth, True, 0),
            (n, colour, False, 1),
            (n, colour, True, 1),
        ]
    with pytest.raises(InputError, match="order must have every fragment once"):
        accesses(work, np.zeros(len(work.fragments), int))


@pytest.mark.plan("tiled-caching-2")
def test_a_tile_stays_in_a_cache_that_the_frame_does_not_fit():
    """All triangles in one batch: each column moves once each way; drawn in order, many times."""
    work = frame(np.random.default_rng(3), 400)
    small = LastLevelCache(4096, 32, 128)  # lines of a tile: 16 of depths, 16 of colours
    drawn, tiled = (small.filter(accesses(work, it)) for it in (None, binned(work, 16, 1 << 20)))
    touched = 32 * len(np.unique(accesses(work)["address"]))
    assert tiled.read == tiled.written == touched
    assert drawn.read > 4 * touched
    batches = [small.filter(accesses(work, binned(work, 16, it))).read for it in (1, 20, 400)]
    assert batches == sorted(batches, reverse=True)
    large = LastLevelCache(1 << 20, 16, 128)
    assert large.filter(accesses(work)).read == touched
