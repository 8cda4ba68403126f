# SPDX-License-Identifier: BSD-2-Clause
"""Textures for unordered access: what is bound beside them, clears, work that fails."""

import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.machine.shaders import ComputeShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.errors import InputError
from tests.host.drawing import DRAWN, MEMORY, READ, RGBA8, WHOLE, Scene

WRITTEN = Bind.UNORDERED_ACCESS


@pytest.mark.plan("host-25")
def test_no_slice_is_read_and_written_at_once():
    """[fs 5.3.9.4]; other levels and layers may be."""
    scene = Scene()
    device, context = scene.device, scene.context
    texture = device.create_texture2d(RGBA8, 32, 24, 2, 2, bind=WRITTEN | READ | DRAWN)
    first = device.create_unordered_access_view(texture, layer_count=1)
    second = device.create_unordered_access_view(texture, first_layer=1)
    same = device.create_unordered_access_view(texture)
    smaller = {"first_level": 1, "level_count": 1}
    inputs = {
        part: device.create_shader_resource_view(texture, **fields)
        for part, fields in (
            ("same", {}),
            ("other layer", {"first_layer": 1, "level_count": 1}),
            ("other level", smaller),
        )
    }
    for stage, work in ((context.ps, lambda: context.draw(3)), (context.cs, None)):
        if work is None:
            shader = device.create_compute_shader(ComputeShader(lambda *_: None))
            context.cs.set_shader(shader)
            context.ps.set_shader_resources(0, [None])
            context.ps.set_unordered_access_views(1, [None, None])

            def work():
                context.dispatch(1)

        stage.set_unordered_access_views(1, [first, None])
        for part, view in inputs.items():
            stage.set_shader_resources(0, [view])
            if part == "same":
                with pytest.raises(InputError, match="resource in slot 0 must not be written to"):
                    work()
            else:
                work()
        stage.set_shader_resources(0, [None])
        stage.set_unordered_access_views(1, [first, second])
        work()
        stage.set_unordered_access_views(1, [first, same])
        with pytest.raises(InputError, match="unordered access must not be to a slice twice"):
            work()
        stage.set_unordered_access_views(1, [None, None])


@pytest.mark.plan("host-25")
def test_no_target_is_stored_to():
    scene = Scene()
    device, context = scene.device, scene.context
    texture = device.create_texture2d(RGBA8, 32, 24, 1, 2, bind=WRITTEN | DRAWN)
    context.ps.set_unordered_access_views(
        1, [device.create_unordered_access_view(texture, layer_count=1)]
    )
    for layer, fits in ((0, False), (1, True)):
        target = device.create_render_target_view(texture, first_layer=layer, layer_count=1)
        context.om.set_render_targets([target])
        if fits:
            context.draw(3)
        else:
            with pytest.raises(InputError, match="unordered access must not be to a target"):
                context.draw(3)


@pytest.mark.plan("host-25")
@pytest.mark.parametrize("tiled", [False, True])
def test_work_that_fails_stores_nothing(tiled):
    scene = Scene()
    device, context = scene.device, scene.context
    bind = WRITTEN | READ | (DRAWN if tiled else Bind(0))
    octets = np.arange(4 * 4 * 4, dtype=np.uint8)
    texture = device.create_texture2d(RGBA8, 4, 4, bind=bind, data=[octets])
    view = device.create_unordered_access_view(texture)

    class Broken(Exception):
        pass

    def fails(lanes, bound):
        mask = lanes.live if hasattr(lanes, "live") else lanes.mask
        places = np.zeros((*mask.shape, 2), np.int64)
        bound.store(1, mask, places, np.ones((*mask.shape, 4), np.float32))
        raise Broken

    scene.shade(fails, unordered=True)
    context.ps.set_unordered_access_views(1, [view])
    with pytest.raises(Broken):
        scene.draw(WHOLE)
    context.ps.set_unordered_access_views(1, [None])
    context.cs.set_unordered_access_views(1, [view])
    context.cs.set_shader(device.create_compute_shader(ComputeShader(fails)))
    with pytest.raises(Broken):
        context.dispatch(1)
    assert (context.read(texture).reshape(-1) == octets).all()
    scene.shade(lambda quads, _bound: PixelResults(quads.floats(0)))
    context.cs.set_unordered_access_views(1, [None])


