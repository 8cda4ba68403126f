# SPDX-License-Identifier: BSD-2-Clause
"""Frames of several passes: what meshes do not do, blend, discard, carry a photograph, clear."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.frame.job import PAGE, Job, in_memory
from fixfunc.models.formats import MOST
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.memory.surface import plane_bytes, tiles_of
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.state import draw_state
from fixfunc.models.top.shades import Shades, Shading
from fixfunc.rtl.top import TopParams
from fixfunc.spec.state import Compare, DepthFormat

FAR = MOST[DepthFormat.D24]
BACKGROUND = 0xFF402010
SMALL = 192, 128  # pixels of a small target
QUAD = (0, 1, 2), (0, 2, 3)


class Pass(NamedTuple):
    """Triangles of one state: corners in pixels and depths 0 to 1, shape (n, 3, 3)."""

    state: np.void
    corners: np.ndarray
    shader: Callable[[Shading], np.ndarray | Shades]
    clears: bool = False  # the target is new, and begins with a clear


def quads(rng, count, size, side, depth=(0.5, 0.5)):
    """Upright rectangles somewhere on a target, as triangles."""
    low = rng.uniform(0, 1, (count, 2)) * size - np.array(side) / 2
    high = low + rng.uniform(0.5, 1.5, (count, 2)) * side
    z = rng.uniform(*depth, count)
    rows = [(low[:, 0], low[:, 1]), (high[:, 0], low[:, 1]), (high[:, 0], high[:, 1])]
    rows.append((low[:, 0], high[:, 1]))
    corners = np.stack([np.stack([x, y, z], -1) for x, y in rows], 1)
    return corners[:, np.array(QUAD)].reshape(-1, 3, 3)


def screen(size, depth=0.5):
    """Two triangles over all of a target."""
    x, y = size
    corners = np.array([(0, 0, depth), (x, 0, depth), (x, y, depth), (0, y, depth)], np.float64)
    return corners[np.array(QUAD)]


def places(shading):
    """Pixels of samples, x and y: int, shape (n, 8, 8)."""
    lx, ly = LANE_SHAPE[int(shading.state["samples"])]
    row, column = np.mgrid[:8, :8]
    x = shading.tiles["x"].astype(np.int64)[:, None, None] * (8 >> lx) + (column >> lx)
    y = shading.tiles["y"].astype(np.int64)[:, None, None] * (8 >> ly) + (row >> ly)
    return x, y


def of_triangle(shading):
    """A colour of each primitive, half transparent."""
    number = shading.triangle[:, None, None] // 2
    colour = (number * 0x9E3779B1 & 0xFFFFFF | 0x80000000).astype(np.uint32)
    return np.broadcast_to(colour, (len(shading.tiles), 8, 8))


def round_dots(shading):
    """Alpha falls off from the middle of each eight pixels: particles."""
    x, y = places(shading)
    distance = (x % 16 - 8) ** 2 + (y % 16 - 8) ** 2
    alpha = np.maximum(0, 255 - 3 * distance).astype(np.uint32)
    return of_triangle(shading) & np.uint32(0xFFFFFF) | alpha << np.uint32(24)


def leaves(shading):
    """Alpha test: round holes between leaves, whose colours follow their places."""
    x, y = places(shading)
    number = shading.triangle[:, None, None] // 2
    alpha = (x * 7 + number * 13) % 23 + (y * 5 + number * 3) % 19
    green = (96 + 3 * alpha).astype(np.uint32)
    return Shades(np.uint32(0xFF103010) | green << np.uint32(8), survivors=alpha > 16)


def photograph(seed, size, roughness):
    """A shader that gives a picture whose spectrum falls off as a photograph's does."""
    rng = np.random.default_rng(seed)
    fy, fx = np.meshgrid(np.fft.fftfreq(size[1]), np.fft.fftfreq(size[0]), indexing="ij")
    fall = 1 / np.maximum(np.hypot(fx, fy), 1 / max(size)) ** roughness
    planes = [np.fft.ifft2(np.fft.fft2(rng.normal(size=size[::-1])) * fall).real for _ in range(3)]
    channels = [
        np.clip(128 + 48 * plane / plane.std(), 0, 255).astype(np.uint32) for plane in planes
    ]
    picture = channels[0] | channels[1] << np.uint32(8) | channels[2] << np.uint32(16)
    picture |= np.uint32(0xFF000000)

    def shade(shading):
        x, y = places(shading)
        return picture[y % size[1], x % size[0]]

    return shade


