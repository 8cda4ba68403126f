# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.output.compression.colour_compression.ColourCompression`."""

import math
from collections.abc import Sequence

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.memory.sample_grids import grids, lanes
from fixfunc.models.output.colour_coder import encode
from fixfunc.models.output.colour_decoder import decode
from fixfunc.models.payload import dtype
from fixfunc.rtl.output.compression.colour_compression import (
    ColourCompression,
    ColourCompressionParams,
)
from fixfunc.rtl.output.differences.colour_order import DEPTHS
from fixfunc.spec import colours, payloads
from fixfunc.spec.colours import LANES
from fixfunc.spec.payloads import Field
from fixfunc.spec.state import DIFFERENCES, TileMode
from fixfunc.tb.bench import codecs
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES

DECODES = Field("decodes", 1)
BEATS = 24  # of a bench: simulators of the protocol tier take seconds for each


def to_code(params: ColourCompressionParams) -> tuple[Field, ...]:
    """Field table of a tile that is to be coded, behind one stream."""
    return (DECODES, *colours.uncoded(params.colour))


def to_decode(params: ColourCompressionParams) -> tuple[Field, ...]:
    """Field table of a code that is to be decoded."""
    return (DECODES, *colours.stored(params.colour))


def width(params: ColourCompressionParams) -> int:
    """Bits of a beat of either."""
    return max(payloads.width(to_code(params)), payloads.width(to_decode(params)))


def Harness(params: ColourCompressionParams) -> codecs.BothWays:
    """The codec with both ways behind one stream."""
    return codecs.BothWays(ColourCompression(params), width(params))


