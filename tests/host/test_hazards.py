# SPDX-License-Identifier: BSD-2-Clause
"""What the machine keeps between calls, and what is read and written at once."""

import numpy as np
import pytest

from fixfunc.models.geometry.geometry_stage import Emitted
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import BlendState, RasterizerState, RenderTargetBlend, SamplerState
from fixfunc.models.machine.shaders import GeometryShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor
from tests.host.drawing import (
    D24S8,
    DRAWN,
    READ,
    RED,
    RGBA8,
    WHOLE,
    Scene,
    corners,
)


def first_texel(quads, bound):
    """The first texel of slot 0."""
    places = np.zeros((*quads.x.shape, 2), np.int64)
    return PixelResults(bound.fetch(0, places))


def by_viewport(inputs, _bound):
    """Each primitive by a viewport of its own."""
    count = len(inputs.primitive)
    return Emitted(
        np.repeat(np.arange(count), 3),
        inputs.position.reshape(-1, 4),
        inputs.attributes.reshape(-1, 1, 4),
        viewport=np.repeat(inputs.primitive, 3),
    )


# What is kept.


@pytest.mark.plan("host-13")
@pytest.mark.parametrize("coded", [False, True])
def test_targets_that_are_released_are_not_written_any_more(coded):
    scene = Scene(coded=coded)
    device, context = scene.device, scene.context
    scene.draw(WHOLE, RED)
    context.om.set_render_targets([])
    news = []
    for old, bind in ((scene.depths, Bind.DEPTH_STENCIL), (scene.colours, DRAWN)):
        device.release(old)
        new = device.create_texture2d(old.form, 32, 24, bind=bind)
        assert new.address == old.address
        assert not context.read(new).any()
        news.append(new)
    for new in news:
        device.release(new)
    # A smaller target, and a buffer behind it.
    small = device.create_texture2d(RGBA8, 8, 8, bind=DRAWN)
    behind = device.create_buffer(4096)
    context.om.set_render_targets([device.create_render_target_view(small)])
    scene.draw(WHOLE, RED)
    assert (context.read(small) == (255, 0, 0, 255)).all()
    assert not context.read(behind).any()


@pytest.mark.plan("host-13")
def test_textures_that_are_released_are_not_read_any_more():
    scene = Scene()
    device, context = scene.device, scene.context
    scene.shade(first_texel)
    addresses = set()
    for value, z in ((50, 0.4), (99, 0.3)):
        texture = device.create_texture2d(RGBA8, 4, 4, data=[np.full((4, 4, 4), value, np.uint8)])
        addresses.add(texture.address)
        context.ps.set_shader_resources(0, [device.create_shader_resource_view(texture)])
        scene.draw(WHOLE, z=z)
        device.release(texture)
    assert len(addresses) == 1
    assert (scene.image() == 99).all()


@pytest.mark.plan("host-13")
@pytest.mark.parametrize("coded", [False, True])
def test_what_a_draw_that_fails_has_drawn_is_not_read(coded):
    """Not what the machine had drawn of it before, either."""
    scene = Scene(coded=coded)
    device, context = scene.device, scene.context
    texture = device.create_texture2d(RGBA8, 32, 24, bind=DRAWN | READ)
    view = device.create_shader_resource_view(texture)
    target = device.create_render_target_view(texture)

    def read(z):
        context.om.set_render_targets([scene.target], scene.depth)
        context.ps.set_shader_resources(0, [view])
        scene.shade(first_texel)
        scene.draw(WHOLE, z=z)
        context.ps.set_shader_resources(0, [None])

    read(0.5)
    asked = []

    def fails(quads, _bound):
        asked.append(len(quads.x))
        if len(asked) > 1:
            raise ZeroDivisionError
        return PixelResults(quads.floats(0))

    scene.shade(fails)
    context.om.set_render_targets([target])
    # Triangles of two viewports are drawn one after the other.
    port = Viewport(width=32, height=24)
    context.rs.set_viewports([port, port])
    context.gs.set_shader(device.create_geometry_shader(GeometryShader(by_viewport, most=3)))
    with pytest.raises(ZeroDivisionError):
        scene.draw(np.concatenate([WHOLE, WHOLE]), RED)
    context.gs.set_shader(None)
    read(0.4)
    assert not scene.image().any()


# What is read and written at once.


@pytest.mark.plan("host-11")
def test_what_a_pixel_shader_writes_is_not_read():
    scene = Scene()
    device, context = scene.device, scene.context
    bind = READ | Bind.VERTEX_BUFFER | Bind.INDEX_BUFFER | Bind.UNORDERED_ACCESS
    both = scene.bind(corners(WHOLE), bind=bind)
    view = device.create_unordered_access_view(both)
    context.ps.set_unordered_access_views(3, [view])
    with pytest.raises(InputError, match="vertex buffer 0 must not be bound for unordered access"):
        context.draw(3)
    scene.draw(WHOLE)
    context.ia.set_index_buffer(both, Format.R32_UINT)
    with pytest.raises(InputError, match="index buffer must not be bound for unordered access"):
        context.draw_indexed(3)
    context.ia.set_index_buffer(None, Format.R32_UINT)
    for stage in (context.vs, context.ps):
        stage.set_shader_resources(1, [device.create_shader_resource_view(both)])
        with pytest.raises(InputError, match="resource in slot 1 must not be written to"):
            context.draw(3)
        stage.set_shader_resources(1, [None])
    with pytest.raises(InputError, match="bind must not be STREAM_OUTPUT and UNORDERED_ACCESS"):
        device.create_buffer(64, Bind.STREAM_OUTPUT | Bind.UNORDERED_ACCESS)


