# SPDX-License-Identifier: BSD-2-Clause
"""A component with stream ports as a shared library: the C++ around it, and its build."""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path
from string import Template

from amaranth.lib import wiring

from fixfunc.cosim import codec, toolchain
from fixfunc.cosim.simulation import clock_gates, parts, waves
from fixfunc.cosim.simulation.parts import run
from fixfunc.cosim.verilog import units
from fixfunc.cosim.verilog.generate import constant_ports, memory_ports, ports

SHIM = Path(__file__).with_name("shim.cpp.in")
MEMORY = Path(__file__).with_name("memory.cpp.in")
PROBE = (
    "probe_"  # names of outputs begin so that no one may hold up: what is seen there is recorded
)
# of the C++, by default: "g" builds in three fifths of the time of "1", and runs as fast
OPTIMISE = "g"
# statements of a C++ file and of a function of a large component: many files are for both cores,
# but each reads the header of all signals
SPLIT = 80_000, 4_000
# of a function of a smaller one, whose files are few, since headers compiled ahead for several
# would take longer: a compiler's time grows faster than a function
FUNCTION = 2_000
LARGE = {"0": 5_000_000, "g": 1_500_000}  # characters of Verilog, by optimisation

# Verilator writes the second of two underscores as its code.
_DRIVE = """\
        if (!in[{n}].offered && in[{n}].sent < in[{n}].count && pace[{n}].next()) {{
            in[{n}].offered = true, in[{n}].taken = false;
            std::memcpy(&top->{name}___05Fpayload, in[{n}].rows + in[{n}].sent * {words}, {size});
        }}
        if (in[{n}].taken) in[{n}].taken = false, invert(&top->{name}___05Fpayload, {bits});
        top->{name}___05Fvalid = in[{n}].offered;
        pending |= in[{n}].sent < in[{n}].count;"""
_READY = """\
        top->{name}___05Fready = out[{n}].ready = {always} || pace[$inputs + {n}].next();"""
_RESET_IN = """\
    top->{name}___05Fvalid = 0;"""
_RESET_OUT = """\
    top->{name}___05Fready = 0;"""
_SILENT = """\
    if (top->{name}___05Fvalid) violated("{name}", "valid in reset");"""
_OFFER_IN = """\
        offer[{n}].check("{name}", in[{n}].offered, top->{name}___05Fready,
                         &top->{name}___05Fpayload, {size});"""
_OFFER_OUT = """\
        offer[$inputs + {n}].check("{name}", top->{name}___05Fvalid, out[{n}].ready,
                                   &top->{name}___05Fpayload, {size});
        pace[$inputs + {n}].offered = offer[$inputs + {n}].stalled;"""
_KEEP_IN = """\
            kept.stream({n}, in[{n}].offered, top->{name}___05Fready);"""
_KEEP_OUT = """\
            kept.stream($inputs + {n}, top->{name}___05Fvalid, out[{n}].ready);"""
_KEEP_DATA = """\
            {name}.keep_data(top);"""
_BEAT_IN = """\
        if (in[{n}].offered && top->{name}___05Fready) {{
            in[{n}].offered = false, in[{n}].taken = true, ++in[{n}].sent, moved = true;
            if (!begun) begun = true, stats->first = stats->clocks;
        }}"""
_BEAT_OUT = """\
        if (top->{name}___05Fvalid) pending = true;
        if (top->{name}___05Fvalid && out[{n}].ready) {{
            if (out[{n}].got == out[{n}].room) {{ status = 2; break; }}
            uint64_t *row = out[{n}].rows + out[{n}].got++ * {words};
            std::memcpy(row, &top->{name}___05Fpayload, {size});
            moved = true, stats->last = stats->clocks;
        }}"""

_READY_ALWAYS = """\
    top->{name}___05Fready = 1;"""
_BARE = """\
    top->{name}___05Fvalid = 1;
    std::memcpy(&top->{name}___05Fpayload, rows, {size});"""
_FOLLOW = """\
        if (top->{name}___05Fready) {{
            std::memcpy(&top->{name}___05Fpayload, rows + sent * {words}, {size});
            if (++sent == count) sent = 0;
        }}"""

