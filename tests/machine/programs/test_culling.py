# SPDX-License-Identifier: BSD-2-Clause
"""Boxes behind predicates, their wireframes, and lines over all, in OpenGL's winding.

What a predicate leaves out cannot be seen; faces that are culled in one winding are those of the
other one in reverse; lines have no side [fs 15.11, 20.2].
"""

import numpy as np
import pytest

from fixfunc.examples.scaffold import camera
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
)
from fixfunc.spec.draw import Topology
from fixfunc.spec.state import Compare, Cull
from tests.host.drawing import Scene

WIDTH, HEIGHT = 64, 48
INK = (1, 1, 0.5, 1)
NO_COLOUR = BlendState([RenderTargetBlend(write_mask=0)])
# Corners by bits of their number; faces counter-clockwise from outside.
FACES = (
    (0, 4, 6, 2),
    (1, 3, 7, 5),
    (0, 1, 5, 4),
    (2, 6, 7, 3),
    (0, 2, 3, 1),
    (4, 5, 7, 6),
)
TRIANGLES = np.array([t for a, b, c, d in FACES for t in ((a, b, c), (a, c, d))])
EDGES = np.array([(n, n | bit) for n in range(8) for bit in (1, 2, 4) if not n & bit])


def box(middle, half, colour):
    """Corners of a box: float32, shape (8, 8)."""
    bits = np.array([(n & 1, n >> 1 & 1, n >> 2 & 1) for n in range(8)])
    points = np.array(middle) + (2 * bits - 1) * half
    matrix = np.float64(camera((0.5, 2.2, 7), (0, 0, 0), WIDTH / HEIGHT, 40))
    rows = np.ones((8, 8), np.float32)
    rows[:, :4] = np.concatenate([points, np.ones((8, 1))], 1) @ matrix.T
    rows[:, 4:] = colour
    return rows


def boxes():
    """Twelve boxes, the left of which a wall hides."""
    rng = np.random.default_rng(2)
    out = []
    for n in range(12):
        middle = (n % 4 - 1.5) * 1.05, 0.1, -(n // 4) * 1.2
        out.append(box(middle, rng.uniform(0.2, 0.4, 3), (*rng.uniform(0.3, 1, 3), 1)))
    return out


WALL = box((-1.2, 0.3, 1.0), (1.0, 1.0, 0.1), (0.4, 0.4, 0.5, 1))


class Boxes(Scene):
    """A scene of boxes."""

    def __init__(self, reverse=False):
        super().__init__(WIDTH, HEIGHT)
        self._triangles = TRIANGLES[:, ::-1] if reverse else TRIANGLES
        self._reverse = reverse
        self.test(Compare.LESS)
        self.query = self.device.create_query(QueryKind.PIPELINE_STATISTICS)

    def test(self, compare, write=True):
        """Set how depths are tested."""
        state = DepthStencilState(depth_func=compare, depth_write=write)
        self.context.om.set_depth_stencil_state(state)

    def state(self, cull=Cull.BACK, **more):
        """Set OpenGL's winding; triangles in reverse have the other one."""
        more = {"front_counter_clockwise": not self._reverse, "cull": cull} | more
        self.context.rs.set_state(RasterizerState(**more))

    def filled(self, rows):
        """Draw a box."""
        self.context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)
        self.bind(rows[self._triangles.ravel()])
        self.context.draw(self._triangles.size)

    def lines(self, rows):
        """Draw its edges."""
        inked = rows[EDGES.ravel()]
        inked[:, 4:] = INK
        self.context.ia.set_primitive_topology(Topology.LINE_LIST)
        self.bind(inked)
        self.context.draw(EDGES.size)

    def predicate(self, rows):
        """Ask whether anything of a box would be seen."""
        found = self.device.create_query(QueryKind.OCCLUSION_PREDICATE)
        self.context.om.set_blend_state(NO_COLOUR)
        self.test(Compare.LESS_EQUAL, write=False)
        self.state(Cull.NONE)
        self.context.begin(found)
        self.filled(rows)
        self.context.end(found)
        self.context.om.set_blend_state(None)
        self.test(Compare.LESS)
        return found

    def detail(self, rows):
        """A box, its wireframe over it, and its edges as lines."""
        self.test(Compare.LESS)
        self.state()
        self.filled(rows)
        self.test(Compare.LESS_EQUAL)
        inked = rows.copy()
        inked[:, 4:] = rows[:, 4:] * 0.5
        self.state(wireframe=True)
        self.filled(inked)
        self.state()
        self.lines(rows)


def drawn(reverse=False, culled=True):
    """The picture, and vertices that have been fetched for it."""
    scene = Boxes(reverse)
    context = scene.context
    scene.state()
    scene.filled(WALL)
    predicates = [scene.predicate(rows) for rows in boxes()]
    context.begin(scene.query)
    for rows, predicate in zip(boxes(), predicates, strict=True):
        context.set_predication(predicate if culled else None, False)
        scene.detail(rows)
    context.set_predication(None)
    context.end(scene.query)
    hidden = [not context.get_data(it) for it in predicates]
    return scene.image()[:, :, 0], context.get_data(scene.query).ia_vertices, hidden


@pytest.mark.plan("frames-12")
def test_what_predicates_leave_out_is_not_seen():
    found, fetched, hidden = drawn()
    wanted, all_fetched, _ = drawn(culled=False)
    assert 0 < sum(hidden) < 12
    assert np.array_equal(found, wanted)
    each = 2 * TRIANGLES.size + EDGES.size
    assert (fetched, all_fetched) == ((12 - sum(hidden)) * each, 12 * each)
    assert (wanted == np.uint8([255, 255, 128, 255])).all(2).any()


@pytest.mark.plan("frames-12")
def test_the_other_winding_is_the_same_picture():
    assert np.array_equal(drawn()[0], drawn(reverse=True)[0])


def wires(cull, reverse=False, **more):
    """Which pixels a wireframe of all boxes has: bool, shape (height, width)."""
    scene = Boxes(reverse)
    scene.state(cull, wireframe=True, **more)
    scene.context.om.set_depth_stencil_state(DepthStencilState(depth_enable=False))
    for rows in boxes():
        scene.filled(rows)
    return scene.shown()


@pytest.mark.plan("frames-12")
@pytest.mark.parametrize("kind", [{}, {"multisample_enable": True}])
def test_wires_are_culled_with_their_triangles(kind):
    """[fs 15.11]: front and back ones are all there are; in reverse they change places."""
    front, back, every = (wires(cull, **kind) for cull in (Cull.BACK, Cull.FRONT, Cull.NONE))
    assert np.array_equal(front | back, every)
    assert (front != back).any() and front.any()
    in_reverse = {"front_counter_clockwise": True}
    assert np.array_equal(wires(Cull.FRONT, True, **in_reverse, **kind), front)


@pytest.mark.plan("frames-12")
@pytest.mark.parametrize("cull", list(Cull))
@pytest.mark.parametrize("reverse", [False, True])
def test_lines_have_no_side(cull, reverse):
    pictures = []
    for state in ({}, {"cull": cull}):
        scene = Boxes(reverse)
        scene.state(**{"cull": Cull.NONE} | state)
        for rows in boxes():
            scene.lines(rows)
        pictures.append(scene.image())
    assert np.array_equal(*pictures) and pictures[0].any()
