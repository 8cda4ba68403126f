# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.tessellation.tessellator import FACTORS, OUTPUTS, RANGES, tessellate
from fixfunc.spec.errors import InputError
from tests.oracles.tessellation import SPACINGS, factors

ONE = 1 << 16
CASES = [(domain, partitioning) for domain in FACTORS for partitioning in SPACINGS]
FRACTION = st.floats(0.5, 66, width=32)


def stream(tessellation):
    """Points of all primitives in a row."""
    return tessellation.points[tessellation.primitives.ravel()].astype(np.int64)


# Against llvmpipe.


@pytest.mark.plan("tessellator-1")
@pytest.mark.parametrize(("domain", "partitioning"), CASES)
def test_uniform_factors_give_llvmpipes_streams(llvmpipe_tessellator, domain, partitioning):
    oracle = llvmpipe_tessellator()
    outer, inner = FACTORS[domain]
    for factor in range(1, 65):
        for output in OUTPUTS[domain]:
            arguments = domain, [factor] * outer, [factor] * inner, partitioning, output
            assert np.array_equal(stream(tessellate(*arguments)), oracle.stream(*arguments)), (
                arguments
            )


@pytest.mark.plan("tessellator-1")
@pytest.mark.parametrize(("domain", "partitioning"), CASES)
def test_mixed_factors_give_llvmpipes_streams(llvmpipe_tessellator, domain, partitioning):
    oracle = llvmpipe_tessellator()
    rng = np.random.default_rng(0)
    for _ in range(300):
        arguments = (
            domain,
            *(f.tolist() for f in factors(rng, domain)),
            partitioning,
            OUTPUTS[domain][1],
        )
        assert np.array_equal(stream(tessellate(*arguments)), oracle.stream(*arguments)), arguments


# Truths.


def areas(tessellation, domain):
    """Twice the signed area of each triangle, in units of 2^-32.

    In a triangle's domain, too, v runs from the corner (0, 0).
    """
    corners = tessellation.points[tessellation.primitives].astype(np.int64)
    a = corners[:, 1] - corners[:, 0]
    b = corners[:, 2] - corners[:, 0]
    return (a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) * (1 if domain == "quad" else -1)


@pytest.mark.plan("tessellator-2")
@given(
    domain=st.sampled_from(["triangle", "quad"]),
    outer=st.lists(st.integers(1, 64), min_size=4, max_size=4),
    inner=st.lists(st.integers(1, 64), min_size=2, max_size=2),
)
def test_triangles_fill_the_domain_and_none_is_flipped(domain, outer, inner):
    outer = outer[: FACTORS[domain][0]]
    inner = inner[: FACTORS[domain][1]]
    signed_areas = areas(tessellate(domain, outer, inner, "integer", "triangle_cw"), domain)
    sign = 1 if domain == "quad" else -1
    assert (sign * signed_areas > 0).all()
    assert abs(signed_areas.sum()) == (2 if domain == "quad" else 1) * ONE**2


@pytest.mark.plan("tessellator-2")
@given(
    domain=st.sampled_from(["triangle", "quad"]),
    partitioning=st.sampled_from(["fractional_odd", "fractional_even"]),
    outer=st.lists(FRACTION, min_size=4, max_size=4),
    inner=st.lists(FRACTION, min_size=2, max_size=2),
)
def test_fractional_triangles_fill_the_domain(domain, partitioning, outer, inner):
    """New points of a growing factor coincide with others, so that triangles may have no area."""
    outer = outer[: FACTORS[domain][0]]
    inner = inner[: FACTORS[domain][1]]
    signed_areas = areas(tessellate(domain, outer, inner, partitioning, "triangle_cw"), domain)
    assert abs(signed_areas.sum()) == (2 if domain == "quad" else 1) * ONE**2


