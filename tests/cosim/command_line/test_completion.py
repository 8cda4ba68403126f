# SPDX-License-Identifier: BSD-2-Clause
"""Completion: a shell asks by the environment, and reads a file."""

import os
import subprocess
import sys

import pytest

from fixfunc.cosim import catalogue
from fixfunc.cosim.sweep import parameters

HIDDEN = "import sys; sys.modules |= dict.fromkeys(('amaranth', 'pyosys', 'rich', 'cocotb'))"
PROGRAM = f"{HIDDEN}; from fixfunc.__main__ import main; sys.exit(main())"


def completed(line, folder):
    """What may stand at the end of a line, as bash asks for it; neither output is written to."""
    answer = folder / "answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ | asked,
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return answer.read_text().split("\n")


@pytest.mark.parametrize("command", ["list", "verilog", "vectors", "volume", "run"])
def test_blocks(command, tmp_path):
    found = completed(f"fixfunc {command} ", tmp_path)
    assert {*catalogue.blocks()} <= {*found}
    assert completed(f"fixfunc {command} tile_r", tmp_path) == ["tile_rasterizer"]


def test_configurations_and_parameters_of_a_block(tmp_path):
    """Of that block alone."""
    block = catalogue.block("tile_rasterizer")
    found = completed("fixfunc verilog tile_rasterizer --config ", tmp_path)
    assert {*found} == {*block.configurations}
    assert completed("fixfunc verilog tile_rasterizer --set cont", tmp_path) == ["contexts="]
    assert completed("fixfunc verilog no_block --config ", tmp_path) == [""]


def test_values_of_parameters(tmp_path):
    """Members, several of a list, flags; of numbers none."""
    set_of = "fixfunc verilog {} --set {}".format
    assert completed(set_of("hiz", "formats="), tmp_path) == [
        "formats=D16",
        "formats=D24",
        "formats=D32F",
    ]
    assert completed(set_of("hiz", "formats=D24+D1"), tmp_path) == ["formats=D24+D16"]
    assert completed(set_of("hiz", "stencil=t"), tmp_path) == ["stencil=true"]
    assert completed(set_of("top", "resolve="), tmp_path) == ["resolve=present", "resolve=none"]
    assert completed(set_of("edge_evaluator", "edge="), tmp_path) == [""]
    assert completed(set_of("hiz", "unknown="), tmp_path) == [""]
    merged = completed(set_of("output_merger", "formats=R8G8B8A8_UNORM"), tmp_path)
    assert merged == ["formats=R8G8B8A8_UNORM", "formats=R8G8B8A8_UNORM_SRGB"]


def test_values_of_options(tmp_path):
    assert completed("fixfunc verilog al", tmp_path) == ["all"]
    assert completed("fixfunc list al", tmp_path) == [""]
    assert completed("fixfunc run hiz --sim ", tmp_path) == ["icarus", "verilator"]
    assert completed("fixfunc frame teapot --samples ", tmp_path) == ["1", "2", "4", "8"]
    assert completed("fixfunc frame teapot --memory d", tmp_path) == ["dram"]
    assert completed("fixfunc frame teapot --memory near,f", tmp_path) == ["near,far"]


def test_parameters_of_a_sweep(tmp_path):
    """Of the machine that is swept."""
    golden = completed("fixfunc sweep --golden --over ", tmp_path)
    assert {"sets=", "hiz=", "size="} <= {*golden} and "latency=" not in golden
    assert len(golden) == sum("golden" in one.machines for one in parameters.PARAMETERS)
    assert completed("fixfunc sweep --over lat", tmp_path) == ["latency="]


def test_what_can_be_explored(tmp_path):
    """Configurations and parameters of the scene that stands there."""
    assert completed("fixfunc explore band", tmp_path) == ["bandwidth"]
    assert completed("fixfunc explore bandwidth --on 4", tmp_path) == ["4k144"]
    assert {"near", "far"} <= {*completed("fixfunc explore teapot --on ", tmp_path)}
    assert completed("fixfunc explore bandwidth --over pas", tmp_path) == ["passes="]
    assert completed("fixfunc explore --over cache.s", tmp_path) == ["cache.sets="]


def test_commands_options_and_files(tmp_path):
    (tmp_path / "house.obj").touch()
    assert {"frame", "sweep", "verilog"} <= {*completed("fixfunc ", tmp_path)}
    assert completed("fixfunc frame --gol", tmp_path) == ["--golden"]
    assert completed("fixfunc frame hou", tmp_path) == ["house.obj"]
