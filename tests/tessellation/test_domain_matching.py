# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.cosim import catalogue, codec
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.models.payload import dtype
from fixfunc.models.tessellation.domain_matching import DomainMatchingUnit
from fixfunc.models.tessellation.tessellator import tessellate
from fixfunc.rtl.tessellation import domain_matching as rtl
from fixfunc.spec.errors import InputError, Stalled
from fixfunc.spec.points import DOMAIN_POINT, MATCHED_POINT, MATCHES
from fixfunc.spec.state import PointKind
from fixfunc.tb import catalogue as benches
from fixfunc.tb.tessellation import domain_matching as bench
from tests.bench import check_bench
from tests.tiers import by_tier
from tests.volume import check, check_paces

BLOCK = "domain_matching"
SMALL = st.tuples(st.integers(0, 3), st.integers(0, 2))
PATCHES = st.lists(st.lists(SMALL, min_size=1, max_size=40), min_size=1, max_size=6)


def places(patches, release=True, **shape):
    """Places and hits of patches of points, and their unit.

    Every reference is released at once, or never.
    """
    unit = DomainMatchingUnit(**shape)
    matches = []
    for points in patches:
        unit.start_patch()
        for point in points:
            matches.append(unit.step(point))
            if release:
                unit.release(matches[-1][0])
    return matches, unit


# Model truths.


@pytest.mark.plan("domain-matching-1")
@given(patches=PATCHES, rows=st.integers(1, 3), lanes=st.integers(1, 5), across=st.booleans())
def test_a_point_is_found_among_those_of_the_newest_waves(patches, rows, lanes, across):
    """The unit agrees with a plain list of waves."""
    waves = []
    expected = []
    for number, points in enumerate(patches):
        if not across:
            waves.append([])
        for point in points:
            newest = [tag for wave in [wave for wave in waves if wave][-rows:] for tag in wave]
            hit = (number, point) in newest
            if not hit:
                if not waves or len(waves[-1]) == lanes:
                    waves.append([])
                waves[-1].append((number, point))
            expected.append(hit)
    matches, unit = places(patches, rows=rows, lanes=lanes, across=across)
    assert [hit for _, hit in matches] == expected
    assert (unit.counters.points, unit.counters.hits) == (len(expected), sum(expected))
    assert unit.counters.waves == len([wave for wave in waves if wave])


@pytest.mark.plan("domain-matching-2")
@given(
    patches=PATCHES,
    seed=st.integers(0, 1 << 20),
    across=st.booleans(),
    limit=st.integers(1, 9),
)
def test_users_change_nothing_but_time_and_never_stop_it(patches, seed, across, limit):
    """Users hold references until a wave has been shaded, and release them in any order.

    Every point gets the same place, which is its own as long as a reference to it is held. In the
    end no reference is held.
    """
    expected, _ = places(patches, lanes=4, waves=4, across=across)
    unit = DomainMatchingUnit(lanes=4, waves=4, references=limit, across=across)
    rng = np.random.default_rng(seed)
    references = []
    shaded = 0
    misses = []
    matches = []

    def release():
        ready = [n for n, (age, _) in enumerate(references) if age < shaded]
        assert ready, "no user can go on"
        unit.release(references.pop(rng.choice(ready))[1])

    owner = {}
    age = {}
    for number, points in enumerate(patches):
        unit.start_patch()
        for point in points:
            while True:
                try:
                    dsid, hit = unit.step(point)
                    break
                except Stalled:
                    shaded = len(misses)  # all pending points are shaded
                    release()
            if not hit:
                assert dsid not in [d for _, d in references]
                owner[dsid] = (number, point)
                age[dsid] = len(misses)
                misses.append(dsid)
                shaded = max(shaded, len(misses) - 4)
            assert owner[dsid] == (number, point)
            references.append((age[dsid], dsid))
            matches.append((dsid, hit))
            assert unit.live <= 4
            if rng.random() < 0.3 and any(age < shaded for age, _ in references):
                release()
    assert matches == expected
    shaded = len(misses)
    while references:
        release()
    assert not unit._wave_references.any() and not unit._vertex_references.any()


