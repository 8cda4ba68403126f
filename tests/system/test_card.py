# SPDX-License-Identifier: BSD-2-Clause
"""Processes draw through one golden machine behind an MMU, and their pictures are right."""

from itertools import pairwise

import numpy as np
import pytest

from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host import Device, packets
from fixfunc.models.host.queries import QueryKind
from fixfunc.models.host.resources import Bind, CpuAccess, Usage
from fixfunc.models.host.states import RasterizerState
from fixfunc.models.host.transfers.mapping import MapType
from fixfunc.models.machine.memory.accesses import Client
from fixfunc.models.machine.shaders import PixelShader
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.system.card import process
from fixfunc.models.system.card.card import Card
from fixfunc.models.system.card.process import DeviceLost, Hung
from fixfunc.models.system.mmu import FaultReason, PageFault
from fixfunc.models.system.page_table import SMALL, Aperture
from fixfunc.models.system.scheduler import Scheduler
from fixfunc.spec.draw import Topology
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import Condition, Place, RingOp
from fixfunc.spec.state import Cull
from tests.host.drawing import D24S8, LAYOUT, RGBA8, corners, picture, vertex

WIDTH, HEIGHT = 40, 24
DRAWS = 12
SLICED = Scheduler(switch=1000, time_slice=0, timeout=10**7, reset=5000)


def textured(quads, bound):
    """A texture, times the attribute."""
    places = np.stack([quads.x, quads.y], -1).astype(np.float32) / np.float32([WIDTH, HEIGHT])
    return PixelResults(bound.sample(0, 0, places, lod=0) * quads.floats(0))


class Program:
    """Random triangles, some through a texture that is updated half way."""

    def __init__(self, device, seed):
        self.rng = np.random.default_rng(seed)
        self.device, self.context = device, device.context
        size = WIDTH, HEIGHT
        device.create_buffer((1 + seed) * SMALL)  # so that no two programs have the same addresses
        self.colours = device.create_texture2d(RGBA8, *size, bind=Bind.RENDER_TARGET)
        self.depths = device.create_texture2d(D24S8, *size, bind=Bind.DEPTH_STENCIL)
        self.texture = device.create_texture2d(RGBA8, 16, 16, data=[picture(16, 16, seed)])
        self.query = device.create_query(QueryKind.OCCLUSION)
        views = device.create_render_target_view(self.colours)
        depths = device.create_depth_stencil_view(self.depths)
        context = self.context
        context.clear_render_target_view(views, (0, 0, 0.5, 1))
        context.clear_depth_stencil_view(depths, 1.0)
        context.om.set_render_targets([views], depths)
        context.rs.set_viewports([Viewport(width=WIDTH, height=HEIGHT)])
        context.rs.set_state(RasterizerState(cull=(Cull.NONE, Cull.BACK)[seed % 2]))
        context.ia.set_input_layout(device.create_input_layout(LAYOUT))
        context.ia.set_primitive_topology(Topology.TRIANGLE_LIST)
        context.vs.set_shader(device.create_vertex_shader(vertex))
        context.ps.set_shader(device.create_pixel_shader(PixelShader(textured)))
        context.ps.set_shader_resources(0, [device.create_shader_resource_view(self.texture)])
        context.begin(self.query)

    def draw(self, count=DRAWS):
        """Draw triangles, each of vertices of its own."""
        for _ in range(count):
            points = self.rng.uniform(-1.5, 1.5, (3, 2))
            data = corners(points, (*self.rng.random(3), 1), self.rng.random())
            self.context.ia.set_vertex_buffers(0, [self.device.create_buffer(data=data)], [32])
            self.context.draw(3)

    def whole(self):
        """All of it."""
        self.draw()
        self.end()

    def end(self):
        """The second half: another texture."""
        self.context.update_subresource(self.texture, picture(16, 16, 99))
        self.draw()
        self.context.end(self.query)

    def result(self):
        """The picture and what the query has counted."""
        return self.context.read(self.colours), self.context.get_data(self.query)


