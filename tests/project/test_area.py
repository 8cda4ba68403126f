# SPDX-License-Identifier: BSD-2-Clause
"""Area and timing in standard cells: what the tools say is read right, and is not asked twice."""

import gzip
import importlib.util
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from bench import page
from bench.area import __main__ as command
from bench.area import jobs, liberty, measure, netlist, store, table, timing
from bench.area.jobs import Job
from bench.area.liberty import Library
from fixfunc.cosim import catalogue
from fixfunc.cosim.toolchain import ROOT, ToolError
from fixfunc.cosim.verilog import hierarchy, measured, yosys
from fixfunc.tb import stamp
from tests.project.test_liberty import library


def test_jobs_are_every_configuration_and_the_parts_of_the_top():
    names = [job.name for job in jobs.all_jobs()]
    assert len(set(names)) == len(names) > 50
    assert {"tile_rasterizer (single)", "hiz (small)", "top.raster (default)"} < set(names)
    assert [job.name for job in jobs.chosen(["hiz (small)", "top.setup"])] == [
        "hiz (small)",
        "top.setup (default)",
    ]


VERILOG = """\
module top (
  input wire clk
);
  top_pair a (
    .o(x)
  );
  top_cell c (
    .o(y)
  );
endmodule

module top_pair(clk, o);
  input clk;
  wire clk;
  output [1:0] o;
  top_cell b (
    .o(o)
  );
  top_pair__d d (
    .o(o)
  );
endmodule

module top_cell(o,
p);
  output o;
  output p;
endmodule

module top_pair__d(o);
  output o;
endmodule
"""


def test_parts_of_the_top_are_modules_by_place():
    part = jobs.part(VERILOG, "top.a")
    assert [*hierarchy.modules(part)] == ["top.a", "top_cell", "top_pair__d"]
    outside = jobs.outside(VERILOG, ["top.a"])
    # The cell stands beside the part, too.
    assert [*hierarchy.modules(outside)] == ["top", "top_pair", "top_cell"]
    assert (
        "(* blackbox *)\nmodule top_pair(clk, o);\n  input clk;\n  output [1:0] o;\nendmodule\n"
        in outside
    )
    several_lines = jobs.outside(VERILOG, ["top.c"])
    assert "(* blackbox *)\nmodule top_cell(o,\np);\n  output o;\n  output p;\n" in several_lines


def test_statistics_of_yosys():
    text = (
        "      123 1.36E+04   lib_xnor3_1\n\n"
        "   Chip area for module '\\edge_evaluator': 135817.760000\n"
        "     of which used for sequential elements: 34212.812800 (25.19%)\n"
    )
    assert netlist.statistics(text) == {"um2": 135817.8, "flip_flops": 0.2519}
    text = text.replace("module '\\edge", "top module '\\edge").splitlines()[2]
    assert netlist.statistics(text) == {"um2": 135817.8, "flip_flops": 0.0}


def test_memories_of_a_dump():
    def cell(name, places, width, reads):
        return (
            f'  attribute \\src "a.sv:1.1"\n  cell $mem_v2 {name}\n    parameter \\WIDTH {width}\n'
            f"    parameter signed \\SIZE {places}\n    parameter \\RD_PORTS {reads}\n"
            f"    parameter \\WR_PORTS 1\n    parameter \\INIT {places * width}'0\n"
            "    connect \\RD_CLK \\clk\n  end\n"
        )

    text = cell("\\a.storage", 16, 8, 1) + cell("\\b.memory", 128, 515, 2)
    found = netlist.memories(text)
    assert found == [["b.memory", 128, 515, 2, 1], ["a.storage", 16, 8, 1, 1]]
    assert table.bits({"memories": found}) == 128 * 515 + 16 * 8


def test_a_net_is_loaded_once():
    """A memory's enables are one pin; its clock, and what repeats an output, is none."""
    lines = [
        "  input clk;",
        "  output \\m.RD_CLK ;",
        *(f"  output \\m.WR_EN[{n}] ;" for n in range(3)),
        *(f"  output \\o[{n}] ;" for n in range(3)),
        "  assign \\m.RD_CLK  = clk;",
        *(f"  assign \\m.WR_EN[{n}]  = _1_;" for n in range(3)),
        "  assign \\o[0]  = 1'b0;",
        "  assign \\o[1]  = \\o[2] ;",
        "  assign \\wire  = _1_;",
    ]
    kept = netlist.single_loads("\n".join([*lines, ""])).splitlines()
    gone = [line.split()[1] for line in lines if line not in kept]
    assert gone == ["\\m.RD_CLK", "\\m.WR_EN[1]", "\\m.WR_EN[2]", "\\o[1]"]


