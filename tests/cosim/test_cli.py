# SPDX-License-Identifier: BSD-2-Clause
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from fixfunc.cosim import catalogue, toolchain
from fixfunc.cosim.__main__ import main
from fixfunc.cosim.frame import frame
from fixfunc.cosim.verilog import export
from fixfunc.cosim.verilog.generate import generate


def test_list(capsys):
    """Every configuration, what it is for, and what is measured, in plain text."""
    assert main(["list"]) == 0
    said = capsys.readouterr().out
    for block in catalogue.blocks().values():
        assert f"{block.stem}: {block.summary}\n" in said
        assert block.purposes.keys() == block.configurations.keys()
        assert all(purpose in said for purpose in block.purposes.values())
    assert re.search(
        r"shared +the same with adders shared by samples: less area; [\d,]+ um2, \d+ MHz\n", said
    )
    assert not set(said) & set("`│┃:[".replace(":", ""))


@pytest.mark.parametrize("arguments", [[], ["--json"], ["tile_rasterizer"]])
def test_the_list_needs_no_amaranth(arguments, capsys):
    """Nor anything else but the package itself."""
    hidden = "import sys; sys.modules |= dict.fromkeys(('amaranth', 'numpy', 'rich', 'cocotb'))"
    command = f"{hidden}; from fixfunc.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", command, "list", *arguments], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert main(["list", *arguments]) == 0
    assert done.stdout == capsys.readouterr().out


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    written = tomllib.loads((toolchain.ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert capsys.readouterr().out == f"fixfunc {written}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["verilog", "rasteriser"],
            f"block must be one of {', '.join(catalogue.blocks())}, not rasteriser",
        ),
        (
            ["list", "rasteriser", "--json"],
            f"block must be one of {', '.join(catalogue.blocks())}, not rasteriser",
        ),
        (
            ["verilog", "edge_evaluator", "--config", "huge"],
            "configuration of edge_evaluator must be one of default, shared",
        ),
        (
            ["verilog", "edge_evaluator", "--set", "samples=3"],
            "parameters of edge_evaluator must be ones that it has, not samples=3: samples must be "
            "1, 2, 4 or 8, not 3",
        ),
        (
            ["verilog", "edge_evaluator", "--set", "sample=2"],
            "parameter of edge_evaluator must be name=value of edge, samples, step_bits, adder, ",
        ),
        (
            ["verilog", "edge_evaluator", "--set", "edge"],
            "parameter of edge_evaluator must be name",
        ),
        (["verilog", "edge_evaluator", "--set", "edge=4.0"], "edge must be an integer, not 4.0"),
        (["verilog", "depth_test", "--set", "stencil=1"], "stencil must be true or false, not 1"),
        (
            ["verilog", "edge_evaluator", "--set", f"edge={'9' * 5000}"],
            "edge must be an integer, not 999",
        ),
        (
            ["verilog", "edge_evaluator", "--set", "edge=\N{ARABIC-INDIC DIGIT EIGHT}"],
            "edge must be an integer, not \N{ARABIC-INDIC DIGIT EIGHT}",
        ),
        (
            ["verilog", "float_unit", "--set", "op=MODULO"],
            "op must be one of ADD, MULTIPLY, MULTIPLY_ADD, INVERT, COMPARE, TO_FIXED, ",
        ),
        (
            ["verilog", "hiz", "--set", "formats="],
            "formats must be some of D16, D24, D32F, joined by +, not ",
        ),
        (
            ["verilog", "hiz", "--set", "formats=D24+D24"],
            "formats must be some of D16, D24, D32F, joined by +, not D24+D24",
        ),
        (
            ["verilog", "output_merger", "--set", "formats=R8G8B8"],
            "formats must be some of fixfunc.spec.dxgi.Format, joined by +, not R8G8B8",
        ),
        (["verilog", "top", "--set", "resolve=off"], "resolve must be present or none, not off"),
        (
            ["verilog", "top", "--set", "raster=none"],
            "parameter of top must be name=value of reader.edge, ",
        ),
        (
            ["verilog", "top", "--set", "setup.interval=3"],
            "parameters of top must be ones that it has, not setup.interval=3: interval must ",
        ),
        (
            ["verilog", "top", "--set", "resolve=none", "--set", "resolve.reads=4"],
            "parameters of top must be ones that it has, not resolve=none, resolve.reads=4: "
            "resolve must be present for resolve.reads, not none",
        ),
        (
            ["verilog", "edge_evaluator", "--set", "adder=ripple", "--config", "tiny"],
            "parameters of edge_evaluator must be ones that it has, not adder=ripple: adder must",
        ),
        (["frame", "no_such.obj"], "mesh must be a file that exists, not no_such.obj"),
        (
            ["frame", "picture.bmp"],
            "mesh must be 'teapot' or a file .obj, .ply, .stl, .gltf, .glb, not picture.bmp",
        ),
        (["frame", "teapot", "--size", "big"], "size must be WIDTHxHEIGHT in pixels, not big"),
        (["frame", "teapot", "--size", "0x5"], "width must lie in 1..16384, not 0"),
        (
            ["frame", "teapot", "--size", "2049x16"],
            "width must be at most 2048, the largest target of the top, not 2049",
        ),
        (
            ["frame", "teapot", "--size", "16x2049"],
            "height must be at most 2048, the largest target of the top, not 2049",
        ),
        (
            ["frame", "teapot", "-o", "/dev/null"],
            "output folder must be a folder that can be written, not /dev/null",
        ),
        (
            ["verilog", "edge_evaluator", "-o", "no_such_folder/x.sv"],
            "output file must lie in a folder that exists, not no_such_folder/x.sv",
        ),
        (
            ["verilog", "edge_evaluator", "-o", "/dev/null/x/"],
            "output folder must be a folder that can be written, not /dev/null/x",
        ),
        (
            ["verilog", "edge_evaluator", "--config", "none", "-o", "folder/"],
            "configuration of edge_evaluator must be one of default, shared",
        ),
        (
            ["verilog", "all", "--config", "shared"],
            "configuration of top must be one of default, frame, planes, tiny, tiny_bytes, "
            "tiny_floats, not shared",
        ),
        (["frame", "teapot", "--samples", "3"], "samples must be one of 1, 2, 4, 8, not 3"),
        (
            ["frame", "teapot", "--patches", "much"],
            "patches must be adaptive, or a factor of 2^-16 to 64, not much",
        ),
        (
            ["frame", "teapot", "--patches", "65"],
            "patches must be adaptive, or a factor of 2^-16 to 64, not 65",
        ),
        (
            ["frame", "bunny.obj", "--patches", "4"],
            "mesh must be teapot, whose patches are known, not bunny.obj",
        ),
        (
            ["frame", "teapot", "--texture", "no.dds"],
            "texture must be a file that exists, not no.dds",
        ),
        (
            ["frame", "teapot", "--texture", "no.bmp"],
            "texture must be a file .dds, .ktx2, .png, not no.bmp",
        ),
        (["frame", "teapot", "--divisions", "0"], "divisions must lie in 1..1024, not 0"),
        (
            ["frame", "bunny.obj", "--divisions", "4"],
            "divisions must be those of the teapot alone, not 4, with bunny.obj",
        ),
        (
            ["frame", "teapot", "--divisions", "4", "--patches", "4"],
            "divisions must be those of the teapot alone, not 4, with --patches",
        ),
        (
            ["frame", "teapot", "--golden", "--memory", "far"],
            "memory must be behind hardware, of which a golden frame has none, not far",
        ),
        (
            ["frame", "teapot", "--golden", "--size", "16384x16384", "--samples", "8"],
            "size must have at most ",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, said, capsys, tmp_path, monkeypatch):
    """Nor is anything left in the folder where it was typed."""
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert not list(tmp_path.iterdir())
    error = capsys.readouterr().err
    assert error.startswith(f"fixfunc: {said}")
    assert error.count("\n") == 1


def test_a_reader_that_goes_away_ends_it_quietly():
    """``fixfunc list | head``, and a standard output that is closed before anything comes."""
    for reader in ("head -n 1 > /dev/null", "true"):
        command = f'"{sys.executable}" -m fixfunc.cosim list | {reader}'
        done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_an_interrupt_is_one_line(monkeypatch, capsys, tmp_path):
    """Whatever it interrupts."""

    def interrupted(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(frame, "render", interrupted)
    command = ["frame", "teapot", "--golden", "--size", "64x48", "-o", str(tmp_path)]
    assert main(command) == 130
    assert capsys.readouterr().err.splitlines()[-1] == "fixfunc: interrupted"
    assert "Traceback" not in capsys.readouterr().err


def test_verilog_is_stable(tmp_path, capsys):
    path = tmp_path / "edge_evaluator.sv"
    assert main(["verilog", "edge_evaluator", "-o", str(path)]) == 0
    assert main(["verilog", "edge_evaluator"]) == 0
    assert capsys.readouterr().out == path.read_text()
    assert (
        generate(catalogue.block("edge_evaluator").create(), "edge_evaluator", "default")
        == path.read_text()
    )
    assert "always @*" not in path.read_text()


@pytest.mark.parametrize("output", ["new/", "there", "."])
def test_a_block_is_taken_away_alone(output, tmp_path, monkeypatch):
    """Into a folder: its Verilog, core and page, and the types; nothing else is made."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    made = []
    generated = catalogue.Block.generated
    monkeypatch.setattr(
        catalogue.Block,
        "generated",
        lambda block, *more: made.append(block.stem) or generated(block, *more),
    )
    assert main(["verilog", "edge_evaluator", "--config", "tiny", "-o", output]) == 0
    assert made == ["edge_evaluator"]
    written = {path.name for path in (tmp_path / output).iterdir() if path.is_file()}
    own = {f"edge_evaluator.{kind}" for kind in ("sv", "core", "md")}
    assert written == own | {"fixfunc_pkg.sv", "fixfunc_pkg.core"}
    text = (tmp_path / output / "edge_evaluator.sv").read_text()
    assert text == catalogue.block("edge_evaluator").verilog("tiny").read_text()


@pytest.mark.parametrize(
    ("stems", "benches"),
    [
        (["hiz"], []),
        (["block_decode"], ["block_decode_tb.sv"]),
        (["triangle_setup"], ["raster_tb.sv"]),
        (catalogue.blocks(), ["block_decode_tb.sv", "raster_tb.sv", "texture_tb.sv"]),
    ],
)
def test_benches_are_those_of_the_blocks(stems, benches, tmp_path):
    export.package(tmp_path, stems)
    assert sorted(path.name for path in tmp_path.glob("*_tb.sv")) == benches


@pytest.mark.parametrize(
    "command", [["-m", "fixfunc.cosim"], [str(Path(sys.executable).with_name("fixfunc"))]]
)
def test_runs_as_a_module_and_as_a_command(command):
    program = [sys.executable] if command[0] == "-m" else []
    done = subprocess.run([*program, *command, "list"], capture_output=True, text=True)
    assert done.returncode == 0
    assert "tile_rasterizer" in done.stdout
    assert not done.stderr


def test_no_noise_at_the_end(tmp_path):
    """Nothing is printed of components that are never elaborated.

    Amaranth complains of them, once anything is elaborated: of those made for their ports alone.
    """
    program = (
        "import pathlib\nfrom fixfunc.cosim import toolchain\nfrom fixfunc.cosim.__main__ import "
        "main\n"
        f"toolchain.BUILD = pathlib.Path({str(tmp_path)!r})\nmain(['verilog', 'edge_evaluator', "
        f"'--config', 'tiny'])\n"
        "from fixfunc.cosim import catalogue\ncatalogue.block('block_decode').create('small')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "writing edge_evaluator (tiny)\n")
    assert "module edge_evaluator" in done.stdout
