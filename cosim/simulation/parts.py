# SPDX-License-Identifier: BSD-2-Clause
"""Repeated parts: a module that is most of a design is Verilated once, as a library of its own.

Verilator writes, and the compiler reads, every instance anew: 48 blenders of all formats are 90 MB
of C++. A library is called through DPI, whose calls cost a third of the speed, so that it takes a
design that is mostly one module.
"""

import subprocess
from pathlib import Path

from fixfunc.cosim.verilog import hierarchy

INSTANCES = 16  # that are repeated, at least
EXPANDED = 10_000_000  # characters of all instances' Verilog: smaller designs are built as a whole
SHARE = 0.5  # of them that the instances of the part must have
# A library's outputs depend on its inputs and on its clock by calls that Verilator cannot see into.
QUIET = ("-Wno-UNOPTFLAT",)


def repeated(source: str, top: str) -> str | None:
    """The module to build by itself, if there is one: the one whose instances are most of ``top``.

    Parameters
    ----------
    source : str
        SystemVerilog.
    top : str
        Its outermost module.
    """
    if top not in hierarchy.modules(source):
        return None
    sizes = hierarchy.sizes(source, top)
    whole = sizes[top][1]
    found = {name: n * size for name, (n, size) in sizes.items() if n >= INSTANCES}
    largest = max(found, key=found.__getitem__, default=None)
    return largest if largest and EXPANDED < whole < found[largest] / SHARE else None


def split(tool: str, source: str, top: str, part: str, folder: Path, flags: list[str]) -> list:
    """Build a part in ``folder``: what Verilator reads in its place, and its options.

    ``folder`` has the rest as ``<top>.sv`` then.

    Raises
    ------
    subprocess.CalledProcessError
        Verilator or the compiler failed: its output is with the error.
    """
    head = source[: hierarchy.MODULE.search(source).start()]  # what Verilator need not warn of
    (folder / f"{part}_part.sv").write_text(head + hierarchy.part(source, part))
    (folder / f"{top}.sv").write_text(head + hierarchy.around(source, top, part))
    made = f"part_{part}"
    command = [tool, "--build", "--lib-create", part, *flags, "--top-module", part, "--Mdir", made]
    run([*command, f"{part}_part.sv"], folder)
    return [*QUIET, "-LDFLAGS", folder / made / f"lib{part}.a", f"{made}/{part}.sv"]


def run(command: list, folder: Path) -> None:
    """Run a tool; one that fails raises :exc:`subprocess.CalledProcessError` with its output."""
    subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=True,
    )
