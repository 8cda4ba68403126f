# SPDX-License-Identifier: BSD-2-Clause
"""Memories that have a name, in the numbers of the source documents.

Times between commands are those of the data sheet of a GDDR5 part of 1 Gbit (SK hynix H5GQ1H24AFR,
2009), as simulators of memory quote them. The documents give none.
"""

from dataclasses import replace

from fixfunc.models.memory.dram.address_map import COLUMN, AddressMap
from fixfunc.models.memory.dram.controller import Dram
from fixfunc.models.memory.dram.timing import Timing

GDDR5 = {  # picoseconds
    "t_rcd": 12_000,
    "t_rp": 12_000,
    "t_ras": 28_000,
    "t_rtp": 2_000,
    "t_wr": 12_000,
    "t_wtr": 5_000,
    "t_rrd": 5_500,
    "t_cas": 12_000,
    "t_cwl": 4_000,
    "turnaround": 2_000,
}
BANKS = 16
ROW = 2048  # bytes
TILE = 256  # bytes: 8x8 samples of four


def graphics_memory(hertz: int, channels: int, distance: int) -> Dram:
    """GDDR of so many channels, each of 32 bytes in two clocks.

    Every second clock is left to ACTIVATE and PRECHARGE while data move without a gap.

    Parameters
    ----------
    hertz : int
        Clocks a second.
    channels : int
        A power of two.
    distance : int
        Clocks of the way from a client to its controller and back.
    """
    timing = replace(Timing.from_picoseconds(hertz, **GDDR5), burst=2)
    places = AddressMap.by_tile(channels, BANKS, ROW, TILE)
    return Dram(timing, places, window=64, patience=512, distance=distance, hertz=hertz)


def peak(dram: Dram) -> int:
    """Bytes a second that all data lines carry, if they never rest."""
    return dram.map.count("channel") * COLUMN * dram.hertz // dram.timing.burst


# 180 GB/s at a shader clock of 1.4 GHz, and 400 to 800 clocks until an answer [trip 2]: eight times
# 16 bytes a clock. The way, *ours*, makes a lone read of a closed bank take the 400.
GTX_480 = graphics_memory(1_400_000_000, channels=8, distance=364)

# Eight controllers of 32 bits at 10 GHz, 320 GB/s [rtr 23.10.2]: a controller moves 16 bytes in a
# clock of 2.5 GHz. The documents give no latency; the way takes as long as that of GTX_480.
GTX_1080 = graphics_memory(2_500_000_000, channels=8, distance=650)
