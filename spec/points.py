# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of what shaders are asked for, domain points and quads of pixels, as field tables: see
:mod:`fixfunc.spec.payloads`.
"""

from fixfunc.spec.payloads import SAMPLES, Field, each, tile_position

DOMAIN_POINT = (
    Field("kind", 2, meaning="PointKind: POINT, or END"),
    Field("first", 1, meaning="the first point of its patch"),
    Field("patch", 16, meaning="what its domain shader is told of the patch"),
    *each("u v", 17, meaning="place in the domain, u1.16"),
)
DSID = Field("dsid", 16, meaning="place in the vertex buffer: wave * lanes + lane")
MATCHED_POINT = (
    *DOMAIN_POINT,
    Field("hit", 1, meaning="the point is in a wave already"),
    DSID,
)
VERTEX_INDEX = (
    *DOMAIN_POINT[:2],
    DSID,
)  # what primitives are assembled from
# At an END.
MATCHES = (
    *each("points hits misses waves", 32, meaning="so far"),
    Field("partial_waves", 32, meaning="waves so far that were not full"),
    Field("stalls", 32, meaning="clocks so far in which a point waited for a slot"),
    Field("wrong", 32, meaning="releases so far of what nobody held"),
)


def wave(lanes: int) -> tuple[Field, ...]:
    """Domain points to be shaded together; those of other lanes are zero."""
    return (
        Field("dsid", 16, meaning="place of lane 0 in the vertex buffer: wave * lanes"),
        Field("begin", lanes.bit_length(), meaning="first lane in use"),
        Field("end", lanes.bit_length(), meaning="lane behind the last in use"),
        *(
            Field(f"{field.name}{n}", field.bits, meaning=field.meaning)
            for n in range(lanes)
            for field in DOMAIN_POINT[2:]
        ),
    )


QUAD_SAMPLES = 8  # bits of each pixel of a quad
SLOT = Field("slot", 12, meaning="of the triangle in the setup RAM")
BY_SAMPLE = Field("by_sample", 1, meaning="each sample is shaded by itself")  # [fs 3.5.4.1]
BACK = Field("back", 1, meaning="the triangle faces away")


def quad_tile(edge: int) -> tuple[Field, ...]:
    """A tile of a triangle whose quads are to be shaded.

    ``edge`` is that of :func:`fixfunc.spec.payloads.tile`.
    """
    return (
        SLOT,
        *tile_position(edge),
        SAMPLES,
        BY_SAMPLE,
        BACK,
        Field("mask", edge**2, meaning="samples to shade, lane (i, j) at bit j * edge + i"),
        Field(
            "covered",
            edge**2,
            meaning="samples that the triangle covers, lane (i, j) at bit j * edge + i",
        ),
    )


# A pixel without a sample to shade is a helper.
QUAD = (
    SLOT,
    *each("x y", 14, meaning="of the upper left pixel on the target, pixels"),
    SAMPLES,
    BY_SAMPLE,
    Field("sample", 3, meaning="where samples are shaded by themselves: the one"),
    BACK,
    Field("last", 1, meaning="the last quad of its tile"),
    Field(
        "mask",
        4 * QUAD_SAMPLES,
        meaning="samples to shade; of pixel (x, y) eight bits from 16 y + 8 x on",
    ),
    Field(
        "covered",
        4 * QUAD_SAMPLES,
        meaning="samples that the triangle covers; of pixel (x, y) eight from 16 y + 8 x on",
    ),
)