def alone(seed, whole=True):
    """What a program leaves that has a machine of its own, with physical addresses."""
    program = Program(Device(4 << 20), seed)
    program.whole() if whole else program.draw()
    return program


@pytest.mark.plan("card-1")
@pytest.mark.parametrize("time_slice", [None, 0, 40_000])
def test_pictures_of_two_processes_are_those_of_each_alone(time_slice):
    """Bit for bit, whoever has the card when; so are queries, which count across switches."""
    card = Card(scheduler=Scheduler(1000, time_slice, 10**7, 0))
    programs = {
        name: Program(card.process(name, words=24).device, seed)
        for seed, name in enumerate(("first", "second"))
    }
    for half in (Program.draw, Program.end):
        for program in programs.values():
            half(program)
        for owner in card.processes.values():
            owner.submit()
        card.run()
    for seed, program in enumerate(programs.values()):
        colours, samples = program.result()
        expected, count = alone(seed).result()
        assert len(np.unique(expected)) > 50
        assert (colours == expected).all()
        assert samples == count > 0
    order = [execution.process for execution in card.executions]
    assert all(execution.completed for execution in card.executions)
    turns = sum(one != two for one, two in pairwise(order))
    assert turns == card.switches - 1
    assert time_slice is None or turns > 5


@pytest.mark.plan("card-1")
def test_a_switch_brings_back_what_a_process_had_set(monkeypatch):
    """Without, the second one's packets would be executed with the first one's state."""
    monkeypatch.setattr(Card, "_switch", lambda card, process: card._mmu.switch(process.table.root))
    card = Card(scheduler=SLICED)
    programs = [Program(card.process(name, words=24).device, n) for n, name in enumerate("ab")]
    for program in programs:
        program.draw()
    for owner in card.processes.values():
        owner.submit()
    with pytest.raises((AssertionError, DeviceLost)):
        for seed, program in enumerate(programs):
            expected = alone(seed, whole=False)
            found = program.context.read(program.colours)
            assert (found == expected.context.read(expected.colours)).all()


@pytest.mark.plan("card-2")
def test_uploads_end_before_the_drawing_that_reads_them():
    """Textures and vertices cross the bus while another process draws; fences order them."""
    card = Card(scheduler=SLICED)
    program = Program(card.process("a").device, 1)
    other = Program(card.process("b").device, 2)
    program.draw()
    other.draw()
    for owner in card.processes.values():
        owner.submit()
    card.run()
    begun = {it.process: it.begin for it in reversed(card.executions)}
    ended = {it.process: it.end for it in card.executions}
    copies = [span for span in card.spans if span.command.destination.aperture == Aperture.LOCAL]
    assert {span.command.source.aperture for span in copies} == {Aperture.SYSTEM}
    assert max(span.end for span in copies) <= ended["b"]
    assert max(span.end for span in copies) > begun["a"]  # b's are still under way
    assert sum(span.command.size for span in copies) >= 2 * (WIDTH * HEIGHT * 8 + 16 * 16 * 4)


@pytest.mark.plan("card-2")
def test_a_drawing_that_does_not_wait_for_its_upload_is_wrong(monkeypatch):
    card = Card(scheduler=SLICED)
    owner = card.process("a")
    program = Program(owner.device, 1)
    program.draw()
    monkeypatch.setattr(card._engines.__class__, "over", lambda *_: True)
    expected = alone(1, whole=False)
    found = program.context.read(program.colours)
    assert (found != expected.context.read(expected.colours)).any()


