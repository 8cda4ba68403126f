# SPDX-License-Identifier: BSD-2-Clause
"""A scene from a glTF file."""

from pathlib import Path

from fixfunc.cosim.scene import nodes, primitives
from fixfunc.cosim.scene.document import Document
from fixfunc.cosim.scene.materials import SOURCES, TRANSFORM, UNLIT, Materials
from fixfunc.cosim.scene.scene import MOST_DRAWS, Placed, Scene
from fixfunc.spec.errors import MeshError

SUFFIXES = (".gltf", ".glb")
MOST_CORNERS = 1 << 24  # of all instances
DRAWN = {nodes.INSTANCING, TRANSFORM, UNLIT, "KHR_mesh_quantization", *SOURCES}


def load(path: Path, aspect: float, camera: int | None = None) -> Scene:
    """Read a scene.

    Parameters
    ----------
    path : Path
    aspect : float
        Width over height of the picture.
    camera : int, optional
        Which of the scene's cameras looks; by default the first, if there is any.

    Returns
    -------
    Scene

    Raises
    ------
    InputError
        No such file, or no such camera.
    MeshError
        What breaks a rule of the format, or a limit: file, field, rule, value. A scene without a
        primitive that can be drawn.
    """
    document = Document(path)
    _check_extensions(document)
    materials = Materials(document)
    found = nodes.of_scene(document)
    scene = Scene(_placed(document, materials, found))
    scene.camera = _camera(document, found, aspect, camera, materials)
    _leave_out(document, found, materials)
    scene.left_out = [
        text if count == 1 else f"{text}, {count} times"
        for text, count in sorted(materials.left_out.items())
    ]
    if not scene.placed:
        why = f"; left out: {scene.left_out[0]}" if scene.left_out else ""
        raise MeshError("mesh file", "hold a primitive that can be drawn", f"{path.name}{why}")
    return scene


def _check_extensions(document):
    for name in document.root.texts("extensionsRequired"):
        if name not in DRAWN:
            rule = f"be of {', '.join(sorted(DRAWN))}"
            raise document.root.refusal("extensionsRequired", rule, name)


def _placed(document, materials, found):
    """Meshes of nodes, each mesh read once; empty ones are left out."""
    made = {}
    placed = []
    corners = 0
    drawn = 0
    for node in found:
        mesh = document.named(node.item, "mesh", "meshes")
        if mesh is None:
            continue
        if mesh.place not in made:
            made[mesh.place] = primitives.shapes(document, mesh, materials)
        shapes = made[mesh.place]
        if not shapes:
            continue
        places = nodes.places(document, node)
        corners += len(places) * sum(len(shape.indices) for shape in shapes)
        drawn += len(shapes)
        if corners > MOST_CORNERS:
            rule = f"bring corners of all instances to {MOST_CORNERS} at most"
            raise node.item.refusal("mesh", rule, corners)
        if drawn > MOST_DRAWS:
            rule = f"bring primitives of all nodes to {MOST_DRAWS} at most"
            raise node.item.refusal("mesh", rule, drawn)
        placed.append(Placed(shapes, places, f"{node.item.label}, {mesh.label}"))
    return placed


def _camera(document, found, aspect, number, materials):
    """The matrix of the camera that looks; None, if the file has none."""
    cameras = [node for node in found if "camera" in node.item]
    chosen = number or 0
    if number is not None and number >= len(cameras):
        raise document.root.refusal("camera", f"be below the {len(cameras)} of the scene", number)
    for n, node in enumerate(cameras):
        if n != chosen:
            materials.leave_out(node.item, "a camera that does not look")
    if not cameras:
        return None
    node = cameras[chosen]
    return nodes.view(document.named(node.item, "camera"), node.matrix, aspect)


def _leave_out(document, found, materials):
    """Note what the whole file holds that is not drawn."""
    for name in document.root.texts("extensionsUsed"):
        if name not in DRAWN:
            materials.left_out[f"extension {name}"] += 1
    for animation in document.all("animations"):
        materials.leave_out(animation, "an animation")
    for node in found:
        if "skin" in node.item:
            materials.leave_out(node.item, "a skin")
    beyond = len(document.all("nodes")) - len(found)
    if beyond:
        materials.left_out[f"{beyond} nodes outside of the scene"] += 1
