# SPDX-License-Identifier: BSD-2-Clause
"""Payloads between the depth test, a shader and the colours.

They are field tables: see :mod:`fixfunc.spec.payloads`.
"""

from fixfunc.spec.payloads import COLOUR, HEADER, Field, each, survivors


def quads(edge_samples: int) -> tuple[Field, ...]:
    """One tile of a triangle, to be shaded.

    Pixel (x, y) of it at bit y * edge_samples + x, whatever the samples of a pixel.
    """
    position = 16 - edge_samples.bit_length() + 1
    return (
        *HEADER,
        *each("x y", position),  # tiles
        Field("samples", 2),  # log2
        Field("back", 1),
        Field("mask", edge_samples**2),  # samples that passed, as in payloads.tile()
        Field("covered", edge_samples**2),  # pixels with such a sample
        Field(
            "helpers", edge_samples**2
        ),  # the other pixels of their quads of 2 by 2: shaded for derivatives alone
        Field("flat_colour", 32),  # of the draw state
    )


def colours(edge_samples: int, depths: bool = False) -> tuple[Field, ...]:
    """The same tile, shaded: a colour for each sample, lane (i, j) at number j * edge_samples + i.

    Of those not covered, any. Behind the colours stands what the shader decides about samples, and
    with ``depths`` the depths that it puts out: they count in draws without ``early_write`` alone;
    in all others every sample survives, at the depth of its plane.
    """
    colour = each(" ".join(f"colour{n}" for n in range(edge_samples**2)), COLOUR)
    return colour + survivors(edge_samples, depths)
