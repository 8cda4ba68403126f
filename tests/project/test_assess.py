# SPDX-License-Identifier: BSD-2-Clause
"""``make assess``: what is out of date is known by the sources, measured once, and named."""

import json
import shutil
import subprocess

import pytest

from bench.assess import __main__ as assess
from bench.assess.measures import MEASURES, Command, Measure, Row
from fixfunc.cosim import toolchain
from fixfunc.cosim.verilog import sources
from fixfunc.tb import catalogue, stamp
from fixfunc.tb.coverage import run as coverage
from fixfunc.tb.coverage.waivers import Waiver

TREES = ("spec", "models", "rtl", "tb", "cosim", "tests", "bench")


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy of the sources, of which hashes are taken."""
    for tree in TREES:
        shutil.copytree(
            toolchain.ROOT / tree, tmp_path / tree, ignore=shutil.ignore_patterns("__pycache__")
        )
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    return tmp_path


def digests():
    """Hashes of all rows, by measure and name."""
    sources._imports.cache_clear()
    return {
        (name, row.name): (row.block, row.digest)
        for name, measure in MEASURES.items()
        for row in measure.rows(None)
    }


def changed(before, after):
    """Measures and blocks of rows whose hash is another."""
    assert before.keys() == after.keys()
    return {
        (measure, block)
        for (measure, name), (block, digest) in before.items()
        if after[measure, name][1] != digest
    }


def test_a_changed_source_makes_its_rows_stale_and_no_other(copy):
    before = digests()
    area = {("area", block) for (measure, _), (block, _) in before.items() if measure == "area"}
    of_block = {(measure, "wave_constructor") for measure in ("coverage", "mutation", "area")}
    for name, expected in {
        "rtl/tessellation/wave_constructor.py": of_block,
        "tb/texture/bins/block_decode.py": {("coverage", "block_decode")},
        "tests/texture/test_block_decode.py": {("mutation", "block_decode")},
        "tb/proofs/quotient.py": {("proofs", "quotient")},
        "bench/area/timing.py": area,
        "bench/area/table.py": set(),
        "tb/coverage/report.py": set(),
    }.items():
        path = copy / name
        path.write_text(path.read_text() + "# changed\n")
        after = digests()
        assert changed(before, after) == expected, name
        before = after


def test_a_changed_model_makes_what_is_held_to_it_stale(copy):
    """By way of what imports it, too, such as the golden sampler; area and proofs have no model."""
    before = digests()
    path = copy / "models/texture/block_decode.py"
    path.write_text(path.read_text() + "# changed\n")
    found = changed(before, digests())
    assert {measure for measure, _ in found} == {"coverage", "mutation"}
    assert {block for _, block in found} >= {"block_decode", "top"}
    assert not found & {("coverage", "edge_evaluator"), ("coverage", "triangle_setup")}


def test_a_waiver_makes_its_block_stale(monkeypatch):
    waiver = Waiver("hiz", "bin", ("some",), "because")
    blocks = [catalogue.block("hiz"), catalogue.block("top")]
    before = [coverage.digest(block) for block in blocks]
    known = coverage.waivers()
    monkeypatch.setattr(coverage, "waivers", lambda: (*known, waiver))
    after = [coverage.digest(block) for block in blocks]
    assert [one == two for one, two in zip(before, after, strict=True)] == [False, True]


WRITE = """
import json, sys
path, name, sources = sys.argv[1:]
table = json.load(open(path))
table[name] = {"sources": sources, "commit": "abc1234", "date": "2026-01-02"}
json.dump(table, open(path, "w"))
print("row of", name)
sys.exit(name == "bad")
"""


@pytest.fixture
def table(monkeypatch, tmp_path):
    """A measure, ``coverage``, whose rows are kept in the file that is returned."""
    path = tmp_path / "table.json"
    path.write_text(json.dumps({"hiz": {"sources": "1"}, "top": {"sources": "2"}}))

    def rows(_library):
        known = json.loads(path.read_text())
        return [
            Row(name, name, "tiny", "1", known.get(name))
            for name in ("hiz", "top", "bad", "resolve")
        ]

    def commands(some, _library):
        return [Command(row.name, ["-c", WRITE, str(path), row.name, row.digest]) for row in some]

    monkeypatch.setitem(MEASURES, "coverage", Measure(rows, commands))
    monkeypatch.setattr(assess, "LOG", tmp_path / "log")
    return path


def states(capsys):
    assert assess.main(["--measure", "coverage", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    at = lines[0].index("state")
    return {line.split()[1]: line[at:].split("  ")[0] for line in lines[1:-1]}


def test_what_is_out_of_date_is_measured_once(table, capsys):
    assert states(capsys) == {
        "hiz": "up to date",
        "top": "out of date",
        "bad": "never",
        "resolve": "never",
    }
    assert json.loads(table.read_text())["top"] == {"sources": "2"}
    assert assess.main(["top", "--measure", "coverage"]) == 0
    assert capsys.readouterr().out == "1 rows, 1 of them measured\n"
    # One that fails is said, and those after it are measured.
    assert assess.main(["--measure", "coverage"]) == 1
    assert capsys.readouterr().out == "row of bad\n4 rows, 2 of them measured; not good: bad\n"
    assert set(states(capsys).values()) == {"up to date"}
    assert assess.main(["--measure", "coverage"]) == 0
    assert capsys.readouterr().out == "4 rows, 0 of them measured\n"


@pytest.mark.usefixtures("table")
def test_the_list_names_commits(capsys):
    assert assess.main(["top", "--measure", "coverage"]) == 0
    assert assess.main(["top", "--measure", "coverage", "--list"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[-3].split() == ["measure", "block", "configuration", "state", "commit,", "day"]
    assert said[-2].split() == [
        "coverage",
        "top",
        "tiny",
        "up",
        "to",
        "date",
        "abc1234,",
        "2026-01-02",
    ]
    assert said[-1] == "1 of 1 rows are up to date"


def test_area_without_a_library_is_skipped(monkeypatch, capsys):
    rows = [Row("hiz (tiny)", "hiz", "tiny", "1", None)]
    monkeypatch.setitem(MEASURES, "area", MEASURES["area"]._replace(rows=lambda _library: rows))
    assert assess.main(["--measure", "area", "--liberty", "no such file"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == [assess.NO_LIBRARY, "1 rows, 0 of them measured"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rasteriser"], "fixfunc: block must be one of top, "),
        (["--measure", "speed"], "fixfunc: measure must be one of coverage, mutation, proofs, "),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, said, capsys):
    assert assess.main(arguments) == 2
    error = capsys.readouterr().err
    assert error.startswith(said)
    assert error.count("\n") == 1


def test_a_stamp_names_the_commit(monkeypatch, tmp_path):
    def git(*arguments):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )

    def commit():
        stamp.commit.cache_clear()
        return stamp.commit()

    monkeypatch.setattr(stamp, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert commit() == ""
    for folder in ("rtl", "docs", "cosim/verilog"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "rtl" / "some.py").write_text("")
    git("init")
    git("add", ".")
    git("commit", "-m", "some")
    head = commit()
    assert len(head) >= 7
    (tmp_path / "docs" / "page.md").write_text("")
    (tmp_path / "cosim" / "verilog" / "measured.json").write_text("")
    assert commit() == head
    (tmp_path / "rtl" / "other.py").write_text("")
    assert commit() == f"{head} with changes"
    stamp.commit.cache_clear()
    assert stamp.said({"commit": head, "date": "a day"}) == f"{head}, a day"
    assert stamp.said({}) == "-"
