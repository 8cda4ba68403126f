# SPDX-License-Identifier: BSD-2-Clause
"""Bins of the faces of cubes: faces by their neighbours in a quad, ties, gradients."""

import numpy as np

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.rtl.texture.cube.cube_faces import CubeFacesParams
from fixfunc.spec.textures.cube import CUBE_STATE, FACED_QUAD
from fixfunc.tb.bench.states import parted
from fixfunc.tb.coverage.bins import Seen, cross, flag

CONFIG = "tiny"
COUNT = 3000
SIGN = 1 << 31


def bins(seen: Seen, params: CubeFacesParams) -> dict[str, int]:
    """Counts of one batch."""
    states, quads, state_of = parted(seen.rows, CUBE_STATE, params.quad)
    out = codec.unpack(seen.out["o"], FACED_QUAD, dtype(FACED_QUAD))
    coarse = flag(states["coarse"][state_of], "fine", "coarse")
    found = {}
    for pixel in range(4):
        face = {str(n): out[f"face{pixel}"] == n for n in range(6)}
        found |= cross(f"face of pixel {pixel}", face, coarse)
        bits = np.array([quads[f"{name}{pixel}"] for name in "uvw"], np.uint32)
        x, y, z = np.abs(bits.view(np.float32))
        ties = {
            "x and y": (x == y) & (z < x),
            "x and z": (x == z) & (y < x),
            "y and z": (y == z) & (x < y),
            "all": (x == y) & (y == z) & (x > 0),
            "nothing": (x == 0) & (y == 0) & (z == 0) & (bits[2] == 0),
            "nothing, along -z": (x == 0) & (y == 0) & (z == 0) & (bits[2] == SIGN),
            "infinite": ~np.isfinite([x, y, z]).all(0),
        }
        found |= cross(f"direction of pixel {pixel}", ties)
    several = np.ptp([out[f"face{pixel}"] for pixel in range(4)], axis=0) > 0
    return found | cross("faces of a quad", flag(several, "one", "several"))
