# SPDX-License-Identifier: BSD-2-Clause
"""Textures, and typed buffers, for unordered access [fs 5.3.9, 22.4.8-22.4.9]."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.machine.shaders import ComputeShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.errors import InputError
from tests.host.drawing import DRAWN, LEFT, MEMORY, READ, RED, WHOLE, Scene
from tests.oracles.naive_frame import formats

WRITTEN = Bind.UNORDERED_ACCESS
THREADS = 64
SIZES = {1: (13,), 2: (13, 10), 3: (13, 10, 6)}  # texels of level 0
# Of every kind; 11- and 10-bit floats and SINT have tests of their own.
STORED = (
    *(Format.R8_UNORM, Format.R8G8_SNORM, Format.R8G8B8A8_UNORM, Format.B8G8R8A8_UNORM),
    *(Format.R16_UNORM, Format.R16G16B16A16_SNORM, Format.R10G10B10A2_UNORM, Format.B5G6R5_UNORM),
    *(Format.R16_FLOAT, Format.R16G16B16A16_FLOAT, Format.R32_FLOAT, Format.R32G32_FLOAT),
    *(Format.R32G32B32A32_FLOAT, Format.R8G8B8A8_UINT, Format.R32_UINT, Format.R10G10B10A2_UINT),
)


def by_name(value):
    return getattr(value, "name", None)


def create(device, form, axes, bind=WRITTEN, levels=2, layers=1, **more):
    """A texture of one, two or three axes."""
    make = getattr(device, f"create_texture{axes}d")
    more |= {} if axes == 3 else {"array_size": layers}
    return make(form, *SIZES[axes], levels, bind=bind, **more)


def run(device, function, threads=THREADS, groups=1):
    """Run thread groups."""
    shader = device.create_compute_shader(ComputeShader(function, (threads, 1, 1)))
    device.context.cs.set_shader(shader)
    device.context.dispatch(groups)


def values_of(rng, form, count):
    """A shader's colours."""
    if form.name.endswith("UINT"):
        return rng.integers(0, 1 << rng.integers(4, 33), (count, 4)).astype(np.uint32)
    return rng.uniform(-1.5, 1.5, (count, 4)).astype(np.float32)


def texel_of(form, values):
    """Bytes of a texel of a shader's values."""
    return formats.texel(form, formats.to_store(form, formats.source(form, values.tolist())))


@pytest.mark.plan("host-24")
@pytest.mark.parametrize("bind", [WRITTEN, WRITTEN | DRAWN], ids=["rows", "tiles"])
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("form", STORED, ids=by_name)
def test_texels_are_stored_in_the_order_of_lanes(form, axes, bind):
    """Some lanes off, some outside of the view on every side, some to one texel."""
    rng = np.random.default_rng([form, axes])
    device = Device(MEMORY)
    layers = 1 if axes == 3 else 4
    texture = create(device, form, axes, bind, layers=layers)
    level = 1
    size = [max(side >> level, 1) for side in SIZES[axes]]
    part = {"first_level": level, "first_layer": 1, "layer_count": 2}
    view = device.create_unordered_access_view(texture, **part)
    limits = [*size[:2], 2] if axes == 3 else [*size, 2]
    places = np.stack([rng.integers(-2, side + 2, THREADS) for side in limits], -1)
    values = values_of(rng, form, THREADS)
    mask = rng.random(THREADS) < 0.8

    def store(waves, bound):
        lanes = waves.index
        where = places[lanes]
        inner = where if axes == 3 else where[..., :axes]
        layer = 0 if axes == 3 else where[..., axes]
        bound.store(2, waves.mask & mask[lanes], inner, values[lanes], layer)

    device.context.cs.set_unordered_access_views(2, [view])
    run(device, store)
    expected = {}
    for lane in np.flatnonzero(mask):
        if all(0 <= at < side for at, side in zip(places[lane], limits, strict=True)):
            expected[tuple(places[lane].tolist())] = texel_of(form, values[lane])
    assert expected
    for layer in range(layers if axes < 3 else 1):
        for n in range(2):
            found = device.context.read(texture, (n, layer))
            slices = found if axes == 3 else found[None]
            for z, image in enumerate(slices):
                slot = (z if axes == 3 else layer) - 1
                for y, x in np.ndindex(image.shape[:2]):
                    place = (x, y, slot) if axes > 1 else (x, slot)
                    right = expected.get(place) if n == level else None
                    assert image[y, x, 0].tobytes() == (right or bytes(FORMATS[form].bytes)), place


