import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from cosim import catalogue, codec, cores, runner, toolchain
from cosim.__main__ import main
from cosim.verilog import ports
from models.texture import container
from models.texture.texture import create


def test_list(capsys):
    assert main(["list"]) == 0
    said = capsys.readouterr().out
    assert all(stem in said for stem in catalogue.blocks())


@pytest.mark.parametrize(("arguments", "said"), [
    (["volume", "rasteriser"], f"block must be one of {', '.join(catalogue.blocks())}, not rasteriser"),
    (["verilog", "edge_evaluator", "--config", "huge"], "configuration of edge_evaluator must be one of default, shared"),
    (["run", "edge_evaluator", "--config", "none"], "configuration of edge_evaluator must be one of"),
    (["run", "edge_evaluator", "--sim", "modelsim"], "simulator must be one of icarus, verilator, not modelsim"),
    (["frame", "no_such.obj"], "mesh must be a file that exists, not no_such.obj"),
    (["frame", "picture.bmp"], "mesh must be 'teapot' or a file .obj, .ply, .stl, .gltf, .glb, not picture.bmp"),
    (["frame", "teapot", "--size", "big"], "size must be WIDTHxHEIGHT in pixels, not big"),
    (["frame", "teapot", "--size", "0x5"], "width must lie in 1..16384, not 0"),
    (["frame", "teapot", "--samples", "3"], "samples must be one of 1, 2, 4, 8, not 3"),
    (["frame", "teapot", "--patches", "much"], "patches must be adaptive, or a factor above 0 and up to 64, not much"),
    (["frame", "teapot", "--patches", "65"], "patches must be adaptive, or a factor above 0 and up to 64, not 65"),
    (["frame", "bunny.obj", "--patches", "4"], "mesh must be teapot, whose patches are known, not bunny.obj"),
    (["frame", "teapot", "--texture", "no.dds"], "texture must be a file that exists, not no.dds"),
    (["frame", "teapot", "--texture", "no.bmp"], "texture must be a file .dds, .ktx2, .png, not no.bmp"),
    (["frame", "teapot", "--divisions", "0"], "divisions must lie in 1..1024, not 0"),
])
def test_bad_input_is_one_line_and_exit_2(arguments, said, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"cosim: {said}")
    assert error.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["draw"], ["volume", "top", "--count", "-1"], ["volume", "top", "--seed", "x"]])
