# SPDX-License-Identifier: BSD-2-Clause
"""What HiZ hears of tiles that are written late, in every unit with HiZ in it."""

import pytest

from fixfunc.spec.state import Compare
from tests.depth.test_cached_depth import TINY, fence, flat_tiles, run_flat


@pytest.mark.plan("cached-depth-11", "depth-unit-8")
@pytest.mark.parametrize("spare", [20, 60, 100])
@pytest.mark.parametrize("stem", ["cached_depth", "depth_unit"])
def test_hiz_hears_of_depths_that_are_written_late(stem, spare):
    """What a late draw moves away is visible to the next one, whenever HiZ decides about that."""
    late = flat_tiles(0.9, does=["discard"], depth_compare=Compare.GREATER)
    passed = run_flat(late, *[fence()] * spare, *flat_tiles(0.7), fence(flush=1), stem=stem)
    assert (passed[[1, -1]] == 9 * TINY**2).all()
