# SPDX-License-Identifier: BSD-2-Clause
"""What the examples share: a picture to draw to, cameras, meshes from files."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import trimesh
from PIL import Image

from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind, Buffer
from fixfunc.models.host.views import View
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.texture.texture import of_picture
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format

BACKGROUND = (0.07, 0.08, 0.10, 1.0)
# Position, normal and texture coordinates of a vertex, as meshes here have them.
VERTEX = (
    Element(0, Format.R32G32B32_FLOAT),
    Element(1, Format.R32G32B32_FLOAT, offset=12),
    Element(2, Format.R32G32_FLOAT, offset=24),
)
STRIDE = 32  # bytes


class Picture:
    """A device with a target of colours and one of depths, cleared, and a viewport over them."""

    def __init__(self, width: int, height: int, samples: int = 4) -> None:
        self.device = Device()
        self.context = self.device.context
        form = Format.R8G8B8A8_UNORM
        self._colours = self.device.create_texture2d(
            form, width, height, sample_count=samples, bind=Bind.RENDER_TARGET
        )
        self._shown = self.device.create_texture2d(form, width, height)
        depths = self.device.create_texture2d(
            Format.D24_UNORM_S8_UINT, width, height, sample_count=samples, bind=Bind.DEPTH_STENCIL
        )
        self.target = self.device.create_render_target_view(self._colours)
        self.depth = self.device.create_depth_stencil_view(depths)
        self.context.clear_render_target_view(self.target, BACKGROUND)
        self.context.clear_depth_stencil_view(self.depth, 1.0, 0)
        self.context.om.set_render_targets([self.target], self.depth)
        self.context.rs.set_viewports([Viewport(width=width, height=height)])

    def image(self) -> np.ndarray:
        """What has been drawn, its samples averaged: uint8, shape (height, width, 4)."""
        if self._colours.layout.samples == 1:
            return self.context.read(self._colours)[:, :, 0]
        self.context.resolve_subresource(self._shown, (0, 0), self._colours, (0, 0))
        return self.context.read(self._shown)[:, :, 0]

    def constants(self, *values: np.ndarray) -> Buffer:
        """A constant buffer of float32 values, in a row."""
        data = np.concatenate([np.asarray(value, np.float32).ravel() for value in values])
        size = -(-data.nbytes // 16) * 16
        return self.device.create_buffer(size, Bind.CONSTANT_BUFFER, data)

    def shaders(self, vertex: Callable, pixel: Callable, constants: Buffer) -> None:
        """Set a vertex shader, with its constants in slot 0, and a pixel shader."""
        self.context.vs.set_shader(self.device.create_vertex_shader(vertex))
        self.context.vs.set_constant_buffers(0, [constants])
        self.context.ps.set_shader(self.device.create_pixel_shader(PixelShader(pixel)))

    def texture(self, picture: np.ndarray) -> View:
        """A view of a picture, uint8 of shape (height, width, 4), with all smaller levels."""
        made = of_picture(picture)
        levels = [level[0] for level in made.levels]
        texture = self.device.create_texture2d(
            Format.R8G8B8A8_UNORM, made.width, made.height, len(levels), data=levels
        )
        return self.device.create_shader_resource_view(texture)

    def mesh(self, vertices: np.ndarray, indices: np.ndarray | None = None) -> int:
        """Bind vertices, float32 of shape (n, 8), and indices of triangles; returns their count."""
        device = self.device
        ia = self.context.ia
        ia.set_input_layout(device.create_input_layout(VERTEX))
        ia.set_vertex_buffers(0, [device.create_buffer(data=vertices)], [STRIDE])
        data = np.arange(len(vertices)) if indices is None else indices
        data = np.asarray(data, "<u4").ravel()
        ia.set_index_buffer(
            device.create_buffer(bind=Bind.INDEX_BUFFER, data=data), Format.R32_UINT
        )
        ia.set_primitive_topology(Topology.TRIANGLE_LIST)
        return len(data)


class Part(NamedTuple):
    """A part of a mesh file, of one material."""

    vertices: np.ndarray  # float32, shape (n, 8): position, normal, texture coordinates
    picture: np.ndarray  # uint8, shape (height, width, 4): of one texel, if there is no texture


def load(path: Path) -> list[Part]:
    """Parts of a mesh file, in the scene's space."""
    scene = trimesh.load_scene(path)
    return [_part(mesh) for mesh in scene.dump()]


