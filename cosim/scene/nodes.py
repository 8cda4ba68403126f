# SPDX-License-Identifier: BSD-2-Clause
"""Nodes of a glTF file, each where it stands in the world, and cameras [glTF 2.0, 3.5, 3.10]."""

from typing import NamedTuple

import numpy as np

from fixfunc.cosim.scene.document import Document
from fixfunc.cosim.scene.item import Item

INSTANCING = "EXT_mesh_gpu_instancing"
MOST_INSTANCES = 1 << 20  # of a node
_IDENTITY = tuple(np.eye(4).ravel())
_PARTS = {"TRANSLATION": 3, "ROTATION": 4, "SCALE": 3}
_DEFAULTS = {"TRANSLATION": (0, 0, 0), "ROTATION": (0, 0, 0, 1), "SCALE": (1, 1, 1)}


class Node(NamedTuple):
    """A node of the scene."""

    item: Item
    matrix: np.ndarray  # float64, shape (4, 4): to the world


def of_scene(document: Document) -> list[Node]:
    """Nodes of the file's scene, parents before their children; without a scene all nodes.

    Raises
    ------
    MeshError
        A node that is named twice, so that nodes are no tree, or that stands beyond all numbers.
    """
    every = document.all("nodes")
    scenes = document.all("scenes")
    if scenes:
        scene = scenes[document.root.integer("scene", 0, 0, len(scenes) - 1)]
        waiting = [(number, np.eye(4), scene) for number in scene.indices("nodes", len(every))]
    else:
        below = {n for node in every for n in node.indices("children", len(every))}
        waiting = [(n, np.eye(4), document.root) for n in range(len(every)) if n not in below]
    found = []
    seen = set()
    waiting.reverse()
    while waiting:
        number, above, parent = waiting.pop()
        if number in seen:
            raise parent.refusal("nodes", "name each node once, in a tree", number)
        seen.add(number)
        node = every[number]
        with np.errstate(all="ignore"):
            matrix = above @ _local(node)
        if not np.isfinite(matrix).all():
            raise node.refusal("matrix", "be finite in the world", matrix[:3].tolist())
        found.append(Node(node, matrix))
        children = node.indices("children", len(every))
        waiting += [(child, matrix, node) for child in reversed(children)]
    return found


def _local(node):
    """From a node to its parent."""
    if "matrix" in node:
        return np.array(node.numbers("matrix", _IDENTITY)).reshape(4, 4).T
    parts = {
        name: np.array([node.numbers(name.lower(), default)]) for name, default in _DEFAULTS.items()
    }
    return _composed(node, parts)[0]


def _composed(item, parts):
    """Matrices of places, turns and sizes: float64, shape (k, 4, 4)."""
    turns = parts["ROTATION"]
    length = np.linalg.norm(turns, axis=1, keepdims=True)
    if not (length > 0).all():
        raise item.refusal("rotation", "be a quaternion above 0", turns[np.argmin(length)])
    x, y, z, w = (turns / length).T
    out = np.zeros((len(turns), 4, 4))
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
        (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
        (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)),
    )
    out[:, :3, :3] = np.array(rows).transpose(2, 0, 1) * parts["SCALE"][:, None, :]
    out[:, :3, 3] = parts["TRANSLATION"]
    out[:, 3, 3] = 1
    return out


def places(document: Document, node: Node) -> np.ndarray:
    """Where a node's mesh stands: once, or by its instances; float64, shape (k, 4, 4)."""
    extension = node.item.within("extensions").item(INSTANCING)
    if extension is None:
        return node.matrix[None]
    attributes = extension.within("attributes")
    held = {name: _instances(document, attributes, name) for name in _PARTS if name in attributes}
    if not held:
        return node.matrix[None]
    counts = {len(values) for values in held.values()}
    if len(counts) > 1:
        raise attributes.refusal("", "hold one number of instances", sorted(counts))
    (count,) = counts
    if count > MOST_INSTANCES:
        raise attributes.refusal("", f"hold at most {MOST_INSTANCES} instances", count)
    for name, default in _DEFAULTS.items():
        held.setdefault(name, np.broadcast_to(np.array(default, float), (count, len(default))))
    with np.errstate(all="ignore"):
        found = node.matrix @ _composed(attributes, held)
    if not np.isfinite(found).all():
        raise attributes.refusal("", "be finite in the world", "another")
    return found


def _instances(document, attributes, name):
    accessor = document.named(attributes, name, "accessors")
    values = document.numbers(accessor, (f"VEC{_PARTS[name]}",)).astype(float)
    if not np.isfinite(values).all():
        raise attributes.refusal(name, "be finite", values[~np.isfinite(values)][0])
    return values


def view(camera: Item, matrix: np.ndarray, aspect: float) -> np.ndarray:
    """What a camera sees: from the world to clip space, depths of 0 to 1.

    Parameters
    ----------
    camera : Item
    matrix : ndarray of float64, shape (4, 4)
        Of its node. A camera has no size: axes are brought to a length of one.
    aspect : float
        Width over height of the picture, which goes before the camera's own.

    Returns
    -------
    ndarray of float32, shape (4, 4)
    """
    kind = camera.text("type", "", ("perspective", "orthographic"))
    lens = camera.within(kind)
    near = lens.number("znear", None)
    far = lens.number("zfar", None) if kind != "perspective" or "zfar" in lens else None
    if near < 0 or (kind == "perspective" and near == 0):
        raise lens.refusal("znear", "be above 0", near)
    if far is not None and far <= near:
        raise lens.refusal("zfar", f"be above znear, {near}", far)
    made = _perspective if kind == "perspective" else _orthographic
    axes = matrix[:3, :3]
    with np.errstate(all="ignore"):
        axes = axes / np.linalg.norm(axes, axis=0)
        pose = np.eye(4)
        pose[:3, :3] = axes
        pose[:3, 3] = matrix[:3, 3]
        if not abs(np.linalg.det(np.nan_to_num(axes))) > 1e-9:
            raise camera.refusal("", "stand at a node with three axes", matrix[:3].tolist())
        return (made(lens, near, far, aspect) @ np.linalg.inv(pose)).astype(np.float32)


def _perspective(lens, near, far, aspect):
    opening = lens.number("yfov", None)
    if not 0 < opening < np.pi:
        raise lens.refusal("yfov", "be above 0 and below pi", opening)
    out = np.zeros((4, 4))
    out[1, 1] = 1 / np.tan(opening / 2)
    out[0, 0] = out[1, 1] / aspect
    out[2, 2:] = (-1, -near) if far is None else np.array((far, near * far)) / (near - far)
    out[3, 2] = -1
    return out


def _orthographic(lens, near, far, aspect):
    """Its height is kept; the width is the picture's."""
    high = lens.number("ymag", None)
    if not high > 0:
        raise lens.refusal("ymag", "be above 0", high)
    out = np.diag((1 / (high * aspect), 1 / high, 1 / (near - far), 1.0))
    out[2, 3] = near / (near - far)
    return out
