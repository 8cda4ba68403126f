# SPDX-License-Identifier: BSD-2-Clause
"""Memory of a tile on chip: bytes of the document, and of fragments one by one."""

import numpy as np
import pytest

from fixfunc.models.architecture.frame_bandwidth import FrameRate
from fixfunc.models.architecture.hidden_fragments import shading
from fixfunc.models.architecture.tiled.tile_memory import TileMemory
from fixfunc.spec.errors import InputError


@pytest.mark.plan("tile-memory-1")
def test_four_samples_leave_one_colour_a_pixel():
    """Four times the memory on chip, or tiles of half the side; in memory as much as before."""
    one, four = TileMemory(), TileMemory(samples=4)
    assert one.edge == 16
    assert four.bytes == 4 * one.bytes == 4 * 16 * 16 * 8
    assert TileMemory(edge=8, samples=4).bytes == one.bytes
    assert four.left(1920, 1080) == one.left(1920, 1080) == 1920 * 1080 * 4
    assert four.left(10, 10, keeps_depth=True) == 100 * (4 + 16)


@pytest.mark.plan("tile-memory-1")
def test_data_between_passes_stay_on_chip():
    """A G-buffer of 16 bytes, written by the first of three passes and read by two."""
    memory = TileMemory(local=16)
    assert memory.passes(1920, 1080, 3) == (0, 3 * 16 * 1920 * 1080)
    assert memory.bytes == 16 * 16 * (8 + 16)
    with pytest.raises(InputError, match="local must lie in 1.."):
        TileMemory().passes(8, 8, 2)


@pytest.mark.plan("tile-memory-2")
def test_fragments_move_in_memory_what_each_asks_for():
    """One by one, through a depth buffer in memory; as the table of bandwidths has it, too."""
    rng = np.random.default_rng(1)
    pixels, depths = rng.integers(0, 64, 500), rng.integers(0, 1000, 500)
    opaque = rng.random(500) < 0.7
    nearest, moved = {}, 0
    for pixel, depth, hides in zip(pixels.tolist(), depths.tolist(), opaque.tolist(), strict=True):
        moved += 4
        if depth < nearest.get(pixel, 1 << 32):
            moved += 4 + 4 + (0 if hides else 4)
            if hides:
                nearest[pixel] = depth
    passed = shading(pixels, depths, opaque).passed
    counts = 500, int(passed.sum()), int((passed & ~opaque).sum())
    assert TileMemory().in_memory(*counts) == moved
    rate = FrameRate()
    samples = rate.samples_a_second
    bits = rate.depth_read() + rate.depth_written() + rate.colour_written()
    found = TileMemory().in_memory(4 * samples, round(samples * rate.overdraw))
    assert 8 * found == pytest.approx(float(bits), rel=1e-6)
    assert found > 8 * TileMemory().left(1920, 1080) * 60


@pytest.mark.plan("tile-memory-2")
def test_what_is_refused():
    with pytest.raises(InputError, match="samples must be blended of passed of tested ones"):
        TileMemory().in_memory(1, 2)
    with pytest.raises(InputError, match=r"samples must lie in 1\.\.16, not 32"):
        TileMemory(samples=32)
    with pytest.raises(InputError, match="width must lie in 1.."):
        TileMemory().left(0, 1)
