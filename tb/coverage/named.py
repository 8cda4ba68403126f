# SPDX-License-Identifier: BSD-2-Clause
"""Which signals of generated Verilog are counted: those with a name, each where it is driven.

A signal is counted in the module that computes it: a register, or what an expression is assigned
to. Not counted are temporaries without a name, memory arrays, and wiring, that is other names for
bits that are counted elsewhere: fields of payloads, ports between modules, constants. Neither is
the default of a case of which one item always holds.
"""

import re
from collections.abc import Iterator

OFF = "/*verilator coverage_off*/"
ON = "/*verilator coverage_on*/"
MODULE = re.compile(r"(?m)^module (.*?) ?\((?:.|\n)*?^endmodule")
DECLARATION = re.compile(
    r"^  (input|output|wire|reg) (?:signed )?(?:\[\d+:\d+\] )?(\\\S+|[\w$]+) *(.*)$"
)
ASSIGNMENT = re.compile(r"^  assign (.*?) = (.*);$")
NAME = re.compile(r"\\\S+|\b[a-z_A-Z][\w$]*|\d+'[a-z][0-9a-fxz]+")
# Concatenations, slices and literals alone: no operator.
WIRING = re.compile(r"[\s\w{},:\[\]']*")


def anonymous(name: str) -> bool:
    """Whether nobody gave a signal its name: temporaries of Amaranth and Yosys."""
    bare = name.removeprefix("\\")
    return bare.startswith(("$", "choice_", "port$", "_"))


def marked(source: str, top: str) -> str:
    """Verilog in which coverage of all else is off."""
    return MODULE.sub(lambda found: _module(found[0], found[1].strip() == top), source)


def counted(module: str, is_top: bool) -> set[str]:
    """Names of the signals of one module that are counted."""
    kinds = {}
    for kind, name, rest in _declarations(module):
        if anonymous(name) or rest.startswith("["):
            continue
        kinds.setdefault(name, set()).add(kind)
    computed = set()
    for line in module.splitlines():
        assignment = ASSIGNMENT.match(line)
        if assignment and not _is_wiring(assignment[2]):
            computed |= set(NAME.findall(assignment[1]))
    return {
        name
        for name, kind in kinds.items()
        if "reg" in kind or name in computed or (is_top and "input" in kind)
    }


def _declarations(module: str) -> Iterator[tuple[str, str, str]]:
    for line in module.splitlines():
        found = DECLARATION.match(line)
        if found:
            yield found[1], found[2].rstrip(";"), found[3]


def _is_wiring(expression: str) -> bool:
    names = NAME.findall(expression)
    rest = NAME.sub("", expression)
    return not any(map(anonymous, names)) and WIRING.fullmatch(rest) is not None


def _module(module: str, is_top: bool) -> str:
    names = counted(module, is_top)
    lines = []
    full = False  # in a case of which one item always holds
    for line in module.splitlines():
        found = DECLARATION.match(line)
        full |= "full_case" in line
        full &= "endcase" not in line
        off = (found and found[2].rstrip(";") not in names) or (full and "default:" in line)
        lines.append(f"{OFF} {line} {ON}" if off else line)
    return "\n".join(lines)
