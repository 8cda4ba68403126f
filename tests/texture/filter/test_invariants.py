# SPDX-License-Identifier: BSD-2-Clause
"""The invariants of [fs 7.18.16.3], of what the hardware gives."""

import numpy as np
import pytest

from fixfunc.models.texture.filter import SIGNED
from fixfunc.spec.textures.filter import Unit
from tests.texture.filter.grids import hardware, one, single

BLOCK = "filter"
INTEGERS = [unit for unit in Unit if unit not in (Unit.HALF, Unit.WORD)]


def least(unit):
    return -one(unit) if unit in SIGNED else 0


def texels(rng, unit, count):
    """Grids of any texels, a third of them ends of the range."""
    found = rng.integers(least(unit), one(unit) + 1, (count, 4, 4))
    ends = rng.choice([least(unit), one(unit)], found.shape)
    return np.where(rng.random(found.shape) < 0.3, ends, found)


def quotients(found, unit):
    """Nearest float32 of texels: of two float32 that are exact."""
    return found.astype(np.float32) / np.float32(one(unit))


@pytest.mark.plan("filter-7")
@pytest.mark.parametrize("unit", INTEGERS)
def test_a_point_is_its_texel(unit):
    """Every value of a channel."""
    values = np.arange(least(unit), one(unit) + 1)
    values = np.resize(values, -(-len(values) // 16) * 16)
    own = np.zeros((len(values) // 4, 4, 4), np.int64)
    own[:, 0] = values.reshape(-1, 4)
    own[:, 1:] = one(unit)
    nothing = np.zeros(len(own), np.int64)
    found = hardware(*single(own, nothing, nothing, unit))
    assert np.array_equal(found, quotients(own[:, 0], unit))


@pytest.mark.plan("filter-7")
@pytest.mark.parametrize("unit", INTEGERS)
def test_a_result_lies_within_its_texels(unit):
    rng = np.random.default_rng(unit)
    own = texels(rng, unit, 4000)
    u, v = rng.integers(0, 256, (2, 4000))
    found = hardware(*single(own, u, v, unit))
    assert (found >= quotients(own.min(1), unit)).all()
    assert (found <= quotients(own.max(1), unit)).all()


@pytest.mark.plan("filter-7")
@pytest.mark.parametrize("unit", INTEGERS)
def test_a_constant_gives_the_constant(unit):
    rng = np.random.default_rng(unit)
    own = np.repeat(texels(rng, unit, 4000)[:, :1], 4, 1)
    u, v = rng.integers(0, 256, (2, 4000))
    found = hardware(*single(own, u, v, unit))
    assert np.array_equal(found, quotients(own[:, 0], unit))


@pytest.mark.plan("filter-7")
@pytest.mark.parametrize("unit", INTEGERS)
@pytest.mark.parametrize("axis", ["u", "v"])
def test_a_result_moves_one_way_with_the_weight(unit, axis):
    rng = np.random.default_rng(unit)
    own = np.repeat(texels(rng, unit, 40), 256, 0)
    moving = np.tile(np.arange(256), 40)
    still = np.repeat(rng.integers(0, 256, 40), 256)
    places = (moving, still) if axis == "u" else (still, moving)
    found = hardware(*single(own, *places, unit)).reshape(40, 256, 4)
    steps = np.diff(found, axis=1)
    assert ((steps >= 0).all(1) | (steps <= 0).all(1)).all()
    assert (steps != 0).any()
