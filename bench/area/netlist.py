# SPDX-License-Identifier: BSD-2-Clause
"""Verilog to a netlist of standard cells, by Yosys and ABC."""

import gzip
import re
from pathlib import Path
from typing import Any

from bench.area.liberty import Library
from fixfunc.cosim.verilog import yosys

PERIOD = 4000  # ps that ABC sizes gates for
# Yosys's own script for ABC writes ripple adders: twice the time.
ABC = (
    "strash; &get -n; &st; &dch -f -C 20; &nf; &put; buffer -c; topo; "
    "upsize {D}; dnsize {D}; stime -p\n"
)
# What memories are made of differs from process to process: their ports become the module's.
SCRIPT = """
libcache -scl -disable
read_verilog -sv design.sv
hierarchy -top {module}
synth -flatten -run begin:fine
tee -q -o memories.txt dump t:$mem_v2
expose -evert t:$mem_v2
delete t:$mem_v2
synth -flatten -noabc -run fine:check
opt -purge
dfflibmap -liberty cells.lib
abc -D {period} -constr abc.constr -script abc.script -liberty cells.lib
setundef -zero
splitnets -ports
opt_clean -purge
tee -q -o stat.txt stat -liberty cells.lib
read_liberty -lib -ignore_miss_func cells.lib
rename -wire
write_verilog -noattr -noexpr -nohex -nodec netlist.v
"""
MEMORY = re.compile(r"(?ms)^  cell \$mem_v2 \\?(\S+)\n(.*?)^  end$")
PARAMETER = re.compile(r"parameter(?: signed)? \\(SIZE|WIDTH|RD_PORTS|WR_PORTS) (\d+)")
AREA = re.compile(r"Chip area for (?:top )?module '\\?\S+': ([\d.eE+-]+)")
REGISTERS = re.compile(r"of which used for sequential elements: [\d.eE+-]+ \(([\d.]+)%\)")
PORT = re.compile(r"(?m)^  (input|output) (\S+) ?;")
ALIAS = re.compile(r"(?m)^  assign (\S+) += (\S+) ?;\n")


def recipe(library: Library) -> str:
    """All that decides a netlist but its Verilog."""
    return "\0".join([SCRIPT, ABC, _constraints(library), str(PERIOD), library.digest])


def synthesize(
    verilog: str, module: str, library: Library, folder: Path, seconds: float
) -> dict[str, Any]:
    """Map a module to the library's cells: ``folder/netlist.v.gz``, and what is in it.

    Returns
    -------
    dict
        ``um2``, ``flip_flops`` (their share of it), ``memories``: name, places, bits, read ports
        and write ports of each.

    Raises :class:`~fixfunc.cosim.verilog.yosys.OverTime` after ``seconds``.
    """
    (folder / "design.sv").write_text(verilog)
    (folder / "cells.lib").write_text(library.text)
    (folder / "abc.script").write_text(ABC)
    (folder / "abc.constr").write_text(_constraints(library))
    script = SCRIPT.format(module=f"\\{module}", period=PERIOD).strip().splitlines()
    yosys.run(script, folder, seconds)
    figures = {
        **statistics((folder / "stat.txt").read_text()),
        "memories": memories((folder / "memories.txt").read_text()),
    }
    netlist = single_loads((folder / "netlist.v").read_text())
    (folder / "netlist.v.gz").write_bytes(gzip.compress(netlist.encode(), 6, mtime=0))
    return figures


def statistics(text: str) -> dict[str, float]:
    """Area in um2, and the flip-flops' share of it, of what Yosys's ``stat`` says."""
    area = AREA.findall(text)
    share = REGISTERS.findall(text)
    return {
        "um2": round(float(area[-1]), 1) if area else 0.0,
        "flip_flops": round(float(share[-1]) / 100, 4) if share else 0.0,
    }


def memories(text: str) -> list[list]:
    """Name, places, bits, read and write ports of every memory that Yosys's ``dump`` lists."""
    sizes_by_name = []
    for name, body in MEMORY.findall(text):
        value = {key: int(number) for key, number in PARAMETER.findall(body)}
        sizes = [value[key] for key in ("SIZE", "WIDTH", "RD_PORTS", "WR_PORTS")]
        sizes_by_name.append([name, *sizes])
    return sorted(sizes_by_name, key=lambda row: (-row[1] * row[2], row[0]))


def single_loads(netlist: str) -> str:
    """The netlist without outputs that repeat the net of another port.

    The 257 enables of one write port are one pin, and the clock of a memory is no output that has
    to arrive in time.
    """
    ways = PORT.findall(netlist)
    outputs = {name for way, name in ways if way == "output"}
    taken = {name for _, name in ways}

    def keep(match: re.Match) -> str:
        output, net = match.groups()
        if output not in outputs:
            return match[0]
        if net in taken:
            return ""
        taken.add(net)
        return match[0]

    return ALIAS.sub(keep, netlist)


def _constraints(library: Library) -> str:
    return f"set_driving_cell {library.driver}\nset_load {library.load} [all_outputs]\n"
