# SPDX-License-Identifier: BSD-2-Clause
"""What was drawn is sampled behind a FENCE, from its coded surface."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.reference import top as reference
from fixfunc.cosim.vertices import write_primitives, write_release, write_vertices
from fixfunc.models.memory.coded_tiles import CodedTiles
from fixfunc.models.memory.surface import to_image
from fixfunc.models.state import draw_state
from fixfunc.models.texture.unit.stored import stored, surface_fields
from fixfunc.rtl import top as rtl
from fixfunc.spec.commands import VERTEX_PLACE, CommandError
from fixfunc.spec.pixels.interpolation import How
from fixfunc.spec.pixels.texture_stage import TextureOp
from fixfunc.spec.state import TileMode
from fixfunc.spec.textures.cache import StoredFormat
from fixfunc.tb import top as bench
from fixfunc.tb.frontend import streams
from tests.pixel.pipe.test_pixel_pipe import ONE, WHOLE, rows_of
from tests.textures import noise
from tests.volume import check_outputs

BLOCK = "top"
CONFIG = "default"
PARAMS = rtl.CONFIGS[CONFIG]
SIZE = 61, 45  # pixels of every target
COLUMNS, ROWS = (-(-side // 8) for side in SIZE)
FIRST, SECOND, THIRD, PLANES, SOURCE = (n << 16 for n in range(5))  # bytes
CLEARED = 0x40302010
SAMPLED = {"op": TextureOp.REPLACE, "alpha_test": 7, "interpolated": 1, "how0": How.LINEAR}
OF_FIRST = surface_fields(*SIZE, StoredFormat.R8G8B8A8_UNORM, FIRST, CLEARED)


def begin(packets, base):
    """A target whose colours lie at ``base``, cleared as a whole."""
    packets.target(depth=PLANES, stencil=PLANES + (1 << 15), colour=base)
    packets.state(draw_state(*SIZE, built_in=1, depth_test=0))
    packets.clear((0, 0, *SIZE), **WHOLE, colour_value=CLEARED)


def draw(packets, slot, size, **texture):
    """A rectangle from the upper left corner on, which shows all of a texture."""
    packets.texture(**texture).pixel_state(**SAMPLED)
    places = np.zeros(4, codec.wide(VERTEX_PLACE))
    places["x"] = np.array([0, size[0], 0, size[0]]) * 256
    places["y"] = np.array([0, 0, size[1], size[1]]) * 256
    places["rhw"] = ONE
    values = np.zeros((4, 1, 4), np.float32)
    values[:, 0, :2] = [(0, 0), (1, 0), (0, 1), (1, 1)]
    packets.append(write_vertices(places, values))
    packets.append(write_primitives(slot + np.array([[0, 1, 2], [2, 1, 3]]), 1))
    packets.append(write_release(4))


def passes():
    """Memory and rows: a picture of noise and slopes is drawn, and what was drawn, twice."""
    picture = noise(*SIZE, levels=1)
    texels = picture.levels[0][0].reshape(SIZE[1], SIZE[0], 4)
    y, x = np.mgrid[: SIZE[1], : SIZE[0]]
    slopes = np.stack([x + y, 2 * x, 3 * y, 255 + 0 * x], -1).astype(np.uint8)
    texels[:, 20:40] = slopes[:, 20:40]
    source = stored(picture, SOURCE)
    packets = CommandList()
    begin(packets, FIRST)
    part = SIZE[0] - 13, SIZE[1] - 9  # beside it and below it tiles stay cleared
    draw(packets, 0, part, **source.fields)
    packets.fence(1)
    begin(packets, SECOND)
    draw(packets, 4, SIZE, **OF_FIRST)
    packets.fence(2)
    # The first one is drawn on again, and sampled again: nothing of before is on chip.
    begin(packets, FIRST)
    draw(packets, 8, (29, 17), **source.fields)
    packets.fence(3)
    begin(packets, THIRD)
    draw(packets, 12, SIZE, **OF_FIRST)
    packets.fence(4)
    rows = rows_of(packets)
    data = streams.memory(rows, PARAMS)
    data[: streams.LISTS] = 0
    data[SOURCE : SOURCE + len(source.data)] = source.data
    return data, rows, texels


def picture_of(data, base):
    """Pixels of a target in memory, and the modes of its tiles."""
    tiles = CodedTiles(data[base:], ROWS, COLUMNS, 4, 0, np.array([CLEARED], "<u4").view(np.uint8))
    words = np.ascontiguousarray(tiles.read()).view("<u4")[..., 0]
    return to_image(words, *SIZE, 1)[..., 0], tiles.codes


@pytest.mark.plan("pixel-pipe-16")
def test_what_was_drawn_is_sampled():
    """A texel a pixel: the second target is the first one, and what it holds later is the third."""
    data, rows, texels = passes()
    drawn = reference.machine(PARAMS, data).draw(*map(int, streams.starts(rows)[0][0]))
    assert (drawn.status["error"] == CommandError.NONE).all()
    assert (drawn.status["failed"] == 0).all()
    second, _ = picture_of(data, SECOND)
    first, modes = picture_of(data, FIRST)
    third, _ = picture_of(data, THIRD)
    assert (third == first).all()
    part = SIZE[1] - 9, SIZE[0] - 13
    assert (second[part[0] :] == CLEARED).all()
    assert (second[:, part[1] :] == CLEARED).all()
    assert (second != third).mean() > 0.3
    assert {TileMode.CLEARED, TileMode.RAW} < {*modes.ravel()}
    # The rectangle shows the whole picture in fewer pixels: of each, the texel under its centre.
    y, x = (
        (2 * np.arange(n) + 1) * size // (2 * n) for n, size in zip(part, SIZE[::-1], strict=True)
    )
    assert (second[: part[0], : part[1]] == texels.view("<u4")[y[:, None], x, 0]).all()


@pytest.mark.plan("pixel-pipe-16")
@pytest.mark.qualify
def test_the_hardware_samples_what_it_has_drawn(monkeypatch):
    """Every stream and every byte, with tiles of 8x8."""
    data, rows, _ = passes()
    monkeypatch.setattr(bench, "memory", lambda *_: data.copy())
    outputs = check_outputs(BLOCK, CONFIG, rows, ("full", "bursty"), 0)
    memory = outputs["memory"].view(np.uint8).ravel()
    assert (picture_of(memory, THIRD)[0] == picture_of(memory, FIRST)[0]).all()
