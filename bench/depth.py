# SPDX-License-Identifier: BSD-2-Clause
"""Depth: what HiZ decides on a frame and on stacks of layers, the traffic, and clocks."""

import itertools

import numpy as np

from fixfunc.cosim import codec
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.models.depth.depth_unit import DepthUnit
from fixfunc.models.geometry.triangle_setup import TRIANGLE, setup
from fixfunc.models.payload import dtype
from fixfunc.models.raster.tile_rasterizer import rasterize
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.spec.state import Compare, Kind, Outcome
from fixfunc.tb import catalogue
from fixfunc.tb.bench.scenes import control_beat

LAYERS = 4
WIDTH = 1280
HEIGHT = 720
BOUNDS = {"off": None, "one bound": "max", "two bounds": "both"}


def stack(order, width=WIDTH, height=HEIGHT):
    """Layers of a screen's size, each two triangles, at depths in the order given.

    A little tilted.
    """
    triangles = np.zeros(2 * LAYERS, TRIANGLE)
    corners = (
        np.array([[(0, 0), (width, 0), (0, height)], [(width, height), (0, height), (width, 0)]])
        * 256
    )
    for n, layer in enumerate(order):
        for half in range(2):
            for k in range(3):
                x, y = corners[half, k]
                depth = (layer + 1) / (LAYERS + 1) + 0.02 * x / (width * 256)
                t = triangles[2 * n + half :][:1]
                t[f"x{k}"] = x
                t[f"y{k}"] = y
                t[f"z{k}"] = int(depth * ((1 << 24) - 1) * 256)
    return triangles


def torus(around, across):
    """A torus whose tube is a little wavy: 2 * around * across triangles."""
    u, v = (
        grid.ravel() * 2 * np.pi
        for grid in np.meshgrid(
            np.arange(around) / around, np.arange(across) / across, indexing="ij"
        )
    )
    tube = 0.4 + 0.03 * np.sin(9 * u) * np.sin(5 * v)
    vertices = np.stack(
        [(1 + tube * np.cos(v)) * np.cos(u), tube * np.sin(v), (1 + tube * np.cos(v)) * np.sin(u)],
        -1,
    )
    i, j = (
        grid.ravel() for grid in np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    )
    corner = [
        (i + a) % around * across + (j + b) % across for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))
    ]
    return vertices, np.stack([corner[k] for k in (0, 1, 2, 0, 2, 3)], -1).reshape(-1, 3)


def outcomes(tiles, state, bounds):
    """(tiles dropped, accepted, tested; samples looked at one by one, samples passed)."""
    unit = DepthUnit(state, bounds=bounds)
    passed, outcome = unit.test(tiles)
    counts = [int((outcome == kind).sum()) for kind in (Outcome.DROP, Outcome.ACCEPT, Outcome.TEST)]
    looked = int(np.bitwise_count(tiles["mask"][outcome == Outcome.TEST]).sum())
    return *counts, looked, int(passed.sum())


def rows(frame):
    """Rows of the table: scene, HiZ, and what :func:`outcomes` gives."""
    scenes = {"demo frame": (frame.tiles, frame.state)}
    rng = np.random.default_rng(0)
    state = draw_state(WIDTH, HEIGHT)
    orders = {
        "front to back": range(LAYERS),
        "back to front": range(LAYERS)[::-1],
        "shuffled": rng.permutation(LAYERS),
    }
    for name, order in orders.items():
        scenes[f"{LAYERS} layers, {name}"] = rasterize(setup(stack(order), state).records)[0], state
    return [
        (scene, hiz, *outcomes(tiles, state, bounds))
        for scene, (tiles, state) in scenes.items()
        for hiz, bounds in BOUNDS.items()
    ]


def traffic():
    """Traffic in Gb/s at 1920x1080 and 60 Hz, mean of every order of the layers, and overdraw.

    Of HiZ, depth read, depth write and colour write.
    """
    width = 320
    height = 180
    result = []
    state = draw_state(width, height)
    orders = list(itertools.permutations(range(LAYERS)))
    tiles = [rasterize(setup(stack(order, width, height), state).records)[0] for order in orders]
    for hiz, bounds in BOUNDS.items():
        counts = np.array([outcomes(t, state, bounds)[3:] for t in tiles]).sum(0) / (
            len(orders) * width * height
        )
        read, write = (float(count) * 1920 * 1080 * 60 * 32 / 1e9 for count in counts)
        result.append((hiz, read, write, write, float(counts[1])))
    return result


def clocks():
    """Rows: work, tiles, clocks a tile through HiZ and depth test in hardware.

    The sink is always ready; the clear and the pipeline's depth are subtracted.
    """
    block = catalogue.block("depth_unit")
    rng = np.random.default_rng(0)
    count = 20000
    bits = payloads.width(payloads.DRAW_STATE)
    volume = Volume(block.simulated("frame"), block.stem)
    size = 64
    head = [
        codec.pack(
            np.atleast_1d(draw_state(8 * size, 8 * size, depth_compare=Compare.GREATER)),
            payloads.DRAW_STATE,
            bits,
        ),
        control_beat(
            payloads.CLEAR, Kind.CLEAR, bits, depth=1, stencil=1, x1=8 * size, y1=8 * size
        ),
    ]
    place = np.arange(count)
    works = {
        "row by row": (place % size, place // size % size),
        "one place": (0 * place, 0 * place),
        "any place": rng.integers(0, size, (2, count)),
        "any place of one bank": 2 * rng.integers(0, size // 2, (2, count)),
    }
    rows = []
    for name, (x, y) in works.items():
        tiles = np.zeros(count, dtype(payloads.TILE))
        tiles["x"] = x
        tiles["y"] = y
        tiles["mask"] = (1 << 64) - 1
        tiles["z0"] = (place + 1) << 16
        tiles["last"] = 1
        tiles["zmin"] = tiles["zmax"] = tiles["z0"] >> 8
        tiles["mask"][::2] >>= 32  # some cover all of a tile, some leave its range to the report
        runs = [
            volume.run(
                {"i": np.concatenate([*head, codec.pack(tiles[:n], payloads.TILE, bits)])},
                count + 16,
            )
            for n in (count // 2, count)
        ]
        rows.append((name, count, (runs[1].clocks - runs[0].clocks) / (count - count // 2)))
    return rows
