# SPDX-License-Identifier: BSD-2-Clause
"""Clock gates: what stands still in a large design is not simulated.

Most of a large design waits in most clocks, and Verilator evaluates all of it in each. Here the
large parts have clocks of their own, in Verilator's model alone. Where a clock changes nothing of
what a part holds, another one with the same inputs changes nothing either, and is left out. Beats
and clocks stay the same.

A delay line never stands still: its places pass through its memory. It holds nothing else once all
rows of the memory are the same, and then it does not matter which of them is the next.
"""

import re
from pathlib import Path
from string import Template
from typing import NamedTuple

from fixfunc.cosim.toolchain import ToolError
from fixfunc.cosim.verilog import hierarchy

CLOCKS = Path(__file__).with_name("clocks.h.in")
RULES = Path(__file__), CLOCKS  # what a library depends on beside its source
EXPANDED = 4_000_000  # characters of all instances' Verilog: smaller designs have one clock
SHARE = 0.012  # of them that a part has, at least
WRAPPED = 0.8  # of what stands around a part: a part that is more of it has its clock
# An instance may have a name that C++ has a use for.
QUIET = ("-Wno-SYMRSVDWORD",)

CLOCK = ".clk(clk)"
_PORT = re.compile(r"(?m)^  ((?:input|output) (?:signed )?(?:\[[^]]*\] )?(\\\S+ |[\w$]+));$")
# What is no register: an input, and what is assigned.
_VALUE = re.compile(r"(?m)^  (?:input (?:signed )?(?:\[[^]]*\] )?|assign )(\\\S+ |[\w$]+)")
_LINE = re.compile(r"(?:^|_)delay_line(?:_\d+)?$")
_PLACES = ("following", "write__addr")  # of a delay line

# What Verilator writes: a class for each module that is kept whole, an object for each instance.
_OBJECT = re.compile(r"(?m)^ +(V\w+) +(TOP__\w+);")
_STATE = re.compile(r"(?s)// DESIGN SPECIFIC STATE\n(.*?)\n\n")
_MEMBER = re.compile(r"(?:[CSIQ]Data|Vl\w+<.*>)(?:/\*[\d:]+\*/)? (\w+)")
_ALL = "top->rootp->vlSymsp->"


class _Object(NamedTuple):
    """An instance in Verilator's model: its class, its name, and the members in their order."""

    kind: str
    name: str
    members: list[str]


def parts(source: str, top: str) -> list[str]:
    """Places of the parts that have clocks of their own, outer ones first; none in a small design.

    Parameters
    ----------
    source : str
        SystemVerilog as it is generated here: the clock is ``clk``, in every module.
    top : str
        Its outermost module.
    """
    known = hierarchy.modules(source)
    if top not in known:
        return []
    sizes = hierarchy.sizes(source, top)
    whole = sizes[top][1]
    if whole < EXPANDED:
        return []
    found = hierarchy.paths(source, top)
    chosen = {top: whole}
    for place, module in found.items():
        outer, _, instance = place.rpartition(".")
        # A module that stands at many places is written once, and would name one clock for all.
        if not outer or module not in sizes or sizes[found[outer]][0] > 1:
            continue
        size = sizes[module][1]
        if not SHARE * whole <= size <= WRAPPED * chosen[_nearest(outer, chosen)]:
            continue
        if CLOCK in hierarchy.connections(known[found[outer]], instance):
            chosen[place] = size
    return [*chosen][1:]


def clocked(source: str, top: str, places: list[str]) -> str:
    """``source`` where part n of ``places`` has the clock ``gate_<n>``, a port of ``top``.

    Verilator's model keeps each part whole, and what goes in and out of it visible.

    Raises
    ------
    ToolError
        A part has a port of no known form, which would not be seen to change.
    """
    known = hierarchy.modules(source)
    found = hierarchy.paths(source, top)
    for n, place in enumerate(places):
        outer, _, instance = place.rpartition(".")
        around = known[found[outer]]
        before = hierarchy.connections(around, instance)
        after = before.replace(CLOCK, f".clk($root.{top}.gate_{n})")
        known[found[outer]] = around.replace(before, after)
    for module in {found[place] for place in places}:
        head, end, body = known[module].partition(");")
        body, seen = _PORT.subn(r"  \1 /*verilator public_flat_rd*/;", body)
        if seen != head.count(",") + 1:
            raise ToolError(f"{module} has ports of no known form: {seen} are known")
        known[module] = f"{head}{end}\n  /*verilator no_inline_module*/{body}"
    head, end, body = known[top].partition("\n);")
    ports = "".join(f",\n  input wire gate_{n}" for n in range(len(places)))
    known[top] = head + ports + end + body
    return source[: hierarchy.MODULE.search(source).start()] + "".join(known.values())


