# SPDX-License-Identifier: BSD-2-Clause
"""Every block in every configuration over many beats of a fresh seed; and the page that says so."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from fixfunc.cosim import catalogue
from fixfunc.cosim.simulation import batches
from fixfunc.cosim.simulation.batches import Totals
from fixfunc.cosim.toolchain import ROOT
from fixfunc.tb import catalogue as benches
from tests import summary, tiers

# Beats of these cost a golden machine whose every step waits for the last.
FEWER = {"top": 10, "cached_depth": 4, "depth_unit": 4}
EVERY = [
    (stem, config) for stem, block in catalogue.blocks().items() for config in block.configurations
]


@pytest.mark.qualify
@pytest.mark.parametrize(("stem", "config"), EVERY)
def test_many_beats(stem, config, record_property):
    count = tiers.COUNT // FEWER.get(stem, 1)
    totals = batches.run(benches.block(stem), config, count, tiers.SEED)
    record_property(
        summary.BEATS,
        (
            stem,
            config,
            totals.beats_out,
            totals.full_speed_beats / max(totals.full_speed_clocks, 1),
        ),
    )
    assert totals.good, (
        f"{totals.first}\nreproduce: make volume BLOCK={stem} CONFIG={config} COUNT={count} "
        f"SEED={tiers.SEED}"
    )
    assert totals.beats_out >= count


def report(nodeid, *beats):
    return SimpleNamespace(
        nodeid=nodeid, duration=2.0, user_properties=[(summary.BEATS, beat) for beat in beats]
    )


def test_summary():
    stats = {
        "passed": [
            report("tests/a.py::one", ("hiz", "tiny", 1_000_000, 0.5)),
            report("tests/a.py::two"),
        ],
        "skipped": [report("tests/b.py::x")],
    }
    page = "\n".join(summary.lines(stats, 7))
    assert page.startswith("# fixfunc")
    assert ": passed\n" in page
    assert "`make qualify SEED=7` repeats it." in page
    assert "| tests/a.py | 2 | 0 | 0 | 0 | 4 |\n" in page
    assert "| hiz | tiny | 1,000,000 | 0.5000 |" in page
    failed = "\n".join(summary.lines(stats | {"failed": [report("tests/b.py::y")]}, 7))
    assert ": FAILED\n" in failed
    assert "- `tests/b.py::y`" in failed
    assert ": FAILED\n" in "\n".join(summary.lines({}, 7))


def one_of(group, seconds=1.0):
    return SimpleNamespace(duration=seconds, user_properties=[(summary.GROUP, group)])


def test_what_ran_and_what_was_left_out_by_group():
    """Failures first, then the longest; setups have seconds, and are no tests."""
    stats = {
        "": [one_of("hiz", 6.0), one_of("setup", 0.5)],
        "passed": [one_of("hiz"), one_of("hiz"), one_of("setup")],
        "failed": [one_of("setup", 2.0)],
        "error": [one_of("setup", 0.5)],
        "skipped": [one_of("hiz", 0.0)],
        "warnings": [SimpleNamespace(message="no test")],
    }
    lines = summary.table(stats, Counter({"hiz": 3, "frame": 4}))
    assert [line.split() for line in lines] == [
        ["group", "run", "passed", "failed", "skipped", "left", "out", "seconds"],
        ["setup", "3", "1", "2", "0", "0", "4"],
        ["hiz", "2", "2", "0", "1", "3", "8"],
        ["frame", "0", "0", "0", "0", "4", "0"],
        ["all", "5", "3", "2", "1", "7", "12"],
    ]


def test_the_last_groups_are_one_line():
    stats = {"passed": [one_of(f"block{n}", 200.0 - n) for n in range(100)]}
    lines = summary.table(stats, Counter())
    assert len(lines) < 60
    rest = str(100 - summary.MOST)
    assert lines[-2].split()[:4] == [rest, "others", rest, rest]
    assert lines[-1].split()[:2] == ["all", "100"]


@pytest.mark.parametrize(
    ("file", "block", "stem", "group"),
    [
        ("test_hiz.py", None, None, "hiz"),
        ("test_late_writes.py", "top", None, "top"),
        ("test_export.py", None, "hiz", "hiz"),
        ("test_hiz.py", "hiz", "top", "top"),
        ("test_report.py", None, None, "frame"),
    ],
)
def test_files_that_build_a_block_are_one_group(file, block, stem, group):
    item = SimpleNamespace(path=Path(file), module=SimpleNamespace(BLOCK=block))
    if stem:
        item.callspec = SimpleNamespace(params={"stem": stem})
    assert tiers.group(item) == group


SUITE = """
import pytest

@pytest.mark.qualify
@pytest.mark.parametrize("n", range(3))
def test_waits(n):
    pass

def test_runs():
    pass
"""


@pytest.mark.parametrize("processes", ["0", "2"])
def test_several_processes_leave_out_what_one_does(processes, tmp_path):
    """A run of its own, with the hooks of this one."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_some.py").write_text(SUITE)
    (tmp_path / "conftest.py").write_text("from tests.conftest import *\nfrom tests import tiers\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", ROOT / "pyproject.toml", "-n", processes]
        + ["--rootdir", tmp_path, "--dist", "loadgroup", "-p", "no:cacheprovider", tmp_path],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TIER": ""},
        capture_output=True,
        text=True,
    )
    assert not done.returncode, done.stdout
    table = [line.split() for line in done.stdout.partition("by group")[2].splitlines()]
    assert ["some", "1", "1", "0", "0", "3", "0"] in table, done.stdout


def test_a_run_without_beats_is_not_good():
    assert not Totals().good
    assert not Totals(beats_out=5, mismatches=1).good
    assert not Totals(beats_out=5, first="hangs").good
    assert Totals(beats_out=5).good
