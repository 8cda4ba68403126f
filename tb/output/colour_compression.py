# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.output.compression.colour_compression.ColourCompression`."""

import cocotb
import numpy as np
from amaranth.hdl import Module, Mux
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
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
from fixfunc.rtl.payload import layout
from fixfunc.spec import colours, payloads
from fixfunc.spec.colours import LANES, WORDS
from fixfunc.spec.payloads import Field
from fixfunc.spec.state import DIFFERENCES, TileMode
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES

DECODES = Field("decodes", 1)
TO_CODE = (DECODES, *colours.UNCODED)
TO_DECODE = (DECODES, *colours.STORED)
BEATS = 24  # of a bench: simulators of the protocol tier take seconds for each
WIDTH = max(payloads.width(TO_CODE), payloads.width(TO_DECODE))


class Harness(wiring.Component):
    """Both ways behind one stream.

    Parameters
    ----------
    params : ColourCompressionParams
    """

    def __init__(self, params: ColourCompressionParams) -> None:
        self._params = params
        super().__init__(
            {
                "i": In(stream.Signature(WIDTH)),
                "o": Out(stream.Signature(layout(colours.CODED))),
                "tile": Out(stream.Signature(layout(colours.DECODED))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = unit = ColourCompression(self._params)
        decodes = self.i.payload[0]
        body = self.i.payload[1:]
        m.d.comb += [
            unit.i_tile.payload.eq(body),
            unit.i_stored.payload.eq(body),
            unit.i_tile.valid.eq(self.i.valid & ~decodes),
            unit.i_stored.valid.eq(self.i.valid & decodes),
            self.i.ready.eq(Mux(decodes, unit.i_stored.ready, unit.i_tile.ready)),
        ]
        wiring.connect(m, unit.o_coded, wiring.flipped(self.o))
        wiring.connect(m, unit.o_tile, wiring.flipped(self.tile))
        return m


def random_tiles(rng: np.random.Generator, n: int, samples: np.ndarray) -> np.ndarray:
    """Tiles of every kind: slopes, edges of two surfaces, few colours, noise, one colour.

    uint8, shape (n, 8, 8, 4). Noise has widths at both ends of every code, a channel, a group or a
    lane at a time.
    """
    j, i = np.mgrid[:8, :8]
    base = rng.integers(0, 256, (n, 1, 1, 4))
    slope = rng.integers(-9, 10, (2, n, 1, 1, 4)) * rng.choice([0, 1, 5], (n, 1, 1, 1))
    out = base + slope[0] * i[..., None] + slope[1] * j[..., None]
    reach = 1 << rng.integers(0, 8, (n, 1, 1, 4))
    reach = np.where(rng.random((n, 1, 1, 1)) < 0.5, reach[..., :1], reach)
    noise = rng.integers(-reach, reach, out.shape)
    rare = rng.random(out.shape) < rng.choice([0, 0.02, 0.3, 1], (n, 1, 1, 1))
    out = out + noise * rare
    kind = rng.integers(0, 8, n)
    pick = rng.integers(0, rng.integers(1, 7, (n, 1, 1)), (n, 8, 8))
    few = rng.integers(0, 256, (n, 6, 4))
    out[kind == 0] = few[np.arange(n)[:, None, None], pick][kind == 0]
    out[kind == 1] = rng.integers(0, 256, (int((kind == 1).sum()), 8, 8, 4))
    out[kind == 2] = base[kind == 2]
    for mode in np.unique(samples):
        # Samples of a pixel mostly agree.
        chosen = (samples == mode) & (kind >= 5)
        pixels = grids(out[chosen], mode)
        same = np.broadcast_to(pixels[:, :1], pixels.shape)
        keep = rng.random(pixels.shape[:4]) < 0.1
        out[chosen] = lanes(np.where(keep[..., None], pixels, same), mode)
    out[rng.random(n) < 0.5, ..., 3] = 255
    return (out & 255).astype(np.uint8)


def words(table: np.ndarray, name: str, values: np.ndarray) -> None:
    """Fill in fields of words of 32 bits."""
    flat = np.ascontiguousarray(values).reshape(len(values), -1).view("<u4")
    for n, column in enumerate(flat.T):
        table[f"{name}{n}"] = column


def octets(table: np.ndarray, name: str, count: int) -> np.ndarray:
    """The inverse of :func:`words`: uint8, shape (n, 4 count)."""
    flat = np.stack([table[f"{name}{n}"] for n in range(count)], 1).astype("<u4")
    return np.ascontiguousarray(flat).view(np.uint8)


def requests(rng: np.random.Generator, count: int, params: ColourCompressionParams) -> np.ndarray:
    """Tiles to be coded, and codes to be decoded.

    Codes are right, or have bits inverted, or are random, or end a transfer too early.
    """
    samples = rng.integers(0, len(params.modes), count)
    tiles = random_tiles(rng, count, samples)
    cleared = np.where(
        rng.random((count, 1)) < 0.5, tiles[:, 0, 0], rng.integers(0, 256, (count, 4))
    ).astype(np.uint8)
    rows = np.zeros((count, codec.words(WIDTH)), np.uint64)
    decodes = (
        np.repeat(rng.random(-(-count // 8)) < 0.5, 8)[:count]
        if count > 16
        else np.arange(count) % 2 == 1
    )
    out = np.zeros(count, dtype(TO_CODE))
    out["samples"] = samples
    out["clears"] = rng.random(count) < 0.7
    out["cleared"] = cleared.view("<u4")[:, 0]
    words(out, "colour", tiles)
    rows[~decodes] = codec.pack(out[~decodes], TO_CODE, WIDTH)
    codes = np.zeros(count, np.uint8)
    data = np.zeros((count, 4 * WORDS), np.uint8)
    for mode in params.modes:
        chosen = samples == mode
        codes[chosen], data[chosen] = encode(tiles[chosen], mode)
    kind = rng.integers(0, 10, count)
    codes[kind == 0] = rng.integers(0, 16, int((kind == 0).sum()))
    data[kind == 1] = rng.integers(0, 256, data[kind == 1].shape)
    for some, most in ((kind == 2, 4 * WORDS), (kind == 3, 24)):
        at = np.flatnonzero(some)
        data[at, rng.integers(0, most, len(at))] ^= 1 << rng.integers(0, 8, len(at)).astype(
            np.uint8
        )
    shorter = (kind == 4) & (codes > DIFFERENCES + 1)
    codes[shorter] -= 1
    stored = np.zeros(count, dtype(TO_DECODE))
    stored["decodes"] = 1
    stored["samples"] = samples
    stored["cleared"] = cleared.view("<u4")[:, 0]
    stored["code"] = codes
    words(stored, "data", data)
    rows[decodes] = codec.pack(stored[decodes], TO_DECODE, WIDTH)
    return rows


def expected(rows: np.ndarray, params: ColourCompressionParams) -> dict[str, np.ndarray]:
    """Coded tiles, and decoded ones."""
    decodes = (rows[:, 0] & 1).astype(bool)
    tiles = codec.unpack(rows[~decodes], TO_CODE, dtype(TO_CODE))
    stored = codec.unpack(rows[decodes], TO_DECODE, dtype(TO_DECODE))
    coded = np.zeros(len(tiles), dtype(colours.CODED))
    decoded = np.zeros(len(stored), dtype(colours.DECODED))
    lanes_in = octets(tiles, "colour", LANES).reshape(-1, 8, 8, 4)
    data = octets(stored, "data", WORDS)
    for mode in params.modes:
        chosen = tiles["samples"] == mode
        part = lanes_in[chosen]
        codes, found = encode(part, mode)
        cleared = tiles["cleared"][chosen].astype("<u4")
        same = (part.reshape(len(part), LANES, 4).view("<u4")[..., 0] == cleared[:, None]).all(1)
        is_clear = same & tiles["clears"][chosen].astype(bool)
        codes[is_clear] = TileMode.CLEARED
        found[is_clear] = 0
        records = coded[chosen]
        records["code"] = codes
        words(records, "data", found)
        coded[chosen] = records
        for n in np.flatnonzero(stored["samples"] == mode):
            clear = stored["cleared"][n : n + 1].astype("<u4").view(np.uint8)
            back = decode(stored["code"][n : n + 1], data[n : n + 1], mode, clear)
            record = decoded[n : n + 1]
            record["wrong"] = back.wrong
            words(record, "colour", back.tiles)
    return {
        "o": codec.pack(coded, colours.CODED),
        "tile": codec.pack(decoded, colours.DECODED),
    }


def describe(row: np.ndarray, _params: ColourCompressionParams) -> str:
    coded = codec.unpack(row[None], colours.CODED, dtype(colours.CODED))[0]
    data = " ".join(f"{coded[f'data{n}']:08x}" for n in range(WORDS))
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


# plan: colour-compression-6
@cocotb.test(timeout_time=2, timeout_unit="ms")
async def one_tile_a_clock_each_way(dut: HierarchyObject) -> None:
    bench = ColourCompressionBench(dut)
    unit = ColourCompression(bench.params)
    rows = requests(bench.rng, BEATS, bench.params)
    decodes = rows[:, 0] & 1 == 1
    await bench.run(np.concatenate([rows[~decodes], rows[decodes]]))
    first_in = bench.beats_in[0][1]
    for port, first, latency in (
        ("o", 0, unit.latency),
        ("tile", (~decodes).sum(), unit.decoding_latency),
    ):
        clocks = [clock for _, clock in bench.out[port]]
        assert clocks == list(
            range(first_in + first + latency, first_in + first + latency + len(clocks))
        ), port
