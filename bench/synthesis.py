# SPDX-License-Identifier: BSD-2-Clause
"""Area on an ECP5, and the depth of a sum in gates."""

import re

from fixfunc.cosim import catalogue, toolchain
from fixfunc.cosim.verilog import yosys

CELLS = ("LUT4", "CCU2C", "TRELLIS_DPR16X4", "TRELLIS_FF", "DP16KD", "MULT18X18D")
FOLDER = toolchain.BUILD / "synthesis"


def area(stem: str, config: str) -> dict[str, int]:
    """Cells of a block by name."""
    folder = FOLDER / f"{stem}-{config}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "design.sv").write_text(catalogue.block(stem).verilog(config).read_text())
    script = [
        "read_verilog -sv design.sv",
        f"synth_ecp5 -noiopad -top {stem}",
        "tee -o stat.txt stat",
    ]
    yosys.run(script, folder)
    text = (folder / "stat.txt").read_text()
    return {
        name: int(match[1]) if (match := re.search(rf"(\d+)\s+{name}\b", text)) else 0
        for name in CELLS
    }


def score(cells: dict[str, int]) -> int:
    """LUT4-equivalents: LUT4 + 2 CCU2C + 4 DPR16X4."""
    return cells["LUT4"] + 2 * cells["CCU2C"] + 4 * cells["TRELLIS_DPR16X4"]


def depth(kind: str) -> int:
    """Gates on the longest path of a sum of three 32-bit numbers, ``carry_save`` or ``chained``.

    Its carries are those of a prefix adder.
    """
    body = {
        "chained": "wire [31:0] t = a + b; assign s = t + c;",
        "carry_save": "wire [31:0] x = a ^ b ^ c, k = ((a & b) | (a & c) | (b & c)) << 1; assign "
        "s = x + k;",
    }[kind]
    folder = FOLDER / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sum.sv").write_text(
        f"module sum(input [31:0] a, b, c, output [31:0] s); {body} endmodule\n"
    )
    script = [
        "read_verilog -sv sum.sv",
        "synth -flatten -noabc -noalumacc -extra-map +/choices/kogge-stone.v -top sum",
        "ltp -noff",
    ]
    log = yosys.run(script, folder)
    return int(re.search(r"Longest topological path in \w+ \(length=(\d+)\)", log)[1])
