# SPDX-License-Identifier: BSD-2-Clause
"""The mode table of the golden tile cache: when a line of it is read, and when it is written."""

import numpy as np
import pytest

from fixfunc.models.depth.depth_cache import CacheShape, StencilCache, TrafficKind
from fixfunc.models.state import draw_state
from fixfunc.spec.state import TileMode


@pytest.mark.plan("tile-cache-3")
def test_modes_lie_in_memory_once_their_line_has_left():
    """A target that another one replaces without a flush keeps the table that it began with."""
    cache = StencilCache(draw_state(16, 8), CacheShape(sets=1, ways=1))
    cache.clear((0, 0, 16, 8), 0)
    for tile in (0, 1):
        cache.use(tile, False, True, 7, np.ones((8, 8), bool))
    assert cache.traffic[TrafficKind("write_back", TileMode.RAW)] == 1
    assert (cache.memory[:64] == 7).all() and not cache.memory[64:].any()
    cache.flush()
    assert (cache.memory[:128] == 7).all() and cache.memory[128] == 0x66
    cache.clear((0, 0, 16, 8), 3)
    assert not cache.memory[128:].any() and (cache.values() == 3).all()


@pytest.mark.plan("tile-cache-3")
@pytest.mark.parametrize("writes", [False, True])
def test_the_mode_of_a_victim_is_looked_up_if_a_draw_may_have_written_it(writes):
    cache = StencilCache(draw_state(16, 8), CacheShape(sets=1, ways=1))
    for tile in (0, 1):
        cache.use(tile, False, writes)
    assert cache.traffic[TrafficKind("table_fill", None)] == writes
    cache.flush()
    assert dict(cache.traffic) == ({TrafficKind("table_fill", None): 1} if writes else {})
