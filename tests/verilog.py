# SPDX-License-Identifier: BSD-2-Clause
"""Benches in Verilog alone, on either simulator."""

import subprocess

from fixfunc.cosim import toolchain


def simulate(folder, simulator, top, sources):
    """Compiles and runs; returns what it prints."""
    if simulator == "icarus":
        commands = [
            [toolchain.icarus(), "-g2012", "-s", top, "-o", "run", *sources],
            ["vvp", "run"],
        ]
    else:
        commands = [
            [
                toolchain.verilator(),
                "--binary",
                "--timing",
                "-j",
                "2",
                "-CFLAGS",
                "-O0",
                "--top",
                top,
                "-o",
                "run",
                *sources,
            ],
            [folder / "obj_dir" / "run"],
        ]
    for command in commands:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    return done.stdout
