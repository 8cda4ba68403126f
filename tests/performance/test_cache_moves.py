# SPDX-License-Identifier: BSD-2-Clause
"""What caches of any shape fetch and write back, against the golden caches themselves."""

from collections import Counter

import numpy as np
import pytest

from fixfunc.cosim.reference import top
from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.performance.cache_moves import cache_moves
from fixfunc.models.performance.events import PLANES, SURFACE, USE, Beat
from fixfunc.models.performance.params import CacheParams
from tests.performance.frames import PARAMS, events, job

SIZES = np.array([0, 32, 64, 96, 128, 160, 192, *[-1] * 9])


def naive(uses, columns, params, fence):
    """Use by use: modes that each fetches and evicts, and how many tiles two fences write.

    The first fence stands before the use of that number, the second behind all.
    """
    ways = {}
    stored, now = Counter(), {}
    fills, evicts = [], []
    bits = params.sets.bit_length() - 1
    low = (bits + 1) // 2
    rests = []

    def flush():
        rest = [old for own in ways.values() for old, dirty in own if dirty]
        for old in rest:
            stored[old] = now[old]
        ways.clear()
        rests.append(len(rest))

    for n, use in enumerate(uses):
        if n == fence:
            flush()
        tile = int(use["tile"])
        x, y = tile % columns, tile // columns
        key = x % (1 << low), y % (1 << bits // 2)
        own = ways.setdefault(key, [])
        fill = evict = -1
        if tile not in [it[0] for it in own]:
            if len(own) == params.ways:
                old, dirty = own.pop(0)
                if dirty:
                    evict = stored[old] = now[old]
            own.append([tile, False])
            if use["needed"]:
                fill = stored[tile]
        for it in own:
            if it[0] == tile:
                it[1] |= bool(use["wrote"])
        now[tile] = int(use["mode"])
        fills.append(fill)
        evicts.append(evict)
    flush()
    return fills, evicts, rests


@pytest.mark.plan("performance-2")
@pytest.mark.parametrize("sets, ways", [(1, 1), (1, 4), (4, 2), (8, 1), (16, 4)])
def test_moves_are_those_of_a_walk_use_by_use(sets, ways):
    rng = np.random.default_rng(sets + ways)
    columns, count = 7, 600
    uses = np.zeros(count, USE)
    uses["beat"] = np.arange(1, count + 1)
    uses["tile"] = rng.integers(0, 7 * columns, count)
    uses["needed"] = rng.random(count) < 0.8
    uses["wrote"] = rng.random(count) < 0.6
    uses["may_write"] = uses["wrote"] | (rng.random(count) < 0.5)
    uses["mode"] = rng.integers(0, 7, count)
    surfaces = np.array([(0, 0, 7 * columns, columns, SIZES)], SURFACE)
    params = CacheParams(sets, ways)
    uses["beat"][200:] += 1
    fences = np.array([201, count + 2])
    moves = cache_moves(uses, surfaces, fences, params)
    fills, evicts, rests = naive(uses, columns, params, 200)
    assert moves.fill_mode.tolist() == fills
    assert moves.evict_mode.tolist() == evicts
    assert [len(moves.flushes[beat][0]) for beat in fences] == rests
    for name, cause in (("fill", "fill"), ("evict", "write_back")):
        own = getattr(moves, name)
        known = [SIZES[mode] // 32 for mode in getattr(moves, f"{name}_mode") if mode >= 0]
        assert own[own >= 0].tolist() == known
        assert sum(n for (kind, _), n in moves.counts.items() if kind == cause) == len(known) + (
            sum(rests) if name == "evict" else 0
        )


@pytest.mark.plan("performance-2")
@pytest.mark.parametrize("shape", [(256, 4, 1024), (16, 2, 4), (4, 1, 1)], ids=str)
@pytest.mark.parametrize("name", ["slivers, 1x", "teapot, 4x"])
def test_every_byte_is_that_of_the_golden_caches(name, shape):
    """By cause and mode, whatever the sets, the ways and the lines of the mode table."""
    told = events(name)
    own = job(name)
    machine = top.machine(PARAMS, own.data.copy(), shape=CacheShape(*shape))
    machine.draw(*own.start)
    fences = np.flatnonzero(told.beats["kind"] == Beat.FENCE)
    for plane in PLANES:
        moves = cache_moves(
            told.uses[plane],
            told.surfaces[plane],
            fences,
            CacheParams(*shape),
        )
        golden = {
            (kind.cause, None if kind.cause == "clear" else kind.mode): count
            for kind, count in machine.traffic[plane].items()
        }
        assert dict(moves.counts) == golden
