# SPDX-License-Identifier: BSD-2-Clause
"""Subresources that the CPU has for a while [fs 5.6.1]."""

import numpy as np
import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind, CpuAccess, Usage
from fixfunc.models.host.transfers.mapping import MapType
from fixfunc.models.machine.shaders import ComputeShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.spec.descriptors import UnorderedFlag
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from tests.host.drawing import (
    DRAWN,
    GREEN,
    LEFT,
    MEMORY,
    READ,
    RED,
    RGBA8,
    RIGHT,
    WHOLE,
    Scene,
    corners,
    picture,
)

WRITE, BOTH = CpuAccess.WRITE, CpuAccess.READ | CpuAccess.WRITE
DYNAMIC = {"usage": Usage.DYNAMIC, "cpu_access": WRITE}
STAGING = {"bind": Bind(0), "usage": Usage.STAGING, "cpu_access": BOTH}
DISCARD, KEEP = MapType.WRITE_DISCARD, MapType.WRITE_NO_OVERWRITE


# What is written and read.


@pytest.mark.plan("host-21")
def test_vertices_are_written_between_draws():
    """[fs 5.6.1.1]: one draw's vertices are kept while those of the next are written."""
    scene = Scene()
    context = scene.context
    vertices = scene.device.create_buffer(2 * 6 * 32, **DYNAMIC)
    context.ia.set_vertex_buffers(0, [vertices], [32])
    left, right = (corners(*of).view(np.uint8).reshape(-1) for of in ((LEFT, RED), (RIGHT, GREEN)))
    with context.map(vertices, DISCARD) as mapped:
        assert (mapped.row_pitch, mapped.depth_pitch) == (384, 384)
        mapped.data[:192] = left
    context.draw(6)
    with context.map(vertices, KEEP) as mapped:
        mapped.data[192:] = right
    context.draw(6, 6)
    image = scene.image()[:, :, 0]
    assert (image[:, :16] == (255, 0, 0, 255)).all() and (image[:, 16:] == (0, 255, 0, 255)).all()
    assert (context.read(vertices) == np.concatenate([left, right])).all()
    with context.map(vertices, DISCARD) as mapped:
        mapped.data[192:] = right
    context.draw(6, 6)
    assert not context.read(vertices)[:192].any()


@pytest.mark.plan("host-21")
def test_a_texture_that_is_written_is_read_anew():
    scene = Scene()
    device, context = scene.device, scene.context
    texture = device.create_texture2d(RGBA8, 2, 2, **DYNAMIC)
    context.ps.set_shader_resources(0, [device.create_shader_resource_view(texture)])
    scene.shade(
        lambda quads, bound: PixelResults(bound.fetch(0, np.stack([quads.x, quads.y], -1) % 2))
    )
    for value in (51, 204):
        with context.map(texture, DISCARD) as mapped:
            mapped.data[:] = value
        scene.draw(WHOLE, z=value / 1024)
        context.clear_depth_stencil_view(scene.depth, 1.0)
        assert (scene.image() == value).all()


@pytest.mark.plan("host-21")
@pytest.mark.parametrize("form", [RGBA8, Format.R16G16B16A16_FLOAT, Format.D24_UNORM_S8_UINT])
def test_what_is_drawn_is_read_by_way_of_a_copy(form):
    """[fs 5.3.2]: outputs are copied to what can be mapped; of tiles, coded or not."""
    scene = Scene(29, 21)
    device, context = scene.device, scene.context
    is_depth = form == Format.D24_UNORM_S8_UINT
    bind = Bind.DEPTH_STENCIL if is_depth else DRAWN
    drawn = device.create_texture2d(form, 29, 21, bind=bind)
    if is_depth:
        context.clear_depth_stencil_view(device.create_depth_stencil_view(drawn), 0.75, 9)
    else:
        context.om.set_render_targets([device.create_render_target_view(drawn)])
        scene.draw(LEFT, RED)
    copy = device.create_texture2d(form, 29, 21, **STAGING)
    context.copy_resource(copy, drawn)
    size = context.read(drawn).shape[-1]
    with context.map(copy, MapType.READ) as mapped:
        assert (mapped.row_pitch, mapped.depth_pitch) == (29 * size, 21 * 29 * size)
        assert mapped.data.shape == (1, 21, 29 * size)
        assert (mapped.data[0].reshape(21, 29, 1, size) == context.read(drawn)).all()
        assert mapped.data.any()
        with pytest.raises(ValueError, match="read-only"):
            mapped.data[:] = 0