REPORT = """\
Warning: cells.lib line 31, default_operating_condition tt not found.
Startpoint: fine.factor_a[2]\\\\lib_dfxtp_1
            (rising edge-triggered flip-flop clocked by clk)
Endpoint: fine.part[29]\\\\lib_dfxtp_1
          (rising edge-triggered flip-flop clocked by clk)
Path Group: clk
Path Type: max

Fanout    Delay     Time   Description
----------------------------------------------------------------
         0.000    0.000   clock clk (rise edge)
         0.000    0.000 ^ fine.factor_a[2]\\\\lib_dfxtp_1/CLK (lib_dfxtp_1)
         0.375    0.375 ^ fine.factor_a[2]\\\\lib_dfxtp_1/Q (lib_dfxtp_1)
    7                     fine.factor_a[2] (net)
         0.190    0.565 ^ _220577_/X (lib_buf_4)
   10                     _095292_ (net)
         0.078    0.924 v _172138_/Y (lib_nand2_1)
         0.003    4.959 v fine.part[29]\\\\lib_dfxtp_1/D (lib_dfxtp_1)
                  4.959   data arrival time

        10.000   10.000   clock clk (rise edge)
        -0.112    9.888   library setup time
----------------------------------------------------------------
                  4.930   slack (MET)
"""


def test_longest_path_of_opensta():
    assert timing.longest(REPORT) == (5.07, 2, "fine.factor_a[2]", "fine.part[29]")
    late = REPORT.replace("4.930   slack (MET)", "-2.500   slack (VIOLATED)")
    assert timing.longest(late).ns == 12.5
    ports = REPORT.replace("fine.factor_a[2]\\\\lib_dfxtp_1", "i__valid")
    assert timing.longest(ports).start == "i__valid"
    assert timing.longest("No paths found.\n") is None
    with pytest.raises(ToolError, match="OpenSTA reports no path: Startpoint"):
        timing.longest(REPORT.splitlines()[1])


def test_ends_of_a_path_are_named_by_what_they_drive():
    """Where Yosys has not: of two outputs, Q names a register."""
    netlist = (
        "  lib_dfrbp_1 _1_ (\n    .CLK(clk),\n    .Q(\\sum[3] ),\n    .Q_N(_7_)\n  );\n"
        "  lib_dfrbp_1 _2_ (\n    .CLK(clk),\n    .Q(_8_),\n    .Q_N(_9_)\n  );\n"
    )
    report = REPORT.replace("fine.factor_a[2]\\\\lib_dfxtp_1", "_1_")
    report = report.replace("fine.part[29]\\\\lib_dfxtp_1", "_2_")
    found = timing.longest(timing.named(report, netlist))
    assert found == (5.07, 2, "sum[3]", "_2_")
    assert timing.named(REPORT, netlist) == REPORT


LIBRARY = Library("made_up", library(), "lib_inv_2", 30.0)
ROW = {"um2": 1e6, "flip_flops": 0.4, "memories": [["m", 128, 500, 2, 1]]}


@pytest.fixture
def meter(monkeypatch, tmp_path):
    """A maker of meters whose tools are replaced; ``meter.calls`` are those of the tools."""

    def synthesize(_verilog, _module, _library, folder, seconds):
        make.calls.append("synthesis")
        if seconds < make.needs:
            raise yosys.OverTime("not ended after 1 minutes")
        (folder / "netlist.v.gz").write_bytes(gzip.compress(b""))
        return dict(ROW)

    def report(*_arguments):
        make.calls.append("timing")
        return make.report

    def make(minutes=20):
        return measure.Meter(LIBRARY, minutes)

    make.calls = []
    make.needs = 100
    make.report = REPORT
    monkeypatch.setattr(measure, "FOLDER", tmp_path / "area")
    monkeypatch.setattr(netlist, "synthesize", synthesize)
    monkeypatch.setattr(timing, "report", report)
    monkeypatch.setattr(timing, "version", lambda: "1")
    monkeypatch.setattr(yosys, "require", lambda: None)
    monkeypatch.setattr(measure.toolchain, "versions", lambda *names: list(names))
    return make


