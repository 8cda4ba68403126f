# SPDX-License-Identifier: BSD-2-Clause
"""The mutation of hardware, on a component whose mutants are known, and its command."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from amaranth.hdl import Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.data import StructLayout
from amaranth.lib.wiring import In, Out

from fixfunc.cosim import catalogue as blocks
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.cosim.toolchain import ROOT
from fixfunc.rtl.lib.delay import register
from fixfunc.spec.errors import InputError
from fixfunc.tb import catalogue
from fixfunc.tb.__main__ import main
from fixfunc.tb.mutation import equivalent, places, report, schemata
from fixfunc.tb.mutation.judge import Verdict
from fixfunc.tb.mutation.run import Outcome
from fixfunc.tb.mutation.trace import traced
from fixfunc.tb.stamp import Stamp
from tests import tiers

PAIR = StructLayout({"a": 4, "b": 4})
ROWS = np.arange(256, dtype=np.uint64)[:, None]  # every pair


class Sample(wiring.Component):
    """Passes sums on, each with a number; four lanes of one line, a choice that is none."""

    i: In(stream.Signature(PAIR))
    o: Out(
        stream.Signature(StructLayout({"sum": 5, "lanes": 4, "other": 4, "number": 4, "least": 6}))
    )

    def elaborate(self, platform):  # noqa: ARG002
        m = Module()
        number = Signal(4)
        unread = Signal(4)
        a, b = self.i.payload.a, self.i.payload.b
        with m.If(self.i.valid & self.i.ready):
            m.d.sync += number.eq(number + 1)
        m.d.comb += [
            self.o.valid.eq(self.i.valid),
            self.i.ready.eq(self.o.ready),
            self.o.payload.sum.eq(a + b),
            self.o.payload.other.eq(Mux(a > b, a, a)),
            self.o.payload.number.eq(number),
            self.o.payload.least.eq(a.as_signed()),
            unread.eq(a ^ b),
        ]
        for lane in range(4):
            m.d.comb += self.o.payload.lanes[lane].eq(a[lane] & b[lane])
        register(m, a, 4, "never_read")
        return m


def golden(rows):
    a, b = rows[:, 0] & 15, rows[:, 0] >> 4
    number = np.arange(len(rows), dtype=np.uint64) & 15
    return (a + b) | (a & b) << 5 | a << 9 | number << 13 | (a | (a >> 3) * 48) << 17


@pytest.fixture(scope="module")
def sample():
    """Every mutant of :class:`Sample` in one library, and whether each was killed."""
    with traced([Path(__file__)]) as trace:
        mutants = places.described(schemata.sites(Sample(), trace))
        chosen = {mutant.site: n for n, mutant in enumerate(mutants, 1)}
        volume = Volume(schemata.Mutated(Sample(), chosen, trace), "sample")
    return mutants, volume


def killed(volume, number):
    volume.hold("mutant", number)
    out = volume.run({"i": ROWS}, 2 * len(ROWS), limit=20_000).outputs["o"]
    return len(out) != len(ROWS) or bool((out[:, 0] != golden(ROWS)).any())


def number_of(mutants, change):
    (n,) = (n for n, mutant in enumerate(mutants, 1) if mutant.change == change)
    return n


def test_no_mutant_is_the_component_as_it_was_written(sample):
    mutants, volume = sample
    assert len(mutants) > 20
    assert not killed(volume, 0)
    assert not killed(volume, len(mutants) + 1)


@pytest.mark.parametrize(
    "change",
    [
        "operator: a + b -> a - b",
        "operator: a[lane] & b[lane] -> a[lane] | b[lane]",
        "term: a[lane] & b[lane] -> b[lane]",
        "index: a[lane] -> a[lane] [bits +1]",
        "width: self.o.payload.sum.eq(a + b) -> self.o.payload.sum.eq(a + b) [without bit 4]",
        "width: a.as_signed() -> a.as_signed() [sign lost]",
        "field: self.i.payload.a -> self.i.payload.b",
        "constant: number + 1 -> number + 0",
        "constant: number + 1 -> number + 2",
        "assignment: number.eq(number + 1) -> nothing",
        "condition: m.If(self.i.valid & self.i.ready) -> m.If(0)",
        "reset: Signal(4) (number) -> Signal(4) [other value]",
    ],
)
def test_a_mutant_dies(sample, change):
    mutants, volume = sample
    assert killed(volume, number_of(mutants, change))


def test_an_equivalent_mutant_survives(sample):
    mutants, volume = sample
    change = "arms: Mux(a > b, a, a) -> Mux(a > b, a, a) [arms swapped]"
    assert not killed(volume, number_of(mutants, change))


def test_lanes_of_one_line_are_one_mutant_and_what_nothing_reads_is_none(sample):
    mutants, _ = sample
    changes = Counter(mutant.change for mutant in mutants)
    assert set(changes.values()) == {1}
    assert not [change for change in changes if "a ^ b" in change or "never_read" in change]


def test_the_draw_is_balanced_and_comes_from_the_seed():
    mutants = places.all_mutants(catalogue.block("edge_evaluator"), "tiny")
    drawn = places.draw(mutants, 24, 3)
    assert drawn == places.draw(mutants, 24, 3)
    assert drawn != places.draw(mutants, 24, 4)
    assert len(set(drawn)) == 24
    kinds = Counter(mutant.kind for mutant in mutants)
    counts = Counter(mutant.kind for mutant in drawn)
    assert all(count >= min(kinds[kind], 24 // len(kinds)) for kind, count in counts.items())
    assert set(counts) == set(kinds)
    assert len(places.draw(mutants, 10_000, 0)) == len(mutants)


def test_every_file_of_the_hardware_is_some_blocks_own():
    own = set().union(*(places.own_files(block) for block in blocks.blocks().values()))
    rtl = ROOT / "rtl"
    missing = {str(path.relative_to(rtl)) for path in rtl.rglob("*.py")} - {
        str(path.relative_to(rtl)) for path in own
    }
    assert {
        name for name in missing if not name.startswith("lib") and not name.endswith("__init__.py")
    } == {"payload.py", "probes.py"}


def test_a_waiver_is_found_wherever_its_line_is(tmp_path):
    mutant = places.all_mutants(catalogue.block("edge_evaluator"), "tiny")[0]
    waiver = equivalent.Waiver(
        "name", "edge_evaluator", mutant.file, mutant.text, mutant.change, "reason"
    )
    assert equivalent.waiver(mutant._replace(line=1), waiver.block, [waiver]) == waiver
    assert equivalent.waiver(mutant, "top", [waiver]) is None
    assert equivalent.waiver(mutant._replace(text="other"), waiver.block, [waiver]) is None
    path = tmp_path / "equivalent.toml"
    path.write_text('[[equivalent]]\nname = "a"\n')
    with pytest.raises(InputError, match=r"must have name, block, file, line, change, reason"):
        equivalent.waivers(path)


@pytest.mark.parametrize(
    "stem",
    [
        pytest.param(stem, marks=pytest.mark.qualify) if stem in tiers.JOINED else stem
        for stem in sorted({waiver.block for waiver in equivalent.waivers()})
    ],
)
def test_every_waiver_names_a_mutant(stem):
    config = report.load()[stem]["config"]
    waivers = [waiver for waiver in equivalent.waivers() if waiver.block == stem]
    waived = [(waiver.file, waiver.line, waiver.change) for waiver in waivers]
    assert len(set(waived)) == len(waived)
    known = places.all_mutants(catalogue.block(stem), config)
    assert not set(waived) - {(mutant.file, mutant.text, mutant.change) for mutant in known}


def test_the_page_has_every_run(tmp_path):
    mutants = places.all_mutants(catalogue.block("edge_evaluator"), "tiny")[:3]
    waiver = equivalent.Waiver("a name", "", "", "", "", "a | reason")
    outcomes = [
        Outcome(mutants[0], Verdict(True), None),
        Outcome(mutants[1], Verdict(False), waiver),
        Outcome(mutants[2], Verdict(False), None),
    ]
    for stem in ("edge_evaluator", "top", "edge_evaluator"):
        mark = Stamp("0123", "abc1234", "2026-01-02")
        report.record(catalogue.block(stem), "tiny", 5, 94, outcomes, mark, tmp_path)
    table = json.loads((tmp_path / "mutation.json").read_text())
    assert [*table] == ["top", "edge_evaluator"]
    page = (tmp_path / "mutation.md").read_text()
    assert "| edge_evaluator | tiny | 94 | 3 | 1 | 1 | 1 | abc1234, 2026-01-02 |" in page
    assert table["top"]["sources"] == "0123"
    assert "a \\| reason" in page
    assert page == report.page(table)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mutate", "rasteriser"], "block must be one of "),
        (["mutate", "edge_evaluator", "--config", "none"], "configuration of edge_evaluator must"),
        (["mutate", "edge_evaluator", "--mutant", "x"], "mutant of edge_evaluator (tiny) must"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, said, capsys):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"fixfunc: {said}")
    assert error.count("\n") == 1


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "fixfunc.tb", "mutate", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_the_blocks_own_tests_judge():
    done = command("edge_evaluator", "--mutant", "operator: ~value[-1] -> value[-1]")
    assert done.returncode == 0, done.stderr
    assert "killed by tests/raster/test_edge_evaluator.py::test_volume[tiny]" in done.stdout
    assert "1 mutants, 1 killed, 0 equivalent, 0 survive" in done.stdout


# Mutants that once survived, by block.
ONCE_SURVIVORS = {
    "command_reader": [
        # A draw, or a clear of a part, of a target that was never cleared.
        "condition: m.If(~self.state_valid | ~self.target_cleared) -> m.If(0)",
        "condition: m.If(~self.state_valid | ~(self.target_cleared | whole_target)) -> m.If(0)",
        # The limit of memory, and the table behind a plane.
        "operator: start.address + (start.transfers << 5) > start.limit"
        " -> start.address + (start.transfers << 5) >= start.limit",
        "constant: count + 63 -> count + 64",
        "constant: count + 63 -> count + 62",
        # A burst over 4 KB.
        "operator: BURST - address[:4] -> BURST + address[:4]",
    ],
    # A slope of 16 bits in 15; a plane that equals another than the first.
    "depth_compression": [
        "index: value[bits - 1:] -> value[bits - 1:] [first bit +1]",
        "constant: first[k].eq(n) -> first[k].eq(n - 1)",
    ],
}


@pytest.mark.qualify
@pytest.mark.parametrize("stem", ONCE_SURVIVORS)
def test_mutants_that_once_survived(stem):
    changes = ONCE_SURVIVORS[stem]
    done = command(stem, *(word for change in changes for word in ("--mutant", change)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 equivalent, 0 survive" in done.stdout


@pytest.mark.qualify
@pytest.mark.parametrize("stem", blocks.blocks())
def test_mutants_of_a_fresh_seed(stem, tmp_path):
    done = command(stem, "--seed", str(tiers.SEED), "--out", str(tmp_path))
    run = json.loads((tmp_path / "mutation.json").read_text())[stem]
    assert run["mutants"] == min(40, run["places"])
    assert len(run["survivors"]) <= run["mutants"] // 20, done.stdout
