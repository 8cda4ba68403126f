# SPDX-License-Identifier: BSD-2-Clause
"""Coverage: its gates on counts that are known, and on a component whose points are."""

import json

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from fixfunc.cosim import catalogue as blocks
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.cosim.toolchain import ToolError
from fixfunc.cosim.verilog.generate import generate
from fixfunc.spec.errors import InputError
from fixfunc.tb import catalogue, stamp
from fixfunc.tb.__main__ import main
from fixfunc.tb.coverage import events, named, points, report, run
from fixfunc.tb.coverage.bins import add, cross, flag, samples_of
from fixfunc.tb.coverage.events import Event
from fixfunc.tb.coverage.waivers import KINDS, Waiver, judge, matches, waivers


def waiver(*names, kind="bin"):
    return (Waiver("hiz", kind, names, "because"),)


# Counts.


def test_a_cross_declares_what_no_row_hits():
    axes = samples_of(np.array([0, 0, 2]), range(3)), flag(np.array([0, 1, 1]), "off", "on")
    counts = cross("a x b", *axes)
    assert counts == {
        "a x b: 1x, off": 1,
        "a x b: 1x, on": 1,
        "a x b: 2x, off": 0,
        "a x b: 2x, on": 0,
        "a x b: 4x, off": 0,
        "a x b: 4x, on": 1,
    }
    nothing = cross("a x b", samples_of(np.zeros(0), range(3)), flag(np.zeros(0), "off", "on"))
    assert list(nothing) == list(counts)
    assert not any(nothing.values())
    add(nothing, counts)
    assert nothing == counts


# The gate.


def test_a_bin_that_is_never_hit_fails():
    verdict = judge({"a": 3, "b": 0}, "hiz", "bin", ())
    assert (verdict.declared, verdict.hit, verdict.missed) == (2, 1, ["b"])
    assert not verdict.passes


def test_a_waiver_with_a_cause_passes():
    verdict = judge({"a": 3, "b": 0}, "hiz", "bin", waiver("b"))
    assert verdict.waived == {"because": ["b"]}
    assert verdict.passes


@pytest.mark.parametrize("name", ["a", "c", "*"])
def test_a_waiver_of_what_is_hit_or_is_not_there_fails(name):
    verdict = judge({"a": 3, "b": 0}, "hiz", "bin", waiver("b", name))
    assert verdict.stale == [name]
    assert not verdict.passes


def test_a_pattern_of_lines_may_match_what_is_hit():
    assert judge({"x: if": 3, "x: else": 0}, "hiz", "line", waiver("x*", kind="line")).passes


def test_a_waiver_is_of_its_block_and_kind():
    assert judge({"b": 0}, "top", "bin", waiver("b")).missed == ["b"]
    assert judge({"b": 0}, "hiz", "line", waiver("b")).missed == ["b"]


def test_stars_alone_are_special():
    assert matches("a[*]: x?", "a[12]: x?")
    assert not matches("a[*]: x?", "a[12]: xy")


def test_waivers_of_the_project_have_reasons_and_blocks():
    for waiver in waivers():
        assert waiver.block in blocks.blocks()
        assert waiver.names
        assert waiver.reason.endswith(".")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[waiver]]\nblock = 'hiz'\n", "waivers.toml must have block, kind, names, reason"),
        (
            "[[waiver]]\nblock = 'hiz'\nkind = 'bins'\nnames = []\nreason = ''\n",
            "kind in waivers.toml must be one of bin, line",
        ),
    ],
)
def test_a_waiver_has_its_fields(tmp_path, text, message):
    path = tmp_path / "waivers.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        waivers(path)


def test_an_entry_may_be_of_several_blocks(tmp_path):
    path = tmp_path / "waivers.toml"
    entry = "[[waiver]]\nblock = ['a', 'b']\nkind = 'line'\nnames = ['x*']\nreason = 'r'\n"
    path.write_text(entry)
    assert waivers(path) == tuple(Waiver(block, "line", ("x*",), "r") for block in "ab")


# The hardware.


class Adder(wiring.Component):
    """Adds 8 where a beat asks for it, and counts beats."""

    i: In(stream.Signature(4))
    o: Out(stream.Signature(8))

    def elaborate(self, _platform):
        m = Module()
        beats = Signal(2)
        sum_ = Signal(5, name="sum")
        with m.If(self.i.payload[0]):
            m.d.comb += sum_.eq(self.i.payload + 8)
        with m.Else():
            m.d.comb += sum_.eq(self.i.payload)
        with m.If(self.o.valid & self.o.ready):
            m.d.sync += beats.eq(beats + 1)
        m.d.comb += [
            self.o.payload.eq(sum_),
            self.o.valid.eq(self.i.valid),
            self.i.ready.eq(self.o.ready),
        ]
        return m


EVENTS = (
    Event("fourth beat", "adder", "beats == 3 && o__valid && o__ready"),
    Event("a beat of fifteen", "adder", "i__valid && i__payload == 15"),
)