def test_unchanged_verilog_is_measured_once(meter):
    first = meter().rows([Job("m (a)", "m", lambda: "// one\nmodule m; endmodule\n")])
    assert meter.calls == ["synthesis", "timing"]
    assert first["m (a)"]["mhz"] == 197.2
    again = meter().rows([Job("m (a)", "m", lambda: "// two\nmodule m; endmodule\n")])
    assert meter.calls == ["synthesis", "timing"]
    assert again == first
    meter().rows([Job("m (a)", "m", lambda: "module m; wire x; endmodule\n")])
    assert meter.calls == ["synthesis", "timing"] * 2


def test_what_takes_too_long_says_so(meter):
    """It is remembered too, until more time is given."""
    job = Job("m (a)", "m", lambda: "module m; endmodule\n")
    for minutes in (1, 0.5):
        assert meter(minutes).row(job) == {"omitted": "not ended after 1 minutes", "seconds": 0}
    assert meter.calls == ["synthesis"]
    assert meter(2).row(job)["um2"] == 1e6


def test_a_failure_is_a_row_and_is_not_kept(meter, capsys, monkeypatch, tmp_path):
    job = Job("m (a)", "m", lambda: "module m; endmodule\n")
    meter.report = "Error: no such cell"
    assert meter().row(job)["omitted"].startswith("OpenSTA reports no path")
    path = tmp_path / "cells.lib"
    path.write_text(library())
    monkeypatch.setattr(timing, "require", lambda: None)
    monkeypatch.setattr(jobs, "chosen", lambda _names: [job])
    monkeypatch.setattr(Job, "digest", lambda _job: "0123")
    monkeypatch.setattr(store, "write", lambda _table: pytest.fail("kept"))
    assert command.main([str(path)]) == 2
    said = capsys.readouterr()
    assert "m (a)  OpenSTA reports no path" in said.out
    assert said.err.endswith("area: failed: m (a)\n")
    meter.report = REPORT
    assert meter().row(job)["ns"] == 5.07


def test_rows_of_chosen_blocks_take_the_place_of_theirs(meter, capsys, monkeypatch, tmp_path):
    """With commit and date, in the order of all jobs; of another library they are not kept."""
    some = [Job(f"m ({config})", "m", lambda: "module m; endmodule\n") for config in "abc"]
    path = tmp_path / "cells.lib"
    path.write_text(library())
    cells = liberty.read(path)
    written = []
    path_of_table = tmp_path / "area.json"
    old = {"library": "other", "digest": "0", "rows": {"m (c)": {"um2": 1.0}, "gone": {}}}
    path_of_table.write_text(json.dumps(old))
    monkeypatch.setattr(timing, "require", lambda: None)
    monkeypatch.setattr(jobs, "all_jobs", lambda: some)
    monkeypatch.setattr(jobs, "chosen", lambda _names: some[1:2])
    monkeypatch.setattr(store, "STORE", path_of_table)
    monkeypatch.setattr(store, "write", written.append)
    monkeypatch.setattr(Job, "digest", lambda _job: "0123")
    meter.report = REPORT
    assert command.main([str(path), "m (b)"]) == 0
    assert "area: not kept: the table is of other" in capsys.readouterr().out
    assert not written
    path_of_table.write_text(json.dumps(old | {"digest": cells.digest[:16]}))
    assert command.main([str(path), "m (b)"]) == 0
    (area,) = written
    assert list(area["rows"]) == ["m (b)", "m (c)"]
    assert area["rows"]["m (b)"].items() >= stamp.stamp("0123")._asdict().items()
    assert "commit" not in area["rows"]["m (c)"]
    # All of them: the table of another library begins anew.
    path_of_table.write_text(json.dumps(old))
    assert command.main([str(path)]) == 0
    assert list(written[-1]["rows"]) == ["m (b)"]
    assert written[-1]["digest"] == cells.digest[:16]


ROWS = {
    "tile_rasterizer (default)": ROW | {"ns": 5.0, "mhz": 200.0, "levels": 9},
    "triangle_setup (default)": ROW | {"ns": 10.0, "mhz": 100.0, "memories": []},
    "hiz (default)": {"omitted": "not ended after 20 minutes"},
    "top.setup (default)": ROW | {"um2": 5e5},
}


