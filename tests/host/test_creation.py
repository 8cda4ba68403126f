# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import (
    BlendState,
    DepthStencilState,
    RasterizerState,
    RenderTargetBlend,
    SamplerState,
    StencilFace,
)
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, Compare, Cull, LogicOp, StencilOp
from tests.host.drawing import (
    DRAWN,
    MEMORY,
    READ,
    RGBA8,
    picture,
)


def device():
    return Device(MEMORY)


# What is refused.


@pytest.mark.plan("host-9")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda d: d.create_buffer(0), r"size must lie in 1\.\."),
        (lambda d: d.create_buffer(MEMORY), "size must fit memory"),
        (lambda d: d.create_buffer(4, data=bytes(5)), r"bytes of data must lie in 0\.\.4, not 5"),
        (lambda d: d.create_buffer(20, Bind.CONSTANT_BUFFER), "must be a multiple of 16, not 20"),
        (lambda d: d.create_buffer(16, Bind.CONSTANT_BUFFER | READ), "be CONSTANT_BUFFER alone"),
        (lambda d: d.create_buffer(20, stride=6), "stride must be a multiple of 4"),
        (lambda d: d.create_texture2d(RGBA8, 0, 1), r"width must lie in 1\.\.16384, not 0"),
        (lambda d: d.create_texture2d(RGBA8, 8, 8, 5), r"mip_levels must lie in 0\.\.4, not 5"),
        (lambda d: d.create_texture2d(RGBA8, 8, 8, 1, 3000), "array_size must lie in"),
        (lambda d: d.create_texture2d(RGBA8, 8, 8, sample_count=3), "sample_count must be one of"),
        (lambda d: d.create_texture2d(RGBA8, 8, 8, 2, 1, 4, DRAWN), "sample_count must be 1"),
        (lambda d: d.create_texture2d(RGBA8, 8, 8, 1, 1, 4), "bind must be RENDER_TARGET or"),
        (lambda d: d.create_texture2d(Format.UNKNOWN, 8, 8), "format must be one of a texture"),
        (lambda d: d.create_texture2d(RGBA8, 8, 8, bind=DRAWN | Bind.DEPTH_STENCIL), "not be"),
        (lambda d: d.create_texture2d(RGBA8, 8, 8, bind=Bind.DEPTH_STENCIL), "be one of depths"),
        (lambda d: d.create_texture2d(Format.BC1_UNORM, 6, 8), "size of blocks must be"),
        (lambda d: d.create_texture2d(RGBA8, 8, 8, 1, 5, cube=True), "cube must have six"),
        (lambda d: d.create_texture2d(RGBA8, 8, 8, data=[bytes(3)]), "bytes of a subresource"),
        (lambda d: d.create_texture2d(RGBA8, 8, 8, data=[]), "data must be a list of 1, one for"),
        (
            lambda d: d.create_texture2d(RGBA8, 8, 8, data=picture(8, 8)),
            r"data must be a list of 1, one .*, not an array of \(8, 8, 4\)",
        ),
        (
            lambda d: d.create_texture2d(Format.BC1_UNORM, 8, 8, bind=DRAWN),
            "format must have no blocks where bind is an output's, not BC1_UNORM",
        ),
        (
            lambda d: d.create_texture2d(RGBA8, 16384, 16384, sample_count=8, bind=DRAWN),
            r"bytes of the texture must lie in 1\.\.2147483648, not 8589934592",
        ),
        (lambda d: d.create_texture3d(RGBA8, 4000, 1, 1), r"width must lie in 1\.\.2048"),
        (lambda _d: Device(100), "memory must lie in"),
        (lambda d: d.create_pixel_shader(len), "program must be a PixelShader"),
        (lambda d: d.create_vertex_shader(3), "program must be callable"),
        (lambda d: d.create_query(0), "kind must be a QueryKind"),
    ],
)
def test_creations_that_break_a_rule(call, text):
    host = device()
    with pytest.raises(InputError, match=text):
        call(host)
    # Nothing is taken: all of memory can still be.
    whole = MEMORY - (1 << 16) - (1 << 20)
    assert host.create_buffer(min(whole, 1 << 27), Bind.VERTEX_BUFFER).size


