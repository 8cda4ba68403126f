# SPDX-License-Identifier: BSD-2-Clause
"""Texels that shaders read go through the texture cache, and are counted."""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import SamplerState
from fixfunc.models.machine.shaders import ComputeShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.texture.cache.texture_cache import CacheShape
from fixfunc.spec.dxgi import Format
from tests.host.drawing import DRAWN, LEFT, MEMORY, READ, RED, WHOLE, Scene, picture

RGBA8 = Format.R8G8B8A8_UNORM
DEPTHS = Bind.DEPTH_STENCIL
COUNTED = ("taps", "hits", "misses", "lines", "bytes")


def counted(device):
    """Counters of reads."""
    return tuple(device.machine.totals[f"texture_{name}"] for name in COUNTED)


def fetch_all(device, view, places, **how):
    """Fetch texels by a thread group, in their order."""

    device.context.cs.set_shader_resources(0, [view])
    run(device, lambda _waves, bound: bound.fetch(0, places, **how))


def run(device, function):
    """Run a thread group."""
    device.context.cs.set_shader(device.create_compute_shader(ComputeShader(function)))
    device.context.dispatch(1)


def grid(*sides):
    """Places of all texels, x fastest."""
    return np.stack(np.indices(sides[::-1])[::-1], -1).reshape(-1, len(sides))


