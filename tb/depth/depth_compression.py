# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.depth.compression.depth_compression.DepthCompression`."""

import math

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.depth.compression.codes import Coding
from fixfunc.models.depth.compression.planes import MOST, PLANE, evaluate
from fixfunc.models.depth.depth_compression import decode, encode
from fixfunc.models.payload import dtype
from fixfunc.models.raster.edge_evaluator import pack, unpack
from fixfunc.rtl.depth.compression.depth_compression import (
    DepthCompression,
    DepthCompressionParams,
)
from fixfunc.rtl.depth.compression.tile_modes import TRANSFERS
from fixfunc.rtl.depth.differences.difference_coder import DifferenceCoder
from fixfunc.spec import payloads
from fixfunc.spec.memory import depth_tiles
from fixfunc.spec.payloads import Field
from fixfunc.spec.state import DIFFERENCES, TileMode
from fixfunc.tb.bench import codecs
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES

ONES = (1 << payloads.DEPTH) - 1
DECODES = Field("decodes", 1)


def tables(params: DepthCompressionParams) -> tuple[tuple[Field, ...], tuple[Field, ...]]:
    """A tile to be coded, or one to be decoded: what the bench's stream carries."""
    return (
        (DECODES, *depth_tiles.uncoded(params.edge)),
        (DECODES, *depth_tiles.stored(params.edge, params.mode_bits)),
    )


def coded_table(params: DepthCompressionParams) -> tuple[Field, ...]:
    """A coded tile."""
    return depth_tiles.coded(params.edge, payloads.DEPTH, params.mode_bits)


def coding(params: DepthCompressionParams) -> Coding:
    """The golden coding of a configuration."""
    return "differences" if params.differences else "anchor"


def width(params: DepthCompressionParams) -> int:
    """Of that stream."""
    return max(map(payloads.width, tables(params)))


def Harness(params: DepthCompressionParams) -> codecs.BothWays:
    """The codec with both ways behind one stream."""
    return codecs.BothWays(DepthCompression(params), width(params))


