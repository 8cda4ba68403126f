# SPDX-License-Identifier: BSD-2-Clause
"""What the specification allows is done, and what it does not is refused by the call itself."""

import itertools

import numpy as np
import pytest

from fixfunc.models.geometry.stream_output import Declaration, Entry
from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import BlendState, RasterizerState, RenderTargetBlend
from fixfunc.models.machine.shaders import GeometryShader, HullShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import FORMATS, Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import Cull, LogicOp
from tests.host.drawing import MEMORY, READ, RGBA8, WHOLE, Scene

INVERT = BlendState([RenderTargetBlend(logic_op_enable=True, logic_op=LogicOp.INVERT)])


def target_of(form):
    """A scene whose only target has a format."""
    scene = Scene(8, 8)
    texture = scene.device.create_texture2d(form, 8, 8, bind=Bind.RENDER_TARGET)
    scene.context.om.set_render_targets([scene.device.create_render_target_view(texture)])
    return scene, texture


@pytest.mark.plan("host-15")
@pytest.mark.parametrize(
    "form",
    [
        Format.R8G8B8A8_UNORM,
        Format.R8G8B8A8_UNORM_SRGB,
        Format.B5G6R5_UNORM,
        Format.R8G8B8A8_SNORM,
        Format.R16G16B16A16_FLOAT,
        Format.R8G8B8A8_SINT,
    ],
    ids=lambda form: form.name,
)
def test_logic_operations_are_refused_but_for_uint(form):
    """[fs 17.7.1]: supported only on renderable UINT formats."""
    scene, texture = target_of(form)
    dtype = np.int32 if form.name.endswith("SINT") else np.float32
    scene.shade(lambda quads, _bound: PixelResults(np.ones((*quads.x.shape, 4), dtype)))
    scene.context.om.set_blend_state(INVERT)
    with pytest.raises(InputError, match=f"logic operation must be off but for .* not {form.name}"):
        scene.draw(WHOLE)
    assert not scene.context.read(texture).any()


@pytest.mark.plan("host-15")
@pytest.mark.parametrize(
    "form", [Format.R8G8B8A8_UINT, Format.R16_UINT, Format.R10G10B10A2_UINT, Format.R32G32_UINT]
)
def test_logic_operations_of_uint(form):
    """[fs 17.7.1]: they must be supported for all renderable UINT formats."""
    scene, texture = target_of(form)
    scene.shade(lambda quads, _bound: PixelResults(np.zeros((*quads.x.shape, 4), np.uint32)))
    scene.context.om.set_blend_state(INVERT)
    scene.draw(WHOLE)
    assert (scene.context.read(texture) == 255).all()


@pytest.mark.plan("host-15")
@pytest.mark.parametrize(
    ("form", "part", "text"),
    [
        (Format.R32G32_FLOAT, {"first": 2}, "first must be a multiple of 8 bytes, not 2"),
        (Format.R32G32B32A32_FLOAT, {"first": 4}, "first must be a multiple of 16 bytes, not 4"),
        (Format.R16_UNORM, {"first": 1}, "first must be a multiple of 2 bytes, not 1"),
        (Format.R32G32B32_FLOAT, {"size": 16}, "size must be a multiple of 12 bytes, not 16"),
        (Format.R32G32B32A32_FLOAT, {"first": 64}, "buffer must hold an element of 16 bytes"),
        (None, {"first": 8}, "first must be a multiple of 16 bytes, not 8"),
        (None, {"size": 6}, "size must be a multiple of 4 bytes, not 6"),
        (Format.BC1_UNORM, {}, "must be one that a buffer is read as, not BC1_UNORM"),
        (Format.R32_TYPELESS, {}, "must be one that a buffer is read as, not R32_TYPELESS"),
        (Format.D24_UNORM_S8_UINT, {}, "must be one that a buffer is read as, not D24"),
    ],
)
def test_views_of_buffers_are_of_whole_elements(form, part, text):
    device = Device(MEMORY)
    buffer = device.create_buffer(70, READ)
    with pytest.raises(InputError, match=text):
        device.create_shader_resource_view(buffer, form, **part)


