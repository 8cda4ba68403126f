# SPDX-License-Identifier: BSD-2-Clause
"""Direct3D 11's interface on the golden machine: all names that a program needs, in one place.

``from fixfunc import d3d11`` needs numpy alone; docs/machine/host.md shows its use. Each name is
documented where it is defined.
"""

from fixfunc.models.frontend.compute_stage import ComputeShader, ComputeWaves
from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.frontend.vertex_stage import VertexResults, VertexWaves
from fixfunc.models.geometry.geometry_stage import Emitted, GeometryInputs
from fixfunc.models.geometry.stream_output import Declaration, Entry
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.calls import CallError
from fixfunc.models.host.context import Context
from fixfunc.models.host.device import Device
from fixfunc.models.host.groups import InputLayout
from fixfunc.models.host.lists.command_list import CommandList
from fixfunc.models.host.lists.deferred_context import DeferredContext
from fixfunc.models.host.presentation.swap_chain import SwapChain
from fixfunc.models.host.queries import (
    Disjoint,
    PipelineStatistics,
    Query,
    QueryKind,
    StreamStatistics,
)
from fixfunc.models.host.resources import Bind, Buffer, CpuAccess, Texture, Usage
from fixfunc.models.host.stages import Shader
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
    SamplerState,
    StencilFace,
)
from fixfunc.models.host.transfers.mapping import Mapped, MapType
from fixfunc.models.host.views import View
from fixfunc.models.machine.bindings import Bindings
from fixfunc.models.machine.shaders import GeometryShader, HullShader
from fixfunc.models.machine.statistics.draw_log import DrawStatistics
from fixfunc.models.pixel.pixel_stage import PixelQuads, PixelResults, PixelShader
from fixfunc.models.tessellation.stages import DomainWaves, HullPatches, HullResults
from fixfunc.models.texture.cache.texture_cache import CacheShape
from fixfunc.spec.descriptors import UnorderedFlag
from fixfunc.spec.draw import StepClass, Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import Strategy
from fixfunc.spec.state import BlendFactor, BlendOp, Compare, Cull, LogicOp, StencilOp

__all__ = [
    "Bind",
    "Bindings",
    "BlendFactor",
    "BlendOp",
    "BlendState",
    "Buffer",
    "CacheShape",
    "CallError",
    "CommandList",
    "Compare",
    "ComputeShader",
    "ComputeWaves",
    "Context",
    "CpuAccess",
    "Cull",
    "Declaration",
    "DeferredContext",
    "DepthStencilState",
    "Device",
    "Disjoint",
    "DomainWaves",
    "DrawStatistics",
    "Element",
    "Emitted",
    "Entry",
    "Format",
    "GeometryInputs",
    "GeometryShader",
    "HullPatches",
    "HullResults",
    "HullShader",
    "InputError",
    "InputLayout",
    "LogicOp",
    "MapType",
    "Mapped",
    "PipelineStatistics",
    "PixelQuads",
    "PixelResults",
    "PixelShader",
    "Query",
    "QueryKind",
    "RasterizerState",
    "RenderTargetBlend",
    "SamplerState",
    "Shader",
    "StencilFace",
    "StencilOp",
    "StepClass",
    "Strategy",
    "StreamStatistics",
    "SwapChain",
    "Texture",
    "Topology",
    "UnorderedFlag",
    "Usage",
    "VertexResults",
    "VertexWaves",
    "View",
    "Viewport",
]
