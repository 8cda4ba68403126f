# SPDX-License-Identifier: BSD-2-Clause
import numpy as np
import pytest

from fixfunc.cosim.commands import CommandList
from fixfunc.models.formats import MOST
from fixfunc.models.frontend.state.pieces import encode
from fixfunc.models.geometry.stream_output import Declaration, Entry
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.geometry.viewport import Viewport
from fixfunc.models.host.packets import RING
from fixfunc.models.host.resources import Bind
from fixfunc.models.host.states import RasterizerState, SamplerState
from fixfunc.models.machine.bound_state import BoundState
from fixfunc.models.machine.machine import Machine
from fixfunc.models.machine.shaders import GeometryShader, PixelShader
from fixfunc.models.memory.cache_shape import CacheShape
from fixfunc.models.memory.counters import by_name
from fixfunc.models.pixel.pixel_stage import PixelResults
from fixfunc.models.scene.camera import look_at_mesh
from fixfunc.models.state import draw_state
from fixfunc.models.top import top
from fixfunc.spec.descriptors import SHADERS, STATE, Stage
from fixfunc.spec.dxgi import Format
from fixfunc.spec.errors import InputError
from fixfunc.spec.ring import FIELDS, LENGTHS, TRANSFER, RingOp, StateKind, Stop
from fixfunc.spec.state import DepthFormat
from tests.host.drawing import WHOLE, Scene, corners

WIDTH, HEIGHT = 320, 200
STREAM = 1 << 12  # where a command stream lies
# Jumps and calls have tests of their own, of the command processor: a loop of draws takes minutes.
OPS = [op for op in RingOp if op not in (RingOp.JUMP, RingOp.CALL)]
DRAW = np.frombuffer(
    encode(FIELDS[RingOp.DRAW], opcode=RingOp.DRAW, length=1, count=3, instances=1), np.uint8
)


def drawn(positions, faces, values=None, size=(WIDTH, HEIGHT)):
    """Which face each pixel shows, -1 where there is none, and its attribute, by the machine."""
    scene = Scene(*size)
    device, context = scene.device, scene.context
    forms = Format.R32_UINT, Format.R32_FLOAT
    textures = [device.create_texture2d(form, *size, bind=Bind.RENDER_TARGET) for form in forms]
    context.om.set_render_targets(
        [device.create_render_target_view(texture) for texture in textures], scene.depth
    )
    vertices = np.zeros((len(positions), 8), np.float32)
    vertices[:, :4] = positions
    vertices[:, 4] = 0 if values is None else values
    scene.bind(vertices)
    data = np.asarray(faces, "<u4").ravel()
    indices = device.create_buffer(bind=Bind.INDEX_BUFFER, data=data)
    context.ia.set_index_buffer(indices, Format.R32_UINT)

    def shown(quads, _bound):
        number = quads.primitive[:, None, None, None] + np.zeros((*quads.x.shape, 4), np.uint32)
        return PixelResults([number + np.uint32(1), quads.floats(0)])

    scene.shade(shown)
    context.draw_indexed(len(data))
    number, value = (context.read(texture)[:, :, 0].copy() for texture in textures)
    return number.view("<i4")[..., 0] - 1, value.view("<f4")[..., 0]


def torus(around, along):
    """Points and triangles of a torus."""
    u, v = np.meshgrid(np.arange(around) / around, np.arange(along) / along, indexing="ij")
    a, b = 2 * np.pi * u.ravel(), 2 * np.pi * v.ravel()
    ring = 1 + 0.4 * np.cos(b)
    points = np.stack([ring * np.cos(a), 0.4 * np.sin(b), ring * np.sin(a)], 1)
    i, j = np.mgrid[:around, :along].reshape(2, -1)
    n, m = (i + 1) % around, (j + 1) % along
    quads = np.stack([i * along + j, n * along + j, n * along + m, i * along + m], 1)
    faces = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    return points.astype(np.float32), faces


def ring(near):
    """A torus in clip space, and its faces; near: the eye is within, a third of faces are cut."""
    points, faces = torus(40, 24)
    matrix, _ = look_at_mesh(points, WIDTH / HEIGHT)
    if near:
        move = np.eye(4)
        move[:3, 3] = (0.3, 0.05, 1.9)
        matrix = matrix @ move.astype(np.float32)
    homogeneous = np.concatenate([points, np.ones((len(points), 1), np.float32)], 1)
    return (homogeneous @ matrix.T).astype(np.float32), faces