def random_tiles(
    rng: np.random.Generator, n: int, samples: np.ndarray, bits: int = 8
) -> np.ndarray:
    """Tiles of every kind: slopes, edges of two surfaces, few colours, noise, one colour, and one
    but for a lane.

    uint8 or uint16 by ``bits``, shape (n, 8, 8, 4). Noise has widths at both ends of every code, a
    channel, a group or a lane at a time.
    """
    j, i = np.mgrid[:8, :8]
    end = 1 << bits
    base = rng.integers(0, end, (n, 1, 1, 4))
    slope = rng.integers(-9, 10, (2, n, 1, 1, 4)) * rng.choice([0, 1, 5], (n, 1, 1, 1))
    out = base + slope[0] * i[..., None] + slope[1] * j[..., None]
    reach = 1 << rng.integers(0, bits, (n, 1, 1, 4))
    reach = np.where(rng.random((n, 1, 1, 1)) < 0.5, reach[..., :1], reach)
    noise = rng.integers(-reach, reach, out.shape)
    rare = rng.random(out.shape) < rng.choice([0, 0.02, 0.3, 1], (n, 1, 1, 1))
    out = out + noise * rare
    kind = rng.integers(0, 8, n)
    if rng.random() < 0.5:  # runs of tiles that take as many clocks
        kind = np.repeat(kind, 6)[:n]
    pick = rng.integers(0, rng.integers(1, 7, (n, 1, 1)), (n, 8, 8))
    few = rng.integers(0, end, (n, 6, 4))
    out[kind == 0] = few[np.arange(n)[:, None, None], pick][kind == 0]
    out[kind == 1] = rng.integers(0, end, (int((kind == 1).sum()), 8, 8, 4))
    out[kind == 2] = base[kind == 2]
    lone = (kind == 2) & (rng.random(n) < 0.5)  # but for one lane
    at = rng.choice([0, 7, 56, 63, 27], n)
    out[lone, at[lone] // 8, at[lone] % 8] = few[lone, 0]
    for mode in np.unique(samples):
        # Samples of a pixel mostly agree.
        chosen = (samples == mode) & (kind >= 5)
        pixels = grids(out[chosen], mode)
        same = np.broadcast_to(pixels[:, :1], pixels.shape)
        keep = rng.random(pixels.shape[:4]) < 0.1
        out[chosen] = lanes(np.where(keep[..., None], pixels, same), mode)
    out[rng.random(n) < 0.5, ..., 3] = end - 1
    # Alpha of the first or the last lane alone.
    apart = rng.random(n) < 0.1
    at = rng.choice([0, 7], n)[apart]
    out[apart, at, at, 3] = rng.integers(0, end, int(apart.sum()))
    return (out & end - 1).astype(kind_of(bits))


def put_few(rng: np.random.Generator, tiles: np.ndarray, share: float) -> None:
    """A share of tiles become ones of two to four colours, each of which begins at any lane."""
    end = 1 << 8 * tiles.itemsize
    for n in np.flatnonzero(rng.random(len(tiles)) < share):
        begins = rng.permutation(LANES - 1)[: rng.integers(1, 4)] + 1
        number = (np.arange(LANES) >= begins[:, None]).sum(0)
        tiles[n] = rng.integers(0, end, (4, 4))[number].reshape(tiles.shape[1:])


def kind_of(bits: int) -> np.dtype:
    """Of channels of so many bits."""
    return np.dtype(f"<u{bits // 8}")


def words_of(params: ColourCompressionParams) -> int:
    """Words of 32 bits of a raw tile."""
    return LANES * params.colour // 32


def words(table: np.ndarray, name: str, values: np.ndarray, size: int = 4) -> None:
    """Fill in fields of words of so many bytes."""
    values = values.reshape(len(values), math.prod(values.shape[1:]))
    flat = np.ascontiguousarray(values).view(f"<u{size}")
    for n, column in enumerate(flat.T):
        table[f"{name}{n}"] = column


def octets(table: np.ndarray, name: str, count: int, size: int = 4) -> np.ndarray:
    """The inverse of :func:`words`: uint8, shape (n, size count)."""
    flat = np.stack([table[f"{name}{n}"] for n in range(count)], 1).astype(f"<u{size}")
    return np.ascontiguousarray(flat).view(np.uint8)


def requests(rng: np.random.Generator, count: int, params: ColourCompressionParams) -> np.ndarray:
    """Tiles to be coded, and codes to be decoded.

    Codes are right, or have bits inverted, or are random, or end a transfer too early.
    """
    samples = rng.integers(0, len(params.modes), count)
    tiles = random_tiles(rng, count, samples, params.bits)
    cleared = np.where(
        rng.random((count, 1)) < 0.5, tiles[:, 0, 0], rng.integers(0, 1 << params.bits, (count, 4))
    ).astype(tiles.dtype)
    size = params.colour // 8
    cleared_word = cleared.view(f"<u{size}")[:, 0]
    wide = width(params)
    rows = np.zeros((count, codec.words(wide)), np.uint64)
    decodes = (
        np.repeat(rng.random(-(-count // 8)) < 0.5, 8)[:count]
        if count > 16
        else np.arange(count) % 2 == 1
    )
    out = np.zeros(count, dtype(to_code(params)))
    out["samples"] = samples
    out["clears"] = rng.random(count) < 0.7
    out["cleared"] = cleared_word
    words(out, "colour", tiles, size)
    rows[~decodes] = codec.pack(out[~decodes], to_code(params), wide)
    codes = np.zeros(count, np.uint8)
    data = np.zeros((count, 4 * words_of(params)), np.uint8)
    for mode in params.modes:
        chosen = samples == mode
        codes[chosen], data[chosen] = encode(tiles[chosen], mode)
    kind = rng.integers(0, 10, count)
    codes[kind == 0] = rng.integers(0, 16, int((kind == 0).sum()))
    data[kind == 1] = rng.integers(0, 256, data[kind == 1].shape)
    for some, most in ((kind == 2, data.shape[1]), (kind == 3, 24)):
        at = np.flatnonzero(some)
        data[at, rng.integers(0, most, len(at))] ^= 1 << rng.integers(0, 8, len(at)).astype(
            np.uint8
        )
    shorter = (kind == 4) & (codes > DIFFERENCES + 1)
    codes[shorter] -= 1
    stored = np.zeros(count, dtype(to_decode(params)))
    stored["decodes"] = 1
    stored["samples"] = samples
    stored["cleared"] = cleared_word
    stored["code"] = codes
    words(stored, "data", data)
    rows[decodes] = codec.pack(stored[decodes], to_decode(params), wide)
    return rows


def expected(rows: np.ndarray, params: ColourCompressionParams) -> dict[str, np.ndarray]:
    """Coded tiles, and decoded ones."""
    decodes = (rows[:, 0] & 1).astype(bool)
    tiles = codec.unpack(rows[~decodes], to_code(params), dtype(to_code(params)))
    stored = codec.unpack(rows[decodes], to_decode(params), dtype(to_decode(params)))
    coded = np.zeros(len(tiles), dtype(colours.coded(params.colour)))
    decoded = np.zeros(len(stored), dtype(colours.decoded(params.colour)))
    size = params.colour // 8
    kind = kind_of(params.bits)
    lanes_in = octets(tiles, "colour", LANES, size).view(kind).reshape(-1, 8, 8, 4)
    data = octets(stored, "data", words_of(params))
    for mode in params.modes:
        chosen = tiles["samples"] == mode
        part = lanes_in[chosen]
        codes, found = encode(part, mode)
        cleared = tiles["cleared"][chosen].astype(f"<u{size}").view(kind).reshape(-1, 1, 1, 4)
        same = (part == cleared).all((1, 2, 3))
        is_clear = same & tiles["clears"][chosen].astype(bool)
        codes[is_clear] = TileMode.CLEARED
        found[is_clear] = 0
        records = coded[chosen]
        records["code"] = codes
        words(records, "data", found)
        coded[chosen] = records
        for n in np.flatnonzero(stored["samples"] == mode):
            clear = stored["cleared"][n : n + 1].astype(f"<u{size}").view(kind)
            back = decode(stored["code"][n : n + 1], data[n : n + 1], mode, clear)
            record = decoded[n : n + 1]
            record["wrong"] = back.wrong
            words(record, "colour", back.tiles, size)
    return {
        "o": codec.pack(coded, colours.coded(params.colour)),
        "tile": codec.pack(decoded, colours.decoded(params.colour)),
    }


def own_ports(
    rows: np.ndarray, outputs: dict[str, np.ndarray], params: ColourCompressionParams
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Beats in and out of the block itself, by port."""
    return codecs.own_ports(rows, outputs, to_code(params), to_decode(params))


def describe(row: np.ndarray, params: ColourCompressionParams) -> str:
    table = colours.coded(params.colour)
    coded = codec.unpack(row[None], table, dtype(table))[0]
    data = " ".join(f"{coded[f'data{n}']:08x}" for n in range(words_of(params)))
    return f"code={coded['code']} {data}"


class ColourCompressionBench(StreamBench):
    stem = "colour_compression"
    ports = "o", "tile"
    IDLE_CLOCKS = 64  # more than twice its latency
    POLL_CLOCKS = 16


# plan: colour-compression-5
@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def tiles_are_coded_and_decoded(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = ColourCompressionBench(dut)
    await bench.run(requests(bench.rng, BEATS, bench.params), source, sink)


def clocks_of(codes: np.ndarray, takes_four: Sequence[int]) -> np.ndarray:
    """Clocks that each of some tiles takes, by their codes."""
    return np.where(np.isin(codes, takes_four), 4, 1)


# plan: colour-compression-6
@cocotb.test(timeout_time=4, timeout_unit="ms")
async def tiles_take_one_clock_and_differences_four(dut: HierarchyObject) -> None:
    bench = ColourCompressionBench(dut)
    unit = ColourCompression(bench.params)
    rows = requests(bench.rng, 2 * BEATS, bench.params)
    decodes = rows[:, 0] & 1 == 1
    await bench.run(np.concatenate([rows[~decodes], rows[decodes]]))
    params = bench.params
    table = colours.coded(params.colour)
    coded = codec.unpack(expected(rows, params)["o"], table, dtype(table))["code"]
    table = to_decode(params)
    stored = codec.unpack(rows[decodes], table, dtype(table))["code"]
    differences = [DIFFERENCES + 1 + n for n in range(DEPTHS[params.bits][2])]
    for port, first, latency, clocks in (
        ("o", 0, unit.latency, clocks_of(coded, [*differences, TileMode.RAW])),
        ("tile", len(coded), unit.decoding_latency, clocks_of(stored, differences)),
    ):
        begin = bench.beats_in[first][1] + latency
        wanted = begin + np.concatenate([[0], np.cumsum(clocks[:-1])])
        assert [clock for _, clock in bench.out[port]] == wanted.tolist(), port
