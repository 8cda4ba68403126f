# SPDX-License-Identifier: BSD-2-Clause
"""Tables of block modes, which golden models and hardware have in forms of their own."""

import numpy as np
import pytest

from fixfunc.models.texture.blocks import bc6h, bc7, subsets
from fixfunc.rtl.texture import bc6h as rtl_bc6h
from fixfunc.rtl.texture import bc7 as rtl_bc7
from fixfunc.rtl.texture import partitions


@pytest.mark.plan("block-decode-7")
def test_partitions_are_the_same():
    rows = list(partitions.partition_rows())
    assert len(rows) == partitions.UNDIVIDED + 1
    for n, row in enumerate(rows):
        count = 1 if n == partitions.UNDIVIDED else 2 + n // 64
        number = n % 64 if count > 1 else 0
        assert [subset for subset, _, _ in row] == subsets.SUBSETS[count][number].tolist()
        anchors = {0, *subsets.ANCHORS[count][number].tolist()}
        assert {n for n, (_, _, anchor) in enumerate(row) if anchor} == anchors
        assert [3 - shift for _, shift, _ in row][1:] == [
            sum(anchor < n for anchor in anchors) for n in range(1, 16)
        ]


@pytest.mark.plan("block-decode-7")
def test_modes_of_bc7_lie_at_the_same_places():
    for number, (golden, hardware) in enumerate(zip(bc7.MODES, rtl_bc7.MODES, strict=True)):
        first = number + 1
        expected = {}
        ends = 2 * golden.subsets
        for name, bits in (
            ("partition", golden.partition),
            ("rotation", golden.rotation),
            ("selector", golden.selector),
            ("colour", 3 * ends * golden.colour),
            ("alpha", ends * golden.alpha),
            ("p_bits", ends * golden.own_p_bits + golden.subsets * golden.shared_p_bits),
            ("index", 16 * golden.index - golden.subsets),
            ("second_index", 16 * golden.second_index - 1 if golden.second_index else 0),
        ):
            expected[name] = first if bits else None
            first += bits
        assert first == 128
        fields = {name: getattr(hardware, name) for name in expected}
        assert {
            name: field.first if isinstance(field, rtl_bc7.Bits) else field
            for name, field in fields.items()
        } == expected
        assert [hardware.colour.bits, hardware.index.bits, hardware.subsets] == [
            golden.colour,
            golden.index,
            golden.subsets,
        ]


@pytest.mark.plan("block-decode-7")
def test_modes_of_bc6h_lie_at_the_same_places():
    assert [mode.number for mode in bc6h.MODES] == list(rtl_bc6h.MODES)
    for mode in bc6h.MODES:
        hardware = rtl_bc6h.MODES[mode.number]
        assert (hardware.width, hardware.deltas, hardware.delta) == (
            mode.width,
            mode.deltas,
            mode.delta,
        )
        for name, positions in rtl_bc6h.bit_positions(mode.number).items():
            for n, position in enumerate(positions):
                block = np.frombuffer((1 << position).to_bytes(16, "little"), np.uint8)
                ends, _ = bc6h._endpoints(mode, *subsets.words(block[None]))
                expected = np.zeros_like(ends)
                expected["wxyz".index(name[1]), 0, "rgb".index(name[0])] = 1 << n
                assert (ends == expected).all(), (mode.number, name, n)