def seen(values, tmp_path):
    component = Adder()
    source = run.LINT + named.marked(events.watched(generate(component, "adder"), EVENTS), "adder")
    volume = Volume(component, "adder", source, covered=True)
    volume.run({"i": np.array(values, np.uint64)[:, None]}, 100)
    volume.coverage(tmp_path / "coverage.dat")
    return points.read(tmp_path / "coverage.dat", source)


def test_a_toggle_that_was_never_seen_is_found(tmp_path):
    found = seen([1, 2, 3, 4], tmp_path)
    # 9, 2, 11 and 4: the highest bit stays 0, and bit 2 stays 1 once it is.
    missed = [name for name, count in found.toggles.items() if not count and ".sum" in name]
    assert missed == ["adder.sum[2]:1->0", "adder.sum[4]:0->1", "adder.sum[4]:1->0"]
    assert found.toggles["adder.sum[0]:0->1"]
    assert found.toggles["adder.beats[1]:1->0"]
    # Constants and other names of the sum are not counted.
    assert not any("payload" in name and ".o_" in name for name in found.toggles)


class Wide(wiring.Component):
    """A beat in every third word of a register of four."""

    i: In(stream.Signature(8))
    o: Out(stream.Signature(8))

    def elaborate(self, _platform):
        m = Module()
        wide = Signal(128)
        with m.If(self.i.valid & self.o.ready):
            m.d.sync += [wide[5:13].eq(self.i.payload), wide[96:104].eq(self.i.payload)]
        m.d.comb += [
            self.o.payload.eq(wide[5:13] ^ wide[96:104]),
            self.o.valid.eq(self.i.valid),
            self.i.ready.eq(self.o.ready),
        ]
        return m


def test_a_toggle_of_a_wide_vector_counts_in_its_own_word(tmp_path):
    component = Wide()
    source = run.LINT + named.marked(generate(component, "wide"), "wide")
    volume = Volume(component, "wide", source, covered=True)
    volume.run({"i": np.array([255, 0, 255, 0], np.uint64)[:, None]}, 100)
    volume.coverage(tmp_path / "coverage.dat")
    toggles = points.read(tmp_path / "coverage.dat", source).toggles
    hit = {
        int(name[10:].split("]")[0]) for name in toggles if toggles[name] and "wide.wide[" in name
    }
    assert hit == {*range(5, 13), *range(96, 104)}


def test_a_branch_that_was_never_taken_is_found(tmp_path):
    missed = [name for name, count in seen([2, 4], tmp_path).lines.items() if not count]
    assert missed
    assert not [name for name, count in seen([1, 2, 3, 4], tmp_path).lines.items() if not count]


def test_events_are_counted(tmp_path):
    found = seen([1, 2, 3, 4], tmp_path).events
    assert found == {"event_fourth_beat": 1, "event_a_beat_of_fifteen": 0}
    assert seen([15], tmp_path).events["event_a_beat_of_fifteen"] == 1


def test_an_event_without_a_module_is_refused():
    with pytest.raises(ToolError, match="no module has the events lost"):
        events.watched("module a();\nendmodule", [Event("lost", "b", "1")])


def test_what_is_counted():
    module = "\n".join(
        [
            "module a(clk, x, o);",
            "  input [3:0] x;",
            "  wire [3:0] x;",
            r"  wire \$1 ;",
            "  wire field;",
            "  wire both;",
            "  wire none;",
            "  reg [1:0] state;",
            "  reg [1:0] ram [3:0];",
            r"  reg [1:0] \ram$1  [3:0];",
            "  assign field = x[2];",
            r"  assign both = x[1] & \$1 ;",
            "  assign none = 1'h0;",
            "endmodule",
        ]
    )
    assert named.counted(module, False) == {"both", "state"}
    assert named.counted(module, True) == {"both", "state", "x"}


class Pair(wiring.Component):
    """Two adders, one behind the other, and beats between them."""

    i: In(stream.Signature(4))
    o: Out(stream.Signature(8))

    def elaborate(self, _platform):
        m = Module()
        m.submodules.first = first = Adder()
        m.submodules.second = second = Adder()
        between = Signal(2)
        with m.If(first.o.valid & first.o.ready):
            m.d.sync += between.eq(between + 1)
        wiring.connect(m, wiring.flipped(self.i), first.i)
        m.d.comb += [
            second.i.payload.eq(first.o.payload[:4]),
            second.i.valid.eq(first.o.valid),
            first.o.ready.eq(second.i.ready),
        ]
        wiring.connect(m, second.o, wiring.flipped(self.o))
        return m


def seen_of_pair(parts, values, tmp_path):
    component = Pair()
    inner = (Event("fourth beat", r"pair\.second", "beats == 3 && o__valid && o__ready"),)
    text = events.watched(generate(component, "pair"), inner)
    source = run.LINT + named.marked(text, "pair", parts)
    volume = Volume(component, "pair", source, covered=True)
    volume.run({"i": np.array(values, np.uint64)[:, None]}, 100)
    volume.coverage(tmp_path / "coverage.dat")
    return points.read(tmp_path / "coverage.dat", source)


