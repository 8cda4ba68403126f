# SPDX-License-Identifier: BSD-2-Clause
"""Instances by step rates: every cell of a chequered board says which elements it has been given.

Source: [fs 8.6.1, 8.18]: an element steps on each time that its rate of instances has been drawn,
and of rate 0 never does; the first instance moves where a buffer begins, whatever its rate.
"""

import numpy as np
import pytest

from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.host.resources import Bind
from fixfunc.spec.draw import StepClass
from fixfunc.spec.dxgi import Format
from tests.host.drawing import Scene, words

SIDE = 8  # cells along a side, of 4 x 4 pixels
CELLS = SIDE * SIDE
EACH = StepClass.PER_INSTANCE
CORNERS = np.array([(0, 0), (1, 0), (1, 1), (0, 1)], np.float32)
INDICES = (0, 1, 2, 0, 2, 3)
SLOTS = ("red", "green", "blue")


def vertex(waves, _bound):
    """A cell at the place of its instance, in a colour of one byte from each buffer."""
    corner = waves.floats(0)[..., :2]
    place = waves.floats(1)[..., :2]
    at = (corner + place) * np.float32(2 / SIDE) - np.float32(1)
    position = np.ones((*at.shape[:-1], 4), np.float32)
    position[..., :2] = at
    position[..., 2] = 0.5
    colour = np.stack([waves.floats(2 + n)[..., 0] for n in range(3)], -1)
    colour = np.concatenate([colour, np.ones_like(colour[..., :1])], -1)
    return VertexResults(position, colour[..., None, :])


class Board(Scene):
    """A scene of cells, with a buffer of places and three of colours, each with its rate."""

    def __init__(self, rates, first):
        super().__init__(4 * SIDE, 4 * SIDE)
        device, ia = self.device, self.context.ia
        self._rates = rates
        rng = np.random.default_rng(sum(rates) + first)
        self.bytes = rng.integers(1, 256, (3, CELLS + first), dtype=np.uint8)
        elements = [
            Element(0, Format.R32G32_FLOAT),
            Element(1, Format.R32G32_FLOAT, 1, 0, EACH, 1),
            *(
                Element(2 + n, Format.R8_UNORM, 2 + n, 0, EACH, rate)
                for n, rate in enumerate(rates)
            ),
        ]
        ia.set_input_layout(device.create_input_layout(elements))
        number = np.arange(CELLS + first) - first
        places = np.stack([number % SIDE, number // SIDE], 1).astype(np.float32)
        data = [CORNERS, places, *self.bytes]
        buffers = [device.create_buffer(data=np.ascontiguousarray(of)) for of in data]
        ia.set_vertex_buffers(0, buffers, [8, 8, 1, 1, 1])
        self.context.vs.set_shader(device.create_vertex_shader(vertex))

    def expected(self, first):
        """Colours of cells by integers: uint8, shape (rows, columns, 3)."""
        out = np.zeros((SIDE, SIDE, 3), np.uint8)
        for instance in range(CELLS):
            for channel, rate in enumerate(self._rates):
                element = first + (instance // rate if rate else 0)
                # y runs upwards.
                out[SIDE - 1 - instance // SIDE, instance % SIDE, channel] = self.bytes[
                    channel, element
                ]
        return out

    def index(self):
        """Bind indices of a cell's two triangles."""
        data = np.array(INDICES, "<u2")
        buffer = self.device.create_buffer(bind=Bind.INDEX_BUFFER, data=data)
        self.context.ia.set_index_buffer(buffer, Format.R16_UINT)


def indexed(board, first):
    board.index()
    board.context.draw_indexed_instanced(6, CELLS, 0, 0, first)


def indirect(board, first):
    board.index()
    arguments = board.device.create_buffer(
        bind=Bind.UNORDERED_ACCESS, data=words(99, 6, CELLS, 0, 0, first)
    )
    board.context.draw_indexed_instanced_indirect(arguments, 4)


def plain(board, first):
    """Without indices: a cell's corners are six."""
    data = np.ascontiguousarray(CORNERS[list(INDICES)])
    board.context.ia.set_vertex_buffers(0, [board.device.create_buffer(data=data)], [8])
    board.context.draw_instanced(6, CELLS, 0, first)


@pytest.mark.plan("frames-5")
@pytest.mark.parametrize("call", [indexed, indirect, plain], ids=lambda call: call.__name__)
@pytest.mark.parametrize("first", [0, 5])
@pytest.mark.parametrize("rates", [(1, 2, 3), (0, 7, 64), (65, 1, 0), (0xFFFFFFFF, 5, 8)])
def test_cells_have_the_elements_of_their_step(call, first, rates):
    board = Board(rates, first)
    call(board, first)
    image = board.image()[:, :, 0]
    cells = np.kron(board.expected(first), np.ones((4, 4, 1), np.uint8))
    assert np.array_equal(image[..., :3], cells)
    assert (image[..., 3] == 255).all()


@pytest.mark.plan("frames-5")
def test_elements_behind_the_end_of_their_buffer_are_zeros():
    """[fs 8.6.1, 8.20]: the bytes are not there; a format's missing channels are 0, 0, 1."""
    board = Board((1, 2, 4), 0)
    short = board.device.create_buffer(data=board.bytes[0, : CELLS // 2].copy())
    board.context.ia.set_vertex_buffers(2, [short], [1])
    indexed(board, 0)
    red = board.expected(0)[..., 0]
    red[: SIDE // 2] = 0
    assert np.array_equal(board.image()[::4, ::4, 0, 0], red)