@pytest.mark.plan("domain-matching-3")
@pytest.mark.parametrize(
    ("domain", "count", "output", "low", "high"),
    [
        ("isoline", (2, 0), "line", 0.47, 0.5),
        ("triangle", (3, 1), "triangle_cw", 0.66, 0.8),
        ("quad", (4, 2), "triangle_cw", 0.66, 0.8),
    ],
)
def test_hit_ratios_are_the_papers(domain, count, output, low, high):
    """[dmu]: lines approach a half for factors above 20.

    Triangles begin at 70 to 80 % for small factors, and approach two thirds.
    """
    for factor in range(24 if domain == "isoline" else 4, 65, 4):
        patch = tessellate(domain, *([factor] * n for n in count), "integer", output)
        _, unit = places([patch.points[patch.primitives.ravel()].tolist()])
        assert low < unit.counters.hit_ratio < high, factor


# Stalls and errors.


@pytest.mark.plan("domain-matching-4")
def test_a_wave_that_is_needed_must_be_released():
    unit = DomainMatchingUnit(rows=1, lanes=2, waves=2)
    for n in range(4):
        unit.step((n, 0))
    live = unit.live
    with pytest.raises(Stalled, match="wave 0 is in use"):
        unit.step((4, 0))
    assert (unit.live, unit.counters.points, unit.counters.stalls) == (live, 4, 1)
    unit.release(0)
    unit.release(1)
    assert unit.step((4, 0)) == (0, False)


@pytest.mark.plan("domain-matching-4")
def test_a_wave_has_so_many_references_and_no_more():
    unit = DomainMatchingUnit(references=2)
    assert [unit.step((0, 0)), unit.step((0, 0))] == [(0, False), (0, True)]
    for point in ((0, 0), (1, 0)):
        with pytest.raises(Stalled, match="wave 0 has all of its references"):
            unit.step(point)
    unit.release(0)
    assert unit.step((1, 0)) == (1, False)


@pytest.mark.plan("domain-matching-5")
def test_wrong_releases_raise_an_error():
    unit = DomainMatchingUnit()
    unit.step((0, 0))
    unit.step((1, 0))
    unit.release(0)
    for dsid in (0, 2, -1, 1 << 20):
        with pytest.raises(InputError, match=f"dsid must be held by somebody, not {dsid}"):
            unit.release(dsid)
    unit.release(1)


@pytest.mark.plan("domain-matching-9")
def test_wrong_arguments():
    for arguments, message in (
        ({"rows": 0}, "rows must be at least 1, not 0"),
        ({"waves": 2}, "waves must be at least 3, not 2"),
    ):
        with pytest.raises(InputError, match=message):
            DomainMatchingUnit(**arguments)
    with pytest.raises(InputError, match="domain point must lie in 0..65536"):
        DomainMatchingUnit().step((65537, 0))
    for arguments, message in (
        ({"rows": 0}, "rows"),
        ({"lanes": 3}, "lanes must be a power of two of at least 2"),
        ({"waves": 4}, "of at least 8, not 4"),
        ({"references": 3}, "references must be at least 4 bits"),
        ({"lanes": 1 << 12}, "lanes times waves"),
    ):
        with pytest.raises(ValueError, match=message):
            rtl.DomainMatchingParams(**arguments)


# Hardware.


@pytest.mark.plan("domain-matching-6")
@pytest.mark.parametrize(
    ("config", "count"),
    by_tier(
        [("tiny", 600), ("tiny_across", 600), ("default", 2000), ("across", 2000)], also=["default"]
    ),
)
def test_volume(config, count):
    check_paces(BLOCK, config, count)


@pytest.mark.plan("domain-matching-7")
@pytest.mark.parametrize("config", ["tiny", "tiny_across"])
def test_points_hit_others_that_are_no_tags_yet(config):
    """Points hit others that are no tags yet, with the newest waves full.

    Histories of seven points are drawn out of four points in three patches.
    """
    params = rtl.CONFIGS[config]
    rows = []
    filler = [(9, n) for n in range(2 * params.lanes - 1)]
    for history in np.random.default_rng(0).integers(0, 4, (400, 7)):
        records = np.zeros(len(filler) + len(history), dtype(DOMAIN_POINT))
        records["u"], records["v"] = np.array([*filler, *((1, n) for n in history)]).T
        records["first"][[0, *(len(filler) + np.flatnonzero(history == 3))]] = 1
        rows.append(codec.pack(records, DOMAIN_POINT))
    end = np.zeros(1, dtype(DOMAIN_POINT))
    end["kind"] = PointKind.END
    check(BLOCK, config, np.concatenate([*rows, codec.pack(end, DOMAIN_POINT)]))


