# SPDX-License-Identifier: BSD-2-Clause
"""Work of each kind touches what it says: behind an MMU it leaves what it leaves without one."""

import numpy as np
import pytest

from fixfunc.models.frontend.vertex_fetch import Element
from fixfunc.models.geometry.stream_output import Declaration, Entry
from fixfunc.models.host import Device
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind
from fixfunc.models.machine.memory.accesses import Client
from fixfunc.models.machine.shaders import ComputeShader, GeometryShader
from fixfunc.models.system.card.card import Card
from fixfunc.spec.draw import Topology
from fixfunc.spec.dxgi import Format
from tests.host.drawing import RGBA8, picture, vertex, words

SIZE = 16
BOTH = Bind.SHADER_RESOURCE | Bind.RENDER_TARGET


def doubled(waves, bound):
    """A compute shader: words of one buffer, twice, to another."""
    out = bound.unordered(0).view("<u4")
    read = bound.buffer(0).view("<u4")
    lanes = waves.thread[waves.mask][:, 0]
    out[lanes] = 2 * read[lanes] + bound.constants(0).view("<u4")[0]


def dispatched(device, indirect):
    """Constants, a buffer that is read, one that is written."""
    context = device.context
    source = device.create_buffer(data=words(*range(64)), bind=Bind.SHADER_RESOURCE)
    out = device.create_buffer(256, Bind.UNORDERED_ACCESS)
    constants = device.create_buffer(data=words(7, 0, 0, 0), bind=Bind.CONSTANT_BUFFER)
    context.cs.set_shader(device.create_compute_shader(ComputeShader(doubled, (8, 1, 1))))
    context.cs.set_unordered_access_views(0, [device.create_unordered_access_view(out)])
    context.cs.set_shader_resources(0, [device.create_shader_resource_view(source)])
    context.cs.set_constant_buffers(0, [constants])
    if indirect:
        context.dispatch_indirect(device.create_buffer(data=words(8, 1, 1)))
    else:
        context.dispatch(8)
    return [out]


def cleared(device):
    """Clears, smaller levels, a copy of a box, a copy of bytes."""
    context = device.context
    texture = device.create_texture2d(RGBA8, SIZE, SIZE, 3, bind=BOTH)
    other = device.create_texture2d(RGBA8, SIZE, SIZE, data=[picture(SIZE, SIZE, 3)])
    context.clear_view(device.create_render_target_view(texture), (1, 0.5, 0, 1), [(2, 3, 9, 12)])
    context.copy_subresource_region(texture, (0, 0), other, (0, 0), (4, 4, 0), (1, 2, 0, 9, 8, 1))
    context.generate_mips(device.create_shader_resource_view(texture))
    one = device.create_buffer(data=words(1, 2, 3, 4))
    two = device.create_buffer(data=words(5, 6, 7, 8))
    context.copy_buffer_region(two, 4, one, 8, 8)
    return [texture, two]


def resolved(device):
    """Samples that become one."""
    context = device.context
    many = device.create_texture2d(RGBA8, SIZE, SIZE, sample_count=4, bind=Bind.RENDER_TARGET)
    single = device.create_texture2d(RGBA8, SIZE, SIZE)
    context.clear_render_target_view(device.create_render_target_view(many), (0.2, 0.4, 0.6, 1))
    context.resolve_subresource(single, (0, 0), many, (0, 0))
    return [single]


def streamed(device):
    """Vertices by indices, an indirect draw, stream output, a query of it."""
    context = device.context
    data = np.arange(96, dtype=np.float32)
    context.ia.set_vertex_buffers(0, [device.create_buffer(data=data)], [32])
    indices = device.create_buffer(data=words(2, 0, 1, 4, 3, 5), bind=Bind.INDEX_BUFFER)
    context.ia.set_index_buffer(indices, Format.R32_UINT)
    elements = [Element(n, Format.R32G32B32A32_FLOAT, offset=16 * n) for n in range(2)]
    context.ia.set_input_layout(device.create_input_layout(elements))
    context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)
    context.vs.set_shader(device.create_vertex_shader(vertex))
    program = GeometryShader(stream_output={0: Declaration([Entry(0)], {0: 16})}, rasterized=None)
    context.gs.set_shader(device.create_geometry_shader(program))
    out = device.create_buffer(256, Bind.STREAM_OUTPUT)
    context.so.set_targets([out])
    query = device.create_query(QueryKind.SO_STATISTICS)
    context.begin(query)
    context.draw_indexed_instanced_indirect(device.create_buffer(data=words(6, 1, 0, 0, 0)))
    context.end(query)
    assert context.get_data(query).written == 2
    return [out]


WORK = {
    "dispatch": (lambda device: dispatched(device, False), {Client.SHADERS}),
    "indirect dispatch": (lambda device: dispatched(device, True), {Client.SHADERS}),
    "clears and copies": (cleared, {Client.TRANSFERS}),
    "resolve": (resolved, {Client.TRANSFERS}),
    "stream output": (streamed, {Client.INPUT, Client.STREAM_OUTPUT}),
}


@pytest.mark.plan("card-7")
@pytest.mark.parametrize("name", WORK)
def test_work_behind_an_mmu_leaves_what_it_leaves_without(name):
    """Bytes of pages that no access has named are 0xCD to the machine, and are never written."""
    work, clients = WORK[name]
    card = Card()
    process = card.process("one")
    found, expected = ([work(device), device] for device in (process.device, Device(4 << 20)))
    for mine, theirs in zip(found[0], expected[0], strict=True):
        levels = mine.layout.levels if hasattr(mine, "layout") else 1
        for level in range(levels):
            octets = found[1].context.read(mine, (level, 0))
            assert octets.any()
            assert (octets == expected[1].context.read(theirs, (level, 0))).all()
    assert {client for client, counts in card.window.counts.items() if counts["pages"]} == {
        Client.COMMANDS,
        *clients,
    }
