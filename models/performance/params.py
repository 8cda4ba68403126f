# SPDX-License-Identifier: BSD-2-Clause
"""Shape of a machine, as far as it decides how long a frame takes."""

from dataclasses import dataclass, field

from fixfunc.models.annotations import check_types
from fixfunc.spec.errors import InputError


def at_least(record: object, least: int, *names: str) -> None:
    """Raise ``InputError`` for a field that is below ``least``, or beyond 2^30."""
    for name in names:
        if not least <= getattr(record, name) <= 1 << 30:
            raise InputError(name, f"lie in {least}..2^30", getattr(record, name))


@dataclass(frozen=True)
class MemoryParams:
    """What lies behind the ports: each has a channel of its own, or all share one.

    Parameters
    ----------
    latency : (int, int)
        Clocks from a request to its answer, least and most; answers come in order.
    address_clocks, read_clocks, write_clocks : float
        Clocks that a channel takes on average for an address, and for a transfer read or written.
    shared : bool
        All ports share one channel, whose transfers take turns.
    """

    latency: tuple[int, int] = (0, 8)
    address_clocks: float = 1.6
    read_clocks: float = 1.28
    write_clocks: float = 1.6
    shared: bool = False

    def __post_init__(self):
        check_types(self)
        least, most = self.latency
        if not 0 <= least <= most <= 1 << 20:
            raise InputError("latency", "be two numbers of clocks in order", self.latency)
        for name in ("address_clocks", "read_clocks", "write_clocks"):
            if not 0 < getattr(self, name) <= 1 << 20:
                raise InputError(name, "be above 0, and at most 2^20", getattr(self, name))


NEAR = MemoryParams()
FAR = MemoryParams((400, 800))
MEMORIES = {"near": NEAR, "far": FAR}


@dataclass(frozen=True)
class CacheParams:
    """Of each plane's cache of tiles.

    Parameters
    ----------
    sets, ways : int
        Tiles on chip; sets are a power of two.
    table_lines : int
        Transfers of the mode table on chip, a power of two.
    reads : int
        Most reads in flight.
    waiting : int
        Tiles that have come, and wait to be decoded.
    rows : int
        Evicted tiles that wait to be written.
    victims : int
        Evicted tiles whose codes stay on chip.
    coder_clocks, decoder_clocks : int
        Clocks of a tile that is coded by differences.
    """

    sets: int = 256
    ways: int = 4
    table_lines: int = 1024
    reads: int = 256
    waiting: int = 16
    rows: int = 16
    victims: int = 512
    coder_clocks: int = 4
    decoder_clocks: int = 4

    def __post_init__(self):
        check_types(self)
        at_least(self, 1, *self.__dataclass_fields__)
        for name in ("sets", "table_lines"):
            if getattr(self, name) & getattr(self, name) - 1:
                raise InputError(name, "be a power of two", getattr(self, name))


@dataclass(frozen=True)
class QueueParams:
    """Places of queues.

    Parameters
    ----------
    ahead : int
        Transfers of commands that are fetched before their turn.
    slots : int
        Vertices of the ring.
    triangles : int
        Triangles from the reader to their quads.
    setup : int
        Triangles behind triangle setup.
    tiles : int
        Tiles between HiZ and the depth test, whose depths are asked for.
    colours : int
        Tiles behind the depth test, whose colours are asked for.
    shading : int
        Tiles in the shader, or whose colours wait.
    dispatch : int
        Tiles in front of the quad dispatch, whose corners come.
    pipe : int
        Quads behind it, which stop where the colours of a tile wait: 36 that are interpolated, four
        whose colours are made.
    """

    ahead: int = 1024
    slots: int = 1024
    triangles: int = 512
    setup: int = 128
    tiles: int = 1024
    colours: int = 1024
    shading: int = 256
    dispatch: int = 64
    pipe: int = 40

    def __post_init__(self):
        check_types(self)
        at_least(self, 1, *self.__dataclass_fields__)


@dataclass(frozen=True)
class MachineParams:
    """A machine: the defaults are the top of this project, configuration ``frame``.

    Parameters
    ----------
    name : str
    clock : float
        Clocks a second.
    triangles : float
        Triangles that setup begins in a clock.
    rasterizers : int
        Each has a setup, and tiles of its own of the screen, as
        :class:`fixfunc.models.architecture.frame_work.Screen` deals them.
    tiles : float
        Tiles of 64 samples that a rasterizer, and its depth test, take in a clock.
    pixel_pipes : int
        Each takes the tiles of its own rasterizers.
    attributes : float
        Attributes of quads that a pixel pipe interpolates in a clock.
    lanes : int
        Groups of 16 samples that blending takes in a clock.
    queues : QueueParams
    cache : CacheParams
    memory : MemoryParams
    """

    name: str = "fixfunc"
    clock: float = 140e6
    triangles: float = 1.0
    rasterizers: int = 1
    tiles: float = 1.0
    pixel_pipes: int = 1
    attributes: float = 1.0
    lanes: int = 1
    queues: QueueParams = field(default_factory=QueueParams)
    cache: CacheParams = field(default_factory=CacheParams)
    memory: MemoryParams = field(default_factory=MemoryParams)

    def __post_init__(self):
        check_types(self)
        at_least(self, 1, "rasterizers", "pixel_pipes", "lanes")
        for name in ("clock", "triangles", "tiles", "attributes"):
            if not 0 < getattr(self, name) <= 1 << 40:
                raise InputError(name, "be above 0", getattr(self, name))
        if self.rasterizers > 64:
            raise InputError("rasterizers", "be at most 64", self.rasterizers)
