# SPDX-License-Identifier: BSD-2-Clause
"""Pages on demand: bytes are those of one flat memory, and moves those of a list of pages."""

import numpy as np
import pytest

from fixfunc.models.system.bus import Bus
from fixfunc.models.system.demand_paging import DemandPaging, Moved
from fixfunc.models.system.mmu import REQUEST, FaultReason, Mmu, PageFault
from fixfunc.models.system.page_table import SMALL, Aperture, PageTable
from fixfunc.spec.errors import InputError

PAGES = 24
HOME = 3 * SMALL
TABLES = 8
BUS = Bus(1, 8 * 10**9, 1, 1, 100)  # a byte a nanosecond


def paging(frames, entries=4, seed=1):
    rng = np.random.default_rng(seed)
    local = np.zeros((TABLES + 40) * SMALL, np.uint8)
    system = rng.integers(0, 256, HOME + PAGES * SMALL, dtype=np.uint8)
    memories = {Aperture.LOCAL: local, Aperture.SYSTEM: system}
    table = PageTable(local, 0, TABLES)
    places = [(TABLES + int(it)) * SMALL for it in rng.permutation(40)[:frames]]
    mmu = Mmu(local, table.root, entries)
    return memories, DemandPaging(memories, table, mmu, HOME, PAGES * SMALL, places, BUS)


def requests(*accesses):
    found = np.zeros(len(accesses), REQUEST)
    for row, (address, write) in zip(found, accesses, strict=True):
        row["address"], row["write"], row["client"] = address, write, 5
    return found


@pytest.mark.plan("demand-paging-1")
@pytest.mark.parametrize("frames", [1, 3, 8, PAGES])
def test_bytes_are_those_of_one_flat_memory(frames):
    """Whatever is brought and taken away, a read finds what was written last."""
    rng = np.random.default_rng(frames)
    memories, demand = paging(frames)
    flat = memories[Aperture.SYSTEM][HOME:].copy()
    local = memories[Aperture.LOCAL]
    for _ in range(400):
        address, write = int(rng.integers(PAGES * SMALL)), bool(rng.integers(2))
        (found,) = demand.translate(requests((address, write)))
        assert found["aperture"] == Aperture.LOCAL
        assert local[found["address"]] == flat[address]
        if write:
            local[found["address"]] = flat[address] = rng.integers(256)
    demand.flush()
    assert (memories[Aperture.SYSTEM][HOME:] == flat).all()
    assert not demand.resident


@pytest.mark.plan("demand-paging-2")
@pytest.mark.parametrize("frames", [1, 2, 5])
def test_the_least_recently_used_page_goes(frames):
    """Moves are those of a list of pages, in several requests at a time."""
    rng = np.random.default_rng(frames)
    _, demand = paging(frames)
    pages, dirty, expected = [], set(), Moved()
    for _ in range(60):
        accesses = [
            (int(rng.integers(8)) * SMALL + int(rng.integers(SMALL)), bool(rng.random() < 0.3))
            for _ in range(rng.integers(0, 6))
        ]
        for address, write in accesses:
            page = address // SMALL
            if page in pages:
                pages.remove(page)
            else:
                expected.brought += 1
                if len(pages) == frames:
                    out = pages.pop(0)
                    expected.written_back += out in dirty
                    expected.dropped += out not in dirty
                    dirty.discard(out)
            pages.append(page)
            dirty |= {page} if write else set()
        demand.translate(requests(*accesses))
        assert demand.resident == pages
    expected.time = (SMALL + 100) * (expected.brought + expected.written_back)
    assert demand.moved == expected
    assert expected.written_back > 5 < expected.dropped


@pytest.mark.plan("demand-paging-3")
def test_what_does_not_fit_is_moved_again_and_again():
    """A walk over more pages than there are frames finds none of them; one that fits, all."""
    for frames, misses in ((8, 8), (7, 40)):
        _, demand = paging(frames)
        for _ in range(5):
            demand.translate(requests(*((page * SMALL, False) for page in range(8))))
        assert demand.moved.brought == misses


@pytest.mark.plan("demand-paging-3")
def test_what_is_refused():
    _, demand = paging(2)
    beyond = PAGES * SMALL
    with pytest.raises(PageFault) as fault:
        demand.translate(requests((5, True), (beyond, False)))
    assert (fault.value.address, fault.value.client) == (beyond, 5)
    assert demand.resident == [0]
    with pytest.raises(PageFault) as fault:
        demand.translate(requests((1 << 40, False)))
    assert fault.value.reason == FaultReason.BEYOND
    memories, _ = paging(2)
    table = PageTable(memories[Aperture.LOCAL], 0, TABLES)
    mmu = Mmu(memories[Aperture.LOCAL], 0)
    for arguments, said in (
        ((1, SMALL, [0]), "home must be a multiple of 4096, not 1"),
        ((0, 1 << 30, [0]), "home and size must lie in"),
        ((0, SMALL, [SMALL, SMALL]), "frames must lie in 2.."),
        ((0, SMALL, []), "frames must lie in 1.."),
        ((0, SMALL, [1 << 30]), "last frame must lie in"),
    ):
        with pytest.raises(InputError, match=said):
            DemandPaging(memories, table, mmu, *arguments)
