# SPDX-License-Identifier: BSD-2-Clause
"""Translations against a dictionary of pages; walks, the TLB, faults."""

import numpy as np
import pytest

from fixfunc.models.system.mmu import REQUEST, FaultReason, Mmu, PageFault
from fixfunc.models.system.page_table import LARGE, SMALL, Aperture, PageTable
from fixfunc.spec.errors import InputError

ROOT = 0x3000


def memory():
    return np.full(1 << 20, 0xA5, np.uint8)


def requests(addresses, write=False, client=0):
    found = np.zeros(len(addresses), REQUEST)
    found["address"] = addresses
    found["write"] = write
    found["client"] = client
    return found


class NaivePages:
    """Pages of 4 KB in a dictionary, and a TLB as a list, the newest use last."""

    def __init__(self, entries):
        self.pages = {}
        self.entries = entries
        self.tlb = []

    def map(self, virtual, physical, size, aperture, writable, page):
        for offset in range(0, size, 4096):
            found = (physical + offset, aperture, writable, page)
            self.pages[(virtual + offset) // 4096] = found

    def translate(self, virtual, write):
        """Physical address, memory, hit; or why there is none."""
        if virtual >= 1 << 39:
            return "BEYOND"
        found = self.pages.get(virtual // 4096)
        if not found:
            return "UNMAPPED"
        physical, aperture, writable, page = found
        key = page, virtual // page
        hit = key in self.tlb
        if hit:
            self.tlb.remove(key)
        self.tlb = [*self.tlb, key][-self.entries :]
        if write and not writable:
            return "READ_ONLY"
        return physical + virtual % 4096, aperture, hit


@pytest.mark.plan("mmu-1")
@pytest.mark.parametrize("entries", [1, 3, 8])
def test_translations_are_those_of_a_dictionary(entries):
    """Pages of both sizes, everywhere in 39 bits; requests near their ends, one fault in ten."""
    rng = np.random.default_rng(entries)
    local = memory()
    table = PageTable(local, ROOT, 60)
    naive = NaivePages(entries)
    starts = [
        0,
        (1 << 39) - LARGE,
        1 << 21,
        (1 << 30) - LARGE,
        1 << 30,
        *(rng.permutation(98)[:8] + 1),
    ]
    for start in starts:
        page = int(rng.choice([SMALL, LARGE]))
        virtual = int(start) * (1 if start == 0 or start >= 1 << 21 else LARGE * 977)
        size = int(rng.integers(1, 17)) * page if page == SMALL else LARGE
        physical = int(rng.integers(0, 1 << 20)) * LARGE
        aperture = Aperture(int(rng.integers(2)))
        writable = bool(rng.random() < 0.7)
        table.map(virtual, physical, size, aperture, writable, page)
        naive.map(virtual, physical, size, aperture, writable, page)
    mmu = Mmu(local, ROOT, entries)
    pages = np.array(sorted(naive.pages))
    for _ in range(3000):
        page = rng.choice(pages[-40:]) if rng.random() < 0.7 else rng.choice(pages)
        address = int(page) * 4096 + int(rng.choice([0, 4095, rng.integers(4096)]))
        if rng.random() < 0.1:
            address = [address + LARGE * 40, 1 << 39, (1 << 64) - 1][rng.integers(3)]
        write = bool(rng.random() < 0.3)
        expected = naive.translate(address, write)
        row = requests([address], write, 7)
        if isinstance(expected, str):
            with pytest.raises(PageFault) as fault:
                mmu.translate(row)
            assert fault.value.reason.name == expected
            assert (fault.value.address, fault.value.client) == (address, 7)
            assert fault.value.write == write
        else:
            physical, aperture, hit = expected
            walk = 0 if hit else 3
            assert mmu.translate(row).tolist() == [(physical, aperture, hit, walk)]


@pytest.mark.plan("mmu-2")
def test_a_fault_names_address_client_and_level():
    """The level of what is missing: nothing of the root's entry, of a table's, or of the page's."""
    local = memory()
    PageTable(local, ROOT, 8).map(0, 0, SMALL, writable=False)
    mmu = Mmu(local, ROOT)
    for address, level in ((1 << 30, 0), (1 << 21, 1), (SMALL, 2)):
        row = requests([0, address], client=3)
        with pytest.raises(PageFault) as fault:
            mmu.translate(row)
        found = fault.value
        assert (found.reason, found.level, found.number) == (FaultReason.UNMAPPED, level, 1)
        assert str(found) == f"read of {address:#x} by client 3 is not mapped"
    with pytest.raises(PageFault, match="write of 0x5 by client 9 may not be written"):
        mmu.translate(requests([5], True, 9))
    with pytest.raises(PageFault, match="read of 0x8000000000 by client 0 lies beyond the address"):
        mmu.translate(requests([1 << 39]))


@pytest.mark.plan("mmu-3")
def test_large_pages_need_fewer_entries():
    """A megabyte, a line of 64 bytes at a time: 256 walks or 16, and twice if the TLB is small."""
    lines = requests(np.tile(np.arange(0, 1 << 20, 64), 2))
    for page, walks in ((SMALL, 256), (LARGE, 16)):
        local = memory()
        PageTable(local, ROOT, 8).map(0, 0, 1 << 20, page=page)
        found = Mmu(local, ROOT, entries=256).translate(lines)
        assert (found["walk"] > 0).sum() == walks
        assert found["walk"].sum() == 3 * walks
        again = Mmu(local, ROOT, entries=15).translate(lines)
        assert (again["walk"] > 0).sum() == 2 * walks
        assert (found["address"] == lines["address"]).all()


@pytest.mark.plan("mmu-3")
def test_a_tlb_keeps_what_has_changed_until_it_is_told():
    """Data move to system memory, and the virtual address stays: what an MMU is for [trip 2]."""
    local = memory()
    table = PageTable(local, ROOT, 8)
    table.map(0x10000, 0x20000, SMALL)
    mmu = Mmu(local, ROOT)
    row = requests([0x10010])
    assert mmu.translate(row).tolist() == [(0x20010, Aperture.LOCAL, False, 3)]
    table.unmap(0x10000, SMALL)
    table.map(0x10000, 0x70000, SMALL, Aperture.SYSTEM)
    assert mmu.translate(row).tolist() == [(0x20010, Aperture.LOCAL, True, 0)]
    mmu.invalidate()
    assert mmu.translate(row).tolist() == [(0x70010, Aperture.SYSTEM, False, 3)]


@pytest.mark.plan("mmu-2")
def test_a_refused_map_leaves_all_as_it_was():
    local = memory()
    table = PageTable(local, ROOT, 3)
    table.map(LARGE, 0, LARGE, page=LARGE)
    before = local.copy()
    with pytest.raises(InputError, match=f"virtual must not be mapped yet, not {LARGE}"):
        table.map(LARGE - SMALL, 0, 2 * SMALL)
    assert (local == before).all()
    assert (local[ROOT + 3 * SMALL :] == 0xA5).all()
    with pytest.raises(InputError, match="tables must leave room for another one"):
        table.map(1 << 30, 0, SMALL)


@pytest.mark.plan("mmu-2")
@pytest.mark.parametrize(
    "arguments, said",
    [
        ((1, 0, SMALL), "virtual must be a multiple of 4096, not 1"),
        ((0, SMALL, LARGE, Aperture.LOCAL, True, LARGE), "physical must be a multiple of 65536"),
        ((0, 0, SMALL, Aperture.LOCAL, True, 8192), "page must be 4096 or 65536 bytes, not 8192"),
        (((1 << 39) - SMALL, 0, 2 * SMALL), "virtual must end within 39 bits"),
        ((0, 1 << 48, SMALL), f"physical must end below {1 << 48}"),
    ],
)
def test_maps_that_are_none(arguments, said):
    with pytest.raises(InputError, match=said):
        PageTable(memory(), ROOT, 8).map(*arguments)


@pytest.mark.plan("mmu-2")
def test_what_is_not_mapped_is_not_unmapped():
    table = PageTable(memory(), ROOT, 8)
    table.map(0, 0, LARGE, page=LARGE)
    with pytest.raises(InputError, match="virtual and size must be of pages of 65536 bytes"):
        table.unmap(0, SMALL)
    with pytest.raises(InputError, match=f"virtual must be mapped, not {LARGE}"):
        table.unmap(LARGE, SMALL)
    with pytest.raises(InputError, match="tables must end within 1048576 bytes"):
        PageTable(memory(), ROOT, 1 << 10)
    with pytest.raises(InputError, match="requests must be a row of REQUEST, not float64"):
        Mmu(memory(), ROOT).translate(np.zeros(2))
