# SPDX-License-Identifier: BSD-2-Clause
"""Partitions of BC6H and BC7: the subset of each texel of a block, as a table of hardware."""

from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.data import ArrayLayout, StructLayout
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from fixfunc.rtl.lib.delay import NO_COLLISION

# Pictures of the partitions: four rows of a block, with the subset of each texel.
_PAIRS = """
    0011/0011/0011/0011 0001/0001/0001/0001 0111/0111/0111/0111
    0001/0011/0011/0111 0000/0001/0001/0011 0011/0111/0111/1111
    0001/0011/0111/1111 0000/0001/0011/0111 0000/0000/0001/0011
    0011/0111/1111/1111 0000/0001/0111/1111 0000/0000/0001/0111
    0001/0111/1111/1111 0000/0000/1111/1111 0000/1111/1111/1111
    0000/0000/0000/1111 0000/1000/1110/1111 0111/0001/0000/0000
    0000/0000/1000/1110 0111/0011/0001/0000 0011/0001/0000/0000
    0000/1000/1100/1110 0000/0000/1000/1100 0111/0011/0011/0001
    0011/0001/0001/0000 0000/1000/1000/1100 0110/0110/0110/0110
    0011/0110/0110/1100 0001/0111/1110/1000 0000/1111/1111/0000
    0111/0001/1000/1110 0011/1001/1001/1100 0101/0101/0101/0101
    0000/1111/0000/1111 0101/1010/0101/1010 0011/0011/1100/1100
    0011/1100/0011/1100 0101/0101/1010/1010 0110/1001/0110/1001
    0101/1010/1010/0101 0111/0011/1100/1110 0001/0011/1100/1000
    0011/0010/0100/1100 0011/1011/1101/1100 0110/1001/1001/0110
    0011/1100/1100/0011 0110/0110/1001/1001 0000/0110/0110/0000
    0100/1110/0100/0000 0010/0111/0010/0000 0000/0010/0111/0010
    0000/0100/1110/0100 0110/1100/1001/0011 0011/0110/1100/1001
    0110/0011/1001/1100 0011/1001/1100/0110 0110/1100/1100/1001
    0110/0011/0011/1001 0111/1110/1000/0001 0001/1000/1110/0111
    0000/1111/0011/0011 0011/0011/1111/0000 0010/0010/1110/1110 0100/0100/0111/0111
"""
_TRIPLES = """
    0011/0011/0221/2222 0001/0011/2211/2221 0000/2001/2211/2211
    0222/0022/0011/0111 0000/0000/1122/1122 0011/0011/0022/0022
    0022/0022/1111/1111 0011/0011/2211/2211 0000/0000/1111/2222
    0000/1111/1111/2222 0000/1111/2222/2222 0012/0012/0012/0012
    0112/0112/0112/0112 0122/0122/0122/0122 0011/0112/1122/1222
    0011/2001/2200/2220 0001/0011/0112/1122 0111/0011/2001/2200
    0000/1122/1122/1122 0022/0022/0022/1111 0111/0111/0222/0222
    0001/0001/2221/2221 0000/0011/0122/0122 0000/1100/2210/2210
    0122/0122/0011/0000 0012/0012/1122/2222 0110/1221/1221/0110
    0000/0110/1221/1221 0022/1102/1102/0022 0110/0110/2002/2222
    0011/0122/0122/0011 0000/2000/2211/2221 0000/0002/1122/1222
    0222/0022/0012/0011 0011/0012/0022/0222 0120/0120/0120/0120
    0000/1111/2222/0000 0120/1201/2012/0120 0120/2012/1201/0120
    0011/2200/1122/0011 0011/1122/2200/0011 0101/0101/2222/2222
    0000/0000/2121/2121 0022/1122/0022/1122 0022/0011/0022/0011
    0220/1221/0220/1221 0101/2222/2222/0101 0000/2121/2121/2121
    0101/0101/0101/2222 0222/0111/0222/0111 0002/1112/0002/1112
    0000/2112/2112/2112 0222/0111/0111/0222 0002/1112/1112/0002
    0110/0110/0110/2222 0000/0000/2112/2112 0110/0110/2222/2222
    0022/0011/0011/0022 0022/1122/1122/0022 0000/0000/0000/2112
    0002/0001/0002/0001 0222/1222/0222/1222 0101/2222/2222/2222 0111/2011/2201/2220
"""

# Anchors: texels besides 0 whose index lacks its highest bit; of each partition, in the order of
# subsets.
_PAIR_ANCHORS = """
    f f f f f f f f f f f f f f f f f 2 8 2 2 8 8 f 2 8 2 2 8 8 2 2
    f f 6 8 2 8 f f 2 8 2 2 2 f f 6 6 2 6 8 f f 2 2 f f f f f 2 2 f
"""
_TRIPLE_ANCHORS = """
    3f 38 f8 f3 8f 3f f3 f8 8f 8f 6f 6f 6f 5f 3f 38 3f 38 8f f3 3f 38 6f a8 53 8f 86 6a 8f 5f fa f8
    8f f3 3f 5a 6a a8 89 fa f6 3f f8 5f f3 f6 f6 f8 3f f3 5f 5f 5f 8f 5f af 5f af 8f df f3 cf 3f 38
"""
# Rows 0 to 63 of the table have the partitions with two subsets, rows 64 to 127 those with three,
# and this row has blocks that are not divided.
UNDIVIDED = 128

TEXEL = StructLayout(
    {
        "subset": 2,
        "shift": 2,  # three less the number of bits that are missing ahead of the texel's index
        "anchor": 1,  # the index lacks its highest bit
    }
)


def partition_rows():
    """Rows of the table: (subset, shift, anchor) of each texel, as in :data:`TEXEL`."""
    for pictures, anchors in ((_PAIRS, _PAIR_ANCHORS), (_TRIPLES, _TRIPLE_ANCHORS)):
        for picture, digits in zip(pictures.split(), anchors.split(), strict=True):
            yield _row(picture.replace("/", ""), {0, *(int(digit, 16) for digit in digits)})
    yield _row("0" * 16, {0})


def _row(subsets, anchors):
    # No bit is missing ahead of texel 0; its window begins where three missing bits would put it.
    return [
        (int(subset), 3 - sum(anchor < n for anchor in anchors) if n else 0, n in anchors)
        for n, subset in enumerate(subsets)
    ]


class PartitionTable(wiring.Component):
    """Look a partition up; one a clock, two clocks later.

    Members
    -------
    i : In(range(UNDIVIDED + 1))
        A row of the table.
    o : Out(ArrayLayout(TEXEL, 16))
        The texels of a block.
    """

    i: In(range(UNDIVIDED + 1))
    o: Out(ArrayLayout(TEXEL, 16))

    def elaborate(self, platform):
        m = Module()
        m.submodules.table = table = Memory(
            shape=ArrayLayout(TEXEL, 16),
            depth=UNDIVIDED + 1,
            init=[
                [dict(zip(TEXEL.members, texel, strict=True)) for texel in row]
                for row in partition_rows()
            ],
            attrs=NO_COLLISION,
        )
        read = table.read_port()
        m.d.comb += read.addr.eq(self.i)
        m.d.sync += self.o.eq(read.data)
        return m