def expected(texels, blocks, turns, octets):
    """Counters of texels of blocks, each of which is entered so often, of so many bytes."""
    lines = -(-octets // 64)
    return texels, turns * blocks - blocks, blocks, lines, 64 * lines


@pytest.mark.plan("machine-7")
@pytest.mark.parametrize(
    ("form", "blocks", "octets"),
    [
        (RGBA8, 12, 12 * 16 * 4),
        (Format.R8G8B8A8_UNORM_SRGB, 12, 12 * 16 * 4),
        (Format.R8_UNORM, 12, 12 * 16),
        (Format.R32G32B32A32_FLOAT, 12, 12 * 16 * 16),
        (Format.BC1_UNORM, 12, 12 * 8),
        (Format.BC7_UNORM, 12, 12 * 16),
        (Format.R8G8_B8G8_UNORM, 12, 12 * 16 * 2),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_every_texel_once_in_rows(form, blocks, octets):
    """16 by 12 texels row by row: each block is entered four times, and all of memory is read."""
    device = Device(MEMORY)
    view = device.create_shader_resource_view(device.create_texture2d(form, 16, 12))
    fetch_all(device, view, grid(16, 12))
    assert counted(device) == expected(192, blocks, 4, octets)
    assert device.machine.totals["cs_invocations"] == 32


@pytest.mark.plan("machine-7")
def test_levels_layers_and_slices_lie_apart():
    device = Device(MEMORY)
    texture = device.create_texture2d(RGBA8, 16, 16, mip_levels=3, array_size=4)
    part = {"first_level": 1, "level_count": 2, "first_layer": 1, "layer_count": 2}
    view = device.create_shader_resource_view(texture, **part)
    places = grid(4, 4)
    both = np.repeat([0, 1], 16)
    fetch_all(device, view, np.tile(places, (2, 1)), layer=both, level=1)
    # A level of 4 by 4 is a line, and each begins anew.
    assert counted(device) == expected(32, 2, 1, 2 * 64)
    other = Device(MEMORY)
    volume = other.create_texture3d(RGBA8, 8, 8, 3)
    fetch_all(other, other.create_shader_resource_view(volume), grid(8, 8, 3))
    assert counted(other) == expected(192, 12, 4, 3 * 8 * 8 * 4)


@pytest.mark.plan("machine-7")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
@pytest.mark.parametrize(
    ("form", "octets"), [(Format.R24_UNORM_X8_TYPELESS, 4), (Format.X24_TYPELESS_G8_UINT, 1)]
)
def test_depths_and_stencil_values_are_read_from_their_plane(form, octets, samples):
    """All samples of a tile: of depths four lines, of stencil values one."""
    device = Device(MEMORY, coded=False)
    bind = DEPTHS | READ
    texture = device.create_texture2d(Format.R24G8_TYPELESS, 8, 8, sample_count=samples, bind=bind)
    view = device.create_shader_resource_view(texture, form)
    places = np.repeat(grid(8, 8), samples, 0)
    fetch_all(device, view, places, sample=np.tile(np.arange(samples), 64))
    assert counted(device)[3] == samples * octets
    assert counted(device)[0] == 64 * samples
    assert counted(device)[2] == 4 * samples


@pytest.mark.plan("machine-7")
def test_of_coded_tiles_the_codes_are_read():
    """Of a cleared tile nothing is read, of one colour with another half of a line."""
    scene = Scene(width=16, height=8)
    device, context = scene.device, scene.context
    texture = device.create_texture2d(RGBA8, 16, 8, bind=DRAWN | READ)
    target = device.create_render_target_view(texture)
    context.clear_render_target_view(target, (0, 0, 0, 0))
    view = device.create_shader_resource_view(texture)
    fetch_all(device, view, grid(16, 8))
    assert counted(device)[2:] == (8, 0, 0)
    context.om.set_render_targets([target])
    scene.draw(LEFT, RED)
    context.om.set_render_targets([])
    before = counted(device)
    fetch_all(device, view, grid(16, 8))
    grown = tuple(after - first for after, first in zip(counted(device), before, strict=True))
    assert grown[2:] == (8, 1, 64)


@pytest.mark.plan("machine-7")
def test_elements_of_a_buffer_lie_in_a_row():
    """Four to a block; what lies beyond its end is not read."""
    device = Device(MEMORY)
    buffer = device.create_buffer(40 * 4, READ)
    view = device.create_shader_resource_view(buffer, Format.R32_UINT)
    fetch_all(device, view, np.arange(-3, 60))
    assert counted(device) == expected(40, 10, 1, 40 * 4)


@pytest.mark.plan("machine-7")
def test_what_is_not_there_is_not_read():
    """No resource, places beyond the texture, levels below the least one, the border."""
    device = Device(MEMORY)
    fetch_all(device, None, grid(4, 4))
    texture = device.create_texture2d(RGBA8, 8, 8, 4)
    view = device.create_shader_resource_view(texture)
    fetch_all(device, view, grid(4, 4) + 8)
    fetch_all(device, view, grid(4, 4), level=4)
    device.context.set_resource_min_lod(texture, 3.5)
    state = SamplerState("point", "point", "point")
    device.context.cs.set_samplers(0, [state, replace(state, address_u="border")])

    def function(_waves, bound):
        bound.sample(0, 0, np.full((3, 2), 0.5, np.float32), lod=0)
        bound.gather(0, 0, np.full((3, 2), 0.5, np.float32))

    run(device, function)
    device.context.set_resource_min_lod(texture, 0)
    run(device, lambda _waves, bound: bound.sample(0, 1, np.float32([[2, 0.5]]), lod=0))
    assert counted(device) == (0,) * 5


@pytest.mark.plan("machine-7")
def test_every_kind_of_read_is_counted():
    """A filter of four texels, one that compares them, one that gathers them."""
    device = Device(MEMORY)
    texture = device.create_texture2d(Format.R32_FLOAT, 8, 8)
    view = device.create_shader_resource_view(texture)
    device.context.cs.set_shader_resources(0, [view])
    plain = SamplerState("linear", "linear", "point")
    compared = replace(plain, reduction="comparison")
    device.context.cs.set_samplers(0, [plain, compared])
    place = np.float32([[0.5, 0.5]])
    for read in (
        lambda bound: bound.sample(0, 0, place, lod=0),
        lambda bound: bound.sample_compare(0, 1, place, np.float32([0.5]), lod=0),
        lambda bound: bound.gather(0, 0, place),
    ):
        before = device.machine.totals["texture_taps"]
        run(device, lambda _waves, bound, read=read: read(bound))
        assert device.machine.totals["texture_taps"] == before + 4


@pytest.mark.plan("machine-7")
def test_what_has_been_drawn_is_read_anew():
    """Of two draws in a row the second finds all on chip; behind a clear it is read again."""
    scene = Scene(16, 16)
    device, context = scene.device, scene.context
    data = [picture(16, 16)]
    fixed = device.create_shader_resource_view(device.create_texture2d(RGBA8, 16, 16, data=data))
    context.ps.set_shader_resources(0, [fixed])
    scene.shade(_by_pixel)
    lines = []
    for z in (0.5, 0.4, 0.3):
        if z < 0.4:
            context.clear_render_target_view(scene.target, RED)
        scene.draw(WHOLE, z=z)
        lines.append(device.machine.totals["texture_lines"])
    assert lines == [16, 16, 32]


@pytest.mark.plan("machine-7")
def test_the_picture_is_the_same_with_any_cache_and_without_one():
    pictures = []
    for shape in (CacheShape(), CacheShape(bytes=64, ways=1, second=64, second_ways=1), None):
        scene = Scene(16, 16, texture_cache=shape)
        device = scene.device
        texture = device.create_texture2d(RGBA8, 16, 16, data=[picture(16, 16)])
        scene.context.ps.set_shader_resources(0, [device.create_shader_resource_view(texture)])
        scene.context.ps.set_samplers(0, [SamplerState("point", "point", "point")])
        scene.shade(_by_pixel)
        scene.draw(WHOLE)
        pictures.append(scene.image())
        if shape == CacheShape():
            assert counted(device)[0] == 256
            assert counted(device)[2:] == (16, 16, 1024)
        elif shape:
            assert counted(device)[2:] == (32, 4 * 32, 64 * 128)
        else:
            assert not any(name.startswith("texture_") for name in device.machine.totals)
    assert (pictures[0][:, :, 0] == picture(16, 16)).all()
    assert all((found == pictures[0]).all() for found in pictures)


def _by_pixel(quads, bound):
    """A texel a pixel."""
    places = (np.stack([quads.x, quads.y], -1) + 0.5).astype(np.float32) / np.float32(16)
    return PixelResults(bound.sample(0, 0, places, lod=0))
