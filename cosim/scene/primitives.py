# SPDX-License-Identifier: BSD-2-Clause
"""Primitives of glTF meshes as lists of points, lines or triangles [glTF 2.0, 3.7.2]."""

import numpy as np

from fixfunc.cosim.scene.document import Document
from fixfunc.cosim.scene.item import Item
from fixfunc.cosim.scene.materials import Coordinates, Materials
from fixfunc.cosim.scene.scene import Shape
from fixfunc.spec.draw import Topology

FLOATS = 14  # of a vertex
_TOPOLOGIES = (
    Topology.POINT_LIST,
    *[Topology.LINE_LIST] * 3,
    *[Topology.TRIANGLE_LIST] * 3,
)
POINTS, LINES, LINE_LOOP, LINE_STRIP, TRIANGLES, STRIP, FAN = range(7)


def shapes(document: Document, mesh: Item, materials: Materials) -> list[Shape]:
    """Shapes of a mesh; a primitive that nothing is left of has none."""
    found = [_shape(document, primitive, materials) for primitive in mesh.items("primitives")]
    return [shape for shape in found if shape is not None]


def _shape(document, primitive, materials):
    mode = primitive.integer("mode", TRIANGLES, 0, FAN)
    attributes = primitive.within("attributes")
    if "targets" in primitive:
        materials.leave_out(primitive, "morph targets")
    if "POSITION" not in attributes:
        materials.leave_out(primitive, "a primitive without positions")
        return None
    points = _attribute(document, attributes, "POSITION", ("VEC3",))
    material, base, emissive = materials.of(primitive)
    vertices = np.ones((len(points), FLOATS), np.float32)
    vertices[:, :3] = points
    vertices[:, 6:8] = _coordinates(document, attributes, base, len(points))
    vertices[:, 8:10] = _coordinates(document, attributes, emissive, len(points))
    if "COLOR_0" in attributes:
        colours = _attribute(document, attributes, "COLOR_0", ("VEC3", "VEC4"), len(points))
        if colours.dtype.kind != "f":
            raise attributes.refusal("COLOR_0", "be floats or normalized", colours.dtype)
        vertices[:, 10 : 10 + colours.shape[1]] = colours
    unfinished = int((~np.isfinite(points)).any(1).sum())
    if unfinished:
        materials.leave_out(primitive, f"{unfinished} vertices that are not finite")
    indices = _listed(mode, _indices(document, primitive, len(points)))
    if not len(indices):
        materials.leave_out(primitive, "a primitive of too few vertices")
        return None
    if "NORMAL" in attributes:
        vertices[:, 3:6] = _attribute(document, attributes, "NORMAL", ("VEC3",), len(points))
    elif mode >= TRIANGLES:
        vertices = _flat(vertices[indices])
        indices = np.arange(len(vertices), dtype=np.uint32)
    else:
        material = material._replace(is_lit=False)
    return Shape(vertices, indices, _TOPOLOGIES[mode], material)


def _attribute(document, attributes, name, types, count=None):
    """An attribute of vertices, as many as there are."""
    values = document.numbers(document.named(attributes, name, "accessors"), types)
    if count is not None and len(values) != count:
        raise attributes.refusal(name, f"hold the {count} of POSITION", len(values))
    return values


def _coordinates(document, attributes, chosen: Coordinates | None, count):
    """Coordinates of a texture, transformed; zeros without a texture."""
    if chosen is None or chosen.name not in attributes:
        return np.zeros((count, 2), np.float32)
    values = _attribute(document, attributes, chosen.name, ("VEC2",), count).astype(np.float32)
    with np.errstate(all="ignore"):
        return values @ chosen.turn.T + chosen.shift


def _indices(document, primitive, count):
    """Numbers of vertices: those of the file, or all in order."""
    accessor = document.named(primitive, "indices", "accessors")
    if accessor is None:
        return np.arange(count, dtype=np.uint32)
    values = document.numbers(accessor, ("SCALAR",))[:, 0]
    if values.dtype.kind != "u":
        raise primitive.refusal("indices", "be integers without a sign", values.dtype)
    if values.max() >= count:
        raise primitive.refusal("indices", f"name vertices below {count}", values.max())
    return values.astype(np.uint32)


def _listed(mode, indices):
    """The same as a list of points, lines or triangles."""
    if mode == POINTS:
        return indices
    if mode in (LINES, TRIANGLES):
        size = 2 if mode == LINES else 3
        return indices[: len(indices) // size * size]
    if mode in (LINE_STRIP, LINE_LOOP):
        ends = indices[1:] if mode == LINE_STRIP else np.roll(indices, -1)
        return np.stack([indices[: len(ends)], ends], 1).ravel()
    first = np.arange(max(len(indices) - 2, 0))
    if mode == FAN:
        corners = [first + 1, first + 2, np.zeros_like(first)]
    else:
        odd = first & 1
        corners = [first, first + 1 + odd, first + 2 - odd]
    return indices[np.stack(corners, 1).ravel()]


def _flat(corners):
    """Corners of triangles with the normal of their face."""
    with np.errstate(all="ignore"):
        points = corners[:, :3].reshape(-1, 3, 3).astype(np.float64)
        normal = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
        length = np.linalg.norm(normal, axis=1, keepdims=True)
        corners[:, 3:6] = np.repeat(normal / np.maximum(length, 1e-300), 3, 0)
    return corners
