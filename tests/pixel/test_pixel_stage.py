# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.pixel import pixel_stage, quads
from fixfunc.models.pixel.interpolator import corners
from fixfunc.models.pixel.pixel_inputs import Locations
from fixfunc.models.pixel.pixel_stage import Fragments, PixelResults, PixelShader, Triangles
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE, SAMPLE_POSITIONS
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
    return Triangles(corners(records, ones), values.view(np.uint32), identity, number, ones)


def fragments(mask=None, samples=0, by_sample=False, **more):
    """A tile of the triangle, whose depth is 0.25 at centres and grows by a sixteenth a pixel."""
    mask = np.ones((1, 8, 8), bool) if mask is None else mask
    places = quads.split(np.zeros(1, int), np.zeros(1, int), mask, samples, by_sample)
    return Fragments(
        places,
        triangle().take(places.tile),
        np.ones(len(places.tile), bool),
        quads.samples_of(mask, places, samples),
        lambda offsets, _weights: (0.25 + offsets[..., 0] / 256).astype(np.float32),
        **more,
    )


def shaded(shader, these):
    """What the shader takes."""
    seen = {}

    def keep(inputs):
        seen["quads"] = inputs
        coverage = inputs.coverage if shader.coverage else None
        return PixelResults(zeros(inputs), coverage=coverage)

    pixel_stage.shade(shader, keep, these)
    return seen["quads"]


@pytest.mark.plan("pixel-stage-2")
def test_attributes_are_interpolated_by_their_modes():
    shader = PixelShader(len, modes=("perspective", "constant"))
    inputs = shaded(shader, fragments())
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
        (lambda q: PixelResults(zeros(q)), {"coverage": True}, "coverage must be put out"),
        (lambda q: PixelResults(zeros(q), coverage=q.coverage), {}, "coverage must be put out"),
        (
            lambda q: PixelResults(zeros(q), coverage=q.x),
            {"coverage": True},
            "coverage must be uint32",
        ),
    ],
)
def test_results_that_are_wrong_are_refused(made, declared, text):
    shader = PixelShader(made, **declared)
    with pytest.raises(InputError, match=text):
        pixel_stage.shade(shader, made, fragments())


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
        ({"coverage": True}, ("discard",)),
        ({"unordered": True}, ("uav_writes",)),
        ({"unordered": True, "early": True}, ("plain",)),
    ],
)
def test_what_a_shader_declares_decides_when_tests_are(declared, does):
    assert PixelShader(len, **declared).does == does
    with pytest.raises(InputError, match="modes must hold only"):
        PixelShader(len, modes=["flat"])
    with pytest.raises(InputError, match="depth must be one of"):
        PixelShader(len, depth="less")
    with pytest.raises(InputError, match="position must be one of centre, centroid, sample"):
        PixelShader(len, position="corner")


@pytest.mark.plan("pixel-stage-4")
@pytest.mark.parametrize(
    ("declared", "by_sample"),
    [
        ({"modes": ("perspective", "linear_centroid", "constant")}, False),
        ({"modes": ("perspective", "linear_sample")}, True),
        ({"position": "sample"}, True),
        ({"position": "centroid"}, False),
        ({"sample_index": True}, True),
    ],
)
def test_what_a_shader_reads_decides_how_often_it_is_asked(declared, by_sample):
    assert PixelShader(len, **declared).by_sample == by_sample


@pytest.mark.plan("pixel-stage-4")
@pytest.mark.parametrize("samples", [0, 1, 2, 3])
def test_each_covered_sample_has_a_quad_and_its_own_attributes(samples):
    rng = np.random.default_rng(samples)
    mask = rng.random((1, 8, 8)) < 0.5
    shader = PixelShader(len, modes=("perspective_sample", "linear"), position="sample")
    these = fragments(mask, samples, by_sample=True)
    inputs = shaded(shader, these)
    assert inputs.covered.sum() == mask.sum()
    assert (inputs.covered.sum(3) <= 1).all()
    position = np.array(SAMPLE_POSITIONS[samples])[inputs.sample] / 16
    x = inputs.x + 0.5 + position[:, None, None, 0]
    y = inputs.y + 0.5 + position[:, None, None, 1]
    assert np.abs(inputs.floats(0)[..., 0] - (1 + x / 16 + 2 * y / 16)).max() < 1e-6
    centre = 1 + (inputs.x + 0.5) / 16 + 2 * (inputs.y + 0.5) / 16
    assert np.abs(inputs.floats(1)[..., 0] + -centre).max() < 1e-6
    assert (inputs.position[..., 0] == x).all() and (inputs.position[..., 1] == y).all()
    assert (inputs.position[..., 2] == np.float32(0.25) + position[:, None, None, 0] / 16).all()
    assert (inputs.position[..., 3] == 1).all()
    # Lanes come back where they came from.
    marks = np.where(inputs.covered.any(3), inputs.sample[:, None, None] + 1, 0)
    lanes = quads.join(marks, these.quads, 1, samples)[0]
    assert (lanes == np.where(mask[0], quads.sample_numbers(samples) + 1, 0)).all()


