# SPDX-License-Identifier: BSD-2-Clause
"""Fragments that are shaded, against a FIFO fragment by fragment."""

from collections import deque

import numpy as np
import pytest

from fixfunc.models.architecture.hidden_fragments import PIXELS, shading
from fixfunc.spec.errors import InputError


def naive(pixels, depths, opaque, window, clear):
    """A depth buffer, and a FIFO of fragments that may still be killed."""
    buffer = {}
    passed, shaded, waiting = set(), set(), deque()
    for number, (pixel, depth) in enumerate(zip(pixels.tolist(), depths.tolist(), strict=True)):
        if depth >= buffer.get(pixel, clear):
            continue
        passed.add(number)
        if opaque[number]:
            buffer[pixel] = depth
            waiting = deque(
                None if other is not None and pixels[other] == pixel else other for other in waiting
            )
        waiting.append(number)
        if window is not None and len(waiting) > window:
            shaded.add(waiting.popleft())
    shaded |= set(waiting)
    return passed, shaded - {None}


@pytest.mark.plan("hidden-fragments-1")
@pytest.mark.parametrize("window", [0, 1, 2, 7, 40, None])
def test_fragments_are_those_of_a_fifo(window):
    rng = np.random.default_rng(3)
    for _ in range(60):
        count = int(rng.integers(0, 80))
        pixels = rng.integers(0, rng.choice([1, 3, 20]), count)
        depths = rng.integers(0, rng.choice([2, 10, 1 << 32]), count)
        opaque = rng.random(count) < rng.choice([0, 0.5, 0.9, 1])
        clear = int(rng.choice([5, (1 << 32) - 1]))
        found = shading(pixels, depths, opaque, window, clear)
        passed, shaded = naive(pixels, depths, opaque, window, clear)
        assert set(np.flatnonzero(found.passed)) == passed
        assert set(np.flatnonzero(found.shaded)) == shaded


@pytest.mark.plan("hidden-fragments-2")
def test_deferred_shading_shades_a_pixel_once():
    """Of opaque fragments, in whatever order they come; in front of them each transparent one."""
    rng = np.random.default_rng(4)
    pixels = rng.integers(0, 500, 4000)
    depths = rng.integers(0, 1 << 24, 4000)
    every = np.ones(4000, bool)
    found = shading(pixels, depths, every, None)
    assert sorted(pixels[found.shaded]) == sorted(set(pixels.tolist()))
    nearest = [depths[pixels == pixel].min() for pixel in pixels[found.shaded]]
    assert (depths[found.shaded] == nearest).all()
    glass = shading(np.append(pixels, pixels), np.append(depths, 0 * depths), ~every.repeat(2))
    assert glass.shaded.all()


@pytest.mark.plan("hidden-fragments-2")
def test_a_longer_window_kills_more():
    """The documents' overdraw: depth complexity 4 in random order shades 1 + 1/2 + 1/3 + 1/4."""
    rng = np.random.default_rng(5)
    pixels = np.tile(np.arange(20000), 4)
    depths = rng.integers(0, 1 << 32, 80000)
    every = np.ones(80000, bool)
    counts = [int(shading(pixels, depths, every, it).shaded.sum()) for it in (0, 15000, 40000)]
    assert counts[0] / 20000 == pytest.approx(25 / 12, rel=0.01)
    assert counts[0] > counts[1] > counts[2]
    assert int(shading(pixels, depths, every, None).shaded.sum()) == 20000


@pytest.mark.plan("hidden-fragments-3")
@pytest.mark.parametrize(
    "pixels, depths, more, said",
    [
        ([0], [0, 1], {}, r"depths and opaque must have shape \(1,\), not \(2,\)"),
        ([PIXELS], [0], {}, "pixels must lie in 0..268435455, not 268435456"),
        ([0], [1 << 32], {}, "depths must lie in 0..4294967295, not 4294967296"),
        ([0], [0], {"window": -1}, "window must lie in 0..1073741824, not -1"),
        ([0], [0], {"clear": 1 << 32}, "clear must lie in 0..4294967295, not 4294967296"),
    ],
)
def test_fragments_that_are_none(pixels, depths, more, said):
    with pytest.raises(InputError, match=said):
        shading(pixels, depths, np.ones(len(pixels), bool), **more)
