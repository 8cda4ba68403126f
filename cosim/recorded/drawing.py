# SPDX-License-Identifier: BSD-2-Clause
"""A recorded frame as calls of device and context, whose shader looks fragments up."""

from typing import NamedTuple

import numpy as np

from fixfunc.cosim.recorded.frame import Event, RecordedFrame
from fixfunc.cosim.recorded.lookup import Lookup
from fixfunc.cosim.recorded.shaders import Shaders, room
from fixfunc.cosim.recorded.texels import octets, picture
from fixfunc.cosim.report.capture import Capture
from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
    StencilFace,
)
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import DEPTH_FORMATS, FORMATS, Format
from fixfunc.spec.state import BlendFactor, BlendOp, Compare, Cull, StencilOp

_ROOM = 1 << 25  # bytes of memory beside surfaces
BEYOND, DIFFERS = (
    1,
    2,
)  # bits of a mark: of triangles beyond the window or the near plane, and of others
_TEXEL = 16  # bytes of memory for a texel, at most


class DrawnDraw(NamedTuple):
    """What became of a draw: numbers of fragments, and of samples."""

    call: int
    fragments: int  # that were recorded
    missing: int  # of these, that are not drawn
    extra: int  # that are drawn, and were not recorded
    beyond: int  # of both, those of triangles beyond the window or the near plane
    wanted: int  # samples that passed all tests when it was recorded
    passed: int  # and that pass here


class DrawnSurface(NamedTuple):
    """What a surface holds at the end, beside what it held: rows bottom up."""

    surface: int
    form: Format
    found: np.ndarray  # uint8, shape (height, width, bytes)
    wanted: np.ndarray


class Drawn(NamedTuple):
    """A frame that has been drawn."""

    draws: list[DrawnDraw | None]  # None where fragments were not counted
    surfaces: list[DrawnSurface]


