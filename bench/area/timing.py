# SPDX-License-Identifier: BSD-2-Clause
"""The longest path of a netlist, by OpenSTA."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

from bench.area.liberty import Library
from fixfunc.cosim.toolchain import ToolError

MISSING = "OpenSTA is missing: type 'apt-get install opensta'"
PERIOD = 10  # ns: any, since what matters is by how much it is met or missed
MINUTES = 10
SCRIPT = """
read_liberty cells.lib
read_verilog netlist.v
link_design {{{module}}}
set_cmd_units -time ns -capacitance fF
create_clock -name clk -period {period} [get_ports clk]
set inputs {{}}
foreach port [all_inputs] {{
    if {{[get_property $port full_name] ne "clk"}} {{ lappend inputs $port }}
}}
set_input_delay 0 -clock clk $inputs
set_driving_cell -lib_cell {driver} $inputs
set_output_delay 0 -clock clk [all_outputs]
set_load {load} [all_outputs]
report_checks -path_delay max -digits 3 -fields {{net fanout}}
exit
"""
POINT = re.compile(r"^(Startpoint|Endpoint): (\S+)", re.MULTILINE)
SLACK = re.compile(r"^\s*(-?[\d.]+)\s+slack \((?:MET|VIOLATED)\)", re.MULTILINE)
STAGE = re.compile(r"^\s+-?[\d.]+\s+-?[\d.]+ [v^] (\S+)/\S+ \(", re.MULTILINE)


class Timing(NamedTuple):
    """The longest path: time with setup, cells between its ends, and these."""

    ns: float
    levels: int
    start: str
    end: str


def require() -> None:
    """Raise :class:`~fixfunc.cosim.toolchain.ToolError` where OpenSTA is not installed."""
    if not shutil.which("sta"):
        raise ToolError(MISSING)


def version() -> str:
    """Version of OpenSTA."""
    require()
    return subprocess.run(["sta", "-version"], capture_output=True, text=True).stdout.strip()


def recipe() -> str:
    """All that decides a path but the netlist and the library."""
    return f"{SCRIPT}\0{PERIOD}"


def report(folder: Path, module: str, library: Library) -> str:
    """What OpenSTA says about ``folder/netlist.v``, beside which the library lies."""
    script = SCRIPT.format(
        module=module, period=PERIOD, driver=library.driver, load=library.load
    ).strip()
    (folder / "timing.tcl").write_text(script)
    command = ["sta", "-no_splash", "-exit", "timing.tcl"]
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, timeout=60 * MINUTES
        )
    except subprocess.TimeoutExpired:
        raise ToolError(f"OpenSTA has not ended after {MINUTES} minutes") from None
    text = done.stdout + done.stderr
    if done.returncode or re.search(r"^Error", text, re.MULTILINE):
        errors = [line for line in text.splitlines() if line.startswith("Error")]
        raise ToolError(f"OpenSTA failed: {errors[0] if errors else text[-400:]}")
    return text


def named(text: str, netlist: str) -> str:
    """The report with the ends of its path named by what they drive: ``name\\\\kind``.

    Yosys names a cell by its wire where the cell has one output, and a flip-flop may have two.
    """
    for instance in dict.fromkeys(cell for _, cell in POINT.findall(text)):
        cell = re.search(rf"(?ms)^  (\w+) {re.escape(instance)} \((.*?)\);", netlist)
        wire = cell and re.search(r"\.Q\(\\?(\S+?) ?\)", cell[2])
        if wire and not re.fullmatch(r"_\d+_", wire[1]):
            text = text.replace(instance, f"{wire[1]}\\\\{cell[1]}")
    return text


def longest(text: str) -> Timing | None:
    """The path that a report holds, or None of a module without one."""
    if "No paths found" in text:
        return None
    points = dict(POINT.findall(text))
    slack = SLACK.search(text)
    if len(points) != 2 or not slack:
        raise ToolError(f"OpenSTA reports no path: {text.strip()[-200:]}")
    start, end = points["Startpoint"], points["Endpoint"]
    cells = dict.fromkeys(STAGE.findall(text))
    levels = sum(cell not in (start, end) for cell in cells)
    return Timing(round(PERIOD - float(slack[1]), 3), levels, _register(start), _register(end))


def _register(instance: str) -> str:
    """Name of a register, by which its cell is named, and by its kind; a port stays as it is."""
    return instance.split("\\")[0]
