# SPDX-License-Identifier: BSD-2-Clause
"""The bus between host and card: bandwidth each way, and a latency."""

from dataclasses import dataclass
from fractions import Fraction

from fixfunc.models.payload import integer

SECOND = 10**9  # nanoseconds


@dataclass(frozen=True)
class Bus:
    """A link that moves data both ways at once.

    Parameters
    ----------
    lanes : int
    transfers : int
        Bits a second of a lane, one way, as they are on the line.
    payload, coded : int
        So many bits of data are so many bits on the line.
    latency : int
        Nanoseconds until the first byte is there.
    """

    lanes: int
    transfers: int
    payload: int
    coded: int
    latency: int

    def __post_init__(self):
        integer("lanes", self.lanes, 1, 64)
        integer("transfers", self.transfers, 1, 10**12)
        integer("payload", self.payload, 1, 1 << 16)
        integer("coded", self.coded, self.payload, 1 << 16)
        integer("latency", self.latency, 0, SECOND)

    @property
    def bandwidth(self) -> Fraction:
        """Bytes a second, each way."""
        return Fraction(self.lanes * self.transfers * self.payload, 8 * self.coded)

    def time(self, size: int) -> int:
        """Nanoseconds until so many bytes are across, rounded up; nothing takes none."""
        integer("size", size, 0, 1 << 48)
        if not size:
            return 0
        return self.latency - (-size * SECOND // self.bandwidth)


# 8 GB/s each way [trip 2]: 5 GT/s, of which 8 bits in 10 are data. The documents say of the latency
# only that it is long; a microsecond is *ours*.
PCIE_2_X16 = Bus(lanes=16, transfers=5 * 10**9, payload=8, coded=10, latency=1000)
# 15.75 and 31.51 GB/s [rtr 23.4]: 8 and 16 GT/s, of which 128 bits in 130 are data.
PCIE_3_X16 = Bus(lanes=16, transfers=8 * 10**9, payload=128, coded=130, latency=1000)
PCIE_4_X16 = Bus(lanes=16, transfers=16 * 10**9, payload=128, coded=130, latency=1000)