class Player:
    """Draws a frame on a device.

    Parameters
    ----------
    frame : RecordedFrame
    lookups : list of Lookup, optional
        Of a player that has drawn it: shaders find fragments by their triangle, and are asked for
        what is visible, as any shader is. Without them all fragments are shaded, and counted.

    capture : Capture, optional
        Is told of draws, and of what the machine does.
    shown : int, optional
        The surface of colours that it captures.
    shades : bool
        Draws of fixed functions are shaded, where they can be: what was recorded is compared.

    Attributes
    ----------
    device : Device
    lookups : list of Lookup
        Of its draws.
    marks : dict of ndarray of uint8, shape (height, width)
        By surface of colours, pixels with fragments that differ: :data:`BEYOND` or :data:`DIFFERS`.
    shaders : Shaders, optional
        Of a player that shades.
    """

    def __init__(
        self,
        frame: RecordedFrame,
        lookups: list[Lookup] | None = None,
        capture: Capture | None = None,
        shown: int | None = None,
        shades: bool = False,
    ) -> None:
        self._frame = frame
        self._is_counted = lookups is None
        self.lookups = lookups or []
        sides = frame.surfaces[["width", "height"]]
        texels = np.int64(sides["width"]) * sides["height"]
        held = texels.sum() + texels[frame.contents["surface"]].sum()
        vertices = 16 * int(frame.draws["vertices"].max(initial=0))
        # Coded tiles would be the same colours and depths.
        more = room(frame) if shades else 0
        self.device = Device(_ROOM + _TEXEL * int(held) + vertices + more, coded=False)
        self.shaders = Shaders(frame, self.device) if shades else None
        self._capture = self.device.machine.probe = capture
        self._shown = shown
        self._context = self.device.context
        self._textures = [self._texture(n) for n in range(len(frame.surfaces))]
        self.marks: dict[int, np.ndarray] = {}
        self._query = self.device.create_query(QueryKind.OCCLUSION)
        self._context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)

    def draw(self) -> Drawn:
        """Draw all of it."""
        frame = self._frame
        drawn = Drawn([], [])
        if self._capture:
            self._capture.expect(len(frame.draws))
        for kind, number in frame.events:
            if kind == Event.CONTENTS:
                contents = frame.contents[number]
                surface = int(contents["surface"])
                self._textures[surface] = self._texture(surface, frame.surface_texels(contents))
                self._tell(surface)
            elif kind == Event.CLEAR:
                self._clear(frame.clears[number])
                self._tell(int(frame.clears[number]["surface"]))
            elif kind == Event.DRAW:
                drawn.draws.append(self._captured(frame.draws[number], number))
            else:
                drawn.surfaces.append(self._surface(frame.contents[number]))
        return drawn

    def _tell(self, surface):
        """Tell the capture that its surface holds something else."""
        if self._capture and surface == self._shown:
            self._capture.fill(picture(self.held(surface), self._form(surface))[::-1])

    def _captured(self, draw, number):
        """A draw; the capture is told of it."""
        if self._capture is None:
            return self._draw(draw, number)
        with self._capture.draw(
            f"call {draw['call']}", "triangle list", draw["colour"] == self._shown
        ):
            return self._draw(draw, number)

    def held(self, surface: int) -> np.ndarray:
        """What a surface holds now, rows bottom up: uint8, shape (height, width, bytes)."""
        return self._context.read(self._textures[surface])[:, :, 0]

    def _form(self, surface):
        return Format(int(self._frame.surfaces[surface]["form"]))

    # Surfaces.

    def _texture(self, surface, texels=None):
        """A new texture for a surface: what held its contents before may be drawn on elsewhere."""
        form, width, height = (int(value) for value in self._frame.surfaces[surface])
        form = Format(form)
        is_depth = form in DEPTH_FORMATS
        return self.device.create_texture2d(
            form if is_depth else FORMATS[form].family,
            width,
            height,
            bind=Bind.DEPTH_STENCIL if is_depth else Bind.RENDER_TARGET,
            data=None if texels is None else [octets(texels, form)],
        )

    def _colour_view(self, surface, form):
        return self.device.create_render_target_view(self._textures[surface], Format(int(form)))

    def _depth_view(self, surface):
        return self.device.create_depth_stencil_view(self._textures[surface])

    def _clear(self, clear):
        surface = int(clear["surface"])
        if Format(int(clear["form"])) in DEPTH_FORMATS:
            depth = float(clear["depth"]) if clear["planes"] & 1 else None
            stencil = int(clear["stencil"]) if clear["planes"] & 2 else None
            self._context.clear_depth_stencil_view(self._depth_view(surface), depth, stencil)
        else:
            view = self._colour_view(surface, clear["form"])
            self._context.clear_render_target_view(view, tuple(clear["colour"].tolist()))

    def _surface(self, contents):
        surface = int(contents["surface"])
        form = self._form(surface)
        texels = self._frame.surface_texels(contents)
        return DrawnSurface(surface, form, self.held(surface), octets(texels, form))

    # Draws.

    def _draw(self, draw, number):
        context = self._context
        if self._is_counted:
            self.lookups.append(Lookup(self._frame, draw))
        lookup = self.lookups[number]
        vertices = self._frame.draw_vertices(draw)
        shading = self.shaders.of(number) if self.shaders else None
        buffers = self._set_vertices(draw, vertices, shading)
        self._set_state(draw)
        if self._is_counted and draw["discards"]:
            self._collect(draw, lookup, len(vertices))
        function, modes = lookup.shade, ()
        if shading:
            function, modes = shading.pixel(lookup, self._is_counted), shading.modes
        # Whatever was not recorded is left out, and which that is, is known behind the draw.
        self._set_shader(draw, function, self._is_counted or lookup.discards, modes)
        context.begin(self._query)
        context.draw(len(vertices))
        context.end(self._query)
        passed = context.get_data(self._query)
        context.ia.set_vertex_buffers(0, [None] * len(buffers), [16] * len(buffers))
        for buffer in buffers:
            self.device.release(buffer)
        if not self._is_counted:
            return None
        if shading:
            self.shaders.finish(number, shading)
        return self._counted(draw, lookup.finish(_beyond(draw, vertices)), passed)

    def _set_vertices(self, draw, vertices, shading):
        """Positions, and attributes where there are some, and their shader: buffers."""
        context, device = self._context, self.device
        form = Format.R32G32B32A32_FLOAT
        elements = [Element(0, form)]
        buffers = [device.create_buffer(data=_clip_space(draw, vertices))]
        strides = [16]
        if shading:
            attributes = shading.vertices()
            count = attributes.shape[1]
            elements += [Element(1 + n, form, 1, 16 * n) for n in range(count)]
            buffers.append(device.create_buffer(data=attributes))
            strides.append(16 * count)
        context.ia.set_input_layout(device.create_input_layout(elements))
        context.ia.set_vertex_buffers(0, buffers, strides)
        context.vs.set_shader(device.create_vertex_shader(shading.vertex if shading else _position))
        return buffers

    def _counted(self, draw, found, passed):
        """What became of a draw all of whose fragments have been shaded."""
        width, height = self._frame.size(draw)
        marks = self.marks.setdefault(int(draw["colour"]), np.zeros((height, width), np.uint8))
        marks[found.y, found.x] |= np.where(found.near, BEYOND, DIFFERS).astype(np.uint8)
        apart = found.apart
        return DrawnDraw(
            int(draw["call"]),
            int(draw["fragments"]),
            int(-apart[apart < 0].sum()),
            int(apart[apart > 0].sum()),
            int(np.abs(apart[found.near]).sum()),
            int(draw["passed"]),
            passed,
        )

    def _set_state(self, draw):
        context = self._context
        colours = [] if draw["colour"] < 0 else [self._colour_view(draw["colour"], draw["form"])]
        depth = None if draw["depth"] < 0 else self._depth_view(draw["depth"])
        context.om.set_render_targets(colours, depth)
        x, y, width, height, near, far = draw["viewport"].tolist()
        context.rs.set_viewports([Viewport(x, y, width, height, near, far)])
        context.rs.set_scissor_rects([tuple(draw["scissor"].tolist())])
        context.rs.set_state(_rasterizer(draw))
        context.om.set_depth_stencil_state(_depth_stencil(draw), int(draw["stencil_ref"]))
        context.om.set_blend_state(_blend(draw), tuple(draw["blend_factor"].tolist()))

    def _collect(self, draw, lookup, count):
        """Ask for every fragment, and leave targets as they are."""
        context = self._context
        context.om.set_depth_stencil_state(DepthStencilState(depth_enable=False))
        context.om.set_blend_state(BlendState((RenderTargetBlend(write_mask=0),)))
        self._set_shader(draw, lookup.collect, True)
        context.draw(count)
        lookup.choose()
        self._set_state(draw)

    def _set_shader(self, draw, function, discards, modes=()):
        shader = PixelShader(
            function,
            modes,
            discards=discards,
            depth="any" if draw["shader_depth"] else None,
            unordered=self._is_counted,
        )
        self._context.ps.set_shader(self.device.create_pixel_shader(shader))


