# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.memory import Heap
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import (
    SamplerState,
)
from fixfunc.models.output.formats import encode
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.texture.texture import of_picture
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Compare
from tests.host.drawing import (
    DRAWN,
    LEFT,
    MEMORY,
    READ,
    RGBA8,
    WHOLE,
    Scene,
    picture,
)


def device():
    return Device(MEMORY)


# Memory.


@pytest.mark.plan("host-6")
def test_a_heap_gives_spans_that_do_not_meet_and_takes_them_back():
    rng = np.random.default_rng(0)
    heap = Heap(100, 1 << 16)
    taken = {}
    for _ in range(400):
        if taken and rng.random() < 0.5:
            address = rng.choice(list(taken))
            heap.give(int(address))
            del taken[address]
            continue
        size = int(rng.integers(1, 3000))
        try:
            address = heap.take(size)
        except InputError:
            continue
        assert address % 256 == 0 and address >= 100 and address + size <= 1 << 16
        assert all(address + size <= a or a + s <= address for a, s in taken.items())
        taken[address] = size
    for address in taken:
        heap.give(address)
    assert heap.take((1 << 16) - 256) == 256
    with pytest.raises(InputError, match="size must fit memory, of which 0 bytes"):
        heap.take(1)
    with pytest.raises(InputError, match="address must be that of a span that is taken"):
        heap.give(512)


@pytest.mark.plan("host-6")
def test_what_is_written_is_read():
    host = device()
    context = host.context
    data = np.arange(100, dtype=np.uint8)
    buffer = host.create_buffer(128, data=data)
    assert (context.read(buffer)[:100] == data).all() and not context.read(buffer)[100:].any()
    context.update_subresource(buffer, data[:4], offset=120)
    assert (context.read(buffer)[120:124] == data[:4]).all()
    for bind in (READ, READ | DRAWN):
        levels = [picture(8 >> n, 4 >> n or 1, n) for n in range(4)] * 2
        texture = host.create_texture2d(RGBA8, 8, 4, 0, 2, bind=bind, data=levels)
        for n, level in enumerate(levels):
            layer, number = divmod(n, 4)
            assert (context.read(texture, (number, layer))[:, :, 0] == level).all()
        context.update_subresource(texture, picture(4, 2, 9), (1, 1))
        assert (context.read(texture, (1, 1))[:, :, 0] == picture(4, 2, 9)).all()


# Copies, clears, levels.


@pytest.mark.plan("host-7")
def test_boxes_are_copied_between_layouts():
    host = device()
    context = host.context
    source = host.create_texture2d(RGBA8, 20, 12, bind=READ, data=[picture(20, 12)])
    target = host.create_texture2d(RGBA8, 16, 16, bind=DRAWN)
    context.copy_subresource_region(target, (0, 0), source, (0, 0), (5, 6, 0), (3, 2, 0, 13, 11, 1))
    got = context.read(target)[:, :, 0]
    assert (got[6:15, 5:15] == picture(20, 12)[2:11, 3:13]).all()
    assert np.count_nonzero(got.any(2)) <= 90
    blocks = np.random.default_rng(1).integers(0, 256, (3, 5, 8), dtype=np.uint8)
    source = host.create_texture2d(Format.BC1_UNORM, 20, 12, data=[blocks])
    target = host.create_texture2d(Format.BC1_UNORM, 8, 8)
    context.copy_subresource_region(target, (0, 0), source, (0, 0), (4, 0, 0), (8, 4, 0, 12, 12, 1))
    assert (context.read(target)[:, 1:, 0] == blocks[1:3, 2:3]).all()
    volume = np.random.default_rng(2).integers(0, 256, (6, 5, 4, 1), dtype=np.uint8)
    deep = host.create_texture3d(Format.R8_UNORM, 4, 5, 6, data=[volume])
    again = host.create_texture3d(Format.R8_UNORM, 4, 5, 6)
    context.copy_resource(again, deep)
    assert (context.read(again)[..., 0, :] == volume).all()
    half = host.create_buffer(64, data=np.arange(64, dtype=np.uint8))
    context.copy_buffer_region(half, 32, half, 0, 32)
    assert (context.read(half) == np.tile(np.arange(32), 2)).all()


