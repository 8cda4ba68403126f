# SPDX-License-Identifier: BSD-2-Clause
"""Coded targets: what lies in memory, and that nobody who reads them can tell."""

import numpy as np
import pytest

from fixfunc.models.frontend.state.pieces import encode as encoded
from fixfunc.models.frontend.state.pieces import piece
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import BlendState, RenderTargetBlend
from fixfunc.models.memory.coded_tiles import HEAD, CodedTiles
from fixfunc.models.memory.layout import Layout, texture_at
from fixfunc.models.output.colour_coder import encode
from fixfunc.models.output.display.display import Display
from fixfunc.models.output.transaction_elimination import TransactionElimination
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.descriptors import VIEW
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import BlendFactor, TileMode
from tests.host.drawing import MEMORY, READ, RGBA8, WHOLE, Scene, corners

TEXELS = {4: np.uint8, 8: np.uint16}


def slices(texel, samples, rows=3, columns=5, seed=0):
    """A slice in memory, and tiles of few colours, of noise, and of one."""
    memory = np.zeros(CodedTiles.bytes_of(rows, columns, texel), np.uint8)
    rng = np.random.default_rng(seed)
    tiles = rng.integers(0, 256, (rows, columns, 8, 8, texel)).astype(np.uint8)
    tiles[1] = rng.integers(0, 2, (columns, 8, 8, 1)) * 90
    tiles[2] = 17
    return memory, CodedTiles(memory, rows, columns, texel, samples), tiles


