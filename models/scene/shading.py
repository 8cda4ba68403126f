# SPDX-License-Identifier: BSD-2-Clause
"""Light of scenes: Lambert's at vertices, which pixels interpolate, and a texture in it."""

import numpy as np

from fixfunc.models.lib import float32
from fixfunc.models.machine.back_state import BackState
from fixfunc.models.machine.front_half import Part
from fixfunc.models.machine.tile_shading import TileShading
from fixfunc.models.memory.surface import tile_grid, to_image
from fixfunc.models.pixel import texture_stage
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults, PixelShader
from fixfunc.models.raster.edge_evaluator import unpack
from fixfunc.models.scene.scene import Scene
from fixfunc.models.texture.sampler import Sampler, Taps, level_of_detail, sample

BACKGROUND = (24, 26, 32)
SAMPLER = Sampler()
WHITE = (255, 255, 255)
CREASE = np.pi / 4  # parts of a mesh that meet at a greater angle have an edge there
MEETING = 64  # vertices at one place that are looked at
GREY = "R8", "R16", "BC4U", "BC4S"  # formats of one channel


def picture(
    scene: Scene,
    part: Part,
    tiles: np.ndarray,
    triangle: np.ndarray,
    passed: np.ndarray,
    taps: Taps | None = None,
    levels: np.ndarray | None = None,
) -> np.ndarray:
    """Shade the samples that are on top in the end, and average those of each pixel.

    Parameters
    ----------
    scene, part, tiles, triangle, taps, levels
        As :func:`shade` takes them.
    passed : ndarray of bool, shape (n, edge, edge)
        Samples of the tiles that passed all tests.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
    """
    columns, rows = tile_grid(scene.state)
    edge = passed.shape[1]
    place = tiles["y"].astype(np.int64) * columns + tiles["x"]
    tile, *lane = np.nonzero(passed)
    at = place[tile], *lane  # in drawing order: what is written last stays
    top = np.full((rows * columns, edge, edge), -1, np.int32)  # the tile that each sample shows
    top[at] = tile
    on_top = passed & (top[place] == np.arange(len(tiles), dtype=np.int32)[:, None, None])
    shown = np.full(top.shape, rgba(np.array(BACKGROUND)), np.uint32)
    shown[at] = shade(scene, part, tiles, triangle, on_top, taps, levels)[tile, *lane]
    image = to_image(
        shown.reshape(rows, columns, edge, edge), scene.width, scene.height, scene.samples
    )
    octets = np.ascontiguousarray(image, "<u4").view(np.uint8).reshape(*image.shape, 4)[..., :3]
    total = sum(octets[:, :, k].astype(np.uint16) for k in range(scene.samples))
    return ((total + scene.samples // 2) // scene.samples).astype(np.uint8)


def shade(
    scene: Scene,
    part: Part,
    tiles: np.ndarray,
    triangle: np.ndarray,
    mask: np.ndarray | None = None,
    taps: Taps | None = None,
    levels: np.ndarray | None = None,
) -> np.ndarray:
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
    mask : ndarray of bool, shape (n, edge, edge), optional
        Samples to shade; by default those of the tiles.
    taps : Taps, optional
        Is told what is read of the texture.
    levels : ndarray of float32, shape (height, width), optional
        Is told the texture's level of detail at each pixel that is shaded.

    Returns
    -------
    ndarray of uint32, shape (n, edge, edge)
        RGBA8, opaque; of pixels that are not shaded anything.
    """
    mask = unpack(tiles["mask"]) if mask is None else mask
    if not mask.any():
        return np.zeros(mask.shape, np.uint32)
    shader = pixel_shader(scene, taps, levels)
    state = BackState([], None, {}, [], [(0.0, 1.0)], shader, shader.function, [], np.zeros(4))
    shading = TileShading(part, state, tiles, triangle, scene.state)
    shading.shade(np.arange(len(tiles)), mask)
    (colour,) = shading.colours
    bits = np.ascontiguousarray(colour[..., :3]).view(np.uint32).astype(np.int64)
    return rgba(float32.unorm(bits, 255))


def pixel_shader(
    scene: Scene, taps: Taps | None = None, levels: np.ndarray | None = None
) -> PixelShader:
    """The first attribute as a colour, times the texture where the second one says.

    ``taps`` and ``levels`` are told what is read of a texture around the mesh: see :func:`shade`.
    """
    if scene.texture is None:
        return PixelShader(lambda quads: PixelResults(quads.floats(0)))

    def function(quads: PixelQuads) -> PixelResults:
        uv = np.ascontiguousarray(quads.floats(1)[..., :2])
        texel = _unorm(_texels(scene.texture, uv, taps))
        if levels is not None:
            level = level_of_detail(scene.texture, SAMPLER, uv)[..., 0]
            levels[quads.y[quads.live], quads.x[quads.live]] = level[quads.live]
        lit = texture_stage.quotient(_unorm(quads.floats(0)) * texel)
        return PixelResults(texture_stage.floats(lit).astype(np.uint32).view(np.float32))

    return PixelShader(function)


def _texels(texture, uv, taps):
    found = sample(texture, SAMPLER, uv, taps=taps)
    return found[..., [0, 0, 0, 3]] if texture.format in GREY else found


def _unorm(values):
    """Of 16 bits, as the texture stage has them: int64."""
    return float32.unorm(np.ascontiguousarray(values).view(np.uint32).astype(np.int64))


def colours(scene: Scene) -> np.ndarray:
    """Colour of each vertex in the light: float32, shape (n, 3).

    Its normal is the mean of its faces', each as heavy as its area; faces are wound alike. Where
    parts of a mesh meet, those that differ by less than :data:`CREASE` are one surface.
    """
    normal = np.zeros(scene.vertices.shape)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        areas = _areas(scene)
        for corner in range(3):
            known = ~scene.outside[:, corner]
            np.add.at(normal, scene.faces[known, corner], areas[known])
        intensity = _intensity(scene, _joined(scene.vertices, normal), scene.vertices)
    colour = scene.colour if scene.texture is None else WHITE
    return (intensity[:, None] * np.array(colour) / 255).astype(np.float32)


def _joined(places, normal):
    """Normals of vertices, with those at the same place that point nearly as they do: (n, 3)."""
    _, group, counts = np.unique(places, axis=0, return_inverse=True, return_counts=True)
    group = group.ravel()
    order = np.argsort(group, kind="stable")
    first = (np.cumsum(counts) - counts)[group[order]]
    rank = np.arange(len(order)) - first
    many = counts[group[order]]
    sorted_normal = normal[order]
    unit = sorted_normal / np.maximum(np.linalg.norm(sorted_normal, axis=1, keepdims=True), 1e-300)
    total = sorted_normal.copy()
    for step in range(1, min(counts.max(), MEETING)):
        other = first + (rank + step) % many
        joins = (step < many) & ((unit * unit[other]).sum(1) > np.cos(CREASE))
        total[joins] += sorted_normal[other[joins]]
    out = np.empty_like(normal)
    out[order] = total
    return out


def _areas(scene):
    """Normals of faces, each as long as twice its area: float64, shape (faces, 3)."""
    corners = scene.corners.astype(np.float64)
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])


def _intensity(scene, normal, place):
    """Light on the side that the eye sees, by normals of any length at places: shape (n,)."""
    normal = normal / np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
    normal *= np.where((normal * (scene.eye - place)).sum(1) < 0, -1, 1)[:, None]
    light = np.array([0.45, 0.75, 0.48]) / np.linalg.norm([0.45, 0.75, 0.48])
    return np.nan_to_num(0.22 + 0.78 * np.clip(normal @ light, 0, 1), nan=0.22)


def rgba(colour: np.ndarray) -> np.ndarray:
    """Opaque RGBA8 of colours of whole numbers to 255, shape (..., 3): uint32."""
    red, green, blue = np.moveaxis(colour.astype(np.uint32), -1, 0)
    return red | green << 8 | blue << 16 | np.uint32(255 << 24)
