# SPDX-License-Identifier: BSD-2-Clause
"""Occupancy, scheduling, divergence, quads in warps, and Amdahl's law."""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.architecture.divergence import Branch, Loop, Straight, execute
from fixfunc.models.architecture.quad_packing import pack
from fixfunc.models.architecture.simd_engine import Multiprocessor, schedule
from fixfunc.models.architecture.speedup import speedup
from fixfunc.spec.errors import InputError


@pytest.mark.plan("simd-engine-1")
def test_occupancy_is_that_of_the_documents():
    """256 KB and 32 lanes: 27 registers leave 75.85 warps, 150 leave 13.65 of 32 [rtr 23.3]."""
    engine = Multiprocessor()
    assert round(float(engine.warps_of_registers(27)), 2) == 75.85
    assert engine.occupancy(27) == 1
    assert engine.resident_warps(27) == 32
    assert round(float(engine.warps_of_registers(150)), 2) == 13.65
    assert round(float(engine.occupancy(150)), 2) == 0.43
    assert engine.resident_warps(150) == 13


@pytest.mark.plan("simd-engine-1")
def test_a_wavefront_may_have_256_registers():
    """64 KB for 64 threads are 256 registers each; ten wavefronts are resident [rtr 23.10.3]."""
    engine = Multiprocessor(64 * 1024, lanes=64, most_warps=10)
    assert engine.warps_of_registers(256) == 1
    assert engine.resident_warps(25) == 10
    assert engine.resident_warps(26) == 9
    with pytest.raises(InputError, match="registers must leave room for a warp, not 257"):
        engine.resident_warps(257)


def naive_schedule(latencies, warps, resident):
    """Clock by clock: who is resident, who of these is ready, who is the oldest."""
    waiting = list(range(warps))
    at = {}  # of resident warps: the next instruction, and when it may be issued
    issues = []
    clock = end = 0
    while waiting or at:
        for warp in [w for w, (n, free) in at.items() if n == len(latencies) and free <= clock]:
            del at[warp]
        while waiting and len(at) < resident:
            at[waiting.pop(0)] = (0, clock)
        for warp in sorted(at):
            number, free = at[warp]
            if number < len(latencies) and free <= clock:
                issues.append((clock, warp, number))
                end = max(end, clock + int(latencies[number]))
                at[warp] = (number + 1, clock + int(latencies[number]))
                break
        clock += 1
    return issues, end


@pytest.mark.plan("simd-engine-2")
def test_issues_are_those_of_a_scheduler_clock_by_clock():
    rng = np.random.default_rng(1)
    for _ in range(60):
        latencies = rng.choice([1, 1, 2, 4, 30], rng.integers(1, 6))
        warps, resident = (int(it) for it in rng.integers(1, 9, 2))
        found = schedule(latencies, warps, resident)
        assert (found.issues.tolist(), found.clocks) == naive_schedule(latencies, warps, resident)


@pytest.mark.plan("simd-engine-2")
def test_warps_hide_latency():
    """Two textures of 400 clocks, 18 instructions: one warp is idle nearly always.

    13 resident warps, of 150 registers, keep the engine less busy than 32 do. Where each clock has
    an issue more warps give nothing.
    """
    program = [1] * 9 + [400] + [1] * 9 + [400]
    lone = schedule(program, 1, 32)
    assert lone.utilisation == Fraction(20, 818)
    few, full = (schedule(program, 320, resident) for resident in (13, 32))
    assert few.clocks > 2 * full.clocks
    assert full.utilisation > Fraction(3, 4)
    assert schedule([1] * 20, 64, 1).utilisation == schedule([1] * 20, 64, 32).utilisation == 1


def lanes_by_lane(program, values, lanes):
    """Instructions issued and active, by walking with the set of lanes that are there."""
    if not lanes:
        return 0, 0
    issued = active = 0
    for node in program:
        if isinstance(node, Straight):
            issued += node.instructions
            active += node.instructions * len(lanes)
            continue
        if isinstance(node, Branch):
            there = {lane for lane in lanes if values[node.condition][lane]}
            ways = [(node.then, there), (node.otherwise, lanes - there)]
        else:
            most = max(values[node.count][lane] for lane in lanes)
            ways = [
                (node.body, {lane for lane in lanes if values[node.count][lane] > n})
                for n in range(most)
            ]
        for body, some in ways:
            found = lanes_by_lane(body, values, some)
            issued += found[0]
            active += found[1]
    return issued, active


@pytest.mark.plan("simd-engine-3")
def test_divergence_is_that_of_a_walk_lane_by_lane():
    rng = np.random.default_rng(2)
    inner = Branch("a", (Straight(3), Loop("n", (Straight(2), Branch("b", (Straight(5),))))))
    program = (Straight(4), Branch("b", (Straight(7), inner), (inner,)), Loop("n", (inner,)))
    for lanes in (1, 4, 32):
        shape = (20, lanes)
        chance = rng.choice([0, 0.1, 0.5, 1], (20, 1))
        values = {name: rng.random(shape) < chance for name in "ab"}
        values["n"] = rng.integers(0, 4, shape)
        mask = rng.random(shape) < rng.choice([0, 0.5, 1], (20, 1))
        found = execute(program, values, mask)
        for warp in range(20):
            own = {name: value[warp] for name, value in values.items()}
            expected = lanes_by_lane(program, own, set(np.flatnonzero(mask[warp])))
            assert (found.issued[warp], found.active[warp]) == expected


