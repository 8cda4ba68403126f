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


_KIND = Field("kind", 2)  # InterpolatorKind
CORNERS = (
    _KIND,
    *each("x0 y0 x1 y1 x2 y2", 24, signed=True),  # s15.8 pixels
    *each("rhw0 rhw1 rhw2", 32),  # 1/w, float32
    Field("cut", 1),  # it was cut from a primitive
    # Of a cut triangle's corners: weights of the primitive's second and third, 1.24.
    *each("u0 u1 u2 v0 v1 v2", 25),
    *each("linear perspective", 1),  # it has attributes that are
    Field("sample_mask", 8),  # of the draw state
)
ATTRIBUTE = (
    _KIND,
    Field("how", 2),
    Field("where", 2),
    # Components of the primitive's corners, float32.
    *(Field(f"{name}{corner}", 32) for corner in range(3) for name in COMPONENTS),
)
QUAD_TO_SHADE = (_KIND, *QUAD)


def attribute_quad(components: int) -> tuple[Field, ...]:
    """A quad with an attribute, or with so many of its components."""
    return (
        *QUAD,
        Field("attribute", 4),
        Field("part", 2),  # of the attribute, by so many components
        Field("end", 1),  # the last one of its quad
        # Of pixel (x, y), whose number is 2 y + x: float32.
        *(Field(f"p{pixel}_{n}", 32) for pixel in range(4) for n in range(components)),
    )
