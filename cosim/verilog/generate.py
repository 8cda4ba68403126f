# SPDX-License-Identifier: BSD-2-Clause
"""SystemVerilog of a component, and its ports."""

import inspect
import re
import textwrap
from typing import NamedTuple

from amaranth.hdl import Shape
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout, UnionLayout
from amaranth.lib.wiring import In

from fixfunc.cosim import toolchain
from fixfunc.cosim.verilog import units

DECLARED = re.compile(
    r"(?m)^  (?:input|output) (?:signed )?(?:\[\d+:0\] )?(\w+);\n  (?:wire|reg) .*;\n"
)
HEAD = re.compile(r"(?ms)^module (\w+|\\\S+ )\(.*?\);\n")  # a keyword is escaped


class Port(NamedTuple):
    """A stream port of a component."""

    name: str
    width: int  # bits of the payload
    input: bool
    shape: object  # layout of the payload


def ports(component: wiring.Component) -> list[Port]:
    """The stream ports of a component, inputs and outputs, in the order of its signature."""
    result = []
    for name, member in component.signature.members.items():
        if member.is_signature and isinstance(member.signature, stream.Signature):
            shape = member.signature.members["payload"].shape
            result.append(Port(name, Shape.cast(shape).width, member.flow.name == "In", shape))
    return result


def memory_ports(component: wiring.Component) -> list[str]:
    """Names of the AXI4 ports of a component."""
    return [
        name
        for name, member in component.signature.members.items()
        if member.is_signature and "araddr" in member.signature.members
    ]


def constant_ports(component: wiring.Component) -> list[str]:
    """Names of the inputs that are no streams: they hold one value during a run."""
    members = component.signature.members.items()
    return [name for name, member in members if not member.is_signature and member.flow == In]


def generate(component: wiring.Component, name: str, configuration: str = "") -> str:
    """SystemVerilog of ``component`` as module ``name``, behind a heading that says what it is.

    The text depends on the component alone. Choices are assignments, and processes are clocked:
    Icarus runs no ``always @*`` whose inputs do not change, so that its outputs stay X, and does
    not settle where an ``always_comb`` reads and writes parts of the same wide vectors.
    """
    store = units.Store()
    units.ahead(component, store)
    text = store.assembled(units.netlist(component, name, store), name)
    return (
        f"{heading(component, name, configuration)}\n"
        f"{_with_ports(text, component)}\n{_waivers('on')}"
    )


def _with_ports(text: str, component: wiring.Component) -> str:
    """Verilog whose first module declares its ports in its head, in the order of the signature."""
    end = text.index("\nendmodule")
    declared = {
        found[1]: [line.strip() for line in found[0].splitlines()]
        for found in DECLARED.finditer(text, 0, end)
    }
    lines = []
    for place, (port, name) in enumerate(_in_order(component, declared)):
        way, shape = declared[name][0].split(" ", 1)
        kind, init = declared[name][1].split(" ", 1)
        value = init.rstrip(";").split(" = ")[1:]
        shape = shape.rstrip(";").removesuffix(name)
        comma = "," if place + 1 < len(declared) else ""
        lines += [f"  // {line}" for line in port]
        lines.append(f"  {way} {kind} {shape}{name}{''.join(f' = {v}' for v in value)}{comma}")
    head = HEAD.search(text)
    body = DECLARED.sub("", text[head.end() : end])
    return (
        f"{text[: head.start()]}module {head[1]} (\n"
        + "\n".join(lines)
        + f"\n);\n{body}{text[end:]}"
    )


def _in_order(component, declared):
    """Names of ports, clock and reset first, and what is said before each."""
    for name in ("clk", "rst"):
        if name in declared:
            yield [], name
    said = {
        f"{port}__payload": _comment(port, member)
        for port, member in component.signature.members.items()
    }
    for name in units.ports(component):
        if name in declared:
            yield said.get(name, []), name


def _comment(port, member):
    """What a port carries: of a stream every field, at its bits."""
    if not member.is_signature or not isinstance(member.signature, stream.Signature):
        return []
    shape = member.signature.members["payload"].shape
    if isinstance(shape, UnionLayout):
        tables = [(name, field.shape) for name, field in shape]
        tables = [(name, table) for name, table in tables if isinstance(table, StructLayout)]
    else:
        tables = [("", shape)] if isinstance(shape, StructLayout) else []
    lines = []
    for name, table in tables:
        said = ", ".join(_field(field, at) for field, at in table)
        title = f"{port} {name}: ".replace(" :", ":")
        lines += textwrap.wrap(title + said, 94, subsequent_indent="    ")
    return lines


def _field(name, field):
    end = field.offset + field.width - 1
    bits = f"{end}:{field.offset}" if field.width > 1 else f"{field.offset}"
    signed = " signed" if Shape.cast(field.shape).signed else ""
    return f"{name} [{bits}]{signed}"


def heading(component: wiring.Component, name: str, configuration: str) -> str:
    """What a file begins with: licence, name, configuration, version, ports.

    And the named waivers of Verilator's warnings.
    """
    lines = [
        f"{name}{f' ({configuration})' if configuration else ''}, fixfunc {toolchain.version()}",
        *(" ".join(first.split()) for first in contract(type(component))[:1]),
        "",
        "clk, rst: everything moves at the rising edge; rst is synchronous, and one clock of it "
        "is enough.",
        "A beat of a stream moves in a clock in which __valid and __ready are high; its "
        "payload's first field is lowest.",
        "",
    ]
    for port, member in component.signature.members.items():
        way = "in " if member.flow.name == "In" else "out"
        if not member.is_signature:
            lines.append(f"{way}  {port}[{Shape.cast(member.shape).width}]")
        elif isinstance(member.signature, stream.Signature):
            width = Shape.cast(member.signature.members["payload"].shape).width
            lines.append(f"{way}  {port}__payload[{width}], {port}__valid, {port}__ready")
        else:
            lines.append(f"{way}  {port}__*: {', '.join(member.signature.members)}")
    comment = "\n".join(
        f"// {line}".rstrip() for line in ["SPDX-License-Identifier: BSD-2-Clause", *lines]
    )
    return f"{comment}\n\n{_waivers('off')}"


def contract(kind: type) -> list[str]:
    """Paragraphs of a component's docstring as plain text, up to its parameters.

    The first says what it does.
    """
    text = (inspect.getdoc(kind) or "").split("\n\nParameters\n")[0]
    return re.sub(r":\w+:`~?([^`]*)`", r"\1", text).split("\n\n") if text else []


def _waivers(state: str) -> str:
    """Comments that switch the named warnings off, with reasons, or on again."""
    reasons = {
        name: f"  // {why}" if state == "off" else "" for name, why in toolchain.WAIVERS.items()
    }
    return "".join(f"/* verilator lint_{state} {name} */{why}\n" for name, why in reasons.items())
