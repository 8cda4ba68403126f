# SPDX-License-Identifier: BSD-2-Clause
"""Three graphics processors of the documents, as machines for the performance model.

Numbers are those of [rtr 23.10]. What it leaves open is named in ``open`` of each: predictions rest
on these, too.
"""

from dataclasses import dataclass

from fixfunc.models.annotations import check_types
from fixfunc.models.performance.cache_moves import TRANSFER
from fixfunc.models.performance.params import (
    CacheParams,
    MachineParams,
    MemoryParams,
    QueueParams,
    at_least,
)
from fixfunc.spec.errors import InputError

TILE = 64  # samples of a tile of the model
QUAD = 4  # pixels
FMA = 2  # operations of a fused multiply-add
SCREEN = 1 << 16  # tiles of the largest target, at one sample a pixel
OURS = QueueParams(
    ahead=1 << 16,
    slots=1 << 12,
    triangles=1 << 14,
    setup=1 << 10,
    tiles=1 << 12,
    colours=1 << 12,
    shading=1 << 12,
)  # queues of which no document says anything: ample


@dataclass(frozen=True)
class GraphicsProcessor:
    """A graphics processor by what documents say of it.

    Parameters
    ----------
    name : str
    source : str
    clock : float
        Clocks a second, the highest that the document has.
    alus : int
        That do a fused multiply-add a clock each.
    rasterizers : int
        Units that own tiles of the screen, each with its part of the pixels.
    primitives : float
        That all rasterizers begin in a clock.
    scanned : int
        Pixels that a rasterizer finds in a clock.
    written : int
        Pixels that all units write in a clock.
    bus : int
        Bits of memory.
    rate : float
        Transfers of the bus a second.
    cache : int
        Bytes behind the units.
    tile_memory : bool
        Tiles are on chip until all of the frame is drawn on them: no sample is fetched.
    open : tuple of str
        Fields that the document does not give.
    """

    name: str
    source: str
    clock: float
    alus: int
    rasterizers: int
    primitives: float
    scanned: int
    written: int
    bus: int
    rate: float
    cache: int
    tile_memory: bool = False
    open: tuple[str, ...] = ()

    def __post_init__(self):
        check_types(self)
        counts = "alus", "rasterizers", "scanned", "written", "bus", "cache"
        at_least(self, 1, *counts)
        for name in ("clock", "primitives", "rate"):
            if not getattr(self, name) > 0:
                raise InputError(name, "be above 0", getattr(self, name))
        for name in self.open:
            if name not in self.__dataclass_fields__:
                raise InputError("open", "name fields", name)

    @property
    def flops(self) -> float:
        """Floating-point operations a second, at most."""
        return FMA * self.alus * self.clock

    @property
    def bandwidth(self) -> float:
        """Bytes a second, at most."""
        return self.bus / 8 * self.rate

    @property
    def fill(self) -> float:
        """Pixels a second, at most."""
        return self.written * self.clock

    def machine(self) -> MachineParams:
        """The machine: the stages of this project's top at the processor's rates and widths.

        The cache is dealt to depths and colours, raw tiles of 256 bytes, in sets of 16. Latency of
        memory is 400 to 800 clocks, as the project's far memory.
        """
        ways = 16
        tiles = SCREEN if self.tile_memory else self.cache // (2 * 4 * TILE)
        sets = 1 << (tiles // ways).bit_length() - 1
        clocks = TRANSFER / (self.bandwidth / self.clock)
        return MachineParams(
            name=self.name,
            clock=self.clock,
            triangles=self.primitives,
            rasterizers=self.rasterizers,
            tiles=self.scanned / TILE,
            pixel_pipes=self.rasterizers,
            attributes=self.written / self.rasterizers / QUAD,
            lanes=4,
            queues=OURS,
            cache=CacheParams(
                sets, ways, reads=1 << 12, rows=1 << 8, coder_clocks=1, decoder_clocks=1
            ),
            memory=MemoryParams((400, 800), clocks, clocks, clocks, True),
        )


# 32 shader engines, each with its own tile of 16 x 16 pixels on chip, and three quads of ALUs.
MALI_G71 = GraphicsProcessor(
    "Mali G71",
    "[rtr 23.10.1]",
    clock=850e6,
    alus=32 * 12,
    rasterizers=32,
    primitives=1,
    scanned=4,
    written=32,
    bus=64,
    rate=3.2e9,
    cache=2 << 20,
    tile_memory=True,
    open=("clock", "primitives", "scanned", "written", "bus", "rate", "cache"),
)
# Four clusters with a raster engine each; 64 ROPs; eight controllers of 32 bits, 256 KB each. Eight
# pixels a raster engine and clock are Fermi's: the document has none of Pascal.
GTX_1080 = GraphicsProcessor(
    "GeForce GTX 1080",
    "[rtr 23.10.2]",
    clock=1733e6,
    alus=20 * 128,
    rasterizers=4,
    primitives=4,
    scanned=8,
    written=64,
    bus=8 * 32,
    rate=10e9,
    cache=8 * (256 << 10),
    open=("primitives", "scanned"),
)
# Four pipelines, a primitive a clock each, whose colour and depth blocks write 16 pixels a clock.
VEGA_10 = GraphicsProcessor(
    "Vega 10",
    "[rtr 23.10.3]",
    clock=1677e6,
    alus=64 * 64,
    rasterizers=4,
    primitives=4,
    scanned=16,
    written=4 * 16,
    bus=2048,
    rate=1.89e9,
    cache=4 << 20,
    open=("scanned", "bus", "rate", "cache"),
)
PROCESSORS = {it.name: it for it in (MALI_G71, GTX_1080, VEGA_10)}
STUDIES = {name: it.machine() for name, it in PROCESSORS.items()}
