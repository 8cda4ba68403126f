# SPDX-License-Identifier: BSD-2-Clause
"""Many random quads through the texture unit, as its bench draws them."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.texture.unit.texture_unit import CONFIGS
from fixfunc.spec.textures.cache import CacheStatus
from fixfunc.spec.textures.unit import SAMPLE_STATE, TEXTURED_QUAD
from fixfunc.tb.bench.states import parted
from fixfunc.tb.texture import texture_unit as bench
from fixfunc.tb.texture.texture_cache import put_format
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


def check_formats(monkeypatch, config, forms, change=lambda _rng, _state: None):
    """Hold a hundred thousand quads under states of these formats alone, which do not compare."""

    def of_forms(rng, state):
        put_format(state, rng.choice(forms))
        state["compares"] = 0
        change(rng, state)

    with_states(monkeypatch, of_forms)
    total, okay, rows = check_quads(config, 6, 18_000)
    states, _, _ = parted(rows, SAMPLE_STATE, CONFIGS[config].quad)
    assert set(bench.forms_of(states)) == {int(form) for form in forms}
    assert okay > 60_000
    assert total > 100_000
