# SPDX-License-Identifier: BSD-2-Clause
"""How far new corners of the clipper lie from those of exact rationals."""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.geometry.clipper import clip
from fixfunc.models.geometry.viewport import Viewport
from tests.geometry.test_clipper import VIEWS, triangles
from tests.oracles.clipping import exact_polygon, fractions, pixel, planes


def polygons(clipped, count):
    """Corners of each primitive's parts as a polygon: fans put together again."""
    whole = [[] for _ in range(count)]
    for n, corners, weights in zip(clipped.source, clipped.positions, clipped.weights, strict=True):
        joined = list(zip(corners, weights, strict=True))
        whole[n] += joined if not whole[n] else joined[2:]
    return whole


@pytest.mark.plan("clipper-8")
@pytest.mark.parametrize("depth_clip", [True, False])
@pytest.mark.parametrize("view", VIEWS)
def test_new_corners_are_near_those_of_exact_arithmetic(view, depth_clip):
    """As many corners, in order. On the screen, and one screen around it, a new one is within
    reach * 2^-21 screens, reach being the primitive's greatest coordinate over the corner's w; its
    depth is within reach * 2^-24.
    """
    unclipped = triangles(1, 400)
    result = clip(unclipped, view, depth_clip=depth_clip)
    cutting = planes(view, depth_clip)
    got = polygons(result, len(unclipped))
    size = Fraction(max(view.width, view.height))
    new = 0
    for n, triangle in enumerate(unclipped):
        polygon = exact_polygon(triangle, cutting)
        if len(polygon) < 3 or not got[n]:
            # Rejected by the view, or nothing is left.
            assert not got[n]
            continue
        assert len(got[n]) == len(polygon)
        greatest = max(abs(value) for vertex in triangle for value in fractions(vertex))
        for (vertex, _), (exact, exact_weights) in zip(got[n], polygon, strict=True):
            if max(exact_weights) == 1:
                assert vertex.tobytes() == triangle[exact_weights.index(1)].tobytes()
                continue
            new += 1
            if exact[3] == 0:
                continue
            reach = greatest / exact[3]
            x, y = pixel(exact, view)
            if max(abs(x), abs(y)) > 2 * size:
                continue
            error = max(
                abs(a - b) for a, b in zip(pixel(fractions(vertex), view), (x, y), strict=True)
            )
            assert error <= reach * size / 2**21
            depth = Fraction(float(vertex[2])) / Fraction(float(vertex[3]))
            assert abs(depth - exact[2] / exact[3]) <= reach / 2**24
    assert new > 200


@pytest.mark.plan("clipper-8")
@pytest.mark.parametrize("depth_clip", [True, False])
@pytest.mark.parametrize("size", [640, 2048])
def test_new_corners_of_what_is_near_the_screen(size, depth_clip):
    """Corners within 2^16 pixels, w within a factor of 16: 1/256 pixel on the screen and one screen
    around it, 1/16 pixel at the guard band; depths within 2^-20, near and far exact.
    """
    rng = np.random.default_rng(size)
    view = Viewport(0, 0, size, size)
    place = rng.uniform(-(2**16), 2**16, (400, 3, 2))
    place[::2] = rng.uniform(-size, 2 * size, (200, 3, 2))
    w = 16 ** rng.random((400, 3, 1))
    unclipped = np.concatenate(
        [(place * 2 / size - 1) * (1, -1) * w, rng.uniform(-0.5, 1.5, (400, 3, 1)) * w, w], 2
    ).astype(np.float32)
    result = clip(unclipped, view, depth_clip=depth_clip)
    got = polygons(result, 400)
    on_screen = elsewhere = 0
    for n, triangle in enumerate(unclipped):
        polygon = exact_polygon(triangle, planes(view, depth_clip))
        if len(polygon) < 3 or not got[n]:
            continue
        for (vertex, _), (exact, weights) in zip(got[n], polygon, strict=True):
            if max(weights) == 1:
                continue
            got_here = fractions(vertex)
            x, y = pixel(exact, view)
            near = max(abs(x), abs(y)) <= 2 * size
            error = max(abs(a - b) for a, b in zip(pixel(got_here, view), (x, y), strict=True))
            assert error <= Fraction(1, 256 if near else 16)
            depth = abs(got_here[2] / got_here[3] - exact[2] / exact[3])
            assert depth <= Fraction(1, 1 << (20 if depth_clip else 18))
            on_screen += near
            elsewhere += not near
    assert elsewhere > 200
    assert on_screen > 200 or not depth_clip
