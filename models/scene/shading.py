# SPDX-License-Identifier: BSD-2-Clause
"""The mesh demo's pixel shader: flat Lambert light, and a texture."""

from collections.abc import Sequence

import numpy as np

from fixfunc.models.machine.front_half import Part
from fixfunc.models.memory.surface import to_image
from fixfunc.models.pixel import interpolator
from fixfunc.models.raster.edge_evaluator import LANE_SHAPE
from fixfunc.models.scene.scene import Scene
from fixfunc.models.texture.sampler import Sampler, Taps, sample

BACKGROUND = (24, 26, 32)
REPEATS = 4  # of a texture around a mesh
SAMPLER = Sampler(anisotropy=8)
GREY = "R8", "R16", "BC4U", "BC4S"  # formats of one channel


def on_top(
    scene: Scene, part: Part, tiles: np.ndarray, triangle: np.ndarray, passed: np.ndarray
) -> np.ndarray:
    """The triangle that each sample shows: int32, shape (height, width, samples).

    The background has the number of triangles.
    """
    lanes = LANE_SHAPE[scene.samples.bit_length() - 1]
    edge = passed.shape[1]
    rows = -(-scene.height // (edge >> lanes[1]))
    columns = -(-scene.width // (edge >> lanes[0]))
    top = np.full((rows, columns, edge, edge), len(part.triangles), np.int32)
    place = (tiles["y"].astype(np.int64) * columns + tiles["x"]) * edge * edge
    tile, lane = np.nonzero(passed.reshape(len(tiles), edge * edge))
    top.reshape(-1)[place[tile] + lane] = triangle[tile]  # in drawing order: the last one stays
    return to_image(top, scene.width, scene.height, scene.samples)


def resolve(scene: Scene, part: Part, top: np.ndarray) -> np.ndarray:
    """Shade samples and average those of each pixel: uint8, shape (height, width, 3)."""
    if scene.texture is None:
        face = np.append(part.primitive, len(scene.faces))
        lit = lambert(scene, scene.colour)[face]
        total = sum(lit[top[..., k]].astype(np.uint16) for k in range(scene.samples))
    else:
        total = textured(scene, part, top).astype(np.uint16).sum(2)
    return ((total + scene.samples // 2) // scene.samples).astype(np.uint8)


def lambert(scene: Scene, colour: Sequence[int]) -> np.ndarray:
    """Colour of each face, and of the background: uint8, shape (faces + 1, 3)."""
    corners = _corners(scene, scene.vertices.astype(np.float64))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        normal *= np.where((normal * (scene.eye - corners[:, 0])).sum(1) < 0, -1, 1)[:, None]
        light = np.array([0.45, 0.75, 0.48]) / np.linalg.norm([0.45, 0.75, 0.48])
        intensity = np.nan_to_num(0.22 + 0.78 * np.clip(normal @ light, 0, 1), nan=0.22)
    colours = np.floor(intensity[:, None] * np.array(colour) + 0.5)
    return np.concatenate([colours, [BACKGROUND]]).astype(np.uint8)


def around(scene: Scene) -> np.ndarray:
    """Texture coordinates of every face's corners: float32, shape (faces, 3, 2).

    They lie on a cylinder around y, four turns a circle, and as many for a length of it upwards. A
    face over the seam goes on where it is cut.
    """
    corners = _corners(scene, scene.vertices.astype(np.float64))
    centre = (scene.vertices.max(0) + scene.vertices.min(0)) / 2
    radius = max(float(np.ptp(scene.vertices[:, [0, 2]], axis=0).max()) / 2, 1e-30)
    x, y, z = np.moveaxis(np.nan_to_num(corners - centre), -1, 0)
    u = np.arctan2(z, x) / (2 * np.pi)
    u += u.max(1, keepdims=True) - u > 0.5
    return (np.stack([u, -y / (2 * np.pi * radius)], -1) * REPEATS).astype(np.float32)


def textured(scene: Scene, part: Part, top: np.ndarray, taps: Taps | None = None) -> np.ndarray:
    """Light times texture, of every sample: uint8, shape (height, width, samples, 3).

    A texture is read once a pixel and triangle, by quads whose pixels may be beyond it. ``taps`` is
    told what is read, triangle by triangle in the order of :func:`drawn_order`.
    """
    y, x, _ = np.nonzero(top < len(part.triangles))
    shown = top[top < len(part.triangles)]
    quads, group = np.unique(shown.astype(np.int64) << 32 | drawn_order(x, y), return_inverse=True)
    first = np.zeros(len(quads), np.int64)
    first[group] = np.arange(len(group))
    corner = np.stack([x[first] // 2 * 2, y[first] // 2 * 2], 1)
    uv = _coordinates(scene, part, shown[first], corner)
    colour = sample(scene.texture, SAMPLER, uv, taps=taps)
    out = np.empty((*top.shape, 3), np.uint8)
    out[top >= len(part.triangles)] = BACKGROUND
    out[top < len(part.triangles)] = _lit(scene, colour[group, y % 2, x % 2], part.primitive[shown])
    return out


def drawn_order(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Numbers of pixels' quads in the order of the rasterizer.

    Superblocks of 64 by 64 pixels hold tiles of 8 by 8, row by row.
    """
    return (
        (y >> 6) << 22
        | (x >> 6) << 12
        | (y >> 3 & 7) << 9
        | (x >> 3 & 7) << 6
        | (y >> 1 & 3) << 4
        | (x >> 1 & 3) << 2
    )


def _coordinates(scene, part, triangle, corner):
    """Of quads: float32, shape (n, 2, 2, 2), as the pixel stage interpolates an attribute."""
    pixels = triangle.repeat(4)
    at = corner[:, None, None] + np.stack(np.meshgrid([0, 1], [0, 1]), -1)
    x, y = np.moveaxis(256 * at.reshape(-1, 2).astype(np.int64) + 128, -1, 0)
    places = interpolator.corners(part.triangles[pixels], part.rhw[pixels])
    share = interpolator.weights(places, x, y)
    values = around(scene)[part.primitive[pixels]]
    uv = interpolator.attributes(values, share, part.weights[pixels])
    return uv.reshape(-1, 2, 2, 2)


def _corners(scene, values):
    """Values of every face's corners; a vertex that there is not is zeros."""
    values = np.concatenate([values, np.zeros((1, values.shape[1]))])
    inside = (scene.faces >= 0) & (scene.faces < len(scene.vertices))
    return values[np.where(inside, scene.faces, len(scene.vertices))]


def shade(scene: Scene, part: Part, tiles: np.ndarray, triangle: np.ndarray) -> np.ndarray:
    """Colours of tiles' samples: a shader, for :class:`fixfunc.models.top.top.Machine`.

    Parameters
    ----------
    scene : fixfunc.models.scene.scene.Scene
    part : Part
        Its triangles.
    tiles : structured ndarray, shape (n,)
        As in :func:`fixfunc.spec.payloads.tile`.
    triangle : ndarray of int, shape (n,)
        The triangle that each tile belongs to.

    Returns
    -------
    ndarray of uint32, shape (n, edge, edge)
        RGBA8, opaque.
    """
    edge = 8
    face = part.primitive[triangle]
    if scene.texture is None:
        return np.broadcast_to(
            rgba(lambert(scene, scene.colour)[face])[:, None, None], (len(tiles), edge, edge)
        )
    lx, ly = LANE_SHAPE[scene.samples.bit_length() - 1]
    wide = edge >> lx
    high = edge >> ly
    j, i = (grid.ravel() for grid in np.mgrid[:high:2, :wide:2])
    corner = np.stack(
        [
            (tiles["x"].astype(np.int64)[:, None] * wide + i).ravel(),
            (tiles["y"].astype(np.int64)[:, None] * high + j).ravel(),
        ],
        1,
    )
    uv = _coordinates(scene, part, np.repeat(triangle, len(i)), corner)
    colour = _lit(scene, sample(scene.texture, SAMPLER, uv), np.repeat(face, len(i))[:, None, None])
    pixels = (
        colour.reshape(len(tiles), high // 2, wide // 2, 2, 2, 3)
        .swapaxes(2, 3)
        .reshape(len(tiles), high, wide, 3)
    )
    return rgba(pixels).repeat(1 << ly, 1).repeat(1 << lx, 2)


def rgba(colour: np.ndarray) -> np.ndarray:
    """Opaque RGBA8 of uint8 colours, shape (..., 3): uint32."""
    red, green, blue = np.moveaxis(colour.astype(np.uint32), -1, 0)
    return red | green << 8 | blue << 16 | np.uint32(255 << 24)


def _lit(scene, colour, face):
    """A texture's colours in the light of faces: uint8. One channel is a grey."""
    channels = [0, 0, 0] if scene.texture.format in GREY else [0, 1, 2]
    light = lambert(scene, (255, 255, 255))[face].astype(np.float32)
    shade = np.clip(np.nan_to_num(colour[..., channels]), 0, 1) * light
    return np.floor(shade + np.float32(0.5)).astype(np.uint8)
