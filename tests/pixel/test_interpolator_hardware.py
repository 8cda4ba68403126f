# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.pixel.attribute_quads import interpolate
from fixfunc.rtl.pixel.interpolator.interpolator import CONFIGS, InterpolatorParams
from fixfunc.spec.errors import InputError
from fixfunc.spec.pixels.interpolation import COMPONENTS, How, Where
from fixfunc.tb.pixel import interpolator as bench
from tests import volume
from tests.bench import check_bench
from tests.tiers import by_tier

BLOCK = STEM = "interpolator"


def beats(count, config="default", seed=0):
    """Random beats, by kind."""
    rows = bench.requests(np.random.default_rng(seed), count, CONFIGS[config])
    return bench.beats_of(rows)


@pytest.mark.plan("interpolator-6")
@pytest.mark.parametrize("components", [1, 2, 4])
def test_quads_stand_with_their_attributes_in_order(components):
    """Every attribute, in parts, between quads that are told apart by their place."""
    some = beats(3000)
    found = interpolate(some, components)
    n = 0
    counts = np.bincount(some.attribute_of, minlength=len(some.corners))
    parts = len(COMPONENTS) // components
    for quad, triangle in zip(some.quads, some.quad_of, strict=True):
        steps = [(a, p) for a in range(counts[triangle]) for p in range(parts)] or [(0, 0)]
        for step in steps:
            row = found[n]
            assert (row["attribute"], row["part"]) == step
            assert row["end"] == (step == steps[-1])
            assert all(row[name] == quad[name] for name in ("slot", "x", "y", "mask"))
            masks = 0x01010101 * int(some.corners["sample_mask"][triangle])
            assert row["covered"] == int(quad["covered"]) & masks
            n += 1
    assert n == len(found)


@pytest.mark.plan("interpolator-6")
def test_constants_are_bits_of_the_first_corner():
    some = beats(3000)
    found = interpolate(some)
    first = np.concatenate([[0], np.cumsum(np.bincount(some.attribute_of))])
    quad = np.cumsum(np.concatenate([[0], found["end"][:-1]]))
    seen = 0
    for row, triangle in zip(found, some.quad_of[quad], strict=True):
        own = some.attributes[first[triangle] : first[triangle + 1]]
        if len(own) and own[row["attribute"]]["how"] == How.CONSTANT:
            for pixel in range(4):
                for n, name in enumerate(COMPONENTS):
                    assert row[f"p{pixel}_{n}"] == own[row["attribute"]][f"{name}0"]
            seen += 1
    assert seen > 300


@pytest.mark.plan("interpolator-9")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"attributes": 3}, "attributes must be one of 2, 4, 8, not 3"),
        ({"components": 3}, "components must be one of 1, 2, 4, not 3"),
        ({"triangles": 32}, "triangles must be one of 2, 4, 8, 16, not 32"),
        ({"quads": 2}, "quads must be above 2, not 2"),
    ],
)
def test_wrong_parameters(change, message):
    with pytest.raises(InputError, match=f"^{message}$"):
        InterpolatorParams(**change)


@pytest.mark.plan("interpolator-7")
@pytest.mark.parametrize("config", by_tier(CONFIGS))
def test_volume(config):
    volume.check_paces(STEM, config, 600)


def clocks(config, triangles, quads, attributes, cut=0, where=Where.SAMPLE, covered=None):
    """Clocks a triangle, all of whose attributes are in perspective."""
    params = CONFIGS[config]
    rng = np.random.default_rng(0)
    out = []
    for _ in range(triangles):
        corners = bench.triangle(rng)
        corners["linear"], corners["perspective"], corners["cut"] = 0, 1, cut
        some = bench.attributes_of(rng, corners, attributes)
        some["how"], some["where"] = How.PERSPECTIVE, where
        corners["sample_mask"] = 255
        its = bench.quads(rng, corners, quads)
        if covered is not None:
            its["samples"], its["covered"] = 2, covered
        records = corners, some, its
        out += [codec.pack(r, t, bench.BITS) for t, r in zip(bench.TABLES, records, strict=True)]
    rows = np.concatenate(out)
    run = volume.volume(STEM, config).run({"i": rows}, 1 << 16)
    parts = len(COMPONENTS) // params.components
    assert len(run.outputs["o"]) == triangles * quads * max(1, attributes * parts)
    return run.clocks / triangles


@pytest.mark.plan("interpolator-8")
@pytest.mark.parametrize(("quads", "attributes"), [(1000, 1), (500, 2)])
def test_a_component_of_a_quad_a_clock(quads, attributes):
    """At samples, in perspective."""
    most = quads * attributes * len(COMPONENTS)
    assert most <= clocks("tiny", 1, quads, attributes) <= most + 80


@pytest.mark.plan("interpolator-8")
@pytest.mark.parametrize(("covered", "times"), [(0x0F0F0F0F, 1), (0, 1), (0x0F0F0F01, 4)])
def test_centroids_of_their_own_take_four_clocks(covered, times):
    """Of quads that a triangle covers whole, or not at all, they are the centres."""
    most = 200 * len(COMPONENTS) * times
    found = clocks("tiny", 1, 200, 1, where=Where.CENTROID, covered=covered)
    assert most <= found <= most + 80


@pytest.mark.qualify
@pytest.mark.plan("interpolator-8")
def test_an_attribute_of_a_quad_a_clock():
    assert clocks("default", 1, 1000, 1) <= 1000 + 80
    assert clocks("default", 200, 4, 2) <= 8.5
    # Small triangles, of which a beat brings each thing that they need.
    assert clocks("default", 200, 1, 1) <= 3.5
    assert clocks("default", 200, 2, 1) <= 4.5
    assert clocks("default", 200, 1, 1, cut=1) <= 9.5


@pytest.mark.qualify
@pytest.mark.plan("interpolator-7")
def test_a_million_quads():
    quads = 0
    for n in range(20):
        rows = bench.requests(np.random.default_rng(n), 100_000, CONFIGS["default"])
        quads += len(bench.beats_of(rows).quads)
        volume.check(STEM, "default", rows)
    assert quads > 1_000_000


@pytest.mark.plan("interpolator-10")
@pytest.mark.parametrize("config", ["tiny"])
def test_bench(config, simulator):
    check_bench(STEM, config, simulator)