@pytest.mark.plan("machine-1")
@pytest.mark.parametrize("near", [False, True], ids=["whole", "clipped"])
def test_each_pixel_shows_the_face_that_llvmpipe_shows(llvmpipe_faces, near):
    positions, faces = ring(near)
    ours, _ = drawn(positions, faces)
    theirs, _ = llvmpipe_faces(WIDTH, HEIGHT)(positions, faces)
    shown = (ours >= 0) | (theirs >= 0)
    assert shown.sum() > 10000 and len(np.unique(ours)) > 150
    wrong = (ours != theirs).sum()
    assert wrong <= (0 if not near else 0.002 * shown.sum()), wrong


@pytest.mark.plan("machine-1")
@pytest.mark.parametrize("seed", range(4))
def test_attributes_are_llvmpipes(llvmpipe_faces, seed):
    """Corners lie on 1/256 pixel, and w is a power of two: nothing is rounded before setup."""
    rng = np.random.default_rng(seed)
    side, cell = 256, 32
    y, x = np.mgrid[:side:cell, :side:cell].reshape(2, -1, 1)
    corner = rng.integers(0, cell * 256, (2, y.shape[0], 3)) / 256
    w = 2.0 ** rng.integers(0, 4, (y.shape[0], 3))
    place = np.stack([(x + corner[0]) / 128 - 1, 1 - (y + corner[1]) / 128, 0.5 + 0 * w], -1)
    positions = np.concatenate([place * w[..., None], w[..., None]], -1)
    positions = positions.reshape(-1, 4).astype(np.float32)
    values = rng.uniform(0, 1, len(positions)).astype(np.float32)
    faces = np.arange(len(positions)).reshape(-1, 3)
    number, ours = drawn(positions, faces, values, (side, side))
    theirs_number, theirs = llvmpipe_faces(side, side)(positions, faces, values)
    assert (number == theirs_number).all()
    # Planes of thin triangles are not exact in float32, which llvmpipe computes them in.
    (x0, x1, x2), (y0, y1, y2) = corner.transpose(0, 2, 1)
    area = np.abs((x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)) / 2
    shown = (number >= 0) & (area > 120)[number]
    assert shown.sum() > 2500
    assert np.abs(ours - theirs)[shown].max() <= 128 * 2.0**-24
    assert np.median(np.abs(ours - theirs)[shown]) <= 4 * 2.0**-24


@pytest.mark.plan("machine-2")
def test_rings_that_are_random_end():
    rng = np.random.default_rng(7)
    for _ in range(40):
        scene = Scene(8, 8, most_work=1 << 8)
        scene.draw(WHOLE)
        machine = scene.device.machine
        memory = scene.device.memory
        begin = machine.processor.read
        at = begin
        for _ in range(int(rng.integers(1, 12))):
            op = RingOp(rng.choice(OPS))
            packet = rng.integers(0, 256, TRANSFER, dtype=np.uint8)
            if rng.random() < 0.7:
                packet[rng.random(TRANSFER) < 0.8] = 0
            length = LENGTHS.get(op, 1)
            packet[:4] = op, length, 0, 0
            rows = [packet, *rng.integers(0, 256, (length - 1, TRANSFER), dtype=np.uint8)]
            for row in rows:
                memory[at : at + TRANSFER] = row
                at = (at + TRANSFER) % RING
        try:
            stopped = machine.submit(at)
        except InputError:
            stopped = machine.processor.run()
        assert stopped.stop in (Stop.EMPTY, Stop.WAIT, Stop.ERROR)
        assert not machine.processor.work


@pytest.mark.plan("machine-2")
def test_bits_of_state_that_are_wrong_are_refused():
    rng = np.random.default_rng(8)
    refused = 0
    for n in range(120):
        scene = Scene(8, 8, most_work=1 << 8)
        scene.bind(corners(WHOLE))
        scene.context.draw(3)
        machine = scene.device.machine
        memory = scene.device.memory
        kind = StateKind(n % len(STATE))
        at = machine.processor.read
        rows = np.zeros((3, TRANSFER), np.uint8)
        rows[0, :2] = RingOp.SET_STATE, 2
        rows[0, 4] = kind
        rows[1] = rng.integers(0, 256, TRANSFER)
        rows[2] = DRAW
        for row in rows:
            memory[at : at + TRANSFER] = row
            at += TRANSFER
        try:
            machine.submit(at)
        except InputError:
            refused += 1
        assert not machine.processor.work
    assert refused > 60


