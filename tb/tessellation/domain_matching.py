# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.tessellation.domain_matching.DomainMatching`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.cosim.reference.domain_matching import Harness, describe, expected, replay
from fixfunc.models.payload import dtype
from fixfunc.models.tessellation.tessellator import FACTORS, OUTPUTS, RANGES, tessellate
from fixfunc.rtl.tessellation.domain_matching import DomainMatchingParams
from fixfunc.spec.points import DOMAIN_POINT
from fixfunc.spec.state import PointKind
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES

__all__ = ["Harness", "describe", "expected", "replay"]


def requests(rng: np.random.Generator, count: int, params: DomainMatchingParams) -> np.ndarray:
    """Packed draws of patches from :func:`patch`."""
    draws = []
    total = 0
    while total < count:
        for _ in range(int(rng.integers(1, 8))):
            points = patch(rng, params)
            records = np.zeros(len(points), dtype(DOMAIN_POINT))
            records["u"], records["v"] = points.T
            records["first"][:1] = rng.random() < 0.95
            records["patch"] = rng.integers(0, 1 << 16)
            draws.append(records)
            total += len(records)
        end = np.zeros(int(rng.choice((1, 1, 2, 7))), dtype(DOMAIN_POINT))
        end["kind"] = PointKind.END
        draws.append(end)
    return codec.pack(np.concatenate(draws), DOMAIN_POINT)


def patch(rng: np.random.Generator, params: DomainMatchingParams) -> np.ndarray:
    """Domain points of a patch, in order: ndarray of int, shape (n, 2), n above 0.

    They are those of the tessellator, one point several times, or random ones out of a few.
    """
    kind = rng.random()
    if kind < 0.3:
        domain = rng.choice(list(FACTORS))
        factors = (
            rng.uniform(0.5, rng.choice([3, 12]), count).tolist() for count in FACTORS[domain]
        )
        result = tessellate(domain, *factors, rng.choice(list(RANGES)), OUTPUTS[domain][1])
        return result.points[result.primitives.ravel()].astype(np.int64)
    pool = rng.choice(
        [0, 1, 1 << 15, (1 << 16) - 1, 1 << 16], (int(rng.integers(1, 3 * params.lanes)), 2)
    )
    if kind < 0.5:
        return pool[:1].repeat(int(rng.integers(1, 4)), 0)
    return pool[rng.integers(0, len(pool), int(rng.integers(1, 8 * params.lanes)))]


class DomainMatchingBench(StreamBench):
    """Bench with users, and a golden model that takes FLUSHes from the output."""

    stem = "domain_matching"
    ports = "o", "counted"


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def points_find_their_places(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = DomainMatchingBench(dut)
    await bench.run(requests(bench.rng, 150, bench.params), source, sink)


# plan: domain-matching-7
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def one_point_a_clock(dut: HierarchyObject) -> None:
    """Hits and misses take a clock each, also behind an equal point one or two clocks before.

    No wave is full in this test.
    """
    bench = DomainMatchingBench(dut)
    lanes = bench.params.lanes
    records = np.zeros(2 * lanes + 1, dtype(DOMAIN_POINT))
    records["u"][:-1] = np.arange(2 * lanes) // 2
    records["first"][0] = 1
    records["kind"][-1] = PointKind.END
    records["v"][:-1] = np.arange(2 * lanes) % 4 == 3
    await bench.run(codec.pack(records, DOMAIN_POINT))
    first = bench.beats_in[0][1] + 4
    assert [clock for _, clock in bench.beats_out] == list(range(first, first + len(records)))


# plan: domain-matching-8
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def users_are_waited_for(dut: HierarchyObject) -> None:
    """One point many times: its wave runs out of references, and a FLUSH lets its users go on."""
    bench = DomainMatchingBench(dut)
    records = np.zeros((2 << bench.params.references) + 1, dtype(DOMAIN_POINT))
    records["first"][0] = 1
    records["kind"][-1] = PointKind.END
    await bench.run(codec.pack(records, DOMAIN_POINT))
    assert len(bench.beats_out) > len(bench.beats_in)
