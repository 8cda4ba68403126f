# SPDX-License-Identifier: BSD-2-Clause
"""Pixel state: how pixels are shaded where no shader is asked, as a field table; see
:mod:`fixfunc.spec.payloads`.
"""

from fixfunc.spec.payloads import Field
from fixfunc.spec.pixels.texture_stage import STAGE_STATE
from fixfunc.spec.points import BY_SAMPLE

ATTRIBUTES = 8  # of a triangle, at most
PIXEL_STATE = (
    *STAGE_STATE[1:],  # without kind
    BY_SAMPLE,
    Field("sample_mask", 8, meaning="samples that count as covered, if the triangle covers them"),
    *(
        Field(f"{name}{n}", 2, meaning=meaning)
        for n in range(ATTRIBUTES)
        for name, meaning in (
            ("how", "How the attribute is interpolated"),
            ("where", "Where the attribute is evaluated"),
        )
    ),
    Field("coordinates", 4, meaning="number of the attribute whose x and y are u and v"),
)
