# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.geometry.viewport import fixed_depth, project, snap
from fixfunc.spec.errors import InputError


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_snap_is_nearest_even(value):
    scaled = Fraction(value) * 256
    nearest = floor(scaled + Fraction(1, 2))
    if scaled + Fraction(1, 2) == nearest and nearest % 2:
        nearest -= 1
    assert int(snap(value)) == min(max(nearest, -(1 << 23)), (1 << 23) - 1)


def test_snap_at_ties_and_ends():
    values = np.array(
        [1 / 512, 3 / 512, -1 / 512, -3 / 512, np.inf, -np.inf, np.nan, 32767.99], np.float32
    )
    assert snap(values).tolist() == [0, 2, 0, -2, (1 << 23) - 1, -(1 << 23), 0, 8388606]
    assert snap(values).dtype == np.int32


@given(st.floats(0, 1, width=32))
def test_depth_is_rounded_half_up(value):
    assert int(fixed_depth(value)) == floor(
        Fraction(value) * ((1 << 24) - 1) * 256 + Fraction(1, 2)
    )


def test_depth_is_cut_to_its_range():
    assert (
        fixed_depth([np.nan, -1, 2, np.inf], (0.25, 0.5)).tolist()
        == fixed_depth([0.25, 0.25, 0.5, 0.5]).tolist()
    )
    assert int(fixed_depth(1.0)) == ((1 << 24) - 1) * 256


def test_corners_of_the_viewport():
    clip = np.array([(-1, 1, 0, 1), (1, -1, 1, 1), (0, 0, 1, 2)], np.float32)
    assert project(clip, (10, 20, 110, 60)).tolist() == [[10, 20, 0], [110, 60, 1], [60, 40, 0.5]]


@pytest.mark.parametrize("depth_range", [(-0.1, 1), (0, 1.1), (0.6, 0.5), (float("nan"), 1)])
def test_bad_depth_range(depth_range):
    with pytest.raises(InputError, match="depth_range must lie in order"):
        project(np.ones((1, 4), np.float32), (0, 0, 4, 4), depth_range)