@pytest.mark.plan("host-25")
def test_a_pixel_shader_that_stores_declares_it():
    scene = Scene()
    texture = scene.device.create_texture2d(RGBA8, 4, 4, bind=WRITTEN)
    view = scene.device.create_unordered_access_view(texture)
    scene.context.ps.set_unordered_access_views(1, [view])

    def store(quads, bound):
        places = np.stack([quads.x, quads.y], -1)
        bound.store(1, quads.live, places, quads.floats(0))
        return PixelResults(quads.floats(0))

    scene.shade(store)
    with pytest.raises(InputError, match="unordered access must be declared by the shader"):
        scene.draw(WHOLE)


@pytest.mark.plan("host-25")
@pytest.mark.parametrize("tiled", [False, True])
@pytest.mark.parametrize(
    ("form", "words", "texel"),
    [
        (Format.R8G8B8A8_UNORM, (0x101, 2, 3, 4), bytes((1, 2, 3, 4))),
        (Format.R8G8B8A8_UINT, (0x1FF, 2, 3, 4), bytes((255, 2, 3, 4))),
        (
            Format.R10G10B10A2_UNORM,
            (0x7FF, 0, 1, 5),
            (0x3FF | 1 << 20 | 1 << 30).to_bytes(4, "little"),
        ),
        (Format.R16_FLOAT, (0x13C00, 9, 9, 9), bytes((0, 0x3C))),
        (Format.R32_FLOAT, (0x7F800001, 0, 0, 0), bytes((1, 0, 0x80, 0x7F))),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_clears_to_words_take_the_lower_bits(form, words, texel, tiled):
    """[fs 5.2.3.1]: of what the view shows alone."""
    device = Device(MEMORY)
    bind = WRITTEN | (DRAWN if tiled else Bind(0))
    texture = device.create_texture2d(form, 9, 5, 2, 2, bind=bind)
    view = device.create_unordered_access_view(texture, first_level=1, first_layer=1)
    device.context.clear_unordered_access_view_uint(view, words)
    for level in range(2):
        for layer in range(2):
            image = device.context.read(texture, (level, layer))[:, :, 0]
            right = texel if (level, layer) == (1, 1) else bytes(FORMATS[form].bytes)
            assert {row.tobytes() for row in image.reshape(-1, len(right))} == {right}


@pytest.mark.plan("host-25")
def test_clears_to_floats_convert():
    """[fs 5.2.3.1]: of UNORM, SNORM and floats; slices of a volume."""
    device = Device(MEMORY)
    context = device.context
    volume = device.create_texture3d(Format.R8G8B8A8_SNORM, 4, 4, 4, bind=WRITTEN)
    view = device.create_unordered_access_view(volume, first_layer=1, layer_count=2)
    context.clear_unordered_access_view_float(view, (-2, 0.5, 1, 0))
    image = context.read(volume).view(np.int8)
    assert (image[1:3] == (-127, 64, 127, 0)).all()
    assert not image[[0, 3]].any()
    whole = device.create_texture1d(Format.R32_UINT, 4, bind=WRITTEN)
    view = device.create_unordered_access_view(whole)
    with pytest.raises(InputError, match="format of the view must be of UNORM, SNORM or FLOAT"):
        context.clear_unordered_access_view_float(view, (1, 1, 1, 1))
    buffer = device.create_buffer(16, WRITTEN)
    typed = device.create_unordered_access_view(buffer, Format.R8G8_UNORM)
    context.clear_unordered_access_view_float(typed, (1, 0.5, 0, 0))
    assert context.read(buffer).tolist() == [255, 128] * 8
    raw = device.create_unordered_access_view(buffer)
    context.clear_unordered_access_view_uint(raw, (7, 8, 9, 10))
    assert context.read(buffer).view("<u4").tolist() == [7] * 4
