# SPDX-License-Identifier: BSD-2-Clause
"""Frames of the hardware over time: what adds up to its counters."""

import re

import pytest

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.figures import bound
from fixfunc.cosim.frame import frame, mesh
from fixfunc.cosim.time import traffic
from fixfunc.cosim.time.outputs import Outputs
from fixfunc.models.scene.scene import Scene
from fixfunc.spec.counters import CLIENTS, PROBES
from tests.cosim.report import frames
from tests.cosim.simulation.test_waves import at, changes
from tests.cosim.time import test_trace, test_traffic

pytestmark = pytest.mark.qualify  # the top takes minutes to build


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frame")
    outputs = Outputs(folder / "frame.pftrace", folder / "dram")
    return frame.run(Scene(*mesh.teapot(2), 160, 90, 4), folder, outputs=outputs), folder


@pytest.mark.plan("time-7")
def test_a_timeline_adds_up_to_the_counters(drawn):
    result, _ = drawn
    assert not result.failures
    counted = result.figures["hardware"]
    found = result.timeline
    assert abs(len(found.edges) * found.interval - counted["clocks"]) < 3 * found.interval
    for name in PROBES:
        assert found.stalls[name].sum() == pytest.approx(counted[f"stall_{name}"], abs=2)
    transfers = bound.channel_transfers(result.figures["moved"])
    for client in CLIENTS:
        for way, words in (("read", "read"), ("write", "written")):
            moved = found.moved[f"{client}_memory.{way}"].sum()
            assert moved == transfers.get(f"{client} {words}", 0)
    assert found.moved["commands_memory.read"].sum() == counted["command_transfers"]
    words = [mark.words for mark in found.marks]
    assert words == ["state", "clear", "draw", "fence", "status"]


@pytest.mark.plan("time-7")
def test_the_report_has_the_chart(drawn):
    """Once, and it needs no other file."""
    page = (drawn[1] / "frame.html").read_text()
    assert page.count('aria-label="stalls and bandwidth over time"') == 1
    assert re.search(r"depth_memory, % of 32 bytes a clock", page)


@pytest.mark.plan("time-7")
def test_traffic_adds_up_to_the_counters(drawn):
    result, folder = drawn
    files = {path.name: path.read_bytes() for path in (folder / "dram").iterdir()}
    found = test_traffic.read(files)
    transfers = bound.channel_transfers(result.figures["moved"])
    for form in traffic.FORMATS:
        for client in CLIENTS:
            lines = [it[0] for it in found.get((f"{client}_memory", form), [])]
            assert lines.count(True) == transfers.get(f"{client} written", 0)
            assert lines.count(False) == transfers.get(f"{client} read", 0)
        commands = found["commands_memory", form]
        assert len(commands) == result.figures["hardware"]["command_transfers"]


@pytest.mark.plan("time-7")
def test_the_trace_has_every_burst_and_the_draw(drawn):
    result, folder = drawn
    found = test_trace.read((folder / "frame.pftrace").read_bytes())
    begun = [
        event
        for path, events in found.items()
        if path[0] == "memory"
        for kind, _, event in events
        if kind == "begin"
    ]
    assert len(begun) == len(result.timeline.bursts)
    assert [event.name for _, _, event in found["draws",] if event.name.startswith("draw")] == [
        "draw 0"
    ]


@pytest.mark.plan("time-9")
def test_scenes_and_recorded_frames_leave_the_same_files(tmp_path):
    for name, make in (("s.glb", frames.scene_file), ("r.npz", frames.recorded_file)):
        path = make(tmp_path / name)
        paths = [tmp_path / f"{name}{end}" for end in ("", ".pftrace", ".dram")]
        more = ["--size", "96x54"] if name == "s.glb" else []
        arguments = ["frame", str(path), *more, "--trace", str(paths[1]), "--traffic"]
        assert main([*arguments, str(paths[2]), "-o", str(tmp_path / "out")]) == 0
        found = test_trace.read(paths[1].read_bytes())
        assert ("stages", "triangle setup, setup", "busy") in found
        assert (paths[2] / "all.dramsim3.trace").read_text().count("READ") > 5
        assert "stalls and bandwidth over time" in (tmp_path / "out" / "frame.html").read_text()


@pytest.mark.plan("time-12")
def test_waves_of_a_frame(drawn, tmp_path):
    """Of the same frame; the top is built once more."""
    path = tmp_path / "top.fst"
    start = drawn[0].timeline.start
    outputs = Outputs(waves=path, clocks=(start, start + 200))
    result = frame.run(Scene(*mesh.teapot(2), 160, 90, 4), tmp_path / "out", outputs=outputs)
    assert not result.failures
    assert result.figures["clocks"] == drawn[0].figures["clocks"]
    found = changes(path)
    assert found["TOP.clk"][0] == (1000 * start, 0)
    assert found["TOP.clk"][-1] == (1000 * (start + 200) - 500, 1)
    taken = [at(found["TOP.i__valid"], 1000 * n) for n in range(start, start + 64)]
    assert 1 in taken
