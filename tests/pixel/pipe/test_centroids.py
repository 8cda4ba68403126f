# SPDX-License-Identifier: BSD-2-Clause
"""Where the pixel pipe evaluates an attribute at centroids, behind tests that take samples away.

Colours are positions: red and green of a sample say where its attribute was evaluated, in 1/16
pixel.
"""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.reference import top as reference
from fixfunc.cosim.vertices import write_primitives, write_vertices
from fixfunc.models.memory.surface import to_image
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl import top as rtl
from fixfunc.spec.commands import START, VERTEX_PLACE
from fixfunc.spec.pixels.interpolation import How, Where
from fixfunc.spec.state import Compare
from fixfunc.tb.frontend import streams
from fixfunc.tb.frontend.vertex_draws import ONE
from tests.oracles import naive
from tests.volume import check_outputs

BLOCK = "top"
CONFIG = "tiny"
PARAMS = rtl.CONFIGS[CONFIG]
SIZE = 16
NEAR, FAR, CLEARED = 1 << 22, 1 << 23, (1 << 24) - 1


def triangle(rng):
    """Corners that reach over most of the target, 1/256 pixel: shape (3, 2)."""
    return rng.integers(-4 * 256, (SIZE + 4) * 256, (3, 2))


def draw(packets, first, corners, depth):
    """A triangle whose first attribute is the position, in 1/16 pixel, over 255."""
    places = np.zeros(3, codec.wide(VERTEX_PLACE))
    places["x"], places["y"] = corners.T
    places["z"] = depth << 8
    places["rhw"] = ONE
    values = np.zeros((3, 1, 4), np.float32)
    values[:, 0, :2] = corners / (16 * 255)
    values[:, 0, 3] = 1
    packets.append(write_vertices(places, values))
    packets.append(write_primitives(np.array([[first, first + 1, first + 2]]), 1))


def drawn(samples, mask, occluder, corners, **fields):
    """A command stream: something near, and behind it the triangle whose positions are asked."""
    packets = CommandList().target(**streams.PLACES)
    fields |= {"depth_compare": Compare.LESS, "built_in": 1}
    packets.state(draw_state(SIZE, SIZE, samples, **fields, colour_write=0))
    planes = {"depth": 1, "stencil": 1, "colour": 1}
    packets.clear((0, 0, SIZE, SIZE), **planes, depth_value=CLEARED)
    pixels = {"interpolated": 1, "alpha_test": Compare.ALWAYS, "sample_mask": mask}
    pixels |= {"how0": How.LINEAR, "where0": Where.CENTROID}
    packets.pixel_state(**pixels)
    draw(packets, 0, occluder, NEAR)
    packets.state(draw_state(SIZE, SIZE, samples, **fields))
    draw(packets, 3, corners, FAR)
    packets.fence(1)
    start = np.array([(streams.LISTS, len(packets.transfers), streams.SIZE)], dtype(START))
    return np.concatenate([streams.mark(start), packets.transfers])


def picture(rows, samples):
    """Colours that the golden top leaves: shape (height, width, samples)."""
    golden = reference.machine(PARAMS, streams.memory(rows, PARAMS))
    for start, _ in streams.starts(rows):
        golden.draw(*map(int, start))
    return to_image(golden.colour.planes[0].cache.values(), SIZE, SIZE, samples)


def centroid(covered, mask, places):
    """Offset from the centre, 1/16 pixel [fs 3.5.5]; of a pixel that the triangle touches."""
    every = range(len(places))
    seen = [n for n in every if n in covered and mask >> n & 1]
    if len(seen) == len(places):
        return 0, 0
    masked = [n for n in every if mask >> n & 1]
    if not seen and len(masked) == len(places):
        return 0, 0
    return places[(seen or masked or [0])[0]]


def expected(samples, mask, occluder, corners):
    """The same, sample by sample; and how many pixels another choice would have changed.

    The other choice is among the samples that passed.
    """
    places = naive.POSITIONS[samples]
    out = np.zeros((SIZE, SIZE, samples), np.uint32)
    different = 0
    for y in range(SIZE):
        for x in range(SIZE):
            owned = [
                {
                    n
                    for n, (dx, dy) in enumerate(places)
                    if naive.covered(one, 256 * x + 128 + 16 * dx, 256 * y + 128 + 16 * dy)
                }
                for one in (occluder, corners)
            ]
            passed = owned[1] - owned[0]
            dx, dy = centroid(owned[1], mask, places)
            red, green = 16 * x + 8 + dx, 16 * y + 8 + dy
            for n in passed:
                out[y, x, n] = red | green << 8 | 0xFF000000
            different += bool(passed) and centroid(passed, mask, places) != (dx, dy)
    return out, different


DRAWS = ({}, {"early_write": 0}, {"early_write": 0, "early_reject": 0, "hiz_drop": 0})


@pytest.mark.plan("pixel-pipe-13")
@pytest.mark.parametrize("mask", [255, 0b0110])
@pytest.mark.parametrize("samples", [1, 2, 4])
def test_centroids_are_of_what_the_triangle_covers(samples, mask):
    """Early and late draws, in hardware: samples that fail take no place away."""
    rng = np.random.default_rng((samples, mask))
    chooses = (mask & (1 << samples) - 1).bit_count() > 1
    total = 0
    for fields in DRAWS:
        found = []
        for _ in range(8):
            shapes = triangle(rng), triangle(rng)
            rows = drawn(samples, mask, *shapes, **fields)
            wanted, different = expected(samples, mask, *shapes)
            assert (picture(rows, samples) == wanted).all()
            found.append((different, rows))
        different, rows = max(found, key=lambda one: one[0])
        total += different
        check_outputs(BLOCK, CONFIG, rows, ("full", "bursty"), 0)
    assert total > 1 or not chooses
