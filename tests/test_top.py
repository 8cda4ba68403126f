import itertools

import numpy as np
import pytest

from cosim import codec
from models.geometry.triangle_setup import TRIANGLE
from models.state import draw_state
from rtl import top as rtl
from rtl.geometry.triangle_setup import TriangleSetupParams
from spec import payloads
from tb.geometry.triangle_setup import IN
from tests.bench import check_bench
from tests.volume import check, check_paces

BLOCK = "top"


def lattice(samples):
    """Every triangle of a small lattice of half pixels, both windings, behind its state."""
    points = np.array(list(itertools.product(range(-128, 641, 128), repeat=2)))
    corners = points[np.array(list(itertools.permutations(range(len(points)), 3)))[::2]]
    triangles = np.zeros(len(corners), TRIANGLE)
    for k in range(3):
        triangles[f"x{k}"], triangles[f"y{k}"] = corners[:, k].T
    state = draw_state(4, 3, samples)
    return np.concatenate([codec.pack(np.atleast_1d(state), payloads.DRAW_STATE, IN), codec.pack(triangles, payloads.TRIANGLE, IN)])


@pytest.mark.parametrize("samples", [1, 2, 4, 8])
def test_every_triangle_of_a_lattice(samples):
    assert len(check(BLOCK, "tiny", lattice(samples))) > 10_000


def test_wrong_parameters():
    with pytest.raises(ValueError, match="setup.edge must be raster.edge 8, not 4"):
        rtl.TopParams(TriangleSetupParams(edge=4))


def test_bench(simulator):
    check_bench(BLOCK, "tiny", simulator)


@pytest.mark.parametrize("config", ["default", "tiny"])
def test_volume(config):
    check_paces(BLOCK, config, 300)