@pytest.mark.plan("host-7")
@pytest.mark.parametrize("samples", [2, 4, 8])
def test_resolves_average_samples(samples):
    host = device()
    context = host.context
    scene = Scene(samples=samples)
    context = scene.context
    rng = np.random.default_rng(samples)

    def shade(quads, _bound):
        colour = rng.integers(0, 256, (*quads.x.shape, 4)) / 255
        return PixelResults(colour.astype(np.float32))

    scene.shade(shade)
    for n in range(samples):
        context.om.set_blend_state(None, sample_mask=1 << n)
        context.clear_depth_stencil_view(scene.depth, 1.0)
        scene.draw(WHOLE)
    drawn = scene.image().astype(int)
    target = scene.device.create_texture2d(RGBA8, 32, 24)
    context.resolve_subresource(target, (0, 0), scene.colours, (0, 0))
    mean = np.floor(drawn.sum(2) / samples + 0.5)
    assert (context.read(target)[:, :, 0] == mean).all()
    assert len(np.unique(drawn)) > 200


@pytest.mark.plan("host-7")
def test_smaller_levels_are_means():
    host = device()
    context = host.context
    image = picture(13, 6)
    texture = host.create_texture2d(RGBA8, 13, 6, 0, bind=READ | DRAWN)
    context.update_subresource(texture, image)
    context.generate_mips(host.create_shader_resource_view(texture))
    for level, (width, height) in enumerate(((6, 3), (3, 1), (1, 1)), 1):
        rows = image[: height * 2 if len(image) > 1 else 1, : width * 2].astype(int)
        if len(rows) > 1:
            rows = rows.reshape(height, 2, *rows.shape[1:]).sum(1)
            count = 2
        else:
            count = 1
        total = rows.reshape(height, width, 2, 4).sum(2)
        image = (total + count) // (2 * count)
        assert (context.read(texture, (level, 0))[:, :, 0] == image).all()


@pytest.mark.plan("host-7")
def test_clears_take_the_slices_of_a_view():
    host = device()
    context = host.context
    texture = host.create_texture2d(RGBA8, 9, 9, 2, 4, bind=DRAWN)
    view = host.create_render_target_view(texture, first_level=1, first_layer=1, layer_count=2)
    context.clear_render_target_view(view, (1, 0.5, 0, 2))
    for layer in range(4):
        for level in range(2):
            right = (255, 128, 0, 255) if level == 1 and layer in (1, 2) else (0, 0, 0, 0)
            assert (context.read(texture, (level, layer)) == right).all()
    depths = host.create_texture2d(Format.D32_FLOAT_S8X24_UINT, 9, 9, bind=Bind.DEPTH_STENCIL)
    view = host.create_depth_stencil_view(depths)
    context.clear_depth_stencil_view(view, 0.25, 7)
    context.clear_depth_stencil_view(view, stencil=9)
    texels = context.read(depths)[:, :, 0]
    assert (np.ascontiguousarray(texels[..., :4]).view("<f4") == 0.25).all()
    assert (texels[..., 4] == 9).all()


# Textures in shaders.


@pytest.mark.plan("host-8")
def test_a_drawn_texture_is_read_by_the_next_draw():
    scene = Scene()
    host, context = scene.device, scene.context
    texture = host.create_texture2d(RGBA8, 8, 8, bind=READ | DRAWN)
    drawn = host.create_render_target_view(texture)
    read = host.create_shader_resource_view(texture)
    context.ps.set_samplers(0, [SamplerState("point", "point", "point")])

    def textured(quads, bound):
        at = np.stack([quads.x + 0.5, quads.y + 0.5], -1) / 8
        return PixelResults(bound.sample(0, 0, at.astype(np.float32)))

    for n in range(1, 4):
        context.clear_render_target_view(drawn, (n / 255, 0, 0, 1))
        context.ps.set_shader_resources(0, [read])
        scene.shade(textured)
        context.om.set_render_targets([scene.target])
        scene.draw(WHOLE)
        assert (scene.image()[:, :, 0] == (n, 0, 0, 255)).all()


