# SPDX-License-Identifier: BSD-2-Clause
from itertools import pairwise

import numpy as np
import pytest

from fixfunc.models.frontend.input_assembler import Draw, assemble
from fixfunc.models.geometry import primitive_assembly
from fixfunc.models.geometry.primitive_assembly import corners
from fixfunc.spec.draw import PATCH, Topology

EDGES = ((0, 1), (1, 2), (2, 0))


def primitives(topology, count):
    return primitive_assembly.assemble(assemble(Draw(count), topology).records, topology)


@pytest.mark.plan("primitive-assembly-1")
@pytest.mark.parametrize(
    ("topology", "step"),
    [(Topology.TRIANGLE_STRIP, 1), (Topology.TRIANGLE_STRIP_ADJ, 2)],
)
def test_leading_vertices_of_strips_are_those_of_the_specification(topology, step):
    strip = primitives(topology, 40)
    leading = corners(strip.vertices, topology)[:, 0]
    assert leading.tolist() == [step * n for n in range(len(leading))]
    assert len(leading) == 40 // step - 2


@pytest.mark.plan("primitive-assembly-1")
def test_leading_vertices_of_lines_with_adjacency():
    strip = primitives(Topology.LINE_STRIP_ADJ, 10)
    assert corners(strip.vertices, Topology.LINE_STRIP_ADJ)[:, 0].tolist() == [*range(1, 8)]


@pytest.mark.plan("primitive-assembly-2")
@pytest.mark.parametrize("topology", [Topology.TRIANGLE_STRIP, Topology.TRIANGLE_STRIP_ADJ])
def test_triangles_of_a_strip_have_one_winding(topology):
    """Two triangles on an edge run along it in opposite directions."""
    triangles = corners(primitives(topology, 30).vertices, topology)
    for before, triangle in pairwise(triangles):
        ways = {(before[a], before[b]) for a, b in EDGES} & {
            (triangle[b], triangle[a]) for a, b in EDGES
        }
        assert len(ways) == 1


@pytest.mark.plan("primitive-assembly-2")
def test_adjacent_vertices_lie_across_the_edge_in_front_of_them():
    """In a strip the neighbour across an inner edge is the third vertex of that triangle."""
    strip = primitives(Topology.TRIANGLE_STRIP_ADJ, 40).vertices
    third = {}
    for triangle in strip[:, ::2]:
        for n, (a, b) in enumerate(EDGES):
            third[triangle[b], triangle[a]] = triangle[n - 1]
    inner = 0
    for adjacent in strip:
        for n, (a, b) in enumerate(EDGES):
            edge = adjacent[2 * a], adjacent[2 * b]
            if edge in third:
                assert adjacent[2 * n + 1] == third[edge]
                inner += 1
    assert inner == 2 * (len(strip) - 1)


def boundary(shape):
    """Edges of the primitive itself, of all of its triangles."""
    return [
        (int(triangle[a]), int(triangle[b]))
        for triangle, edges in zip(shape.vertices, shape.edges, strict=True)
        for n, (a, b) in enumerate(EDGES)
        if edges >> n & 1
    ]


@pytest.mark.plan("primitive-assembly-3")
@pytest.mark.parametrize("count", [3, 4, 5, 9])
def test_a_polygon_is_a_fan_without_its_diagonals(count):
    polygon = primitives(Topology.POLYGON, count)
    assert len(polygon.vertices) == count - 2
    assert (polygon.number == 0).all()
    assert (polygon.vertices[:, 0] == 0).all()
    assert sorted(boundary(polygon)) == [(n, (n + 1) % count) for n in range(count)]


@pytest.mark.plan("primitive-assembly-3")
def test_quads_are_two_triangles_without_their_diagonal():
    quads = primitives(Topology.QUAD_LIST, 9)
    assert quads.number.tolist() == [0, 0, 1, 1]
    assert boundary(quads)[:4] == [(0, 1), (1, 2), (2, 3), (3, 0)]
    strip = primitives(Topology.QUAD_STRIP, 7)
    assert strip.number.tolist() == [0, 0, 1, 1]
    assert boundary(strip) == [
        *[(0, 1), (1, 3), (3, 2), (2, 0)],
        *[(2, 3), (3, 5), (5, 4), (4, 2)],
    ]


@pytest.mark.plan("primitive-assembly-4")
@pytest.mark.parametrize("points", range(1, 33))
def test_patches_are_rows_of_control_points(points):
    topology = Topology(PATCH + points - 1)
    patches = primitives(topology, 3 * points + points - 1)
    assert np.array_equal(patches.vertices, np.arange(3 * points).reshape(3, points))
    assert np.array_equal(corners(patches.vertices, topology), patches.vertices)
    assert patches.number.tolist() == [0, 1, 2]


@pytest.mark.plan("primitive-assembly-4")
@pytest.mark.parametrize("topology", Topology, ids=lambda topology: topology.name)
def test_nothing_comes_of_nothing(topology):
    assert len(primitives(topology, 0).vertices) == 0
