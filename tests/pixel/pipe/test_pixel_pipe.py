# SPDX-License-Identifier: BSD-2-Clause
import dataclasses
import importlib

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.frame import job, mesh
from fixfunc.cosim.frame.vertex_list import VertexList
from fixfunc.cosim.reference import top as reference
from fixfunc.cosim.vertices import write_primitives, write_vertices
from fixfunc.models.frontend.command_limits import CommandLimits
from fixfunc.models.frontend.command_reader import read
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.payload import dtype
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.models.state import draw_state
from fixfunc.rtl import top as rtl
from fixfunc.rtl.pixel.pixel_pipe.pixel_pipe import PixelPipeParams
from fixfunc.spec.commands import START, STATUS, VERTEX_PLACE, CommandError
from fixfunc.spec.counters import COUNTERS, PIXELS
from fixfunc.spec.errors import InputError
from fixfunc.spec.pixels.interpolation import How
from fixfunc.spec.state import Compare, Cull
from fixfunc.tb import catalogue
from fixfunc.tb import top as bench
from fixfunc.tb.frontend import hostile, streams
from fixfunc.tb.frontend.vertex_draws import ONE, VertexDraws
from tests.volume import LIMIT, check_outputs, volume

BLOCK = "top"
CONFIG = "tiny"
PARAMS = rtl.CONFIGS[CONFIG]
WHOLE = {"depth": 1, "stencil": 1, "colour": 1, "depth_value": (1 << 24) - 1}


def rows_of(packets):
    """A command stream behind its START."""
    start = np.array([(streams.LISTS, len(packets.transfers), streams.SIZE)], dtype(START))
    return np.concatenate([streams.mark(start), packets.transfers])


def begun(**fields):
    """A target that has been cleared, under a state."""
    packets = CommandList().target(**streams.PLACES)
    packets.state(draw_state(16, 16, built_in=1, **fields))
    return packets.clear((0, 0, 16, 16), **WHOLE)


def triangles(count, size=16):
    """Triangles over all of a target, facing one way."""
    out = np.zeros(count, TRIANGLE)
    out["x1"] = out["y2"] = size * 512
    return out


@pytest.mark.plan("pixel-pipe-1")
@pytest.mark.plan("pixel-pipe-7")
@pytest.mark.parametrize("samples", [1, 2, 4, 8])
@pytest.mark.parametrize("slots", [1024, 8])
def test_a_frame_is_that_of_a_shader(samples, slots):
    """The golden top draws vertices as the machine draws them by a pixel shader.

    The eye is so near that triangles are cut; vertices come again and again.
    """
    vertices, faces = mesh.teapot(4)
    scene = Scene(vertices, faces, 64, 48, samples)
    scene.transform = scene.transform.copy()
    scene.transform[3, 3] -= 3.1  # through the near plane
    frame = render(scene)
    params = rtl.CONFIGS["frame"]
    ring = dataclasses.replace(params.reader.ring, slots=slots)
    params = dataclasses.replace(params, reader=dataclasses.replace(params.reader, ring=ring))
    work = job.FrameJob(scene, frame, params)
    data = work.data.copy()
    drawn = reference.machine(params, data).draw(*work.start)
    assert drawn.status["error"] == CommandError.NONE
    assert (work.picture(data) == frame.colour).all()
    cut = (frame.part.weights != np.eye(3)).any((1, 2)).sum()
    assert cut > 20
    assert len(np.unique(frame.colour.reshape(-1, 3), axis=0)) > 200
    assert drawn.pixels["pipe_quads"] > 300


@pytest.mark.plan("pixel-pipe-7")
def test_a_triangle_takes_little():
    """A third of a transfer or less; and each vertex is written once, or a little more often,
    however often it was shaded."""
    frame = render(Scene(*mesh.teapot(16), 64, 48, 1))
    packets = CommandList()
    VertexList(packets, 1024).write(frame.part)
    shaded = frame.part.vertices
    rows = np.concatenate([shaded.position, shaded.attributes[:, 0]], 1)
    vertices = len(np.unique(rows, axis=0))
    assert len(rows) > 1.5 * vertices
    assert len(packets.transfers) < 1.05 * vertices + len(frame.triangles) / 3
    assert len(packets.transfers) > vertices