def passes(size, samples):
    """Name and passes of every frame."""
    rng = np.random.default_rng(1)
    state = draw_state(*size, samples)
    over = draw_state(*size, samples, depth_test=0, depth_write=0, blend_enable=1)
    tested = draw_state(*size, samples, does=("discard",), depth_compare=Compare.LESS_EQUAL)
    flat = draw_state(*size, samples, depth_test=0, depth_write=0)
    lit = photograph(0, size, 1.2)
    yield (
        "HUD and particles",
        [
            Pass(state, screen(size, 0.9), lit, True),
            Pass(over, quads(rng, 900, size, (24, 24)), round_dots),
            Pass(over, quads(rng, 40, size, (260, 90)), of_triangle),
        ],
    )
    yield (
        "foliage",
        [
            Pass(state, screen(size, 0.95), lit, True),
            Pass(tested, quads(rng, 500, size, (120, 120), (0.1, 0.9)), leaves),
        ],
    )
    yield (
        "photograph, then noise",
        [
            Pass(state, screen(size), lit, True),
            Pass(flat, screen(size), photograph(1, size, 0)),
        ],
    )
    small = draw_state(*SMALL, samples)
    yield (
        "48 small passes, a clear each",
        [
            Pass(small, quads(rng, 12, SMALL, (70, 50), (0.2, 0.8)), of_triangle, True)
            for _ in range(48)
        ],
    )


class PassesJob(Job):
    """Passes as a command stream: targets one behind the other in memory, a fence at the end."""

    def __init__(self, frame: Sequence[Pass], params: TopParams) -> None:
        self._frame = frame
        self._ends = np.cumsum([len(pass_.corners) for pass_ in frame])
        packets = CommandList()
        at = 0
        self.colours = []
        for part in frame:
            if part.clears:
                bases = {}
                count = tiles_of(part.state)
                for plane in ("depth", "stencil", "colour"):
                    bases[plane] = at
                    at += -(-plane_bytes(count, plane) // PAGE) * PAGE
                self.colours.append((bases["colour"], at))
                packets.target(**bases).state(part.state)
                width, height = (int(part.state[f"target_{side}"]) for side in ("width", "height"))
                packets.clear(
                    (0, 0, width, height),
                    depth=1,
                    stencil=1,
                    colour=1,
                    depth_value=FAR,
                    colour_value=BACKGROUND,
                )
            else:
                packets.state(part.state)
            packets.triangles(_records(part.corners))
        super().__init__(params, *in_memory(packets.fence(1).transfers, at), self._shade)

    def _shade(self, shading: Shading) -> np.ndarray | Shades:
        """Each pass by its own shader: triangles are numbered through the stream."""
        which = np.searchsorted(self._ends, shading.triangle, "right")
        assert (which == which[:1]).all()
        return self._frame[int(which[0]) if len(which) else 0].shader(shading)


def _records(corners):
    """Triangles, snapped."""
    records = np.zeros(len(corners), TRIANGLE)
    for n in range(3):
        records[f"x{n}"] = np.rint(corners[:, n, 0] * 256)
        records[f"y{n}"] = np.rint(corners[:, n, 1] * 256)
        records[f"z{n}"] = np.rint(corners[:, n, 2] * FAR * 256)
    return records


def scenes(size: tuple[int, int], params: TopParams):
    """Name and job of every frame, at 1x and 4x."""
    for samples in (1, 4):
        for name, frame in passes(size, samples):
            yield f"{name}, {samples}x", PassesJob(frame, params)