@pytest.mark.plan("simd-engine-3")
def test_a_branch_costs_both_ways_only_where_threads_differ():
    program = (Branch("a", (Straight(10),), (Straight(30),)),)
    holds = np.zeros((3, 32), bool)
    holds[1] = True
    holds[2, 5] = True
    found = execute(program, {"a": holds}, np.ones((3, 32), bool))
    assert found.issued.tolist() == [30, 10, 40]
    assert found.active.tolist() == [30 * 32, 10 * 32, 30 * 31 + 10]
    assert execute((), {}, np.ones((1, 32), bool)).efficiency == 1


@pytest.mark.plan("simd-engine-3")
def test_programs_that_are_none():
    mask = np.ones((1, 4), bool)
    with pytest.raises(InputError, match="values must have a, not b"):
        execute((Branch("a"),), {"b": mask}, mask)
    with pytest.raises(InputError, match=r"a must have shape \(1, 4\), not \(1, 3\)"):
        execute((Branch("a"),), {"a": mask[:, :3]}, mask)
    with pytest.raises(InputError, match="n must be at least 0, not -1"):
        execute((Loop("n"),), {"n": -np.ones((1, 4), int)}, mask)
    with pytest.raises(InputError, match="program must be of Straight, Branch and Loop, not 3"):
        execute((3,), {}, mask)


@pytest.mark.plan("simd-engine-4")
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("lanes", [4, 32, 64])
def test_quads_fill_warps(several, lanes):
    """Quad by quad: a warp ends when it is full, or when its triangle ends."""
    rng = np.random.default_rng(3)
    counts = rng.choice([1, 2, 7, 8, 9, 40], 100)
    triangles = np.repeat(rng.permutation(100), counts)
    covered = rng.integers(1, 5, len(triangles))
    expected = []
    warp, room, before = -1, 0, None
    for triangle in triangles.tolist():
        if not room or (not several and triangle != before):
            warp += 1
            room = lanes // 4
        room -= 1
        before = triangle
        expected.append(warp)
    found = pack(triangles, covered, lanes, several)
    assert found.warp.tolist() == expected
    assert found.warps == expected[-1] + 1
    assert found.useful == covered.sum() / (found.warps * lanes)
    assert found.filled == 4 * len(covered) / (found.warps * lanes)


@pytest.mark.plan("simd-engine-4")
def test_small_triangles_leave_lanes_empty():
    """A triangle a quad: eight share a warp of 32, or each has one, an eighth of it [rtr 23.2]."""
    triangles = np.arange(64)
    assert pack(triangles, np.full(64, 4)).warps == 8
    alone = pack(triangles, np.full(64, 4), several=False)
    assert (alone.warps, alone.filled) == (64, 1 / 8)
    assert pack(triangles[:0], triangles[:0], several=False).warps == 0


@pytest.mark.plan("simd-engine-4")
def test_quads_that_are_none():
    with pytest.raises(InputError, match="lanes must be a multiple of 4, not 6"):
        pack([0], [1], lanes=6)
    with pytest.raises(InputError, match=r"covered must lie in 1..4, not 0..5"):
        pack([0, 0], [0, 5])
    with pytest.raises(InputError, match=r"covered must have shape \(2,\), not \(1,\)"):
        pack([0, 0], [1])


@pytest.mark.plan("simd-engine-5")
def test_speedup_is_that_of_the_documents():
    """A tenth stays serial, the rest is 20 times faster: 6.9; never more than 10 [rtr 23.9]."""
    tenth = Fraction(1, 10)
    assert round(float(speedup(tenth, 20)), 1) == 6.9
    assert speedup(tenth, 20) == Fraction(200, 29)
    assert speedup(tenth, None) == 10
    assert speedup(Fraction(0), 4) == 4
    assert speedup(Fraction(1), 4) == 1
    with pytest.raises(InputError, match="serial must lie in 0..1, not 2"):
        speedup(Fraction(2), 4)
    with pytest.raises(InputError, match="parallel must be at least 1, not 0"):
        speedup(tenth, 0)
    with pytest.raises(InputError, match="serial must be above 0 where the rest has no limit"):
        speedup(Fraction(0), None)


@pytest.mark.plan("simd-engine-2")
def test_schedules_that_are_none():
    with pytest.raises(InputError, match="latencies must be a row of clocks of 1 or more"):
        schedule([1, 0], 1, 1)
    with pytest.raises(InputError, match="resident must lie in 1..65536, not 0"):
        schedule([1], 1, 0)
    assert schedule([1], 0, 4).clocks == 0
