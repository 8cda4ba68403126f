# SPDX-License-Identifier: BSD-2-Clause
"""Texts that read vectors: a bench in plain Verilog, a header and an example in C++17."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template
from typing import NamedTuple

from fixfunc.cosim.vectors.fields import ALONE, tables
from fixfunc.cosim.verilog.generate import Port
from fixfunc.spec.payloads import TRANSFER

FOLDER = Path(__file__).parent

# Of a stream in: valid stays until the beat moves, whatever ready does.
_SEND = """\
  // Stream {name}, in.
  localparam {name}_COUNT = {count};
  reg [{top}:0] {name}_beats [0:{last}];
  reg [{top}:0] {name}_payload;
  reg {name}_valid = 0;
  wire {name}_ready;
  integer {name}_next = 0;
{load}  always @(posedge clk) begin
    if (rst) {name}_valid <= 0;
    else if (!{name}_valid || {name}_ready) begin
      {name}_valid <= 0;
      if ({name}_next < {name}_COUNT && (PAUSES == 0 || $random(chance) % 2 != 0)) begin
        {name}_valid <= 1;
        {name}_payload <= {name}_beats[{name}_next];
        {name}_next <= {name}_next + 1;
      end
    end
  end
"""
# Of a stream out: what is unknown counts as a beat, and as wrong.
_TAKE = """\
  // Stream {name}, out.
  localparam {name}_COUNT = {count};
  reg [{top}:0] {name}_beats [0:{last}];
  wire [{top}:0] {name}_payload;
  wire {name}_valid;
  reg {name}_ready = 0;
  integer {name}_next = 0;
{load}  always @(posedge clk) begin
    {name}_ready <= PAUSES == 0 || $random(chance) % 2 != 0;
    if (!rst && !ended && {name}_ready && {name}_valid !== 1'b0) begin
      if ({name}_next >= {name}_COUNT || {name}_payload !== {name}_beats[{name}_next]) begin
        ended = 1;
        if ({name}_next >= {name}_COUNT)
          $display("FAIL: {name}: beat %0d is %h, after the last one", {name}_next, {name}_payload);
        else
          $display("FAIL: {name}: beat %0d is %h, not %h",
                   {name}_next, {name}_payload, {name}_beats[{name}_next]);
        $finish;
      end
      {name}_next <= {name}_next + 1;
    end
  end
"""
_LOAD = '  initial $readmemh("{stem}.hex", {name}_beats);\n'
_COMPARE = """\
      wrong_at = 0;
      while (wrong_at < TRANSFERS && transfers[wrong_at] === transfers_after[wrong_at])
        wrong_at = wrong_at + 1;
      if (wrong_at < TRANSFERS)
        $display("FAIL: memory: transfer %0d is %h, not %h",
                 wrong_at, transfers[wrong_at], transfers_after[wrong_at]);
      else
"""
# What is joined to each signal of the AXI4 port; nothing to those whose value is always the same.
_MEMORY = {
    "arready": "!reading",
    "rvalid": "reading",
    "rdata": "rdata",
    "rresp": "rresp",
    "rlast": "left == 0",
    "rid": "1'b0",
    "awready": "!writing && !answering",
    "wready": "writing",
    "bvalid": "answering",
    "bresp": "outside ? 2'd3 : 2'd0",
    "bid": "1'b0",
}
_MEMORY |= dict.fromkeys(("awid", "awlen", "awsize", "awburst", "arid", "arsize", "arburst"), "")
_MEMORY |= {name: name for name in ("araddr", "arlen", "arvalid", "rready", "awaddr", "awvalid")}
_MEMORY |= {name: name for name in ("wdata", "wstrb", "wlast", "wvalid", "bready")}


class Parts(NamedTuple):
    """What the texts are made of.

    Parameters
    ----------
    name : str
        Of the block's module.
    title : str
        Block, configuration and seed in words.
    ports : list of :class:`~fixfunc.cosim.verilog.generate.Port`
    counts : dict of int
        Beats by port.
    transfers : int
        Of the memory behind the AXI4 port; 0 where there is none.
    unreadable : int
        A transfer that cannot be read; -1 where there is none.
    """

    name: str
    title: str
    ports: list[Port]
    counts: Mapping[str, int]
    transfers: int
    unreadable: int

    @property
    def said(self) -> str:
        """How many beats have to come out."""
        return ", ".join(
            f"{self.counts[port.name]} beats of {port.name}"
            for port in self.ports
            if not port.input
        )


def stem(port: Port) -> str:
    """Of a port's file, and of its arrays."""
    return f"{'inputs' if port.input else 'expected'}_{port.name}"


def texts(parts: Parts) -> dict[str, str]:
    """Every text by the name of its file."""
    return {
        "reader.sv": _verilog(parts),
        "reader.hpp": _fill("reader.hpp.in", title=parts.title, fields=_constants(parts)),
        "example.cpp": _example(parts),
    }


def _fill(file: str, **values: object) -> str:
    return Template((FOLDER / file).read_text()).substitute(values)


def _verilog(parts: Parts) -> str:
    names = [port.name for port in parts.ports]
    streams = "\n".join(_stream(port, parts.counts[port.name]) for port in parts.ports)
    moved = [f"({name}_valid && {name}_ready)" for name in names]
    if parts.transfers:
        text = _fill("memory.sv.in", transfers=parts.transfers, unreadable=parts.unreadable)
        streams += text[text.index("\n") :]  # the whole has its licence above
        moved.append("memory_moved")
    return _fill(
        "reader.sv.in",
        title=parts.title,
        name=parts.name,
        streams=streams,
        connections=",\n".join(_connections(parts)),
        moved=" || ".join(moved),
        done=" && ".join(
            f"{port.name}_next == {port.name}_COUNT" + f" && !{port.name}_valid" * port.input
            for port in parts.ports
        ),
        compare=_COMPARE if parts.transfers else "",
        counts=parts.said,
        progress=",".join(f" %0d of {parts.counts[name]} of {name}" for name in names),
        seen="".join(
            f", {port.name}_next" + f" - {port.name}_valid" * port.input for port in parts.ports
        ),
    )


def _stream(port: Port, count: int) -> str:
    """Arrays are never empty, and a file that is would be warned of."""
    return (_SEND if port.input else _TAKE).format(
        name=port.name,
        count=count,
        top=port.width - 1,
        last=max(count, 1) - 1,
        load=_LOAD.format(stem=stem(port), name=port.name) if count else "",
    )


def _connections(parts: Parts) -> Iterator[str]:
    for port in parts.ports:
        signals = ("valid", "ready", "payload")
        yield "      " + ", ".join(f".{port.name}__{s}({port.name}_{s})" for s in signals)
    if parts.transfers:
        yield from (f"      .memory__{name}({value})" for name, value in _MEMORY.items())


def _constants(parts: Parts) -> str:
    """Namespaces of fields: of a port, and of a table where there are several."""
    lines = []
    for port in parts.ports:
        lines.append(f"namespace {port.name} {{")
        for table in tables(port):
            low = 0
            lines += [f"namespace {table.name} {{"] * (table.name != ALONE)
            for field in table.fields:
                signed = "true" if field.signed else "false"
                value = f"{{{low}, {field.bits}, {signed}}}"
                lines.append(f"inline constexpr fixfunc::Field {field.name}{value};")
                low += field.bits
            lines += ["}"] * (table.name != ALONE)
        lines.append("}")
    return "\n".join(lines)


def _example(parts: Parts) -> str:
    inputs = [port for port in parts.ports if port.input]
    outputs = [port for port in parts.ports if not port.input]
    loads = "".join(
        f'        const Beats {port.name} = fixfunc::load("{stem(port)}.hex", {port.width});\n'
        for port in inputs
    )
    compares = "".join(
        f'        good = fixfunc::same("{port.name}", {port.width}, out.{port.name}, '
        f'fixfunc::load("{stem(port)}.hex", {port.width})) && good;\n'
        for port in outputs
    )
    parameters = [f"const Beats &{port.name}" for port in inputs]
    names = [port.name for port in inputs]
    if parts.transfers:
        parameters.append("Beats &memory")
        loads += f'        Beats memory = fixfunc::load("memory_before.hex", {TRANSFER});\n'
        compares += (
            f'        good = fixfunc::same("memory", {TRANSFER}, memory, '
            f'fixfunc::load("memory_after.hex", {TRANSFER})) && good;\n'
        )
        names.append("memory")
    fails = f"\n// Reads of transfer {parts.unreadable} fail." if parts.unreadable >= 0 else ""
    table = tables(inputs[0])[0]
    space = "::".join(
        [inputs[0].name, *[table.name] * (table.name != ALONE), table.fields[-1].name]
    )
    return _fill(
        "example.cpp.in",
        title=parts.title,
        outputs=", ".join(port.name for port in outputs),
        sample=f"A field: fixfunc::value({inputs[0].name}[0], fields::{space}).{fails}",
        parameters=", ".join(parameters),
        unused="".join(f"    (void){name};\n" for name in names),
        arguments=", ".join(names),
        loads=loads,
        compares=compares,
        counts=parts.said,
    )