@pytest.mark.plan("machine-2")
def test_bits_of_tables_that_are_wrong_are_refused():
    """State stays; what it names in memory changes, and is drawn or dispatched again."""
    rng = np.random.default_rng(9)
    refused = 0
    for n in range(150):
        scene = Scene(8, 8, most_work=1 << 8)
        device, context = scene.device, scene.context
        out = device.create_buffer(64, Bind.STREAM_OUTPUT)
        context.so.set_targets([out])
        texture = device.create_texture2d(Format.R8G8B8A8_UNORM, 4, 4)
        context.ps.set_shader_resources(0, [device.create_shader_resource_view(texture)])
        context.ps.set_samplers(0, [SamplerState(address_u="wrap")])

        def sampled(quads, bound):
            return PixelResults(bound.sample(0, 0, np.zeros((*quads.x.shape, 2), np.float32)))

        scene.shade(sampled)
        declaration = Declaration([Entry(0)], {0: 16})
        program = GeometryShader(stream_output={0: declaration})
        context.gs.set_shader(device.create_geometry_shader(program))
        scene.bind(corners(WHOLE))
        context.draw(3)
        machine = device.machine
        memory = device.memory
        # The state's tables lie behind the ring.
        used = RING + np.flatnonzero(memory[RING : RING + 8192])
        for _ in range(int(rng.integers(1, 4))):
            memory[rng.choice(used)] ^= 1 << int(rng.integers(8))
        at = machine.processor.read
        memory[at : at + TRANSFER] = DRAW
        try:
            machine.submit(at + TRANSFER)
        except InputError:
            refused += 1
        assert not machine.processor.work, n
    assert 15 < refused < 140


@pytest.mark.plan("machine-2")
@pytest.mark.parametrize("stage", Stage, ids=lambda stage: stage.name)
def test_a_shader_of_another_stage_is_refused(stage):
    shaders = {1: len, 2: PixelShader(len)}
    # One declares something; vertex and domain shaders are callables alone.
    wrong = 2 if stage in (Stage.VERTEX, Stage.DOMAIN) else 1
    for number in (wrong, 3):
        pieces = [b""] * len(StateKind)
        pieces[StateKind.SHADERS] = encode(SHADERS, **{stage.name.lower(): number})
        bound = BoundState(np.zeros(64, np.uint8), pieces, shaders)
        with pytest.raises(InputError, match=f"{stage.name} shader must be the number of one"):
            bound.shader(stage)


def streamed(packets):
    """Memory with a command stream and a ring that names it; where the write pointer goes."""
    memory = np.zeros(1 << 18, np.uint8)
    data = packets.transfers.view(np.uint8).ravel()
    memory[STREAM : STREAM + len(data)] = data
    fields = {"address": STREAM, "transfers": len(packets.transfers), "limit": len(memory)}
    row = encode(FIELDS[RingOp.LIST], opcode=RingOp.LIST, length=1, **fields)
    memory[:TRANSFER] = np.frombuffer(row, np.uint8)
    return memory, fields


@pytest.mark.plan("machine-5")
def test_a_command_stream_of_the_ring_is_what_the_top_executes():
    triangles = np.zeros(2, TRIANGLE)
    for k, (x, y) in enumerate(((0, 0), (8000, 0), (0, 6000))):
        triangles[f"x{k}"], triangles[f"y{k}"], triangles[f"z{k}"] = x, y, 1 << 24
    packets = CommandList().target(1 << 16, 2 << 16, 3 << 16)
    packets.state(draw_state(40, 24, flat_colour=0xFF204060))
    packets.clear((0, 0, 40, 24), depth=1, depth_value=MOST[DepthFormat.D24], stencil=1, colour=1)
    packets.triangles(triangles).fence(7)
    memory, fields = streamed(packets)
    alone = memory.copy()
    single = top.Machine(alone)
    drawn_alone = single.draw(*fields.values())
    assert not drawn_alone.status["error"].any()
    machine = Machine(memory, 0, 1024, {})
    assert machine.submit(TRANSFER).stop == Stop.EMPTY
    assert (memory == alone).all()
    moved = by_name(single.traffic)
    assert moved["colour_write_back_1"] and moved["depth_table_clear"]
    assert moved == {name: machine.totals[name] for name in moved}
    assert np.count_nonzero(memory[3 << 16 :]) > 64  # two colours: 15 tiles, and their table


