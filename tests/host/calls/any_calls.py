# SPDX-License-Identifier: BSD-2-Clause
"""Calls of a device and its context at random, right and wrong, that can be made again."""

import numpy as np
from hypothesis import strategies as st

from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind, CpuAccess, Usage
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
    SamplerState,
    StencilFace,
)
from fixfunc.models.host.transfers.mapping import MapType
from fixfunc.spec.descriptors import UnorderedFlag
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from fixfunc.spec.state import BlendFactor, BlendOp, Compare, Cull, LogicOp, StencilOp
from tests.host.calls.worlds import Call, Made, Of

WRONG = st.sampled_from(
    (
        *(None, -1, 1 << 31, 1 << 32, 1 << 80, 0.5, float("nan"), float("inf"), 1e300, 1j, "x"),
        *(b"x", (), [None], [[]], {}, object(), np.zeros(3), np.array(["x"]), np.float32(2)),
        *(Format.UNKNOWN, Bind(0), Bind(255), Of("query", 0), Of("texture", 0), Of("buffer", 0)),
        *(Of("vertex shader", 0), Cull.BACK, len, range(3), True),
    )
)
NUMBER = st.sampled_from((0, 0, 0, 1, 1, 2, 3, 4, 6, 8, 16))
SIZE = st.sampled_from((1, 4, 4, 5, 8, 8, 8, 16))
FORMAT = st.sampled_from(
    (
        *(Format.R8G8B8A8_UNORM,) * 4,
        *(Format.R8G8B8A8_TYPELESS, Format.R8G8B8A8_UNORM_SRGB, Format.R8G8B8A8_UINT),
        *(Format.R16_UINT, Format.R32_UINT, Format.R32_FLOAT, Format.R16G16B16A16_FLOAT),
        *(Format.R32G32B32A32_UINT, Format.BC1_UNORM, Format.BC3_UNORM, Format.A8_UNORM),
        Format.R8G8_B8G8_UNORM,
        *(Format.D24_UNORM_S8_UINT, Format.D32_FLOAT, Format.R24G8_TYPELESS, Format.UNKNOWN),
    )
)
BIND = st.sampled_from(
    (
        *(Bind.VERTEX_BUFFER, Bind.INDEX_BUFFER, Bind.CONSTANT_BUFFER, Bind.SHADER_RESOURCE),
        *(Bind.STREAM_OUTPUT | Bind.VERTEX_BUFFER, Bind.DEPTH_STENCIL, Bind.UNORDERED_ACCESS),
        *(Bind.RENDER_TARGET | Bind.SHADER_RESOURCE,) * 3,
        Bind(0),
        Bind.UNORDERED_ACCESS | Bind.SHADER_RESOURCE | Bind.VERTEX_BUFFER,
    )
)
SHARE = st.sampled_from((0.0, 0.5, 1.0, -1.0, 2.0))
COLOUR = st.tuples(*(SHARE,) * 4)
TRUTH = st.booleans()
SUBRESOURCE = st.tuples(*(st.sampled_from((0,) * 9 + (1, 2)),) * 2)
MAYBE_FORMAT = st.none() | st.none() | FORMAT
BOX = st.none() | st.tuples(*(st.sampled_from((0, 0, 4)),) * 2, st.just(0), SIZE, SIZE, st.just(1))
OCTETS = st.sampled_from((None, bytes(64), bytes(range(256)), bytes(range(16)) * 4, b"abc"))
HELD_BY = {
    "usage": st.sampled_from((*(Usage.DEFAULT,) * 4, *Usage)),
    "cpu_access": st.sampled_from(
        (*(CpuAccess.NONE,) * 4, CpuAccess(1), CpuAccess(2), CpuAccess(3))
    ),
}


def of(kind):
    """One of what calls have made."""
    return st.integers(0, 8).map(lambda number: Of(kind, number))


def some(kind):
    """A few of them, or None."""
    return st.lists(of(kind) | st.none(), max_size=3)


def made(kind, **fields):
    """An object of a class, of fields that may be left out."""
    return st.fixed_dictionaries({}, optional=fields).map(lambda given: Made(kind, given))


