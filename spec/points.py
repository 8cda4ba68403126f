# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of what shaders are asked for, domain points and quads of pixels, as field tables: see
:mod:`fixfunc.spec.payloads`.
"""

from fixfunc.spec.payloads import Field, each

DOMAIN_POINT = (
    Field("kind", 2),  # fixfunc.spec.state.PointKind: POINT, or END
    Field("first", 1),  # of its patch
    Field("patch", 16),  # what its domain shader is told of the patch
    *each("u v", 17),  # 1.16
)
MATCHED_POINT = (
    *DOMAIN_POINT,
    Field("hit", 1),  # it is in a wave already
    Field("dsid", 16),  # its place in the vertex buffer: wave * lanes + lane
)
VERTEX_INDEX = (
    Field("kind", 2),
    Field("first", 1),
    Field("dsid", 16),
)  # what primitives are assembled from
MATCHES = tuple(
    each("points hits misses waves partial_waves stalls wrong", 32)
)  # so far, at an END; wrong: releases of what nobody held


def wave(lanes: int) -> tuple[Field, ...]:
    """Domain points to be shaded together; those of other lanes are zero."""
    return (
        Field("dsid", 16),  # of lane 0
        *each("begin end", lanes.bit_length()),  # lanes begin..end - 1
        *(
            Field(f"{name}{n}", bits)
            for n in range(lanes)
            for name, bits in (("patch", 16), ("u", 17), ("v", 17))
        ),
    )


QUAD_SAMPLES = 8  # bits of each pixel of a quad


def quad_tile(edge: int) -> tuple[Field, ...]:
    """A tile of a triangle whose quads are to be shaded.

    ``edge`` is that of :func:`fixfunc.spec.payloads.tile`.
    """
    position = 16 - edge.bit_length() + 1
    return (
        Field("slot", 12),  # of its triangle
        *each("x y", position),  # tiles
        Field("samples", 2),  # log2
        Field("by_sample", 1),  # each sample is shaded by itself [fs 3.5.4.1]
        Field("back", 1),
        # Lane (i, j) at bit j * edge + i: samples to shade, and all that the triangle covers.
        *each("mask covered", edge**2),
    )


QUAD = (
    Field("slot", 12),
    *each("x y", 14),  # of the upper left pixel, on the target
    Field("samples", 2),
    Field("by_sample", 1),
    Field("sample", 3),  # the only one that is shaded
    Field("back", 1),
    Field("last", 1),  # of its tile
    # Pixel (x, y) has eight bits from 16 y + 8 x on, by samples. A pixel without one to shade is a
    # helper.
    *each("mask covered", 4 * QUAD_SAMPLES),
)
