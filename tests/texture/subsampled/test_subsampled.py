# SPDX-License-Identifier: BSD-2-Clause
"""Formats of which two texels share their red and blue [fs 19.4]."""

import struct

import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.texture.cache.texture_cache import MortonPlaces, TextureCache
from fixfunc.models.texture.container import read
from fixfunc.models.texture.container.dds import write_dds
from fixfunc.models.texture.filtering.fetch import fetch
from fixfunc.models.texture.sampler import Sampler, Taps, sample
from fixfunc.models.texture.texture import create
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from tests.host.drawing import MEMORY, READ, WHOLE, Scene

FORMS = (Format.R8G8_B8G8_UNORM, Format.G8R8_G8B8_UNORM)
by_form = pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)


def noise(width, height, seed=0):
    """Bytes of a level: whole pairs of texels."""
    pairs = (width + 1) // 2
    return np.random.default_rng(seed).integers(0, 256, height * pairs * 4, np.uint8)


def pixels(form, octets, width, height):
    """Red, green, blue by the words of [fs 19.4]: the format's name tells the bytes."""
    first, second = form.name.removesuffix("_UNORM").split("_")
    letters = first.replace("8", "") + second.replace("8", "")
    rows = octets.reshape(height, -1, 4)
    out = np.zeros((height, width, 3), int)
    for y in range(height):
        for x in range(width):
            pair = rows[y, x // 2]
            greens = [n for n, letter in enumerate(letters) if letter == "G"]
            out[y, x] = pair[letters.index("R")], pair[greens[x % 2]], pair[letters.index("B")]
    return out


@by_form
@pytest.mark.plan("sampler-21")
@pytest.mark.parametrize("size", [(8, 5), (6, 3), (2, 1)])
def test_texels_have_their_own_green_and_the_pairs_red_and_blue(form, size):
    """Every level: also those of odd widths, whose last pair is not all there."""
    width, height = size
    sides = [(max(width >> n, 1), max(height >> n, 1)) for n in range(max(size).bit_length())]
    levels = [noise(*side, n) for n, side in enumerate(sides)]
    texture = create(form.name, *size, [level[None] for level in levels])
    for n, (wide, high) in enumerate(sides):
        y, x = np.mgrid[:high, :wide]
        found = fetch(texture, np.stack([x, y], -1), level=n)
        right = pixels(form, levels[n], wide, high)
        assert (found[..., :3] == (right / np.float32(255)).astype(np.float32)).all()
        assert (found[..., 3] == 1).all()
    outside = fetch(texture, np.array([(width, 0), (-1, 0), (0, height)]))
    assert (outside == (0, 0, 0, 1)).all()


@by_form
@pytest.mark.plan("sampler-21")
def test_they_are_filtered_behind_that(form):
    """As a texture of the pixels is, anywhere; by way of a cache, too."""
    size = 16, 8
    octets = noise(*size)
    texture = create(form.name, *size, [octets[None]])
    rgba = np.full((*size[::-1], 4), 255, np.uint8)
    rgba[..., :3] = pixels(form, octets, *size)
    plain = create("RGBA8", *size, [rgba.reshape(1, -1)])
    places = np.random.default_rng(3).uniform(-1, 2, (500, 2)).astype(np.float32)
    state = Sampler(address=("wrap", "clamp"))
    right = sample(plain, state, places, lod=0)
    assert (sample(texture, state, places, lod=0) == right).all()
    taps = Taps()
    sample(texture, state, places, lod=0, taps=taps)
    counters = TextureCache().read(MortonPlaces(texture), len(places), taps)
    assert (counters.blocks, counters.lines) == (8, 4)  # of 4 by 4 texels in 32 bytes


@by_form
@pytest.mark.plan("sampler-21")
def test_a_shader_reads_them_and_copies_are_of_pairs(form):
    scene = Scene(8, 4)
    device, context = scene.device, scene.context
    octets = noise(8, 4)
    texture = device.create_texture2d(form, 8, 4, data=[octets])
    context.ps.set_shader_resources(0, [device.create_shader_resource_view(texture)])
    scene.shade(lambda quads, bound: PixelResults(bound.fetch(0, np.stack([quads.x, quads.y], -1))))
    scene.draw(WHOLE)
    right = pixels(form, octets, 8, 4)
    assert (scene.image()[:, :, 0, :3] == right).all()
    copy = device.create_texture2d(form, 8, 4)
    context.copy_subresource_region(
        copy, (0, 0), texture, (0, 0), at=(4, 1, 0), box=(2, 1, 0, 6, 3, 1)
    )
    found = pixels(form, context.read(copy).reshape(-1), 8, 4)
    assert (found[1:3, 4:] == right[1:3, 2:6]).all()
    found[1:3, 4:] = 0
    assert not found.any()
    for arguments, text in (
        ({"box": (1, 0, 0, 3, 1, 1)}, "box along x must be a multiple of 2, not 1"),
        ({"box": (0, 0, 0, 3, 1, 1)}, "end of the box along x must be a multiple of 2, not 3"),
        (
            {"box": (0, 0, 0, 2, 1, 1), "at": (1, 0, 0)},
            "place along x must be a multiple of 2, not 1",
        ),
    ):
        with pytest.raises(InputError, match=text):
            context.copy_subresource_region(copy, (0, 0), texture, (0, 0), **arguments)
    context.update_subresource(copy, octets)
    assert (context.read(copy).reshape(-1) == octets).all()


@by_form
@pytest.mark.plan("sampler-21")
def test_smaller_levels_of_odd_widths_are_whole_pairs(form):
    device = Device(MEMORY)
    data = [noise(10 >> n, max(3 >> n, 1), n) for n in range(4)]
    texture = device.create_texture2d(form, 10, 3, 4, data=data)
    other = device.create_texture2d(form, 10, 3, 4)
    device.context.copy_resource(other, texture)
    for n, octets in enumerate(data):
        got = device.context.read(other, (n, 0))
        assert got.shape[1] == (max(10 >> n, 1) + 1) // 2
        assert (got.reshape(-1) == octets).all()


@by_form
@pytest.mark.plan("sampler-21")
def test_what_they_are_not_for(form):
    device = Device(MEMORY)
    with pytest.raises(InputError, match=r"size of blocks must be a multiple of 2 by 1, not \(7"):
        device.create_texture2d(form, 7, 4)
    for bind in (Bind.RENDER_TARGET, Bind.UNORDERED_ACCESS):
        with pytest.raises(InputError, match="have no blocks where bind is an output's"):
            device.create_texture2d(form, 8, 4, bind=bind)
    buffer = device.create_buffer(64, READ)
    with pytest.raises(InputError, match="be one that a buffer is read as"):
        device.create_shader_resource_view(buffer, form)
    texture = device.create_texture2d(form, 8, 4)
    for other in (Format.R8G8B8A8_UNORM, *set(FORMS) - {form}):
        with pytest.raises(InputError, match="format of the view must be one of"):
            device.create_shader_resource_view(texture, other)
        plain = device.create_texture2d(other, 8, 4)
        with pytest.raises(InputError, match="format of the target must be of"):
            device.context.copy_resource(plain, texture)


@by_form
@pytest.mark.plan("container-11")
def test_files_hold_them(form, tmp_path):
    """By DXGI's number, and by the words of D3D9, which names halves of 16 bits [fs 25.1.1]."""
    octets = noise(6, 2)
    texture = create(form.name, 6, 2, [octets[None]])
    path = tmp_path / "pairs.dds"
    write_dds(path, texture)
    assert int.from_bytes(path.read_bytes()[128:132], "little") == {"R": 68, "G": 69}[form.name[0]]
    code = {"R": b"GRGB", "G": b"RGBG"}[form.name[0]]
    head = struct.pack("<4s7I44x", b"DDS ", 124, 0x1007, 2, 6, 0, 0, 1)
    head += struct.pack("<2I4s5I", 32, 4, code, *(0,) * 5) + struct.pack("<5I", 0x1000, *(0,) * 4)
    old = tmp_path / "old.dds"
    old.write_bytes(head + octets.tobytes())
    for file in (path, old):
        got = read(file)
        assert got.format == form.name
        assert (got.image() == pixels(form, octets, 6, 2)).all()
