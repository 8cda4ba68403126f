# SPDX-License-Identifier: BSD-2-Clause
"""Many random quads through the texture unit, as its bench draws them."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS
from fixfunc.spec.textures.cache import CacheStatus
from fixfunc.spec.textures.unit import TEXTURED_QUAD
from fixfunc.tb.texture import texture_unit as bench
from tests import volume


def with_states(monkeypatch, change):
    """From here on ``change(rng, state)`` changes each state that the bench draws."""
    draw = bench.draw

    def changed(rng, params):
        state = draw(rng, params)
        change(rng, state)
        return state

    monkeypatch.setattr(bench, "draw", changed)


def check_quads(config, runs, beats, first_seed=0):
    """Hold ``runs`` of so many beats to the golden unit.

    Returns
    -------
    total, okay : int
        Quads out, and those of them that no error of memory or of a state has touched.
    rows : ndarray
        Beats in of the last run.
    """
    total = okay = 0
    for seed in range(first_seed, first_seed + runs):
        rows = bench.requests(np.random.default_rng(seed), beats, CONFIGS[config])
        found = volume.check(bench.TextureUnitBench.stem, config, rows, seed=seed)
        out = codec.unpack(found, TEXTURED_QUAD, dtype(TEXTURED_QUAD))
        total += len(out)
        okay += int((out["status"] == CacheStatus.OKAY).sum())
    return total, okay, rows
