# SPDX-License-Identifier: BSD-2-Clause
"""Standard-cell libraries, and the command that needs one: what is wrong is said in one line."""

import gzip
import importlib.util
import shutil
import subprocess

import pytest

from bench.area import __main__ as command
from bench.area import liberty, timing
from fixfunc.cosim import toolchain
from fixfunc.cosim.verilog import yosys
from fixfunc.spec.errors import InputError

CELL = '  cell ("{}") {{ area : 1; {} }}\n'
INVERTER = (
    'pin ("A") {{ rise_capacitance : 9; capacitance : {}; }} pin ("Y") {{ function : "(!A)"; }}'
)
FLIP_FLOP = 'ff ("IQ","IQ_N") { next_state : "D }"; } /* } */'
CELLS = {
    "lib_inv_1": INVERTER.format(0.002),
    "lib_inv_2": INVERTER.format(0.004),
    "lib_clkinv_2": INVERTER.format(0.005),
    "lib_inv_16": INVERTER.format(0.03),
    "lib_nand2_1": 'pin ("A") { capacitance : 0.1; } pin ("Y") { function : "(!A) | (!B)"; }',
    "lib_nand2_0": "",
    "lib_lpflow_clkbuf_1": "",
    "lib_probe_p_8": "",
    "lib_probec_p_8": "",
    "lib_dfxtp_1": FLIP_FLOP,
    "lib_edfxtp_1": FLIP_FLOP,
    "lib_sedfxtp_1": FLIP_FLOP,
}
KEPT = ["lib_inv_1", "lib_inv_2", "lib_clkinv_2", "lib_inv_16", "lib_nand2_1", "lib_dfxtp_1"]


def library(cells=CELLS):
    """Liberty of cells by name."""
    body = "".join(CELL.format(name, text) for name, text in cells.items())
    head = '/* a } library */\nlibrary ("made_up") {\n  capacitive_load_unit(1.0, "pf");\n'
    return f"{head}{body}}}\n"


def test_cells_that_synthesis_shall_not_take_are_left_out():
    text = liberty.filtered(library())
    assert liberty.CELL.findall(text) == KEPT
    assert text.count('"D }"') == 1
    assert text.rstrip().endswith("}")


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_driver_and_load_are_of_the_library(tmp_path, pack):
    path = tmp_path / "cells.lib"
    path.write_bytes(pack(library().encode()))
    found = liberty.read(path)
    assert found[:1] + found[2:] == ("made_up", "lib_inv_2", 30.0)
    odd = {name: CELLS[name] for name in ("lib_inv_16", "lib_inv_1", "lib_dfxtp_1")}
    path.write_bytes(pack(library(odd).replace('"pf"', "ff").encode()))
    assert liberty.read(path)[2:] == ("lib_inv_16", 0.2)


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (b"module m; endmodule\n", "be a Liberty library"),
        (b"\x1f\x8b\x08", "be a whole gzip file"),
        (gzip.compress(library().encode())[:-20], "be a whole gzip file"),
        (library()[:-3].encode(), "close every group"),
        (library({"lib_inv_1": CELLS["lib_inv_1"]}).encode(), "have a flip-flop"),
        (library({"lib_dfxtp_1": FLIP_FLOP}).encode(), "have an inverter"),
        (
            library().replace("capacitive_load_unit", "unit").encode(),
            "say its unit of capacitance, ff or pf",
        ),
    ],
    ids=["text", "gzip_head", "gzip_half", "group", "flip_flop", "inverter", "unit"],
)
def test_a_broken_library_is_one_line(tmp_path, capsys, monkeypatch, data, rule):
    monkeypatch.setattr(yosys, "require", lambda: None)
    monkeypatch.setattr(timing, "require", lambda: None)
    path = tmp_path / "cells.lib.gz"
    path.write_bytes(data)
    with pytest.raises(InputError):
        liberty.read(path)
    assert command.main([str(path)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"area: LIBERTY must {rule}, not cells.lib.gz\n")


def test_without_a_library_it_is_skipped(tmp_path, capsys):
    for arguments in ([], [str(tmp_path / "absent.lib")]):
        assert command.main(arguments) == 0
        said = capsys.readouterr()
        line = "area: skipped: no standard-cell library: set LIBERTY=file.lib[.gz]\n"
        assert (said.out, said.err) == (line, "")


def test_a_missing_tool_is_one_line(tmp_path, capsys, monkeypatch):
    path = tmp_path / "cells.lib"
    path.write_text(library())
    monkeypatch.setenv("PATH", str(tmp_path))
    real = importlib.util.find_spec
    for pyosys, line in ((object(), timing.MISSING), (None, yosys.MISSING)):
        monkeypatch.setattr(
            importlib.util,
            "find_spec",
            lambda name, found=pyosys: found if name == "pyosys" else real(name),
        )
        assert command.main([str(path)]) == 2
        assert capsys.readouterr().err == f"area: {line}\n"


def test_a_machine_that_may_not_install_opensta_is_told(tmp_path):
    for name in ("sh", "id"):
        (tmp_path / name).symlink_to(shutil.which(name))
    command = [tmp_path / "sh", toolchain.ROOT / "cosim/system.sh", "timing", "python3"]
    done = subprocess.run(command, env={"PATH": str(tmp_path)}, capture_output=True, text=True)
    said = "missing opensta: type 'apt-get install opensta' as root\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_an_unknown_block_is_one_line(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(yosys, "require", lambda: None)
    monkeypatch.setattr(timing, "require", lambda: None)
    path = tmp_path / "cells.lib"
    path.write_text(library())
    assert command.main([str(path), "hiz (huge)"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("area: block must be one of ")
    assert said.endswith(", not hiz (huge)\n")
    assert said.count("\n") == 1