@pytest.mark.plan("pixel-stage-5")
@pytest.mark.parametrize("samples", [1, 2, 3])
@pytest.mark.parametrize("sample_mask", [0xFFFFFFFF, 0b10110110])
def test_centroids_are_chosen_as_specified(samples, sample_mask):
    """[fs 3.5.5], pixel by pixel."""
    count = 1 << samples
    rng = np.random.default_rng(samples)
    mask = rng.random((40, 8, 8)) < rng.choice([0.1, 0.6], (40, 1, 1))
    mask[:8] = True
    left = (sample_mask >> quads.sample_numbers(samples) & 1).astype(bool)
    mask &= left
    places = quads.split(np.zeros(40, int), np.zeros(40, int), mask, samples)
    coverage = quads.samples_of(mask, places, samples)
    locations = Locations(places, coverage, sample_mask)
    found = locations.offsets("centroid")
    kinds = set()
    for q, j, i in np.ndindex(coverage.shape[:3]):
        covered = [s for s in range(count) if coverage[q, j, i, s]]
        masked = [s for s in range(count) if sample_mask >> s & 1]
        if len(covered) == count or (not covered and len(masked) == count):
            wanted = (0, 0)
        else:
            wanted = SAMPLE_POSITIONS[samples][(covered or masked)[0]]
        assert tuple(found[q, j, i]) == wanted
        kinds.add((len(covered) == count, not covered))
    assert kinds >= {(False, False), (False, True)}
    assert (True, False) in kinds or sample_mask != 0xFFFFFFFF


@pytest.mark.plan("pixel-stage-6")
def test_attributes_are_pulled_from_anywhere():
    mask = np.random.default_rng(0).random((1, 8, 8)) < 0.6
    shader = PixelShader(len, modes=("perspective_centroid", "constant"))
    inputs = shaded(shader, fragments(mask, 2))

    def right(offsets):
        x, y = (at + 0.5 + offsets[..., k] / 16 for k, at in enumerate((inputs.x, inputs.y)))
        return 1 + x / 16 + 2 * y / 16

    zero = np.zeros((*inputs.x.shape, 2))
    for number in range(4):
        position = zero + SAMPLE_POSITIONS[2][number]
        found = inputs.at_sample(0, number)[..., 0]
        assert np.abs(found - right(position)).max() < 1e-6
    # Lowest four bits with a sign: 8 is -8, 23 is 7.
    for offsets, steps in (((3, -5), (3, -5)), ((8, 23), (-8, 7)), ((-9, 0), (7, 0))):
        found = inputs.snapped(0, np.array(offsets))[..., 0]
        assert np.abs(found - right(zero + steps)).max() < 1e-6
    assert (inputs.at_centroid(0) == inputs.floats(0)).all()
    assert (inputs.snapped(1, np.array([5, 5])) == 1 * np.array([1, -1, 0, 0])).all()
    for call, text in (
        (lambda: inputs.at_centroid(2), "attribute must be one of 2, not 2"),
        (lambda: inputs.at_centroid(0.0), "attribute must be one of 2, not 0.0"),
        (lambda: inputs.floats(-1), "attribute must be one of 2, not -1"),
        (lambda: inputs.at_sample(0, 1.5), "number must be integers, not float64"),
        (lambda: inputs.at_sample(0, np.zeros(7, int)), "number must fit shape"),
        (lambda: inputs.snapped(0, (1.5, 0)), "offsets must be integers, not float64"),
        (lambda: inputs.snapped(0, (1, 2, 3)), "offsets must fit shape"),
        (lambda: inputs.derivatives(np.zeros((3, 3))), "values must be of shape"),
    ):
        with pytest.raises(InputError, match=text):
            call()


@pytest.mark.plan("pixel-stage-6")
def test_derivatives_are_coarse_or_fine():
    inputs = shaded(PixelShader(len), fragments())
    x, y = inputs.x.astype(np.float32), inputs.y.astype(np.float32)
    values = np.stack([x * x, x * y], -1)
    across, down = inputs.derivatives(values)
    assert (across[..., 1] == y).all() and (down[..., 1] == x).all()
    assert (across[..., 0] == (2 * x // 4 * 4 + 1)).all()
    across, down = inputs.derivatives(values, coarse=True)
    assert (across[..., 1] == y[:, :1]).all() and (down[..., 1] == x[:, :, :1]).all()


@pytest.mark.plan("pixel-stage-7")
def test_coverage_is_that_of_the_triangle_whatever_is_shaded():
    mask = np.random.default_rng(1).random((1, 8, 8)) < 0.5
    whole = np.ones((1, 8, 8), bool)
    these = fragments(mask, 3)
    these = these._replace(coverage=quads.samples_of(whole, these.quads, 3))
    inputs = shaded(PixelShader(len, coverage=True), these)
    assert (inputs.coverage == 255).all()
    assert inputs.covered.sum() == mask.sum()
    inputs = shaded(PixelShader(len, sample_index=True), fragments(mask, 3, by_sample=True))
    bits = (inputs.coverage[..., None] >> np.arange(8) & 1).astype(bool)
    assert (bits == quads.samples_of(mask, fragments(mask, 3, by_sample=True).quads, 3)).all()


@pytest.mark.plan("pixel-stage-8")
def test_quads_that_could_be_merged_are_counted():
    """Two triangles that follow one another share a quad if no pixel has both."""
    lanes = np.zeros((5, 8, 8), bool)
    lanes[0, 0, 0] = lanes[1, 1, 1] = lanes[2, 0, 1] = True  # three of a quad
    lanes[3, 4, 4] = lanes[4, 4, 4] = True  # one pixel, twice
    places = quads.split(np.zeros(5, int), np.zeros(5, int), lanes, 0)
    assert quads.merges(places, np.array([0, 1, 2, 3, 4])[places.tile]) == 1
    assert quads.merges(places, np.array([0, 1, 4, 5, 6])[places.tile]) == 1
    assert quads.merges(places, np.array([0, 2, 4, 6, 8])[places.tile]) == 0