@pytest.mark.plan("host-8")
def test_levels_and_layers_of_a_view_are_sampled():
    scene = Scene()
    host, context = scene.device, scene.context
    levels = [level[0] for level in of_picture(picture(16, 16)).levels]
    first_layer = [np.full_like(level, 7) for level in levels]
    texture = host.create_texture2d(RGBA8, 16, 16, 0, 2, data=[*first_layer, *levels])
    view = host.create_shader_resource_view(texture, first_level=1, first_layer=1)
    context.ps.set_shader_resources(2, [view])
    context.ps.set_samplers(5, [SamplerState("point", "point", "point")])

    def textured(quads, bound):
        at = np.stack([quads.x + 0.5, quads.y + 0.5], -1) / 8
        return PixelResults(bound.sample(2, 5, at.astype(np.float32), lod=0.0))

    scene.shade(textured)
    scene.draw(WHOLE)
    right = levels[1].reshape(8, 8, 4)
    assert (scene.image()[:8, :8, 0] == right).all()


@pytest.mark.plan("host-8")
def test_unbound_slots_read_zeros():
    scene = Scene()

    def unbound(quads, bound):
        assert not len(bound.constants(3)) and not len(bound.buffer(9)) and bound.texture(1) is None
        at = np.zeros((*quads.x.shape, 2), np.float32)
        return PixelResults(bound.sample(1, 1, at))

    scene.shade(unbound)
    scene.context.clear_render_target_view(scene.target, (1, 1, 1, 1))
    scene.draw(WHOLE)
    assert not scene.image().any()


@pytest.mark.plan("host-8")
@pytest.mark.parametrize(
    ("form", "values", "octets"),
    [
        (RGBA8, (0.5, 2, -1, np.nan), (128, 255, 0, 0)),
        (Format.R8G8_SNORM, (-2, 0.5, 0, 0), (0x81, 64)),
        (Format.B5G6R5_UNORM, (1, 0, 0.5, 0), (0x10, 0xF8)),
        (Format.R16_FLOAT, (1.5, 0, 0, 0), (0x00, 0x3E)),
        (Format.R10G10B10A2_UNORM, (1, 0, 0, 1), (0xFF, 0x03, 0x00, 0xC0)),
    ],
)
def test_colours_become_bytes(form, values, octets):
    assert encode(np.array([values], np.float32), form).tolist() == [list(octets)]


@pytest.mark.plan("host-8")
def test_integers_become_bytes():
    values = np.array([[300, 0xFFFFFF00, 5, 0]], np.uint32)
    assert encode(values, Format.R8G8B8A8_UINT).tolist() == [[255, 255, 5, 0]]
    assert encode(values, Format.R8G8_SINT).tolist() == [[127, 0x80]]


