# SPDX-License-Identifier: BSD-2-Clause
"""Events of a frame, against the counters of the golden top and the packets of its stream."""

from dataclasses import replace

import numpy as np
import pytest

from fixfunc.cosim.commands import CommandList
from fixfunc.cosim.figures.counters import replayed
from fixfunc.cosim.frame import mesh
from fixfunc.cosim.frame.job import FrameJob, in_memory
from fixfunc.cosim.reference import top
from fixfunc.models.geometry.triangle_setup import TRIANGLE
from fixfunc.models.memory.surface import plane_bytes, tiles_of
from fixfunc.models.performance.cache_moves import cache_moves
from fixfunc.models.performance.events import PLANES, Beat, FrameEvents
from fixfunc.models.performance.params import CacheParams
from fixfunc.models.performance.predict import predict
from fixfunc.models.performance.recording.recorder import record
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.models.state import draw_state
from fixfunc.spec.commands import Opcode
from fixfunc.spec.errors import InputError
from fixfunc.spec.state import DepthFormat, Outcome, TileMode
from tests.performance.frames import PARAMS, events, job


@pytest.mark.plan("performance-3")
@pytest.mark.parametrize("name", ["teapot, 1x", "slivers, 4x"])
def test_events_add_up_to_the_counters(name):
    own = job(name)
    machine = top.machine(PARAMS, own.data.copy())
    counted = replayed(machine, machine.draw(*own.start))
    beats = events(name).beats
    tiles = beats[beats["kind"] == Beat.TILE]
    found = {
        "triangles": events(name).triangles,
        "set_up": int((beats["first"] & beats["set_up"]).sum()),
        "tiles": len(tiles),
        "tiles_accepted": int((tiles["outcome"] == Outcome.ACCEPT).sum()),
        "tiles_tested": int((tiles["outcome"] == Outcome.TEST).sum()),
        "samples_covered": int(tiles["samples"].sum()),
        "samples_passed": int(tiles["passed"].sum()),
        "tiles_shaded": int(tiles["shaded"].sum()),
        "pipe_quads": int(tiles["quads"].sum()),
        "pipe_attributes": int((tiles["quads"] * np.maximum(tiles["attributes"], 1)).sum()),
    }
    assert found == {key: counted[key] for key in found}
    transfers = int(events(name).packets["transfers"].sum())
    assert transfers == own.start[1]


@pytest.mark.plan("performance-3")
def test_beats_stand_in_the_order_of_packets():
    """A RELEASE stands between the triangles before its packet and those behind it."""
    scene = Scene(*mesh.teapot(8), 64, 64)
    told = FrameJob(scene, render(scene), PARAMS).events()
    beats = told.beats
    releases = told.packets[told.packets["opcode"] == Opcode.RELEASE]
    assert (beats["kind"] == Beat.RELEASE).sum() == len(releases) > 0
    assert (beats["kind"][releases["beat"]] == Beat.RELEASE).all()
    assert beats["first"][releases["beat"] + 1].all()
    passed = 0
    for packet in told.packets:
        before = beats[: packet["beat"]]
        assert before["first"].sum() == passed
        if packet["opcode"] == Opcode.PRIMITIVES:
            passed += int(packet["count"])
    triangles = beats["triangle"][beats["triangle"] >= 0]
    assert (np.diff(triangles) >= 0).all()
    assert beats["kind"][-1] == Beat.FENCE


@pytest.mark.plan("performance-5")
def test_slots_that_are_released_earlier_change_no_byte():
    """Only the clocks: vertices are written while triangles before them are drawn."""
    scene = Scene(*mesh.teapot(8), 64, 64)
    frame = render(scene)
    clocks = []
    planes = []
    for ahead in (1, 2):
        own = FrameJob(scene, frame, PARAMS, ahead=ahead)
        data = own.data.copy()
        drawn = top.machine(PARAMS, data).draw(*own.start)
        assert not drawn.status["error"].any()
        planes.append(data[: own.start[0]])
        clocks.append(predict(own.events()).clocks)
    assert (planes[0] == planes[1]).all()
    assert clocks[1] < 0.9 * clocks[0]


