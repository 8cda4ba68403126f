# SPDX-License-Identifier: BSD-2-Clause
"""Readers of vectors: they pass what is right, and name the first beat that is wrong."""

import re
import shutil
import subprocess

import numpy as np
import pytest

from fixfunc.__main__ import main
from fixfunc.cosim import catalogue
from tests.cosim.vectors.test_files import EVERY
from tests.tiers import SIMULATORS
from tests.verilog import simulate

COUNT = 12
SOUND = 5  # a seed of transaction_elimination whose memory can be read
FAULTY = 53  # one of which tables lie where it cannot
# An edge evaluator of 4x4 lanes: sample positions [fs 19.2], inside where the edge function is not
# negative, in the 17 bits of its field. Samples of a pixel are lanes below and beside each other.
YOURS = """\
    static const int at[4][8][2] = {
        {{0, 0}},
        {{4, 4}, {-4, -4}},
        {{-2, -6}, {6, -2}, {-6, 2}, {2, 6}},
        {{1, -3}, {-1, 3}, {5, 1}, {-3, -5}, {-5, 5}, {-7, -1}, {3, 7}, {7, -7}}};
    for (const fixfunc::Beat &beat : i) {
        const auto samples = fixfunc::value(beat, fields::i::samples);
        const int lx = samples >= 2, ly = samples == 3 ? 2 : samples >= 1;
        std::uint64_t mask = 0;
        for (int n = 0; n < 16; ++n) {
            const int column = n % 4, row = n / 4;
            const int *place = at[samples][column % (1 << lx) + (row % (1 << ly) << lx)];
            const auto x = 16 * (column >> lx) + place[0], y = 16 * (row >> ly) + place[1];
            const auto value = fixfunc::value(beat, fields::i::a) * x +
                               fixfunc::value(beat, fields::i::b) * y +
                               fixfunc::value(beat, fields::i::c);
            mask |= std::uint64_t(value >> 16 & 1 ? 0 : 1) << n;
        }
        out.o.push_back(fixfunc::zero(16));
        fixfunc::put(out.o.back(), fields::o::mask, mask);
    }
"""


def write(folder, stem, count=COUNT, seed=0):
    command = ["vectors", stem, "--config", "tiny", "--count", str(count), "--seed", str(seed)]
    assert main([*command, "-o", str(folder)]) == 0


def flip(path, line, digit=-1):
    """Change a digit of a line of a file."""
    lines = path.read_text().splitlines()
    digits = list(lines[line])
    digits[digit] = f"{int(digits[digit], 16) ^ 1:x}"
    lines[line] = "".join(digits)
    path.write_text("\n".join([*lines, ""]))


def run(folder, simulator, stem, change=lambda text: text):
    """What the bench says of the block's own Verilog."""
    (folder / "block.sv").write_text(change(catalogue.block(stem).verilog("tiny").read_text()))
    said = simulate(folder, simulator, "reader", ["reader.sv", "block.sv"])
    return re.findall(r"(?m)^(?:PASS|FAIL).*", said)


@pytest.mark.plan("vectors-7")
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_the_bench_passes_what_is_right_alone(simulator, tmp_path):
    """Both ways of the same binary: it reads the files when it runs."""
    write(tmp_path, "edge_evaluator")
    assert run(tmp_path, simulator, "edge_evaluator") == [f"PASS: {COUNT} beats of o"]
    right = (tmp_path / "expected_o.hex").read_text()
    binary = ["vvp", "run"] if simulator == "icarus" else [tmp_path / "obj_dir" / "run"]
    for line in (0, 5, COUNT - 1):
        (tmp_path / "expected_o.hex").write_text(right)
        beat = right.splitlines()[line]
        flip(tmp_path / "expected_o.hex", line)
        wrong = (tmp_path / "expected_o.hex").read_text().splitlines()[line]
        done = subprocess.run(binary, cwd=tmp_path, capture_output=True, text=True)
        assert f"FAIL: o: beat {line} is {beat}, not {wrong}\n" in done.stdout
        assert "PASS" not in done.stdout


# Modules that are no edge evaluator, by what is said of them.
BROKEN = {
    "FAIL: no beat moves any more: 0 of 12 of i, 0 of 12 of o": "assign i__ready = 0;",
    "FAIL: no beat moves any more: 12 of 12 of i, 0 of 12 of o": "assign i__ready = 1;",
    "FAIL: no beat moves any more: 12 of 12 of i, 11 of 12 of o": "assign o__valid = at < 11;",
    "FAIL: o: beat 12 is 0000, after the last one": "assign o__valid = 1;",
    "PASS: 12 beats of o": "assign o__valid = at < 12;",
}
MODULE = """\
module edge_evaluator (
    input clk, input rst, input [38:0] i__payload, input i__valid, output i__ready,
    output [15:0] o__payload, output o__valid, input o__ready
);
  reg [15:0] golden [0:15];
  integer at = 0;
  initial for (at = 15; at > 0; at = at - 1) golden[at] = 0;
  initial $readmemh("expected_o.hex", golden, 0, 11);
  always @(posedge clk) if (!rst && o__valid && o__ready) at <= at + 1;
  assign o__payload = golden[at];
"""


