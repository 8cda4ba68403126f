# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fixfunc.models.texture.cache.tag_array import TagArray
from fixfunc.models.texture.cache.texture_cache import (
    CacheShape,
    MortonPlaces,
    TextureCache,
    address,
    morton,
)
from fixfunc.models.texture.sampler import Sampler, Taps, sample
from fixfunc.models.texture.texture import of_picture
from fixfunc.spec.errors import InputError
from tests.textures import noise


def read(texture, xy, shape=None):
    """Counters of samples that read one texel each, of level 0."""
    taps = Taps()
    xy = np.array(xy)
    taps.add(
        sample=np.arange(len(xy)), level=0 * xy[:, 0], image=0 * xy[:, 0], x=xy[:, 0], y=xy[:, 1]
    )
    return TextureCache(shape).read(MortonPlaces(texture), len(xy), taps)


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


@pytest.mark.plan("texture-cache-1")
@given(st.integers(0, 1 << 32), st.sampled_from([1, 2, 4, 16]), st.sampled_from([1, 4]))
def test_tags_against_lists_call_after_call(seed, ways, sets):
    """What is held outlasts a call, of any length."""
    rng = np.random.default_rng(seed)
    tags = TagArray(sets, ways)
    lists = [[] for _ in range(sets)]
    for count in rng.integers(0, 60, 5):
        key = rng.integers(0, rng.integers(1, 3 * ways * sets + 2), count)
        missed = []
        for k in key.tolist():
            held = lists[k % sets]
            missed.append(k not in held)
            held[:] = [*[other for other in held if other != k], k][-ways:]
        assert tags.look_up(key % sets, key).tolist() == missed


@pytest.mark.plan("texture-cache-1")
def test_a_block_of_several_lines_is_there_if_all_of_them_are():
    """Texels of 16 bytes: four lines a block, in sets of their own or in one."""
    texture = noise(16, 4, levels=1, format="R32G32B32A32_FLOAT")
    for ways, sets in ((4, 1), (1, 4)):
        shape = CacheShape(bytes=64 * ways * sets, ways=ways)
        counters = read(texture, [(0, 0), (4, 0), (5, 0), (0, 0)], shape)
        assert (counters.lookups, counters.blocks, counters.lines) == (3, 3, 8)


@pytest.mark.plan("texture-cache-2")
def test_textures_share_a_cache():
    """A block is that of its texture and its view: of the second none is there yet."""
    cache = TextureCache()
    taps = Taps()
    zero = np.zeros(1, np.int64)
    taps.add(sample=zero, level=zero, image=zero, x=zero, y=zero)
    first, second = (MortonPlaces(noise(4, 4, levels=1)) for _ in range(2))
    second.key = "another"
    for places, blocks in ((first, 1), (second, 2), (first, 2), (second, 2)):
        assert cache.read(places, 1, taps).blocks == blocks
    cache.invalidate()
    assert cache.read(first, 1, taps).blocks == 3


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
        cache = TextureCache(CacheShape(bytes=1024 * kilobytes))
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
            cache.read(MortonPlaces(texture), 1024, taps)
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


@pytest.mark.plan("texture-cache-6")
def test_the_second_level_against_a_list():
    """Lines of four blocks of 16 bytes, in sets, the least recently used one goes."""
    shape = CacheShape(bytes=256, ways=1, second=64 * 8, second_ways=2)
    texture = noise(128, 128, levels=1, format="BC7")
    rng = np.random.default_rng(0)
    xy = rng.integers(0, 48, (3000, 2))
    counters = read(texture, xy, shape)
    first = {}
    second = [[] for _ in range(4)]
    lines = 0
    for x, y in xy:
        number = int(morton(x // 4, y // 4))
        if first.get(number % 4) == number:
            continue
        first[number % 4] = number
        line = number // 4
        ways = second[line % 4]
        if line in ways:
            ways.remove(line)
        else:
            lines += 1
            if len(ways) == 2:
                ways.pop(0)
        ways.append(line)
    assert counters.lines == lines
    assert 100 < lines < counters.blocks


@pytest.mark.plan("texture-cache-6")
def test_latency_is_hidden_by_a_fifo_that_is_as_deep():
    """Blocks that are all missed: one a clock if as many wait as a line takes clocks."""
    xy = np.stack([np.arange(0, 4096, 4), np.zeros(1024, int)], 1)
    texture = noise(4096, 4, levels=1)
    for pending, stalls in ((256, 200), (128, None), (1, 1024 * 200)):
        counters = read(texture, xy, CacheShape(latency=200, pending=pending))
        assert counters.lookups == counters.lines == 1024 and counters.merges == 0
        if stalls is None:
            assert 200 < counters.stalls < 1024 * 200 / 100
            continue
        assert counters.stalls == stalls
    assert counters.hidden == 0
    assert read(texture, xy, CacheShape(latency=0)).stalls == 0


@pytest.mark.plan("texture-cache-6")
def test_misses_of_a_line_that_is_on_its_way_are_merged():
    """Four blocks of a line are requested once, and all arrive with it."""
    texture = noise(16, 16, levels=1, format="BC7")
    xy = [(0, 0), (4, 0), (0, 4), (4, 4)]
    counters = read(texture, xy, CacheShape(latency=50))
    assert (counters.lines, counters.merges, counters.blocks) == (1, 3, 4)
    assert counters.clocks == 1 + 50 + 3
    assert counters.waits == 50 + 49 + 48 + 47
    # In the clock in which it arrives, and long after, there is nothing to merge.
    beside = [(0, 0), (8, 0), (0, 8), (4, 0)]
    assert read(texture, beside, CacheShape(latency=3)).merges == 0
    assert read(texture, beside, CacheShape(latency=4)).merges == 1
    later = [(0, 0)] + [(0, 0), (8, 8)] * 40 + [(4, 0)]
    assert read(texture, later, CacheShape(latency=50, pending=1)).merges == 0


@pytest.mark.plan("texture-cache-5")
def test_wrong_arguments():
    with pytest.raises(InputError, match="ways must be an integer, not 4.0"):
        CacheShape(ways=4.0)
    with pytest.raises(InputError, match="bytes must be a power of two, not 3000"):
        CacheShape(bytes=3000)
    with pytest.raises(InputError, match="second must hold 16 lines of 64, not 512"):
        CacheShape(second=512)
    with pytest.raises(InputError, match="latency must be 0 clocks or more, not -1"):
        CacheShape(latency=-1)
    with pytest.raises(InputError, match="bytes must hold 4 lines of 64, not 128"):
        CacheShape(bytes=128)
    with pytest.raises(InputError, match="layout must be linear or morton, not tiled"):
        address(4, 0, 0, 4, "tiled")