_MEMORY = {
    "reset": "{name}.reset(top);",
    "silent": "{name}.silent(top);",
    "begin": "{name}.begin(seed + {n});",
    "drive": "{name}.drive(top);",
    "observe": "{name}.observe(top); moved |= {name}.busy();",
}
_SET = """\
void sim_memory(uint8_t *bytes, uint64_t size, uint64_t least, uint64_t most,
                uint64_t unreadable, uint64_t fixed, uint64_t ready, uint64_t channels) {
    MemoryBytes::bytes = bytes, MemoryBytes::size = size;
    MemoryBytes::least = least, MemoryBytes::most = most;
    MemoryBytes::unreadable = unreadable, MemoryBytes::fixed = fixed, MemoryBytes::ready = ready;
    MemoryBytes::channels = channels;
    MemoryBytes::outside.clear();
}

// Addresses of transfers that memory did not have; their number.
uint64_t sim_outside(const uint64_t **addresses) {
    *addresses = MemoryBytes::outside.data();
    return MemoryBytes::outside.size();
}

// When the channels answer bursts, in the order in which they are asked: rows of port, write,
// address, transfers, clock.
void sim_replay(const uint64_t *row, uint64_t count, uint64_t channels, uint64_t *answers) {
    MemoryBytes::channels = channels;
    Channel own[$ports], shared;
    for (uint64_t n = 0; n < count; ++n, row += 5) {
        Channel &channel = channels == 1 ? own[row[0]] : shared;
        answers[n] = channel.answers(row[4], row[2], MemoryBytes::clocks(row[3]), row[1]);
    }
}
"""
_HOLD = """
extern "C" void sim_hold_{port}(void *handle, uint64_t value) {{
    static_cast<V{name} *>(handle)->{port} = value;
}}
"""
_COVERAGE = """
#include "verilated_cov.h"
extern "C" void sim_coverage(void *handle, const char *path) {{
    static_cast<V{name} *>(handle)->contextp()->coveragep()->write(path);
}}
"""
# What is counted in a component that is built to be: lines and branches, toggles of vectors of any
# width, and cover properties. Counters in combinational processes read and write parts of vectors.
COVERAGE = (
    "--coverage-line",
    "--coverage-toggle",
    "--coverage-user",
    "--coverage-max-width",
    "100000",
    "--compiler-include",
    "../words.h",
    "-Wno-UNOPTFLAT",
)

# Verilator 5.48 counts an edge of bit 5 of a wide vector as one of bit 37, bit 69 and so on, too:
# its loop over the bits of one word runs on to the end of the vector.
WORDS = """\
#pragma once
#include "verilated_cov.h"
static inline void toggled(const int width, uint32_t *count, WDataInP now, WDataInP before) {
    for (int bit = 0; bit < width; ++bit) {
        const EData value = now[bit / VL_EDATASIZE], changed = value ^ before[bit / VL_EDATASIZE];
        count[2 * bit + (value >> bit % VL_EDATASIZE & 1)] += changed >> bit % VL_EDATASIZE & 1;
    }
}
#define VL_COV_TOGGLE_CHG_ST_W toggled
"""


def shim(
    component: wiring.Component, name: str, covered: bool = False, traced: bool = False
) -> str:
    """The C++ around a component, its ports filled in.

    ``covered``: with its counts of coverage; ``traced``: with waves of a window of clocks.
    """
    inputs = [p for p in ports(component) if p.input]
    outputs = [p for p in ports(component) if not p.input]
    memories = memory_ports(component)

    def lines(form, of):
        return "\n".join(
            form.format(
                n=n,
                name=p.name,
                words=codec.words(p.width),
                size=_port_bytes(p.width),
                bits=p.width,
                always="true" if p.name.startswith(PROBE) else "false",
            )
            for n, p in enumerate(of)
        )

    template_values = {
        "name": name,
        "inputs": len(inputs),
        "outputs": len(outputs),
        "ports": len(memories),
        "inverts": "false" if covered else "true",
    }
    drive = Template(lines(_DRIVE, inputs) + "\n" + lines(_READY, outputs)).substitute(
        template_values
    )
    bare = lines(_READY_ALWAYS, outputs) + "\n" + lines(_BARE, inputs[:1])
    observe = "\n".join(
        lines(form, of)
        for form, of in (
            (_OFFER_IN, inputs),
            (_OFFER_OUT, outputs),
            (_BEAT_IN, inputs),
            (_BEAT_OUT, outputs),
        )
    )
    keep = "\n".join(
        [
            lines(_KEEP_IN, inputs),
            lines(_KEEP_OUT, outputs),
            *(_KEEP_DATA.format(name=port) for port in memories),
        ]
    )
    memory = {
        f"memory_{key}": " ".join(text.format(name=port, n=n) for n, port in enumerate(memories))
        for key, text in _MEMORY.items()
    }
    both, each = MEMORY.read_text().split("// One port.\n")
    of_ports = [
        Template(each).substitute(
            name=name,
            memory=port,
            port=f"{port}___05F",
            ids=_ids(getattr(component, port)),
            number=n,
            stream=len(inputs) + len(outputs) + 2 * n,
        )
        for n, port in enumerate(memories)
    ]
    memory |= {
        "memory": "\n".join([both, *of_ports]) if of_ports else "",
        "memory_set": Template(_SET).substitute(template_values) if of_ports else "",
    }
    added = [_HOLD.format(name=name, port=port) for port in constant_ports(component)]
    added += [_COVERAGE.format(name=name)] * covered
    added += [waves.SET.format(name=name)] * traced
    return Template(SHIM.read_text()).substitute(
        template_values,
        **memory,
        **waves.parts(traced),
        drive=drive,
        keep=Template(keep).substitute(template_values),
        observe=Template(observe).substitute(template_values),
        reset=lines(_RESET_IN, inputs) + "\n" + lines(_RESET_OUT, outputs),
        silent=lines(_SILENT, outputs),
        bare=bare,
        follow=lines(_FOLLOW, inputs[:1]),
    ) + "".join(added)