@pytest.mark.plan("host-9")
@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"form": Format.R16G16_UNORM}, "format of the view must be one of R8G8B8A8_TYPELESS"),
        ({"form": Format.R8G8B8A8_TYPELESS}, "format of the view must have a type"),
        ({"first_level": 2}, r"first_level must lie in 0\.\.1"),
        ({"level_count": 2}, r"level_count must lie in 1\.\.1"),
        ({"first_layer": 4}, r"first_layer must lie in 0\.\.3"),
        ({"first_layer": 2, "layer_count": 3}, r"layer_count must lie in 1\.\.2"),
        ({"cube": True}, "cube must be of a cube's texture"),
        ({"read_only_depth": True}, "read_only must be of depths"),
    ],
)
def test_views_that_break_a_rule(part, text):
    host = device()
    texture = host.create_texture2d(Format.R8G8B8A8_TYPELESS, 8, 8, 2, 4, bind=DRAWN)
    with pytest.raises(InputError, match=text):
        host.create_render_target_view(texture, **{"form": RGBA8} | part)
    shared = host.create_texture2d(Format.R9G9B9E5_SHAREDEXP, 8, 8, bind=DRAWN)
    with pytest.raises(InputError, match="format of a render target must be one that is drawn to"):
        host.create_render_target_view(shared)
    typed = host.create_texture2d(RGBA8, 8, 8, bind=DRAWN)
    with pytest.raises(InputError, match="must be R8G8B8A8_UNORM, which has a type"):
        host.create_render_target_view(typed, Format.R8G8B8A8_UNORM_SRGB)
    with pytest.raises(InputError, match="bind of the resource must include SHADER_RESOURCE"):
        host.create_shader_resource_view(typed)


@pytest.mark.plan("host-9")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: RasterizerState(cull=2), "cull must be one of Cull: NONE, FRONT, BACK, not 2"),
        (lambda: RasterizerState(depth_bias=1 << 31), "depth_bias must lie in"),
        (lambda: RasterizerState(depth_bias_clamp=np.inf), "depth_bias_clamp must be a finite"),
        (lambda: DepthStencilState(depth_func=9), "depth_func must be one of Compare"),
        (lambda: DepthStencilState(stencil_read_mask=256), r"must lie in 0\.\.255, not 256"),
        (lambda: StencilFace(fail=Compare.LESS), "fail must be one of StencilOp"),
        (lambda: RenderTargetBlend(write_mask=16), r"write_mask must lie in 0\.\.15"),
        (
            lambda: RenderTargetBlend(src_blend_alpha=BlendFactor.SRC_COLOR),
            "src_blend_alpha must be no colour",
        ),
        (
            lambda: RenderTargetBlend(True, logic_op_enable=True, logic_op=LogicOp.AND),
            "logic_op_enable must be off where",
        ),
        (lambda: BlendState([RenderTargetBlend()] * 9), r"render_target must lie in 1\.\.8"),
        (lambda: SamplerState(max_anisotropy=17), "anisotropy must be 1 to 16"),
        (lambda: SamplerState(address_w="round"), "address must be one of"),
    ],
)
def test_states_that_break_a_rule(call, text):
    with pytest.raises(InputError, match=text):
        call()


@pytest.mark.plan("host-9")
def test_defaults_are_those_of_d3d11():
    assert RasterizerState().cull == Cull.BACK and RasterizerState().depth_clip_enable
    state = DepthStencilState()
    assert (state.depth_enable, state.depth_write, state.depth_func) == (True, True, Compare.LESS)
    assert not state.stencil_enable and state.front_face == StencilFace(
        StencilOp.KEEP, StencilOp.KEEP, StencilOp.KEEP, Compare.ALWAYS
    )
    assert not BlendState().of(0).enable and BlendState().of(7).write == 15
    sampler = SamplerState()
    assert (sampler.address_u, sampler.max_anisotropy, sampler.min_filter) == ("clamp", 1, "linear")


@pytest.mark.plan("host-9")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda c, a, b: c.copy_resource(a, b),
            r"width of the target must lie in 16\.\.16, not 8",
        ),
        (
            lambda c, a, b: c.copy_subresource_region(a, (0, 0), b, (0, 0)),
            "box along x must fit the target's 8 texels, not 16",
        ),
        (
            lambda c, a, b: c.copy_subresource_region(a, (0, 0), b, (0, 0), box=(4, 4, 0, 4, 8, 1)),
            "end of the box along x",
        ),
        (
            lambda c, a, b: c.copy_subresource_region(a, (1, 0), b, (0, 0)),
            r"level must lie in 0\.\.0, not 1",
        ),
        (lambda c, a, b: c.resolve_subresource(a, (0, 0), b, (0, 0)), "samples must be several"),
        (lambda c, a, _b: c.update_subresource(a, bytes(3)), "bytes of a subresource"),
    ],
)
def test_copies_that_break_a_rule(call, text):
    host = device()
    small = host.create_texture2d(RGBA8, 8, 8)
    large = host.create_texture2d(RGBA8, 16, 8, data=[picture(16, 8)])
    with pytest.raises(InputError, match=text):
        call(host.context, small, large)
    assert not host.context.read(small).any()
