# SPDX-License-Identifier: BSD-2-Clause
"""Colours of the pixel pipe on several colour planes, each in its own format."""

import numpy as np
import pytest

from fixfunc.cosim.commands import CommandList
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.output.formats import encode
from fixfunc.models.payload import dtype
from fixfunc.models.state import draw_state
from fixfunc.rtl import top as rtl
from fixfunc.spec.commands import START
from fixfunc.spec.state import Compare
from fixfunc.tb import top as bench
from fixfunc.tb.frontend import streams
from tests.volume import check_outputs

BLOCK = "top"
CONFIG = "tiny"
PARAMS = rtl.CONFIGS[CONFIG]
PLANES = PARAMS.colour.planes
SIZE = 12
CLEARED = 0x5A5AA5A5
COLOURS = (0.3, 0.7, 1.0, 0.5), (-0.25, 2.0, 0.004, 1 / 3), (np.nan, 1e-3, 0.999, -2.0)
MASKS = (15, 15), (15, 0), (0, 15)  # channels written of the planes


def whole():
    """A triangle over all of the target."""
    out = np.zeros(1, TRIANGLE)
    out["x1"] = out["y2"] = SIZE * 512
    return out


def drawn(formats, masks, colour):
    """A command stream: all planes are cleared, and drawn over by one constant colour."""
    packets = CommandList()
    for plane in range(PLANES):
        packets.target(0, streams.PLANE, place(plane), plane)
        fields = {"colour_format": formats[plane], "colour_write": masks[plane]}
        packets.state(draw_state(SIZE, SIZE, built_in=1, slot=plane, **fields))
        planes = {"depth": 1, "stencil": 1} if not plane else {}
        own = {"colour": 1, "colour_value": CLEARED, "colour_plane": plane}
        packets.clear((0, 0, SIZE, SIZE), **planes, **own, depth_value=(1 << 24) - 1)
    for plane in range(PLANES):
        fields = {"colour_format": formats[plane], "colour_write": masks[plane]}
        packets.state(draw_state(SIZE, SIZE, built_in=1, slot=plane, **fields))
    bits = np.asarray(colour, np.float32).view(np.uint32)
    constant = {f"constant_{name}": int(its) for name, its in zip("rgba", bits, strict=True)}
    packets.pixel_state(alpha_test=Compare.ALWAYS, **constant)
    packets.triangles(whole()).fence(1)
    start = np.array([(streams.LISTS, len(packets.transfers), streams.SIZE)], dtype(START))
    return np.concatenate([streams.mark(start), packets.transfers])


def place(plane):
    return 2 * streams.PLANE + plane * streams.PLANE // 8


def stored(colour, form):
    """The texel that a target of the format holds, of 32 bits."""
    values = np.asarray([colour], np.float32)
    values = values.view(np.uint32) if form.name.endswith("INT") else values
    texel = np.zeros((1, 4), np.uint8)
    made = encode(values, form)
    texel[:, : made.shape[1]] = made
    return int(texel.view("<u4")[0, 0])


@pytest.mark.plan("pixel-pipe-14")
@pytest.mark.parametrize("masks", MASKS, ids=str)
def test_every_plane_has_the_colour_in_its_format(masks):
    """Of every format, at every plane; one may not be written. Hardware has the same bytes."""
    known = PARAMS.colour.formats
    for n, form in enumerate(known):
        formats = [known[(n + k) % len(known)] for k in range(PLANES)]
        colour = COLOURS[(n + masks[0]) % len(COLOURS)]
        rows = drawn(formats, masks, colour)
        data = streams.memory(rows, PARAMS)
        golden = bench.machine(PARAMS, data)
        ((start, _),) = streams.starts(rows)
        golden.draw(*map(int, start))
        for plane, (its, mask) in enumerate(zip(formats, masks, strict=True)):
            values = golden.colour.planes[plane].cache.values()
            wanted = stored(colour, its) if mask else CLEARED
            assert (values[: SIZE // 4, : SIZE // 4] == wanted).all(), (its.name, plane)
        check_outputs(BLOCK, CONFIG, rows, ("full", "bursty"), n)
        assert form in formats
