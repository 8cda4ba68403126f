# SPDX-License-Identifier: BSD-2-Clause
"""Fixed functions by the golden interpolator and sampler: fragments are llvmpipe's, nearly."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from fixfunc.cosim.__main__ import main
from fixfunc.cosim.recorded import file, shaded
from fixfunc.cosim.recorded.drawing import Player
from fixfunc.cosim.recorded.frame import Environment
from tests.cosim.record.shading.scenes import (
    SCENES,
    alpha,
    corners,
    frame_of,
    shaded_of,
    textured,
    wrapped,
)


@pytest.mark.plan("record-14")
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_fixed_functions_are_shaded(scene):
    frame = frame_of(scene)
    assert not frame.refused and len(np.unique(frame.fragments["colour"])) > 6
    figures = shaded_of(frame)
    assert not [it["reason"] for it in figures["draws"] if it["reason"]]
    assert not shaded.failures_of(figures)
    assert sum(it["fragments"] for it in figures["draws"]) == len(frame.fragments) > 1000
    for it in figures["kinds"]:
        most = {"no texture": 1, "texels mixed": 3}.get(it["kind"], 32)
        assert it["percentile"] <= most or it["kind"].startswith("nearest")


@pytest.mark.plan("record-14")
@pytest.mark.parametrize("what", ["colours", "texels", "environment", "filter", "coordinates"])
def test_another_frame_is_not_believed(what):
    """What was recorded matters, each of it."""
    frame = frame_of(wrapped("CLAMP"))
    if what in ("colours", "coordinates"):
        values = frame.values.view(np.float32).reshape(-1, 8).copy()
        values[:, 0 if what == "colours" else 5] *= np.float32(0.9)
        frame = replace(frame, values=values.ravel().view(np.uint32))
    elif what == "texels":
        frame = replace(frame, octets=frame.octets[::-1].copy())
    elif what == "environment":
        frame.bindings["environment"] = Environment.ADD
    else:
        frame.samplers["clamped"] = 0
    (line,) = shaded.failures_of(shaded_of(frame))
    assert line.startswith("texels mixed: ") and line.endswith("not 99.9%")


def many(gl):
    """More floats from vertices than there are attributes."""
    names = "abcdefghijklmnopqrstuvw"
    declared = "".join(f"varying float {name};\n" for name in names)
    written = "".join(f"{name} = 0.5;\n" for name in names)
    gl.shaders(
        50,
        VERTEX=f"{declared}void main() {{ gl_Position = ftransform();\n{written}"
        "gl_TexCoord[0] = gl_MultiTexCoord0; gl_FrontColor = gl_Color.brga; }",
    )
    gl.glUseProgram(50)
    textured(gl)
    corners(gl)


@pytest.mark.plan("record-14")
def test_vertices_of_a_program_may_have_fixed_fragments():
    frame = frame_of(many)
    assert len(frame.draw_varyings(0)) == 25
    figures = shaded_of(frame)
    assert not figures["draws"][0]["reason"] and not shaded.failures_of(figures)


@pytest.mark.plan("record-14")
def test_shaders_are_the_same_where_less_is_asked():
    frame = frame_of(alpha)
    first = Player(frame, shades=True)
    counted = first.draw()
    again = Player(frame, first.lookups, shades=True).draw()
    for one, other in zip(counted.surfaces, again.surfaces, strict=True):
        assert np.array_equal(one.found, other.found)


@pytest.mark.plan("record-14")
def test_the_command_tells_what_differs(tmp_path, capsys):
    path = tmp_path / "some.npz"
    frame = frame_of(wrapped("REPEAT"))
    path.write_bytes(file.write(frame))
    command = ["frame", str(path), "--golden", "--shade", "-o", str(tmp_path)]
    assert main(command) == 0
    said = capsys.readouterr().out
    assert "texels mixed, 1" in said and "linear/linear/point R8G8B8A8_UNORM" in said
    figures = json.loads((tmp_path / "frame.json").read_text())["shading"]
    (kind,) = figures["kinds"]
    assert kind["fragments"] == len(frame.fragments) and kind["percentile"] <= kind["largest"] <= 3
    frame.octets[:] = frame.octets[::-1].copy()
    path.write_bytes(file.write(frame))
    assert main(command) == 1
    assert "of what was recorded, not 99.9%" in capsys.readouterr().out
    assert main([*command[:2], "--shade", "-o", str(tmp_path)]) == 2
    assert "shade must be of a golden frame: --golden" in capsys.readouterr().err
    assert main(["frame", "teapot", "--golden", "--shade", "-o", str(tmp_path)]) == 2
    assert "shade must be of a recorded frame, .npz" in capsys.readouterr().err


# Command, the way to its windows, frame, least fragments that are shaded, and kinds among them.
GREATER = {
    "chromium-bsu": (
        *("/usr/games/chromium-bsu --window --noaudio", "gl", 40, 1_000_000),
        {"texels mixed", "levels mixed"},
    ),
    "etr": ("/usr/games/etr", "gl", 30, 400_000, {"texels mixed"}),
    "pulsar": ("/usr/libexec/xscreensaver/pulsar", "egl", 10, 10_000, {"no texture"}),
}


@pytest.mark.plan("record-14")
@pytest.mark.qualify
@pytest.mark.parametrize("name", GREATER)
def test_greater_programs_are_shaded(name, tmp_path):
    command, api, number, fragments, kinds = GREATER[name]
    if not shutil.which(command.split()[0]):
        pytest.fail("type 'apt-get install chromium-bsu extremetuxracer xscreensaver-gl'")
    path = str(tmp_path / "frame.npz")
    words = ["record", command, "--api", api, "--seconds", "8", "--frame", str(number)]
    assert main([*words, "-o", path]) == 0
    assert main(["frame", path, "--golden", "--shade", "-o", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "frame.json").read_text())["shading"]
    assert not [it for it in figures["draws"] if it["reason"]]
    assert kinds <= {it["kind"] for it in figures["kinds"]}
    assert sum(it["fragments"] for it in figures["kinds"]) > fragments
