# SPDX-License-Identifier: BSD-2-Clause
"""Pieces of state of the command processor, and tables in memory that they name.

Each fits a transfer of 32 bytes, little end first. An address is in bytes.
"""

from enum import IntEnum

from fixfunc.spec.payloads import BIAS, STENCIL_FACES, STENCIL_VALUES, Field, each
from fixfunc.spec.ring import StateKind

VIEWPORTS = 16
TARGETS = 8
BUFFERS = 4  # of stream output


class Dimension(IntEnum):
    """What a view shows."""

    BUFFER = 0
    TEXTURE1D = 1
    TEXTURE2D = 2
    TEXTURE3D = 3
    CUBE = 4


class Stage(IntEnum):
    """A programmable stage."""

    VERTEX = 0
    HULL = 1
    DOMAIN = 2
    GEOMETRY = 3
    PIXEL = 4
    COMPUTE = 5


class BindingKind(IntEnum):
    """What is bound to a stage."""

    CONSTANTS = 0
    RESOURCE = 1
    SAMPLER = 2
    UNORDERED = 3


class UnorderedFlag(IntEnum):
    """Which hidden counter a view for unordered access has: D3D11_BUFFER_UAV_FLAG [fs 5.3.9.2]."""

    NONE = 0
    APPEND = 2  # structures are appended, or consumed; their order is not kept
    COUNTER = 4  # shaders see its values


TABLE = (Field("address", 32), Field("count", 16, meaning="transfers"))

INPUT = (
    Field("topology", 6, meaning="Topology; 0: none is set"),
    Field("fifo", 1, meaning="vertices are reused as they come, else by batches"),
    Field("index_bytes", 3, meaning="of an index: 2 or 4; 0: there is no index buffer"),
    *each("index_address index_size index_offset", 32),
    Field("elements", 6, meaning="ELEMENT records"),
    Field("buffers", 6, meaning="VERTEX_BUFFER records, by slot"),
    *each("elements_address buffers_address", 32),
)
ELEMENT = (
    Field("register", 5),
    Field("form", 8, meaning="dxgi.Format"),
    Field("slot", 5),
    Field("step_class", 1),
    *each("offset step_rate", 32),
)
VERTEX_BUFFER = (
    Field("bound", 1),
    Field("stride", 12),
    *each("address size offset", 32),
    Field("filled_address", 32, meaning="of a word: bytes that stream output has written"),
)
SHADERS = each("vertex hull domain geometry pixel compute", 32, meaning="number; 0: none")
RASTERIZER = (
    Field("wireframe", 1),
    Field("cull", 2),
    *each("front_ccw depth_clip scissor multisample antialiased_line", 1),
    Field("conservative", 1),
    Field("forced_samples", 5, meaning="1, 4, 8 or 16; 0: those of the targets"),
    *BIAS,
)
VIEWPORT = (
    *each("x y width height min_depth max_depth", 32, meaning="float32 bits"),
    *each("x0 y0 x1 y1", 15, meaning="the scissor, ends exclusive"),
)
DEPTH_STENCIL = (
    *each("depth_test depth_write stencil_test", 1),
    Field("depth_compare", 3),
    *STENCIL_VALUES,
    *STENCIL_FACES,
)
BLEND = (
    *each("factor0 factor1 factor2 factor3", 32, meaning="float32 bits"),
    Field("sample_mask", 32),
    *each("alpha_to_coverage independent", 1),
    Field("address", 32, meaning="of eight TARGET_BLEND records"),
)
TARGET_BLEND = (
    Field("enable", 1),
    *each("source target source_alpha target_alpha", 5, meaning="BlendFactor"),
    *each("op op_alpha", 3, meaning="BlendOp"),
    Field("write", 4, meaning="channels"),
    Field("logic", 1),
    Field("logic_op", 4),
    Field("dither", 1),
)
SURFACES = (
    Field("address", 32, meaning="of VIEW records: those of colours, then that of depth"),
    Field("colours", 4),
    Field("has_depth", 1),
)
STREAM_BUFFER = (
    Field("bound", 1),
    *each("address size filled_address", 32),
)
BINDING = (  # then a VIEW, a SAMPLER, or a CONSTANTS
    Field("stage", 3),
    Field("kind", 2),
    Field("slot", 7),
    Field("flag", 3, meaning="UnorderedFlag"),
    Field("counter_address", 32, meaning="of the word that such a flag asks for"),
)
CONSTANTS = (
    *each("address size", 32, meaning="of what there is, bytes"),
    Field("shown", 17, meaning="bytes that a shader sees: zeros behind what there is"),
)
VIEW = (
    Field("address", 32, meaning="of the resource"),
    *each("form stored", 8, meaning="dxgi.Format, as the view or the resource has it"),
    Field("dimension", 3),
    Field("samples", 2, meaning="log2 of the samples of a pixel"),
    *each("tiled coded", 1),
    *each("width height", 15, meaning="of level 0"),
    Field("depth", 12),
    Field("levels", 4),
    Field("layers", 12),
    *each("first_level level_count", 4),
    *each("first_layer layer_count", 12, meaning="of 3D textures: slices"),
    *each("read_only_depth read_only_stencil", 1),
    *each("first size", 28, meaning="of buffers: bytes"),
    Field("stride", 12),
    Field("min_lod", 12, meaning="of the resource: 1/256 level"),
)
SAMPLER = (
    *each("minify magnify mip", 1, meaning="filtered linearly"),
    *each("address_u address_v address_w", 3),
    Field("anisotropy", 5),
    *each("border0 border1 border2 border3", 32, meaning="float32 bits"),
    *each("bias min_lod max_lod", 32, meaning="float32 bits"),
    Field("reduction", 2, meaning="standard, comparison, minimum, maximum"),
    Field("comparison", 3, meaning="Compare"),
)
STATE = {
    StateKind.INPUT: INPUT,
    StateKind.SHADERS: SHADERS,
    StateKind.RASTERIZER: RASTERIZER,
    StateKind.VIEWPORTS: TABLE,
    StateKind.DEPTH_STENCIL: DEPTH_STENCIL,
    StateKind.BLEND: BLEND,
    StateKind.TARGETS: SURFACES,
    StateKind.STREAM_OUTPUT: TABLE,
    StateKind.BINDINGS: TABLE,
}
# Totals that queries take differences of: 64 bits each.
TOTALS = (
    "ia_vertices",
    "ia_primitives",
    "vs_invocations",
    "gs_invocations",
    "gs_primitives",
    "c_invocations",
    "c_primitives",
    "ps_invocations",
    "hs_invocations",
    "ds_invocations",
    "cs_invocations",
    "samples_passed",
    *(f"so_written_{n}" for n in range(BUFFERS)),
    *(f"so_needed_{n}" for n in range(BUFFERS)),
    "timestamp",
)
