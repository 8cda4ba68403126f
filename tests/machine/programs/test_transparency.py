# SPDX-License-Identifier: BSD-2-Clause
"""Transparency in any order: fragments are kept in a list for each pixel, and sorted by depth.

The first pass counts nodes with a view's counter and links them [fs 5.3.10]; the second reads the
lists. Whatever the order of drawing, the picture is the same, and it is the exact one.
"""

from fractions import Fraction

import numpy as np
import pytest

from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import DepthStencilState
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.descriptors import UnorderedFlag
from tests.host.drawing import READ, WHOLE, Scene, corners

WIDTH, HEIGHT = 32, 24
SHADED = READ | Bind.UNORDERED_ACCESS
NODE = np.dtype(
    [("depth", "<f4"), ("next", "<u4"), ("colour", "<f4", 4), ("samples", "<u4"), ("unused", "<u4")]
)
END = 0xFFFFFFFF


def exchange(words, places, values):
    """Exchange words one after the other, as hardware does: what each was before."""
    before = np.empty_like(values)
    for n, place in enumerate(places):
        before[n] = words[place]
        words[place] = values[n]
    return before


def keep(quads, bound):
    """Put fragments in front of the lists of their pixels."""
    number = bound.increment(0, quads.live)[quads.live]
    nodes = bound.unordered(0).view(NODE)
    heads = bound.unordered(1).view("<u4")
    fits = number < len(nodes)
    place = (quads.y * WIDTH + quads.x)[quads.live][fits]
    made = np.zeros(len(place), NODE)
    made["depth"] = quads.position[quads.live][fits, 2]
    made["colour"] = quads.floats(0)[quads.live][fits]
    bits = quads.covered << np.arange(quads.covered.shape[3])
    made["samples"] = bits.sum(3)[quads.live][fits]
    made["next"] = exchange(heads, place, number[fits])
    nodes[number[fits]] = made
    return PixelResults([])


def show(quads, bound):
    """Blend each pixel's fragments, far ones first; of equal depths by their colours."""
    nodes = bound.buffer(0).view(NODE)
    heads = bound.buffer(1).view("<u4")
    out = np.zeros((*quads.x.shape, 4), np.float32)
    for at in zip(*np.nonzero(quads.live), strict=True):
        found = []
        link = heads[quads.y[at] * WIDTH + quads.x[at]]
        while link != END:
            if nodes[link]["samples"] >> quads.sample[at[0]] & 1:
                found.append((nodes[link]["depth"], *nodes[link]["colour"]))
            link = nodes[link]["next"]
        for _, *colour in sorted(found, reverse=True):
            alpha = np.float32(colour[3])
            new = np.array([*colour[:3], 1], np.float32)
            out[at] = new * alpha + out[at] * (np.float32(1) - alpha)
    return PixelResults(out)


class Lists(Scene):
    """A scene with lists of fragments."""

    def __init__(self, room, samples=1):
        super().__init__(WIDTH, HEIGHT, samples)
        device, context = self.device, self.context
        self._nodes = device.create_buffer(NODE.itemsize * room, SHADED, stride=NODE.itemsize)
        self._heads = device.create_buffer(4 * WIDTH * HEIGHT, SHADED)
        self._node_view = device.create_unordered_access_view(
            self._nodes, flag=UnorderedFlag.COUNTER
        )
        self._head_view = device.create_unordered_access_view(self._heads)
        context.clear_unordered_access_view_uint(self._head_view, END)
        context.ps.set_unordered_access_views(0, [self._node_view, self._head_view], [0, -1])
        self.shade(keep, unordered=True)
        self.keeps(DepthStencilState(depth_write=False))

    def keeps(self, state):
        """Set tests of depths."""
        self.context.om.set_depth_stencil_state(state)

    def counted(self):
        """Nodes that have been asked for."""
        word = self.device.create_buffer(16)
        self.context.copy_structure_count(word, 0, self._node_view)
        return int(self.context.read(word).view("<u4")[0])

    def picture(self):
        """Lists, sorted: uint8, shape (height, width, samples, 4)."""
        device, context = self.device, self.context
        context.ps.set_unordered_access_views(0, [None, None])
        views = [device.create_shader_resource_view(of) for of in (self._nodes, self._heads)]
        context.ps.set_shader_resources(0, views)
        self.shade(show, sample_index=True)
        self.keeps(DepthStencilState(depth_enable=False))
        self.draw(WHOLE)
        return self.image()


