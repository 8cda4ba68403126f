"""What goes with a block's Verilog: a FuseSoC core file, and a page of its ports."""

from amaranth.hdl import Shape
from amaranth.lib import stream

from cosim import toolchain
from cosim.verilog import generate


def give_away(folder, block, config):
    """Write a block's Verilog, its core file and its page of ports; nothing is left half-written."""
    component = block.create(config)
    texts = {"md": page(block.stem, component, block.summary), "core": core(block.stem, block.summary), "sv": generate(component, block.stem)}
    folder.mkdir(parents=True, exist_ok=True)
    for kind, text in texts.items():
        temporary = folder / f".{block.stem}.{kind}"
        temporary.write_text(text)
        temporary.replace(folder / f"{block.stem}.{kind}")


def core(stem, summary):
    """FuseSoC core file of a block, with a target that lints it by Verilator."""
    return "\n".join([
        "CAPI=2:", f"name: fixfunc:blocks:{stem}:0.1.0", f"description: {summary!r}", "filesets:", "  rtl:", f"    files: [{stem}.sv]",
        "    file_type: systemVerilogSource", "targets:", "  default: &default", "    filesets: [rtl]", f"    toplevel: {stem}", "  lint:",
        "    <<: *default", "    default_tool: verilator", "    tools:", "      verilator:", "        mode: lint-only",
        f"        verilator_options: [{', '.join(['-Wall', *toolchain.waivers()])}]", "",
    ])


def page(stem, component, summary):
    """Ports of a block in words: every stream, and the fields of its payload, lowest bits first."""
    lines = [f"# {stem}", "", summary, "", "`clk`, `rst`; then of every stream `__valid`, `__ready`, `__payload`.", "",
             "| port | way | bits | payload |", "|---|---|---|---|"]
    for name, member in component.signature.members.items():
        way = "in" if member.flow.name == "In" else "out"
        if not member.is_signature:
            lines.append(f"| `{name}` | {way} | {Shape.cast(member.shape).width} | |")
        elif isinstance(member.signature, stream.Signature):
            shape = member.signature.members["payload"].shape
            lines.append(f"| `{name}` | {way} | {Shape.cast(shape).width} | {_fields(shape)} |")
        else:
            lines.append(f"| `{name}__*` | {way} | | AXI4: 32 bits of address, 256 of data, one number |")
    return "\n".join([*lines, ""])


def _fields(shape):
    """Fields of a payload: name[bits]; of a union, by table."""
    members = getattr(shape, "members", None)
    if members is None:
        return ""
    names = [f"{name}[{Shape.cast(field).width}]" for name, field in members.items()]
    return ", ".join(names if len(names) <= 24 else [*names[:12], "...", *names[-4:]])
