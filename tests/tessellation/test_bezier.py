# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.tessellation.bezier import read_patches, tessellate
from fixfunc.spec.errors import InputError, MeshError


def test_the_teapot():
    patches = read_patches()
    assert patches.shape == (32, 4, 4, 3)
    vertices, faces = tessellate(patches, 4)
    assert len(vertices) == 32 * 25
    assert 32 * 32 - 64 <= len(faces) <= 32 * 32
    assert faces.max() < len(vertices)


def test_corners_and_middle_of_a_patch():
    patch = np.random.default_rng(0).normal(size=(1, 4, 4, 3))
    vertices, _ = tessellate(patch, 2)
    assert np.allclose(vertices[[0, 2, 6, 8]], patch[0][[0, 0, 3, 3], [0, 3, 0, 3]], atol=1e-6)
    weights = np.array([1, 3, 3, 1]) / 8
    assert np.allclose(vertices[4], np.einsum("i,j,ijk->k", weights, weights, patch[0]), atol=1e-6)


def test_bad_input(tmp_path):
    with pytest.raises(InputError, match=r"divisions must lie in 1\.\.1024, not 0"):
        tessellate(read_patches(), 0)
    (tmp_path / "broken").write_text("2\n1,2,3\n")
    with pytest.raises(MeshError, match="patch file must hold"):
        read_patches(tmp_path / "broken")
