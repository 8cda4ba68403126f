"""What HiZ decides, on the golden depth unit: a frame, and a stack of layers in three orders."""

import numpy as np

from models.depth.depth_unit import DepthUnit
from models.geometry.triangle_setup import TRIANGLE, setup
from models.raster.tile_rasterizer import rasterize
from models.state import draw_state
from spec.state import Outcome

LAYERS, WIDTH, HEIGHT = 4, 1280, 720
BOUNDS = {"off": None, "one bound": "max", "two bounds": "both"}


def stack(order):
    """Layers of a screen's size, each two triangles, at depths in the order given; a little tilted."""
    triangles = np.zeros(2 * LAYERS, TRIANGLE)
    corners = np.array([[(0, 0), (WIDTH, 0), (0, HEIGHT)], [(WIDTH, HEIGHT), (0, HEIGHT), (WIDTH, 0)]]) * 256
    for n, layer in enumerate(order):
        for half in range(2):
            for k in range(3):
                x, y = corners[half, k]
                depth = (layer + 1) / (LAYERS + 1) + 0.02 * x / (WIDTH * 256)
                t = triangles[2 * n + half:][:1]
                t[f"x{k}"], t[f"y{k}"], t[f"z{k}"] = x, y, int(depth * ((1 << 24) - 1) * 256)
    return triangles


def outcomes(tiles, state, bounds):
    """(tiles dropped, accepted, tested; samples looked at one by one, samples passed)."""
    unit = DepthUnit(state, bounds=bounds)
    passed, outcome = unit.test(tiles)
    counts = [int((outcome == found).sum()) for found in (Outcome.DROP, Outcome.ACCEPT, Outcome.TEST)]
    looked = int(np.bitwise_count(tiles["mask"][outcome == Outcome.TEST]).sum())
    return *counts, looked, int(passed.sum())


def rows(frame):
    """Rows of the table: scene, HiZ, and what :func:`outcomes` gives."""
    scenes = {"demo frame": (frame.tiles, frame.state)}
    rng, state = np.random.default_rng(0), draw_state(WIDTH, HEIGHT)
    orders = {"front to back": range(LAYERS), "back to front": range(LAYERS)[::-1], "shuffled": rng.permutation(LAYERS)}
    for name, order in orders.items():
        scenes[f"{LAYERS} layers, {name}"] = rasterize(setup(stack(order), state).records)[0], state
    return [(scene, hiz, *outcomes(tiles, state, bounds)) for scene, (tiles, state) in scenes.items() for hiz, bounds in BOUNDS.items()]