@pytest.mark.plan("pixel-pipe-2")
def test_hostile_streams():
    for seed in range(4):
        rows = hostile.requests(np.random.default_rng(seed), 60, PARAMS)
        check_outputs(BLOCK, CONFIG, rows, ("full", "bursty"), seed)


@pytest.mark.plan("pixel-pipe-2")
@pytest.mark.parametrize(
    ("stage", "function"),
    [
        ("fixfunc.models.lib.float32", "unorm"),
        ("fixfunc.models.pixel.texture_stage", "passes"),
        ("fixfunc.models.pixel.interpolator", "attributes"),
        ("fixfunc.models.pixel.pixel_pipe", "beats_of"),
        ("fixfunc.models.texture.texture_unit", "filter_quads"),
    ],
)
def test_what_is_wrong_is_seen(stage, function, monkeypatch):
    """The last bit of a golden step is wrong: memory differs, and no stage before it."""
    module = importlib.import_module(stage)
    right = getattr(module, function)

    def wrong(*given):
        out = right(*given)
        if function == "beats_of":
            out.corners["rhw0"] ^= 1 << 23
            return out
        if function == "filter_quads":
            out["c0_0"] ^= 1 << 23
            return out
        if function == "attributes":
            return (out.view(np.uint32) ^ np.uint32(1 << 16)).view(np.float32)
        return ~out if out.dtype == bool else out ^ 1

    monkeypatch.setattr(module, function, wrong)
    for seed in range(12, 18):  # what else a stream draws may hide it
        rows = streams.requests(np.random.default_rng(seed), 900, PARAMS)
        _, _, mismatches, first = catalogue.block(BLOCK).compare(
            volume(BLOCK, CONFIG), rows, CONFIG, ("full", "full"), 0, limit=LIMIT
        )
        if mismatches:
            break
    assert mismatches
    assert first.startswith(("memory: ", "probe_depth: ", "probe_hiz: ")), first


@pytest.mark.plan("pixel-pipe-3")
@pytest.mark.parametrize("states", [1, 9])
def test_what_is_not_seen_holds_nothing_up(states):
    """Far more triangles than the table has, all culled, under states that it cannot hold at once.

    What is drawn behind them has its own state.
    """
    packets = begun(cull=Cull.BACK)
    culled = triangles(40)
    for name in "xyz":
        culled[f"{name}1"], culled[f"{name}2"] = culled[f"{name}2"], culled[f"{name}1"].copy()
    for n in range(states):
        packets.pixel_state(constant_r=n, alpha_test=Compare.ALWAYS)
        packets.triangles(culled)
    packets.pixel_state(constant_r=0x3F800000, constant_a=0x3F800000, alpha_test=Compare.ALWAYS)
    packets.triangles(triangles(1))
    outputs = check_outputs(BLOCK, CONFIG, rows_of(packets.fence(1)), ("full", "full"), 0)
    colours = outputs["memory"].view(np.uint32)
    assert (colours == 0xFF0000FF).sum() >= 100
    assert len(outputs["probe_quads"]) == 16


@pytest.mark.plan("pixel-pipe-3")
def test_a_row_of_the_table_is_another_triangles_next():
    """Between two that are seen all others are culled, and the second has the row of the first."""
    packets = begun(cull=Cull.BACK, depth_test=0)
    packets.pixel_state(interpolated=1, alpha_test=Compare.ALWAYS, how0=How.LINEAR)
    corners = triangles(1)
    for first, channel in ((0, 0), (3, 1)):
        places = np.zeros(3, codec.wide(VERTEX_PLACE))
        for name in "xy":
            places[name] = [corners[f"{name}{k}"][0] for k in range(3)]
        places["rhw"] = ONE
        values = np.zeros((3, 1, 4), np.float32)
        values[..., [channel, 3]] = 1
        packets.append(write_vertices(places, values))
        packets.append(write_primitives(np.array([[first, first + 1, first + 2]]), 1))
        turned = np.array([[first, first + 2, first + 1]] * (PARAMS.pixels.triangles - 1))
        packets.append(write_primitives(turned, 1))
    outputs = check_outputs(BLOCK, CONFIG, rows_of(packets.fence(1)), ("full", "full"), 0)
    colours = outputs["memory"].view(np.uint32)
    assert (colours == 0xFF00FF00).sum() == 256
    assert (colours == 0xFF0000FF).sum() == 0