def _part(mesh):
    material = mesh.visual.material
    texture = getattr(material, "baseColorTexture", None)
    factor = getattr(material, "baseColorFactor", None)
    factor = np.array([255] * 4 if factor is None else factor)
    picture = factor.astype(np.uint8).reshape(1, 1, 4)
    if texture is not None:
        texels = np.asarray(texture.convert("RGBA"), np.uint16)
        picture = ((texels * factor + 127) // 255).astype(np.uint8)
    uv = np.zeros((len(mesh.vertices), 2)) if mesh.visual.uv is None else mesh.visual.uv
    # A file's v runs upwards.
    uv = np.stack([uv[:, 0], 1 - uv[:, 1]], 1)
    # Faces are flat: each has corners of its own.
    rows = np.concatenate([mesh.vertices, uv], 1)[mesh.faces].reshape(-1, 5)
    normals = np.repeat(mesh.face_normals, 3, 0)
    vertices = np.concatenate([rows[:, :3], normals, rows[:, 3:]], 1).astype(np.float32)
    return Part(vertices, picture)


def smooth(points: np.ndarray, faces: np.ndarray, uv: tuple = (0, 0)) -> np.ndarray:
    """Vertices of a mesh with smooth normals, all of one texture coordinate.

    Parameters
    ----------
    points, faces : ndarray, shape (n, 3)
        Faces are counter-clockwise from outside.
    uv : pair of float

    Returns
    -------
    ndarray of float32, shape (n, 8), as :meth:`Picture.mesh` takes them
    """
    normals = np.zeros_like(points)
    across = np.cross(*(points[faces[:, n]] - points[faces[:, 0]] for n in (1, 2)))
    for corner in range(3):
        np.add.at(normals, faces[:, corner], across)
    out = np.empty((len(points), 8), np.float32)
    out[:, :3] = points
    out[:, 3:6] = normals
    out[:, 6:] = uv
    return out


def camera(
    eye: tuple, at: tuple, aspect: float, degrees: float = 40, near: float = 0.1, far: float = 100
) -> np.ndarray:
    """From the world, y up, to clip space, for column vectors: float32, shape (4, 4)."""
    eye = np.asarray(eye, float)
    back = eye - np.asarray(at, float)
    back /= np.linalg.norm(back)
    right = np.cross((0, 1, 0), back)
    right /= np.linalg.norm(right)
    view = np.eye(4)
    view[:3, :3] = right, np.cross(back, right), back
    view[:3, 3] = -view[:3, :3] @ eye
    scale = 1 / np.tan(np.radians(degrees) / 2)
    lens = np.zeros((4, 4))
    lens[0, 0] = scale / aspect
    lens[1, 1] = scale
    lens[2, 2] = far / (near - far)
    lens[2, 3] = near * far / (near - far)
    lens[3, 2] = -1
    return (lens @ view).astype(np.float32)


def project(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    """Points to clip space, products added in the order x, y, z, 1: float32, shape (..., 4)."""
    x, y, z = (points[..., n, None] for n in range(3))
    return ((x * matrix[:, 0] + y * matrix[:, 1]) + z * matrix[:, 2]) + matrix[:, 3]


def lambert(normal: np.ndarray, light: np.ndarray, ambient: float = 0.25) -> np.ndarray:
    """Light on a surface, 0 to 1: float32, shape (..., 1)."""
    length = np.sqrt((normal * normal).sum(-1, keepdims=True))
    cosine = (normal * light).sum(-1, keepdims=True) / np.maximum(length, np.float32(1e-20))
    return np.float32(ambient) + np.float32(1 - ambient) * np.clip(cosine, 0, 1)


def opaque(colour: np.ndarray) -> np.ndarray:
    """Colours with an alpha of one: float32, shape (..., 4)."""
    alpha = np.ones((*colour.shape[:-1], 1), np.float32)
    return np.concatenate([colour.astype(np.float32), alpha], -1)


def main(draw: Callable[[int, int], np.ndarray], name: str) -> None:
    """Draw, and write a picture."""
    parser = argparse.ArgumentParser(description=draw.__doc__)
    parser.add_argument("-o", "--output", default=f"{name}.png", help="picture to write")
    parser.add_argument("--width", type=int, default=640, help="pixels")
    parser.add_argument("--height", type=int, default=360, help="pixels")
    options = parser.parse_args()
    Image.fromarray(draw(options.width, options.height)[..., :3]).save(options.output)
    print(f"{options.output}: written")