@pytest.mark.plan("card-3")
def test_a_hung_command_buffer_is_reset_and_the_other_picture_is_right():
    card = Card(scheduler=SLICED)
    bad, good = (Program(card.process(name, words=24).device, n) for n, name in enumerate("ab"))
    bad.draw(4)
    bad.context.packets.put(
        RingOp.WAIT, test=Condition.EQUAL, place=Place.REGISTER, where=9, reference=1
    )
    bad.draw(4)
    good.draw()
    for owner in card.processes.values():
        owner.submit()
    card.run()
    assert card.resets == 1
    hung = [it for it in card.executions if not it.completed]
    assert [it.process for it in hung] == ["a"]
    assert hung[0].end - hung[0].begin == SLICED.timeout
    with pytest.raises(DeviceLost, match="device of a is lost: command buffer") as lost:
        bad.context.read(bad.colours)
    assert isinstance(lost.value.reason, Hung)
    expected = alone(1, whole=False)
    assert (good.context.read(good.colours) == expected.context.read(expected.colours)).all()
    good.draw(2)
    expected.draw(2)
    assert (good.context.read(good.colours) == expected.context.read(expected.colours)).all()


def _vertices(program, _):
    return program.device.create_buffer(data=corners([(-1, 3), (3, -1), (-1, -1)]))


@pytest.mark.plan("card-4")
@pytest.mark.parametrize("client", [Client.INPUT, Client.SHADERS, Client.COLOUR, Client.DEPTH])
def test_a_fault_has_the_address_and_the_client(client):
    """A page of what each client touches is taken away; the rest of the card goes on."""
    card = Card(scheduler=SLICED)
    bad, good = (Program(card.process(name).device, n) for n, name in enumerate("ab"))
    buffer = bad.device.create_buffer(data=corners([(-1, 3), (3, -1), (-1, -1)]))
    resource = {
        Client.INPUT: buffer,
        Client.SHADERS: bad.texture,
        Client.COLOUR: bad.colours,
        Client.DEPTH: bad.depths,
    }[client]
    owner = card.processes["a"]
    owner.submit()
    card.run()
    bad.context.ia.set_vertex_buffers(0, [buffer], [32])
    bad.context.draw(3)
    owner.submit()
    owner.table.unmap(resource.address, SMALL)
    card.invalidate()  # the TLB knows it still
    good.draw()
    card.processes["b"].submit()
    card.run()
    with pytest.raises(DeviceLost) as lost:
        bad.context.read(bad.colours)
    fault = lost.value.reason
    assert isinstance(fault, PageFault)
    assert (fault.address, fault.client) == (resource.address, client)
    assert fault.write == (client in (Client.COLOUR, Client.DEPTH))
    assert fault.reason == FaultReason.UNMAPPED
    expected = alone(1, whole=False)
    assert (good.context.read(good.colours) == expected.context.read(expected.colours)).all()


@pytest.mark.plan("card-4")
@pytest.mark.parametrize(
    ("target", "reason"),
    [(0, FaultReason.READ_ONLY), (3 << 20, FaultReason.UNMAPPED), (1 << 22, FaultReason.BEYOND)],
)
def test_a_process_writes_neither_the_ring_nor_beyond_its_own(target, reason):
    card = Card()
    owner = card.process("a")
    program = Program(owner.device, 0)
    source = program.texture.address
    program.context.packets.put(RingOp.COPY_BYTES, source=source, target=target, size=32)
    with pytest.raises(DeviceLost) as lost:
        program.context.flush()
    fault = lost.value.reason
    assert (fault.client, fault.reason) == (Client.TRANSFERS, reason)
    assert (fault.address, fault.write) == (target, True)


@pytest.mark.plan("card-4")
def test_clients_are_counted():
    card = Card(entries=4)
    program = Program(card.process("a").device, 1)
    program.whole()
    program.result()
    counts = card.window.counts
    for client in (Client.COMMANDS, Client.INPUT, Client.SHADERS, Client.COLOUR, Client.DEPTH):
        own = counts[client]
        assert own["walk"] == 3 * (own["pages"] - own["hits"]) > 0
    assert counts[Client.COMMANDS]["system"] > 0 == counts[Client.COLOUR]["system"]
    assert not counts[Client.STREAM_OUTPUT]


