# SPDX-License-Identifier: BSD-2-Clause
"""What no input can change: bits of signals that Yosys proves constant, or equal to others.

The Verilog that is simulated is flattened and optimised with every signal kept as an output. What
then is tied to 0 or 1 never moves, whatever the inputs; signals on one net move together.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from fixfunc.cosim import toolchain
from fixfunc.cosim.verilog import yosys
from fixfunc.tb.coverage.points import Points

# Amaranth writes no undefined value. Yosys does where none is ever taken: as the default of a case
# that is full, and as data of a memory that is not written.
# A round carries constants through all registers, and through one memory more.
ROUND = """\
opt -fine -mux_undef -mux_bool -share_all
opt_mem
"""
ROUNDS = 4
SCRIPT = f"""\
read_verilog -sv design.sv
hierarchy -top {{top}}
proc
flatten
memory_collect
cd {{top}}
expose w:* w:t$* w:*.t$* w:choice_* w:*.choice_* w:_*_ w:*._*_ %u %u %u %u %u %d
opt_clean
cd ..
wreduce -keepdc
{ROUND * ROUNDS}delete c:*
write_json netlist.json
"""
# Yosys forgets names that begin with a dollar.
TEMPORARY = re.compile(r"\\\$(\d+)")
BIT = re.compile(r"(.*)\[(\d+)\]")
CONDITION = re.compile(r"(?:assign .* = |if \()(\\\S+ ?|[\w$]+)(?:\[(\d+)\])?(?: +\? |\))")
CALL = re.compile(r"^  assign .* = (\\\S+|[\w$]+) *\((.*)\);$")
FUNCTION = re.compile(r"^  function (?:\[\d+:\d+\] )?(\\\S+|[\w$]+) *;")
ARM = re.compile(r"^ +(?:\d+'b([01?]+)|(default)): *$")


class Netlist(NamedTuple):
    """Bits of all signals of a flattened module: a net's number, ``0``, ``1``, or ``x``.

    Signals have the name of the module's instance in front, with a dot.
    """

    top: str
    bits: dict[str, list[int | str]]

    def bit(self, name: str) -> int | str:
        """Of ``top.instance.signal`` or ``top.instance.signal[bit]``; ``x`` if it is not known."""
        name = name.removeprefix(f"{self.top}.")
        found = BIT.fullmatch(name)
        own = self.bits.get(name, ())
        whole = self.bits.get(found[1], ()) if found else ()
        if found and int(found[2]) < len(whole):
            bit = whole[int(found[2])]
            return bit if len(own) != 1 or own[0] == bit else "x"
        return own[0] if len(own) == 1 else "x"


def netlist(source: str, top: str) -> Netlist:
    """Flatten and optimise Verilog of module ``top``, once, then kept.

    Raises :class:`~fixfunc.cosim.toolchain.ToolError` if Yosys fails.
    """
    parts = [source, top, SCRIPT, *toolchain.versions("pyosys")]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
    path = toolchain.once(
        toolchain.BUILD / "netlist" / f"{top}-{digest}.json",
        lambda out: out.write_text(json.dumps(_bits(source, top))),
    )
    return Netlist(top, json.loads(path.read_text()))


def _bits(source, top):
    script = SCRIPT.format(top=f"\\{top}").strip().splitlines()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "design.sv").write_text(TEMPORARY.sub(r"\\t$\1", source))
        try:
            yosys.run(script, folder)
        except toolchain.ToolError as error:
            raise toolchain.ToolError(f"Yosys failed on the netlist of {top}: {error}") from error
        nets = json.loads((folder / "netlist.json").read_text())
    return {
        name: net["bits"]
        for name, net in nets["modules"][top]["netnames"].items()
        if not net["hide_name"] and not net.get("upto")
    }


def toggles(nets: Netlist, counts: Mapping[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """Edges that can be, each net's once, by its first name; and those that cannot, of constants.

    Raises
    ------
    ToolError
        A bit has moved that is constant: then one of the tools is wrong.
    """
    moving = {}
    constant = {}
    first = {}
    for name, count in counts.items():
        signal, edge = name.rsplit(":", 1)
        net = nets.bit(signal)
        if net in ("0", "1"):
            # Before the first evaluation all is 0.
            if count and (net == "0" or edge == "1->0"):
                raise toolchain.ToolError(f"{name}: was seen, but its netlist holds it at {net}")
            constant[name] = count
            continue
        kept = name if net == "x" else first.setdefault((net, edge), name)
        moving[kept] = max(moving.get(kept, 0), count)
    return moving, constant


def dead(nets: Netlist, seen: Points, source: str) -> set[str]:
    """Lines that were not run, and of which the netlist says that none ever will.

    Branches of a multiplexer whose condition is constant, and arms of a case.
    """
    text = source.splitlines()
    calls = {}
    owner = {}
    module = ""
    function = None
    for number, line in enumerate(text, 1):
        if line.startswith("module "):
            module = line.split("(")[0].split()[1].removeprefix("\\")
        found = FUNCTION.match(line)
        function = found[1] if found else function
        if function:
            owner[number] = (module, function)
        if "endfunction" in line:
            function = None
        call = CALL.match(line)
        if call:
            calls[module, call[1].strip()] = call[2]
    return {
        name
        for name, (place, kind, number) in seen.places.items()
        if not seen.lines[name]
        and _never(nets, place, kind, text[number - 1], calls.get(owner.get(number)))
    }


def _never(nets, place, kind, line, arguments):
    """Whether a branch is one that a constant rules out."""
    arm = ARM.match(line)
    if arm and arguments and kind == "case":
        # ``casez (s)``, the last argument: an arm waits for one of its bits, the default for none.
        bits = _concatenated(nets, place, arguments)
        if arm[2]:
            return "1" in bits
        return len(bits) == len(arm[1]) and ("1", "0") in zip(arm[1], bits, strict=True)
    condition = CONDITION.search(line.strip())
    if not condition:
        return False
    signal = _signal(place, condition[1])
    value = nets.bit(f"{signal}[{condition[2]}]" if condition[2] else signal)
    return (kind in ("cond_then", "if") and value == "0") or (
        kind in ("cond_else", "else") and value == "1"
    )


def _concatenated(nets, place, arguments):
    """Bits, highest first, of the last argument of a call: single signals in braces, or one."""
    last = arguments.rsplit("{", 1)[-1].rstrip(" }") if arguments.endswith("}") else ""
    bits = []
    for part in filter(None, (one.strip() for one in last.split(","))):
        bits.append(nets.bit(_signal(place, part)))
    return bits


def _signal(place, text):
    """The name of a signal of a module that Verilog says."""
    name = TEMPORARY.sub(r"t$\1", text).removeprefix("\\").replace(" ", "")
    return f"{place}.{name}"
