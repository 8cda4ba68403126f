# SPDX-License-Identifier: BSD-2-Clause
from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.geometry.viewport import Viewport, fixed_depth, project, snap
from fixfunc.spec.errors import InputError


@pytest.mark.plan("viewport-1")
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_snap_is_nearest_even(value):
    scaled = Fraction(value) * 256
    nearest = floor(scaled + Fraction(1, 2))
    if scaled + Fraction(1, 2) == nearest and nearest % 2:
        nearest -= 1
    assert int(snap(value)) == min(max(nearest, -(1 << 23)), (1 << 23) - 1)


@pytest.mark.plan("viewport-1")
def test_snap_at_ties_and_ends():
    values = np.array(
        [1 / 512, 3 / 512, -1 / 512, -3 / 512, np.inf, -np.inf, np.nan, 32767.99], np.float32
    )
    assert snap(values).tolist() == [0, 2, 0, -2, (1 << 23) - 1, -(1 << 23), 0, 8388606]
    assert snap(values).dtype == np.int32


@pytest.mark.plan("viewport-2")
@given(st.floats(0, 1, width=32))
def test_depth_is_the_nearest_or_its_neighbour(value):
    exact = Fraction(value) * ((1 << 24) - 1) * 256
    assert abs(int(fixed_depth(value)) - exact) <= Fraction(3, 2)


@pytest.mark.plan("viewport-2")
def test_depth_goes_on_beyond_the_range():
    """Up to 127 on either side, whatever the viewport: its range cuts samples [fs 17.10]."""
    one = ((1 << 24) - 1) * 256
    values = [1.0, -1, 2, 64.5, -127, 127.5, -np.inf, np.inf, np.nan]
    wanted = [1, -1, 2, 64.5, -127, 127, -127, 127, -127]
    assert fixed_depth(values).tolist() == [times * one for times in wanted]
    assert fixed_depth(-1 / one).tolist() == -1


@pytest.mark.plan("viewport-3")
def test_corners_of_the_viewport():
    clip = np.array([(-1, 1, 0, 1), (1, -1, 1, 1), (0, 0, 1, 2)], np.float32)
    assert project(clip, Viewport(10, 20, 100, 40)).tolist() == [
        [10, 20, 0, 1],
        [110, 60, 1, 1],
        [60, 40, 0.5, 0.5],
    ]


@pytest.mark.plan("viewport-3")
def test_projection_is_within_four_roundings_of_the_exact_one():
    """1/w, its product, half of the size and the sum are rounded, each by half a unit at most."""
    rng = np.random.default_rng(0)
    port = Viewport(-37.25, 100.5, 1919.75, 1080, 0.25, 0.875)
    clip = rng.uniform(-1, 1, (500, 4)).astype(np.float32)
    clip[:, 3] = rng.uniform(1, 100, 500)
    for (x, y, z, w), got in zip(clip.tolist(), project(clip, port).tolist(), strict=True):
        exact = (
            (Fraction(x) / Fraction(w) + 1) * Fraction(port.width) / 2 + Fraction(port.x),
            (1 - Fraction(y) / Fraction(w)) * Fraction(port.height) / 2 + Fraction(port.y),
            Fraction(z) / Fraction(w) * (Fraction(0.875) - Fraction(0.25)) + Fraction(0.25),
        )
        for value, wanted, most in zip(got, exact, (1920, 1300, 1), strict=False):
            assert abs(Fraction(value) - wanted) <= Fraction(most, 2**22)
        assert abs(Fraction(got[3]) * Fraction(w) - 1) <= Fraction(1, 2**24)


@pytest.mark.plan("viewport-4")
@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"min_depth": -0.1}, "min_depth, max_depth must lie in order within 0..1"),
        ({"max_depth": 1.1}, "min_depth, max_depth must lie in order within 0..1"),
        ({"min_depth": 0.6, "max_depth": 0.5}, "min_depth, max_depth must lie in order"),
        ({"min_depth": float("nan")}, "min_depth must be a finite number"),
        ({"x": float("inf")}, "x must be a finite number"),
        ({"x": -32769}, "x must lie in -32768..32767"),
        ({"x": 10, "width": 32758}, "width must not be negative, nor end beyond 32767"),
        ({"height": -1}, "height must not be negative, nor end beyond 32767"),
    ],
)
def test_bad_viewports_are_refused(fields, text):
    with pytest.raises(InputError, match=text):
        Viewport(**fields)


@pytest.mark.plan("viewport-4")
def test_the_implied_scissor_rounds_down():
    port = Viewport(-0.5, 1.75, 10.25, 2.5)
    assert port.scissor == (-1, 1, 9, 4)
    # The width is not rounded by itself.
    assert Viewport(0.75, 0, 1.25, 1).scissor == (0, 0, 2, 1)