@pytest.mark.plan("host-15")
def test_views_of_structures_are_of_whole_ones():
    device = Device(MEMORY)
    buffer = device.create_buffer(60, READ | Bind.UNORDERED_ACCESS, stride=20)
    assert device.create_unordered_access_view(buffer, first=20).size == 40
    for part, text in (
        ({"first": 16}, "first must be a multiple of 20 bytes, not 16"),
        ({"size": 24}, "size must be a multiple of 20 bytes, not 24"),
        ({"form": Format.R32_UINT}, "must be UNKNOWN for a structured buffer, not R32_UINT"),
    ):
        with pytest.raises(InputError, match=text):
            device.create_unordered_access_view(buffer, **part)


@pytest.mark.plan("host-15")
def test_arguments_of_views_by_name_are_those_of_their_resource():
    device = Device(MEMORY)
    texture = device.create_texture2d(RGBA8, 8, 8, bind=READ | Bind.RENDER_TARGET)
    depths = device.create_texture2d(Format.D32_FLOAT, 8, 8, bind=Bind.DEPTH_STENCIL)
    buffer = device.create_buffer(64, READ | Bind.UNORDERED_ACCESS)
    for create, resource, part, text in (
        ("shader_resource", texture, {"first": 4}, "argument must be one of .*, not first"),
        ("shader_resource", texture, {"cube": "x"}, "cube must be a bool, not x"),
        ("shader_resource", texture, {"cube": np.zeros(3)}, "cube must be a bool, not ndarray"),
        ("shader_resource", texture, {"first_level": np.ones(2, int)}, "must be an integer"),
        ("shader_resource", buffer, {"first_level": 1}, "argument must be one of .*, not first_l"),
        ("render_target", texture, {"size": 4}, "argument must be one of .*, not size"),
        ("depth_stencil", depths, {"read_only": True}, "argument must be one of .*, not read_only"),
        ("unordered_access", buffer, {"cube": True}, "argument must be one of .*, not cube"),
        ("unordered_access", buffer, {"kind": READ}, "argument must be one of .*, not kind"),
        ("shader_resource", buffer, {"buffer": buffer}, "argument must be one of .*, not buffer"),
        ("render_target", texture, {"kind": READ}, "argument must be one of .*, not kind"),
        ("depth_stencil", depths, {"return": 1}, "argument must be one of .*, not return"),
    ):
        with pytest.raises(InputError, match=text):
            getattr(device, f"create_{create}_view")(resource, **part)


@pytest.mark.plan("host-15")
def test_an_array_is_neither_a_truth_nor_a_number():
    """One has ``__index__``, whatever its shape."""
    scene = Scene()
    several = np.ones(3, np.int64)
    for call, text in (
        (lambda: RasterizerState(wireframe=several), "wireframe must be a bool"),
        (lambda: RenderTargetBlend(blend_enable=several), "blend_enable must be a bool"),
        (lambda: scene.context.set_predication(None, several), "value must be a bool"),
        (lambda: scene.device.create_texture2d(RGBA8, 8, 8, cube=several), "cube must be a bool"),
        (lambda: scene.context.draw(several), "vertex_count must be an integer"),
        (lambda: scene.context.map(scene.colours, several), "map_type must be one of MapType"),
    ):
        with pytest.raises(InputError, match=text):
            call()


@pytest.mark.plan("host-16")
@pytest.mark.parametrize("bind", [READ, Bind.RENDER_TARGET])
@pytest.mark.parametrize("way", list(itertools.product((-3, 0, 2), repeat=2)))
def test_a_copy_within_a_level_is_as_by_one_aside(way, bind):
    """[fs 5.6.2.1]: the driver must handle overlapping copies; of rows and of tiles."""
    device = Device(MEMORY)
    texels = np.random.default_rng(1).integers(0, 256, (16, 16, 4), np.uint8)
    texture = device.create_texture2d(RGBA8, 16, 16, bind=bind, data=[texels])
    wide, high = way
    expected = texels.copy()
    expected[4 + high : 12 + high, 4 + wide : 12 + wide] = texels[4:12, 4:12]
    device.context.copy_subresource_region(
        texture, (0, 0), texture, (0, 0), (4 + wide, 4 + high, 0), (4, 4, 0, 12, 12, 1)
    )
    assert (device.context.read(texture)[:, :, 0] == expected).all()


