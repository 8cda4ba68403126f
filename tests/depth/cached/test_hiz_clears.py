# SPDX-License-Identifier: BSD-2-Clause
"""HiZ counts clears, by numbers that come again."""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl.depth.hiz import hiz as rtl
from fixfunc.spec import payloads
from fixfunc.spec.state import Compare, Kind
from fixfunc.tb.bench import scenes
from fixfunc.tb.bench.depths import WIDTH
from fixfunc.tb.depth import hiz as bench

BLOCK = "hiz"


@pytest.mark.plan("hiz-9")
def test_a_report_from_before_256_clears_counts_for_nothing():
    """Clears are counted modulo 256; the report waits until the clears do."""
    params = rtl.CONFIGS["tiny"]
    table = payloads.tile(params.edge)
    state = draw_state(16, 16, depth_compare=Compare.LESS, depth_max=(1 << 24) - 1)
    tile = np.zeros(2, dtype(table))
    # a tile, and a request
    tile["last"] = [1, 0]
    tile["mask"] = 1
    clear = scenes.control_beat(
        payloads.CLEAR, Kind.CLEAR, WIDTH, depth=1, x1=16, y1=16, depth_value=(1 << 24) - 1
    )
    rows = np.concatenate(
        [
            codec.pack(state, payloads.DRAW_STATE, WIDTH),
            clear,
            codec.pack(tile[:1], table, WIDTH),
            *(256 * [clear]),
            codec.pack(tile[1:], table, WIDTH),
        ]
    )
    run = Volume(bench.Harness(params, patience=1000), BLOCK).run({"i": rows}, len(rows))
    wanted = bench.replay(rows, run.outputs, params)
    assert run.outputs["saved"].tolist() == wanted["saved"].tolist()
    assert len(wanted["saved"]) == 1


@pytest.mark.plan("hiz-19")
@pytest.mark.parametrize(
    ("compare", "patience"), [(Compare.LESS, 1000), (Compare.EQUAL, 0)], ids=["tiles", "reports"]
)
def test_a_sweep_reaches_what_has_been_written(compare, patience):
    """A row written in one epoch is of no matter 32 epochs later, in whichever place it lies.

    Of a memory of 1,024 rows the sweeps take the clocks of the 64 rows of the target.
    """
    params = replace(rtl.CONFIGS["tiny"], entries=1 << 12)
    side = 16
    table = payloads.tile(params.edge)
    size = side * params.edge
    state = draw_state(size, size, depth_compare=compare, depth_max=(1 << 24) - 1)
    places = np.arange(100) % 32 * 41 % side**2
    tiles = np.zeros((len(places), 2), dtype(table))
    tiles["y"], tiles["x"] = (part[:, None] for part in np.divmod(places, side))
    tiles["mask"] = tiles["last"] = tiles["steep"] = 1
    # Each epoch is farther than what was drawn in the one 32 before it. Bounds have 14 bits.
    far = 1000 + 10 * np.arange(len(places))
    for n, nearer in enumerate((5, 9) if compare == Compare.LESS else (0, 0)):
        tiles["zmin"][:, n] = tiles["zmax"][:, n] = (far - nearer) << 10
        tiles["z0"][:, n] = far << 16
    rows = [codec.pack(state, payloads.DRAW_STATE, WIDTH)]
    for depth, pair in zip(far, tiles, strict=True):
        fields = {"depth": 1, "x1": size, "y1": size, "depth_value": int(depth) << 10}
        rows.append(scenes.control_beat(payloads.CLEAR, Kind.CLEAR, WIDTH, **fields))
        rows.append(codec.pack(pair, table, WIDTH))
    rows = np.concatenate(rows)
    run = Volume(bench.Harness(params, patience=patience), BLOCK).run({"i": rows}, len(rows))
    wanted = bench.replay(rows, run.outputs, params)
    assert run.outputs["o"].tolist() == wanted["o"].tolist()
    assert run.clocks < 50 * len(places)
