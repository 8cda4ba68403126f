# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.cosim import catalogue, codec
from fixfunc.cosim.volume import Volume
from fixfunc.models.payload import dtype
from fixfunc.models.tessellation.domain_matching import DomainMatchingUnit
from fixfunc.models.tessellation.tessellator import tessellate
from fixfunc.rtl.tessellation import domain_matching as rtl
from fixfunc.spec.errors import InputError, Stalled
from fixfunc.spec.points import DOMAIN_POINT, MATCHES
from fixfunc.spec.state import PointKind
from fixfunc.tb.tessellation import domain_matching as bench
from tests.bench import check_bench
from tests.tiers import by_tier
from tests.volume import check, check_paces

BLOCK = "domain_matching"
SMALL = st.tuples(st.integers(0, 3), st.integers(0, 2))
PATCHES = st.lists(st.lists(SMALL, min_size=1, max_size=40), min_size=1, max_size=6)


def places(patches, release=True, **shape):
    """What a unit answers to patches of points, each reference given back at once, or never."""
    unit, found = DomainMatchingUnit(**shape), []
    for points in patches:
        unit.start_patch()
        for point in points:
            found.append(unit.step(point))
            if release:
                unit.release(found[-1][0])
    return found, unit


# Model truths.

@given(patches=PATCHES, rows=st.integers(1, 3), lanes=st.integers(1, 5), across=st.booleans())
def test_a_point_is_found_among_those_of_the_newest_waves(patches, rows, lanes, across):
    """Against a list of waves, told plainly."""
    waves, expected = [], []
    for number, points in enumerate(patches):
        if not across:
            waves.append([])
        for point in points:
            newest = [found for wave in [wave for wave in waves if wave][-rows:] for found in wave]
            hit = (number, point) in newest
            if not hit:
                if not waves or len(waves[-1]) == lanes:
                    waves.append([])
                waves[-1].append((number, point))
            expected.append(hit)
    found, unit = places(patches, rows=rows, lanes=lanes, across=across)
    assert [hit for _, hit in found] == expected
    assert (unit.counters.points, unit.counters.hits) == (len(expected), sum(expected))
    assert unit.counters.waves == len([wave for wave in waves if wave])


@given(patches=PATCHES, seed=st.integers(0, 1 << 20), across=st.booleans(), references=st.integers(1, 9))
def test_users_change_nothing_but_time_and_never_stop_it(patches, seed, across, references):
    """They hold references until a wave has been shaded, and give them back in any order: every point finds the same place,
    which is its own as long as anybody holds it, and in the end nothing is held."""
    expected, _ = places(patches, lanes=4, waves=4, across=across)
    unit, rng = DomainMatchingUnit(lanes=4, waves=4, references=references, across=across), np.random.default_rng(seed)
    held, shaded, fresh, found = [], 0, [], []

    def give_back():
        ready = [n for n, (age, _) in enumerate(held) if age < shaded]
        assert ready, "nobody can go on"
        unit.release(held.pop(rng.choice(ready))[1])

    owner, age = {}, {}
    for number, points in enumerate(patches):
        unit.start_patch()
        for point in points:
            while True:
                try:
                    dsid, hit = unit.step(point)
                    break
                except Stalled:
                    shaded = len(fresh)  # all that waits is shaded
                    give_back()
            if not hit:
                assert dsid not in [d for _, d in held]
                owner[dsid], age[dsid] = (number, point), len(fresh)
                fresh.append(dsid)
                shaded = max(shaded, len(fresh) - 4)
            assert owner[dsid] == (number, point)
            held.append((age[dsid], dsid))
            found.append((dsid, hit))
            assert unit.live <= 4
            if rng.random() < 0.3 and any(age < shaded for age, _ in held):
                give_back()
    assert found == expected
    shaded = len(fresh)
    while held:
        give_back()
    assert not unit._references.any() and not unit._held.any()


@pytest.mark.parametrize(("domain", "count", "output", "low", "high"), [
    ("isoline", (2, 0), "line", 0.47, 0.5), ("triangle", (3, 1), "triangle_cw", 0.66, 0.8), ("quad", (4, 2), "triangle_cw", 0.66, 0.8)])
def test_hit_ratios_are_the_papers(domain, count, output, low, high):
    """[dmu]: lines approach a half past 20; triangles 70 to 80 % at small factors, about two thirds later."""
    for factor in range(24 if domain == "isoline" else 4, 65, 4):
        found = tessellate(domain, *([factor] * n for n in count), "integer", output)
        _, unit = places([found.points[found.primitives.ravel()].tolist()])
        assert low < unit.counters.hit_ratio < high, factor


# Stalls and errors.

def test_a_wave_that_is_needed_must_be_released():
    unit = DomainMatchingUnit(rows=1, lanes=2, waves=2)
    for n in range(4):
        unit.step((n, 0))
    before = unit.live
    with pytest.raises(Stalled, match="wave 0 is in use"):
        unit.step((4, 0))
    assert (unit.live, unit.counters.points, unit.counters.stalls) == (before, 4, 1)
    unit.release(0)
    unit.release(1)
    assert unit.step((4, 0)) == (0, False)