def dome(columns=40, rows=24, step=3):
    """Triangles of a bent surface, about twenty a tile."""
    y, x = (v.ravel() for v in np.mgrid[:rows:step, :columns:step])
    out = np.zeros(2 * len(x), TRIANGLE)
    for half, corners_of in enumerate((((0, 0), (1, 0), (0, 1)), ((1, 1), (0, 1), (1, 0)))):
        for k, (dx, dy) in enumerate(corners_of):
            u, v = x + step * dx, y + step * dy
            out[f"x{k}"][half::2], out[f"y{k}"][half::2] = u << 8, v << 8
            out[f"z{k}"][half::2] = 3_000_000_000 - 600_000 * ((u - 20) ** 2 + 2 * (v - 9) ** 2)
    return out


@pytest.mark.plan("machine-5")
@pytest.mark.parametrize("samples", [1, 4])
def test_depths_of_a_command_stream_are_coded_by_differences(samples):
    """The machine does so by itself; by anchors, as the hardware does, memory holds the same."""
    packets = CommandList().target(1 << 16, 2 << 16, 3 << 16)
    packets.state(draw_state(40, 24, samples))
    packets.clear((0, 0, 40, 24), depth=1, depth_value=MOST[DepthFormat.D24], stencil=1, colour=1)
    packets.triangles(dome()).fence(7)
    memory, fields = streamed(packets)
    machines = {}
    memories = {}
    for coding in ("differences", "anchor"):
        memories[coding] = memory.copy()
        machines[coding] = top.Machine(memories[coding], shape=CacheShape(coding=coding))
        assert not machines[coding].draw(*fields.values()).status["error"].any()
    Machine(memory, 0, 1024, {}).submit(TRANSFER)
    assert (memory == memories["differences"]).all()
    caches = [machines[coding].depth.caches["depth"] for coding in machines]
    assert (caches[0].values() == caches[1].values()).all()
    moved, by_anchors = (
        {kind.mode.name: n for kind, n in machine.traffic["depth"].items() if kind.mode}
        for machine in machines.values()
    )
    by_differences = sum(n for name, n in moved.items() if name.startswith("DIFFERENCES"))
    assert by_differences >= by_anchors["RAW"] > 5
    assert "RAW" not in moved
    assert sum(moved.values()) == sum(by_anchors.values()) == 15 * samples


@pytest.mark.plan("machine-5")
def test_a_command_stream_that_is_wrong_is_told():
    memory, _ = streamed(CommandList().triangles(np.zeros(1, TRIANGLE)))
    with pytest.raises(InputError, match="command stream must be free of errors, not ORDER at"):
        Machine(memory, 0, 1024, {}).submit(TRANSFER)


@pytest.mark.plan("machine-3")
def test_a_draw_outside_of_every_rectangle_draws_nothing():
    scene = Scene()
    scene.context.rs.set_viewports([])
    scene.draw(WHOLE)
    assert not scene.shown().any()
    scene.context.rs.set_viewports([Viewport(x=40, width=8, height=8)])
    scene.draw(WHOLE)
    assert not scene.shown().any()
    scene.context.rs.set_viewports([Viewport(width=32, height=24)])
    scene.context.rs.set_state(RasterizerState(scissor_enable=True))
    scene.draw(WHOLE)
    assert not scene.shown().any()
    scene.context.rs.set_state(RasterizerState())
    scene.draw(WHOLE)
    assert scene.shown().all()


@pytest.mark.plan("machine-3")
def test_targets_may_be_left_out():
    scene = Scene()
    context = scene.context
    context.om.set_render_targets([scene.target])
    scene.draw(WHOLE, (1, 0, 0, 1))
    scene.draw(WHOLE, (0, 1, 0, 1))
    assert (scene.image()[:, :, 0] == (0, 255, 0, 255)).all()
    context.om.set_render_targets([], scene.depth)
    scene.draw(WHOLE, z=0.5)
    assert (scene.image()[:, :, 0] == (0, 255, 0, 255)).all()
    context.om.set_render_targets([scene.target], scene.depth)
    scene.draw(WHOLE, z=0.6)
    assert (scene.image()[:, :, 0] == (0, 255, 0, 255)).all()
    context.om.set_render_targets([])
    scene.draw(WHOLE, z=0.1)
    assert scene.device.machine.totals["c_invocations"] == 5
