# SPDX-License-Identifier: BSD-2-Clause
"""A scene: passes of vertices in clip space, with a numpy shader and one in GLSL each."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fixfunc.models.texture.sampler import Sampler
from fixfunc.models.texture.texture import Texture
from fixfunc.spec.state import Compare, Cull, StencilOp

SIZE = (640, 360)


class Bound(NamedTuple):
    """A texture and its sampler; None: depths of the pass that is named ``shadow``."""

    texture: Texture | None
    sampler: Sampler


class Stencil(NamedTuple):
    """Stencil test: operations are those of failing, of failing depths, of passing."""

    compare: Compare = Compare.ALWAYS
    reference: int = 0
    front: tuple = (StencilOp.KEEP, StencilOp.KEEP, StencilOp.KEEP)
    back: tuple = (StencilOp.KEEP, StencilOp.KEEP, StencilOp.KEEP)


class Patches(NamedTuple):
    """Tessellation of quads: all factors are one number."""

    factor: int
    domain: Callable  # as a domain shader
    glsl: str  # of an evaluation shader: sets gl_Position and e0 from gl_TessCoord and p0[]


@dataclass(frozen=True)
class Pass:
    """Triangles, and how they are drawn.

    Parameters
    ----------
    vertices : ndarray of float32, shape (n, 4 + 4 a)
        Positions in clip space, y up, z from 0 to w; attributes.
    pixel : callable, optional
        The pixel shader; None: depths and stencil values alone.
    glsl : str
        The same: sets ``colour``, from attributes ``a0``.. and textures ``t0``...
    indices : ndarray of int, optional
    textures : sequence of Bound
    declared : dict
        What the pixel shader declares.
    blend : str, optional
        ``over`` by alpha, or ``add``.
    into_shadow : bool
        Depths go to the shadow map, of ``SHADOW`` by ``SHADOW`` pixels.
    depth_clip : bool
        Triangles are cut at the near and the far plane; else depths are, sample by sample.
    """

    vertices: np.ndarray
    pixel: Callable | None
    glsl: str
    indices: np.ndarray | None = None
    textures: Sequence[Bound] = ()
    declared: dict = field(default_factory=dict)
    blend: str | None = None
    depth: bool = True
    depth_write: bool = True
    stencil: Stencil | None = None
    colour: bool = True
    cull: Cull = Cull.NONE
    into_shadow: bool = False
    patches: Patches | None = None
    depth_clip: bool = True

    @property
    def attributes(self) -> int:
        """Attributes of a vertex."""
        return self.vertices.shape[1] // 4 - 1


SHADOW = 256


class Frame(NamedTuple):
    """A scene to draw."""

    passes: Sequence[Pass]
    samples: int = 1
    background: tuple = (0.1, 0.12, 0.15, 1.0)
