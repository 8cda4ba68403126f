# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.pixel import pixel_stage, quads
from fixfunc.models.pixel.interpolator import corners
from fixfunc.models.pixel.pixel_stage import PixelResults, PixelShader, Triangles
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.spec.errors import InputError


@pytest.mark.plan("pixel-stage-1")
@pytest.mark.parametrize("samples", range(4))
def test_quads_are_those_with_a_covered_sample_and_come_back(samples):
    rng = np.random.default_rng(samples)
    mask = rng.random((40, 8, 8)) < rng.choice([0.02, 0.3, 1], (40, 1, 1))
    x, y = rng.integers(0, 50, (2, 40))
    got = quads.split(x, y, mask, samples)
    lx, ly = LANE_SHAPE[samples]
    wide, high = 8 >> lx, 8 >> ly
    seen = []
    for n in range(40):
        for j in range(0, high, 2):
            for i in range(0, wide, 2):
                lanes = mask[n, j << ly : (j + 2) << ly, i << lx : (i + 2) << lx]
                if lanes.any():
                    seen.append((n, x[n] * wide + i, y[n] * high + j, lanes.sum()))
    found = zip(got.tile, got.x, got.y, got.covered.sum((1, 2, 3)), strict=True)
    assert [tuple(map(int, row)) for row in found] == [tuple(map(int, row)) for row in seen]
    numbers = quads.sample_numbers(samples)
    # Each sample of a pixel lies at the lane that has its number.
    joined = quads.join(got.covered.any(3), got, 40, samples)
    assert (joined | ~mask).all()
    for sample in range(1 << samples):
        back = quads.join(got.covered[..., sample], got, 40, samples)
        assert (back == mask)[:, numbers == sample].all()
    assert (got.helpers == ~got.covered.any(3)).all()


def triangle(count=1, attributes=2):
    """A right triangle over 16 pixels: attributes 1 to 3 at its corners, and their negatives."""
    from fixfunc.models.geometry.triangle_setup import TRIANGLE

    records = np.zeros(count, TRIANGLE)
    for k, (x, y) in enumerate(((0, 0), (4096, 0), (0, 4096))):
        records[f"x{k}"], records[f"y{k}"] = x, y
    values = np.zeros((count, 3, attributes, 4), np.float32)
    values += np.arange(1, 4)[:, None, None] * np.array([1, -1, 0, 0])
    ones = np.ones((count, 3), np.float32)
    identity = np.broadcast_to(np.eye(3, dtype=np.float32), (count, 3, 3))
    number = np.arange(count, dtype=np.uint32)
    return Triangles(corners(records, ones), values.view(np.uint32), identity, number)


def one_tile():
    return quads.split(np.zeros(1, int), np.zeros(1, int), np.ones((1, 8, 8), bool), 0)


@pytest.mark.plan("pixel-stage-2")
def test_attributes_are_interpolated_by_their_modes():
    places = one_tile()
    seen = {}

    def keep(inputs):
        seen["quads"] = inputs
        return PixelResults(np.zeros((*inputs.x.shape, 4), np.float32))

    shader = PixelShader(keep, modes=("perspective", "constant"))
    pixel_stage.shade(shader, keep, places, triangle().take(places.tile), np.ones(16, bool))
    inputs = seen["quads"]
    right = 1 + (inputs.x + 0.5) / 16 + 2 * (inputs.y + 0.5) / 16
    assert np.abs(inputs.floats(0)[..., 0] - right).max() < 1e-6
    assert (inputs.floats(0)[..., 1] == -inputs.floats(0)[..., 0]).all()
    assert (inputs.floats(1)[..., 0] == 1).all()
    assert inputs.x.min() == 0 and inputs.x.max() == 7 and inputs.front.all()


@pytest.mark.plan("pixel-stage-3")
@pytest.mark.parametrize(
    ("made", "declared", "text"),
    [
        (lambda _q: PixelResults(np.zeros((1, 4), np.float32)), {}, "colour must be float32"),
        (lambda q: PixelResults(np.zeros((*q.x.shape, 4))), {}, "colour must be float32"),
        (lambda q: PixelResults([zeros(q)] * 9), {}, "colours must be at most 8"),
        (lambda q: PixelResults(zeros(q), q.x == 1), {}, "discarded must be none"),
        (lambda q: PixelResults(zeros(q), q.x), {"discards": True}, "discarded must be bool"),
        (lambda q: PixelResults(zeros(q)), {"depth": "any"}, "depth must be put out"),
        (
            lambda q: PixelResults(zeros(q), depth=zeros(q)),
            {"depth": "any"},
            "depth must be float32",
        ),
    ],
)
def test_results_that_are_wrong_are_refused(made, declared, text):
    places = one_tile()
    shader = PixelShader(made, **declared)
    with pytest.raises(InputError, match=text):
        pixel_stage.shade(shader, made, places, triangle().take(places.tile), np.ones(16, bool))


def zeros(inputs):
    return np.zeros((*inputs.x.shape, 4), np.float32)


@pytest.mark.plan("pixel-stage-3")
@pytest.mark.parametrize(
    ("declared", "does"),
    [
        ({}, ("plain",)),
        ({"discards": True}, ("discard",)),
        ({"depth": "any"}, ("depth_output",)),
        ({"depth": "less_equal", "discards": True}, ("discard", "depth_less_equal")),
        ({"depth": "any", "early": True}, ("plain",)),
    ],
)
def test_what_a_shader_declares_decides_when_tests_are(declared, does):
    assert PixelShader(len, **declared).does == does
    with pytest.raises(InputError, match="modes must hold only"):
        PixelShader(len, modes=["flat"])
    with pytest.raises(InputError, match="depth must be one of"):
        PixelShader(len, depth="less")