def _position(waves, _bound):
    """The vertex shader: a position is all that there is."""
    position = waves.floats(0)
    return VertexResults(position, np.zeros((*position.shape[:-1], 0, 4), np.float32))


def _clip_space(draw, vertices):
    """D3D11's clip space: rows bottom up, so that y is turned; z from 0 to 1."""
    out = vertices * np.float32([1, -1, 1, 1])
    if not draw["zero_to_one"]:
        out[:, 2] = (vertices[:, 2] + vertices[:, 3]) * np.float32(0.5)
    return out


def _beyond(draw, vertices):
    """Triangles that reach beyond the window or the near plane: bool, shape (n,)."""
    x, y, z, w = vertices.reshape(-1, 3, 4).transpose(2, 0, 1)
    near = 0 if draw["zero_to_one"] else -w
    return ((np.abs(x) > w) | (np.abs(y) > w) | (z < near)).any(1)


def _rasterizer(draw):
    return RasterizerState(
        cull=Cull(int(draw["cull"])),
        front_counter_clockwise=bool(draw["front_counter_clockwise"]),
        depth_bias=int(draw["depth_bias"]),
        depth_bias_clamp=float(draw["depth_bias_clamp"]),
        slope_scaled_depth_bias=float(draw["slope_scaled_depth_bias"]),
        depth_clip_enable=bool(draw["depth_clip"]),
        scissor_enable=True,
    )


def _depth_stencil(draw):
    front, back = (_face(draw[f"{side}_face"]) for side in ("front", "back"))
    return DepthStencilState(
        bool(draw["depth_enable"]),
        bool(draw["depth_write"]),
        Compare(int(draw["depth_func"])),
        bool(draw["stencil_enable"]),
        int(draw["stencil_read_mask"]),
        int(draw["stencil_write_mask"]),
        front,
        back,
    )


def _face(face):
    *operations, compare = face.tolist()
    return StencilFace(*map(StencilOp, operations), Compare(compare))


def _blend(draw):
    source, target, operation, source_alpha, target_alpha, operation_alpha = draw["blend"].tolist()
    return BlendState(
        (
            RenderTargetBlend(
                bool(draw["blend_enable"]),
                BlendFactor(source),
                BlendFactor(target),
                BlendOp(operation),
                BlendFactor(source_alpha),
                BlendFactor(target_alpha),
                BlendOp(operation_alpha),
                int(draw["write_mask"]),
            ),
        )
    )
