# SPDX-License-Identifier: BSD-2-Clause
"""A scene: meshes with materials, where they stand, and what they are looked at with."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fixfunc.models.host.states import SamplerState
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.draw import Topology

MOST_DRAWS = 1 << 12  # of a scene: each takes some hundredths of a second
STRIDE = 56  # bytes of a vertex: position 3, normal 3, two pairs of coordinates 4, colour 4 floats


class Bound(NamedTuple):
    """A texture and its sampler."""

    texture: Texture  # colours are sRGB
    sampler: SamplerState


class Material(NamedTuple):
    """How a surface is shaded: base colour in the light, and what it sends out itself."""

    base: tuple[float, ...] = (1.0, 1.0, 1.0, 1.0)  # linear, with alpha
    base_texture: Bound | None = None
    emissive: tuple[float, ...] = (0.0, 0.0, 0.0)
    emissive_texture: Bound | None = None
    alpha: str = "OPAQUE"  # MASK, BLEND
    cutoff: float = 0.5  # of MASK
    double_sided: bool = False
    is_lit: bool = True


class Shape(NamedTuple):
    """Points, lines or triangles of one material: a list, whichever it was."""

    vertices: np.ndarray  # float32, shape (n, 14): see STRIDE
    indices: np.ndarray  # uint32, shape (m,)
    topology: Topology
    material: Material


class Placed(NamedTuple):
    """Shapes, and each place where they stand."""

    shapes: list[Shape]
    places: np.ndarray  # float64, shape (k, 4, 4): to the world, for column vectors
    name: str = ""  # for people


@dataclass
class Scene:
    """What is drawn, and in words what is not.

    Attributes
    ----------
    placed : list of Placed
    camera : ndarray of float32, shape (4, 4), optional
        From the world to clip space; None: all is in view.
    left_out : list of str
        What the file holds that is not drawn, sorted.
    """

    placed: list[Placed] = field(default_factory=list)
    camera: np.ndarray | None = None
    left_out: list[str] = field(default_factory=list)
