# SPDX-License-Identifier: BSD-2-Clause
"""Who reads and writes a resource: usage, access of the CPU, and binding [fs 5.3, 5.4, 5.6]."""

import itertools

import pytest

from fixfunc.models.host import Device
from fixfunc.models.host.resources import Bind, CpuAccess, Usage
from fixfunc.spec.descriptors import UnorderedFlag
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from tests.host.drawing import DRAWN, MEMORY, READ, RGBA8

NONE, WRITE, BOTH = CpuAccess.NONE, CpuAccess.WRITE, CpuAccess.READ | CpuAccess.WRITE
INPUTS = (
    Bind.VERTEX_BUFFER,
    Bind.INDEX_BUFFER,
    Bind.CONSTANT_BUFFER,
    READ,
    Bind.VERTEX_BUFFER | READ,
)
OUTPUTS = (
    Bind.STREAM_OUTPUT,
    Bind.STREAM_OUTPUT | Bind.VERTEX_BUFFER,
    Bind.UNORDERED_ACCESS | Bind.INDEX_BUFFER,
)
SHADERS = (READ, Bind.UNORDERED_ACCESS, READ | Bind.UNORDERED_ACCESS)
BUFFERS = {Bind(0), *INPUTS, *OUTPUTS, *SHADERS}
TEXTURES = {Bind(0), READ, DRAWN, READ | DRAWN}
ACCESSES = (NONE, WRITE, CpuAccess.READ, BOTH)
# [fs 5.3.2, 5.4]: outputs are not mapped, what is mapped for each frame says for what, and what
# is not bound is the CPU's; [fs 5.6.1.3]: buffers that shaders alone use may be mapped.
LEGAL = {
    *((Usage.DEFAULT, NONE, bind) for bind in BUFFERS | TEXTURES),
    *((Usage.IMMUTABLE, NONE, bind) for bind in INPUTS),
    *((Usage.DYNAMIC, WRITE, bind) for bind in INPUTS),
    *((Usage.STAGING, access, Bind(0)) for access in ACCESSES[1:]),
}
LEGAL_OF_BUFFERS = {(Usage.DEFAULT, access, bind) for access in ACCESSES[1:] for bind in SHADERS}


def is_created(create, *arguments, **more):
    """Whether a call does not break a rule."""
    try:
        create(*arguments, **more)
    except InputError as error:
        assert error.field in ("bind", "cpu_access", "data", "subresources")
        return False
    return True


@pytest.mark.plan("host-20")
@pytest.mark.parametrize("usage", Usage)
def test_buffers_of_every_usage_access_and_binding(usage):
    device = Device(MEMORY)
    legal = LEGAL | LEGAL_OF_BUFFERS
    found = {
        (usage, access, bind)
        for access, bind in itertools.product(ACCESSES, BUFFERS)
        if is_created(
            device.create_buffer, bind=bind, data=bytes(16), usage=usage, cpu_access=access
        )
    }
    assert found == {row for row in legal if row[0] == usage and row[2] in BUFFERS}


@pytest.mark.plan("host-20")
@pytest.mark.parametrize("usage", Usage)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_textures_of_every_usage_access_and_binding(usage, dimension):
    device = Device(MEMORY)
    create = getattr(device, f"create_texture{dimension}d")
    sides = (4,) * dimension
    data = [bytes(4 * 4**dimension)]
    found = {
        (usage, access, bind)
        for access, bind in itertools.product(ACCESSES, TEXTURES)
        if is_created(create, RGBA8, *sides, bind=bind, data=data, usage=usage, cpu_access=access)
    }
    assert found == {row for row in LEGAL if row[0] == usage and row[2] in TEXTURES}


