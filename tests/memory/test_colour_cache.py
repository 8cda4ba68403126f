# SPDX-License-Identifier: BSD-2-Clause
"""Colours behind the golden tile cache, coded and raw."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixfunc.models.geometry.triangle_setup import setup
from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.output.colour_write import ColourCache
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.spec.errors import InputError
from fixfunc.tb.bench import depths

SHAPES = [
    CacheShape(),
    CacheShape(sets=1, ways=1, table_lines=1),
    CacheShape(sets=4, ways=2, table_lines=2),
]


@pytest.mark.plan("tile-cache-17")
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1 << 30), samples=st.sampled_from([1, 2, 4, 8]))
def test_colours_come_back_whatever_their_coding(seed, samples):
    """Coded and raw caches of any shape hold what was drawn; coded ones never move more."""
    rng = np.random.default_rng(seed)
    size = tuple(int(v) for v in rng.integers(1, 60, 2))
    state = draw_state(*size, samples, blend_enable=1)
    shapes = [*SHAPES, *(replace(shape, colours="raw") for shape in SHAPES)]
    caches = [ColourCache(state, shape) for shape in shapes]
    background = int(rng.integers(0, 1 << 32))
    for cache in caches:
        cache.clear((0, 0, *size), background)
    for _ in range(4):
        tiles = rasterize(setup(depths.triangles(rng, 3, size), state).records)[0]
        colours = rng.integers(0, 1 << 32, (len(tiles), 1, 1), np.uint32)
        colours = colours + np.arange(64, dtype=np.uint32).reshape(8, 8) * rng.integers(0, 9)
        for cache in caches:
            cache.run(tiles, colours.astype(np.uint32), state)
    for cache in caches:
        cache.flush()
        assert (cache.values() == caches[0].values()).all()
        again = ColourCache(state, cache._shape, memory=cache.memory)
        again.load_modes(background)
        assert (again.values() == caches[0].values()).all()
    coded, raw = (sum(cache.bytes.values()) for cache in (caches[0], caches[len(SHAPES)]))
    assert coded <= raw


@pytest.mark.plan("tile-cache-12")
def test_a_tile_of_colours_that_there_is_not():
    cache = ColourCache(draw_state(8, 8))
    for code in (9, 2):
        cache.memory[-32] = code
        cache.memory[4] = 0xFF
        cache.load_modes(0)
        with pytest.raises(InputError, match=rf"tile \(0, 0\) .* a code .*, not {code}"):
            cache.values()
    with pytest.raises(InputError, match="edge must be 8 where colours are coded .*, not 4"):
        ColourCache(draw_state(8, 8), edge=4)
