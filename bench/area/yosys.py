# SPDX-License-Identifier: BSD-2-Clause
"""Yosys scripts, each in a process of its own: the library has global state, and may take hours."""

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

from fixfunc.cosim.toolchain import ToolError

MISSING = "pyosys is missing: type 'make .venv/bench-ready'"
RUNNING: set[subprocess.Popen] = set()


class OverTime(ToolError):
    """A script that had not ended when its time was up."""


def require() -> None:
    """Raise :class:`~fixfunc.cosim.toolchain.ToolError` where Yosys is not installed."""
    if importlib.util.find_spec("pyosys") is None:
        raise ToolError(MISSING)


def run(script: list[str], folder: Path, seconds: float | None = None) -> str:
    """Run commands in ``folder``, where their files lie; what Yosys says about them.

    Raises :class:`~fixfunc.cosim.toolchain.ToolError` if a command fails, and :class:`OverTime`
    after ``seconds``.
    """
    require()
    log = folder / "yosys.log"
    # The folder of this file holds names such as "memory": -P keeps it out of the search path.
    command = [sys.executable, "-P", __file__]
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=folder,
            env=os.environ | {"TMPDIR": str(folder)},  # ABC's files, if it is stopped
            start_new_session=True,  # so that ABC, a process of Yosys, ends with it
        )
        RUNNING.add(process)
        try:
            process.communicate("\n".join(script), timeout=seconds)
        except subprocess.TimeoutExpired:
            raise OverTime(f"not ended after {seconds / 60:.0f} minutes") from None
        finally:
            _end(process)
    text = log.read_text(errors="replace")
    if process.returncode:
        errors = [line for line in text.splitlines() if "ERROR" in line]
        raise ToolError(f"Yosys failed: {errors[-1] if errors else text[-400:]}")
    return text


def stop() -> None:
    """End every script that still runs: a terminal's interrupt does not reach them."""
    for process in list(RUNNING):
        _end(process)


def _end(process: subprocess.Popen) -> None:
    """End a process and its own, if it has not ended; forget it."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    RUNNING.discard(process)


def _child() -> None:
    """Run the commands of standard input, one a line."""
    from pyosys import libyosys

    design = libyosys.Design()
    for line in sys.stdin.read().splitlines():
        libyosys.run_pass(line, design)


if __name__ == "__main__":
    _child()
