# SPDX-License-Identifier: BSD-2-Clause
"""Frames from the command line: drawn, refused, failed, golden."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image

from fixfunc.cosim import catalogue, toolchain
from fixfunc.cosim.__main__ import main
from fixfunc.cosim.frame import frame, hardware, mesh, texture
from fixfunc.cosim.frame.job import FrameJob
from fixfunc.cosim.simulation import library
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.verilog import units
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import Scene
from fixfunc.models.scene.shading import BACKGROUND, shade
from fixfunc.models.texture import container
from fixfunc.models.texture.texture import create, of_picture
from fixfunc.models.top.top import Machine
from fixfunc.rtl.top import TopParams
from fixfunc.spec.commands import FENCE_PACKET
from fixfunc.spec.errors import InputError
from tests.scenes import NOTHING, nothing

SMALL = ["frame", "teapot", "--size", "160x90", "--divisions", "2"]


def test_golden_needs_no_build(tmp_path, capsys, monkeypatch):
    """Nor does it say that anything was compared; sizes beyond the top are drawn."""
    monkeypatch.setattr(
        catalogue.Block, "verilog", lambda *_, **__: pytest.fail("something was elaborated")
    )
    assert (
        main(
            [
                "frame",
                "teapot",
                "--size",
                "2049x20",
                "--divisions",
                "2",
                "--golden",
                "-o",
                str(tmp_path),
            ]
        )
        == 0
    )
    said = capsys.readouterr()
    assert "golden only: no hardware was built, and nothing compared" in said.out
    assert "mismatches" not in said.out
    assert "it takes at least" in said.out
    assert said.err.startswith("golden: geometry\ngolden: setup\n")
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert figures["counters"]["tiles"] > 100
    assert {file.name for file in tmp_path.iterdir()} == {
        "frame.json",
        "frame.png",
        "tiles.png",
        "hiz.png",
        "frame.html",
    }
    assert np.asarray(Image.open(tmp_path / "frame.png")).shape == (20, 2049, 3)


@pytest.mark.plan("top-15")
@pytest.mark.parametrize("samples", [1, 4])
@pytest.mark.parametrize("textured", [False, True])
@pytest.mark.parametrize("resolve", [False, True])
def test_the_picture_is_what_the_machine_leaves_in_memory(samples, textured, resolve):
    """Shaded where faces are on top, or tile by tile and blended in memory: one picture."""
    picture = np.random.default_rng(0).integers(0, 256, (16, 16, 4), np.uint8)
    around = of_picture(picture) if textured else None
    scene = Scene(*mesh.teapot(2), 96, 64, samples, texture=around)
    drawn = render(scene)
    job = FrameJob(scene, drawn, TopParams(), resolve)
    machine = Machine(
        job.data, shader=lambda work: shade(scene, drawn.part, work.tiles, work.triangle)
    )
    machine.draw(*job.start)
    assert (drawn.colour != BACKGROUND).any()
    assert (job.picture(job.data) == drawn.colour).all()


def test_what_the_top_cannot_draw_is_refused_before_anything_is_built(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(Bench, "volume", lambda *_, **__: pytest.fail("something was built"))
    assert main(["frame", "teapot", "--size", "2049x16", "-o", str(tmp_path)]) == 2
    assert (
        capsys.readouterr().err
        == "fixfunc: width must be at most 2048, the largest target of the top, not 2049\n"
    )
    assert not list(tmp_path.iterdir())
    with pytest.raises(SystemExit):
        main(["frame", "--help"])
    assert "at most 2048x2048" in " ".join(capsys.readouterr().out.split())


def test_progress_off_a_terminal(tmp_path):
    """A line when a step begins, and another while it goes on."""
    program = (
        "import time; from fixfunc.cosim import progress; progress.INTERVAL = 1\n"
        "with progress.Steps() as step: step('long'); time.sleep(2.5); step('short')"
    )
    begun = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stderr.splitlines()[0] == "long"
    assert done.stderr.splitlines()[-1] == "short"
    assert len(done.stderr.splitlines()) >= 3
    assert time.monotonic() - begun < 60


def test_progress_as_a_share_where_it_is_known(tmp_path):
    program = (
        "import time; from fixfunc.cosim import progress; progress.INTERVAL = 1\n"
        "with progress.Steps() as step: step('long', lambda: '3 of 7 files'); time.sleep(2.5)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path
    )
    assert set(done.stderr.splitlines()) == {"long", "long: 3 of 7 files"}


def test_how_much_of_a_library_is_built(tmp_path, monkeypatch):
    monkeypatch.setattr(toolchain, "BUILD", tmp_path)
    assert library.share("hiz") == ""
    monkeypatch.setattr(units, "parts", {"done": 3, "of": 9})
    assert library.share("hiz") == "3 of 9 parts are Verilog"
    monkeypatch.setattr(units, "parts", {})
    objects = tmp_path / "volume" / ".hiz-0.build" / "obj"
    objects.mkdir(parents=True)
    assert library.share("hiz") == "Verilog becomes C++"
    for name in ("a.cpp", "b.cpp", "a.o"):
        (objects / name).touch()
    assert library.share("hiz") == "1 of 2 files are compiled"
    joined = objects / "Vhiz_vm_classes_0.cpp"
    joined.write_text('#include "a.cpp"\n#include "b.cpp"\n')
    (objects / "Vhiz_vm_classes_0.o").touch()
    assert library.share("hiz") == "1 of 1 files are compiled"
    assert library.share("top") == ""


def test_a_mesh_is_named_in_what_is_said_of_it(tmp_path, capsys):
    (tmp_path / "words.obj").write_text("f a b c\n")
    assert main(["frame", str(tmp_path / "words.obj"), "--golden", "-o", str(tmp_path)]) == 2
    assert "words.obj" in capsys.readouterr().err
    (tmp_path / "latin.obj").write_bytes(b"# caf\xe9\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
    assert (
        main(
            [
                "frame",
                str(tmp_path / "latin.obj"),
                "--golden",
                "--size",
                "32x32",
                "-o",
                str(tmp_path),
            ]
        )
        == 0
    )


@pytest.mark.plan("top-11")
def test_a_golden_frame_is_not_resolved(tmp_path, capsys):
    assert main([*SMALL, "--golden", "--resolve", "-o", str(tmp_path)]) == 2
    assert "resolve must be of a frame that the hardware draws" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


# With hardware: the top takes minutes to build.


@pytest.mark.plan("top-11")
@pytest.mark.qualify
def test_frame(tmp_path, capsys):
    assert main([*SMALL, "-o", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert figures["mismatches"] == 0
    assert figures["failures"] == []
    assert figures["counters"]["tiles"] > 100
    assert figures["clocks"] > figures["hardware"]["tiles"] == figures["counters"]["tiles"]
    assert figures["rtl"]["memory"]["beats"] > 10_000
    for name in ("frame.png", "golden.png", "tiles.png", "hiz.png", "modes.png"):
        image = np.asarray(Image.open(tmp_path / name))
        assert image.shape == (90, 160, 3)
        assert image.std() > 10
    said = capsys.readouterr().out
    assert "mismatches" in said
    assert "failed" not in said


@pytest.mark.plan("top-11")
@pytest.mark.qualify
def test_a_resolved_frame(tmp_path):
    """The picture is that which is averaged of the samples; what it takes is counted."""
    for name, more in (("samples", []), ("pixels", ["--resolve"])):
        assert main([*SMALL, *more, "-o", str(tmp_path / name)]) == 0
    sampled, resolved = (
        np.asarray(Image.open(tmp_path / name / "frame.png")) for name in ("samples", "pixels")
    )
    assert (sampled == resolved).all()
    moved = json.loads((tmp_path / "pixels" / "frame.json").read_text())["moved"]
    (row,) = [row for row in moved if row[0] == "resolve"]
    assert row[3] > 300


@pytest.mark.qualify
@pytest.mark.parametrize(
    "arguments",
    [
        SMALL,
        ["frame", "teapot", "--size", "64x48", "--samples", "8"],
        ["frame", "teapot", "--size", "300x20", "--samples", "1"],
    ],
)
def test_stalls_are_of_the_clocks_of_the_frame(arguments, tmp_path):
    main([*arguments, "-o", str(tmp_path)])
    stalls = json.loads((tmp_path / "frame.json").read_text())["stalls"]
    assert len(stalls) == 7
    assert 0 < max(stalls.values()) < 1


@pytest.mark.qualify
@pytest.mark.parametrize("why", NOTHING)
def test_a_frame_of_nothing_is_drawn(why, tmp_path):
    result = frame.run(nothing(why), tmp_path)
    assert not result.failures
    assert result.figures["rtl"]["memory"]["beats"] > 0
    assert result.figures["hardware"]["samples_passed"] == 0
    assert (result.frame.colour == BACKGROUND).all()
    assert (tmp_path / "frame.html").is_file()


@pytest.mark.qualify
def test_a_frame_fails_when_the_reader_complains(tmp_path, monkeypatch, capsys):
    """A wrong packet fails the frame, though hardware and golden machine agree about it."""
    monkeypatch.setattr(
        "fixfunc.cosim.frame.job.CommandList.fence",
        lambda packets, _sequence: packets.add(0xEE, FENCE_PACKET),
    )
    result = frame.run(nothing("culled"), tmp_path)
    assert result.figures["mismatches"] == 0
    assert any("the reader reports OPCODE at transfer" in failure for failure in result.failures)
    assert "failed: the reader reports OPCODE" in " ".join(capsys.readouterr().out.split())


@pytest.mark.qualify
def test_a_frame_from_far_memory_is_the_same(tmp_path):
    """It is drawn as from near memory, and takes longer, as with DRAM of fewer bytes a clock."""
    clocks = []
    for memory in ("near", "dram", "shared", "far"):
        assert main([*SMALL, "--memory", memory, "-o", str(tmp_path / memory)]) == 0
        drawn = json.loads((tmp_path / memory / "frame.json").read_text())
        assert drawn["memory"].startswith(f"{memory}: ")
        assert drawn["mismatches"] == 0
        clocks.append(drawn["clocks"])
    near, dram, shared, far = clocks
    assert near < min(dram, far)
    assert dram < shared
    assert main([*SMALL, "--memory", "near,far", "-o", str(tmp_path / "both")]) == 0
    both = json.loads((tmp_path / "both" / "frame.json").read_text())
    assert both["clocks"] == near
    assert both["other_memories"]["far"][0] == far
    assert both["rtl"]["o, far"]["beats"] == both["rtl"]["o"]["beats"]


def test_a_memory_has_one_of_the_names(tmp_path, capsys):
    assert main([*SMALL, "--memory", "near,nearby", "-o", str(tmp_path)]) == 2
    assert "memory must be one of near, far, dram, shared, not nearby" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("figures", "failure"),
    [
        ({"rtl": {}}, "nothing was compared"),
        (
            {
                "rtl": {
                    name: {"beats": name != "memory", "mismatches": 0}
                    for name in ("probe_commands", "memory", "o")
                }
            },
            "nothing was compared",
        ),
        (
            {
                "rtl": {
                    name: {"beats": 1, "mismatches": 2}
                    for name in ("probe_commands", "memory", "o")
                }
            },
            "6 beats or transfers differ",
        ),
        ({"status": []}, "the hardware did not come to the end of the commands"),
        (
            {"status": [{"last": 1, "error": 3, "at": 5, "failed": 0, "sequence": 0}]},
            "the reader reports STATE at transfer 5",
        ),
        (
            {"status": [{"last": 1, "error": 0, "at": 5, "failed": 4, "sequence": 1}]},
            "the hardware reports failure 4 at fence 1",
        ),
    ],
)
def test_what_fails_a_frame(figures, failure):
    good = {
        "rtl": {name: {"beats": 1, "mismatches": 0} for name in ("probe_commands", "memory", "o")},
        "status": [{"last": 1, "error": 0, "at": 5, "failed": 0, "sequence": 1}],
    }
    assert hardware.failures(good) == []
    assert failure in hardware.failures(good | figures)


def test_too_many_triangles_are_refused(monkeypatch, tmp_path):
    monkeypatch.setattr("fixfunc.cosim.frame.job.MOST", 5)
    with pytest.raises(
        InputError, match="triangles must be few enough for 5 transfers of commands, not"
    ):
        frame.run(nothing("culled"), tmp_path)


@pytest.mark.qualify
def test_frame_of_patches(tmp_path, capsys):
    assert (
        main(["frame", "teapot", "--patches", "adaptive", "--size", "160x90", "-o", str(tmp_path)])
        == 0
    )
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert figures["mismatches"] == 0
    assert (
        figures["rtl"]["domain_matching"]["beats"]
        > figures["counters"]["domain_points"]
        > 2 * figures["counters"]["shaded_points"]
        > 0
    )
    assert "domain points" in capsys.readouterr().out


@pytest.mark.qualify
def test_frame_of_a_texture(tmp_path):
    """Blocks, which go through the decoder; a picture."""
    blocks = np.random.default_rng(0).integers(0, 256, (1, 16 * 64), np.uint8)
    container.write_dds(tmp_path / "texture.dds", create("BC7", 32, 32, [blocks]))
    Image.fromarray(blocks.reshape(16, 16, 4)).save(tmp_path / "texture.png")
    assert main([*SMALL, "--texture", str(tmp_path / "texture.dds"), "-o", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert figures["mismatches"] == 0
    assert figures["rtl"]["block_decode"]["beats"] == 64
    assert texture.load(tmp_path / "texture.png").size(2) == (4, 4)


@pytest.mark.qualify
def test_frame_of_the_bunny(tmp_path):
    bunny = toolchain.ROOT.parent / "shared" / "data" / "bunny.obj"
    if not bunny.is_file():
        pytest.skip(f"no test input {bunny.name} beside the project")
    assert main(["frame", str(bunny), "-o", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert figures["mismatches"] == 0
    assert figures["counters"]["set_up"] > 3000
