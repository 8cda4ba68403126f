# SPDX-License-Identifier: BSD-2-Clause
"""Pixel state: how pixels are shaded where no shader is asked, as a field table; see
:mod:`fixfunc.spec.payloads`.
"""

from fixfunc.spec.payloads import Field
from fixfunc.spec.pixels.texture_stage import STAGE_STATE

ATTRIBUTES = 8  # of a triangle, at most
PIXEL_STATE = (
    *STAGE_STATE[1:],  # without kind
    Field("by_sample", 1),  # each sample is shaded by itself [fs 3.5.4.1]
    Field("sample_mask", 8),  # samples that may be a pixel's place under Where.CENTROID
    # fixfunc.spec.pixels.interpolation.How and Where of each attribute
    *(Field(f"{name}{n}", 2) for n in range(ATTRIBUTES) for name in ("how", "where")),
)
