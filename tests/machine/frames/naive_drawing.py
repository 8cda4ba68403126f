# SPDX-License-Identifier: BSD-2-Clause
"""A frame of the naive renderer, drawn through device and context."""

import numpy as np

from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
    StencilFace,
)
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import DEPTH_FORMATS, Format
from fixfunc.spec.state import BlendFactor, BlendOp, Compare, Cull, LogicOp, StencilOp
from tests.oracles.naive_frame.frame import Picture
from tests.oracles.naive_frame.scene import SIZE, Draw, Frame, Shader

VECTOR = Format.R32G32B32A32_FLOAT
MEMORY = 1 << 24


class MachineFrame:
    """A frame, drawn by the machine.

    Attributes
    ----------
    colours : list of ndarray of uint8, shape (height, width, samples, bytes)
    depths : ndarray of uint8, shape (height, width, samples, bytes), optional
    """

    def __init__(self, frame: Frame) -> None:
        self._frame = frame
        self._device = Device(MEMORY)
        self._context = self._device.context
        colours = [self._texture(form, Bind.RENDER_TARGET) for form in frame.colours]
        targets = [self._device.create_render_target_view(texture) for texture in colours]
        for target, value in zip(targets, frame.clear_colours, strict=True):
            self._context.clear_render_target_view(target, value)
        depths = view = None
        if frame.depth is not None:
            depths = self._texture(frame.depth, Bind.DEPTH_STENCIL)
            view = self._device.create_depth_stencil_view(depths)
            stencil = frame.clear_stencil if DEPTH_FORMATS[frame.depth] else None
            self._context.clear_depth_stencil_view(view, frame.clear_depth, stencil)
        self._context.om.set_render_targets(targets, view)
        for draw in frame.draws:
            self._draw(draw)
        self.colours = [self._context.read(texture) for texture in colours]
        self.depths = None if depths is None else self._context.read(depths)

    def _texture(self, form, bind):
        return self._device.create_texture2d(
            form, SIZE, SIZE, sample_count=self._frame.samples, bind=bind
        )

    def _draw(self, draw: Draw) -> None:
        device, context = self._device, self._context
        count = len(draw.shader.modes)
        rows = [
            (*vertex.position, *(value for vector in vertex.attributes for value in vector))
            for triangle in draw.triangles
            for vertex in triangle
        ]
        elements = [Element(n, VECTOR, offset=16 * n) for n in range(count + 1)]
        context.ia.set_input_layout(device.create_input_layout(elements))
        buffer = device.create_buffer(data=np.array(rows, np.float32))
        context.ia.set_vertex_buffers(0, [buffer], [16 * (count + 1)])
        context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)
        context.vs.set_shader(device.create_vertex_shader(_passed(count)))
        forms = self._frame.colours
        shader = draw.shader
        program = PixelShader(
            _pixel(shader, forms),
            shader.modes,
            discards=shader.discards,
            depth=shader.depth,
            early=shader.early,
            position=shader.position,
            coverage=shader.coverage,
        )
        context.ps.set_shader(device.create_pixel_shader(program))
        self._rasterizer(draw)
        self._merger(draw)
        context.draw(len(rows))

    def _rasterizer(self, draw):
        context = self._context
        context.rs.set_viewports([Viewport(*draw.viewport)])
        if draw.scissor is not None:
            context.rs.set_scissor_rects([draw.scissor])
        context.rs.set_state(
            RasterizerState(
                cull=Cull(draw.cull),
                front_counter_clockwise=draw.front_ccw,
                depth_bias=draw.bias,
                depth_bias_clamp=draw.bias_clamp,
                slope_scaled_depth_bias=draw.bias_slope,
                depth_clip_enable=draw.depth_clip,
                scissor_enable=draw.scissor is not None,
                multisample_enable=self._frame.samples > 1,
            )
        )

    def _merger(self, draw):
        context = self._context
        front, back = (
            StencilFace(
                StencilOp(face.fail),
                StencilOp(face.depth_fail),
                StencilOp(face.pass_),
                Compare(face.func),
            )
            for face in (draw.front, draw.back)
        )
        state = DepthStencilState(
            draw.depth_test,
            draw.depth_write,
            Compare(draw.depth_func),
            draw.stencil_test,
            draw.stencil_read,
            draw.stencil_write,
            front,
            back,
        )
        context.om.set_depth_stencil_state(state, draw.stencil_ref)
        targets = tuple(
            RenderTargetBlend(
                target.enable,
                BlendFactor(target.source),
                BlendFactor(target.target),
                BlendOp(target.op),
                BlendFactor(target.source_alpha),
                BlendFactor(target.target_alpha),
                BlendOp(target.op_alpha),
                target.mask,
                target.logic,
                LogicOp(target.logic_op),
            )
            for target in draw.targets
        )
        blend = BlendState(targets, draw.alpha_to_coverage, len(targets) > 1)
        context.om.set_blend_state(blend, draw.factor, draw.sample_mask)


def differences(frame: Frame, picture: Picture) -> list[str]:
    """Where the machine stores something else, a line for each target."""
    machine = MachineFrame(frame)
    pairs = [
        (form.name, picture.colour_bytes(n), machine.colours[n])
        for n, form in enumerate(frame.colours)
    ]
    if frame.depth is not None:
        pairs.append((frame.depth.name, picture.depth_bytes(), machine.depths))
    out = []
    for name, ours, theirs in pairs:
        places = np.argwhere((ours != theirs).any(3))
        if len(places):
            y, x, sample = first = tuple(int(value) for value in places[0])
            out.append(
                f"{len(places)} samples of {name}; row {y}, column {x}, sample {sample}: "
                f"naive {ours[first].tobytes().hex()}, machine {theirs[first].tobytes().hex()}"
            )
    return out


def _passed(count):
    """A vertex shader that passes what it gets."""

    def vertex(waves, _bound):
        rows = [waves.floats(n + 1) for n in range(count)]
        return VertexResults(waves.floats(0), np.stack(rows, 2))

    return vertex


def _pixel(shader: Shader, forms):
    """A pixel shader, as :class:`tests.oracles.naive_frame.scene.Shader` describes it."""

    def colour(quads, number):
        form = forms[min(number, len(forms) - 1)] if forms else VECTOR
        if form.name.endswith("UINT"):
            return np.ascontiguousarray(quads.attributes[..., number, :])
        return quads.floats(number)

    def pixel(quads, _bound):
        last = len(shader.modes) - 1
        control = quads.floats(last)
        depth = coverage = None
        if shader.depth:
            depth = np.ascontiguousarray(control[..., 1])
            if shader.depth != "any":
                pick = np.fmax if shader.depth == "greater_equal" else np.fmin
                depth = pick(depth, quads.position[..., 2])
        if shader.coverage:
            share = np.clip(control[..., 2], np.float32(0), np.float32(1)) * np.float32(256)
            coverage = share.astype(np.uint32)
        return PixelResults(
            [colour(quads, n) for n in range(last)],
            control[..., 0] < 0 if shader.discards else None,
            depth,
            coverage,
        )

    return pixel
