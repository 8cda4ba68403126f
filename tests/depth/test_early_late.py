# SPDX-License-Identifier: BSD-2-Clause
"""Early and late depth tests with a shader in between."""

import numpy as np
import pytest

from fixfunc.models.depth.depth_test import in_range, new_depths
from fixfunc.models.depth.depth_unit import DepthUnit, Shaded
from fixfunc.models.formats import MOST
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.spec.state import PERMISSIONS, DepthFormat
from tests.depth.test_depth_unit import draws


def shader(state, shaded):
    """A shader that does what a draw's permissions are for, by what it is given alone.

    ``shaded`` counts samples.
    """
    most = MOST[DepthFormat(state["depth_format"])]

    def shade(tiles, _numbers):
        shaded.append(int(unpack(tiles["mask"]).sum()))
        n = np.arange(64).reshape(8, 8)
        keeps = (tiles["z0"].astype(np.int64)[:, None, None] + n) % 3 > 0
        discards = state["early_reject"] and not state["early_write"]
        any_depth = (tiles["z0"].astype(np.int64) >> 8)[:, None, None] * (n + 1) % (most + 1)
        plane = in_range(new_depths(tiles, state), state)
        if state["early_reject"]:
            depth = None
        elif state["depth_raised"]:
            depth = np.maximum(plane, any_depth).astype(np.uint32)
        elif state["depth_lowered"]:
            depth = np.minimum(plane, any_depth).astype(np.uint32)
        else:
            depth = any_depth.astype(np.uint32)
        return Shaded(keeps if discards else np.ones_like(keeps), depth)

    return shade


@pytest.mark.plan("depth-test-8")
@pytest.mark.parametrize("bounds", ["both", None])
@pytest.mark.parametrize("form", list(DepthFormat))
def test_early_on_is_early_off(form, bounds):
    """What passes, and what is stored, is as if every test came late.

    Draws vary function, stencil, bias and format.
    """
    rng = np.random.default_rng(int(form))
    handed = ([], [])
    late_draws = 0
    for _ in range(10):
        units = None
        for state, tiles in draws(rng, form, 10):
            off = state.copy()
            for name in PERMISSIONS:
                off[name] = 0
            if not units:
                units = DepthUnit(state, bounds=bounds), DepthUnit(off, bounds=None)
            passed = []
            for unit, force, shaded in zip(units, (state, off), handed, strict=True):
                unit.state = force
                passed.append(unit.test(tiles, shader(state, shaded))[0])
            late_draws += not state["early_write"]
            assert (passed[0] == passed[1]).all()
            assert (units[0].buffer.depth == units[1].buffer.depth).all() and (
                units[0].buffer.stencil == units[1].buffer.stencil
            ).all()
    assert late_draws > 20 and 0 < sum(handed[0]) < sum(handed[1]), handed
