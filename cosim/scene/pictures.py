# SPDX-License-Identifier: BSD-2-Clause
"""A folder of pictures as a scene: a square for each in a grid, in the order of their names."""

import math
from pathlib import Path

import numpy as np

from fixfunc.cosim.scene import textures
from fixfunc.cosim.scene.scene import Bound, Material, Placed, Scene, Shape
from fixfunc.models.host.states import SamplerState
from fixfunc.spec.draw import Topology
from fixfunc.spec.errors import InputError

SUFFIXES = (".png", ".jpg", ".jpeg", ".dds", ".ktx2")
MOST_PICTURES = 1024
MOST_BYTES = 1 << 30  # of all files, and of all textures
SHARE = 0.9  # of a cell, that a picture's longer side takes
_SAMPLER = SamplerState(max_anisotropy=8)
# Position, normal, coordinates twice, colour.
_SQUARE = np.ones((4, 14), np.float32)
_SQUARE[:, :3] = (-0.5, -0.5, 0), (0.5, -0.5, 0), (0.5, 0.5, 0), (-0.5, 0.5, 0)
_SQUARE[:, 6:8] = (0, 1), (1, 1), (1, 0), (0, 0)
_FACES = np.uint32([0, 1, 2, 0, 2, 3])


def load(folder: Path, aspect: float) -> Scene:
    """Read pictures.

    Parameters
    ----------
    folder : Path
    aspect : float
        Width over height of the frame, which the grid fills.

    Returns
    -------
    Scene
        Files that are no picture, or cannot be read, are left out by name.

    Raises
    ------
    InputError
        A folder without a picture, or with more than the limits allow.
    """
    left_out = []
    read = {}
    for path in _files(folder, left_out):
        try:
            read[path.name] = textures.read(path.name, path.read_bytes())
        except InputError as error:
            left_out.append(f"{path.name}: {error}")
        held = sum(level.nbytes for texture in read.values() for level in texture.levels)
        if held > MOST_BYTES:
            rule = f"hold pictures of at most {MOST_BYTES} bytes"
            raise InputError(f"folder {folder.name}", rule, held)
    if not read:
        why = f"; left out: {left_out[0]}" if left_out else ""
        raise InputError("folder", f"hold a picture {', '.join(SUFFIXES)}", f"{folder}{why}")
    columns, rows = _grid(len(read), aspect)
    placed = [_square(*named, n, columns) for n, named in enumerate(read.items())]
    return Scene(placed, _camera(columns, rows, aspect), left_out)


def _files(folder, left_out):
    """Pictures of a folder by name; what else lies there is left out."""
    paths = []
    for path in sorted(folder.iterdir()):
        if path.is_file() and path.suffix.lower() in SUFFIXES:
            paths.append(path)
        else:
            left_out.append(f"{path.name}: no picture")
    if len(paths) > MOST_PICTURES:
        rule = f"hold at most {MOST_PICTURES} pictures"
        raise InputError(f"folder {folder.name}", rule, len(paths))
    size = sum(path.stat().st_size for path in paths)
    if size > MOST_BYTES:
        raise InputError(f"folder {folder.name}", f"hold at most {MOST_BYTES} bytes", size)
    return paths


def _grid(count, aspect):
    """Columns and rows whose cells are as large as they can be."""
    columns = min(range(1, count + 1), key=lambda n: max(n / aspect, math.ceil(count / n)))
    return columns, math.ceil(count / columns)


def _square(name, texture, number, columns):
    """A picture in its cell, as wide and high as its texels say."""
    row, column = divmod(number, columns)
    longer = max(texture.width, texture.height)
    place = np.diag((SHARE * texture.width / longer, SHARE * texture.height / longer, 1.0, 1.0))
    place[:2, 3] = column + 0.5, -row - 0.5
    material = Material(
        base_texture=Bound(texture, _SAMPLER), alpha="BLEND", double_sided=True, is_lit=False
    )
    shape = Shape(_SQUARE, _FACES, Topology.TRIANGLE_LIST, material)
    return Placed([shape], place[None], name)


def _camera(columns, rows, aspect):
    """The grid in the middle of the frame: float32, shape (4, 4)."""
    high = max(rows, columns / aspect)
    out = np.diag((2 / (high * aspect), 2 / high, 1.0, 1.0))
    out[0, 3] = -columns / (high * aspect)
    out[1, 3] = rows / high
    out[2, 3] = 0.5
    return out.astype(np.float32)
