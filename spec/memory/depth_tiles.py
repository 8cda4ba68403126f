# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of tiles of depths: to be coded, coded, and as they come back."""

from fixfunc.spec.payloads import (
    DEPTH,
    PLANES,
    SAMPLES,
    TRANSFER,
    Field,
    each,
    memory_bits,
)

CLEARED = Field("cleared", DEPTH, meaning="the value that the target has been cleared to")


def _depths(edge_samples):
    names = " ".join(f"depth{n}" for n in range(edge_samples**2))
    return each(names, DEPTH, meaning="of a sample, as it is stored")


def known_planes(edge_samples: int) -> tuple[Field, ...]:
    """Planes of triangles that have been written to a tile, and the plane of each sample.

    They are as in tile(), of triangles that are not steep.
    """
    lanes = edge_samples**2
    of_plane = {
        "z0": "depth of a plane at the first pixel's centre: units, 8 fraction bits, modulo 2^24",
        "dx": "slope of a plane, s23.8 a pixel",
        "dy": "slope of a plane, s23.8 a pixel",
    }
    return (
        Field("planes", 3, meaning="planes of the tile; 0: they are not known"),
        *(
            Field(f"{name}_{k}", 32, name != "z0", meaning)
            for k in range(PLANES)
            for name, meaning in of_plane.items()
        ),
        Field(
            "mask_low",
            lanes,
            meaning="number of a sample's plane, low bit; lane (i, j) at bit j * edge + i",
        ),
        Field(
            "mask_high",
            lanes,
            meaning="number of a sample's plane, high bit; lane (i, j) at bit j * edge + i",
        ),
    )


def uncoded(edge_samples: int) -> tuple[Field, ...]:
    """A tile of depths on its way to memory."""
    return (
        SAMPLES,
        Field("clears", 1, meaning="the target has been cleared"),
        CLEARED,
        *known_planes(edge_samples),
        *_depths(edge_samples),
    )


def coded(edge_samples: int, bits: int = DEPTH, mode: int = 3) -> tuple[Field, ...]:
    """The same in memory, or a tile of other values.

    Of ``mode``, which has so many bits, the mode table tells.
    """
    words = " ".join(f"data{n}" for n in range(coded_words(edge_samples, bits)))
    return (
        Field("mode", mode, meaning="TileMode"),
        *each(words, 32, meaning="word of the coded tile"),
    )


def stored(edge_samples: int, mode: int = 3) -> tuple[Field, ...]:
    """A tile on its way back, and what its planes mean."""
    return (SAMPLES, CLEARED, *coded(edge_samples, DEPTH, mode))


def decoded(edge_samples: int) -> tuple[Field, ...]:
    """A tile of depths as it came back."""
    return (
        Field("wrong", 1, meaning="the coded tile cannot be: all else is zero"),
        *known_planes(edge_samples),
        *_depths(edge_samples),
    )


def coded_words(edge_samples: int, bits: int = DEPTH) -> int:
    """Words of 32 bits of a raw tile, in whole transfers."""
    return -(-memory_bits(bits) * edge_samples**2 // TRANSFER) * TRANSFER // 32