@pytest.mark.plan("host-24")
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("form", [Format.R32_FLOAT, Format.R32_UINT, Format.R32_SINT], ids=by_name)
def test_texels_are_loaded_bit_for_bit(form, axes):
    """Also what the same work has stored; outside of the view 0, 0, 0, 1."""
    rng = np.random.default_rng([form, axes])
    device = Device(MEMORY)
    kind = {"FLOAT": "<f4", "UINT": "<u4", "SINT": "<i4"}[form.name[4:]]
    size = SIZES[axes]
    octets = rng.integers(0, 256, 4 * int(np.prod(size)), np.uint8)
    texture = create(device, form, axes, levels=1, data=[octets])
    view = device.create_unordered_access_view(texture)
    held = octets.view(kind).reshape(size[::-1]).copy()
    places = np.stack([rng.integers(-1, side + 1, THREADS) for side in size], -1)
    found = []

    def swap(waves, bound):
        mine = places[waves.index]
        before = bound.load(0, mine)
        found.append(before)
        first = waves.mask & (waves.index == 0)
        bound.store(0, first, np.zeros_like(mine), np.full((*mine.shape[:-1], 4), 5, kind))
        found.append(bound.load(0, np.zeros_like(mine)))

    device.context.cs.set_unordered_access_views(0, [view])
    run(device, swap, 32)
    for place, got in zip(places[:32].tolist(), found[0][0], strict=True):
        inside = all(0 <= at < side for at, side in zip(place, size, strict=True))
        right = held[tuple(place[::-1])] if inside else held.dtype.type(0)
        assert got[0].tobytes() == right.tobytes()
        assert got[1:].tolist() == [0, 0, 1]
    assert found[1].dtype == np.dtype(kind)
    assert (found[1][..., 0] == 5).all()


@pytest.mark.plan("host-24")
def test_integers_and_small_floats_are_cut_to_their_range():
    """[fs 3.2.3.13, 3.2.2]"""
    device = Device(MEMORY)
    signed = device.create_texture1d(Format.R8G8_SINT, 4, bind=WRITTEN)
    small = device.create_texture1d(Format.R11G11B10_FLOAT, 4, bind=WRITTEN)
    views = [device.create_unordered_access_view(texture) for texture in (signed, small)]
    device.context.cs.set_unordered_access_views(0, views)
    whole = np.array([(-129, 128, 0, 0), (-1, 127, 0, 0)] * 2, np.int32)
    floats = np.array([(1, 2, 0.5, 9), (-1, 1e9, 0, 0)] * 2, np.float32)

    def store(waves, bound):
        places = (waves.index % 4)[..., None]
        bound.store(0, waves.mask, places, whole[waves.index % 4])
        bound.store(1, waves.mask, places, floats[waves.index % 4])

    run(device, store, 4)
    read = device.context.read
    assert read(signed).view(np.int8).reshape(4, 2)[:2].tolist() == [[-128, 127], [-1, 127]]
    one, two = read(small).copy().view("<u4").reshape(4)[:2].tolist()
    assert one == 15 << 6 | (16 << 6) << 11 | (14 << 5) << 22
    assert two == 0x7BF << 11


@pytest.mark.plan("host-24")
def test_pixels_store_in_the_order_of_drawing():
    """The second of two triangles over all pixels counts; helper pixels do not."""
    scene = Scene()
    device, context = scene.device, scene.context
    texture = device.create_texture2d(Format.R8G8B8A8_UNORM, 32, 24, bind=WRITTEN | READ)
    view = device.create_unordered_access_view(texture)
    read = device.create_shader_resource_view(texture)

    def show(quads, bound):
        return PixelResults(bound.fetch(0, np.stack([quads.x, quads.y], -1)))

    def store(quads, bound):
        bound.store(1, quads.live, np.stack([quads.x, quads.y], -1), quads.floats(0))
        return PixelResults(quads.floats(0))

    context.ps.set_shader_resources(0, [read])
    scene.shade(show)
    scene.draw(WHOLE, z=0.9)
    context.ps.set_shader_resources(0, [None])
    context.ps.set_unordered_access_views(1, [view])
    scene.shade(store, unordered=True)
    scene.draw(WHOLE, (0, 0, 1, 1), z=0.75)
    scene.draw(LEFT, RED, z=0.5)
    # The next draw reads it; nothing comes between that would have it read anew.
    context.ps.set_unordered_access_views(1, [None])
    context.ps.set_shader_resources(0, [read])
    scene.shade(show)
    scene.draw(WHOLE, z=0.25)
    image = context.read(texture)[:, :, 0]
    assert (image[:, :16] == (255, 0, 0, 255)).all()
    assert (image[:, 16:] == (0, 0, 255, 255)).all()
    assert (scene.image()[:, :, 0] == image).all()


