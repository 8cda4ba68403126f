# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.texture.sampler import Sampler, Taps, sample
from fixfunc.models.texture.texture import of_picture
from fixfunc.models.texture.texture_cache import CacheShape, TextureCache, address, morton
from fixfunc.spec.errors import InputError
from tests.textures import noise


def read(texture, xy, shape=None):
    """Counters of samples that read one texel each, of level 0."""
    taps = Taps()
    xy = np.array(xy)
    taps.add(
        sample=np.arange(len(xy)), level=0 * xy[:, 0], image=0 * xy[:, 0], x=xy[:, 0], y=xy[:, 1]
    )
    return TextureCache(texture, shape).read(len(xy), taps)


@pytest.mark.plan("texture-cache-1")
@given(
    st.lists(st.tuples(st.integers(0, 63), st.integers(0, 63)), min_size=1, max_size=200),
    st.sampled_from([1, 2, 4]),
)
def test_against_a_list(xy, ways):
    """The cache agrees with sets as lists, oldest line first."""
    shape = CacheShape(bytes=8 * ways * 64, ways=ways)
    counters = read(noise(64, 64, levels=1), xy, shape)
    sets = [[] for _ in range(8)]
    blocks = 0
    for x, y in xy:
        number = sum(
            ((v // 4 >> b) & 1) << 2 * b + axis for axis, v in enumerate((x, y)) for b in range(4)
        )
        line = sets[number % 8]
        if number in line:
            line.remove(number)
        else:
            blocks += 1
            if len(line) == ways:
                line.pop(0)
        line.append(number)
    assert (counters.samples, counters.taps, counters.blocks) == (len(xy), len(xy), blocks)


@pytest.mark.plan("texture-cache-2")
def test_every_block_once_if_all_fit():
    y, x = (v.ravel() for v in np.indices((32, 32)))
    for format, lines in (("RGBA8", 64), ("BC1", 8), ("BC7", 16)):
        counters = read(
            noise(32, 32, format=format, levels=1), np.stack([x, y], 1), CacheShape(bytes=16384)
        )
        assert (
            counters.blocks,
            counters.lines,
            counters.misses_per_sample,
            counters.blocks_per_sample,
        ) == (
            64,
            lines,
            1,
            1 / 16,
        )


@pytest.mark.plan("texture-cache-3")
def test_one_texel_a_pixel():
    """Bilinear samples in rows of 8x8 tiles decode about 1.25 texels each.

    A larger cache changes little.
    """
    texture = of_picture(np.zeros((256, 256, 4), np.uint8), mips=False)
    row = np.arange(4096)
    tile = row // 64
    inside = row % 64
    misses = []
    for kilobytes in (4, 8, 16):
        cache = TextureCache(texture, CacheShape(bytes=1024 * kilobytes))
        for top in range(0, 128, 8):
            x = tile % 16 * 8 + inside % 8
            y = top + inside // 8
            taps = Taps()
            sample(
                texture,
                Sampler(),
                np.float32(np.stack([x + 1, y + 1], 1) / 256)[:1024],
                lod=0,
                taps=taps,
            )
            cache.read(1024, taps)
        misses.append(cache.counters.misses_per_sample)
    assert 1 < misses[2] <= misses[1] <= misses[0] < 1.6


@pytest.mark.plan("texture-cache-4")
@given(st.integers(0, (1 << 32) - 1), st.integers(0, (1 << 32) - 1))
def test_morton(x, y):
    assert int(morton(x, y)) == sum(
        (x >> b & 1) << 2 * b | (y >> b & 1) << 2 * b + 1 for b in range(32)
    )


@pytest.mark.plan("texture-cache-4")
def test_addresses():
    assert address(100, [3, 5], [0, 2], 4).tolist() == [12, 820]
    assert address(8, [3, 5], [0, 2], 4, "morton").tolist() == [20, 4 * 0b11001]


@pytest.mark.plan("texture-cache-5")
def test_wrong_arguments():
    with pytest.raises(InputError, match="bytes must be a power of two, not 3000"):
        CacheShape(bytes=3000)
    with pytest.raises(InputError, match="bytes must hold at least 4 blocks of 64 bytes, not 128"):
        TextureCache(noise(4, 4), CacheShape(bytes=128))
    with pytest.raises(InputError, match="layout must be linear or morton, not tiled"):
        address(4, 0, 0, 4, "tiled")
