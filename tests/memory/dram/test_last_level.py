# SPDX-License-Identifier: BSD-2-Clause
"""A cache of all clients: what DRAM is asked for, against a list of lines; who helps or harms."""

import numpy as np
import pytest

from fixfunc.models.memory.dram.accesses import ACCESS
from fixfunc.models.memory.dram.configurations import GTX_480, GTX_1080
from fixfunc.models.memory.dram.last_level import GTX_1080_L2, LastLevelCache, hits
from fixfunc.models.memory.dram.service import serve
from fixfunc.spec.errors import InputError


def stream(columns, client=0, write=False):
    found = np.zeros(len(columns), ACCESS)
    found["clock"] = 2 * np.arange(len(columns))
    found["address"] = np.asarray(columns) * 32
    found["client"] = client
    found["write"] = write
    return found


def mixed(rng, count, reach):
    found = stream(rng.integers(0, reach, count))
    found["write"] = rng.random(count) < 0.4
    found["client"] = rng.integers(0, 3, count)
    return found


def naive(cache, accesses):
    """Lines in a list, the newest last; memory that tells who has written what."""
    per_line = cache.line // 32
    lines, out, hit = [], [], []

    def written(line, clock):
        for place in range(per_line):
            if line["dirty"][place] is not None:
                address = (line["number"] * per_line + place) * 32
                out.append((clock, address, True, line["dirty"][place]))

    for clock, address, write, client in accesses.tolist():
        number, place = address // 32 // per_line, address // 32 % per_line
        (line,) = [it for it in lines if it["number"] == number] or [None]
        if line is None:
            own = [it for it in lines if it["number"] % cache.sets == number % cache.sets]
            if len(own) == cache.ways:
                written(own[0], clock)
                lines.remove(own[0])
            line = {"number": number, "there": set(), "dirty": [None] * per_line}
        else:
            lines.remove(line)
        lines.append(line)
        hit.append(write or place in line["there"])
        if not hit[-1]:
            out.append((clock, address, False, client))
        line["there"].add(place)
        if write:
            line["dirty"][place] = client
    return hit, out, lines


@pytest.mark.plan("last-level-1")
@pytest.mark.parametrize(
    ("sets", "ways", "line"), [(1, 1, 32), (1, 4, 64), (4, 2, 128), (8, 1, 64)]
)
def test_what_dram_is_asked_for_is_that_of_a_list(sets, ways, line):
    rng = np.random.default_rng(sets + line)
    cache = LastLevelCache(sets * ways * line, ways, line)
    assert cache.sets == sets
    for reach in (10, 60, 400):
        accesses = mixed(rng, 800, reach)
        found = cache.filter(accesses, flush=False)
        hit, out, _ = naive(cache, accesses)
        assert found.hit.tolist() == hit
        assert found.accesses.tolist() == out


@pytest.mark.plan("last-level-1")
def test_every_byte_that_was_written_comes_to_dram():
    """The last of each column; a column that is read is fetched, unless it was written before."""
    rng = np.random.default_rng(2)
    accesses = mixed(rng, 2000, 300)
    found = LastLevelCache(2048, 2, 64).filter(accesses)
    written = {}
    for _, address, write, client in accesses.tolist():
        if write:
            written[address] = client
    told = {}
    for _, address, write, client in found.accesses.tolist():
        if write:
            told[address] = client
    assert told == written
    assert (found.read, found.written) == tuple(
        32 * int((found.accesses["write"] == it).sum()) for it in (False, True)
    )


@pytest.mark.plan("last-level-2")
def test_clients_share_what_one_has_read_and_displace_each_other():
    """Whoever reads the same hits; one that streams takes the other's lines away."""
    cache = LastLevelCache(4096, 4, 64)
    twice = np.tile(np.arange(96), 2)
    alone = stream(twice, 1)
    assert hits(cache.filter(alone), alone) == {1: 0.5}
    first, second = stream(np.arange(96), 1), stream(np.arange(96), 2)
    second["clock"] += 1000
    both = np.concatenate([first, second])
    assert hits(cache.filter(both), both) == {1: 0, 2: 1}
    beside = np.zeros(2 * len(twice), ACCESS)
    beside[::2] = alone
    beside[1::2] = stream(1000 + np.arange(len(twice)), 2)
    found = hits(cache.filter(beside), beside)
    assert found[1] < 0.2
    assert found[2] == 0


@pytest.mark.plan("last-level-2")
def test_dram_behind_it_is_asked_less():
    """A texture that is read by each of four clients: a quarter of the transfers, fewer clocks."""
    texture = np.arange(2048)
    accesses = np.concatenate([stream(texture, client) for client in range(4)])
    accesses = np.sort(accesses, order="clock", kind="stable")
    found = GTX_1080_L2.filter(accesses)
    assert found.read == 32 * 2048
    for dram in (GTX_480, GTX_1080):
        assert serve(dram, found.accesses).clocks < serve(dram, accesses).clocks


@pytest.mark.plan("last-level-3")
def test_the_cache_of_the_document():
    """Eight parts of 256 KB beside eight controllers: 2 MB [rtr 23.10.2]."""
    assert GTX_1080_L2.size == 8 * 256 * 1024 == 2 << 20
    assert GTX_1080.map.count("channel") == 8
    fits, beyond = (np.tile(np.arange(count), 2) for count in (65536, 65536 + 4096))
    assert hits(GTX_1080_L2.filter(stream(fits)), stream(fits)) == {0: 0.5}
    assert hits(GTX_1080_L2.filter(stream(beyond)), stream(beyond))[0] < 0.5


@pytest.mark.plan("last-level-3")
@pytest.mark.parametrize(
    ("shape", "said"),
    [
        ((1000, 1, 64), "size must make a power of two of sets of lines, not 1000"),
        ((64 * 3, 1, 64), "size must make a power of two of sets of lines, not 192"),
        ((64, 2, 64), "size must lie in 128.."),
        ((1024, 0, 64), "ways must lie in 1.."),
        ((1024, 1, 16), "line must lie in 32.."),
        ((1024, 1, 96), "line must be a power of two, not 96"),
    ],
)
def test_caches_that_are_none(shape, said):
    with pytest.raises(InputError, match=said):
        LastLevelCache(*shape)
    with pytest.raises(InputError):
        LastLevelCache(1024, 1, 64).filter(np.zeros(3))
