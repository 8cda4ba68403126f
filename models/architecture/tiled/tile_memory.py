# SPDX-License-Identifier: BSD-2-Clause
"""Memory of a tile on chip: what leaves it, beside what a frame buffer in memory moves."""

from dataclasses import dataclass

from fixfunc.models.payload import integer
from fixfunc.spec.errors import InputError


@dataclass(frozen=True)
class TileMemory:
    """Colours, depths and data of the program for each pixel of a tile [rtr 23.10.1].

    Parameters
    ----------
    edge : int
        Pixels of a tile's side.
    samples : int
        Of a pixel.
    colour, depth : int
        Bytes of a sample.
    local : int
        Bytes of a pixel that passes leave to each other: pixel local storage.
    """

    edge: int = 16
    samples: int = 1
    colour: int = 4
    depth: int = 4
    local: int = 0

    def __post_init__(self):
        for name, most in (("edge", 256), ("samples", 16), ("colour", 64), ("depth", 16)):
            integer(name, getattr(self, name), 1, most)
        integer("local", self.local, 0, 1 << 10)

    @property
    def bytes(self) -> int:
        """On chip."""
        sample = self.samples * (self.colour + self.depth)
        return self.edge**2 * (sample + self.local)

    def left(self, width: int, height: int, keeps_depth: bool = False) -> int:
        """Bytes that leave tiles, once a frame: a resolved colour a pixel, and maybe depths.

        However often a pixel was tested, drawn and blended: all of that stays on chip.
        """
        pixels = integer("width", width, 1, 1 << 14) * integer("height", height, 1, 1 << 14)
        return pixels * (self.colour + keeps_depth * self.samples * self.depth)

    def in_memory(self, tested: int, passed: int, blended: int = 0) -> int:
        """Bytes that a frame buffer in memory moves for as many samples, without a cache.

        Each that is tested reads a depth; each that passes writes a depth and a colour, and reads a
        colour where it is blended [fb].

        Parameters
        ----------
        tested, passed, blended : int
            Samples.
        """
        for name, value in (("tested", tested), ("passed", passed), ("blended", blended)):
            integer(name, value, 0, 1 << 40)
        if not blended <= passed <= tested:
            raise InputError("samples", "be blended of passed of tested ones", (blended, passed))
        return tested * self.depth + passed * (self.depth + self.colour) + blended * self.colour

    def passes(self, width: int, height: int, count: int) -> tuple[int, int]:
        """Bytes of data between passes, as of a G-buffer: in tile memory, and in memory.

        The first pass writes the data of each pixel, others read them. On chip none of it leaves.

        Parameters
        ----------
        width, height : int
            Pixels.
        count : int
            Passes.

        Raises
        ------
        InputError
            No data, or a size that there is not.
        """
        integer("local", self.local, 1, 1 << 10)
        integer("passes", count, 1, 1 << 10)
        pixels = integer("width", width, 1, 1 << 14) * integer("height", height, 1, 1 << 14)
        return 0, count * pixels * self.local
