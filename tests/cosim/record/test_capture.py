# SPDX-License-Identifier: BSD-2-Clause
"""glxgears, from its process to a picture; what no trace is."""

import json
import os
import pickle
import shutil
import sys

import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.record import replay, trace
from fixfunc.cosim.record import tokens as T
from fixfunc.cosim.record.trace import Call
from fixfunc.cosim.recorded import file
from fixfunc.cosim.toolchain import ToolError
from fixfunc.spec.errors import InputError
from tests.cosim.record.program import Program, recorded


@pytest.fixture(scope="module")
def gears(tmp_path_factory):
    """A recorded frame of glxgears."""
    if trace.missing() or not shutil.which("glxgears"):
        pytest.fail("type 'apt-get install apitrace xvfb mesa-utils', or set ORACLE=none")
    path = tmp_path_factory.mktemp("gears") / "gears.npz"
    assert main(["record", "glxgears", "--seconds", "3", "--frame", "20", "-o", str(path)]) == 0
    return path


@pytest.mark.plan("record-1")
def test_every_fragment_of_glxgears_is_drawn(gears, tmp_path, capsys):
    assert main(["frame", str(gears), "--golden", "-o", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "0 missing, 0 extra" in said and "R8G8B8A8_UNORM: 0 pixels differ" in said
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert figures["fragments"] > 20000 and len(figures["draws"]) == 18 and not figures["refused"]
    assert figures["passed"] == figures["wanted"] > 20000
    mine, theirs = (
        np.asarray(Image.open(tmp_path / f"{name}.png")) for name in ("frame", "recorded")
    )
    assert np.array_equal(mine, theirs) and mine.shape == (300, 300, 3)
    # The upper gear is blue, the left one red, the right one green.
    upper, lower = mine[:120].sum((0, 1)), mine[180:].sum((0, 1))
    assert upper.argmax() == 2 and lower.argmax() == 0 and mine[:, 200:].sum((0, 1)).argmax() == 1


@pytest.mark.plan("record-14")
def test_colours_of_glxgears_are_those_of_its_varyings(gears, tmp_path, capsys):
    assert main(["frame", str(gears), "--golden", "--shade", "-o", str(tmp_path)]) == 0
    assert "no texture, 18" in capsys.readouterr().out
    figures = json.loads((tmp_path / "frame.json").read_text())
    (kind,) = figures["shading"]["kinds"]
    assert kind["fragments"] == figures["fragments"] and kind["percentile"] == 0
    assert kind["largest"] <= 1 and kind["differing"] < 40


# Command, frame, least numbers of draws and of fragments, and how many may differ where a triangle
# is clipped; a program of shaders with a shadow map, and one of many draws that are blended.
GREATER = {
    "glmark2": ("glmark2 -b shadow -s 640x480", 5, 3, 100_000),
    "chromium-bsu": ("/usr/games/chromium-bsu --window --noaudio", 40, 100, 1_000_000),
}


@pytest.mark.plan("record-10")
@pytest.mark.qualify
@pytest.mark.parametrize("name", GREATER)
def test_greater_programs_are_drawn(name, tmp_path):
    command, number, draws, fragments = GREATER[name]
    if not shutil.which(command.split()[0]):
        pytest.fail("type 'apt-get install glmark2-x11 chromium-bsu'")
    path = str(tmp_path / "frame.npz")
    assert main(["record", command, "--seconds", "8", "--frame", str(number), "-o", path]) == 0
    assert main(["frame", path, "--golden", "-o", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert len(figures["draws"]) >= draws and figures["fragments"] >= fragments
    assert figures["missing"] + figures["extra"] == figures["beyond"] <= 20
    assert not figures["refused"]
    # Depths that are equal to some units come out either way.
    assert abs(figures["passed"] - figures["wanted"]) < fragments / 10_000
    pictures = [it for it in figures["surfaces"] if not it["format"].startswith("D")]
    assert all(it["most"] <= 3 for it in pictures)


@pytest.mark.plan("record-1")
def test_a_fragment_that_is_left_out_or_added_is_seen(gears, tmp_path, capsys):
    frame = file.read(gears)
    fragments = frame.fragments.copy()
    last = int(np.flatnonzero(frame.draws["fragments"])[-1])
    frame.draws = frame.draws.copy()
    frame.draws[last]["fragments"] -= 1  # the last of all
    fragments["x"][7] = 0
    fragments["y"][7] = 0
    frame.fragments = fragments
    path = tmp_path / "other.npz"
    path.write_bytes(file.write(frame))
    assert main(["frame", str(path), "--golden", "-o", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    assert "1 missing, 2 extra; of these 0" in said
    assert "3 fragments differ of triangles that nothing clips" in said
    shown = np.asarray(Image.open(tmp_path / "differences.png"))
    assert (shown == (255, 0, 0)).all(2).sum() == 3


@pytest.mark.plan("record-1")
@pytest.mark.parametrize("z", [0.5, -1.5])
def test_a_fragment_of_a_clipped_triangle_is_excused_and_shown(z, tmp_path, capsys):
    """Beyond the near plane here, and beyond the window; the other triangle is not."""
    for beyond in (True, False):
        gl = Program()
        gl.swap()
        gl.glClear(T.COLOR_BUFFER_BIT | T.DEPTH_BUFFER_BIT | T.STENCIL_BUFFER_BIT)
        gl.triangle([(-0.5, -0.5, z), (0.5, -0.5, 0), (1.5 if z > 0 else 0, 0.5, 0)])
        gl.triangle([(-0.9, 0.6, 0), (-0.5, 0.6, 0), (-0.7, 0.9, 0)])
        frame = recorded(gl)
        frame.draws[0 if beyond else 1]["fragments"] -= 1
        path = tmp_path / "clipped.npz"
        path.write_bytes(file.write(frame))
        assert main(["frame", str(path), "--golden", "-o", str(tmp_path)]) == 1 - beyond
        assert f"0 missing, 1 extra; of these {int(beyond)}" in capsys.readouterr().out
        shown = np.asarray(Image.open(tmp_path / "differences.png"))
        assert (shown == ((255, 160, 0) if beyond else (255, 0, 0))).all(2).sum() == 1


@pytest.mark.plan("record-1")
def test_a_frame_that_was_not_drawn_is_refused(gears, tmp_path, capsys):
    path = str(tmp_path / "frame.npz")
    command = ["record", "glxgears", "--seconds", "1", "--frame", "99999999", "-o", path]
    assert main(command) == 2
    assert "frame must be one of the " in capsys.readouterr().err
    assert main(["record", "true", "-o", path]) == 2
    assert "program must call OpenGL" in capsys.readouterr().err
    assert main(["record", "no-such-program", "-o", path]) == 2
    assert "program must be a command that is installed" in capsys.readouterr().err
    assert main(["frame", str(gears), "--golden", "--samples", "2"]) == 2
    assert "samples must be that of the recorded frame" in capsys.readouterr().err
    for memory, rule in (("near,far", "be one for a recorded frame"), ("none", "be one of near")):
        assert main(["frame", str(gears), "--memory", memory, "-o", str(tmp_path)]) == 2
        assert f"memory must {rule}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.plan("record-1")
def test_packages_that_lack_are_named_in_one_line(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert trace.missing() == "type 'apt-get install apitrace xvfb'"
    assert main(["record", sys.executable, "-o", str(tmp_path / "a.npz")]) == 2
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    assert "apt-get install apitrace xvfb" in line
    with pytest.raises(ToolError, match="apt-get install apitrace xvfb"):
        next(trace.calls(tmp_path / "a.trace"))


class Other:
    """No class of a trace."""

    def __reduce__(self):
        return os.system, ("touch harm",)


@pytest.mark.plan("record-1")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no pickle",
        pickle.dumps((1, 2)),
        pickle.dumps((0, "glClear", [("mask", Other())], 0, 0)),
    ],
    ids=["nothing", "text", "a pair", "a class"],
)
def test_what_is_no_trace_is_refused(data, tmp_path, monkeypatch):
    """apitrace is not believed either: no class but its own is made of what it writes."""
    monkeypatch.chdir(tmp_path)
    tool = tmp_path / "apitrace"
    (tmp_path / "data").write_bytes(data)
    tool.write_text(f"#!/bin/sh\nexec cat {tmp_path / 'data'}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(InputError, match="trace must"):
        list(trace.calls(tmp_path / "a.trace"))
    assert not (tmp_path / "harm").exists()


@pytest.mark.plan("record-1")
def test_a_call_with_arguments_of_other_types_is_refused():
    gl = Program()
    gl.glLineWidth("wide")
    with pytest.raises(
        InputError, match="call 4 must have arguments of the types that glLineWidth"
    ):
        recorded(gl)


@pytest.mark.plan("record-1")
@pytest.mark.parametrize("api", [0, 0x30A0])
def test_opengl_es_is_refused(api):
    gl = Program(egl=api)
    with pytest.raises(InputError, match="program must draw by OpenGL, not OpenGL ES"):
        recorded(gl)


@pytest.mark.plan("record-1")
def test_calls_without_a_context_are_left_out():
    with pytest.raises(InputError, match="frame must be one of the 0 that nothing has drawn"):
        replay.record([Call(0, "glClear", {"mask": 0x4000})], "nothing", 1)


def test_quotes_of_a_program_are_closed(tmp_path, capsys):
    assert main(["record", "glxgears 'x", "-o", str(tmp_path / "a.npz")]) == 2
    error = capsys.readouterr().err
    assert error.endswith("program must be words with their quotes closed, not glxgears 'x\n")