@pytest.mark.plan("coded-tiles-1")
@pytest.mark.parametrize("texel", [4, 8])
@pytest.mark.parametrize("samples", range(4))
def test_tiles_come_back_and_take_what_their_codes_say(texel, samples):
    memory, coded, tiles = slices(texel, samples)
    coded.write(tiles)
    assert (coded.read() == tiles).all()
    assert (coded.read(1, 2) == tiles[1:2]).all()
    wide = tiles.view(TEXELS[texel]).reshape(-1, 8, 8, 4)
    codes, data = encode(wide, samples)
    # What lies in memory, byte for byte: places, colour of the clear, table.
    count = 15
    end = count * 64 * texel
    assert (memory[:end].reshape(count, -1) == data).all()
    nibbles = memory[end + HEAD :]
    for n in range(count):
        assert nibbles[n // 2] >> 4 * (n % 2) & 15 == codes[n]
    assert (coded.sizes[0] == 64 * texel).all() and (coded.sizes[1:] < 32 * texel).all()
    # Some tiles alone.
    changed_tiles = tiles.copy()
    changed_tiles[1, 2] = 99
    changed = np.zeros((3, 5), bool)
    changed[1, 2] = True
    changed_tiles[2] = 0  # is not written
    coded.write(changed_tiles, changed)
    tiles[1, 2] = 99
    assert (coded.read() == tiles).all()


@pytest.mark.plan("coded-tiles-2")
@pytest.mark.parametrize("texel", [4, 8])
def test_a_clear_writes_the_table_alone(texel):
    memory, coded, tiles = slices(texel, 0)
    coded.write(tiles)
    before = memory[: 15 * 64 * texel].copy()
    colour = np.arange(1, texel + 1, dtype=np.uint8)
    coded.clear(colour)
    assert (memory[: 15 * 64 * texel] == before).all()
    assert (coded.read() == colour).all()
    assert (coded.codes == TileMode.CLEARED).all() and not coded.sizes.any()
    # Tiles of that colour are coded as cleared from now on.
    tiles[0, :3] = colour
    coded.write(tiles)
    assert (coded.codes[0] == [TileMode.CLEARED] * 3 + [TileMode.RAW] * 2).all()
    assert (coded.read() == tiles).all()


@pytest.mark.plan("coded-tiles-3")
def test_memory_that_cannot_be_a_tile_is_told():
    memory, coded, tiles = slices(4, 0)
    coded.write(tiles)
    table = 15 * 256 + HEAD
    memory[table + 3] = memory[table + 3] & 15 | 15 << 4  # tile 7
    with pytest.raises(InputError, match=r"tile \(2, 1\) of a coded target must have .*, not 15"):
        coded.read()
    with pytest.raises(InputError, match="code of a tile must be one of"):
        _ = coded.sizes
    memory[table : table + 8] = 0xFF
    scene = Scene()
    at = scene.colours.address
    scene.context.flush()
    scene.device.memory[at + 12 * 256 + HEAD] = 0x3F
    with pytest.raises(InputError, match=r"Context.read: tile \(0, 0\) of a coded target"):
        scene.image()


@pytest.mark.plan("coded-tiles-3")
def test_what_can_be_coded():
    view = {"form": RGBA8, "stored": RGBA8, "dimension": 2, "width": 8, "height": 8, "depth": 1}
    view |= {"levels": 1, "layers": 1, "level_count": 1, "layer_count": 1, "coded": 1}

    memory = np.zeros(4096, np.uint8)
    texture_at(memory, piece(encoded(VIEW, **view, tiled=1), VIEW))
    wrong = ({"tiled": 0}, {"stored": Format.R8_UNORM}, {"stored": Format.R32G32B32A32_FLOAT})
    for change in (*wrong, {"stored": Format.D16_UNORM}):
        fields = view | {"tiled": 1} | change
        with pytest.raises(InputError, match="texture must be tiled, of depths or of 4 or 8"):
            texture_at(memory, piece(encoded(VIEW, **fields), VIEW))
    assert Layout(Format.R16G16B16A16_FLOAT, 8, 8, tiled=True).codecs
    device = Device(MEMORY)
    kinds = {RGBA8: True, Format.R8_UNORM: False, Format.R16G16B16A16_SNORM: True}
    for form, coded in kinds.items():
        texture = device.create_texture2d(form, 8, 8, bind=Bind.RENDER_TARGET)
        assert texture.layout.coded == coded
    depths = {Format.D24_UNORM_S8_UINT: True, Format.D32_FLOAT: True, Format.D16_UNORM: False}
    depths |= {Format.R24G8_TYPELESS: True, Format.D32_FLOAT_S8X24_UINT: True}
    depths |= {Format.R32_TYPELESS: False}  # colours lie in it, too, with codes of their own
    for form, coded in depths.items():
        texture = device.create_texture2d(form, 8, 8, bind=Bind.DEPTH_STENCIL)
        assert texture.layout.coded == coded
    assert (
        not Device(MEMORY, coded=False)
        .create_texture2d(RGBA8, 8, 8, bind=Bind.RENDER_TARGET)
        .layout.coded
    )


# Nobody can tell.


def story(coded, samples, form):
    """Everything that touches a target, in turn: what it holds after each step."""
    rng = np.random.default_rng(samples)
    scene = Scene(width=40, height=24, samples=samples, coded=coded)
    host, context = scene.device, scene.context
    target = host.create_texture2d(form, 40, 24, 1, 2, samples, Bind.RENDER_TARGET | READ)
    views = [host.create_render_target_view(target, first_layer=n, layer_count=1) for n in (0, 1)]
    held = []

    def keep(resource, **more):
        held.append(context.read(resource, **more).copy())

    def ramp(quads, _bound):
        x, y = quads.x / np.float32(40), quads.y / np.float32(24)
        noise = (quads.x * 7 + quads.y * 13) % 5 / np.float32(5)
        return PixelResults(np.stack([x, y, noise, np.ones_like(x)], -1).astype(np.float32))

    for view, colour in zip(views, ((0.5, 0.25, 1, 1), (0, 1, 0, 0.5)), strict=True):
        context.clear_render_target_view(view, colour)
    keep(target)
    context.om.set_render_targets([views[0]])
    scene.draw(rng.uniform(-1.2, 1.2, (9, 2)), (1, 0, 0, 1))
    scene.shade(ramp)
    scene.draw(rng.uniform(-1.2, 1.2, (9, 2)))
    keep(target)
    # A copy of a layer, drawn on again.
    if samples == 1:
        context.copy_subresource_region(
            target, (0, 1), target, (0, 0), (8, 3, 0), (0, 0, 0, 30, 20, 1)
        )
    else:
        single = host.create_texture2d(form, 40, 24, 1, 1, 1, Bind.RENDER_TARGET)
        context.resolve_subresource(single, (0, 0), target, (0, 0))
        keep(single)
    keep(target, subresource=(0, 1))
    # Read by a shader, into the other target.
    context.om.set_render_targets([scene.target])
    context.ps.set_shader_resources(0, [host.create_shader_resource_view(target, layer_count=1)])

    def read(quads, bound):
        return PixelResults(bound.fetch(0, np.stack([quads.x, quads.y], -1)).astype(np.float32))

    scene.shade(read)
    scene.draw(WHOLE)
    held.append(scene.image())
    return held


@pytest.mark.plan("coded-tiles-4")
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("form", [RGBA8, Format.R16G16B16A16_FLOAT, Format.R10G10B10A2_UNORM])
def test_coded_targets_hold_what_others_hold(samples, form):
    plain, coded = (story(coded, samples, form) for coded in (False, True))
    assert len(plain) == len(coded) >= 4
    for expected, found in zip(plain, coded, strict=True):
        assert (expected == found).all()
    assert all(len(np.unique(expected)) > 1 for expected in plain)


@pytest.mark.plan("coded-tiles-4")
def test_levels_of_a_coded_target_are_made_and_sampled():
    found = []
    for coded in (False, True):
        scene = Scene(coded=coded)
        host, context = scene.device, scene.context
        target = host.create_texture2d(RGBA8, 32, 32, 0, bind=Bind.RENDER_TARGET | READ)
        noise = np.random.default_rng(0).integers(0, 256, (32, 32, 4), np.uint8)
        context.update_subresource(target, noise)
        context.generate_mips(host.create_shader_resource_view(target))
        found.append([context.read(target, (level, 0)) for level in range(6)])
        assert target.layout.coded == coded
    assert all((one == other).all() for one, other in zip(*found, strict=True))


@pytest.mark.plan("coded-tiles-5")
def test_a_coded_target_is_scanned_out_and_moves_only_what_changed():
    scene = Scene(width=64, height=24)
    scene.draw(np.array([(-1, -1), (-1, 1), (1, 0)]), (1, 0, 0, 1))
    image = scene.image()[:, :, 0]
    view = piece(scene.target.encode(), VIEW)
    assert (Display(scene.device.memory, [view]).frame() == image[..., :3]).all()
    elimination = TransactionElimination(scene.device.memory, view)
    layout, data = texture_at(scene.device.memory, view)
    tiles = layout.coded_tiles(data, 0).read()
    elimination.write(tiles)
    first = elimination.moved
    assert 0 < first < tiles.size / 4
    tiles[1, 2, 3, 4] = 7
    changed = elimination.write(tiles)
    assert changed.sum() == 1 and changed[1, 2]
    assert elimination.moved - first <= 256
    assert (layout.coded_tiles(data, 0).read() == tiles).all()


@pytest.mark.plan("coded-tiles-6")
@pytest.mark.parametrize(
    ("blends", "write_mask", "read", "written"),
    [
        (False, 15, 0, 64),  # tiles that are written as a whole are not read
        (True, 15, 64, 64),
        (False, 7, 64, 64),
        (True, 0, 0, 0),
    ],
)
def test_bytes_of_colours_are_counted(blends, write_mask, read, written):
    """64 tiles of one colour, a transfer each: drawn on what has been cleared, and again."""
    scene = Scene(width=64, height=64)
    scene.bind(corners(WHOLE, (1, 0, 0, 1)))
    scene.context.draw(3)
    scene.context.flush()
    counters = scene.device.machine.totals
    assert counters["colour_bytes_read"] == 0
    assert counters["colour_bytes_written"] == 64 * 32
    scene.context.om.set_render_targets([scene.target])
    blend = RenderTargetBlend(blends, BlendFactor.ONE, BlendFactor.ONE, write_mask=write_mask)
    scene.context.om.set_blend_state(BlendState((blend,)))
    scene.context.draw(3)
    scene.context.flush()
    assert counters["colour_bytes_read"] == 32 * read
    assert counters["colour_bytes_written"] == 32 * (64 + written)
    assert counters["colour_fill_1"] == read
    assert counters["colour_write_back_1"] == 64 + written
    assert counters["colour_table_write_back"] == 1