@pytest.mark.plan("tessellator-3")
@given(
    partitioning=st.sampled_from(list(RANGES)),
    shared=FRACTION,
    others=st.lists(FRACTION, min_size=4, max_size=4),
)
def test_a_shared_edge_has_the_same_points_from_both_sides(partitioning, shared, others):
    """Edge u = 0 of a quad has the same points as u = 1 or v = 1 of another, and as a triangle's.

    Complements are exact.
    """

    def edge_points(domain, edge, axis, at):
        outer = others[: FACTORS[domain][0]]
        inner = [5] * FACTORS[domain][1]  # so that no inner point lies on an edge
        outer[edge] = shared
        points = tessellate(domain, outer, inner, partitioning, "point").points.astype(np.int64)
        return np.unique(points[points[:, axis] == at][:, 1 - axis])

    first = edge_points("quad", 0, 0, 0)
    for domain, *edge in (
        ("quad", 2, 0, ONE),
        ("quad", 1, 1, 0),
        ("quad", 3, 1, ONE),
        ("triangle", 0, 0, 0),
        ("triangle", 1, 1, 0),
    ):
        assert np.array_equal(first, edge_points(domain, *edge)), (domain, edge)
    assert np.array_equal(first, ONE - first[::-1])


def test_lines_of_an_isoline_do_not_reach_the_end():
    result = tessellate("isoline", [4, 2], [], "integer", "line")
    assert sorted({v for _, v in result.points.tolist()}) == [0, ONE // 4, ONE // 2, 3 * ONE // 4]
    assert result.primitives.tolist() == [
        [0, 1],
        [1, 2],
        [3, 4],
        [4, 5],
        [6, 7],
        [7, 8],
        [9, 10],
        [10, 11],
    ]


# Factors out of range, wrong names.


@pytest.mark.plan("tessellator-4")
@pytest.mark.parametrize("factor", [0, -1, -np.inf, np.nan])
@pytest.mark.parametrize("domain", list(FACTORS))
def test_an_outer_factor_that_is_not_above_zero_culls_the_patch(domain, factor):
    outer, inner = FACTORS[domain]
    for edge in range(outer):
        factors = [4.0] * outer
        factors[edge] = factor
        result = tessellate(domain, factors, [4] * inner, "integer", OUTPUTS[domain][1])
        assert len(result.points) == len(result.primitives) == 0


@pytest.mark.plan("tessellator-4")
@pytest.mark.parametrize("partitioning", list(RANGES))
def test_factors_are_cut_to_their_range(partitioning):
    low, high = RANGES[partitioning]
    large = ([np.inf, 65, 1e9], [high] * 3)
    small = ([1e-3, 0.5, 1], [low] * 3)
    for outer, clamped_outer in (large, small):
        for inner, clamped_inner in (([np.inf], [high]), ([-np.inf], [low]), ([np.nan], [low])):
            result = tessellate("triangle", *(outer, inner), partitioning, "triangle_cw")
            expected = tessellate(
                "triangle", *(clamped_outer, clamped_inner), partitioning, "triangle_cw"
            )
            assert np.array_equal(stream(result), stream(expected)) and len(result.points)


def test_powers_of_two_are_whole_numbers():
    for factor in (1, 2, 8, 64):
        result = tessellate("quad", [factor] * 4, [factor] * 2, "pow2", "triangle_cw")
        expected = tessellate("quad", [factor] * 4, [factor] * 2, "integer", "triangle_cw")
        assert np.array_equal(stream(result), stream(expected))


@pytest.mark.plan("tessellator-5")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("hexagon", [1], [], "integer", "point"),
            "domain must be one of isoline, triangle, quad, not hexagon",
        ),
        (
            ("quad", [1] * 4, [1] * 2, "odd", "point"),
            "partitioning must be one of integer, pow2, fractional_odd, fractional_even, not odd",
        ),
        (
            ("quad", [1] * 4, [1] * 2, "integer", "line"),
            "output must be one of point, triangle_cw, triangle_ccw, not line",
        ),
        (
            ("quad", [1] * 3, [1] * 2, "integer", "point"),
            "outer factors must be 4 for a quad, not 3",
        ),
        (
            ("triangle", [1] * 3, [], "integer", "point"),
            "inner factors must be 1 for a triangle, not 0",
        ),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(InputError, match=message):
        tessellate(*arguments)
