# SPDX-License-Identifier: BSD-2-Clause
"""A scene as calls of device and context: instanced draws.

Opaque and masked surfaces come first; those that are blended follow, from far to near.
"""

from contextlib import nullcontext
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from fixfunc.cosim.report.capture import Capture
from fixfunc.cosim.scene import shaders
from fixfunc.cosim.scene.scene import MOST_DRAWS, STRIDE, Bound, Placed, Scene, Shape
from fixfunc.cosim.scene.textures import format_of
from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind, Buffer
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
)
from fixfunc.models.host.views import View
from fixfunc.models.scene.camera import look_at_mesh
from fixfunc.models.texture.texture import of_picture
from fixfunc.spec.draw import StepClass, Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import MeshError
from fixfunc.spec.state import BlendFactor, Cull

BACKGROUND = (24 / 255, 26 / 255, 32 / 255, 1.0)
INSTANCE = 48  # bytes: three rows of a matrix
_EACH = StepClass.PER_INSTANCE
_ROW = Format.R32G32B32A32_FLOAT
_LAYOUT = (
    Element(0, Format.R32G32B32_FLOAT),
    Element(1, Format.R32G32B32_FLOAT, offset=12),
    Element(2, _ROW, offset=24),
    Element(3, _ROW, offset=40),
    *(Element(4 + n, _ROW, 1, 16 * n, _EACH, 1) for n in range(3)),
)
_OVER = BlendState(
    (
        RenderTargetBlend(
            True,
            BlendFactor.SRC_ALPHA,
            BlendFactor.INV_SRC_ALPHA,
            src_blend_alpha=BlendFactor.ONE,
            dest_blend_alpha=BlendFactor.INV_SRC_ALPHA,
        ),
    )
)


class _Draw(NamedTuple):
    """Instances of a shape that are drawn by one call."""

    shape: Shape
    instances: Buffer
    count: int
    is_mirrored: bool
    name: str


class _Blended(NamedTuple):
    """An instance that is blended."""

    distance: float
    shape: Shape
    row: np.ndarray  # float32, shape (3, 4)
    is_mirrored: bool
    name: str