def random_tiles(
    rng: np.random.Generator, n: int, edge: int, modes: range
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tiles of every kind: made by planes, or nearly, or close to one, or cleared, or anything.

    Their samples, planes, counts, masks, depths.
    """
    reach = 1 << rng.integers(1, 31, (n, MOST))
    planes = np.zeros((n, MOST), PLANE)
    planes["z0"] = rng.integers(0, 1 << 32, (n, MOST))
    planes["dx"] = rng.integers(-reach, reach)
    planes["dy"] = rng.integers(-reach, reach)
    repeated = rng.random((n, MOST)) < 0.2
    earlier = rng.integers(0, np.maximum(np.arange(MOST), 1), (n, MOST))
    planes = np.where(repeated, planes[np.arange(n)[:, None], earlier], planes)
    samples = rng.integers(0, len(modes), n)
    counts = rng.integers(0, MOST + 1, n)
    masks = rng.integers(0, np.maximum(counts, 1)[:, None, None], (n, edge, edge))
    masks[rng.random(n) < 0.2] = 0
    tiles = np.zeros((n, edge, edge), np.int64)
    for mode in modes:
        selected = samples == mode
        tiles[selected] = evaluate(planes[selected], masks[selected], mode)
    # Kinds by chance, or the same one for a while: planes, or what only differences give.
    run = np.repeat(rng.integers(0, 4, n), rng.integers(1, 13, n))[:n]
    kind = np.select([run == 0, run == 1], [0, 2], rng.integers(0, 6, n))
    place = rng.integers(0, edge, (2, n))
    tiles[np.arange(n), *place] ^= np.where(kind == 1, 1 << rng.integers(0, 24, n), 0)
    level = rng.integers(0, ONES, (n, 1, 1))
    scale = 1 << rng.integers(0, 8, (n, 1, 1))
    j, i = np.mgrid[:edge, :edge]
    slopes = rng.integers(-1 << 14, 1 << 14, (2, n, 1, 1)) >> rng.integers(0, 12)
    tiles = np.where(
        (kind == 2)[:, None, None],
        level + slopes[0] * i + slopes[1] * j + rng.integers(-scale, scale, tiles.shape),
        tiles,
    )
    tiles[kind == 3] = rng.integers(0, 1 << 24, tiles[kind == 3].shape)
    tiles[kind == 4] = level[kind == 4]
    return samples, planes, counts, masks, tiles & ONES


def known_planes(
    out: np.ndarray, planes: np.ndarray, counts: np.ndarray, masks: np.ndarray
) -> None:
    """Fill in fields of :func:`fixfunc.spec.memory.depth_tiles.known_planes`."""
    out["planes"] = counts
    out["mask_low"] = pack(masks & 1 != 0)
    out["mask_high"] = pack(masks & 2 != 0)
    for k in range(MOST):
        for name in PLANE.names:
            out[f"{name}_{k}"] = planes[name][:, k]


def depths(out: np.ndarray, tiles: np.ndarray) -> None:
    """Fill in fields of depths."""
    for n, values in enumerate(tiles.reshape(len(tiles), math.prod(tiles.shape[1:])).T):
        out[f"depth{n}"] = values


def words(data: np.ndarray) -> dict[str, np.ndarray]:
    """Words of 32 bits of coded tiles, by field."""
    return {f"data{n}": values for n, values in enumerate(np.ascontiguousarray(data).view("<u4").T)}


def requests(rng: np.random.Generator, count: int, params: DepthCompressionParams) -> np.ndarray:
    """Tiles to be coded, and codes to be decoded.

    Codes are right, or have bits inverted, or are random.
    """
    edge, (to_code, to_decode) = params.edge, tables(params)
    samples, planes, counts, masks, tiles = random_tiles(rng, count, edge, params.modes)
    rows = np.zeros((count, codec.words(width(params))), np.uint64)
    cleared = rng.choice([0, ONES, int(tiles[0, 0, 0])], count)
    cleared = np.where(rng.random(count) < 0.5, tiles[:, 0, 0], cleared)
    decodes = (
        np.repeat(rng.random(-(-count // 8)) < 0.5, 8)[:count]
        if count > 16
        else np.arange(count) % 2 == 1
    )

    out = np.zeros(count, dtype(to_code))
    out["samples"] = samples
    out["clears"] = rng.random(count) < 0.7
    out["cleared"] = cleared
    known_planes(out, planes, counts, masks)
    depths(out, tiles)
    rows[~decodes] = codec.pack(out[~decodes], to_code, width(params))

    to_be_decoded = np.zeros(count, dtype(to_decode))
    to_be_decoded["decodes"] = 1
    to_be_decoded["samples"] = samples
    to_be_decoded["cleared"] = cleared
    modes = np.zeros(count, np.uint8)
    data = np.zeros((count, 4 * depth_tiles.coded_words(edge)), np.uint8)
    for mode in params.modes:
        selected = samples == mode
        modes[selected], data[selected] = encode(
            tiles[selected],
            planes[selected],
            counts[selected],
            masks[selected],
            mode,
            cleared[selected],
            coding(params),
        )
    kind = rng.integers(0, 8, count)
    modes[kind == 0] = rng.integers(0, 1 << params.mode_bits, (kind == 0).sum())
    data[kind == 1] = rng.integers(0, 256, data[kind == 1].shape)
    corrupted = np.flatnonzero(kind == 2)
    data[corrupted, rng.integers(0, data.shape[1], len(corrupted))] ^= 1 << rng.integers(
        0, 8, len(corrupted)
    ).astype(np.uint8)
    of_none = np.flatnonzero((kind == 3) & (modes == TileMode.PLANES_3))
    bit = 96 * 3 + 2 * rng.integers(0, edge**2, len(of_none))
    data[of_none, bit >> 3] |= (3 << (bit & 7)).astype(np.uint8)  # a sample of a fourth plane
    to_be_decoded["mode"] = modes
    for name, values in words(data).items():
        to_be_decoded[name] = values
    rows[decodes] = codec.pack(to_be_decoded[decodes], to_decode, width(params))
    return rows


def expected(rows: np.ndarray, params: DepthCompressionParams) -> dict[str, np.ndarray]:
    """Coded tiles, and decoded ones."""
    edge = params.edge
    decodes = (rows[:, 0] & 1).astype(bool)
    to_code, to_decode = tables(params)
    tiles = codec.unpack(rows[~decodes], to_code, dtype(to_code))
    to_be_decoded = codec.unpack(rows[decodes], to_decode, dtype(to_decode))
    coded = np.zeros(len(tiles), dtype(coded_table(params)))
    decoded = np.zeros(len(to_be_decoded), dtype(depth_tiles.decoded(edge)))
    planes = np.zeros((len(tiles), MOST), PLANE)
    for k in range(MOST):
        for name in PLANE.names:
            planes[name][:, k] = tiles[f"{name}_{k}"]
    masks = unpack(tiles["mask_low"], edge) + 2 * unpack(tiles["mask_high"], edge)
    lanes = np.stack([tiles[f"depth{n}"] for n in range(edge**2)], 1).reshape(-1, edge, edge)
    data = (
        np.stack([to_be_decoded[f"data{n}"] for n in range(depth_tiles.coded_words(edge))], 1)
        .astype("<u4")
        .view(np.uint8)
        .reshape(len(to_be_decoded), 4 * depth_tiles.coded_words(edge))
    )
    for mode in params.modes:
        selected = tiles["samples"] == mode
        cleared = np.where(tiles["clears"], tiles["cleared"].astype(np.int64), -1)
        coded["mode"][selected], result = encode(
            lanes[selected],
            planes[selected],
            tiles["planes"][selected],
            masks[selected],
            mode,
            cleared[selected],
            coding(params),
        )
        for name, values in words(result).items():
            coded[name][selected] = values
        selected = to_be_decoded["samples"] == mode
        records = decoded[selected]
        result = decode(
            to_be_decoded["mode"][selected],
            data[selected],
            mode,
            to_be_decoded["cleared"][selected].astype(np.int64),
            edge,
            coding(params),
        )
        records["wrong"] = result[4]
        known_planes(records, *result[1:4])
        depths(records, result[0])
        decoded[selected] = records
    return {
        "o": codec.pack(coded, coded_table(params)),
        "tile": codec.pack(decoded, depth_tiles.decoded(edge)),
    }


def own_ports(
    rows: np.ndarray, outputs: dict[str, np.ndarray], params: DepthCompressionParams
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Beats in and out of the block itself, by port."""
    return codecs.own_ports(rows, outputs, *tables(params))


def describe(row: np.ndarray, params: DepthCompressionParams) -> str:
    table = coded_table(params)
    coded = codec.unpack(row[None], table, dtype(table))[0]
    return f"mode={coded['mode']} " + " ".join(f"{coded[f.name]:08x}" for f in table[1:])


class DepthCompressionBench(StreamBench):
    stem = "depth_compression"
    ports = "o", "tile"


# plan: depth-compression-10
@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def tiles_are_coded_and_decoded(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = DepthCompressionBench(dut)
    await bench.run(requests(bench.rng, 100, bench.params), source, sink)


# plan: depth-compression-11
@cocotb.test(timeout_time=4, timeout_unit="ms")
async def tiles_take_one_clock_and_differences_four(dut: HierarchyObject) -> None:
    bench = DepthCompressionBench(dut)
    unit = DepthCompression(bench.params)
    rows = requests(bench.rng, 400, bench.params)
    decodes = rows[:, 0] & 1 == 1
    await bench.run(np.concatenate([rows[~decodes], rows[decodes]]))
    table = coded_table(bench.params)
    coded = codec.unpack(expected(rows, bench.params)["o"], table, dtype(table))["mode"]
    stored = tables(bench.params)[1]
    to_be_decoded = codec.unpack(rows[decodes], stored, dtype(stored))["mode"]
    differences = [DIFFERENCES + n for n in TRANSFERS] if bench.params.differences else []
    not_found = [*differences, TileMode.RAW] if bench.params.differences else []
    most = DifferenceCoder.latency(bench.params.samples)
    for port, first, latency, modes, takes_four, longer in (
        ("o", 0, unit.latency, coded, not_found, most),
        ("tile", len(coded), unit.decoding_latency, to_be_decoded, differences, most),
    ):
        is_slow = np.isin(modes, takes_four)
        clocks = np.array([clock for _, clock in bench.out[port]])
        behind = np.diff(clocks)
        assert len(clocks) == len(modes)
        begin = clocks[0] - bench.beats_in[first][1]
        assert begin == latency if not is_slow[0] else latency < begin <= latency + longer, port
        assert (behind[~is_slow[1:]] == 1).all(), f"{port}: a tile had to wait behind another"
        assert (behind[is_slow[1:] & is_slow[:-1]] == 4).all(), f"{port}: differences take four"
        # One behind tiles that take a clock: four behind the differences before, or as late as the
        # first.
        assert (behind[is_slow[1:]] <= 4 + longer).all(), port
