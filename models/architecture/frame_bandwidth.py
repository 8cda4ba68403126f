# SPDX-License-Identifier: BSD-2-Clause
"""Bandwidth that frame buffers ask for, before caches and compression [fb]."""

from dataclasses import dataclass
from fractions import Fraction

from fixfunc.models.payload import integer


@dataclass(frozen=True)
class FrameRate:
    """Pictures of a size, so many a second, of a depth complexity.

    Parameters
    ----------
    width, height : int
        Pixels.
    hertz : int
        Pictures a second.
    complexity : int
        Triangles that cover a pixel, on average.
    samples : int
        Of a pixel.
    passes : int
        How often a picture is drawn.
    colour, depth : int
        Bits of a sample.
    """

    width: int = 1920
    height: int = 1080
    hertz: int = 60
    complexity: int = 4
    samples: int = 1
    passes: int = 1
    colour: int = 32
    depth: int = 32

    def __post_init__(self):
        for name, value in vars(self).items():
            integer(name, value, 1, 1 << 20)

    @property
    def overdraw(self) -> Fraction:
        """Fragments a sample that pass the depth test: 1 + 1/2 + ... + 1/complexity.

        Triangles come in random order, so that the n-th is the nearest once in n times.
        """
        return sum((Fraction(1, n) for n in range(1, self.complexity + 1)), Fraction(0))

    @property
    def samples_a_second(self) -> int:
        """Samples of all pictures and passes."""
        return self.width * self.height * self.hertz * self.samples * self.passes

    def colour_written(self) -> Fraction:
        """Bits a second: of each fragment that passes. Blending reads as many."""
        return self.samples_a_second * self.overdraw * self.colour

    def depth_written(self) -> Fraction:
        """Bits a second: of each fragment that passes."""
        return self.samples_a_second * self.overdraw * self.depth

    def depth_read(self) -> int:
        """Bits a second: of each fragment, whether it passes or not."""
        return self.samples_a_second * self.complexity * self.depth