@pytest.mark.plan("host-21")
def test_pitches_are_those_of_rows_and_slices():
    """[fs 5.5, 5.6.1]: texels as of a C array of slices of rows; rows of blocks have blocks."""
    device = Device(MEMORY)
    context = device.context
    volume = device.create_texture3d(Format.R8G8_UNORM, 5, 3, 2, 2, **STAGING)
    blocks = device.create_texture2d(Format.BC1_UNORM, 12, 8, 2, **STAGING)
    line = device.create_texture1d(Format.R32_FLOAT, 7, 1, 2, **STAGING)
    for texture, place, shape in (
        (volume, (0, 0), (2, 3, 10)),
        (volume, (1, 0), (1, 1, 4)),
        (blocks, (0, 0), (1, 2, 24)),
        (blocks, (1, 0), (1, 1, 16)),
        (line, (0, 1), (1, 1, 28)),
    ):
        with context.map(texture, MapType.READ_WRITE, place) as mapped:
            assert mapped.data.shape == shape
            assert (mapped.row_pitch, mapped.depth_pitch) == (shape[2], shape[1] * shape[2])
            assert mapped.data.flags.c_contiguous and mapped.data.ctypes.data % 16 == 0
            assert not mapped.data.any()
            mapped.data[:] = np.arange(mapped.data.size).reshape(shape)
        got = context.read(texture, place)
        assert (got.reshape(-1) == np.arange(got.size)).all()
    assert context.read(volume)[1, 2, 4, 0].tolist() == [58, 59]


@pytest.mark.plan("host-21")
def test_what_is_written_by_the_cpu_is_copied_to_a_target():
    scene = Scene()
    texels = picture(32, 24)
    upload = scene.device.create_texture2d(RGBA8, 32, 24, **STAGING)
    with scene.context.map(upload, MapType.WRITE) as mapped:
        mapped.data[0] = texels.reshape(24, 128)
    scene.context.copy_resource(scene.colours, upload)
    assert (scene.image()[:, :, 0] == texels).all()


@pytest.mark.plan("host-21")
def test_what_shaders_have_written_is_mapped_without_a_copy():
    """[fs 5.6.1.3]"""
    device = Device(MEMORY)
    context = device.context
    bind = READ | Bind.UNORDERED_ACCESS
    buffer = device.create_buffer(64, bind, stride=8, cpu_access=BOTH)
    view = device.create_unordered_access_view(buffer)
    context.cs.set_unordered_access_views(0, [view])

    def doubled(_waves, bound):
        bound.unordered(0)[:] *= 2

    context.cs.set_shader(device.create_compute_shader(ComputeShader(doubled)))
    with context.map(buffer, MapType.WRITE) as mapped:
        mapped.data[:] = np.arange(64)
        with pytest.raises(InputError, match="unordered 0 must not be mapped"):
            context.dispatch(1)
        with pytest.raises(InputError, match="view must not be mapped"):
            context.clear_unordered_access_view_uint(view, 1)
    context.dispatch(1)
    with context.map(buffer, MapType.READ) as mapped:
        assert (mapped.data == 2 * np.arange(64)).all()


@pytest.mark.plan("host-21")
def test_a_predicate_leaves_no_map_out():
    """[fs 20.2]: Map and Unmap are not among what honours predication."""
    device = Device(MEMORY)
    context = device.context
    predicate = device.create_query(QueryKind.OCCLUSION_PREDICATE)
    context.begin(predicate)
    context.end(predicate)
    context.set_predication(predicate, False)
    buffer = device.create_buffer(16, **DYNAMIC)
    with context.map(buffer, DISCARD) as mapped:
        mapped.data[:] = 3
    assert (context.read(buffer) == 3).all()


# What is refused.


