# SPDX-License-Identifier: BSD-2-Clause
"""Shaders of scenes: they light linear colours.

They encode colours as sRGB themselves, since the top's own frames have targets of bytes alone:
these are blended, and averaged, as they are shown.
"""

import numpy as np

from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults, PixelShader
from fixfunc.models.scene.render import transformed

LIGHT = np.array((0.45, 0.75, 0.48), np.float32) / np.float32(0.9979)  # towards it, in the world
AMBIENT = np.float32(0.22)


def vertex(waves: VertexWaves, bound: Bindings) -> VertexResults:
    """To the world by the instance, then to clip space; normals go by cofactors."""
    rows = [waves.floats(4 + n) for n in range(3)]
    point = waves.floats(0)
    normal = waves.floats(1)
    with np.errstate(all="ignore"):
        axes = [row[..., :3] for row in rows]
        world = np.stack([(axis * point[..., :3]).sum(-1) for axis in axes], -1)
        world += np.stack([row[..., 3] for row in rows], -1)
        cofactors = [np.cross(axes[n - 2], axes[n - 1]) for n in range(3)]
        volume = (axes[0] * cofactors[0]).sum(-1)
        turned = np.stack([(row * normal[..., :3]).sum(-1) for row in cofactors], -1)
        turned *= np.where(volume < 0, np.float32(-1), np.float32(1))[..., None]
        position = transformed(world, bound.floats(0)[:16].reshape(4, 4))
    wide = np.zeros_like(point)
    wide[..., :3] = turned
    return VertexResults(position, np.stack([wide, waves.floats(2), waves.floats(3)], 2))


def _opaque(quads, bound):
    colour, _ = _shaded(quads, bound)
    colour[..., 3] = 1
    return PixelResults(colour)


def _masked(quads, bound):
    colour, cut = _shaded(quads, bound)
    colour[..., 3] = 1
    return PixelResults(colour, cut)


def _blended(quads, bound):
    colour, _ = _shaded(quads, bound)
    return PixelResults(colour)


def _shaded(quads: PixelQuads, bound: Bindings) -> tuple[np.ndarray, np.ndarray]:
    """A colour with alpha, float32 of shape (q, 2, 2, 4), and what a mask cuts, (q, 2, 2)."""
    values = bound.floats(0)
    uv = quads.floats(1)
    with np.errstate(all="ignore"):
        base = bound.sample(0, 0, np.ascontiguousarray(uv[..., :2])) * values[:4]
        emissive = bound.sample(1, 1, np.ascontiguousarray(uv[..., 2:]))[..., :3] * values[4:7]
        colour = base * quads.floats(2)
        if values[8]:
            colour[..., :3] *= _light(quads)
        colour[..., :3] += emissive
    colour = np.clip(np.nan_to_num(colour), 0, 1)
    cut = colour[..., 3] < values[7]
    colour[..., :3] = _encoded(colour[..., :3])
    # The top takes bytes: the machine then blends the same.
    return np.rint(colour * np.float32(255)) / np.float32(255), cut


def _encoded(light):
    """Linear light as sRGB [IEC 61966-2-1]."""
    bright = np.float32(1.055) * light ** np.float32(1 / 2.4) - np.float32(0.055)
    return np.where(light <= np.float32(0.0031308), np.float32(12.92) * light, bright)


def _light(quads):
    """Lambert's, on the side that is seen: float32, shape (q, 2, 2, 1)."""
    normal = quads.floats(0)[..., :3]
    length = np.sqrt((normal * normal).sum(-1, keepdims=True))
    cosine = (normal * LIGHT).sum(-1, keepdims=True) / np.maximum(length, np.float32(1e-20))
    cosine *= np.where(quads.front, np.float32(1), np.float32(-1))[:, None, None, None]
    return AMBIENT + (1 - AMBIENT) * np.clip(np.nan_to_num(cosine), 0, 1)


SHADERS = {  # of pixels, by how alpha counts
    "OPAQUE": PixelShader(_opaque),
    "MASK": PixelShader(_masked, discards=True),
    "BLEND": PixelShader(_blended),
}
