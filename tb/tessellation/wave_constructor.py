# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.tessellation.wave_constructor.WaveConstructor`."""

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.tessellation.wave_constructor import WaveConstructor
from fixfunc.rtl.tessellation.domain_matching import DomainMatchingParams
from fixfunc.rtl.tessellation.wave_constructor import WaveConstructorParams
from fixfunc.spec.points import MATCHED_POINT, VERTEX_INDEX, wave
from fixfunc.spec.state import PointKind
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES
from fixfunc.tb.tessellation import domain_matching


def requests(rng: np.random.Generator, count: int, params: WaveConstructorParams) -> np.ndarray:
    """Packed points from the domain-matching unit, with some FLUSHes, up to an END."""
    matching = DomainMatchingParams(lanes=params.lanes, across=bool(rng.random() < 0.5))
    points = domain_matching.requests(rng, count, matching)
    points = domain_matching.expected(points, matching)["o"]
    records = codec.unpack(points, MATCHED_POINT, dtype(MATCHED_POINT))
    is_point = records["kind"] == PointKind.POINT
    # any wave may be the first
    records["dsid"][is_point] ^= int(rng.integers(0, (1 << 16) // params.lanes)) * params.lanes
    records["first"] ^= is_point & (rng.random(len(records)) < 0.02)
    points = codec.pack(records, MATCHED_POINT)
    flush = np.zeros(1, dtype(MATCHED_POINT))
    flush["kind"] = PointKind.FLUSH
    return np.insert(
        points,
        np.sort(rng.integers(0, len(points), len(points) // 16)),
        codec.pack(flush, MATCHED_POINT),
        0,
    )


def expected(rows: np.ndarray, params: WaveConstructorParams) -> dict[str, np.ndarray]:
    """Packed outputs of packed points: waves, and vertex indices."""
    records = codec.unpack(rows, MATCHED_POINT, dtype(MATCHED_POINT))
    unit = WaveConstructor(params.lanes)
    waves = []
    for record in records:
        if record["kind"] != PointKind.POINT:
            waves += unit.flush()
        elif not record["hit"]:
            waves += unit.push(
                tuple(int(record[name]) for name in ("patch", "u", "v")), int(record["dsid"])
            )
    table = wave(params.lanes)
    out = np.zeros(len(waves), dtype(table))
    for n, (dsid, begin, points) in enumerate(waves):
        out["dsid"][n] = dsid
        out["begin"][n] = begin
        out["end"][n] = begin + len(points)
        for lane, point in enumerate(points, begin):
            for name, value in zip(("patch", "u", "v"), point, strict=True):
                out[f"{name}{lane}"][n] = value
    index = np.zeros(len(records), dtype(VERTEX_INDEX))
    for name in index.dtype.names:
        index[name] = records[name]
    return {
        "o": codec.pack(out, table),
        "index": codec.pack(index[index["kind"] != PointKind.FLUSH], VERTEX_INDEX),
    }


def describe(row: np.ndarray, params: WaveConstructorParams) -> str:
    """A wave in words."""
    record = codec.unpack(row[None], wave(params.lanes), dtype(wave(params.lanes)))[0]
    points = [
        tuple(int(record[f"{name}{n}"]) for name in ("patch", "u", "v"))
        for n in range(record["begin"], min(record["end"], params.lanes))
    ]
    return f"dsid={record['dsid']} lanes {record['begin']}..{record['end'] - 1}: {points}"


class WaveConstructorBench(StreamBench):
    """Bench with both output streams."""

    stem = "wave_constructor"
    ports = "o", "index"


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def waves_hold_every_point(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = WaveConstructorBench(dut)
    await bench.run(requests(bench.rng, 150, bench.params), source, sink)


# plan: wave-constructor-4
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def one_point_a_clock(dut: HierarchyObject) -> None:
    """Misses of six waves take a clock each."""
    bench = WaveConstructorBench(dut)
    records = np.zeros(6 * bench.params.lanes + 1, dtype(MATCHED_POINT))
    records["dsid"][:-1] = records["u"][:-1] = np.arange(len(records) - 1)
    records["kind"][-1] = PointKind.END
    await bench.run(codec.pack(records, MATCHED_POINT))
    first = bench.beats_in[0][1] + 1
    clocks = [clock for _, clock in bench.out["index"]]
    assert clocks == list(range(first, first + len(records)))
    assert len(bench.beats_out) == 6
