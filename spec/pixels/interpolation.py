# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of the interpolator, as field tables: see :mod:`fixfunc.spec.payloads`."""

from enum import IntEnum

from fixfunc.spec.payloads import Field, each
from fixfunc.spec.points import QUAD

COMPONENTS = "xyzw"


class InterpolatorKind(IntEnum):
    """What a beat to the interpolator is."""

    CORNERS = 0  # of a triangle; those of the one before are behind it
    ATTRIBUTE = 1  # of that triangle, in order
    QUAD = 2  # of that triangle, behind its attributes


class How(IntEnum):
    """How an attribute is interpolated [fs 16.4]."""

    CONSTANT = 0  # that of the first corner, bit for bit
    LINEAR = 1
    PERSPECTIVE = 2


class Where(IntEnum):
    """Where an attribute is evaluated [fs 3.5.5]."""

    CENTRE = 0
    CENTROID = 1
    SAMPLE = 2


_KIND = Field("kind", 2, meaning="InterpolatorKind")
CORNERS = (
    _KIND,
    *each("x0 y0 x1 y1 x2 y2", 24, signed=True, meaning="of a corner, s15.8 pixels"),
    *each("rhw0 rhw1 rhw2", 32, meaning="1/w of a corner, float32"),
    Field("cut", 1, meaning="the triangle was cut from a primitive"),
    *each(
        "u0 u1 u2",
        25,
        meaning="of a cut triangle's corner: weight of the primitive's second, u1.24",
    ),
    *each(
        "v0 v1 v2",
        25,
        meaning="of a cut triangle's corner: weight of the primitive's third, u1.24",
    ),
    *each("linear perspective", 1, meaning="the triangle has attributes that are"),
    Field("sample_mask", 8, meaning="samples of the draw state that may be written"),
    Field("conservative", 1, meaning="the draw's coverage is: inner coverage is asked for"),
)
ATTRIBUTE = (
    _KIND,
    Field("how", 2, meaning="How it is interpolated"),
    Field("where", 2, meaning="Where it is evaluated"),
    *(
        Field(f"{name}{corner}", 32, meaning="component of the primitive's corner, float32")
        for corner in range(3)
        for name in COMPONENTS
    ),
)
QUAD_TO_SHADE = (_KIND, *QUAD)


def attribute_quad(components: int) -> tuple[Field, ...]:
    """A quad with an attribute, or with so many of its components."""
    return (
        *QUAD,
        Field("attribute", 4, meaning="number of the attribute"),
        Field("part", 2, meaning="of the attribute, by the components of a beat"),
        Field("end", 1, meaning="the last beat of its quad"),
        Field(
            "inner",
            4,
            meaning="pixels that the triangle has whole, of a conservative draw: number 2 y + x",
        ),
        *(
            Field(
                f"p{pixel}_{n}",
                32,
                meaning="component of the attribute at pixel (x, y), number 2 y + x: float32",
            )
            for pixel in range(4)
            for n in range(components)
        ),
    )