@pytest.mark.plan("card-5")
def test_dynamic_buffers_stay_in_system_memory():
    """The card reads them across the bus: nothing is uploaded."""
    card = Card()
    program = Program(card.process("a").device, 3)
    expected = alone(3, whole=False)
    program.draw()
    points = [(-1, 3), (3, -1), (-1, -1)]
    for one in (program, expected):
        buffer = one.device.create_buffer(
            96, usage=Usage.DYNAMIC, cpu_access=CpuAccess.WRITE, bind=Bind.VERTEX_BUFFER
        )
        for colour in ((1, 0, 0, 1), (0, 1, 0, 1)):
            mapped = one.context.map(buffer, MapType.WRITE_DISCARD)
            mapped.data[:] = corners(points, colour, 0.1 * colour[0]).view(np.uint8).reshape(-1)
            one.context.unmap(buffer)
            one.context.ia.set_vertex_buffers(0, [buffer], [32])
            one.context.draw(3)
    found = program.context.read(program.colours)
    assert (found == expected.context.read(expected.colours)).all()
    assert card.window.counts[Client.INPUT]["system"] == 2  # pages, one a draw
    assert not any(buffer.address == span.command.source.address for span in card.spans)


@pytest.mark.plan("card-5")
def test_memory_that_is_given_back_is_used_again():
    """Pages of a released texture, under other virtual addresses, of another process too."""
    card = Card(local=(1 << 20) + (1 << 17))
    first, second = (card.process(name) for name in "ab")
    for n in range(30):
        device = (first, second)[n % 2].device
        data = picture(256, 128, n)
        texture = device.create_texture2d(RGBA8, 256, 128, data=[data])
        assert (device.context.read(texture)[:, :, 0] == data).all()
        device.release(texture)
    with pytest.raises(InputError, match="local memory must have .* free pages"):
        for _ in range(10):
            first.device.create_texture2d(RGBA8, 256, 256)


@pytest.mark.plan("card-6")
def test_tables_and_room_that_are_full_are_executed_first(monkeypatch):
    """Tables begin anew at addresses that the driver has sent before, with other contents."""
    monkeypatch.setattr(packets, "MOST", packets.STATES - 4096)
    monkeypatch.setattr(process, "ROOM", 2048)
    card = Card()
    program = Program(card.process("a", words=32).device, 4)
    expected = alone(4, whole=False)
    for one in (program, expected):
        one.draw()
        points = corners([(-1, 3), (3, -1), (-1, -1)], z=0.01)
        one.context.ia.set_vertex_buffers(0, [one.device.create_buffer(data=points)], [32])
        for n in range(60):
            one.context.rs.set_viewports([Viewport(n % 7, n % 3, 1 + 40 / (1 + n), HEIGHT)])
            one.context.draw(3)
    found = program.context.read(program.colours)
    assert (found == expected.context.read(expected.colours)).all()
    assert len(card.executions) > 10


@pytest.mark.plan("card-6")
def test_what_is_refused():
    card = Card(processes=1)
    owner = card.process("a")
    program = Program(owner.device, 0)
    query = owner.device.create_query(QueryKind.OCCLUSION_PREDICATE)
    with pytest.raises(InputError, match="query must be None where work is recorded"):
        owner.context.set_predication(query)
    with pytest.raises(InputError, match="swap chain must be made where there is no MMU"):
        owner.device.create_swap_chain(8, 8)
    with pytest.raises(InputError, match="name must be new, not a"):
        card.process("a")
    with pytest.raises(InputError, match="processes must lie in 1..1, not 2"):
        card.process("b")
    with pytest.raises(InputError, match="space must be a multiple of 65536"):
        Card(space=(4 << 20) + 4096)
    with pytest.raises(InputError, match="count"):
        program.context.draw(-1)
    program.context.packets.put(RingOp.LIST)
    with pytest.raises(InputError, match="command stream must be executed where there is no MMU"):
        program.context.flush()
    assert program.context.read(program.colours).any()
