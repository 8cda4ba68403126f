# SPDX-License-Identifier: BSD-2-Clause
"""Bench of :class:`fixfunc.rtl.texture.block_decode.BlockDecode`."""

from collections.abc import Iterator

import cocotb
import numpy as np
from cocotb.handle import HierarchyObject

from fixfunc.cosim import codec
from fixfunc.cosim.reference.block_decode import SUPPORTED, describe, expected
from fixfunc.models.payload import dtype
from fixfunc.rtl.texture.block_decode import BlockDecodeParams
from fixfunc.spec.colours import TEXTURE_BLOCK
from fixfunc.tb.bench.bench import StreamBench
from fixfunc.tb.bench.pace import PACES

__all__ = ["describe", "expected"]


def cells(name: str) -> Iterator[tuple[int, int]]:
    """Cells of a format: every combination of mode, partition, rotation and selector.

    A cell is a mask of a block's 128 bits, and the value of the masked bits.
    """

    def cell(*fields):
        mask = sum((1 << bits) - 1 << first for first, bits, _ in fields)
        return mask, sum(value << first for first, _, value in fields)

    if name == "BC7":
        # Behind the mode lies its partition, or rotation and selector.
        counts = {0: 16, 1: 64, 2: 64, 3: 64, 4: 8, 5: 4, 7: 64}
        for mode in range(9):
            count = counts.get(mode, 1)
            bits = (count - 1).bit_length()
            for n in range(count):
                yield cell((0, min(mode + 1, 8), 1 << mode & 255), (mode + 1, bits, n))
    elif name.startswith("BC6H"):
        for mode in (0, 1, *range(2, 32, 4), *range(3, 32, 4)):
            width = 2 if mode < 2 else 5
            pair = mode & 3 != 3
            for n in range(32 if pair else 1):
                yield cell((0, width, mode), (77, 5 * pair, n))
    else:
        yield 0, 0


def blocks(rng: np.random.Generator, cell: tuple[int, int], count: int) -> np.ndarray:
    """Random blocks of a cell: uint8 of shape (count, 16); some have extreme bytes, or equal ones.

    Formats of 8 bytes have the first half of a block.
    """
    data = rng.integers(0, 256, (count, 16), np.uint8)
    extreme = rng.random(count) < 0.1
    data[extreme] = rng.choice(np.array([0, 255, 128, 127, 129], np.uint8), (extreme.sum(), 16))
    same = rng.random(count) < 0.03  # end points, of colours and of single channels
    data[same, 2:4] = data[same, :2]
    data[same, 10:12] = data[same, 8:10]
    single = rng.random(count) < 0.03
    data[single, 1] = data[single, 0]
    data[single, 9] = data[single, 8]
    mask, value = (np.frombuffer(part.to_bytes(16, "little"), np.uint8) for part in cell)
    return data & ~mask | value


def requests(rng: np.random.Generator, count: int, params: BlockDecodeParams) -> np.ndarray:
    """Packed blocks: half of them of any format, half of any cell.

    A few have a number that may be no format's.
    """
    names = [value.name for value in params.formats]
    all_cells = [(name, cell) for name in names for cell in cells(name)]
    records = np.zeros(count, dtype(TEXTURE_BLOCK))
    chosen = np.where(
        rng.random(count) < 0.5,
        rng.integers(0, len(all_cells), count),
        -1 - rng.integers(0, len(names), count),
    )
    data = np.zeros((count, 16), np.uint8)
    for n in np.unique(chosen):
        name, cell = all_cells[n] if n >= 0 else (names[-1 - n], (0, 0))
        selected = chosen == n
        data[selected] = blocks(rng, cell, selected.sum())
        records["format"][selected] = SUPPORTED.index(name)
    arbitrary = rng.random(count) < 0.01
    records["format"][arbitrary] = rng.integers(0, 16, arbitrary.sum())
    records["srgb"] = rng.random(count) < 0.5
    records["low"], records["high"] = data.view("<u8").T
    return codec.pack(records, TEXTURE_BLOCK)


class BlockDecodeBench(StreamBench):
    """Bench with one stream in, and one out."""

    stem = "block_decode"


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(source=list(PACES), sink=list(PACES))
async def mixed_formats_are_decoded_in_order(dut: HierarchyObject, source: str, sink: str) -> None:
    bench = BlockDecodeBench(dut)
    await bench.run(requests(bench.rng, 60, bench.params), source, sink)


# plan: block-decode-9
@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_beat_a_clock(dut: HierarchyObject) -> None:
    """A beat of texels leaves each clock, whatever the formats."""
    bench = BlockDecodeBench(dut)
    await bench.run(requests(bench.rng, 100, bench.params))
    clocks = [clock for _, clock in bench.beats_out]
    assert clocks == list(range(clocks[0], clocks[0] + 100 * 16 // bench.params.lanes))
