# SPDX-License-Identifier: BSD-2-Clause
"""The benches' command line."""

import os

import numpy as np
import pytest

from fixfunc.cosim import catalogue as blocks
from fixfunc.cosim import codec, toolchain
from fixfunc.cosim.simulation import runner
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.verilog.generate import generate
from fixfunc.tb import catalogue
from fixfunc.tb.__main__ import main
from tests import tiers


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["volume", "rasteriser"],
            f"block must be one of {', '.join(blocks.blocks())}, not rasteriser",
        ),
        (
            ["run", "edge_evaluator", "--config", "none"],
            "configuration of edge_evaluator must be one of",
        ),
        (
            ["run", "edge_evaluator", "--sim", "modelsim"],
            "simulator must be one of icarus, verilator, not modelsim",
        ),
        (["run", "edge_evaluator", "--tests", "("], "tests must be a regular expression, not (: "),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, said, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"fixfunc: {said}")
    assert error.count("\n") == 1


def test_volume(capsys):
    assert (
        main(["volume", "edge_evaluator", "--config", "tiny", "--count", "3000", "--seed", "4"])
        == 0
    )
    said = capsys.readouterr().out
    assert "mismatches" in said
    assert "reproduce" not in said


# What "make test" builds of the others serves here.
@pytest.mark.parametrize(
    "stem",
    [
        pytest.param(stem, marks=pytest.mark.qualify) if stem == "resolve" else stem
        for stem in blocks.blocks()
    ],
)
def test_a_wrong_golden_model_is_caught(stem, monkeypatch, capsys):
    bench = catalogue.block(stem).bench
    name = "replay" if hasattr(bench, "replay") else "expected"
    right = getattr(bench, name)
    monkeypatch.setattr(
        bench,
        name,
        lambda *arguments: {
            port: rows ^ np.uint64(4) for port, rows in codec.by_port(right(*arguments)).items()
        },
    )
    given = [stem, "--config", tiers.BUILT.get(stem, "tiny"), "--count", "100", "--seed", "9"]
    assert main(["volume", *given]) == 1
    said = capsys.readouterr().out
    assert "  got      " in said
    assert f"reproduce: python -m fixfunc.tb volume {' '.join(given)}" in said


@pytest.mark.plan("edge-evaluator-9")
def test_a_failing_bench_says_how_to_repeat_it(monkeypatch, capsys, tmp_path):
    """One of the eight offsets is wrong."""
    monkeypatch.setattr(Bench, "simulated_verilog", lambda *_, **__: broken)
    text = generate(catalogue.block("edge_evaluator").create("tiny"), "edge_evaluator")
    broken = tmp_path / "edge_evaluator.sv"
    broken.write_text(
        text.replace(
            "$signed(row_value_2) + $signed(lane_term_1_2)",
            "$signed(row_value_2) - $signed(lane_term_1_2)",
        )
    )
    assert broken.read_text() != text
    assert (
        main(
            [
                "run",
                "edge_evaluator",
                "--config",
                "tiny",
                "--sim",
                os.environ.get("SIM", "verilator").split()[-1],
                "--seed",
                "3",
                "--tests",
                "one_a_clock",
            ]
        )
        == 1
    )
    said = capsys.readouterr().out
    assert "1 tests, 1 failed" in said
    assert "reproduce: python -m fixfunc.tb run edge_evaluator --config tiny" in said
    assert "--seed 3 --tests 'one_a_clock' --waves" in said


def test_waves():
    result = runner.run(
        catalogue.block("edge_evaluator"),
        "tiny",
        "verilator",
        seed=1,
        waves=True,
        tests="one_a_clock",
    )
    assert result.tests == 1
    assert not result.failures
    assert result.waves.suffix == ".fst"
    assert result.waves.stat().st_size > 1000


def test_a_folder_that_make_cannot_name(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(toolchain, "BUILD", tmp_path / "my build")
    assert main(["volume", "edge_evaluator", "--config", "tiny"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"fixfunc: Verilator builds by make, which knows no spaces in the names of folders: "
        f"'{tmp_path / 'my build'}' has one"
    )