FACE = made(
    StencilFace,
    fail=st.sampled_from(StencilOp),
    pass_=st.sampled_from(StencilOp),
    func=st.sampled_from(Compare),
)
TARGET_BLEND = made(
    RenderTargetBlend,
    blend_enable=TRUTH,
    src_blend=st.sampled_from(BlendFactor),
    dest_blend=st.sampled_from(BlendFactor),
    blend_op=st.sampled_from(BlendOp),
    write_mask=NUMBER,
    logic_op_enable=TRUTH,
    logic_op=st.sampled_from(LogicOp),
)
RASTERIZER = made(
    RasterizerState,
    wireframe=TRUTH,
    cull=st.sampled_from(Cull),
    front_counter_clockwise=TRUTH,
    depth_bias=NUMBER,
    slope_scaled_depth_bias=SHARE,
    scissor_enable=TRUTH,
    multisample_enable=TRUTH,
    antialiased_line_enable=TRUTH,
    conservative_raster=TRUTH,
    forced_sample_count=st.sampled_from((0, 0, 0, 1, 4, 16, 2)),
)
DEPTH_STENCIL = made(
    DepthStencilState,
    depth_enable=TRUTH,
    depth_func=st.sampled_from(Compare),
    stencil_enable=TRUTH,
    front_face=FACE,
    back_face=FACE,
)
BLEND = made(
    BlendState,
    render_target=st.lists(TARGET_BLEND, min_size=1, max_size=2),
    alpha_to_coverage_enable=TRUTH,
    independent_blend_enable=TRUTH,
)
SAMPLER = made(
    SamplerState,
    min_filter=st.sampled_from(("point", "linear")),
    address_u=st.sampled_from(("wrap", "mirror", "clamp", "border")),
    max_anisotropy=st.sampled_from((1, 4)),
    mip_lod_bias=SHARE,
)
VIEWPORT = made(
    Viewport, x=SHARE, y=SHARE, width=SIZE, height=SIZE, min_depth=SHARE, max_depth=SHARE
)
# Path -> the kind of its result, its arguments, those that may be left out.
CALLS = {
    "create_buffer": (
        "buffer",
        {"size": st.sampled_from((64, 64, 96, 256, None)), "bind": BIND},
        {"data": st.sampled_from((bytes(64), bytes(range(48)), None, bytes(300))), **HELD_BY},
    ),
    "create_texture1d": ("texture", {"form": FORMAT, "width": SIZE}, {"mip_levels": NUMBER}),
    "create_texture2d": (
        "texture",
        {"form": FORMAT, "width": SIZE, "height": SIZE, "bind": BIND},
        {
            "mip_levels": NUMBER,
            "array_size": NUMBER,
            "sample_count": NUMBER,
            "cube": TRUTH,
            **HELD_BY,
            "data": st.lists(OCTETS.filter(lambda data: data is not None), min_size=1, max_size=1),
        },
    ),
    "create_texture3d": (
        "texture",
        {"form": FORMAT, "width": SIZE, "height": SIZE, "depth": SIZE, "bind": BIND},
        {},
    ),
    "create_render_target_view": (
        "target",
        {"texture": of("texture")},
        {"form": MAYBE_FORMAT, "first_level": NUMBER, "first_layer": NUMBER},
    ),
    "create_depth_stencil_view": (
        "depth",
        {"texture": of("texture")},
        {"form": MAYBE_FORMAT, "read_only_depth": TRUTH},
    ),
    "create_shader_resource_view": (
        "view",
        {"resource": of("texture") | of("buffer")},
        {"form": MAYBE_FORMAT, "level_count": st.none() | NUMBER, "cube": TRUTH},
    ),
    "create_unordered_access_view": (
        "unordered",
        {"resource": of("buffer") | of("texture")},
        {
            "form": MAYBE_FORMAT,
            "flag": st.sampled_from(UnorderedFlag),
            "first": NUMBER,
            "size": NUMBER,
        },
    ),
    "create_swap_chain": (
        "swap chain",
        {"width": SIZE, "height": SIZE},
        {
            "form": FORMAT,
            "buffers": NUMBER,
            "vsync": TRUTH,
            "transaction_elimination": TRUTH,
            "bind": BIND,
        },
    ),
    "create_query": ("query", {"kind": st.sampled_from(QueryKind)}, {}),
    "release": (
        None,
        {"resource": of("texture") | of("buffer") | of("query") | of("swap chain")},
        {},
    ),
    "context.ia.set_primitive_topology": (None, {"topology": st.sampled_from(Topology)}, {}),
    "context.ia.set_vertex_buffers": (
        None,
        {"start": NUMBER, "buffers": st.tuples(of("buffer")), "strides": st.tuples(NUMBER)},
        {"offsets": st.tuples(NUMBER)},
    ),
    "context.ia.set_index_buffer": (
        None,
        {
            "buffer": of("buffer"),
            "form": st.sampled_from((Format.R16_UINT, Format.R16_UINT, Format.R32_UINT)) | FORMAT,
        },
        {"offset": NUMBER},
    ),
    "context.ia.set_input_layout": (None, {"layout": of("layout")}, {}),
    "context.so.set_targets": (None, {"buffers": some("buffer")}, {}),
    "context.rs.set_state": (None, {"state": RASTERIZER}, {}),
    "context.rs.set_viewports": (None, {"viewports": st.lists(VIEWPORT, max_size=2)}, {}),
    "context.rs.set_scissor_rects": (
        None,
        {"rectangles": st.lists(st.tuples(*(NUMBER,) * 4), max_size=2)},
        {},
    ),
    "context.om.set_render_targets": (
        None,
        {"colours": st.lists(of("target"), max_size=2)},
        {"depth": of("depth")},
    ),
    "context.om.set_blend_state": (
        None,
        {"state": BLEND},
        {"factor": COLOUR, "sample_mask": NUMBER},
    ),
    "context.om.set_depth_stencil_state": (None, {"state": DEPTH_STENCIL}, {"reference": NUMBER}),
    "context.ps.set_shader": (None, {"shader": of("pixel shader") | st.none()}, {}),
    "context.ps.set_shader_resources": (None, {"start": NUMBER, "views": some("view")}, {}),
    "context.ps.set_samplers": (
        None,
        {"start": NUMBER, "samplers": st.lists(SAMPLER, max_size=1)},
        {},
    ),
    "context.ps.set_constant_buffers": (
        None,
        {"start": NUMBER, "buffers": some("buffer")},
        {"first_constants": st.lists(NUMBER, max_size=2)},
    ),
    "context.cs.set_unordered_access_views": (
        None,
        {"start": NUMBER, "views": some("unordered")},
        {"initial_counts": st.lists(NUMBER | st.just(-1), max_size=3)},
    ),
    "context.cs.set_shader": (None, {"shader": of("compute shader") | st.none()}, {}),
    "context.cs.set_shader_resources": (None, {"start": NUMBER, "views": some("view")}, {}),
    "context.draw": (None, {"vertex_count": NUMBER}, {"start_vertex": NUMBER}),
    "context.draw_indexed": (
        None,
        {"index_count": NUMBER},
        {"start_index": NUMBER, "base_vertex": NUMBER},
    ),
    "context.draw_instanced": (None, {"vertex_count": NUMBER, "instance_count": NUMBER}, {}),
    "context.draw_instanced_indirect": (None, {"arguments": of("buffer")}, {"offset": NUMBER}),
    "context.draw_auto": (None, {}, {}),
    "context.dispatch": (None, {"x": NUMBER}, {"y": NUMBER}),
    "context.clear_render_target_view": (None, {"view": of("target"), "colour": COLOUR}, {}),
    "context.clear_depth_stencil_view": (
        None,
        {"view": of("depth")},
        {"depth": SHARE, "stencil": NUMBER},
    ),
    "context.clear_unordered_access_view_uint": (
        None,
        {"view": of("unordered"), "value": NUMBER | st.tuples(*(NUMBER,) * 4)},
        {},
    ),
    "context.clear_unordered_access_view_float": (
        None,
        {"view": of("unordered"), "colour": COLOUR},
        {},
    ),
    "context.clear_view": (
        None,
        {"view": of("target") | of("unordered"), "colour": COLOUR},
        {"rectangles": st.lists(st.tuples(*(NUMBER,) * 4), max_size=2)},
    ),
    "context.copy_resource": (
        None,
        {"target": of("texture") | of("buffer"), "source": of("texture") | of("buffer")},
        {},
    ),
    "context.copy_subresource_region": (
        None,
        {
            "target": of("texture"),
            "target_subresource": SUBRESOURCE,
            "source": of("texture"),
            "source_subresource": SUBRESOURCE,
        },
        {"at": st.tuples(NUMBER, NUMBER, st.just(0)), "box": BOX},
    ),
    "context.copy_buffer_region": (
        None,
        {
            "target": of("buffer"),
            "target_offset": NUMBER,
            "source": of("buffer"),
            "source_offset": NUMBER,
            "size": NUMBER,
        },
        {},
    ),
    "context.copy_structure_count": (
        None,
        {"target": of("buffer"), "offset": NUMBER, "view": of("unordered")},
        {},
    ),
    "context.resolve_subresource": (
        None,
        {
            "target": of("texture"),
            "target_subresource": SUBRESOURCE,
            "source": st.just(Of("texture", 3)) | of("texture"),
            "source_subresource": SUBRESOURCE,
        },
        {"form": MAYBE_FORMAT},
    ),
    "context.set_resource_min_lod": (None, {"texture": of("texture"), "min_lod": SHARE}, {}),
    "context.generate_mips": (None, {"view": of("view")}, {}),
    "context.update_subresource": (
        None,
        {
            "target": of("texture") | of("buffer"),
            "data": OCTETS.filter(lambda data: data is not None),
        },
        {"subresource": SUBRESOURCE, "offset": NUMBER},
    ),
    "context.read": (
        None,
        {"resource": of("texture") | of("buffer")},
        {"subresource": SUBRESOURCE},
    ),
    "context.map": (
        None,
        {"resource": of("texture") | of("buffer"), "map_type": st.sampled_from(MapType)},
        {"subresource": SUBRESOURCE},
    ),
    "context.unmap": (
        None,
        {"resource": of("texture") | of("buffer")},
        {"subresource": SUBRESOURCE},
    ),
    "context.begin": (None, {"query": of("query")}, {}),
    "context.end": (None, {"query": of("query")}, {}),
    "context.get_data": (None, {"query": of("query")}, {}),
    "context.set_predication": (None, {"query": of("query") | st.none()}, {"value": TRUTH}),
    "context.clear_state": (None, {}, {}),
    "context.flush": (None, {}, {}),
}
CALLS |= {
    path.replace("context", "deferred", 1): how
    for path, how in CALLS.items()
    if path.startswith("context.")
}
CALLS |= {
    "deferred.finish_command_list": ("list", {}, {"restore_state": TRUTH}),
    "context.execute_command_list": (None, {"commands": of("list")}, {"restore_state": TRUTH}),
    "deferred.execute_command_list": (None, {"commands": of("list")}, {"restore_state": TRUTH}),
}
SHOWN = tuple(
    f"swap_chain.{number}.{name}"
    for number in range(2)
    for name in ("present", "present", "display.line", "display.frame")
)
CALLS |= {
    path: (None, {}, {"sync_interval": NUMBER} if path.endswith("present") else {})
    for path in SHOWN
}
# What shows most comes more often; a deferred context has as many calls as the immediate one.
OFTEN = ("context.draw", "context.draw_instanced") * 4
LISTS = ("deferred.finish_command_list", "context.execute_command_list") * 3
AT_ONCE = [path for path in CALLS if not path.startswith("deferred.")]
PATHS = st.sampled_from((*CALLS, *AT_ONCE, *AT_ONCE, *OFTEN, *OFTEN, *LISTS, *SHOWN))


@st.composite
def calls(draw):
    """A call; of one in eight an argument is of a type or a value that no call takes."""
    path = draw(PATHS)
    keeps, arguments, optional = CALLS[path]
    given = draw(st.fixed_dictionaries(arguments, optional=optional))
    if given and draw(st.integers(0, 7)) == 0:
        given[draw(st.sampled_from(sorted(given)))] = draw(WRONG)
    return Call(path, given, keeps)