@pytest.mark.plan("host-24")
@pytest.mark.parametrize("tiled", [False, True])
def test_what_is_written_is_sampled_and_drawn_by_turns(tiled):
    """A texture that is read, written, read, and drawn to: each sees what came before."""
    scene = Scene(4, 4)
    device, context = scene.device, scene.context
    bind = WRITTEN | READ | (DRAWN if tiled else Bind(0))
    texture = device.create_texture2d(Format.R8G8B8A8_UNORM, 4, 4, bind=bind)
    stored = device.create_unordered_access_view(texture)
    read = device.create_shader_resource_view(texture)
    scene.shade(lambda quads, bound: PixelResults(bound.fetch(0, np.stack([quads.x, quads.y], -1))))
    context.om.set_render_targets([scene.target])
    for value in (0, 51, 102):
        if value:

            def store(waves, bound, share=value / 255):
                places = np.stack([waves.index % 4, waves.index // 4], -1)
                colour = np.full((*places.shape[:-1], 4), share, np.float32)
                bound.store(0, waves.mask, places, colour)

            context.ps.set_shader_resources(0, [None])
            context.cs.set_unordered_access_views(0, [stored])
            run(device, store, 16)
            context.cs.set_unordered_access_views(0, [None])
        context.ps.set_shader_resources(0, [read])
        scene.draw(WHOLE)
        assert (scene.image() == value).all()


@pytest.mark.plan("host-24")
def test_colours_are_edited_in_place_as_words():
    """[fs 5.3.9.5]: R32 views of typeless textures are loaded and stored without conversion."""
    device = Device(MEMORY)
    octets = np.arange(64, dtype=np.uint8)
    texture = device.create_texture2d(
        Format.R8G8B8A8_TYPELESS, 4, 4, bind=WRITTEN | READ, data=[octets]
    )
    view = device.create_unordered_access_view(texture, Format.R32_UINT)
    device.create_shader_resource_view(texture, Format.R8G8B8A8_UNORM_SRGB)
    device.context.cs.set_unordered_access_views(0, [view])

    def invert(waves, bound):
        places = np.stack([waves.index % 4, waves.index // 4], -1)
        bound.store(0, waves.mask, places, ~bound.load(0, places))

    run(device, invert, 16)
    assert (device.context.read(texture).reshape(-1) == 255 - octets).all()


@pytest.mark.plan("host-24")
@pytest.mark.parametrize(
    ("form", "as_form", "text"),
    [
        (Format.R8G8B8A8_UNORM_SRGB, None, "be one that is drawn to, and not sRGB"),
        (Format.R8G8B8A8_TYPELESS, Format.R8G8B8A8_UNORM_SRGB, "and not sRGB"),
        (Format.R9G9B9E5_SHAREDEXP, None, "be one that is drawn to, and not sRGB"),
        (Format.R8G8B8A8_UNORM, Format.R32_UINT, "format of the view must be"),
        (Format.R11G11B10_FLOAT, Format.R32_UINT, "format of the view must be"),
        (Format.R16G16B16A16_TYPELESS, Format.R32_UINT, "format of the view must be"),
        (Format.R8G8B8A8_TYPELESS, None, "format of the view must have a type"),
    ],
    ids=by_name,
)
def test_formats_that_are_not_stored(form, as_form, text):
    """[fs 5.3.9.2, 5.3.9.5]"""
    device = Device(MEMORY)
    texture = device.create_texture2d(form, 4, 4, bind=WRITTEN)
    with pytest.raises(InputError, match=text):
        device.create_unordered_access_view(texture, as_form)


@pytest.mark.plan("host-24")
@pytest.mark.parametrize("form", STORED, ids=by_name)
def test_formats_of_32_bits_alone_are_loaded(form):
    """[fs 5.3.9.5, 22.4.8]"""
    device = Device(MEMORY)
    texture = device.create_texture1d(form, 4, bind=WRITTEN)
    device.context.cs.set_unordered_access_views(0, [device.create_unordered_access_view(texture)])

    def load(waves, bound):
        bound.load(0, waves.index[..., None])

    if form in (Format.R32_FLOAT, Format.R32_UINT):
        run(device, load, 4)
        return
    with pytest.raises(InputError, match="be one of R32_FLOAT, R32_UINT, R32_SINT to be loaded"):
        run(device, load, 4)


@pytest.mark.plan("host-24")
def test_views_of_textures_that_break_a_rule():
    device = Device(MEMORY)
    flat = device.create_texture2d(Format.R32_UINT, 8, 8, 3, 2, bind=WRITTEN)
    cube = device.create_texture2d(Format.R32_UINT, 8, 8, 1, 6, bind=WRITTEN, cube=True)
    read = device.create_texture2d(Format.R32_UINT, 8, 8)
    create = device.create_unordered_access_view
    for call, text in (
        (lambda: create(flat, level_count=2), "level_count must lie in 1..1, not 2"),
        (lambda: create(flat, first_level=3), "first_level must lie in 0..2, not 3"),
        (lambda: create(flat, first_layer=1, layer_count=2), "layer_count must lie in 1..1"),
        (lambda: create(cube, cube=True), "cube must be off for UNORDERED_ACCESS"),
        (lambda: create(read), "bind of the resource must include UNORDERED_ACCESS"),
        (
            lambda: device.create_texture2d(Format.BC1_UNORM, 8, 8, bind=WRITTEN),
            "have no blocks where bind is an output's",
        ),
        (
            lambda: device.create_texture2d(
                Format.R32_UINT, 8, 8, sample_count=4, bind=WRITTEN | DRAWN
            ),
            "bind must not be UNORDERED_ACCESS of samples or depths",
        ),
    ):
        with pytest.raises(InputError, match=text):
            call()
    assert create(cube).layer_count == 6


@pytest.mark.plan("host-24")
def test_what_a_shader_may_not_do_with_texels():
    device = Device(MEMORY)
    texture = device.create_texture2d(Format.R32_UINT, 8, 8, bind=WRITTEN)
    view = device.create_unordered_access_view(texture)
    device.context.cs.set_unordered_access_views(0, [view])
    lanes = np.ones(4, bool)
    places = np.zeros((4, 2), np.int32)
    words = np.zeros((4, 4), np.uint32)
    for call, text in (
        (lambda b: b.store(0, lanes, places, words.astype(np.float32)), "values must be uint32"),
        (lambda b: b.store(0, lanes, places, words[:, :3]), "values must be uint32 of shape"),
        (lambda b: b.store(0, lanes, places[:, :1], words), "places must be integers of shape"),
        (lambda b: b.store(0, lanes, places + 0.5, words), "places must be integers of shape"),
        (lambda b: b.store(0, [True] * 4, places, words), "mask must be an array of bool"),
        (lambda b: b.load(0, places[:, :1]), "places must be integers of shape"),
        (lambda b: b.unordered(0), "view must be of a buffer to have bytes"),
        (lambda b: b.append(0, lanes, words), "flag of the view must be APPEND"),
    ):
        with pytest.raises(InputError, match=text):
            run(device, lambda _waves, bound, call=call: call(bound), 4)
    assert not device.context.read(texture).any()


@pytest.mark.plan("host-24")
def test_nothing_is_stored_without_a_view():
    device = Device(MEMORY)
    found = []

    def both(waves, bound):
        places = np.stack([waves.index] * 2, -1)
        bound.store(3, waves.mask, places, np.ones((*places.shape[:-1], 4), np.float32))
        found.append(bound.load(3, places))

    run(device, both, 4)
    assert not found[0].any()


@pytest.mark.plan("host-24")
def test_elements_of_typed_buffers():
    device = Device(MEMORY)
    buffer = device.create_buffer(64, WRITTEN | READ)
    part = {"first": 8, "size": 24}
    halves = device.create_unordered_access_view(buffer, Format.R16G16_UNORM, **part)
    device.context.cs.set_unordered_access_views(0, [halves])
    shares = np.linspace(0, 1, 8, dtype=np.float32)

    def store(waves, bound):
        colour = np.repeat(shares[waves.index % 8][..., None], 4, -1)
        bound.store(0, waves.mask, waves.index.astype(np.int64) - 1, colour)

    run(device, store, 8)
    got = device.context.read(buffer).view("<u2").reshape(-1, 2)
    right = [floor(Fraction(float(share)) * 65535 + Fraction(1, 2)) for share in shares]
    assert got.tolist() == [[0, 0]] * 2 + [[v, v] for v in right[1:7]] + [[0, 0]] * 8
    with pytest.raises(InputError, match="be one that is drawn to, and not sRGB"):
        device.create_unordered_access_view(buffer, Format.R8G8B8A8_UNORM_SRGB)
