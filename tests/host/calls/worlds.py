# SPDX-License-Identifier: BSD-2-Clause
"""Devices to which calls are made that can be made again."""

from typing import Any, NamedTuple

import numpy as np

from fixfunc.models.frontend.compute_stage import ComputeShader
from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind, CpuAccess, Usage
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.descriptors import UnorderedFlag
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format

MEMORY = 1 << 22
MOST_WORK = 1 << 10  # vertices: arguments in memory may ask for any number


class Call(NamedTuple):
    """A call by names: values may be made, or be results of calls before it."""

    path: str
    arguments: dict[str, Any]
    keeps: str | None  # the kind of its result, where calls behind it may use it


class Of(NamedTuple):
    """One of the results of a kind, modulo their number; None where there is none."""

    kind: str
    number: int


class Made(NamedTuple):
    """An object that the call itself makes: its class may refuse it."""

    kind: type
    fields: dict[str, Any]


class World:
    """A device, and what calls have made on it."""

    def __init__(self) -> None:
        self.device = Device(MEMORY, most_work=MOST_WORK)
        self.deferred = self.device.create_deferred_context()
        self.results: dict[str, list] = {}

    def make(self, call: Call) -> None:
        """Make a call."""
        first, *names = call.path.split(".")
        if first == "swap_chain":
            owner: Any = self._value(Of("swap chain", int(names.pop(0))))
        else:
            owner = self.deferred if first == "deferred" else getattr(self.device, first)
        for name in names:
            owner = getattr(owner, name)
        result = owner(**{name: self._value(value) for name, value in call.arguments.items()})
        if call.keeps:
            self.results.setdefault(call.keeps, []).append(result)
        if call.keeps == "swap chain":
            self.results["texture"].append(result.buffer)

    def _value(self, value):
        if isinstance(value, Of):
            kept = self.results.get(value.kind)
            return kept[value.number % len(kept)] if kept else None
        if isinstance(value, Made):
            return value.kind(**{n: self._value(field) for n, field in value.fields.items()})
        if type(value) in (list, tuple):
            return type(value)(map(self._value, value))
        return value

    def resources(self) -> list:
        """Buffers and textures that are not released."""
        kept = self.results.get("buffer", []) + self.results.get("texture", [])
        return [resource for resource in kept if not resource.released]


def vertex(waves, _bound):
    """Position from register 0."""
    return VertexResults(waves.floats(0))


def grey(quads, _bound):
    """Half of everything."""
    return PixelResults(np.full((*quads.x.shape, 4), 0.5, np.float32))


def seven(quads, _bound):
    """For targets of UINT."""
    return PixelResults(np.full((*quads.x.shape, 4), 7, np.uint32))


def sampled(quads, bound):
    """What is bound, at the pixel's place."""
    places = np.stack([quads.x, quads.y], -1).astype(np.float32) / np.float32(8)
    return PixelResults(np.ascontiguousarray(bound.sample(0, 0, places)).astype(np.float32))


def count(_waves, bound):
    """Count in the first bytes of what is bound for unordered access."""
    words = bound.unordered(0)
    words[:4] = np.minimum(words[:4].astype(np.int64) + 1, 255)


def counted(waves, bound):
    """Count threads by the view in slot 1."""
    bound.increment(1, waves.mask)


