# SPDX-License-Identifier: BSD-2-Clause
"""The Makefile, beside a ``fixfunc`` that tells its arguments."""

import os
import re
import shutil
import subprocess

import pytest

from fixfunc.cosim import toolchain


@pytest.fixture
def make(tmp_path):
    """Runs make in a folder where everything is ready.

    Returns the arguments that each command was given.
    """
    folder = tmp_path / "a project"
    (folder / ".venv/bin").mkdir(parents=True)
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(toolchain.ROOT / name, folder)
    for name in ("made", "ready", "record-ready", "prove-ready", "test-ready", "bench-ready"):
        (folder / ".venv" / name).touch()
    for name in ("fixfunc", "python"):
        (folder / ".venv/bin" / name).write_text(
            '#!/bin/sh\nprintf "%s" "$TIER"\nfor word; do printf "|%s" "$word"; done\necho\n'
        )
        (folder / ".venv/bin" / name).chmod(0o755)
    # What `make test` itself hands on is not what was given here.
    (exported,) = re.findall(r"(?m)^export (.*)$", (toolchain.ROOT / "Makefile").read_text())
    given = {"MAKEFLAGS", "TIER", *exported.split()}
    clean = {name: value for name, value in os.environ.items() if name not in given}

    def run(*arguments):
        done = subprocess.run(
            ["make", "-s", *arguments], cwd=folder, env=clean, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return [tuple(line.split("|")) for line in done.stdout.splitlines()]

    run.folder = folder
    return run


def test_names_with_spaces_and_quotes(make):
    assert make("demo", "MESH=my mesh.obj", "TEXTURE=it's.dds", 'OUT=out "2"') == [
        (
            "",
            "frame",
            "my mesh.obj",
            "--size",
            "1280x720",
            "--samples",
            "4",
            "--memory",
            "near,far",
            "--texture",
            "it's.dds",
            "-o",
            'out "2"',
        )
    ]
    assert make("demo", "PATCHES=adaptive") == [
        (
            "",
            "frame",
            "teapot",
            "--size",
            "1280x720",
            "--samples",
            "4",
            "--memory",
            "near,far",
            "--patches",
            "adaptive",
            "-o",
            "out",
        )
    ]
    assert make("verilog", "CONFIG=tiny", "OUT=my out") == [
        ("", "verilog", "all", "--config", "tiny", "-o", "my out/verilog")
    ]


def test_a_program_is_recorded_and_drawn(make):
    assert make("record", "PROGRAM=glmark2 -b 'shadow'", "OUT=my out") == [
        ("", "record", "glmark2 -b 'shadow'", "--frame", "10", "-o", "my out/frame.npz"),
        ("", "frame", "my out/frame.npz", "--golden", "-o", "my out"),
    ]
    assert (make.folder / "my out").is_dir()


def test_every_simulator_has_its_bench(make):
    assert make("sim", "BLOCK=hiz", "SEED=7") == [
        ("", "-m", "fixfunc.tb", "run", "hiz", "--config", "default", "--sim", name, "--seed", "7")
        for name in ("icarus", "verilator")
    ]
    assert make("volume", "COUNT=5") == [
        (
            "",
            "-m",
            "fixfunc.tb",
            "volume",
            "tile_rasterizer",
            "--config",
            "default",
            "--count",
            "5",
            "--seed",
            "0",
        )
    ]


def test_mutants_are_of_the_tiny_configuration_unless_another_is_named(make):
    words = ("", "-m", "fixfunc.tb", "mutate")
    rest = ("--count", "40", "--seed", "0")
    assert make("mutate", "BLOCK=hiz") == [(*words, "hiz", "--config", "tiny", *rest)]
    assert make("mutate", "BLOCK=hiz", "CONFIG=tiny_d16", "MUTANTS=9", "SEED=3") == [
        (*words, "hiz", "--config", "tiny_d16", "--count", "9", "--seed", "3")
    ]


def test_coverage_is_of_all_blocks_unless_one_is_named(make):
    words = ("", "-m", "fixfunc.tb", "coverage")
    assert make("coverage") == [(*words, "--seed", "0")]
    assert make("coverage", "BLOCK=hiz", "SEED=3") == [(*words, "hiz", "--seed", "3")]


def test_docs_go_where_the_output_goes(make):
    assert make("docs", "OUT=my out") == [("", "-m", "bench.site", "-o", "my out/docs")]
    assert make("figures") == [("", "-m", "bench.figures"), ("", "-m", "bench.tour")]


def test_area_takes_a_library(make):
    assert make("area", "LIBERTY=my cells.lib.gz") == [("", "-m", "bench.area", "my cells.lib.gz")]
    assert make("area") == [("area: skipped: no standard-cell library: set LIBERTY=file.lib[.gz]",)]


def test_assess_takes_what_is_chosen(make):
    words = ("", "-m", "bench.assess")
    assert make("assess") == [words]
    assert make("assess", "DRY=1", "BLOCK=hiz", "MEASURE=area", "LIBERTY=my cells.lib") == [
        (*words, "hiz", "--measure", "area", "--liberty", "my cells.lib", "--list")
    ]


def test_qualify_takes_what_test_leaves(make):
    (test,) = make("test")
    (qualify,) = make("qualify")
    assert test == (
        "",
        "-m",
        "pytest",
        "-n",
        "auto",
        "--dist",
        "loadgroup",
        "--no-loadscope-reorder",
    )
    assert qualify == ("qualify", "-m", "pytest", "-m", "qualify or not qualify", *test[3:])


def test_clean_removes_what_was_built_and_nothing_of_others(make, tmp_path):
    for name in ("build/verilog", "out", "mine"):
        (make.folder / name).mkdir(parents=True)
        (make.folder / name / "file").touch()
    (tmp_path / "home").mkdir()
    make("clean", f"OUT={tmp_path / 'home'}")
    make("clean", "OUT=mine")
    make("clean", "OUT=.")
    assert (tmp_path / "home").is_dir()
    assert {path.name for path in make.folder.iterdir()} == {
        ".venv",
        "Makefile",
        "pyproject.toml",
        "constraints.txt",
        "mine",
    }


def test_help_names_every_target(make):
    text = (make.folder / "Makefile").read_text()
    targets = text[text.index(".PHONY:") :].splitlines()[0].split()[1:]
    said = [line[0] for line in make()]
    assert all(
        any(line.startswith(f"make {target} ") for line in said)
        for target in targets
        if target != "help"
    )