@pytest.mark.plan("host-21")
@pytest.mark.parametrize(
    ("create", "access", "legal"),
    [
        ("staging", CpuAccess.READ, {MapType.READ}),
        ("staging", WRITE, {MapType.WRITE}),
        ("staging", BOTH, {MapType.READ, MapType.WRITE, MapType.READ_WRITE}),
        ("staging texture", BOTH, {MapType.READ, MapType.WRITE, MapType.READ_WRITE}),
        ("shared", CpuAccess.READ, {MapType.READ}),
        ("shared", BOTH, {MapType.READ, MapType.WRITE, MapType.READ_WRITE}),
        ("dynamic", WRITE, {DISCARD, KEEP}),
        ("dynamic constants", WRITE, {DISCARD, KEEP}),
        ("dynamic texture", WRITE, {DISCARD}),
        ("default", CpuAccess.NONE, set()),
        ("default texture", CpuAccess.NONE, set()),
        ("target", CpuAccess.NONE, set()),
        ("immutable", CpuAccess.NONE, set()),
    ],
)
def test_each_usage_has_its_ways_to_be_mapped(create, access, legal):
    """[fs 5.6.1.1, 5.3.4.3.1]: a texture is not kept while it is written, constants may be."""
    device = Device(MEMORY)
    first, _, kind = create.partition(" ")
    usage = {"shared": Usage.DEFAULT, "target": Usage.DEFAULT}.get(first)
    usage = Usage[first.upper()] if usage is None else usage
    bind = {"staging": Bind(0), "target": DRAWN}.get(first, READ)
    given = {"usage": usage, "cpu_access": access, "bind": bind}
    if kind == "constants":
        given["bind"] = Bind.CONSTANT_BUFFER
    if kind == "texture" or first == "target":
        resource = device.create_texture2d(RGBA8, 4, 4, **given)
    else:
        resource = device.create_buffer(data=bytes(16), **given)
    found = set()
    for map_type in MapType:
        try:
            with device.context.map(resource, map_type):
                found.add(map_type)
        except InputError as error:
            assert error.field in ("cpu_access", "map_type")
        assert not resource.mapped
    assert found == legal


@pytest.mark.plan("host-21")
def test_a_subresource_is_mapped_once_and_others_beside_it():
    """[fs 5.6.1]"""
    device = Device(MEMORY)
    context = device.context
    texture = device.create_texture2d(RGBA8, 4, 4, 2, 2, **STAGING)
    other = device.create_texture2d(RGBA8, 4, 4, 2, 2)
    with context.map(texture, MapType.WRITE, (1, 0)) as mapped:
        mapped.data[:] = 5
        for map_type in (MapType.READ, MapType.WRITE):
            with pytest.raises(InputError, match=r"subresource must not be mapped, not \(1, 0\)"):
                context.map(texture, map_type, (1, 0))
        with context.map(texture, MapType.WRITE, (1, 1)) as beside:
            beside.data[:] = 6
        with pytest.raises(InputError, match="target must not be mapped"):
            context.copy_subresource_region(texture, (1, 0), other, (1, 0))
        with pytest.raises(InputError, match="source must not be mapped"):
            context.copy_subresource_region(other, (1, 0), texture, (1, 0))
        with pytest.raises(InputError, match="resource must not be mapped"):
            context.read(texture, (1, 0))
        for pair in ((texture, other), (other, texture)):
            with pytest.raises(InputError, match="must not be mapped"):
                context.copy_resource(*pair)
        context.copy_subresource_region(other, (1, 0), texture, (1, 1))
    assert (context.read(other, (1, 0)) == 6).all()
    assert (context.read(texture, (1, 0)) == 5).all()
    assert not context.read(texture, (0, 0)).any() and not context.read(texture, (0, 1)).any()
    for place in ((2, 0), (0, 2), (-1, 0)):
        with pytest.raises(InputError, match=r"(level|layer) must lie in 0\.\.1"):
            context.map(texture, MapType.READ, place)


@pytest.mark.plan("host-21")
def test_what_is_not_mapped_is_not_unmapped():
    device = Device(MEMORY)
    context = device.context
    buffer = device.create_buffer(16, **STAGING)
    with pytest.raises(InputError, match=r"subresource must be mapped, not \(0, 0\)"):
        context.unmap(buffer)
    mapped = context.map(buffer, MapType.WRITE)
    mapped.data[:] = 1
    assert not device.memory[buffer.address : buffer.address + 16].any()
    context.unmap(buffer)
    for again in (mapped.unmap, lambda: context.unmap(buffer)):
        with pytest.raises(InputError, match="Context.unmap: subresource must be mapped"):
            again()
    with pytest.raises(ValueError, match="read-only"):
        mapped.data[:] = 2
    assert (context.read(buffer) == 1).all()
    for place in ((1, 0), (0, 1)):
        with pytest.raises(InputError, match=r"must lie in 0\.\.0, not 1"):
            context.map(buffer, MapType.READ, place)
    mapped = context.map(buffer, MapType.READ)
    device.release(buffer)
    with pytest.raises(InputError, match="resource must not be released"):
        context.unmap(buffer)
    with pytest.raises(InputError, match="resource must not be released"):
        context.map(buffer, MapType.READ)