def test_table():
    text = table.text(ROWS).splitlines()
    assert [line.split() for line in text[1:3]] == [
        ["tile_rasterizer", "(default)", "1,000,000", "40%", "5.00", "200", "64,000", "128x500"],
        ["triangle_setup", "(default)", "1,000,000", "40%", "10.00", "100", "0"],
    ]
    assert text[3].split("  ")[-1] == "not ended after 20 minutes"
    assert len({line.index("40%") for line in text if "40%" in line}) == 1


def test_pixels_a_clock_a_square_millimetre():
    """64 pixels a clock of 1 mm2 and 64 kbit; with setup of as many mm2, at its clock."""
    area = {
        "library": "made_up",
        "tools": {"pyosys": "1"},
        "command": "make area",
        "rows": ROWS,
        "rates": {"default": [640, 10, 5, 10]},
    }
    found = [line.split(" | ") for line in table.lines(area) if "rasterizer (" in line][1:]
    alone = ["1.000", "64", "48.5", "28.1", "12.8", "9.7", "5.6", "0.50 |"]
    both = ["2.000", "32", "27.6", "19.5", "3.2", "2.8", "2.0", "0.25 |"]
    assert [row[1:] for row in found] == [alone, both]
    assert any("sum of its parts: 0.50 mm2 and 64,000 bits" in line for line in table.lines(area))
    (peer,) = (line for line in table.lines(area) if line.startswith("| Skybox"))
    assert peer == "| Skybox, one slice | 0.222 | 51.3 | 26.9 | 11.1 | 10.9 | 5.7 | 2.4 | 0.28 |"


def test_the_page_is_what_its_figures_say():
    assert page.PAGE.read_text() == page.page(page.load(page.STORE), page.load(page.AREA))


def test_the_readme_has_the_figures_of_every_block():
    """Area in mm2 and MHz of the default configuration; blocks without figures have none."""
    rows = re.findall(
        r"(?m)^\| \[\w+/(\w+)\].* \| both \| .* \| (\S+) \| (\S+) \|$",
        (ROOT / "README.md").read_text(),
    )
    assert {stem for stem, *_ in rows} == set(catalogue.blocks()) - {"top"}
    for stem, mm2, mhz in rows:
        figures = measured.figures(stem, "default")
        assert (mm2, mhz) == (
            (f"{figures['um2'] / 1e6:.2f}", f"{figures['mhz']}") if figures else ("-", "-")
        ), stem


needs_yosys = pytest.mark.skipif(
    importlib.util.find_spec("pyosys") is None, reason="no pyosys: type 'make .venv/bench-ready'"
)


@needs_yosys
def test_a_synthesis_ends_when_its_time_is_up(tmp_path):
    waits = ["exec -- sleep 60"]
    with pytest.raises(yosys.OverTime, match="not ended after 0 minutes"):
        yosys.run(waits, tmp_path, 2)
    assert not yosys.RUNNING
    with pytest.raises(ToolError, match="Yosys failed: ERROR: No such command: no_command"):
        yosys.run(["no_command"], tmp_path)


TINY = """\
module tiny(clk, a, write, o);
  input clk, write;
  input [7:0] a;
  output [7:0] o;
  reg [7:0] kept, sum, memory [0:15];
  assign o = sum;
  always @(posedge clk) begin
    kept <= memory[a[3:0]];
    sum <= kept + a;
    if (write) memory[a[7:4]] <= sum;
  end
endmodule
"""


@needs_yosys
@pytest.mark.skipif(not shutil.which("sta"), reason=timing.MISSING)
@pytest.mark.skipif(
    not Path(os.environ.get("LIBERTY", "")).is_file(), reason="LIBERTY names no library"
)
def test_a_component_is_measured(monkeypatch, tmp_path):
    """Both tools, in the library of LIBERTY."""
    monkeypatch.setattr(measure, "FOLDER", tmp_path / "area")
    cells = liberty.read(Path(os.environ["LIBERTY"]))
    row = measure.Meter(cells).row(Job("tiny (a)", "tiny", lambda: TINY))
    assert row["memories"] == [["memory", 16, 8, 1, 1]]
    assert 100 < row["um2"] < 2000
    assert 0.1 < row["flip_flops"] < 0.9
    assert 0.3 < row["ns"] < 5
    assert row["mhz"] == pytest.approx(1000 / row["ns"], rel=1e-3)
    assert 2 < row["levels"] < 20
    assert row["start"].split("[")[0] in ("a", "memory.RD_DATA")
    assert row["end"].split("[")[0] in ("sum", "o", "memory.WR_DATA")  # one net
