# SPDX-License-Identifier: BSD-2-Clause
"""Levels of detail beside ideal ones."""

import numpy as np
import pytest

from fixfunc.models.texture.sampler import Sampler, level_of_detail
from tests.oracles.specification import sampling as rules
from tests.textures import noise

STEP = 1 / 256  # of a level of detail [fs 7.18.16.1]


@pytest.mark.plan("specification-7")
@pytest.mark.parametrize("most", [1, 2, 16])
@pytest.mark.parametrize("size", [(64, 64), (256, 16)])
def test_levels_of_detail_are_ideal_ones_to_three_steps(size, most):
    """With bias and bounds; ellipses of any shape, with anisotropy."""
    rng = np.random.default_rng([most, size[0]])
    texture = noise(*size)
    scale = 2.0 ** rng.uniform(-9, 2, (400, 1))
    across, down = ((scale * rng.normal(size=(400, 2))).astype(np.float32) for _ in range(2))
    across[:40, 1] = 0  # ends: along an axis, equal lengths, far apart
    down[:20] = across[:20, ::-1]
    down[40:60] *= np.float32(1 / 64)
    bias, low, high = 0.75, -1.5, 4.25
    sampler = Sampler(anisotropy=most, bias=bias, min_lod=low, max_lod=high)
    coordinates = np.zeros((400, 2), np.float32)
    told = level_of_detail(texture, sampler, coordinates, gradients=(across, down))
    compared = 0
    for n in range(400):
        dx, dy = (np.float64(its[n]) * size for its in (across, down))
        perpendicular = abs(dx @ dy) <= 1e-6 * np.hypot(*dx) * np.hypot(*dy)
        parallel = abs(dx[0] * dy[1] - dx[1] * dy[0]) <= 1e-5 * np.hypot(*dx) * np.hypot(*dy)
        if most > 1 and (perpendicular or parallel):
            continue  # the specification leaves these without its transformation
        ideal = rules.isotropic(dx, dy) if most == 1 else rules.anisotropic(dx, dy, most)
        assert abs(told[n, 1] - ideal) <= 3 * STEP, (dx, dy)
        wanted = np.clip(rules.clamped(ideal, bias, low, high), 0, len(texture.levels) - 1)
        assert abs(told[n, 0] - wanted) <= 3 * STEP
        compared += 1
    assert compared > 350
