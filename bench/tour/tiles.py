# SPDX-License-Identifier: BSD-2-Clause
"""Figures from triangles to tiles of depths: setup, rasterizer, HiZ, depth test and its memory."""

from collections.abc import Sequence
from functools import cache

import numpy as np

from bench.tour.geometry import COLOURS, Axes, plain
from fixfunc.cosim.figures.counters import mode_name
from fixfunc.models.depth.cached_depth import CachedDepth
from fixfunc.models.geometry import triangle_setup
from fixfunc.models.geometry.viewport import snap
from fixfunc.models.raster.forced_samples import positions_of
from fixfunc.models.raster.tile_rasterizer import coverage
from fixfunc.models.scene.render import Frame, render
from fixfunc.models.scene.scene import Scene, teapot
from fixfunc.models.state import draw_state
from fixfunc.spec.state import Cull, Outcome

SIDES = 32, 16  # pixels of what setup and rasterizer show
FRAME = 320, 180
ROOM = 1 << 20  # bytes of a plane


@cache
def frame() -> Frame:
    """The teapot, stage by stage."""
    return render(Scene(*teapot(6), *FRAME, 4))


def records(points: Sequence[np.ndarray]) -> np.ndarray:
    """Triangles for the setup, of points in pixels."""
    places = snap(np.float32(points))
    out = np.zeros(len(places), triangle_setup.TRIANGLE)
    for corner in range(3):
        out[f"x{corner}"], out[f"y{corner}"] = places[:, corner].T
    return out


def setup(axes: Axes) -> None:
    """What setup keeps of random triangles, with boxes, and what it culls and why."""
    rng = np.random.default_rng(5)
    centres = rng.uniform((-3, -2), (35, 18), (60, 1, 2))
    points = centres + rng.normal(0, 2.2, (60, 3, 2)) * rng.choice([0.1, 1], (60, 1, 1))
    points[:2, 2] = points[:2, 0]
    made = triangle_setup.setup(records(points), draw_state(*SIDES, cull=Cull.BACK))
    causes = {"no area": made.zero_area, "faces back": made.facing, "no sample": made.no_sample}
    for n in made.index:
        axes[0].fill(*points[n].T, color=COLOURS[1], ec=COLOURS[0], lw=0.8)
    for record in made.records:
        x0, y0, x1, y1 = (int(record[name]) for name in ("x0", "y0", "x1", "y1"))
        box = [(x0, y0), (x1 + 1, y0), (x1 + 1, y1 + 1), (x0, y1 + 1), (x0, y0)]
        axes[0].plot(*np.transpose(box), color=COLOURS[2], lw=0.7)
    plain(axes[0], f"{len(made.records)} set up, each with its box", (-2, 34, 18, -2))
    for colour, (name, which) in zip(COLOURS[2:], causes.items(), strict=False):
        for n in np.flatnonzero(which):
            axes[1].fill(*points[n].T, color=colour, ec=colour, lw=1.5)
        axes[1].plot([], [], "s", color=colour, label=f"{name}: {which.sum()}")
    axes[1].plot([0, 32, 32, 0, 0], [0, 0, 16, 16, 0], color=COLOURS[0], lw=0.8)
    axes[1].legend(fontsize=7, loc="upper right")
    plain(axes[1], "culled", (-6, 50, 20, -4))


def raster(axes: Axes) -> None:
    """Samples that a triangle covers, and two that share an edge."""
    points = np.float32([[(3, 2), (29, 6), (8, 14.5)], [(29, 6), (30, 15), (8, 14.5)]])
    masks = coverage(snap(points), *SIDES, samples=4)
    axes[0].imshow(masks[0].mean(-1), cmap="Greens", extent=(0, 32, 16, 0), vmax=1.4)
    for x in range(0, 33, 4):
        axes[0].axvline(x, color=COLOURS[1], lw=0.5)
    for y in range(0, 17, 4):
        axes[0].axhline(y, color=COLOURS[1], lw=0.5)
    axes[0].fill(*points[0].T, fill=False, ec=COLOURS[2], lw=1)
    plain(axes[0], "covered shares of pixels, tiles of 8 by 8 samples", (0, 32, 16, 0))
    places = positions_of(4, np.arange(4)) + 0.5
    for n, colour in enumerate((COLOURS[3], COLOURS[5])):
        y, x, sample = np.nonzero(masks[n])
        axes[1].plot(x + places[sample, 0], y + places[sample, 1], ".", color=colour, ms=3)
        axes[1].fill(*points[n].T, fill=False, ec=colour, lw=0.8)
    both = int(masks.all(0).sum())
    plain(axes[1], f"an edge that two share: {both} samples of both", (14, 30, 13, 5))


def hiz(axes: Axes) -> None:
    """What HiZ finds of the teapot's tiles, beside triangles by tile."""
    made = frame()
    axes[0].imshow(np.log1p(_by_tile(made, made.tiles)), cmap="inferno")
    plain(axes[0], f"{len(made.tiles):,} tiles of triangles, dark to bright")
    kinds = Outcome.DROP, Outcome.ACCEPT, Outcome.TEST  # red, green, blue
    counts = np.stack([_by_tile(made, made.tiles[made.outcome == kind]) for kind in kinds], -1)
    axes[1].imshow(counts / np.maximum(counts.sum(-1, keepdims=True), 1))
    drop, accept, test = (made.counters[f"hiz_{name}"] for name in ("drop", "accept", "test"))
    plain(axes[1], f"red dropped {drop:,}, green accepted {accept:,},\nblue tested {test:,}")


def _by_tile(made, tiles):
    """How many of these tiles lie at each place."""
    out = np.zeros((made.tiles["y"].max() + 1, made.tiles["x"].max() + 1))
    np.add.at(out, (tiles["y"], tiles["x"]), 1)
    return out


def depth(axes: Axes) -> None:
    """Depths of the teapot, and how its tiles go to memory."""
    made = frame()
    image = made.depth[..., 0].astype(float)
    seen = image < image.max()
    axes[0].imshow(np.where(seen, image, np.nan), cmap="bone_r")
    passed = f"{made.counters['samples_passed']:,} of {made.counters['samples_covered']:,}"
    plain(axes[0], f"depths: {passed} samples passed")
    unit = CachedDepth(np.zeros(2 * ROOM, np.uint8))
    unit.state = made.state
    bases = {"depth": 0, "stencil": ROOM}
    unit.clear((0, 0, *FRAME), int(made.state["depth_max"]), 0, bases)
    unit.test(made.tiles)
    unit.flush()
    moved = unit.traffic["depth"]
    counts = {}
    for kind, count in moved.items():
        if kind.cause == "write_back":
            name = mode_name("depth", kind.mode)
            counts[name] = counts.get(name, 0) + count
    names = sorted(counts, reverse=True)
    axes[1].barh(names, [counts[name] for name in names], color=COLOURS[1])
    axes[1].set_title("tiles written back, by mode", fontsize=9)
    axes[1].tick_params(labelsize=7)
