# SPDX-License-Identifier: BSD-2-Clause
"""Meshes: files, by trimesh; the teapot, from its patches."""

import logging
import warnings
from pathlib import Path

import numpy as np
import trimesh

from fixfunc.models.scene.scene import teapot
from fixfunc.spec.errors import InputError, InputWarning, MeshError

__all__ = ["load", "teapot"]

FORMATS = (".obj", ".ply", ".stl", ".gltf", ".glb")
MOST_BYTES = 1 << 30


def load(path: str | Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of a file, those of all its parts where they stand.

    That materials and colours are left out is told by an
    :class:`~fixfunc.spec.errors.InputWarning`; :mod:`fixfunc.cosim.scene` draws those of glTF.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    vertices : ndarray of float32, shape (n, 3)
    faces : ndarray of int64, shape (m, 3)

    Raises
    ------
    InputError
        No such file, or a format that is not known.
    MeshError
        A file that cannot be read, or that holds no triangle.
    """
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        raise InputError("mesh", f"be 'teapot' or a file {', '.join(FORMATS)}", path)
    if not path.is_file():
        raise InputError("mesh", "be a file that exists", path)
    if path.stat().st_size > MOST_BYTES:
        raise MeshError("mesh file", f"hold at most {MOST_BYTES} bytes", path.stat().st_size)
    logging.getLogger("trimesh").setLevel(logging.CRITICAL)
    try:
        with np.errstate(all="ignore"):
            scene = trimesh.load_scene(path, process=False)
            vertices, faces, parts = _joined(scene)
    except ImportError as error:  # trimesh reads some files by packages that it does not bring
        needs = (
            f"{path.name}, which needs the package {error.name}"
            if error.name
            else f"{path.name}: {error}"
        )
        raise MeshError(
            "mesh file", "be of a kind that is read here", needs.splitlines()[0]
        ) from error
    except Exception as error:  # whatever a parser meets in a broken file
        raise MeshError(
            "mesh file",
            "be readable",
            f"{path.name}: {type(error).__name__}: {error}".splitlines()[0],
        ) from error
    if (
        vertices.ndim != 2
        or vertices.shape[1:] != (3,)
        or faces.ndim != 2
        or faces.shape[1:] != (3,)
        or not len(faces)
    ):
        raise MeshError("mesh file", "hold at least one triangle", path.name)
    if any(part.visual.defined for part in parts):
        text = f"{path.name}: materials and colours are left out: the mesh is drawn in one colour"
        warnings.warn(text, InputWarning, stacklevel=2)
    with np.errstate(over="ignore"):
        return vertices.astype(np.float32), faces.astype(np.int64)


def _joined(scene):
    """Vertices and faces of all meshes, each where it stands; and the meshes.

    Trimesh joins colours, too, and needs more packages for it.
    """
    vertices = [np.zeros((0, 3))]
    faces = [np.zeros((0, 3), np.int64)]
    parts = []
    first = 0
    for node in scene.graph.nodes_geometry:
        matrix, name = scene.graph[node]
        part = scene.geometry[name]
        if not isinstance(part, trimesh.Trimesh):
            continue
        moved = trimesh.transformations.transform_points(part.vertices, matrix)
        mirrored = np.linalg.det(matrix[:3, :3]) < 0
        vertices.append(moved)
        faces.append(first + (part.faces[:, ::-1] if mirrored else part.faces))
        parts.append(part)
        first += len(moved)
    return np.concatenate(vertices), np.concatenate(faces), parts