@pytest.mark.plan("host-21")
def test_an_error_while_it_is_mapped_leaves_nothing_mapped():
    device = Device(MEMORY)
    buffer = device.create_buffer(16, **STAGING)
    with pytest.raises(ZeroDivisionError), device.context.map(buffer, MapType.WRITE) as mapped:
        mapped.data[:4] = 8
        raise ZeroDivisionError
    assert device.context.read(buffer).tolist() == [8] * 4 + [0] * 12


BOUND = {
    "vertex buffer 0": Bind.VERTEX_BUFFER,
    "index buffer": Bind.INDEX_BUFFER,
    "constants 3": Bind.CONSTANT_BUFFER,
    "resource 2": READ,
}


@pytest.mark.plan("host-21")
@pytest.mark.parametrize("name", BOUND)
@pytest.mark.parametrize("map_type", [DISCARD, KEEP])
def test_a_draw_uses_nothing_that_is_mapped(name, map_type):
    """[fs 5.6.1]: no accelerator operations while a map is outstanding, whatever its kind."""
    scene = Scene()
    device, context = scene.device, scene.context
    scene.bind(corners(WHOLE))
    indices = np.arange(3, dtype="<u4")
    plain = device.create_buffer(data=indices, bind=Bind.INDEX_BUFFER)
    context.ia.set_index_buffer(plain, Format.R32_UINT)
    data = corners(WHOLE) if name == "vertex buffer 0" else np.resize(indices, 16)
    buffer = device.create_buffer(data=data, bind=BOUND[name], **DYNAMIC)
    if name == "vertex buffer 0":
        context.ia.set_vertex_buffers(0, [buffer], [32])
    elif name == "index buffer":
        context.ia.set_index_buffer(buffer, Format.R32_UINT)
    elif name == "constants 3":
        context.vs.set_constant_buffers(3, [buffer])
    else:
        context.gs.set_shader_resources(2, [device.create_shader_resource_view(buffer)])
    mapped = context.map(buffer, map_type)
    with pytest.raises(InputError, match=f"{name} must not be mapped"):
        context.draw_indexed(3)
    assert not scene.shown().any()
    mapped.data[:] = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
    context.unmap(buffer)
    context.draw_indexed(3)
    assert scene.shown().all()


@pytest.mark.plan("host-21")
def test_commands_use_nothing_that_is_mapped():
    device = Device(MEMORY)
    context = device.context
    other = device.create_buffer(16)
    buffer = device.create_buffer(16, READ, cpu_access=BOTH)
    counted = device.create_buffer(16, Bind.UNORDERED_ACCESS, stride=4)
    view = device.create_unordered_access_view(counted, flag=UnorderedFlag.APPEND)
    calls = {
        "source": (
            lambda: context.copy_resource(other, buffer),
            lambda: context.copy_buffer_region(other, 0, buffer, 8, 4),
        ),
        "target": (
            lambda: context.copy_resource(buffer, other),
            lambda: context.copy_buffer_region(buffer, 4, other, 0, 4),
            lambda: context.copy_structure_count(buffer, 0, view),
        ),
        "arguments": (
            lambda: context.dispatch_indirect(buffer),
            lambda: context.draw_instanced_indirect(buffer),
        ),
        "resource": (lambda: context.read(buffer),),
    }
    context.cs.set_shader(device.create_compute_shader(ComputeShader(lambda *_: None)))
    with context.map(buffer, MapType.READ):
        for name, refused in calls.items():
            for call in refused:
                with pytest.raises(InputError, match=f"{name} must not be mapped"):
                    call()
    for call in (*calls["source"], *calls["target"], calls["arguments"][0], *calls["resource"]):
        call()
