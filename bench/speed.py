# SPDX-License-Identifier: BSD-2-Clause
"""Clocks of the hardware on chosen work, and seconds of the software around it."""

import resource
import subprocess
import sys
import time

import numpy as np
from amaranth.hdl import Module
from amaranth.lib import wiring

from fixfunc.cosim import catalogue, codec
from fixfunc.cosim.frame import mesh
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.payload import dtype
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.models.state import draw_state
from fixfunc.spec import payloads
from fixfunc.tb.geometry.triangle_setup import IN


class SetupAndRaster(wiring.Component):
    """Triangle setup and tile rasterizer in a row, without memory around them."""

    def __init__(self, config="default"):
        self._setup = catalogue.block("triangle_setup").create()
        self._raster = catalogue.block("tile_rasterizer").create(config)
        super().__init__(
            {"i": self._setup.signature.members["i"], "o": self._raster.signature.members["o"]}
        )

    def elaborate(self, _platform):
        m = Module()
        m.submodules.setup = setup = self._setup
        m.submodules.raster = raster = self._raster
        wiring.connect(m, wiring.flipped(self.i), setup.i)
        wiring.connect(m, setup.o, raster.i)
        wiring.connect(m, raster.o, wiring.flipped(self.o))
        return m


COPIES = 64  # of one triangle in a row: how long each takes once the pipeline is full


def beats(corners, width, height):
    """A state and triangles, corners in pixels, packed."""
    triangles = np.zeros(len(corners), TRIANGLE)
    for k in range(3):
        triangles[f"x{k}"], triangles[f"y{k}"] = (np.asarray(corners)[:, k].T * 256).astype(
            np.int64
        )
    state = np.atleast_1d(draw_state(width, height))
    return np.concatenate(
        [codec.pack(state, payloads.DRAW_STATE, IN), codec.pack(triangles, payloads.TRIANGLE, IN)]
    )


def small_triangles(rng, count):
    """Different triangles of 4x4 pixels, anywhere on a 1024x1024 target."""
    corners = rng.integers(0, 1020 * 256, (count, 1, 2)) / 256 + np.array([(0, 0), (4, 0), (0, 4)])
    return corners[:, rng.permutation(3)]


def works():
    """Name -> packed beats and how many triangles."""
    right = np.array([(0, 0), (512, 0), (0, 512)])
    sliver = np.array([(0, 0), (512, 0), (0, 16)])
    diagonal = np.array([(0, 0), (4096, 4095), (4096, 4096)])
    small = small_triangles(np.random.default_rng(0), 1000)
    return {
        "right triangle 512 px": (beats([right] * COPIES, 1024, 1024), COPIES),
        "sliver 512x16": (beats([sliver] * COPIES, 1024, 1024), COPIES),
        "diagonal sliver across 4096x4096": (beats([diagonal] * COPIES, 4096, 4096), COPIES),
        "1000 triangles of 4x4 px": (beats(small, 1024, 1024), len(small)),
    }


def clocks():
    """Rows of clocks, one for each work.

    Work, triangles, touched tiles, clocks, clocks per tile or per bound, clocks of the first
    triangle alone.
    """
    volume = Volume(SetupAndRaster(), "setup_and_raster")
    rows = []
    for name, (given, count) in works().items():
        out = volume.run({"i": given}, 1 << 22)
        kind = codec.unpack(out.outputs["o"], payloads.TILE, dtype(payloads.TILE))["kind"]
        tiles = int((kind == 0).sum())
        alone = volume.run({"i": given[:2]}, 1 << 22)
        tiles_alone = len(alone.outputs["o"]) - 1
        bound = max(count, tiles)
        rows.append(
            (
                name,
                count,
                tiles,
                out.clocks,
                out.clocks / bound,
                f"{alone.clocks} for {tiles_alone} tiles",
            )
        )
    return rows


def rates(config):
    """Rates of a configuration of the rasterizer.

    Pixels and clocks of the right triangle of 512 pixels; triangles and clocks of those of 4x4.
    """
    volume = Volume(SetupAndRaster(config), "setup_and_raster")
    done = works()
    given, _ = done["right triangle 512 px"]
    large = volume.run({"i": given}, 1 << 22)
    tiles = codec.unpack(large.outputs["o"], payloads.TILE, dtype(payloads.TILE))
    pixels = int(np.bitwise_count(tiles["mask"][tiles["kind"] == 0]).sum())
    given, count = done["1000 triangles of 4x4 px"]
    return pixels, large.clocks, count, volume.run({"i": given}, 1 << 22).clocks


def volume_ratio(clock_count=400_000):
    """(clocks a second of the volume tier, of the bare loop, their ratio), alternating five times.

    Medians.
    """
    given, _ = works()["right triangle 512 px"]
    volume = Volume(SetupAndRaster(), "setup_and_raster")
    tier = []
    bare = []
    ratio = []
    for _ in range(5):
        start = time.perf_counter()
        ran = 0
        while ran < clock_count:
            ran += volume.run({"i": given}, 1 << 19).simulated
        tier.append(ran / (time.perf_counter() - start))
        start = time.perf_counter()
        volume.bare(given, clock_count)
        bare.append(clock_count / (time.perf_counter() - start))
        ratio.append(tier[-1] / bare[-1])
    return tuple(float(np.median(v)) for v in (tier, bare, ratio))


def golden_frame():
    """(faces, seconds, gigabytes at most) of a finely divided teapot at 1280x720, 4x.

    It is drawn in a process of its own.
    """
    done = subprocess.run(
        [sys.executable, "-m", "bench.speed"], capture_output=True, text=True, check=True
    )
    faces, seconds, memory = done.stdout.split()
    return int(faces), float(seconds), float(memory)


if __name__ == "__main__":
    vertices, faces = mesh.teapot(40)
    start = time.perf_counter()
    render(Scene(vertices, faces))
    print(
        len(faces),
        time.perf_counter() - start,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    )