class Drawing:
    """A scene on a device of its own.

    Parameters
    ----------
    scene : Scene
    width, height : int
        Pixels.
    samples : int
    capture : Capture, optional
        Is told of draws, and of what the machine does.
    **device
        Parameters of :class:`~fixfunc.models.host.device.Device`.

    Attributes
    ----------
    device : Device
    draws, triangles : int
        What :meth:`draw` has asked for.
    """

    def __init__(
        self,
        scene: Scene,
        width: int,
        height: int,
        samples: int,
        capture: Capture | None = None,
        **device: Any,
    ) -> None:
        self._scene = scene
        self._size = width, height
        self.device = Device(_room(scene, width * height, samples), **device)
        self.draws = 0
        self.triangles = 0
        self._capture = self.device.machine.probe = capture
        self._context = self.device.context
        self._buffers: dict[int, tuple[Buffer, Buffer]] = {}
        self._views: dict[int, View] = {}
        self._white = self._texture(of_picture(np.full((1, 1, 4), 255, np.uint8), srgb=True))
        size = Format.R8G8B8A8_UNORM, width, height
        self._colours = self.device.create_texture2d(
            *size, sample_count=samples, bind=Bind.RENDER_TARGET
        )
        self._shown = self.device.create_texture2d(*size)
        self._depths = self.device.create_texture2d(
            Format.D24_UNORM_S8_UINT, width, height, sample_count=samples, bind=Bind.DEPTH_STENCIL
        )

    def draw(self) -> np.ndarray:
        """Draw it: uint8, shape (height, width, 3), the means of samples."""
        context = self._context
        target = self.device.create_render_target_view(self._colours)
        depth = self.device.create_depth_stencil_view(self._depths)
        context.clear_render_target_view(target, BACKGROUND)
        context.clear_depth_stencil_view(depth, 1.0, 0)
        context.om.set_render_targets([target], depth)
        context.rs.set_viewports([Viewport(width=self._size[0], height=self._size[1])])
        context.ia.set_input_layout(self.device.create_input_layout(_LAYOUT))
        context.vs.set_shader(self.device.create_vertex_shader(shaders.vertex))
        camera = self._scene.camera
        if camera is None:
            camera, _ = look_at_mesh(_box(self._scene), self._size[0] / self._size[1])
        context.vs.set_constant_buffers(0, [self._constants(camera)])
        self._shaders = {
            name: self.device.create_pixel_shader(self._seen(shader))
            for name, shader in shaders.SHADERS.items()
        }
        self._draw_all(self._ordered(camera))
        if self._colours.layout.samples == 1:
            return self.samples()[:, :, 0, :3]
        context.resolve_subresource(self._shown, (0, 0), self._colours, (0, 0))
        return context.read(self._shown)[:, :, 0, :3]

    def _seen(self, shader):
        """A shader whose levels of the base texture the capture is told."""
        if self._capture is None:
            return shader

        def function(quads, bound):
            if self._is_textured:
                uv = np.ascontiguousarray(quads.floats(1)[..., :2])
                level = bound.level_of_detail(0, 0, uv)[..., 0]
                self._capture.levels[quads.y[quads.live], quads.x[quads.live]] = level[quads.live]
            return shader.function(quads, bound)

        return replace(shader, function=function)

    def _draw_all(self, draws):
        """Draws, one after the other."""
        capture = self._capture
        if capture:
            capture.expect(len(draws))
            capture.fill(np.rint(np.multiply(BACKGROUND[:3], 255)))
        for draw in draws:
            what = f"{draw.name}, {draw.count} instances" if draw.count > 1 else draw.name
            topology = draw.shape.topology.name.lower().replace("_", " ")
            with capture.draw(what, topology) if capture else nullcontext():
                self._draw(draw)

    @property
    def depths(self) -> np.ndarray:
        """Depths of 24 bits, stencil values above: uint32, shape (height, width, samples)."""
        return self._context.read(self._depths).view("<u4")[..., 0]

    @property
    def modes(self) -> np.ndarray:
        """How tiles of depths lie in memory: spec.state.TileMode, uint8, shape (rows, columns)."""
        self._context.read(self._depths)
        data = self.device.memory[self._depths.address :]
        return self._depths.layout.coded_tiles(data, 0, 0, 0, 0).codes

    def samples(self) -> np.ndarray:
        """What has been drawn: uint8, shape (height, width, samples, 4)."""
        return self._context.read(self._colours)

    def _constants(self, values):
        data = np.zeros(-(-values.size // 4) * 4, np.float32)
        data[: values.size] = values.ravel()
        return self.device.create_buffer(data.nbytes, Bind.CONSTANT_BUFFER, data)

    def _ordered(self, camera):
        """Draws in order."""
        first = []
        last = []
        for placed in self._scene.placed:
            mirrored = np.linalg.det(placed.places[:, :3, :3]) < 0
            for side in (False, True):
                places = placed.places[mirrored == side]
                if not len(places):
                    continue
                rows = np.ascontiguousarray(places[:, :3].astype(np.float32))
                instances = self.device.create_buffer(data=rows)
                for shape in placed.shapes:
                    if shape.material.alpha != "BLEND":
                        first.append(_Draw(shape, instances, len(places), side, placed.name))
                        continue
                    distances = _distances(shape, places, camera)
                    pairs = zip(distances, rows, strict=True)
                    last += [_Blended(far, shape, row, side, placed.name) for far, row in pairs]
        last.sort(key=lambda it: -it.distance)
        return first + self._runs(last)

    def _runs(self, last):
        """Draws of blended instances: those of one shape that follow each other are one."""
        draws = []
        for _, run in groupby(last, key=lambda it: (id(it.shape), it.is_mirrored)):
            held = list(run)
            instances = self.device.create_buffer(data=np.stack([it.row for it in held]))
            one = held[0]
            draws.append(_Draw(one.shape, instances, len(held), one.is_mirrored, one.name))
            if len(draws) > MOST_DRAWS:
                rule = f"take at most {MOST_DRAWS} draws"
                raise MeshError("blended instances in order", rule, len(draws))
        return draws

    def _draw(self, draw):
        context = self._context
        shape = draw.shape
        material = shape.material
        vertices, indices = self._mesh(shape)
        context.ia.set_vertex_buffers(0, [vertices, draw.instances], [STRIDE, INSTANCE])
        context.ia.set_index_buffer(indices, Format.R32_UINT)
        context.ia.set_primitive_topology(shape.topology)
        context.rs.set_state(
            RasterizerState(
                cull=Cull.NONE if material.double_sided else Cull.BACK,
                front_counter_clockwise=not draw.is_mirrored,
            )
        )
        self._is_textured = material.base_texture is not None
        is_blended = material.alpha == "BLEND"
        context.om.set_blend_state(_OVER if is_blended else BlendState())
        context.om.set_depth_stencil_state(DepthStencilState(depth_write=not is_blended))
        context.ps.set_shader(self._shaders[material.alpha])
        values = (*material.base, *material.emissive, material.cutoff, material.is_lit)
        context.ps.set_constant_buffers(0, [self._constants(np.array(values))])
        for slot, held in enumerate((material.base_texture, material.emissive_texture)):
            self._bind(slot, held)
        context.draw_indexed_instanced(len(shape.indices), draw.count)
        self.draws += 1
        if shape.topology == Topology.TRIANGLE_LIST:
            self.triangles += draw.count * len(shape.indices) // 3

    def _bind(self, slot, held: Bound | None):
        """A texture and its sampler; without one all is white."""
        view = self._white if held is None else self._texture(held.texture)
        self._context.ps.set_shader_resources(slot, [view])
        if held is not None:
            self._context.ps.set_samplers(slot, [held.sampler])

    def _mesh(self, shape):
        """Buffers of vertices and indices, made once."""
        key = id(shape.vertices)
        if key not in self._buffers:
            self._buffers[key] = (
                self.device.create_buffer(data=shape.vertices),
                self.device.create_buffer(bind=Bind.INDEX_BUFFER, data=shape.indices),
            )
        return self._buffers[key]

    def _texture(self, texture):
        """A view of a texture, made once."""
        if id(texture) not in self._views:
            levels = [level[0] for level in texture.levels]
            made = self.device.create_texture2d(
                format_of(texture), texture.width, texture.height, len(levels), data=levels
            )
            self._views[id(texture)] = self.device.create_shader_resource_view(made)
        return self._views[id(texture)]


def _corners(placed: Placed, shape: Shape) -> np.ndarray:
    """Corners of a shape's box in the world, for each place: float64, shape (k, 8, 3)."""
    points = shape.vertices[:, :3].astype(np.float64)
    finite = points[np.isfinite(points).all(1)]
    if not len(finite):
        return np.zeros((0, 8, 3))
    ends = np.stack([finite.min(0), finite.max(0)])
    corners = np.stack(np.meshgrid(*ends.T, indexing="ij"), -1).reshape(8, 3)
    return corners @ placed.places[:, :3, :3].swapaxes(1, 2) + placed.places[:, None, :3, 3]


def _box(scene):
    """Points that the whole scene lies between: float32, shape (n, 3)."""
    every = [_corners(placed, shape) for placed in scene.placed for shape in placed.shapes]
    with np.errstate(over="ignore"):
        return np.concatenate([part.reshape(-1, 3) for part in every]).astype(np.float32)


def _distances(shape, places, camera):
    """How far the middles of a shape's instances are: w of clip space, or z where w is one."""
    corners = _corners(Placed([shape], places), shape)
    if not len(corners):
        return [0.0] * len(places)
    middle = np.append(corners.mean(1), np.ones((len(corners), 1)), 1)
    row = camera[3] if camera[3, :3].any() else camera[2]
    return (middle @ row.astype(np.float64)).tolist()


def _room(scene, pixels, samples):
    """Bytes of memory that hold all of it: buffers, textures, targets and their codes."""
    held = {}
    total = (1 << 25) + 8 * pixels + 24 * pixels * samples
    for placed in scene.placed:
        total += (INSTANCE + 16) * len(placed.places)
        for shape in placed.shapes:
            held[id(shape.vertices)] = shape.vertices.nbytes + shape.indices.nbytes + 64
            total += 512 * (len(placed.places) if shape.material.alpha == "BLEND" else 2)
            for bound in (shape.material.base_texture, shape.material.emissive_texture):
                if bound is not None:
                    size = sum(level.nbytes + 65536 for level in bound.texture.levels)
                    held[id(bound.texture)] = 2 * size
    return total + sum(held.values())
