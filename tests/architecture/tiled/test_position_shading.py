# SPDX-License-Identifier: BSD-2-Clause
"""Positions before all else: bytes of vertices one by one."""

import numpy as np
import pytest

from fixfunc.models.architecture.tiled.position_shading import Sizes, moved
from fixfunc.spec.errors import InputError


@pytest.mark.plan("position-shading-1")
def test_bytes_are_those_of_vertices_one_by_one():
    rng = np.random.default_rng(1)
    sizes = Sizes(3, 50, 700, 11000)
    for seen_share in (0, 0.1, 0.5, 1):
        triangles = rng.integers(0, 40, (30, 3))
        seen = rng.random(30) < seen_share
        whole = split = 0
        named = {it for row in triangles.tolist() for it in row}
        left = {it for row, own in zip(triangles.tolist(), seen, strict=True) if own for it in row}
        for vertex in named:
            whole += 11753
            split += 703 + (11050 if vertex in left else 0)
        found = moved(triangles, seen, sizes)
        assert (found.whole, found.split, found.shaded) == (whole, split, len(left))


@pytest.mark.plan("position-shading-1")
def test_half_of_a_closed_mesh_is_never_seen():
    """Back faces: what is interpolated is neither read nor written for them [rtr 23.10.1]."""
    triangles = np.arange(600).reshape(200, 3)
    found = moved(triangles, np.arange(200) < 100)
    assert found.split == found.whole - 300 * (20 + 32)
    assert moved(triangles, np.ones(200)).split == found.whole
    nothing = moved(np.zeros((0, 3), int), [])
    assert (nothing.whole, nothing.split) == (0, 0)


@pytest.mark.plan("position-shading-1")
def test_what_is_refused():
    with pytest.raises(InputError, match="triangles and seen must have shapes"):
        moved(np.zeros((2, 3), int), [True])
    with pytest.raises(InputError, match="triangles must be of numbers of 0 or more, not -1"):
        moved([[0, 1, -1]], [True])
    with pytest.raises(InputError, match="position must lie in 0.."):
        Sizes(-1)