def test_a_wave_has_so_many_references_and_no_more():
    unit = DomainMatchingUnit(references=2)
    assert [unit.step((0, 0)), unit.step((0, 0))] == [(0, False), (0, True)]
    for point in ((0, 0), (1, 0)):
        with pytest.raises(Stalled, match="wave 0 has all of its references"):
            unit.step(point)
    unit.release(0)
    assert unit.step((1, 0)) == (1, False)


def test_releases_of_what_nobody_holds():
    unit = DomainMatchingUnit()
    unit.step((0, 0))
    unit.step((1, 0))
    unit.release(0)
    for dsid in (0, 2, -1, 1 << 20):
        with pytest.raises(InputError, match=f"dsid must be held by somebody, not {dsid}"):
            unit.release(dsid)
    unit.release(1)


def test_wrong_arguments():
    for arguments, message in (({"rows": 0}, "rows must be at least 1, not 0"), ({"waves": 2}, "waves must be at least 3, not 2")):
        with pytest.raises(InputError, match=message):
            DomainMatchingUnit(**arguments)
    with pytest.raises(InputError, match="domain point must lie in 0..65536"):
        DomainMatchingUnit().step((65537, 0))
    for arguments, message in (({"rows": 0}, "rows"), ({"lanes": 3}, "lanes must be a power of two of at least 2"),
                               ({"waves": 4}, "of at least 8, not 4"), ({"references": 3}, "references must be at least 4 bits"),
                               ({"lanes": 1 << 12}, "lanes times waves")):
        with pytest.raises(ValueError, match=message):
            rtl.DomainMatchingParams(**arguments)


# Hardware.

@pytest.mark.parametrize(("config", "count"), by_tier(
    [("tiny", 600), ("tiny_across", 600), ("default", 2000), ("across", 2000)], also=["default"]))
def test_volume(config, count):
    check_paces(BLOCK, config, count)


@pytest.mark.parametrize("config", ["tiny", "tiny_across"])
def test_points_that_came_just_before(config):
    """Every history of seven points, of four in three patches, the newest waves already full: each finds those that are not tags yet."""
    params, rows = rtl.CONFIGS[config], []
    filler = [(9, n) for n in range(2 * params.lanes - 1)]
    for history in np.random.default_rng(0).integers(0, 4, (400, 7)):
        records = np.zeros(len(filler) + len(history), dtype(DOMAIN_POINT))
        records["u"], records["v"] = np.array([*filler, *((1, n) for n in history)]).T
        records["first"][[0, *(len(filler) + np.flatnonzero(history == 3))]] = 1
        rows.append(codec.pack(records, DOMAIN_POINT))
    end = np.zeros(1, dtype(DOMAIN_POINT))
    end["kind"] = PointKind.END
    check(BLOCK, config, np.concatenate([*rows, codec.pack(end, DOMAIN_POINT)]))


def test_releases_of_what_nobody_holds_are_told_and_do_nothing():
    volume, rows = Volume(catalogue.block(BLOCK).create("tiny"), BLOCK), np.full((5, 1), 31, np.uint64)
    records = np.zeros(25, dtype(DOMAIN_POINT))
    records["u"], records["first"][[0, 9, 17]], records["kind"][-1] = np.arange(25) % 5, 1, PointKind.END
    points = codec.pack(records, DOMAIN_POINT)
    run = volume.run({"i": points, "release": rows}, 64, limit=100_000)
    assert (run.outputs["o"] == bench.expected(points, rtl.CONFIGS["tiny"])["o"]).all()
    counted = codec.unpack(run.outputs["counted"], MATCHES, dtype(MATCHES))
    assert counted["wrong"].tolist() == [5] and counted["points"].tolist() == [24]


def test_a_vertex_that_is_released_twice_frees_no_other():
    """Two vertices of wave 0, one of them released again and again; the wave is needed, and waits until the other is released."""
    params, count = rtl.CONFIGS["tiny"], 300
    records = np.zeros(2 + params.lanes * (params.waves - 1) + 2, dtype(DOMAIN_POINT))
    records["u"], records["first"][[0, 2]], records["kind"][-1] = np.arange(len(records)), 1, PointKind.END
    points, releases = codec.pack(records, DOMAIN_POINT), np.zeros((count + 1, 1), np.uint64)
    releases[-1] = 1
    run = Volume(catalogue.block(BLOCK).create("tiny"), BLOCK).run({"i": points, "release": releases}, 64, limit=100_000)
    expected = bench.replay(points, run.outputs, params)["o"]
    assert (run.outputs["o"] == expected).all() and len(expected) == len(points) + 1  # a FLUSH: it has waited
    counted = codec.unpack(run.outputs["counted"], MATCHES, dtype(MATCHES))
    assert counted["wrong"].tolist() == [count - 1] and counted["stalls"][0] > 200


@pytest.mark.parametrize("config", ["tiny", "tiny_across"])
def test_bench(config, simulator):
    check_bench(BLOCK, config, simulator)