def blended_twice():
    """A square over 24 x 16 pixels of a target, opaque and then blended by a shader outside."""
    size = 64, 64
    opaque = draw_state(*size, 1)
    blended = draw_state(*size, 1, depth_test=0, depth_write=0, blend_enable=1)
    packets = CommandList()
    at = 0
    bases = {}
    for plane in ("depth", "stencil", "colour"):
        bases[plane] = at
        at += -(-plane_bytes(tiles_of(opaque), plane) // 4096) * 4096
    square = np.zeros(2, TRIANGLE)
    for n, (x, y) in enumerate(((0, 0), (24, 0), (24, 16))):
        square[f"x{n}"], square[f"y{n}"] = 256 * x, 256 * y
    for n, (x, y) in enumerate(((0, 0), (24, 16), (0, 16))):
        square[f"x{n}"][1], square[f"y{n}"][1] = 256 * x, 256 * y
    for n in range(3):
        square[f"z{n}"] = 256 * 1000
    packets.target(**bases).state(opaque)
    packets.clear((0, 0, *size), depth=1, stencil=1, colour=1, depth_value=(1 << 24) - 1)
    packets.triangles(square).state(blended).triangles(square)
    # Tested and not written.
    read_only = draw_state(*size, 1, depth_write=0)
    nearer = square.copy()
    for n in range(3):
        nearer[f"z{n}"] = 256 * 100
    packets.state(read_only).triangles(square).triangles(nearer).fence(1)
    data, start = in_memory(packets.fence(2).transfers, at)
    limits = top.limits_of(PARAMS)
    return record(data, start, limits, lambda probe: top.machine(PARAMS, data.copy(), probe=probe))


@pytest.mark.plan("performance-3")
def test_blending_and_shaders_outside():
    told = blended_twice()
    kinds = told.beats["kind"].tolist()
    assert kinds.count(Beat.STATE) == 3
    assert kinds.count(Beat.FENCE) == 2
    assert kinds[:2] == [Beat.STATE, Beat.CLEAR]
    tiles = told.beats[told.beats["kind"] == Beat.TILE]
    assert not tiles["built_in"].any()
    first, second, third = np.split(tiles, [len(tiles) // 4, len(tiles) // 2])
    assert not first["groups"].any()
    # Two triangles of six tiles: groups of two rows of eight samples.
    assert second["groups"].max() == 4
    assert (second["groups"] > 0).all()
    assert int(first["samples"].sum()) == 24 * 16
    depth, colour = told.uses["depth"], told.uses["colour"]
    tested = int((third["outcome"] == Outcome.TEST).sum())
    assert tested > 0
    assert len(depth) == len(first) + tested
    assert len(colour) == int(tiles["shaded"].sum())
    # A tile that is blended is needed, however much of it is covered.
    assert colour["needed"][len(first) :][: len(second)].all()


@pytest.mark.plan("performance-3")
@pytest.mark.parametrize("count", [1, 8, 9, 20])
def test_lists_with_upper_bits_of_depths(count):
    """Eight triangles take nine transfers; a beat stands behind as many as there are."""
    state = draw_state(64, 64, 1)
    size = -(-plane_bytes(tiles_of(state), "depth") // 4096) * 4096
    corners = np.zeros(count, TRIANGLE)
    for n, (x, y) in enumerate(((0, 0), (8, 0), (0, 8))):
        corners[f"x{n}"], corners[f"y{n}"] = 256 * x, 256 * y
        corners[f"z{n}"] = 100 << 32
    packets = CommandList().target(depth=0, stencil=size, colour=2 * size).state(state)
    packets.clear((0, 0, 64, 64), depth=1, stencil=1, colour=1, depth_value=1)
    packets.triangles(corners).fence(1)
    data, start = in_memory(packets.transfers, 3 * size)
    limits = top.limits_of(PARAMS)
    told = record(data, start, limits, lambda probe: top.machine(PARAMS, data.copy(), probe=probe))
    (row,) = told.packets[told.packets["opcode"] == Opcode.TRIANGLES]
    assert row["transfers"] == 1 + count + -(-count // 8)
    assert row["count"] == count
    assert told.triangles == count
    (fence,) = told.packets[told.packets["opcode"] == Opcode.FENCE]
    assert told.beats["kind"][fence["beat"]] == Beat.FENCE
    assert predict(told).clocks > 0


@pytest.mark.plan("performance-3")
def test_two_targets_of_different_formats():
    """Raw tiles of D32F have 256 bytes, of D24 192; what is written goes before the next target."""
    size = 64, 64
    at = 0
    packets = CommandList()
    corners = np.zeros(1, TRIANGLE)
    for n, (x, y) in enumerate(((0, 0), (64, 0), (0, 64))):
        corners[f"x{n}"], corners[f"y{n}"] = 256 * x, 256 * y
    for form in (DepthFormat.D32F, DepthFormat.D24):
        state = draw_state(*size, 1, depth_format=form)
        bases = {}
        for plane in ("depth", "stencil", "colour"):
            bases[plane] = at
            at += -(-plane_bytes(tiles_of(state), plane) // 4096) * 4096
        packets.target(**bases).state(state)
        packets.clear((0, 0, *size), depth=1, stencil=1, colour=1, depth_value=1 << 23)
        packets.triangles(corners).fence(1)
    data, start = in_memory(packets.transfers, at)
    limits = top.limits_of(PARAMS)
    told = record(data, start, limits, lambda probe: top.machine(PARAMS, data.copy(), probe=probe))
    machine = top.machine(PARAMS, data.copy())
    machine.draw(*start)
    sizes = told.surfaces["depth"]["sizes"][:, TileMode.RAW]
    assert sizes.tolist() == [256, 192]
    fences = np.flatnonzero(told.beats["kind"] == Beat.FENCE)
    shape = top.shape(PARAMS)
    params = CacheParams(shape.sets, shape.ways, shape.table_lines)
    for plane in PLANES:
        moves = cache_moves(told.uses[plane], told.surfaces[plane], fences, params)
        golden = machine.traffic[plane]
        causes = {kind.cause for kind in golden}
        for cause in causes:
            count = sum(n for (own, _), n in moves.counts.items() if own == cause)
            assert count == sum(n for kind, n in golden.items() if kind.cause == cause)
    assert len(fences) == 2


@pytest.mark.plan("performance-3")
def test_events_that_are_none():
    told = blended_twice()
    with pytest.raises(InputError, match="beats must be a row of kind, triangle"):
        replace(told, beats=told.beats["kind"])
    with pytest.raises(InputError, match="uses must have depth, stencil, colour, not"):
        replace(told, uses={"depth": told.uses["depth"]})
    beyond = told.uses["colour"].copy()
    beyond["beat"] = len(told.beats)
    with pytest.raises(InputError, match=r"uses\[colour\] must be of the beats, not others"):
        replace(told, uses=told.uses | {"colour": beyond})
    assert isinstance(told, FrameEvents)