@pytest.mark.plan("host-20")
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda d: d.create_buffer(16, usage=Usage.IMMUTABLE),
            "data must be there, of an IMMUTABLE resource",
        ),
        (
            lambda d: d.create_texture2d(RGBA8, 4, 4, 2, usage=Usage.DYNAMIC, cpu_access=WRITE),
            "subresources must be one of a DYNAMIC resource, not 2",
        ),
        (
            lambda d: d.create_texture1d(
                RGBA8, 4, 1, array_size=3, usage=Usage.DYNAMIC, cpu_access=WRITE
            ),
            "subresources must be one of a DYNAMIC resource, not 3",
        ),
        (
            lambda d: d.create_buffer(16, stride=8),
            "bind must be SHADER_RESOURCE, UNORDERED_ACCESS or both of structures",
        ),
        (
            lambda d: d.create_texture2d(
                Format.D32_FLOAT, 4, 4, bind=Bind.DEPTH_STENCIL | Bind.UNORDERED_ACCESS
            ),
            "bind must not be UNORDERED_ACCESS of samples or depths",
        ),
        (
            lambda d: d.create_texture2d(
                RGBA8, 4, 4, sample_count=4, bind=DRAWN | Bind.UNORDERED_ACCESS
            ),
            "bind must not be UNORDERED_ACCESS of samples or depths",
        ),
        (
            lambda d: d.create_buffer(16, usage=2),
            "usage must be a Usage|usage must be one of Usage",
        ),
        (lambda d: d.create_buffer(16, cpu_access=1), "cpu_access must be a CpuAccess"),
    ],
)
def test_what_no_usage_allows(call, text):
    """[fs 5.3.9.1, 5.4.2, 20.2]: what is bound for unordered access, structures, first data."""
    with pytest.raises(InputError, match=text):
        call(Device(MEMORY))


@pytest.mark.plan("host-20")
def test_what_is_written_by_nobody_is_no_target():
    device = Device(MEMORY)
    context = device.context
    source = device.create_buffer(data=bytes(16))
    fixed = device.create_buffer(data=bytes(range(16)), usage=Usage.IMMUTABLE)
    still = device.create_texture2d(RGBA8, 2, 2, data=[bytes([9]) * 16], usage=Usage.IMMUTABLE)
    texture = device.create_texture2d(RGBA8, 2, 2)
    counted = device.create_buffer(16, Bind.UNORDERED_ACCESS, stride=4)
    view = device.create_unordered_access_view(counted, flag=UnorderedFlag.COUNTER)
    for call in (
        lambda: context.copy_resource(fixed, source),
        lambda: context.copy_resource(still, texture),
        lambda: context.copy_buffer_region(fixed, 0, source, 0, 4),
        lambda: context.copy_subresource_region(still, (0, 0), texture, (0, 0)),
        lambda: context.copy_structure_count(fixed, 0, view),
        lambda: context.update_subresource(fixed, bytes(16)),
        lambda: context.update_subresource(still, bytes(16)),
    ):
        with pytest.raises(InputError, match="usage of the target must not be IMMUTABLE"):
            call()
    context.copy_resource(source, fixed)
    context.copy_resource(texture, still)
    assert context.read(source).tolist() == list(range(16)) == context.read(fixed).tolist()
    assert (context.read(texture) == 9).all() and (context.read(still) == 9).all()


@pytest.mark.plan("host-20")
def test_what_can_be_mapped_is_not_updated_nor_resolved_to():
    """[fs 5.6.8]: both ways exclude each other; [fs 5.6.6]: a resolve's target is DEFAULT."""
    device = Device(MEMORY)
    context = device.context
    several = device.create_texture2d(RGBA8, 4, 4, sample_count=4, bind=DRAWN)
    for usage, access, bind in (
        (Usage.DYNAMIC, WRITE, READ),
        (Usage.STAGING, BOTH, Bind(0)),
    ):
        given = {"usage": usage, "cpu_access": access, "bind": bind}
        buffer = device.create_buffer(16, **given)
        texture = device.create_texture2d(RGBA8, 4, 4, **given)
        for resource in (buffer, texture):
            with pytest.raises(InputError, match="cpu_access of the target must be NONE"):
                context.update_subresource(resource, bytes(16))
        with pytest.raises(InputError, match="usage of the target must be DEFAULT"):
            context.resolve_subresource(texture, (0, 0), several, (0, 0))
    shared = device.create_buffer(16, READ, cpu_access=CpuAccess.READ)
    with pytest.raises(InputError, match="cpu_access of the target must be NONE"):
        context.update_subresource(shared, bytes(16))


@pytest.mark.plan("host-20")
def test_the_pipeline_does_not_use_what_is_the_cpus():
    device = Device(MEMORY)
    staging = device.create_buffer(64, Bind(0), usage=Usage.STAGING, cpu_access=BOTH)
    context = device.context
    for call, text in (
        (lambda: context.ia.set_vertex_buffers(0, [staging], [16]), "VERTEX_BUFFER"),
        (lambda: context.vs.set_constant_buffers(0, [staging]), "CONSTANT_BUFFER"),
        (lambda: device.create_shader_resource_view(staging), "SHADER_RESOURCE"),
        (lambda: context.dispatch_indirect(staging), "usage of arguments must not be STAGING"),
        (lambda: context.draw_instanced_indirect(staging), "usage of arguments must not be STAG"),
    ):
        with pytest.raises(InputError, match=text):
            call()
