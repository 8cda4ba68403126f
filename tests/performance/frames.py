# SPDX-License-Identifier: BSD-2-Clause
"""Small frames, and the clocks that the hardware took for them."""

from functools import cache

import numpy as np

from fixfunc.cosim.frame import mesh
from fixfunc.cosim.frame.job import FrameJob
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.rtl.top import CONFIGS

SIZE = 320, 240
FLAT = np.diag([1, 1, 1, 1]).astype(np.float32)
PARAMS = CONFIGS["frame"]
# Clocks of the top, configuration frame: near and far. test_hardware.py measures them anew.
MEASURED = {
    "teapot, 1x": (11631, 13147),
    "layers, 1x": (41021, 43389),
    "slivers, 1x": (19516, 21317),
    "teapot, 4x": (16348, 17757),
    "layers, 4x": (41450, 44047),
    "slivers, 4x": (45319, 53667),
}


def layers():
    """Three layers over all of the screen: far, near, between."""
    places = [(x, y, z) for z in (0.8, 0.3, 0.6) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    faces = [
        (4 * n + a, 4 * n + b, 4 * n + c) for n in range(3) for a, b, c in ((0, 1, 2), (0, 2, 3))
    ]
    return np.array(places, float), np.array(faces)


def slivers():
    """Three hundred of them across the screen: tiles come and go again and again."""
    rng = np.random.default_rng(0)
    ends = rng.uniform(-1, 1, (300, 2, 3)) * (1, 1, 0.4) + (0, 0, 0.5)
    third = ends[:, 1:] + rng.uniform(-0.02, 0.02, (300, 1, 3)) * (1, 1, 0)
    corners = np.concatenate([ends, third], 1).reshape(-1, 3)
    return corners, np.arange(len(corners)).reshape(-1, 3)


def scenes():
    """By name."""
    for samples in (1, 4):
        yield f"teapot, {samples}x", Scene(*mesh.teapot(4), *SIZE, samples)
        yield f"layers, {samples}x", Scene(*layers(), *SIZE, samples, transform=FLAT)
        yield f"slivers, {samples}x", Scene(*slivers(), *SIZE, samples, transform=FLAT)


@cache
def job(name):
    """A frame as a job of the top."""
    scene = dict(scenes())[name]
    return FrameJob(scene, render(scene), PARAMS)


@cache
def events(name):
    """Its events, with the outcomes of the golden HiZ."""
    return job(name).events()