def test_of_a_part_its_inputs_are_counted_and_its_events(tmp_path):
    found = seen_of_pair(["second"], [1, 2, 3, 4], tmp_path)
    of_part = {
        name.split(".")[2].split("[")[0].split(":")[0]
        for name in found.toggles
        if ".second." in name
    }
    # The sum and the count of beats are within.
    assert {"i__payload", "clk", "rst"} < of_part
    assert not of_part & {"sum", "beats"}
    assert not any(name.startswith("pair.second:") for name in found.lines)
    assert found.events == {"event_fourth_beat": 1}
    # The whole, and what is no part, are counted as ever.
    assert found.toggles["pair.between[0]:0->1"]
    assert any(name.startswith("pair.first.sum") for name in found.toggles)
    assert any(name.startswith("pair.first:") for name in found.lines)


def test_an_input_of_a_part_that_never_moves_is_missed(tmp_path):
    toggles = seen_of_pair(["second"], [1, 2, 3, 4], tmp_path).toggles
    # 9, 2, 11 and 4 enter it.
    missed = [name for name, count in toggles.items() if not count and "second.i__payload" in name]
    assert missed == ["pair.second.i__payload[2]:1->0"]


def test_a_part_that_is_no_instance_is_refused():
    source = generate(Pair(), "pair")
    with pytest.raises(ToolError, match="no instance is the part pair.third"):
        named.marked(source, "pair", ["first", "third"])


# Blocks, and the command.


def test_a_run_without_its_waivers_fails():
    """The bins of a block are counted, and those out of reach are missed."""
    block = catalogue.block("edge_evaluator")
    assert run.cover(block, bins_alone=True).passes
    missed = run.cover(block, bins_alone=True, known=()).verdicts["bin"].missed
    assert len(missed) == sum(
        len(waiver.names)
        for waiver in waivers()
        if (waiver.block, waiver.kind) == ("edge_evaluator", "bin")
    )


@pytest.mark.parametrize("stem", [*blocks.blocks()])
def test_every_block_declares_bins(stem):
    block = catalogue.block(stem)
    module = run.declared(block)
    assert callable(module.bins)
    assert run.configuration(block) in block.configurations


def test_every_part_has_a_row():
    """What is not counted in the row of the whole is counted in one of its own."""
    table = json.loads((report.FOLDER / "results.json").read_text())
    states = {stem: report.state(row) for stem, row in table.items()}
    for stem in blocks.blocks():
        for part in getattr(run.declared(catalogue.block(stem)), "PARTS", {}).values():
            assert part in states, f"{part}, a part of {stem}"
            assert states[part] == "closed" or states.get(stem) != "closed"


def test_every_part_is_an_instance():
    for stem in blocks.blocks():
        block = catalogue.block(stem)
        parts = getattr(run.declared(block), "PARTS", {})
        if parts:
            named.marked(block.simulated_verilog(run.configuration(block)).read_text(), stem, parts)


def test_the_page_is_made_of_the_table():
    table = json.loads((report.FOLDER / "results.json").read_text())
    assert set(table) <= set(blocks.blocks())
    assert (report.FOLDER / "README.md").read_text() == report.page(table)


def test_a_command_writes_its_row(tmp_path, capsys):
    arguments = ["coverage", "edge_evaluator", "--batches", "1", "--out", str(tmp_path)]
    assert main(arguments) == 1  # one batch is not enough
    said = capsys.readouterr().out
    assert "edge_evaluator (tiny): open" in said
    assert "    missed: " in said
    assert "reproduce: python -m fixfunc.tb coverage edge_evaluator --seed 0 --batches 1" in said
    table = json.loads((tmp_path / "results.json").read_text())
    assert table["edge_evaluator"]["bin"]["declared"] > 40
    page = (tmp_path / "README.md").read_text()
    assert "| edge_evaluator | tiny |" in page
    assert f"| {stamp.said(table['edge_evaluator'])} | " in page
    # Of one batch, which is not what the page asks for.
    block = catalogue.block("edge_evaluator")
    assert table["edge_evaluator"]["sources"] == run.digest(block, 1) != run.digest(block)


def test_an_unknown_block_is_one_line_and_exit_2(capsys):
    assert main(["coverage", "rasteriser"]) == 2
    assert capsys.readouterr().err.startswith("fixfunc: block must be one of ")


# Blocks of which every bin is hit, or waived, in seconds.
QUICK = ("edge_evaluator", "wave_constructor", "domain_matching")


@pytest.mark.parametrize("stem", QUICK)
def test_every_bin_is_hit(stem):
    verdict = run.cover(catalogue.block(stem), bins_alone=True).verdicts["bin"]
    assert not verdict.missed
    assert not verdict.stale


@pytest.mark.qualify
@pytest.mark.parametrize("stem", [*blocks.blocks()])
def test_a_closed_block_stays_closed(stem):
    """Every bin of a block is hit, and where the page says closed every line and toggle, too."""
    table = json.loads((report.FOLDER / "results.json").read_text())
    closed = stem in table and report.state(table[stem]) == "closed"
    verdicts = run.cover(catalogue.block(stem)).verdicts
    for kind in KINDS if closed else ("bin",):
        assert not verdicts[kind].missed
        assert not verdicts[kind].stale
