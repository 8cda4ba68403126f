# SPDX-License-Identifier: BSD-2-Clause
"""What goes with a block's Verilog: a FuseSoC core, a page of its ports, and a package of types."""

from collections.abc import Collection, Iterator
from pathlib import Path

from amaranth.hdl import Shape
from amaranth.lib import stream
from amaranth.lib.data import Field, StructLayout, UnionLayout

from fixfunc.cosim import files, toolchain
from fixfunc.cosim.catalogue import Block
from fixfunc.cosim.verilog import packed
from fixfunc.cosim.verilog.generate import contract, ports
from fixfunc.rtl.payload import meanings

EXAMPLES = toolchain.ROOT / "examples" / "verilog"
# Benches in Verilog, and the blocks that each of them runs.
BENCHES = {
    "raster_tb": ("triangle_setup", "tile_rasterizer"),
    "block_decode_tb": ("block_decode",),
    "texture_tb": ("texture_unit",),
}


def block(folder: Path, of: Block, config: str) -> None:
    """Write a block's Verilog, its core file and its page; each whole or not at all."""
    files.write(folder / f"{of.stem}.sv", of.verilog(config).read_text())
    files.write(folder / f"{of.stem}.core", core(of.stem, of.summary))
    files.write(folder / f"{of.stem}.md", page(of, config))


def package(folder: Path, stems: Collection[str]) -> None:
    """Write the package of types, and the benches in Verilog that run any of these blocks."""
    files.write(folder / f"{packed.NAME}.sv", packed.text())
    files.write(
        folder / f"{packed.NAME}.core",
        _core("types", packed.NAME, "'Packed structs and enums of all streams and packets'", []),
    )
    for bench in (bench for bench, blocks in BENCHES.items() if {*blocks} & {*stems}):
        files.write(folder / f"{bench}.sv", (EXAMPLES / f"{bench}.sv").read_text())


def core(stem: str, summary: str) -> str:
    """FuseSoC core file of a block.

    Its targets are ``lint``, by Verilator, and ``sim``, where there is a bench in Verilog.
    """
    benches = [name for name, blocks in BENCHES.items() if stem in blocks]
    return _core("blocks", stem, repr(summary), benches)


def _core(library: str, stem: str, summary: str, benches: list[str]) -> str:
    version = toolchain.version()
    sources = [f"  rtl:\n    files: [{stem}.sv]\n    file_type: systemVerilogSource"]
    targets = [
        "  default: &default\n    filesets: [rtl]"
        + ("" if library == "types" else f"\n    toplevel: {stem}")
    ]
    if library == "blocks":
        targets.append(
            "  lint:\n    <<: *default\n    default_tool: verilator\n    tools:\n      "
            "verilator:\n        mode: lint-only\n"
            "        verilator_options: [-Wall]"
        )
    for bench in benches:
        cores = [
            f"fixfunc:types:{packed.NAME}:{version}",
            *(f"fixfunc:blocks:{other}:{version}" for other in BENCHES[bench] if other != stem),
        ]
        sources.append(
            f"  bench:\n    depend: [{', '.join(repr(other) for other in cores)}]\n    files: "
            f"[{bench}.sv]\n"
            "    file_type: systemVerilogSource"
        )
        targets.append(
            f"  sim:\n    filesets: [rtl, bench]\n    toplevel: {bench}\n    default_tool: "
            f"icarus\n    tools:\n"
            "      icarus:\n        iverilog_options: [-g2012]\n"
            "      verilator:\n        mode: binary\n        verilator_options: [--timing, "
            "-CFLAGS, -O0]"
        )
    return "\n".join(
        [
            "CAPI=2:",
            "# SPDX-License-Identifier: BSD-2-Clause",
            f"name: fixfunc:{library}:{stem}:{version}",
            f"description: {summary}",
            "filesets:",
            *sources,
            "targets:",
            *targets,
            "",
        ]
    )


def page(of: Block, config: str) -> str:
    """A block in words.

    What it does, its clock and reset, every stream, and every field of its payload with its bits.
    """
    component = of.create(config)
    latency = getattr(component, "latency", None)
    lines = [
        f"# {of.stem} ({config})",
        "",
        f"fixfunc {toolchain.version()}, BSD-2-Clause. "
        f"{of.purpose(config)[0].upper()}{of.purpose(config)[1:]}.",
        "",
        "\n\n".join(contract(of.component)),
        "",
        "- `clk`: everything moves at its rising edge.",
        "- `rst`: synchronous, high for one clock at least; ready may come later, where memory "
        "is cleared first.",
        "- A stream is `__valid`, `__ready`, `__payload`: a beat moves in a clock in which valid "
        "and ready are high; until then it stays.",
        f"- Latency: {latency} clocks from a beat in to its beat out at the earliest."
        if isinstance(latency, int)
        else "- Latency: it depends on the work, or on memory.",
        *_state(of, component),
        "",
    ]
    for name, member in component.signature.members.items():
        way = "in" if member.flow.name == "In" else "out"
        if not member.is_signature:
            lines += [f"## `{name}`: {way}, {Shape.cast(member.shape).width} bits", ""]
        elif isinstance(member.signature, stream.Signature):
            shape = member.signature.members["payload"].shape
            lines += [
                f"## Stream `{name}`: {way}, {Shape.cast(shape).width} bits",
                "",
                *_tables(shape),
            ]
        else:
            lines += [
                f"## Port `{name}__*`: AXI4, asking",
                "",
                "32 bits of address, 256 of data, one number; bursts of whole transfers at "
                "ascending addresses. Its signals: "
                + ", ".join(f"`{signal}`" for signal in member.signature.members),
                "",
            ]
    return "\n".join(lines)


def _state(of: Block, component) -> list[str]:
    """What a block does with control beats, if its first stream has any."""
    carrying = [
        port
        for port in ports(component)
        if isinstance(port.shape, UnionLayout) and "draw_state" in port.shape.members
    ]
    if not any(port.input for port in carrying):
        return []
    unread = getattr(of.rtl, "UNREAD", ())
    out = " and ".join(f"`{port.name}`" for port in carrying if not port.input)
    return [
        f"- Control beats, STATE, CLEAR and FENCE, come out too, in order with the work: whoever "
        f"reads {out} must take them."
        if out
        else "- Control beats, STATE, CLEAR and FENCE, come in with the work, and do not come out.",
        f"- Fields of a STATE that are not read, and may stay zero: "
        f"{', '.join(f'`{name}`' for name in unread) or 'none'}.",
    ]


def _tables(shape) -> Iterator[str]:
    """The fields of a payload, lowest first; of a union, every table."""
    if isinstance(shape, UnionLayout):
        for name, field in shape:
            if isinstance(field.shape, StructLayout):
                yield from (f"### `{name}`", "", *_fields(field.shape), "")
    elif isinstance(shape, StructLayout):
        yield from (*_fields(shape), "")


def _fields(shape: StructLayout) -> list[str]:
    """A table of a struct's fields."""
    said = meanings(shape)
    rows = (_row(name, field, said.get(name, "")) for name, field in shape)
    return ["| bits | field | | meaning |", "|---|---|---|---|", *rows]


def _row(name: str, field: Field, meaning: str) -> str:
    cast = Shape.cast(field.shape)
    end = field.offset + field.width - 1
    return (
        f"| {f'{end}:{field.offset}' if field.width > 1 else field.offset} | "
        f"`{packed.member(name)}` | {'signed' if cast.signed else ''} | {meaning} |"
    )