@pytest.mark.plan("host-16")
def test_a_copy_within_a_volume_and_between_its_levels():
    device = Device(MEMORY)
    data = [np.random.default_rng(n).integers(0, 256, (8 >> n,) * 3, np.uint8) for n in range(2)]
    volume = device.create_texture3d(Format.R8_UNORM, 8, 8, 8, 2, data=data)
    device.context.copy_subresource_region(
        volume, (0, 0), volume, (0, 0), (0, 0, 1), (0, 0, 0, 8, 8, 7)
    )
    device.context.copy_subresource_region(volume, (1, 0), volume, (0, 0), box=(0, 0, 0, 4, 4, 4))
    level = device.context.read(volume)[..., 0, 0]
    assert (level[1:] == data[0][:7]).all()
    assert (level[0] == data[0][0]).all()
    assert (device.context.read(volume, (1, 0))[..., 0, 0] == level[:4, :4, :4]).all()


def blocks(device, form, width, height, levels, seed=None):
    """A texture of blocks, and its levels as (rows, columns, bytes)."""
    size = FORMATS[form].bytes
    rng = np.random.default_rng(seed)
    data = []
    for n in range(levels):
        shape = (-(-max(height >> n, 1) // 4), -(-max(width >> n, 1) // 4), size)
        data.append(
            np.zeros(shape, np.uint8) if seed is None else rng.integers(0, 256, shape, "u1")
        )
    return device.create_texture2d(form, width, height, levels, data=data), data


@pytest.mark.plan("host-16")
@pytest.mark.parametrize("form", [Format.BC1_UNORM, Format.BC7_UNORM])
@pytest.mark.parametrize(
    ("box", "into", "at"),
    [
        ((0, 0, 0, 16, 16, 1), 2, (0, 0, 0)),  # of 15x15 texels 16x16 are stored
        ((44, 44, 0, 60, 60, 1), 2, (0, 0, 0)),
        ((0, 0, 0, 4, 4, 1), 2, (12, 12, 0)),
        ((0, 0, 0, 4, 4, 1), 5, (0, 0, 0)),  # a level of 1x1
        ((0, 0, 0, 28, 32, 1), 1, (4, 0, 0)),  # of 30 texels 32
    ],
)
def test_boxes_of_blocks_are_those_that_are_stored(form, box, into, at):
    """[fs 19.5.1]: regions are multiples of four, of the physical size."""
    device = Device(MEMORY)
    source, data = blocks(device, form, 60, 60, 6, 1)
    target, expected = blocks(device, form, 60, 60, 6)
    device.context.copy_subresource_region(target, (into, 0), source, (0, 0), at, box)
    left, top, _, right, bottom, _ = (n // 4 for n in box)
    x, y = at[0] // 4, at[1] // 4
    expected[into][y : y + bottom - top, x : x + right - left] = data[0][top:bottom, left:right]
    found = device.context.read(target, (into, 0))
    assert (found.reshape(expected[into].shape) == expected[into]).all()


@pytest.mark.plan("host-16")
@pytest.mark.parametrize("box", [None, (0, 0, 0, 15, 15, 1), (0, 0, 0, 16, 15, 1)])
def test_a_box_to_the_end_of_a_level_has_its_last_blocks(box):
    device = Device(MEMORY)
    source, data = blocks(device, Format.BC1_UNORM, 60, 60, 6, 1)
    target, _ = blocks(device, Format.BC1_UNORM, 60, 60, 6)
    device.context.copy_subresource_region(target, (2, 0), source, (2, 0), box=box)
    assert (device.context.read(target, (2, 0))[:, :, 0] == data[2]).all()
    with pytest.raises(InputError, match="end of the box along x must be a multiple of 4, not 14"):
        device.context.copy_subresource_region(
            target, (2, 0), source, (2, 0), box=(0, 0, 0, 14, 16, 1)
        )


@pytest.mark.plan("host-16")
@pytest.mark.parametrize(
    ("form", "words", "holds"),
    [
        (Format.BC1_UNORM, Format.R32G32_UINT, True),
        (Format.BC4_SNORM, Format.R16G16B16A16_SINT, True),
        (Format.BC3_UNORM_SRGB, Format.R32G32B32A32_UINT, True),
        (Format.BC7_UNORM, Format.R32G32B32A32_SINT, True),
        (Format.BC1_UNORM, Format.R32G32B32A32_UINT, False),
        (Format.BC3_UNORM, Format.R32G32_UINT, False),
        (Format.BC3_UNORM, Format.R32G32B32A32_FLOAT, False),
        (Format.BC1_UNORM, Format.R16G16B16A16_UNORM, False),
        (Format.BC3_UNORM, Format.BC2_UNORM, False),
    ],
)
def test_blocks_are_copied_as_integers_of_their_bytes(form, words, holds):
    """Both ways, a texel a block; of fewer bytes, or of another kind, they are refused."""
    device = Device(MEMORY)
    context = device.context
    source, (data, _) = blocks(device, form, 24, 16, 2, 1)
    edge = FORMATS[words].block
    target = device.create_texture2d(words, 6 * edge, 4 * edge)
    if not holds:
        with pytest.raises(InputError, match="format of the target must be of"):
            context.copy_subresource_region(target, (0, 0), source, (0, 0))
        with pytest.raises(InputError, match="format of the target must be of"):
            context.copy_subresource_region(source, (0, 0), target, (0, 0))
        return
    context.copy_subresource_region(target, (0, 0), source, (0, 0))
    assert (context.read(target)[:, :, 0] == data).all()
    back, _ = blocks(device, form, 24, 16, 2)
    context.copy_subresource_region(back, (0, 0), target, (0, 0), (8, 4, 0), (1, 0, 0, 5, 3, 1))
    assert (context.read(back)[1:4, 2:6].reshape(3, 4, -1) == data[:3, 1:5]).all()
    with pytest.raises(InputError, match="box along x must fit the target's 24 texels, not 28"):
        large = device.create_texture2d(words, 7, 4)
        context.copy_subresource_region(back, (0, 0), large, (0, 0))
    with pytest.raises(InputError, match="place along x must be a multiple of 4, not 1"):
        context.copy_subresource_region(back, (0, 0), target, (0, 0), (1, 0, 0), (0, 0, 0, 1, 1, 1))
    line = device.create_texture1d(words, 6)
    with pytest.raises(InputError, match="target must be a TEXTURE2D, not TEXTURE1D"):
        context.copy_subresource_region(line, (0, 0), source, (0, 0))


@pytest.mark.plan("host-15")
@pytest.mark.parametrize(
    ("create", "program", "text"),
    [
        ("hull", {"kind": "tri"}, "domain must be one of isoline, triangle, quad, not tri"),
        ("hull", {"partitioning": "odd"}, "partitioning must be one of integer, pow2, .*, not odd"),
        ("hull", {"kind": "isoline"}, "output must be one of point, line, not triangle_cw"),
        ("geometry", {"output": Topology.TRIANGLE_LIST}, "output must be one of POINT_LIST"),
        ("geometry", {"most": 0}, r"most must lie in 1\.\.1024, not 0"),
        ("geometry", {"instances": 33}, r"instances must lie in 1\.\.32, not 33"),
        ("geometry", {"rasterized": 4}, r"stream must lie in 0\.\.3, not 4"),
        (
            "geometry",
            {"stream_output": {9: Declaration([Entry(0)], {0: 16})}},
            r"stream must lie in 0\.\.3, not 9",
        ),
    ],
)
def test_declarations_of_shaders_are_refused_by_their_creation(create, program, text):
    device = Device(MEMORY)
    kind = HullShader if create == "hull" else GeometryShader
    with pytest.raises(InputError, match=text):
        getattr(device, f"create_{create}_shader")(kind(lambda *_: None, **program))


@pytest.mark.plan("host-15")
def test_conservative_coverage_is_of_tier_1():
    """Triangles without area may be culled then, in front or behind; depths and samples refuse."""
    scene = Scene(16, 16)
    state = RasterizerState(cull=Cull.NONE, conservative_raster=True)
    scene.context.rs.set_state(state)
    with pytest.raises(InputError, match="must be off with a target of depths"):
        scene.draw(WHOLE)
    scene.context.om.set_render_targets([scene.target])
    scene.draw([(-0.5, 0), (0.5, 0), (0, 0)])
    assert not scene.shown().any()
    scene.draw([(-0.5, 0), (0.5, 0), (0, 0.01)])
    assert scene.shown().any()
    several = Scene(16, 16, samples=4)
    several.context.rs.set_state(state)
    several.context.om.set_render_targets([several.target])
    with pytest.raises(InputError, match="conservative_raster must be off with several samples"):
        several.draw(WHOLE)
