# SPDX-License-Identifier: BSD-2-Clause
"""Hardware of the tile cache's bench: slots, and writes in place of tests."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Memory
from fixfunc.models.payload import dtype
from fixfunc.rtl.memory.tile_cache.tile_cache import CONFIGS
from fixfunc.spec.memory import caching
from fixfunc.spec.state import CacheOp
from fixfunc.tb.memory.slots import answer, work
from tests.volume import LIMIT, volume

PARAMS = CONFIGS["tiny"]
LANES = PARAMS.edge**2
CLEARED = 0x123456


@pytest.mark.plan("tile-cache-15")
@pytest.mark.parametrize("stem", ["tile_cache"])
def test_slots_hold_what_requests_write(stem):
    """Samples of a plane, or of all its bits but the lowest inverted; the others stay."""
    table = work(PARAMS.edge)
    requests = np.zeros(5, dtype(table))
    requests["op"] = CacheOp.USE
    requests["op"][[0, -1]] = CacheOp.CLEAR, CacheOp.FLUSH
    requests["number"][0] = requests["x"][0] = requests["y"][0] = 1
    requests["cleared"] = CLEARED
    requests["writes"][1:3] = 1
    requests["written"][1:3] = 0b0011, 0b0110
    requests["exact"] = 1, 1, 0, 1, 1
    requests["needed"] = 0, 1, 1, 1, 0
    requests["z0"] = 0, 5 << 8, 9 << 8, 0, 0
    memory = Memory(np.zeros(1 << 12, np.uint8), (0, 8))
    run = volume(stem, "tiny").run(
        {"i": codec.pack(requests, table)}, 16, limit=LIMIT, memory=memory
    )
    out = codec.unpack(run.outputs["o"], answer(PARAMS), dtype(answer(PARAMS)))
    values = np.stack([out[f"value{n}"] for n in range(LANES)], 1)
    assert (out["op"] == requests["op"]).all()
    assert not out["error"].any()
    assert not values[[0, 4]].any()  # no values were needed
    assert values[1].tolist() == [CLEARED] * LANES
    assert values[2].tolist() == [5, 5] + [CLEARED] * (LANES - 2)
    assert values[3].tolist() == [5, 9 ^ 1, 9 ^ 1] + [CLEARED] * (LANES - 3)
    counted = codec.unpack(run.outputs["counted"], caching.COUNTED, dtype(caching.COUNTED))
    assert len(counted) == 2  # a clear and a flush
