# SPDX-License-Identifier: BSD-2-Clause
"""Clocks of tiles that are written late, on chip, with a shader that answers at once."""

from functools import cache

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Memory, Volume
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.cached_depth import CachedDepth, CachedDepthParams
from fixfunc.spec import payloads
from fixfunc.spec.state import Compare, Kind
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from tests.volume import LIMIT

EDGE = 4
PARAMS = CachedDepthParams(
    edge=EDGE,
    entries=2048,
    clears=2,
    sets=256,
    ways=2,
    table_lines=64,
    reads=8,
    differences=False,
)
SIZE = 64
TABLE = payloads.tile(EDGE)
SURVIVORS = payloads.survivors(EDGE, True)
CONTEXT = payloads.context(EDGE)


@cache
def block():
    return Volume(CachedDepth(PARAMS), "late_rate")


def clocks(does, count, places, apart=False):
    """Of a frame with ``count`` tiles of a draw, on so many places in turn.

    Tiles are covered, or ``apart``, by one sample after the other.
    """
    first = draw_state(SIZE, SIZE)
    state = draw_state(
        SIZE, SIZE, does=[does], depth_compare=Compare.ALWAYS, hiz_drop=0, hiz_accept=0
    )
    tiles = np.zeros(count, dtype(TABLE))
    tiles["y"], tiles["x"] = np.divmod(np.arange(count) % places, SIZE // EDGE)
    tiles["mask"] = 1 << np.arange(count) % EDGE**2 if apart else (1 << EDGE**2) - 1
    tiles["full"] = not apart
    tiles["last"] = 1
    tiles["z0"] = 1 << 30
    tiles["zmin"] = tiles["zmax"] = 1 << 22
    clear = scenes.control_beat(
        payloads.CLEAR,
        Kind.CLEAR,
        WIDTH,
        depth=1,
        stencil=1,
        x1=SIZE,
        y1=SIZE,
        stencil_base=1 << 17,
    )
    rows = [codec.pack(first, payloads.DRAW_STATE, WIDTH), clear]
    rows += [codec.pack(tiles[:places], TABLE, WIDTH)]
    rows += [codec.pack(state, payloads.DRAW_STATE, WIDTH), codec.pack(tiles, TABLE, WIDTH)]
    rows += [scenes.control_beat(payloads.FENCE, Kind.FENCE, WIDTH)]
    shaded = np.zeros(0 if state["early_write"] else count, dtype(SURVIVORS))
    shaded["survivors"] = (1 << EDGE**2) - 1
    given = {
        "i": np.concatenate(rows),
        "shaded": codec.pack(shaded, SURVIVORS),
        "context": codec.pack(np.zeros(0, dtype(CONTEXT)), CONTEXT),
    }
    memory = Memory(np.zeros(1 << 18, np.uint8), (0, 8))
    return block().run(given, 1 << 16, limit=LIMIT, memory=memory).simulated


@pytest.mark.plan("cached-depth-10")
@pytest.mark.qualify
@pytest.mark.parametrize(
    ("does", "places", "least", "most"),
    [
        ("plain", 1, 1, 1),
        ("plain", 256, 1, 1),
        ("discard", 256, 2, 2.1),
        ("depth_output", 64, 2, 2.1),
        ("uav_writes", 16, 2, 2.1),
        ("discard", 1, 20, 40),
    ],
)
def test_clocks_a_tile(does, places, least, most):
    """One clock early, two late; a tile waits until the one before it on its place is written."""
    rate = (clocks(does, 2048, places) - clocks(does, 1024, places)) / 1024
    assert least <= rate <= most


@pytest.mark.plan("cached-depth-10")
@pytest.mark.qualify
def test_neighbours_of_a_mesh_are_out_together():
    """Sixteen tiles of one place, a sample each, wait once: three clocks each, and their round."""
    rate = (clocks("discard", 2048, 1, apart=True) - clocks("discard", 1024, 1, apart=True)) / 1024
    assert rate < 6