def _ids(port: wiring.PureInterface) -> int:
    """Ids of an AXI4 port; those of one bit are 0 always."""
    bits = len(port.arid)
    return 1 << bits if bits > 1 else 1


def _port_bytes(bits: int) -> int:
    """Bytes of a port in Verilator's C++."""
    return next((size for size in (1, 2, 4, 8) if bits <= 8 * size), 4 * -(-bits // 32))


def split(source: str, optimise: str) -> list[str]:
    """Verilator's options for the sizes of C++ files and functions."""
    of_file, of_function = SPLIT if len(source) > LARGE[optimise] else (0, FUNCTION)
    return ["--output-split", str(of_file), "--output-split-cfuncs", str(of_function)]


def build(
    source: str,
    around: str,
    name: str,
    optimise: str = OPTIMISE,
    covered: bool = False,
    traced: bool = False,
) -> Path:
    """Compile one shared library, or find it: it is named by the hash of all that it is made of.

    Parameters
    ----------
    source, around : str
        SystemVerilog of module ``name``, and the C++ around it.
    optimise : str
        Level of the C++ compiler: of ``LARGE``.
    covered : bool
        Coverage is counted.
    traced : bool
        Waves can be written.

    Raises
    ------
    ToolError
        Verilator or the compiler failed; their output is kept beside the library.
    """
    if traced:
        waves.check()
    part = None if covered or traced else parts.repeated(source, name)
    gates = [] if covered or traced or part else clock_gates.parts(source, name)
    if gates:
        source = clock_gates.clocked(source, name, gates)
    flags = [
        "--cc",
        "-O3",
        "--x-assign",
        "fast",
        "--x-initial",
        "fast",
        *(() if covered else ("--noassert",)),  # it takes cover properties away, too
        "-j",
        "2",
        "-Wall",
        *(COVERAGE if covered else ()),
        *(waves.OPTIONS if traced else ()),
        *(clock_gates.QUIET if gates else ()),
        *split(source, optimise),
        "-CFLAGS",
        "-fPIC -fvisibility=default",
        "-MAKEFLAGS",
        f"OPT_FAST=-O{optimise} OPT_GLOBAL=-O{optimise} OPT_SLOW=-O0",
    ]
    versions = toolchain.versions("verilator")
    content = [source, around, str(part), *parts.QUIET, *flags, *versions, WORDS * covered]
    rules = clock_gates.RULES if gates else [clock_gates.CLOCKS]
    content += [rule.read_text() for rule in rules]
    digest = hashlib.sha256("\0".join(content).encode()).hexdigest()[:16]
    return toolchain.once(
        toolchain.BUILD / "volume" / f"{name}-{digest}.so",
        lambda path: _build(path, source, around, name, part, gates, flags, covered),
    )


def share(name: str) -> str:
    """How much of module ``name`` is built, in words; nothing if that is not known."""
    if of := dict(units.parts):
        return f"{of['done']} of {of['of']} parts are Verilog"
    for folder in (toolchain.BUILD / "volume").glob(f".{name}-*.build/obj"):
        files = {path.stem for path in folder.glob("*.cpp")}
        for several in folder.glob("V*_vm_classes_*.cpp"):  # Verilator joins small files
            files -= {*re.findall(r'#include "(\w+)\.cpp"', several.read_text())}
        compiled = len(files & {path.stem for path in folder.glob("*.o")})
        return (
            f"{compiled} of {len(files)} files are compiled" if compiled else "Verilog becomes C++"
        )
    return ""


def _build(
    path: Path,
    source: str,
    around: str,
    name: str,
    part: str | None,
    gates: list[str],
    flags: list[str],
    covered: bool,
) -> None:
    """Build in a folder of its own, which stays if that fails."""
    tool = toolchain.verilator()
    folder = path.with_suffix(".build")
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.sv").write_text(source)
    (folder / "shim.cpp").write_text(around)
    if covered:
        (folder / "words.h").write_text(WORDS)
    try:
        of_part = parts.split(tool, source, name, part, folder, flags) if part else []
        command = [tool, "--exe", *flags, "--top-module", name, "-LDFLAGS", "-shared", *of_part]
        files = ["--Mdir", folder / "obj", "-o", folder / "built.so", f"{name}.sv", "shim.cpp"]
        run([*command, *files], folder)
        (folder / "clocks.h").write_text(clock_gates.clocks(source, name, gates, folder / "obj"))
        run([*command, "--no-verilate", "--build", *files], folder)
    except subprocess.CalledProcessError as error:
        output = error.stdout + error.stderr
        (folder / "log").write_text(output)
        raise toolchain.ToolError(
            f"Verilator failed on {name}: see {folder / 'log'}\n{output[-2000:]}"
        ) from None
    (folder / "built.so").rename(path)
    shutil.rmtree(folder)