def clocks(source: str, top: str, places: list[str], model: Path) -> str:
    """C++ that moves the clocks of ``model``, the folder that Verilator made of :func:`clocked`.

    Raises
    ------
    ToolError
        A part, or a value of one, is not found in the model.
    """
    gates = "".join(_gates(source, places, model, top)) if places else ""
    return Template(CLOCKS.read_text()).substitute(name=top, gates=gates)


def _gates(source, places, model, top):
    """C++ of each gate: its clock, and where the model has the state and the ports of its part."""
    found = hierarchy.paths(source, top)
    values = {
        name: [_code(hierarchy.bare(value)) for value in _VALUE.findall(module)]
        for name, module in hierarchy.modules(source).items()
    }
    inner: dict[str, list[str]] = {place: [] for place in places}
    for place in found:
        if around := _nearest(place, places):
            inner[around].append(place)
    own, others = _objects(places, model, top)
    for n, place in enumerate(places):
        of = own[place]
        passing, memories = _passing(of, place, inner[place], found, values)
        # Names that begin so are Verilator's, of values within a clock.
        state = [name for name in of.members if not name.startswith("__V") and name not in passing]
        yield f"        {{\n            Gate gate(&top->gate_{n});\n"
        yield _fields("state", of, state)
        for other in others[place]:
            yield f"            gate.state.add(&{_ALL}{other.name}, &whole<{other.kind}>, 1);\n"
        for part in (place, *(p for p in places if _nearest(_outer(p), places) == place)):
            yield _fields("ports", own[part], [m for m in own[part].members if m[:2] != "__"])
        if memories:
            rows = ", ".join(f"ROWS({of.kind}, {memory})" for memory in memories)
            yield f"            static const Rows lines[] = {{{rows}}};\n"
            yield f"            gate.add(&{_ALL}{of.name}, lines, std::size(lines));\n"
        yield "            gates.push_back(std::move(gate));\n        }\n"


def _objects(places, model, top):
    """The object of each part, and others that stand within it."""
    by_code = {f"TOP__{'__'.join(map(_code, place.split('.')))}": place for place in places}
    own: dict[str, _Object] = {}
    others: dict[str, list[_Object]] = {place: [] for place in places}
    for kind, name in _OBJECT.findall((model / f"V{top}__Syms.h").read_text()):
        found = _Object(kind, name, _members(model / f"{kind}.h"))
        flat = name.replace("__DOT__", "__")
        if flat in by_code:
            own[by_code[flat]] = found
            continue
        while flat and flat not in by_code:
            flat = flat.rpartition("__")[0]
        if flat:
            others[by_code[flat]].append(found)
    if missing := [place for place in places if place not in own]:
        raise ToolError(f"Verilator's model of {top} lacks {', '.join(missing)}")
    return own, others


def _members(header):
    """Names of a class's values, in their order."""
    found = _STATE.search(header.read_text())
    lines = [line.strip() for line in found[1].splitlines()] if found else []
    values = [line for line in lines if line.endswith(";") and line != "};"]
    members = [_MEMBER.fullmatch(line[:-1]) for line in values]
    if None in members:
        raise ToolError(
            f"{header.name} has a value of no known form: {values[members.index(None)]}"
        )
    return [member[1] for member in members]


def _passing(of, place, inner, found, values):
    """Members of a part's object that are no state, and the memories of its delay lines.

    Inputs are none, nor is what is assigned. Other wires may be: Verilator keeps a register under
    the name of the wire around it that it is connected to.
    """
    passing = set()
    memories = []
    for at in inner:
        module = found[at]
        path = [_code(name) for name in at[len(place) + 1 :].split(".") if name]
        before = "__PVT__" + "".join(f"{name}__DOT__" for name in path)
        passing.update(before + name for name in values.get(module, ()))
        if at == place:  # ports have no prefix
            passing.update(values[module])
        if _LINE.search(module) and f"{before}memory" in of.members:
            passing.update(before + _code(name) for name in _PLACES)
            memories.append(f"{before}memory")
    return passing, memories


def _fields(use, of, kept):
    """C++ that adds members of an object to the state or the ports of a gate."""
    kept = {*kept}
    runs: list[list[str]] = []
    before = None
    for name in of.members:
        if name in kept and before in kept:
            runs[-1][1] = name
        elif name in kept:
            runs.append([name, name])
        before = name
    if not runs:
        return ""
    fields = ",\n                ".join(f"FROM_TO({of.kind}, {a}, {b})" for a, b in runs)
    return f"""\
            {{
                static const Field fields[] = {{
                {fields}}};
                gate.{use}.add(&{_ALL}{of.name}, fields, std::size(fields));
            }}
"""


def _nearest(place, places):
    """The innermost of ``places`` that holds ``place``, or is it."""
    while place and place not in places:
        place = _outer(place)
    return place


def _outer(place):
    return place.rpartition(".")[0]


def _code(name):
    """A name as Verilator writes it in C++."""
    name = re.sub(r"\W", lambda found: f"__0{ord(found[0]):02X}", name.replace("__", "\0"))
    return name.replace("__000", "___05F")
