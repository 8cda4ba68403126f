# SPDX-License-Identifier: BSD-2-Clause
"""Places of addresses, and row hits of textures in Morton and in linear order."""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.memory.dram.accesses import of_bursts
from fixfunc.models.memory.dram.address_map import PLACE, AddressMap
from fixfunc.models.texture.cache.texture_cache import address
from fixfunc.spec.errors import InputError
from tests.memory.dram import naive

MAPS = [
    AddressMap.by_row(1, 1, 32),
    AddressMap.by_row(4, 16, 2048),
    AddressMap.by_tile(8, 16, 2048, 256),
    AddressMap.by_tile(2, 4, 1024, 32),
    AddressMap((("bank", 1), ("column", 2), ("channel", 2), ("bank", 2), ("column", 1))),
]


@pytest.mark.plan("dram-4")
@pytest.mark.parametrize("places", MAPS)
def test_a_place_is_bits_of_its_address(places):
    rng = np.random.default_rng(2)
    addresses = rng.integers(0, 1 << 40, 500, dtype=np.uint64)
    found = places.places(addresses)
    for one, own in zip(addresses.tolist(), found.tolist(), strict=True):
        assert own == naive.place(places.bits, one)
    assert (places.addresses(found) == addresses // 32 * 32).all()


@pytest.mark.plan("dram-4")
@pytest.mark.parametrize("places", MAPS)
def test_no_two_columns_share_a_place(places):
    found = places.places(np.arange(1 << 14, dtype=np.uint64) * 32)
    assert len(np.unique(found)) == len(found)
    for name in ("channel", "bank", "column"):
        assert found[name].max() == places.count(name) - 1


@pytest.mark.plan("dram-4")
def test_rows_and_tiles_follow_each_other():
    """By row a channel has 2048 bytes in a row; by tile 256, and eight tiles share its row."""
    addresses = np.arange(0, 1 << 15, 256, dtype=np.uint64)
    by_row = AddressMap.by_row(4, 16, 2048).places(addresses)
    assert by_row["channel"][:40].tolist() == [n // 8 % 4 for n in range(40)]
    assert by_row["bank"].tolist() == [n // 32 for n in range(128)]
    by_tile = AddressMap.by_tile(4, 16, 2048, 256).places(addresses)
    assert by_tile["channel"].tolist() == [n % 4 for n in range(128)]
    assert by_tile["column"].tolist() == [n // 4 % 8 * 8 for n in range(128)]
    assert not by_tile["row"].any()


def share(places, layout, x, y):
    """Row hits of texels of four bytes, 1024 a row; texels of one column are one access."""
    texels = address(1024, x, y, 4, layout)
    columns = texels // np.uint64(32)
    fresh = np.concatenate([[True], columns[1:] != columns[:-1]])
    hits = places.row_hits(texels[fresh])
    return Fraction(int(hits.sum()), len(hits))


@pytest.mark.plan("dram-5")
def test_row_hits_of_morton_and_of_linear_order():
    """A row of 2 KB is 512 texels of a line, or 32 by 16 of a texture in Morton order.

    Columns, 32 bytes, are 8 texels of a line, or 4 by 2. A row that is left is not met again until
    its bank has had another one.
    """
    places = AddressMap.by_row(1, 16, 2048)
    y, x = (it.reshape(-1) for it in np.mgrid[:1024, :1024])
    assert share(places, "linear", x[:1024], y[:1024]) == Fraction(63, 64)
    assert share(places, "morton", x[:1024], y[:1024]) == Fraction(7, 8)
    assert share(places, "linear", y[:1024], x[:1024]) == 0  # a column of texels
    assert share(places, "morton", y[:1024], x[:1024]) == Fraction(7, 8)
    # Lines of 45 degrees leave a row's 32 by 16 texels behind 16 of them, 8 columns.
    assert share(places, "linear", x[:1024], x[:1024]) == 0
    assert share(places, "morton", x[:1024], x[:1024]) == Fraction(7, 8)


@pytest.mark.plan("dram-5")
def test_row_hits_are_those_of_a_bank_by_bank_walk():
    rng = np.random.default_rng(4)
    for places in MAPS:
        addresses = rng.integers(0, 1 << 13, 400, dtype=np.uint64)
        opened = {}
        expected = []
        for one in addresses.tolist():
            channel, bank, row, _ = naive.place(places.bits, one)
            expected.append(opened.get((channel, bank)) == row)
            opened[channel, bank] = row
        assert places.row_hits(addresses).tolist() == expected


@pytest.mark.plan("dram-4")
@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: AddressMap((("line", 1),)), "bits must be of column, channel or bank, not line"),
        (lambda: AddressMap((("bank", 17),)), "bits of bank must lie in 0..16, not 17"),
        (lambda: AddressMap.by_row(3, 16, 2048), "channels must be a power of two, not 3"),
        (lambda: AddressMap.by_row(4, 16, 16), "row must hold a column of 32 bytes, not 16"),
        (lambda: AddressMap.by_tile(4, 16, 64, 128), "tile must lie in 32..64 bytes, not 128"),
        (lambda: AddressMap.by_tile(4, 16, 64, 16), "tile must lie in 32..64 bytes, not 16"),
    ],
)
def test_maps_that_are_none(make, said):
    with pytest.raises(InputError, match=said):
        make()


@pytest.mark.plan("dram-6")
def test_bursts_are_an_access_a_transfer():
    rng = np.random.default_rng(6)
    columns = [rng.integers(0, high, 200) for high in (50, 1 << 20, 9, 2, 4)]
    clock, address_, transfers, write, client = columns
    found = of_bursts(clock, address_ * 32, transfers, write == 1, client)
    expected = []
    for now in range(50):
        for n in range(200):
            if clock[n] == now:
                for transfer in range(transfers[n]):
                    place = int(address_[n]) * 32 + transfer * 32
                    expected.append((now, place, bool(write[n]), int(client[n])))
    assert found.tolist() == expected


@pytest.mark.plan("dram-6")
def test_bursts_that_are_none():
    with pytest.raises(InputError, match="client must lie in 0..255, not 256"):
        of_bursts([0], [0], [1], [False], [256])
    with pytest.raises(InputError, match="address must be a multiple of 32, not 8"):
        of_bursts([0], [8], [1], [False], [0])
    assert PLACE.names == ("channel", "bank", "row", "column")
