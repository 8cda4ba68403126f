# SPDX-License-Identifier: BSD-2-Clause
"""Scenes of which nothing is drawn, all of them legal."""

import numpy as np

from fixfunc.models.scene.scene import Scene
from fixfunc.spec.state import Cull

FLAT = np.diag([1, 1, 0, 1]).astype(np.float32)  # x and y are clip space, z is 0
NOTHING = {
    "no number": ([(np.nan, 0, 0), (np.nan, 1, 0), (1, np.nan, 0)], {}),
    "a corner at infinity": ([(np.inf, 0, 0), (1, 0, 0), (0, 1, 0)], {}),
    "no area": ([(0, 0, 0), (1, 0, 0), (2, 0, 0)], {}),
    "outside": ([(3, 0, 0), (4, 0, 0), (3, 1, 0)], {"transform": FLAT}),
    "culled": (
        [(-0.5, -0.5, 0), (0.5, -0.5, 0), (0, 0.5, 0)],
        {"transform": FLAT, "cull": Cull.BACK},
    ),
}


def nothing(why):
    """A scene of one triangle, 32 by 24 pixels."""
    vertices, more = NOTHING[why]
    return Scene(np.array(vertices, np.float32), np.array([(0, 1, 2)]), 32, 24, 4, **more)