@pytest.mark.plan("vectors-8")
@pytest.mark.parametrize("simulator", SIMULATORS[:1])
@pytest.mark.parametrize("said", BROKEN)
def test_modules_that_are_none_of_the_block(said, simulator, tmp_path):
    """They take nothing, give nothing, too little, too much, or what is right."""
    write(tmp_path, "edge_evaluator")
    wiring = BROKEN[said]
    if "i__ready" not in wiring:
        wiring += " assign i__ready = 1;"
    if "o__valid" not in wiring:
        wiring += " assign o__valid = 0;"
    (tmp_path / "block.sv").write_text(f"{MODULE}  {wiring}\nendmodule\n")
    assert f"{said}\n" in simulate(tmp_path, simulator, "reader", ["reader.sv", "block.sv"])


@pytest.mark.plan("vectors-8")
@pytest.mark.parametrize("simulator", [name for name in SIMULATORS if name == "icarus"] or [None])
def test_what_is_unknown_is_wrong(simulator, tmp_path):
    """Where a simulator knows X: as a valid, and as a bit of a payload."""
    write(tmp_path, "edge_evaluator")
    for valid in ("1'bx", "1") if simulator else ():
        wiring = f"assign i__ready = 1; assign o__valid = {valid};"
        text = f"{MODULE}  {wiring}\nendmodule\n".replace("= golden[at]", "= 16'bx")
        (tmp_path / "block.sv").write_text(text)
        said = simulate(tmp_path, simulator, "reader", ["reader.sv", "block.sv"])
        assert "FAIL: o: beat 0 is xxxx, not " in said


@pytest.mark.plan("vectors-9")
@pytest.mark.parametrize("simulator", SIMULATORS[:1])
@pytest.mark.parametrize(("seed", "errors"), [(SOUND, False), (FAULTY, True)])
def test_memory_is_compared_at_the_end(simulator, seed, errors, tmp_path):
    """Transfers read and written, one that cannot be read, and one that is wrong in the end."""
    write(tmp_path, "transaction_elimination", 8, seed)
    arrays = np.load(tmp_path / "vectors.npz")
    assert arrays["expected_o_fields"]["error"].any() == errors
    unreadable = arrays["memory_unreadable"]
    assert (unreadable >= 0) == errors
    assert f"UNREADABLE = {unreadable};" in (tmp_path / "reader.sv").read_text()
    assert ("// Reads of transfer" in (tmp_path / "example.cpp").read_text()) == errors
    (said,) = run(tmp_path, simulator, "transaction_elimination")
    assert re.fullmatch(r"PASS: \d+ beats of o", said)
    flip(tmp_path / "memory_after.hex", 7)
    (said,) = run(tmp_path, simulator, "transaction_elimination")
    assert said.startswith("FAIL: memory: transfer 7 is ")


@pytest.mark.plan("vectors-9")
@pytest.mark.parametrize("simulator", SIMULATORS[:1])
def test_draws_of_several_kinds_of_beats(simulator, tmp_path):
    write(tmp_path, "tile_rasterizer", 20)
    (said,) = run(tmp_path, simulator, "tile_rasterizer")
    assert said.startswith("PASS: ")


@pytest.mark.plan("vectors-7")
@pytest.mark.parametrize("stem", EVERY)
def test_every_bench_is_plain_verilog(stem, tmp_path):
    """By Icarus, held to Verilog-2005, without a warning; the block's module is not looked at."""
    write(tmp_path, stem, 1)
    shutil.copy(tmp_path / "reader.sv", tmp_path / "reader.v")
    command = ["iverilog", "-g2005", "-Wall", "-i", "-t", "null", "reader.v"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def compile_and_run(folder):
    """Exit code, and what is printed."""
    command = ["g++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "example.cpp"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([folder / "a.out"], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout


@pytest.mark.plan("vectors-10")
def test_an_evaluator_in_cpp_is_held_to_the_vectors(tmp_path):
    """Written of the rule alone, it passes; not with a digit changed, a short line, or no file."""
    write(tmp_path, "edge_evaluator", 300)
    example = (tmp_path / "example.cpp").read_text()
    (tmp_path / "example.cpp").write_text(example.replace("    (void)i;\n", YOURS))
    assert compile_and_run(tmp_path) == (0, "PASS: 300 beats of o\n")
    path = tmp_path / "expected_o.hex"
    right = path.read_text()
    flip(path, 123, 0)
    code, said = compile_and_run(tmp_path)
    assert code == 1
    assert said.startswith("FAIL: o: beat 123 is ")
    path.write_text(right.removesuffix("\n")[:-1])
    assert compile_and_run(tmp_path) == (
        2,
        "FAIL: expected_o.hex: line 300 must have 4 hexadecimal digits\n",
    )
    path.write_text(right[:-5])
    assert compile_and_run(tmp_path) == (1, "FAIL: o: 300 beats, not 299\n")
    path.unlink()
    assert compile_and_run(tmp_path) == (2, "FAIL: expected_o.hex cannot be read\n")


@pytest.mark.plan("vectors-10")
@pytest.mark.parametrize("stem", EVERY)
def test_every_example_fails_until_it_is_filled_in(stem, tmp_path):
    """And compiles without a warning."""
    write(tmp_path, stem, 40)
    code, said = compile_and_run(tmp_path)
    assert code == 1
    assert re.match(r"FAIL: \w+: 0 beats, not \d+\n", said)
