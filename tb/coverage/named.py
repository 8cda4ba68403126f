# SPDX-License-Identifier: BSD-2-Clause
"""Which signals of generated Verilog are counted: those with a name, each where it is driven.

A signal is counted in the module that computes it: a register, or what an expression is assigned
to. Not counted are temporaries without a name, memory arrays, and wiring, that is other names for
bits that are counted elsewhere: fields of payloads, ports between modules, constants. Neither is
the default of a case of which one item always holds.

A part of a block that is a block of its own is counted in its own row: here only what enters it.
"""

import re
from collections.abc import Iterable, Iterator

from fixfunc.cosim.toolchain import ToolError
from fixfunc.cosim.verilog import hierarchy

OFF = "/*verilator coverage_off*/"
ON = "/*verilator coverage_on*/"
MODULE = re.compile(r"(?m)^module (.*?) ?\((?:.|\n)*?^endmodule")
# In the head of the module that is taken away, or in the body of another.
DECLARATION = re.compile(
    r"^  (?:(input|output) (?:wire |reg )?|(wire|reg) )(?:signed )?(?:\[\d+:\d+\] )?"
    r"(\\\S+|[\w$]+) *(.*)$"
)
ASSIGNMENT = re.compile(r"^  assign (.*?) = (.*);$")
NAME = re.compile(r"\\\S+|\b[a-z_A-Z][\w$]*|\d+'[a-z][0-9a-fxz]+")
# Concatenations, slices and literals alone: no operator.
WIRING = re.compile(r"[\s\w{},:\[\]']*")


def anonymous(name: str) -> bool:
    """Whether nobody gave a signal its name: temporaries of Amaranth and Yosys."""
    bare = name.removeprefix("\\")
    return bare.startswith(("$", "choice_", "port$", "_"))


def marked(source: str, top: str, parts: Iterable[str] = ()) -> str:
    """Verilog in which coverage of all else is off.

    Parameters
    ----------
    source : str
    top : str
        Name of the module.
    parts : iterable of str
        Instances within it, as ``instance.instance``, of which the inputs alone are counted. What
        stands below them is not, unless the same module stands elsewhere, too.

    Raises
    ------
    ToolError
        A part is no instance.
    """
    places = {f"{top}.{part}" for part in parts}
    modules = hierarchy.paths(source, top)
    missing = places - set(modules)
    if missing:
        raise ToolError(f"no instance is the part {', '.join(sorted(missing))}")
    of_parts = {modules[place] for place in places}
    within = {
        module: all(any(path.startswith(f"{place}.") for place in places) for path in paths)
        for module, paths in hierarchy.places(modules).items()
    }

    def module(found: re.Match) -> str:
        name = found[1].strip().removeprefix("\\")
        if name in of_parts:
            return _inputs(found[0])
        if within.get(name):
            return f"{OFF}\n{found[0]}\n{ON}"
        return _module(found[0], name == top)

    return MODULE.sub(module, source)


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
            kind = "reg" if line.startswith("  output reg ") else found[1] or found[2]
            yield kind, found[3].rstrip(";,"), found[4]


def _is_wiring(expression: str) -> bool:
    names = NAME.findall(expression)
    rest = NAME.sub("", expression)
    return not any(map(anonymous, names)) and WIRING.fullmatch(rest) is not None


def _inputs(module: str) -> str:
    """A module of which the inputs alone are counted."""
    declared = list(_declarations(module))
    names = {name for kind, name, _ in declared if kind == "input" and not anonymous(name)}
    lines = [OFF]
    for line in module.splitlines():
        found = DECLARATION.match(line)
        on = found and found[3].rstrip(";,") in names
        lines.append(f"{ON} {line} {OFF}" if on else line)
    return "\n".join([*lines, ON])


def _module(module: str, is_top: bool) -> str:
    names = counted(module, is_top)
    lines = []
    full = False  # in a case of which one item always holds
    for line in module.splitlines():
        found = DECLARATION.match(line)
        full |= "full_case" in line
        full &= "endcase" not in line
        off = (found and found[3].rstrip(";,") not in names) or (full and "default:" in line)
        lines.append(f"{OFF} {line} {ON}" if off else line)
    return "\n".join(lines)