@pytest.mark.plan("domain-matching-5")
def test_wrong_releases_are_counted_and_ignored():
    """Also behind a reset: what was held before it is held no longer."""
    volume = Volume(catalogue.block(BLOCK).create("tiny"), BLOCK)
    rows = np.full((5, 1), 31, np.uint64)
    records = np.zeros(25, dtype(DOMAIN_POINT))
    records["u"] = np.arange(25) % 5
    records["first"][[0, 9, 17]] = 1
    records["kind"][-1] = PointKind.END
    points = codec.pack(records, DOMAIN_POINT)
    held = np.zeros(33, dtype(DOMAIN_POINT))
    held["u"] = np.arange(33)
    held["first"][0] = 1
    held["kind"][-1] = PointKind.END
    volume.run({"i": codec.pack(held, DOMAIN_POINT), "release": rows[:0]}, 64, limit=100_000)
    run = volume.run({"i": points, "release": rows}, 64, limit=100_000)
    assert (run.outputs["o"] == bench.expected(points, rtl.CONFIGS["tiny"])["o"]).all()
    counted = codec.unpack(run.outputs["counted"], MATCHES, dtype(MATCHES))
    assert counted["wrong"].tolist() == [5] and counted["points"].tolist() == [24]


@pytest.mark.plan("domain-matching-11")
def test_users_release_what_they_hold_and_nothing_else():
    """The unit counts no wrong release; a point that it sends often is released in between."""
    params = rtl.CONFIGS["tiny"]
    records = np.zeros((4 << params.references) + 1, dtype(DOMAIN_POINT))
    records["first"][0] = 1
    records["kind"][-1] = PointKind.END
    points = codec.pack(records, DOMAIN_POINT)
    run = benches.block(BLOCK).volume("tiny").run({"i": points}, 2 * len(points), limit=100_000)
    out = codec.unpack(run.outputs["o"], MATCHED_POINT, dtype(MATCHED_POINT))
    assert (out["kind"] == PointKind.POINT).sum() == len(points) - 1
    assert (out["kind"] == PointKind.FLUSH).any()  # its wave ran out of references
    counted = codec.unpack(run.outputs["counted"], MATCHES, dtype(MATCHES))
    assert counted["wrong"].tolist() == [0]
    assert counted["stalls"].tolist() == [0]  # left out: they depend on the users


@pytest.mark.plan("domain-matching-5")
def test_a_vertex_that_is_released_twice_frees_no_other():
    """Of two vertices of wave 0 one is released many times.

    The wave is needed, and the unit stalls until the other vertex is released.
    """
    params = rtl.CONFIGS["tiny"]
    count = 300
    records = np.zeros(2 + params.lanes * (params.waves - 1) + 2, dtype(DOMAIN_POINT))
    records["u"] = np.arange(len(records))
    records["first"][[0, 2]] = 1
    records["kind"][-1] = PointKind.END
    points = codec.pack(records, DOMAIN_POINT)
    releases = np.zeros((count + 1, 1), np.uint64)
    releases[-1] = 1
    run = Volume(catalogue.block(BLOCK).create("tiny"), BLOCK).run(
        {"i": points, "release": releases}, 64, limit=100_000
    )
    expected = bench.replay(points, run.outputs, params)["o"]
    assert (run.outputs["o"] == expected).all()
    assert len(expected) == len(points) + 1  # with a FLUSH, because the unit stalled
    counted = codec.unpack(run.outputs["counted"], MATCHES, dtype(MATCHES))
    assert counted["wrong"].tolist() == [count - 1] and counted["stalls"][0] > 200


@pytest.mark.plan("domain-matching-6")
@pytest.mark.parametrize("config", ["tiny", "tiny_across"])
def test_bench(config, simulator):
    check_bench(BLOCK, config, simulator)
