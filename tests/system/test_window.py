# SPDX-License-Identifier: BSD-2-Clause
"""A machine's window of virtual memory: bytes are those of one flat memory."""

import numpy as np
import pytest

from fixfunc.models.machine.memory.accesses import Access, Client
from fixfunc.models.system.card.card import Card
from fixfunc.models.system.card.window import UNKNOWN, Window
from fixfunc.models.system.mmu import Mmu
from fixfunc.models.system.page_table import SMALL, Aperture, PageTable

PAGES = 16
TABLES = 8


@pytest.mark.plan("card-4")
@pytest.mark.parametrize("seed", range(4))
def test_bytes_are_those_of_one_flat_memory(seed):
    """Pages are read, then written, or both at once; a fence brings back what was written."""
    rng = np.random.default_rng(seed)
    memories = {
        aperture: rng.integers(0, 256, (TABLES + PAGES) * SMALL, dtype=np.uint8)
        for aperture in (Aperture.LOCAL, Aperture.SYSTEM)
    }
    memories[Aperture.LOCAL][: TABLES * SMALL] = 0
    table = PageTable(memories[Aperture.LOCAL], 0, TABLES)
    places = []
    for page, place in enumerate(TABLES + rng.permutation(PAGES)):
        aperture = (Aperture.LOCAL, Aperture.SYSTEM)[page % 2]
        table.map(page * SMALL, int(place) * SMALL, SMALL, aperture)
        places.append(memories[aperture][place * SMALL : (place + 1) * SMALL])
    flat = np.concatenate(places)
    window = Window(PAGES * SMALL, memories, Mmu(memories[Aperture.LOCAL], table.root))
    for _ in range(20):
        for _ in range(10):
            begin = int(rng.integers(PAGES * SMALL - 1))
            size = int(min(rng.integers(1, 3 * SMALL), PAGES * SMALL - begin))
            write = bool(rng.integers(2))
            window.touch(Access(Client.DMA, begin, size, write))
            own = slice(begin, begin + size)
            assert (window.data[own] == flat[own]).all()
            if write:
                window.data[own] = flat[own] = rng.integers(0, 256, size, dtype=np.uint8)
        window.write_back()
        assert (np.concatenate(places) == flat).all()
        window.forget()
        assert (window.data == UNKNOWN).all()


@pytest.mark.plan("card-5")
def test_pages_that_are_given_back_have_no_translation():
    """Of the TLB, too: the card looks for the page of an address anew."""
    card = Card()
    process = card.process("a")
    (page,) = card.take_pages(1)
    address = process.space - SMALL
    access = Access(Client.DMA, address, 1, False)
    card.memories[Aperture.LOCAL][page : page + SMALL] = 7
    card._mmu.switch(process.table.root)
    process.table.map(address, page, SMALL)
    card.window.touch(access)
    assert card.window.data[address] == 7
    process.table.unmap(address, SMALL)
    card.give_pages([page])
    card.window.forget()
    end = len(card.memories[Aperture.SYSTEM])
    process.table.map(address, end - SMALL, SMALL, Aperture.SYSTEM)
    card.window.touch(access)
    assert card.window.data[address] == 0