def test_bad_words_exit_2(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "error" in capsys.readouterr().err


def test_verilog_is_clean_and_stable(tmp_path):
    path = tmp_path / "edge_evaluator.sv"
    assert main(["verilog", "edge_evaluator", "-o", str(path)]) == 0
    first = path.read_text()
    assert main(["verilog", "edge_evaluator", "-o", str(path)]) == 0
    assert path.read_text() == first
    assert "always @*" not in first
    done = subprocess.run([toolchain.verilator(), "--lint-only", "-Wall", *toolchain.waivers(), path], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("stem", catalogue.blocks())
def test_every_block_lints(stem, tmp_path):
    """By FuseSoC, from the core file that is given away with it; and its page names every port."""
    cores.give_away(tmp_path / "cores", catalogue.block(stem), "default")
    path = os.pathsep.join([str(Path(toolchain.verilator()).parent), os.environ["PATH"]])
    done = subprocess.run([sys.executable, "-m", "fusesoc.main", "--cores-root", "cores", "run", "--target", "lint", f"fixfunc:blocks:{stem}"],
                          cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    page = (tmp_path / "cores" / f"{stem}.md").read_text()
    assert all(f"`{port.name}`" in page for port in ports(catalogue.block(stem).create()))
    assert {file.suffix for file in (tmp_path / "cores").iterdir()} == {".sv", ".core", ".md"}


def test_volume(capsys):
    assert main(["volume", "edge_evaluator", "--config", "tiny", "--count", "3000", "--seed", "4"]) == 0
    said = capsys.readouterr().out
    assert "mismatches" in said
    assert "reproduce" not in said


@pytest.mark.parametrize("stem", catalogue.blocks())
def test_a_wrong_golden_model_is_caught(stem, monkeypatch, capsys):
    bench = catalogue.block(stem).bench
    name = "replay" if hasattr(bench, "replay") else "expected"
    right = getattr(bench, name)
    monkeypatch.setattr(bench, name, lambda *given: {port: rows ^ np.uint64(4) for port, rows in codec.by_port(right(*given)).items()})
    assert main(["volume", stem, "--config", "tiny", "--count", "100", "--seed", "9"]) == 1
    said = capsys.readouterr().out
    assert "  got      " in said
    assert f"reproduce: python -m cosim volume {stem} --config tiny --count 100 --seed 9" in said


def test_frame(tmp_path, capsys):
    assert main(["frame", "teapot", "--size", "160x90", "--divisions", "2", "-o", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert figures["mismatches"] == 0
    assert figures["counters"]["tiles"] > 100
    assert figures["clocks"] > figures["hardware"]["tiles"] == figures["counters"]["tiles"]
    assert figures["rtl"]["memory"]["beats"] > 10_000
    for name in ("frame.png", "tiles.png", "hiz.png", "modes.png"):
        image = np.asarray(Image.open(tmp_path / name))
        assert image.shape == (90, 160, 3)
        assert image.std() > 10
    assert "mismatches" in capsys.readouterr().out


def test_frame_of_patches(tmp_path, capsys):
    assert main(["frame", "teapot", "--patches", "adaptive", "--size", "160x90", "-o", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert figures["mismatches"] == 0
    assert figures["rtl"]["domain_matching"]["beats"] > figures["counters"]["domain_points"] > 2 * figures["counters"]["shaded_points"] > 0
    assert "domain points" in capsys.readouterr().out


def test_frame_of_a_texture(tmp_path):
    """Blocks, which go through the decoder; a picture; a file that is none."""
    blocks = np.random.default_rng(0).integers(0, 256, (1, 16 * 64), np.uint8)
    container.write_dds(tmp_path / "texture.dds", create("BC7", 32, 32, [blocks]))
    Image.fromarray(blocks.reshape(16, 16, 4)).save(tmp_path / "texture.png")
    assert main(["frame", "teapot", "--texture", str(tmp_path / "texture.dds"), "--size", "160x90", "--divisions", "2", "-o", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert figures["mismatches"] == 0
    assert figures["rtl"]["block_decode"]["beats"] == 64
    assert catalogue.texture(tmp_path / "texture.png").size(2) == (4, 4)
    (tmp_path / "texture.png").write_bytes(b"none")
    assert main(["frame", "teapot", "--texture", str(tmp_path / "texture.png")]) == 2


def test_frame_of_the_bunny(tmp_path):
    bunny = toolchain.ROOT.parent / "shared" / "data" / "bunny.obj"
    if not bunny.is_file():
        pytest.skip(f"no test input {bunny.name} beside the project")
    assert main(["frame", str(bunny), "-o", str(tmp_path)]) == 0
    figures = json.loads((tmp_path / "frame.json").read_text())
    assert figures["mismatches"] == 0
    assert figures["counters"]["set_up"] > 3000


def test_a_failing_bench_says_how_to_repeat_it(monkeypatch, capsys):
    """One of the eight offsets is wrong."""
    block = catalogue.block("edge_evaluator")
    monkeypatch.setattr(runner, "generate", lambda _component, stem: _broken(block, stem))
    assert main(["run", "edge_evaluator", "--config", "tiny", "--sim", os.environ.get("SIM", "verilator").split()[-1], "--seed", "3",
                 "--tests", "one_a_clock"]) == 1
    said = capsys.readouterr().out
    assert "1 tests, 1 failed" in said
    assert "reproduce: python -m cosim run edge_evaluator --config tiny" in said
    assert "--seed 3 --tests 'one_a_clock' --waves" in said


def _broken(block, stem):
    from cosim.verilog import generate

    text = generate(block.create("tiny"), stem)
    broken = text.replace("$signed(rows_2) + $signed(chosen_1_2)", "$signed(rows_2) - $signed(chosen_1_2)")
    assert broken != text
    return broken


def test_waves():
    result = runner.run(catalogue.block("edge_evaluator"), "tiny", "verilator", seed=1, waves=True, tests="one_a_clock")
    assert result.tests == 1
    assert not result.failures
    assert result.waves.stat().st_size > 1000


def test_runs_as_a_module():
    done = subprocess.run([sys.executable, "-m", "cosim", "list"], capture_output=True, text=True, cwd=toolchain.ROOT)
    assert done.returncode == 0
    assert "tile_rasterizer" in done.stdout