def stored(waves, bound):
    """Store texels of a plane."""
    places = np.stack([waves.index % 8, waves.index // 8], -1)
    values = np.repeat(waves.index[..., None].astype(np.float32) / np.float32(32), 4, -1)
    bound.store(0, waves.mask, places, values)


def changed(waves, bound):
    """Change words by the view in slot 0, in turns."""
    operand = waves.index + np.uint32(1)
    places = waves.index.astype(np.int64) % 5 * 4
    bound.atomic(0, "add", waves.mask, places, operand)
    bound.atomic(0, "compare_exchange", waves.mask, places, operand, operand - np.uint32(1))


READ_AND_DRAWN = Bind.SHADER_RESOURCE | Bind.RENDER_TARGET
TRIANGLES = np.float32([(-1, 1, 0.5, 1), (3, 1, 0.5, 1), (-1, -3, 0.5, 1)] * 2)
BUFFERS = (
    {"data": TRIANGLES},
    {
        "data": TRIANGLES,
        "bind": Bind.UNORDERED_ACCESS | Bind.SHADER_RESOURCE | Bind.VERTEX_BUFFER,
    },
    {"data": np.arange(8, dtype=np.uint16), "bind": Bind.INDEX_BUFFER},
    {"size": 256, "bind": Bind.STREAM_OUTPUT | Bind.VERTEX_BUFFER},
    {"data": np.uint32([3, 1, 0, 0]), "bind": Bind.CONSTANT_BUFFER},
    {"size": 96, "bind": Bind.UNORDERED_ACCESS | Bind.SHADER_RESOURCE, "stride": 8},
    {"data": TRIANGLES, "usage": Usage.DYNAMIC, "cpu_access": CpuAccess.WRITE},
)
TEXTURES = (
    {"form": Format.R8G8B8A8_UNORM, "bind": Bind.RENDER_TARGET},
    {"form": Format.D24_UNORM_S8_UINT, "bind": Bind.DEPTH_STENCIL},
    {"form": Format.R8G8B8A8_UNORM, "bind": READ_AND_DRAWN, "mip_levels": 2},
    {"form": Format.R8G8B8A8_UNORM, "bind": Bind.RENDER_TARGET, "sample_count": 4},
    {"form": Format.R8G8B8A8_UNORM},
    {"form": Format.R8G8B8A8_UINT, "bind": READ_AND_DRAWN, "array_size": 2},
    {
        "form": Format.R8G8B8A8_UNORM,
        "bind": Bind(0),
        "usage": Usage.STAGING,
        "cpu_access": CpuAccess.READ | CpuAccess.WRITE,
    },
    {"form": Format.R8G8B8A8_UNORM, "bind": READ_AND_DRAWN | Bind.UNORDERED_ACCESS},
)


def begin(path, keeps, **arguments):
    return Call(path, arguments, keeps)


BEGIN = (
    begin("create_vertex_shader", "vertex shader", program=vertex),
    *(
        begin("create_pixel_shader", "pixel shader", program=PixelShader(program))
        for program in (grey, seven, sampled)
    ),
    *(
        begin("create_compute_shader", "compute shader", program=ComputeShader(program))
        for program in (count, counted, stored, changed)
    ),
    begin("create_input_layout", "layout", elements=[Element(0, Format.R32G32B32A32_FLOAT)]),
    *(begin("create_buffer", "buffer", **given) for given in BUFFERS),
    *(begin("create_texture2d", "texture", width=8, height=8, **given) for given in TEXTURES),
    *(begin("create_render_target_view", "target", texture=Of("texture", n)) for n in (0, 2, 3, 5)),
    begin("create_depth_stencil_view", "depth", texture=Of("texture", 1)),
    begin("create_swap_chain", "swap chain", width=8, height=8),
    begin("create_render_target_view", "target", texture=Of("texture", len(TEXTURES))),
    *(begin("create_shader_resource_view", "view", resource=Of("texture", n)) for n in (2, 4)),
    begin("create_unordered_access_view", "unordered", resource=Of("buffer", 1)),
    begin(
        "create_unordered_access_view",
        "unordered",
        resource=Of("buffer", 5),
        flag=UnorderedFlag.COUNTER,
    ),
    begin("create_unordered_access_view", "unordered", resource=Of("texture", 7)),
    *(
        begin("create_query", "query", kind=kind)
        for kind in (QueryKind.OCCLUSION, QueryKind.OCCLUSION_PREDICATE)
    ),
    begin("context.vs.set_shader", None, shader=Of("vertex shader", 0)),
    begin("context.ps.set_shader", None, shader=Of("pixel shader", 0)),
    begin("context.cs.set_shader", None, shader=Of("compute shader", 0)),
    begin("context.ia.set_input_layout", None, layout=Of("layout", 0)),
    begin("context.ia.set_primitive_topology", None, topology=Topology.TRIANGLE_LIST),
    begin("context.ia.set_vertex_buffers", None, start=0, buffers=[Of("buffer", 0)], strides=[16]),
    begin("context.ia.set_index_buffer", None, buffer=Of("buffer", 2), form=Format.R16_UINT),
    begin("context.begin", None, query=Of("query", 0)),
    begin("context.begin", None, query=Of("query", 1)),
    begin("context.rs.set_viewports", None, viewports=[Viewport(width=8, height=8)]),
    begin("context.om.set_render_targets", None, colours=[Of("target", 0)]),
)
# A deferred context has the same bound.
BEGIN += tuple(
    call._replace(path=call.path.replace("context", "deferred", 1))
    for call in BEGIN
    if call.path.startswith("context.") and call.path != "context.begin"
)
