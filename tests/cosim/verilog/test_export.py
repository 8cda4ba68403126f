# SPDX-License-Identifier: BSD-2-Clause
"""Exported files: Verilog, cores, pages, the package of types, benches in Verilog."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest
from pyslang import DiagnosticEngine
from pyslang.ast import Compilation
from pyslang.syntax import SyntaxTree

from fixfunc.cosim import catalogue, codec, toolchain
from fixfunc.cosim.__main__ import main
from fixfunc.cosim.verilog import export, packed
from fixfunc.cosim.verilog.generate import ports
from fixfunc.models.payload import dtype
from fixfunc.spec import colours, commands, payloads, points
from fixfunc.spec.memory import caching, depth_tiles
from fixfunc.spec.state import Kind
from fixfunc.tb import catalogue as benches
from tests import tiers
from tests.tiers import SIMULATORS, by_tier
from tests.verilog import simulate
from tests.volume import LIMIT, volume

BROKEN = {
    "triangle_setup": r"\belse zero_area <= ",
    "tile_rasterizer": r"\belse touched <= ",
    "block_decode": r"\.i__payload\(",
    "texture_unit": r"\.i__payload\(",
}  # what is negated
WITH_STATE = [
    "triangle_setup",
    "tile_rasterizer",
    "hiz",
    "depth_test",
    "depth_unit",
    "cached_depth",
    "colour_write",
]


def fusesoc(folder, *arguments):
    """Runs FuseSoC on the cores of a folder."""
    path = os.pathsep.join([str(toolchain.verilator().parent), os.environ["PATH"]])
    return subprocess.run(
        [sys.executable, "-m", "fusesoc.main", "--cores-root", "cores", "run", *arguments],
        cwd=folder,
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
    )


# What joins other blocks takes as long to elaborate as all of them, without what its bench sees.
EVERY = [
    pytest.param(stem, marks=pytest.mark.qualify) if stem in tiers.JOINED else stem
    for stem in catalogue.blocks()
]


@pytest.mark.parametrize("config", by_tier(["tiny", "default"]))
@pytest.mark.parametrize("stem", EVERY)
def test_every_block_lints(stem, config, tmp_path):
    """FuseSoC lints it by the exported core file, with every warning of Verilator on."""
    block = catalogue.block(stem)
    (tmp_path / "cores").mkdir()
    export.block(tmp_path / "cores", block, config)
    export.package(tmp_path / "cores", [stem])
    done = fusesoc(tmp_path, "--target", "lint", f"fixfunc:blocks:{stem}")
    assert done.returncode == 0, (done.stdout + done.stderr)[-2000:]
    assert "Warning" not in done.stdout + done.stderr
    names = {file.name for file in (tmp_path / "cores").iterdir()}
    assert names == {
        f"{stem}.sv",
        f"{stem}.core",
        f"{stem}.md",
        "fixfunc_pkg.sv",
        "fixfunc_pkg.core",
        *(f"{bench}.sv" for bench, blocks in export.BENCHES.items() if stem in blocks),
    }


def slang(*texts):
    """What slang, a parser and elaborator that nobody here uses to build, calls errors."""
    compilation = Compilation()
    for text in texts:
        compilation.addSyntaxTree(SyntaxTree.fromText(text))
    found = [said for said in compilation.getAllDiagnostics() if said.isError()]
    sources = SyntaxTree.getDefaultSourceManager()
    return DiagnosticEngine.reportAll(sources, found) if found else ""


@pytest.mark.parametrize("config", by_tier(["tiny", "default"]))
@pytest.mark.parametrize("stem", EVERY)
def test_a_second_parser_reads_every_file(stem, config):
    assert not slang(catalogue.block(stem).verilog(config).read_text())


def test_a_second_parser_reads_the_package_and_finds_what_is_broken():
    text = catalogue.block("triangle_setup").verilog("tiny").read_text()
    assert not slang(packed.text(), text)
    assert "undeclared identifier" in slang(text.replace("if (rst)", "if (absent)", 1))


@pytest.mark.parametrize("stem", EVERY)
def test_heading_and_page(stem):
    """Name, configuration, version, licence and every port.

    Of each stream every field, at its bits.
    """
    block = catalogue.block(stem)
    text = block.verilog("tiny").read_text()
    page = export.page(block, "tiny")
    heading = text[: text.index("\nmodule")]
    assert all(line.startswith(("//", "/*")) for line in heading.splitlines() if line)
    for said in (
        "SPDX-License-Identifier: BSD-2-Clause",
        f"// {stem} (tiny), fixfunc {toolchain.version()}\n",
        block.summary,
    ):
        assert said in heading
    assert all(
        f"lint_off {name} */" in heading and f"lint_on {name} */" in text
        for name in toolchain.WAIVERS
    )
    for port in ports(block.create("tiny")):
        assert re.search(
            rf"{'in ' if port.input else 'out'}  {port.name}__payload\[{port.width}\]", heading
        )
        assert (
            f"## Stream `{port.name}`: {'in' if port.input else 'out'}, {port.width} bits\n" in page
        )
    for said in (f"# {stem} (tiny)", "`rst`: synchronous", "Latency: ", toolchain.version()):
        assert said in page


def test_a_page_has_every_field_at_its_bits():
    page = export.page(catalogue.block("triangle_setup"), "default")
    low = 0
    table = page[page.index("### `setup`") :].split("\n\n")[1]
    for field in payloads.SETUP:
        bits = f"{low + field.bits - 1}:{low}" if field.bits > 1 else str(low)
        row = f"| {bits} | `{field.name}` | {'signed' if field.signed else ''} | {field.meaning} |"
        assert f"{row}\n" in table + "\n"
        low += field.bits
    assert "may stay zero: `target`, `depth_test`" in page
    assert "STATE, CLEAR and FENCE, come out too" in page
    assert "Latency: 111 clocks" in page


@pytest.mark.parametrize("stem", WITH_STATE)
def test_what_is_said_not_to_be_read_changes_nothing(stem):
    """Random values in those fields of every STATE change no beat but the STATEs."""
    block = benches.block(stem)
    rng = np.random.default_rng(4)
    params = block.parameters("tiny")
    rows = block.bench.requests(np.random.default_rng(3), 300, params)
    at = np.flatnonzero(rows[:, 0] & 3 == Kind.STATE)
    states = codec.unpack(rows[at], payloads.DRAW_STATE, dtype(payloads.DRAW_STATE))
    for field in payloads.DRAW_STATE:
        if field.name in block.rtl.UNREAD:
            value = rng.integers(0, 1 << field.bits, len(states), dtype=np.uint64)
            states[field.name] = (
                value.astype(np.int64) - (1 << field.bits - 1) if field.signed else value
            )
    changed = rows.copy()
    changed[at] = codec.pack(states, payloads.DRAW_STATE, 64 * rows.shape[1])
    assert len(at) > 2
    assert (changed != rows).any()
    one = block.compare(volume(stem, "tiny"), rows, "tiny", limit=LIMIT)[0].outputs
    two = block.compare(volume(stem, "tiny"), changed, "tiny", limit=LIMIT)[0].outputs
    for port, beats in one.items():
        assert len(beats) == len(two[port])
        differ = (beats != two[port]).any(1)
        assert not differ.any() or (
            port in ("o", "probe_o", "probe_hiz") and (beats[differ, 0] & 3 == Kind.STATE).all()
        ), port
    assert sum(map(len, one.values())) > len(at)


def test_every_packet_is_a_type():
    packets = {name.lower() for name in vars(commands) if name.endswith("_PACKET")}
    assert len(packets) > 6
    assert packets <= set(packed.tables())


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_types_are_those_of_the_field_tables(simulator, tmp_path):
    """In simulation: every field at random, and the other way round, makes the vector of the table.

    Every value of every encoding.
    """
    rng = np.random.default_rng(0)
    checks = []
    for name, fields in packed.tables().items():
        values = [
            int.from_bytes(rng.bytes(8), "little") & (1 << field.bits) - 1 for field in fields
        ]
        for flip in (False, True):
            given = []
            vector = 0
            low = 0
            for field, value in zip(fields, values, strict=True):
                number = value ^ (1 << field.bits) - 1 if flip else value
                given.append(f"v.{packed.member(field.name)} = {field.bits}'h{number:x};")
                vector |= number << low
                low += field.bits
            checks.append(
                f'begin {name}_t v; {" ".join(given)} check(v === {low}\'h{vector:x}, "{name}"); '
                f"end"
            )
    for of in packed.enums():
        prefix = re.sub(r"(?<!^)([A-Z])", r"_\1", of.__name__).upper()
        bits = packed.enum_bits(of)
        for value in of:
            right = (
                f"{prefix}_{value.name} === {bits}'d{value.value} && "
                f"$bits({prefix.lower()}_e) == {bits}"
            )
            checks.append(f'check({right}, "{value.name}");')
    (tmp_path / "types_tb.sv").write_text(
        "\n".join(
            [
                "module types_tb; import fixfunc_pkg::*; int checked = 0;",
                "task check(input logic good, input string name); checked = checked + 1; if "
                "(!good) $fatal(1, name); endtask",
                "initial begin",
                *(check.replace("begin ", f"begin : b{n} ", 1) for n, check in enumerate(checks)),
                '  $display("checked %0d", checked); $finish;',
                "end",
                "endmodule",
                "",
            ]
        )
    )
    (tmp_path / "fixfunc_pkg.sv").write_text(packed.text())
    assert f"checked {len(checks)}" in simulate(
        tmp_path, simulator, "types_tb", ["fixfunc_pkg.sv", "types_tb.sv"]
    )


def test_every_table_has_its_struct():
    """Of every module of tables; the others are parts of tables."""
    known = list(packed.tables().values())
    modules = (payloads, points, colours, commands, caching, depth_tiles)
    tables = {
        name: value
        for module in modules
        for name, value in vars(module).items()
        if not name.startswith("_")
        and isinstance(value, tuple)
        and value
        and all(isinstance(field, payloads.Field) for field in value)
    }
    parts = {
        "HEADER",
        "BIAS",
        "STENCIL_FACES",
        "STENCIL_VALUES",
        "PASSED",
        "BLEND_CONSTANT",
    }
    assert {name for name, table in tables.items() if table not in known} == parts


@pytest.mark.plan("texture-unit-8")
@pytest.mark.parametrize(
    ("simulator", "stem"),
    [
        pytest.param(simulator, stem, marks=() if simulator == "icarus" else pytest.mark.qualify)
        for simulator in SIMULATORS
        for stem in ("triangle_setup", "tile_rasterizer", "block_decode", "texture_unit")
        if simulator == "icarus" or stem != "triangle_setup"
    ],
)  # one bench for both
def test_benches_in_verilog(simulator, stem, tmp_path):
    """By FuseSoC, from the cores.

    And a block that is broken fails, on Icarus, which is quick to build.
    """
    blocks = next(blocks for blocks in export.BENCHES.values() if stem in blocks)
    (tmp_path / "cores").mkdir()
    for name in blocks:
        export.block(tmp_path / "cores", catalogue.block(name), "default")
    export.package(tmp_path / "cores", blocks)
    for broken in (False, True) if simulator == "icarus" else (False,):
        if broken:
            path = tmp_path / "cores" / f"{stem}.sv"
            text = path.read_text()
            path.write_text(re.sub(BROKEN[stem], lambda found: f"{found[0]}~", text, count=1))
            assert path.read_text() != text
            shutil.rmtree(tmp_path / "build")
        done = fusesoc(tmp_path, "--target", "sim", "--tool", simulator, f"fixfunc:blocks:{stem}")
        said = done.stdout + done.stderr
        assert ("PASSED: " in said) != broken, said[-2000:]
        assert (done.returncode == 0) != broken, said[-2000:]
        if broken:
            assert "FAILED: " in said


def test_examples_are_what_is_given_away(tmp_path):
    export.package(tmp_path, catalogue.blocks())
    for bench in export.BENCHES:
        assert (tmp_path / f"{bench}.sv").read_text() == (
            toolchain.ROOT / "examples/verilog" / f"{bench}.sv"
        ).read_text()


def test_a_full_disk_leaves_nothing_half_written(tmp_path, capsys):
    """Files may have 4096 bytes: a new file does not appear, and an old one stays.

    No temporary file remains.
    """
    main(["verilog", "edge_evaluator", "--config", "tiny"])
    capsys.readouterr()
    (tmp_path / "old.sv").write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        codes = [
            main(["verilog", "edge_evaluator", "--config", "tiny", "-o", str(tmp_path / name)])
            for name in ("new.sv", "old.sv")
        ]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert codes == [2, 2]
    errors = capsys.readouterr().err.splitlines()
    assert f"File too large, while writing {tmp_path / 'new.sv'}" in " ".join(errors)
    assert [file.name for file in tmp_path.iterdir()] == ["old.sv"]
    assert (tmp_path / "old.sv").read_text() == "old"
