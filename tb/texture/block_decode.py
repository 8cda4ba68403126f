# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.texture.block_decode.BlockDecode`."""

from collections.abc import Iterator

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.models.texture.block_decode import FORMATS, decode, linear
from fixfunc.models.texture.texture import Texture
from fixfunc.rtl.texture.block_decode import CONFIGS, BlockDecodeParams
from fixfunc.spec.payloads import TEXTURE_BLOCK, texels
from fixfunc.tb.bench.bench import StreamBench, configuration
from fixfunc.tb.bench.pace import PACES

CHANNELS = "red", "green", "blue", "alpha"
SUPPORTED = tuple(FORMATS)  # by number


def cells(name: str) -> Iterator[tuple[int, int]]:
    """Every mode, partition, rotation and selector of a format: (bits that say so, their value) of a block's lowest 128."""
    def place(*fields):
        return sum((1 << bits) - 1 << at for at, bits, _ in fields), sum(value << at for at, _, value in fields)

    if name == "BC7":
        partitions = {0: 16, 1: 64, 2: 64, 3: 64, 7: 64}
        for mode in range(9):
            rest = {4: 8, 5: 4}.get(mode, 1) * partitions.get(mode, 1)  # what follows the mode is its partition, or rotation and selector
            yield from (place((0, min(mode + 1, 8), 1 << mode & 255), (mode + 1, (rest - 1).bit_length(), n)) for n in range(rest))
    elif name.startswith("BC6H"):
        for mode in (0, 1, *range(2, 32, 4), *range(3, 32, 4)):
            width, two = 2 if mode < 2 else 5, mode & 3 != 3
            yield from (place((0, width, mode), (77, 5 * two, n)) for n in range(32 if two else 1))
    else:
        yield 0, 0


def blocks(rng: np.random.Generator, cell: tuple[int, int], count: int) -> np.ndarray:
    """Random blocks of a cell: uint8 of shape (count, 16); of formats of 8 bytes, the first count."""
    out = rng.integers(0, 256, (count, 16), np.uint8)
    flat = rng.random(count) < 0.1  # ends of ranges: bytes of zeros, of ones, and the same end points twice
    out[flat] = rng.choice(np.array([0, 255, 128, 127, 129], np.uint8), (flat.sum(), 16))
    mask, value = (np.frombuffer(part.to_bytes(16, "little"), np.uint8) for part in cell)
    return out & ~mask | value


def requests(rng: np.random.Generator, count: int, params: BlockDecodeParams) -> np.ndarray:
    """Half of the blocks of any format at random, half of any cell; now and then one of a format that there is not."""
    names = [known.name for known in params.formats]
    every = [(name, cell) for name in names for cell in cells(name)]
    records = np.zeros(count, dtype(TEXTURE_BLOCK))
    which = np.where(rng.random(count) < 0.5, rng.integers(0, len(every), count), -1 - rng.integers(0, len(names), count))
    data = np.zeros((count, 16), np.uint8)
    for n in np.unique(which):
        name, cell = every[n] if n >= 0 else (names[-1 - n], (0, 0))
        those = which == n
        data[those] = blocks(rng, cell, those.sum())
        records["format"][those] = SUPPORTED.index(name)
    strange = rng.random(count) < 0.01
    records["format"][strange] = rng.integers(0, 16, strange.sum())
    records["srgb"] = rng.random(count) < 0.5
    records["low"], records["high"] = data.view("<u8").T
    return codec.pack(records, TEXTURE_BLOCK)


def of_texture(texture: Texture) -> np.ndarray:
    """Every block of a texture as requests, level by level."""
    data = np.concatenate([level.reshape(-1, FORMATS[texture.format].size) for level in texture.levels])
    records = np.zeros(len(data), dtype(TEXTURE_BLOCK))
    records["format"] = SUPPORTED.index(texture.format)
    halves = data.view("<u8").reshape(len(data), -1).T
    records["low"], records["high"] = halves[0], halves[-1] if len(halves) == 2 else 0
    return codec.pack(records, TEXTURE_BLOCK)


def expected(rows: np.ndarray, params: BlockDecodeParams) -> dict[str, np.ndarray]:
    """Packed blocks in -> their texels."""
    records = codec.unpack(np.ascontiguousarray(rows, np.uint64), TEXTURE_BLOCK, dtype(TEXTURE_BLOCK))
    formats, srgb = records["format"], records["srgb"].astype(bool) & params.srgb
    data, out = np.stack([records["low"], records["high"]], 1).view(np.uint8), np.zeros((len(rows), 16, 4), np.uint16)
    for known in params.formats:
        those = np.flatnonzero(formats == known)
        found = decode(known.name, data[those, :FORMATS[known.name].size])
        if found.dtype == np.uint8:
            found = np.where(srgb[those, None, None, None], linear(found), found).astype(np.uint16)
        out[those, :, :found.shape[-1]] = found.view(np.uint16).reshape(len(those), 16, found.shape[-1])
    table, beats = texels(params.lanes), 16 // params.lanes
    records = np.zeros(len(rows) * beats, dtype(table))
    records["error"] = np.repeat(~np.isin(formats, [int(known) for known in params.formats]), beats)
    records["first"] = np.tile(np.arange(beats) * params.lanes, len(rows))
    lanes = out.reshape(-1, params.lanes, 4)
    for n in range(params.lanes):
        for c, channel in enumerate(CHANNELS):
            records[f"{channel}{n}"] = lanes[:, n, c]
    return {"o": codec.pack(records, table)}


def describe(row: np.ndarray, params: BlockDecodeParams) -> str:
    """Texels in words."""
    record = codec.unpack(row[None], texels(params.lanes), dtype(texels(params.lanes)))[0]
    colours = " ".join(",".join(f"{record[f'{channel}{n}']:04x}" for channel in CHANNELS) for n in range(params.lanes))
    return f"error={record['error']} texels from {record['first']}: {colours}"


class BlockDecodeBench(StreamBench):
    """One stream in, one out."""

    def __init__(self, dut: HierarchyObject) -> None:
        self.params = configuration(CONFIGS)
        super().__init__(dut, lambda rows: expected(rows, self.params), lambda row: describe(row, self.params))


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def mixed_formats_come_decoded_in_order(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = BlockDecodeBench(dut)
    await bench.run(requests(bench.rng, 60, bench.params), source, sink)


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_beat_a_clock(dut: HierarchyObject) -> None:
    """Formats back to back."""
    bench = BlockDecodeBench(dut)
    await bench.run(requests(bench.rng, 100, bench.params))
    clocks = [clock for _, clock in bench.given]
    assert clocks == list(range(clocks[0], clocks[0] + 100 * 16 // bench.params.lanes))