@pytest.mark.plan("pixel-pipe-4")
def test_counters():
    rows = streams.requests(np.random.default_rng(1), 900, PARAMS)
    outputs = check_outputs(BLOCK, CONFIG, rows, ("full", "full"), 0)
    counted = dict(zip(COUNTERS, outputs["counter_value"][:, 0].tolist(), strict=False))
    golden = bench.machine(PARAMS, streams.memory(rows, PARAMS), shader=bench.shader(PARAMS))
    drawn = [golden.draw(*map(int, start)) for start, _ in streams.starts(rows)]
    total = {name: sum(part.pixels[name] for part in drawn) for name in PIXELS}
    assert {name: counted[name] for name in PIXELS} == total
    assert all(total.values())


BAD = {
    "how0": 3,
    "where0": 3,
    "how7": 3,
    "where7": 3,
    "attribute": 8,
    "coordinates": 8,
}


@pytest.mark.plan("pixel-pipe-5")
@pytest.mark.parametrize("name", BAD)
def test_a_pixel_state_that_cannot_be(name):
    packets = begun().pixel_state(**{name: BAD[name]}).triangles(triangles(1))
    status = _status(packets)
    assert (status["error"], status["at"], status["passed"]) == (CommandError.STATE, 4, 0)
    right = begun().pixel_state(**{name: BAD[name] - 1}).triangles(triangles(1))
    assert _status(right)["error"] == CommandError.NONE


@pytest.mark.plan("pixel-pipe-5")
def test_a_draw_without_a_pixel_state():
    assert _status(begun().triangles(triangles(1)))["error"] == CommandError.ORDER
    vertices = begun()
    VertexDraws(np.random.default_rng(1), PARAMS.reader).draw(vertices, triangles(1))
    assert _status(vertices)["error"] == CommandError.ORDER


def _status(packets):
    """The last status of the hardware, which is the golden one."""
    run, _, mismatches, first = catalogue.block(BLOCK).compare(
        volume(BLOCK, CONFIG), rows_of(packets), CONFIG, ("full", "full"), 0, limit=LIMIT
    )
    assert not mismatches, first
    return codec.unpack(run.outputs["o"], STATUS, dtype(STATUS))[-1]


@pytest.mark.plan("pixel-pipe-5")
def test_a_top_without_the_pipe():
    """Neither its packets are known, nor a state that asks for it."""
    state = begun()
    vertices = CommandList().pixel_state()
    for packets, error in ((state, CommandError.STATE), (vertices, CommandError.OPCODE)):
        data = np.zeros(1 << 20, np.uint8)
        transfers = packets.transfers
        data[-transfers.nbytes :] = transfers.view(np.uint8).ravel()
        found = read(data, len(data) - transfers.nbytes, len(transfers), len(data), CommandLimits())
        assert found.error == error


@pytest.mark.plan("pixel-pipe-6")
def test_wrong_parameters():
    for fields in ({"triangles": 6}, {"triangles": 2}, {"states": 3}, {"states": 1}):
        with pytest.raises(InputError, match=next(iter(fields))):
            PixelPipeParams(**fields)
    with pytest.raises(InputError, match="triangles must be at most 512"):
        PixelPipeParams(triangles=1024)
    inner = dataclasses.replace(PARAMS.pixels.interpolator, inner=True)
    with pytest.raises(InputError, match=r"interpolator\.inner must be False with the texture st"):
        PixelPipeParams(interpolator=inner)
    with pytest.raises(InputError, match=r"reader\.ring must be there"):
        dataclasses.replace(PARAMS, pixels=None)
    reader = dataclasses.replace(PARAMS.reader.ring, attributes=2)
    reader = dataclasses.replace(PARAMS.reader, ring=reader)
    with pytest.raises(InputError, match=r"pixels\.interpolator\.attributes"):
        dataclasses.replace(PARAMS, reader=reader)
    blocks = {
        name: dataclasses.replace(getattr(PARAMS, name), samples=8)
        for name in ("reader", "raster", "depth", "colour")
    }
    with pytest.raises(InputError, match=r"raster\.samples must be at most raster\.edge 4"):
        dataclasses.replace(PARAMS, **blocks)
