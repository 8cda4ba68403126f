# SPDX-License-Identifier: BSD-2-Clause
"""Payloads of the faces of cubes, as field tables: see :mod:`fixfunc.spec.payloads`."""

from enum import IntEnum

from fixfunc.spec.payloads import Field
from fixfunc.spec.textures.level_of_detail import EXPLICIT_GRADIENTS, GRADIENTS

FACES = 6  # +x, -x, +y, -y, +z, -z [fs 5.3.8]


class CubeKind(IntEnum):
    """What a beat to the faces of cubes is."""

    STATE = 0
    QUAD = 1


_KIND = Field("kind", 1, meaning="CubeKind")
CUBE_STATE = (
    _KIND,
    Field("coarse", 1, meaning="gradients of the first row and column for all pixels"),
    EXPLICIT_GRADIENTS,
)
# Of pixel (x, y), whose number is 2 y + x.
CUBE_QUAD = (
    _KIND,
    *(
        Field(f"{name}{pixel}", 32, meaning="component of a direction, float32")
        for pixel in range(4)
        for name in "uvw"
    ),
)
# Where quads may bring gradients of directions, to the right and downwards.
CUBE_GRADIENTS = tuple(
    Field(f"{way}_{name}{pixel}", 32, meaning="gradient of a direction, float32")
    for pixel in range(4)
    for way in ("across", "down")
    for name in "uvw"
)
FACED_QUAD = (
    *(
        field
        for pixel in range(4)
        for field in (
            Field(f"face{pixel}", 3, meaning="number of the face"),
            *(Field(f"{n}{pixel}", 32, meaning="on the face, 0 to 1, float32") for n in "uv"),
        )
    ),
    *GRADIENTS,
)
