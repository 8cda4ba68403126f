# SPDX-License-Identifier: BSD-2-Clause
"""Depths that just round, in the whole depth test: each equals what was cleared to it."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.depth.depth_test import new_depths
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.test.depth_test import CONFIGS
from fixfunc.spec import payloads
from fixfunc.spec.state import Compare, DepthFormat, Kind
from fixfunc.tb.bench import depths, scenes
from fixfunc.tb.depth.depth_test import requests
from tests.volume import check

BLOCK = "depth_test"
EDGE = 4
TABLE = payloads.tile(EDGE)


def check_equal(state, tiles):
    """The first sample of every tile is the depth that the golden model says."""
    rows = [codec.pack(state, payloads.DRAW_STATE, depths.WIDTH)]
    tiles["mask"] = tiles["last"] = 1
    for depth, tile in zip(new_depths(tiles, state, EDGE)[:, 0, 0], tiles, strict=True):
        clear = {"depth": 1, "stencil": 1, "x1": EDGE, "y1": EDGE, "depth_value": depth}
        rows += [
            scenes.control_beat(payloads.CLEAR, Kind.CLEAR, depths.WIDTH, **clear),
            codec.pack(tile.reshape(1), TABLE, depths.WIDTH),
        ]
    rows.append(requests(np.random.default_rng(1), 50, CONFIGS["tiny"]))  # the shader answers, too
    out = check(BLOCK, "tiny", np.concatenate(rows))
    tested = codec.unpack(out[out[:, 0] & 3 == Kind.WORK], TABLE, dtype(TABLE))[: len(tiles)]
    assert (tested["mask"] == 1).all()


@pytest.mark.plan("depth-test-20")
@pytest.mark.parametrize("sign", [1, -1])
def test_a_bias_at_the_end_of_its_range_counts_to_the_last_bit(sign):
    """A slope's share is cut at 2^41; constant steps bring the sum back to where it just rounds."""
    most = (1 << 41) - 1 if sign > 0 else -(1 << 41)
    state = draw_state(
        EDGE,
        EDGE,
        depth_format=DepthFormat.D16,
        depth_compare=Compare.EQUAL,
        bias_slope=depths.float_bits(sign * 1e30),
        bias_constant=(-most // 65537) % (1 << 32),
    )
    tiles = np.zeros(5, dtype(TABLE))
    tiles["dx"] = 1
    for tile, depth in zip(tiles, (1, 1000, 32767, 32768, 65534), strict=True):
        about = (depth << 16) - (1 << 15)
        candidates = np.repeat(tile.reshape(1), 1 << 18)
        candidates["z0"] = np.clip(about + np.arange(-1 << 17, 1 << 17), 0, (1 << 32) - 1)
        first = np.argmax(new_depths(candidates, state, EDGE)[:, 0, 0] >= depth)
        assert first > 0
        tile["z0"] = candidates["z0"][first]
    check_equal(state, tiles)


@pytest.mark.plan("depth-test-21")
def test_floats_round_half_to_even_as_they_are_stored():
    """A little below a half, at it, and above."""
    state = draw_state(EDGE, EDGE, depth_format=DepthFormat.D32F, depth_compare=Compare.EQUAL)
    tiles = np.zeros(20, dtype(TABLE))
    unit, fraction = np.divmod(np.arange(20), 5)
    tiles["z0"] = (1 << 31) + (unit << 8) + np.array([1, 127, 128, 129, 255])[fraction]
    tiles["exponent"] = 120
    check_equal(state, tiles)