def sheets(count, seed):
    """Squares over whole pixels at depths of their own: pixels, depth, colour."""
    rng = np.random.default_rng(seed)
    out = []
    for depth in rng.permutation(count):
        x, y = rng.integers(0, (WIDTH - 4, HEIGHT - 4))
        right, down = rng.integers((x + 1, y + 1), (WIDTH + 1, HEIGHT + 1))
        colour = rng.integers(0, 17, 4) / 16
        out.append(((x, y, right, down), Fraction(int(depth) + 1, 64), colour))
    return out


def square(box, depth, colour):
    """Its two triangles."""
    x, y, right, down = box
    left, across = 2 * x / WIDTH - 1, 2 * right / WIDTH - 1
    up, low = 1 - 2 * y / HEIGHT, 1 - 2 * down / HEIGHT
    points = [(left, up), (across, up), (across, low), (left, up), (across, low), (left, low)]
    return corners(points, colour, float(depth))


def exact(made):
    """Blended by rationals, before they are rounded: indexed [y, x, channel]."""
    out = np.full((HEIGHT, WIDTH, 4), Fraction(0), object)
    for (x, y, right, down), _, colour in sorted(made, key=lambda it: -it[1]):
        alpha = Fraction(float(colour[3]))
        for channel in range(4):
            new = Fraction(float(colour[channel])) if channel < 3 else Fraction(1)
            part = out[y:down, x:right, channel]
            out[y:down, x:right, channel] = new * alpha + part * (1 - alpha)
    return out


def one_draw(scene, rows):
    """All in one call."""
    data = np.concatenate(rows)
    scene.bind(data)
    scene.context.draw(len(data))


def many_draws(scene, rows):
    """A call a square."""
    for data in rows:
        scene.bind(data)
        scene.context.draw(len(data))


@pytest.mark.plan("frames-6")
@pytest.mark.parametrize("seed", range(4))
def test_the_picture_is_the_exact_one_in_any_order(seed):
    made = sheets(12, seed)
    wanted = exact(made)
    pictures = []
    orders = (made, made[::-1], sorted(made, key=lambda it: it[1]))
    for order, call in zip(orders, (one_draw, many_draws, one_draw), strict=True):
        scene = Lists(room=WIDTH * HEIGHT * 12)
        call(scene, [square(*it) for it in order])
        pictures.append(scene.picture()[:, :, 0])
        fragments = sum((r - x) * (d - y) for (x, y, r, d), _, _ in made)
        assert scene.counted() == fragments
    assert all(np.array_equal(pictures[0], other) for other in pictures[1:])
    # [fs 3.2.3.6]: within 0.6 of a step.
    error = np.abs(pictures[0] - wanted * 255)
    assert error.max() <= Fraction(6, 10), float(error.max())


@pytest.mark.plan("frames-6")
def test_what_is_hidden_by_something_solid_is_in_no_list():
    """Depths are tested before fragments are kept, with an early test that is asked for."""
    made = sheets(10, 7)
    scene = Lists(room=WIDTH * HEIGHT * 10)
    wall = Fraction(11, 128)  # between the fifth sheet and the sixth
    scene.context.clear_depth_stencil_view(scene.depth, float(wall))
    scene.shade(keep, unordered=True, early=True)
    one_draw(scene, [square(*it) for it in made])
    front = [it for it in made if it[1] < wall]
    assert 0 < len(front) < len(made)
    error = np.abs(scene.picture()[:, :, 0] - exact(front) * 255)
    assert error.max() <= Fraction(6, 10), float(error.max())


@pytest.mark.plan("frames-6")
def test_samples_have_the_fragments_that_cover_them():
    """Where two triangles meet in a pixel, each is kept with its samples."""
    made = sheets(6, 3)
    scene = Lists(room=2 * WIDTH * HEIGHT * 6, samples=4)
    one_draw(scene, [square(*it) for it in made])
    fragments = sum((r - x) * (d - y) for (x, y, r, d), _, _ in made)
    assert fragments < scene.counted() < 2 * fragments
    error = np.abs(scene.picture() - exact(made)[:, :, None] * 255)
    assert error.max() <= Fraction(6, 10), float(error.max())


@pytest.mark.plan("frames-6")
def test_nodes_beyond_the_room_are_counted_and_dropped():
    made = sheets(8, 5)
    room = 200
    scene = Lists(room)
    one_draw(scene, [square(*it) for it in made])
    fragments = sum((r - x) * (d - y) for (x, y, r, d), _, _ in made)
    assert scene.counted() == fragments > room
    assert scene.picture().any()