@pytest.mark.plan("host-8")
def test_textures_of_every_dimension_are_read():
    """1D, 3D, multisampled textures and buffers with a format, in one shader."""
    scene = Scene(width=8, height=8)
    host, context = scene.device, scene.context
    line = host.create_texture1d(Format.R8_UNORM, 8, 1, data=[np.arange(8, dtype=np.uint8)])
    block = np.arange(64, dtype=np.uint8).reshape(4, 4, 4)
    volume = host.create_texture3d(Format.R8_UINT, 4, 4, 4, 1, data=[block])
    samples = host.create_texture2d(RGBA8, 8, 8, 1, 1, 4, DRAWN | READ)
    numbers = host.create_buffer(bind=READ, data=np.arange(64, dtype="<u2"))
    context.clear_render_target_view(host.create_render_target_view(samples), (0, 0, 1, 0))
    views = [host.create_shader_resource_view(t) for t in (line, volume, samples)]
    views.append(host.create_shader_resource_view(numbers, Format.R16_UINT))
    context.ps.set_shader_resources(0, views)
    context.ps.set_samplers(0, [SamplerState("point", "point", "point")])

    def read(quads, bound):
        u = ((quads.x + 0.5) / 8).astype(np.float32)[..., None]
        red = bound.sample(0, 0, u, lod=0)[..., 0]
        place = np.stack([quads.x % 4, quads.y % 4, quads.x // 4 + quads.y // 4], -1)
        green = bound.fetch(1, place)[..., 0] / np.float32(255)
        blue = bound.fetch(2, np.stack([quads.x, quads.y], -1), sample=3)[..., 2]
        alpha = bound.fetch(3, quads.y * 8 + quads.x)[..., 0] / np.float32(255)
        assert bound.fetch(9, place).shape == place.shape[:-1] + (4,)
        return PixelResults(np.stack([red, green, blue, alpha], -1).astype(np.float32))

    scene.shade(read)
    scene.draw(WHOLE)
    y, x = np.mgrid[:8, :8]
    image = scene.image()[:, :, 0]
    assert (image[..., 0] == x).all()
    assert (image[..., 1] == block[x // 4 + y // 4, y % 4, x % 4]).all()
    assert (image[..., 2] == 255).all()
    assert (image[..., 3] == 8 * y + x).all()


@pytest.mark.plan("host-8")
def test_a_shadow_map_is_compared_gathered_and_its_levels_told():
    scene = Scene(width=8, height=8, depth=Format.D32_FLOAT)
    host, context = scene.device, scene.context
    shadow = host.create_texture2d(Format.R32_TYPELESS, 8, 8, 1, 1, 1, Bind.DEPTH_STENCIL | READ)
    drawn = host.create_depth_stencil_view(shadow, Format.D32_FLOAT)
    context.om.set_render_targets([], drawn)
    context.clear_depth_stencil_view(drawn, 1.0)
    context.ps.set_shader(None)
    scene.draw(LEFT, z=0.25)
    context.om.set_render_targets([scene.target], scene.depth)
    context.ps.set_shader_resources(0, [host.create_shader_resource_view(shadow, Format.R32_FLOAT)])
    context.ps.set_samplers(
        0, [SamplerState(reduction="comparison", comparison_func=Compare.LESS_EQUAL)]
    )

    def lit(quads, bound):
        at = (np.stack([quads.x + 0.5, quads.y + 0.5], -1) / 8).astype(np.float32)
        light = bound.sample_compare(0, 0, at, np.float32(0.5))
        four = bound.gather(0, 0, at, reference=np.float32(0.5))
        level = bound.level_of_detail(0, 0, at)[..., 1]
        return PixelResults(np.stack([light, four[..., 2], level + 0.5, light], -1))

    scene.shade(lit)
    scene.draw(WHOLE, z=0.0)
    image = scene.image()[:, :, 0]
    assert (image[:, :4, 0] == 0).all() and (image[:, 4:, 0] == 255).all()
    assert (image[:, :3, 1] == 0).all() and (image[:, 3:, 1] == 255).all()
    assert (image[..., 2] == 128).all()


@pytest.mark.plan("host-8")
def test_the_least_level_of_a_texture_holds_for_what_is_drawn_next():
    scene = Scene(width=8, height=8)
    host, context = scene.device, scene.context
    levels = [np.full((8 >> n, 8 >> n, 4), 40 * (n + 1), np.uint8) for n in range(4)]
    texture = host.create_texture2d(RGBA8, 8, 8, 4, data=levels)
    view = host.create_shader_resource_view(texture, first_level=1)
    context.ps.set_shader_resources(0, [view])
    context.om.set_render_targets([scene.target])

    def textured(quads, bound):
        at = np.zeros((*quads.x.shape, 2), np.float32)
        return PixelResults(bound.sample(0, 0, at, lod=0))

    scene.shade(textured)
    for least, value in ((0, 80), (1.5, 100), (3, 160), (3.1, 0), (1e9, 0), (0.5, 80)):
        context.set_resource_min_lod(texture, least)
        scene.draw(WHOLE)
        assert (scene.image() == value).all(), least
    with pytest.raises(InputError, match="min_lod must be at least 0, not -1"):
        context.set_resource_min_lod(texture, -1.0)
    with pytest.raises(InputError, match="texture must be bound to be read"):
        context.set_resource_min_lod(scene.colours, 1.0)