@pytest.mark.plan("host-11")
@pytest.mark.parametrize("keeps", ["depth", "stencil"])
def test_what_is_kept_of_depths_and_stencil_values_is_read(keeps):
    """A view that does not write one of them leaves it to shaders [fs 17.13]."""
    scene = Scene()
    device, context = scene.device, scene.context
    bind = READ | Bind.DEPTH_STENCIL
    depths = device.create_texture2d(Format.R24G8_TYPELESS, 32, 24, bind=bind)
    whole = device.create_depth_stencil_view(depths, D24S8)
    context.clear_depth_stencil_view(whole, 1.0, 85)
    reads = {
        "depth": Format.R24_UNORM_X8_TYPELESS,
        "stencil": Format.X24_TYPELESS_G8_UINT,
    }
    kept = device.create_depth_stencil_view(depths, D24S8, **{f"read_only_{keeps}": True})
    context.om.set_render_targets([scene.target], kept)

    def read(quads, bound):
        places = np.stack([quads.x, quads.y], -1)
        return PixelResults(bound.fetch(0, places).astype(np.float32))

    scene.shade(read)
    plane = "stencil" if keeps == "depth" else "depth"
    context.ps.set_shader_resources(0, [device.create_shader_resource_view(depths, reads[plane])])
    with pytest.raises(InputError, match="resource in slot 0 must not be drawn to"):
        scene.draw(WHOLE)
    context.ps.set_shader_resources(0, [device.create_shader_resource_view(depths, reads[keeps])])
    for z in (0.5, 0.25):
        scene.draw(WHOLE, z=z)
    assert (scene.image()[..., 0 if keeps == "depth" else 1] == 255).all()
    # Depths were written, unless they are kept.
    assert (context.read(depths)[..., 2] == (255 if keeps == "depth" else 64)).all()


@pytest.mark.plan("host-11")
@pytest.mark.parametrize("slots", [(1,), (0, 1)])
def test_a_second_source_is_of_slot_0(slots):
    scene = Scene()
    device, context = scene.device, scene.context
    views = [None, None]
    for slot in slots:
        texture = device.create_texture2d(RGBA8, 32, 24, bind=DRAWN)
        views[slot] = device.create_render_target_view(texture)
    mix = RenderTargetBlend(True, BlendFactor.SRC1_COLOR, BlendFactor.ZERO)
    state = BlendState([RenderTargetBlend(), mix], independent_blend_enable=True)
    context.om.set_render_targets(views)
    context.om.set_blend_state(state)
    with pytest.raises(InputError, match="render targets must be one, in slot 0"):
        scene.draw(WHOLE)


# What shaders may do with what is bound.


@pytest.mark.plan("host-14")
def test_what_is_bound_to_be_read_is_not_written():
    scene = Scene()
    device, context = scene.device, scene.context
    context.om.set_render_targets([scene.target])
    buffer = device.create_buffer(64, READ)
    constants = device.create_buffer(64, Bind.CONSTANT_BUFFER)
    written = device.create_buffer(64, Bind.UNORDERED_ACCESS)
    context.ps.set_shader_resources(0, [device.create_shader_resource_view(buffer)])
    context.ps.set_constant_buffers(0, [constants])
    context.ps.set_unordered_access_views(0, [device.create_unordered_access_view(written)])

    def draws(name):
        def write(quads, bound):
            getattr(bound, name)(0)[:] = 7
            return PixelResults(quads.floats(0))

        return write

    for name in ("buffer", "constants", "floats"):
        scene.shade(draws(name))
        with pytest.raises(ValueError, match="read-only"):
            scene.draw(WHOLE)
    scene.shade(draws("unordered"))
    with pytest.raises(InputError, match="unordered access must be declared by the shader, not 0"):
        scene.draw(WHOLE)
    assert not any(context.read(resource).any() for resource in (buffer, constants, written))
    scene.shade(draws("unordered"), unordered=True)
    scene.draw(WHOLE)
    assert (context.read(written) == 7).all()


@pytest.mark.plan("host-14")
@pytest.mark.parametrize("second", [np.int32, None])
def test_a_shader_has_the_same_colours_in_all_of_a_draw(second):
    scene = Scene()
    asked = []

    def colours(quads, _bound):
        asked.append(1)
        colour = quads.floats(0)
        depth = np.full(quads.x.shape, 0.5 / len(asked), np.float32)
        if len(asked) > 1:
            colour = [] if second is None else colour.astype(second)
        return PixelResults(colour, depth=depth)

    scene.shade(colours, depth="any")
    with pytest.raises(InputError, match=r"colours must be as before, \['float32'\]"):
        scene.draw(np.concatenate([WHOLE, WHOLE]))


@pytest.mark.plan("host-14")
def test_a_volume_is_read_whole_and_drawn_by_slices():
    device = Scene().device
    volume = device.create_texture3d(RGBA8, 8, 8, 4, 2, READ | DRAWN)
    device.create_render_target_view(volume, first_layer=1, layer_count=2)
    device.create_shader_resource_view(volume, first_level=1)
    for part in ({"first_layer": 1}, {"layer_count": 2}, {"first_layer": 1, "first_level": 1}):
        with pytest.raises(InputError, match="layer_count must be all . slices of a volume"):
            device.create_shader_resource_view(volume, **part)


@pytest.mark.plan("host-14")
def test_numbers_beyond_all_floats_are_refused():
    scene = Scene()
    huge = 10**400
    for call in (
        lambda: scene.context.clear_render_target_view(scene.target, (huge, 0, 0, 0)),
        lambda: scene.context.om.set_blend_state(None, (0, 0, huge, 0)),
        lambda: RasterizerState(slope_scaled_depth_bias=huge),
        lambda: SamplerState(border_color=(huge, 0, 0, 0)),
        lambda: SamplerState(min_lod=1j),
    ):
        with pytest.raises(InputError, match="a number"):
            call()
