# SPDX-License-Identifier: BSD-2-Clause
"""Sweeps of the golden machine: rows, what resumes them, what is refused."""

import hashlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from multiprocessing import connection

import numpy as np
import pyarrow.parquet as pq
import pytest
from PIL import Image

from fixfunc.__main__ import main
from fixfunc.cosim.scene import gltf
from fixfunc.cosim.scene.drawing import Drawing
from fixfunc.cosim.sweep import parameters, point, schema, store, workers
from fixfunc.cosim.toolchain import ROOT

HOUSE = ROOT / "examples" / "data" / "house.glb"
SMALL = ("--golden", "--over", "size=64x48", "--over", "divisions=2")
SQUARE = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\n"


def sweep(folder, *arguments):
    assert main(["sweep", *arguments, "--jobs", "1", "-o", str(folder)]) == 0
    return store.read(folder / store.TABLE)


@pytest.mark.plan("sweep-1")
def test_rows_are_those_of_frames(tmp_path):
    """A point at the defaults is the frame that ``fixfunc frame`` draws, and its picture."""
    (row,) = sweep(tmp_path / "sweep", "teapot", *SMALL)
    frame = ["frame", "teapot", "--golden", "--size", "64x48", "--divisions", "2"]
    assert main([*frame, "-o", str(tmp_path / "frame")]) == 0
    figures = json.loads((tmp_path / "frame" / "frame.json").read_text())
    for name, value in figures["counters"].items():
        assert row[name] == value, name
    picture = np.array(Image.open(tmp_path / "frame" / "frame.png").convert("RGB"))
    size = np.array(picture.shape, "<u4").tobytes()
    assert row["picture"] == hashlib.sha256(size + picture.tobytes()).hexdigest()


@pytest.mark.plan("sweep-1")
def test_a_row_has_every_counter(tmp_path):
    """Of a mesh, and of device and context: what is counted is a column, and not lost."""
    (row,) = sweep(tmp_path, str(HOUSE), *SMALL[:3])
    drawing = Drawing(gltf.load(HOUSE, 64 / 48, None), 64, 48, 4)
    drawing.draw()
    drawing.device.machine.settle()
    totals = dict(drawing.device.machine.totals)
    totals["texture_bytes_read"] = totals.pop("texture_bytes")
    assert totals["texture_taps"] and totals["colour_bytes_written"]
    for name, value in totals.items():
        assert row[name] == value, name
    table = pq.read_table(tmp_path / store.TABLE)
    assert table.schema == schema.schema()
    assert all(field.metadata[b"words"] for field in table.schema)


@pytest.mark.plan("sweep-2")
def test_the_machine_changes_and_the_picture_does_not(tmp_path):
    """Each parameter of the machine moves what it should: [fs] knows of none of them."""
    over = ("sets=2,64", "hiz=both,none", "coding=differences,raw", "reuse=batch,fifo")
    rows = sweep(tmp_path, "teapot", *SMALL, *(word for one in over for word in ("--over", one)))
    assert len(rows) == 16
    assert len({row["picture"] for row in rows}) == 1
    assert len({row["samples_passed"] for row in rows}) == 1
    by = {(row["sets"], row["hiz"], row["coding"], row["reuse"]): row for row in rows}
    first = by[64, "both", "differences", "batch"]
    assert by[2, "both", "differences", "batch"]["bytes_read"] > first["bytes_read"]
    assert by[64, "both", "raw", "batch"]["bytes_written"] > first["bytes_written"]
    blind = by[64, "none", "differences", "batch"]
    assert blind["tiles_tested"] == blind["tiles"] > first["tiles_tested"] + first["tiles_accepted"]
    assert by[64, "both", "differences", "fifo"]["vs_invocations"] < first["vs_invocations"]


@pytest.mark.plan("sweep-2")
def test_a_scene_through_device_and_context(tmp_path):
    over = ("--over", "coded=true,false", "--over", "texture_bytes=256,8192")
    rows = sweep(tmp_path, str(HOUSE), *SMALL[:3], *over)
    coded, small, raw = rows[1], rows[0], rows[3]
    assert len({row["picture"] for row in rows}) == 1
    assert raw["bytes_written"] > coded["bytes_written"]
    assert small["texture_misses"] > coded["texture_misses"]


@pytest.mark.plan("sweep-3")
def test_what_was_drawn_is_not_drawn_again(tmp_path, capsys, monkeypatch):
    """Points of the same command, and of one with more values; not where sources differ."""
    (first,) = sweep(tmp_path, "teapot", *SMALL)
    rows = sweep(tmp_path, "teapot", *SMALL, "--over", "sets=64,2")
    assert rows[0] == first
    assert "2 points, 1 drawn already\n" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["points", "sets.svg", store.TABLE]
    monkeypatch.setattr(point, "source_hash", lambda: "another")
    sweep(tmp_path, "teapot", *SMALL)
    assert "0 drawn already; 1 stale, of other sources or files\n" in capsys.readouterr().out


@pytest.mark.plan("sweep-3")
def test_a_file_that_changes_is_drawn_again(tmp_path, capsys):
    path = tmp_path / "square.obj"
    path.write_text(SQUARE)
    (before,) = sweep(tmp_path / "out", str(path), *SMALL[:3])
    path.write_text(SQUARE + "f 1 3 4\n")
    (after,) = sweep(tmp_path / "out", str(path), *SMALL[:3])
    assert (before["triangles"], after["triangles"]) == (1, 2)
    assert "1 stale" in capsys.readouterr().out


@pytest.mark.plan("sweep-3")
def test_a_point_that_cannot_be_read_is_drawn_again(tmp_path):
    """A disk that was full, or another version's columns."""
    (row,) = sweep(tmp_path, "teapot", *SMALL)
    (kept,) = (tmp_path / "points").iterdir()
    kept.write_bytes(kept.read_bytes()[:100])
    (again,) = sweep(tmp_path, "teapot", *SMALL)
    assert again["seconds"] != row["seconds"]
    table = pq.read_table(kept)
    pq.write_table(table.drop_columns(["seconds"]), kept)
    (third,) = sweep(tmp_path, "teapot", *SMALL)
    assert third["picture"] == row["picture"]


def started(folder, jobs="2"):
    """A sweep of many points in a process, once the first of them has been drawn."""
    over = ("--over", "sets=1,2,4,8,16,32,64,128", "--over", "ways=1,2,3,4,5,6,7,8")
    over += ("--over", "hiz=both,max,none", "--over", "coding=differences,raw")
    command = [sys.executable, "-m", "fixfunc", "sweep", *SMALL, *over, "--jobs", jobs]
    process = subprocess.Popen(
        [*command, "-o", str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    for line in process.stdout:
        if line.startswith("1 of 384: "):
            return process
    raise AssertionError("no point was drawn")


@pytest.mark.plan("sweep-4")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_what_ends_a_sweep_leaves_points_and_no_process(number, tmp_path):
    """Output ends when no process is left that could write to it."""
    process = started(tmp_path)
    process.send_signal(number)
    said, _ = process.communicate(timeout=60)
    code = process.returncode
    if number == signal.SIGINT:
        assert (code, said.splitlines()[-1]) == (130, "fixfunc: interrupted")
        assert "Traceback" not in said
    kept = [path for path in (tmp_path / "points").iterdir() if not path.name.startswith(".")]
    assert 1 <= len(kept) < 384
    assert not (tmp_path / store.TABLE).exists()
    for path in kept:
        (row,) = store.read(path)
        assert row["key"] == path.stem
    rows = sweep(tmp_path, *SMALL, "--over", "sets=1,2", "--over", "ways=1,2")
    assert [(row["sets"], row["ways"]) for row in rows] == [(1, 1), (1, 2), (2, 1), (2, 2)]


@pytest.mark.plan("sweep-4")
def test_an_interrupt_waits_for_no_point():
    """One of them would take two minutes."""
    with pytest.raises(KeyboardInterrupt), workers.drawing(time.sleep, 2) as draw:
        for _ in draw([120, 0]):
            processes = multiprocessing.active_children()
            raise KeyboardInterrupt
    assert len(processes) == 2
    assert all(connection.wait([process.sentinel], 30) for process in processes)


def assert_two_meet(address):
    """Each of two points waits until the other one is being drawn, too."""

    def draw(point):
        from distributed import Event

        mine = point.values["samples"]
        Event(f"drawing {mine}").set()
        assert Event(f"drawing {5 - mine}").wait(60)
        return {"process": os.getpid()}

    points = parameters.points(["teapot"], ["samples=1,4"], golden=True)
    with workers.drawing(draw, 1, address) as drawn:
        assert len({row["process"] for row in drawn(points)}) == 2


@pytest.mark.plan("sweep-5")
def test_a_cluster_draws_the_same(tmp_path):
    from distributed import LocalCluster

    over = ("teapot", *SMALL, "--over", "sets=2,64", "--over", "hiz=both,none")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster:
        address = ("--scheduler", cluster.scheduler_address)
        there = sweep(tmp_path / "there", *over, *address)
        assert_two_meet(cluster.scheduler_address)
    here = sweep(tmp_path / "here", *over)
    for one, other in zip(there, here, strict=True):
        assert one | {"seconds": 0} == other | {"seconds": 0}


@pytest.mark.plan("sweep-6")
def test_charts_say_what_they_show(tmp_path):
    """Values that are numbers lie in order, whatever the order of the command."""
    sweep(tmp_path, "teapot", str(HOUSE), *SMALL[:3], "--over", "samples=4,1")
    text = (tmp_path / "samples.svg").read_text()
    assert ET.fromstring(text).tag.endswith("svg")
    for word in ("samples", "least clocks of the frame", "bytes, read and written", str(HOUSE)):
        assert word in text
    assert not (tmp_path / "size.svg").exists()


def test_points_are_every_combination():
    over = ["samples=1,4", "sets=2,2,8"]
    found = parameters.points(["teapot", "teapot"], over, golden=True)
    values = [(one.values["samples"], one.values["sets"]) for one in found]
    assert values == [(1, 2), (1, 8), (4, 2), (4, 8)]
    assert len({one.key for one in found}) == 4
    (plain,) = parameters.points(["teapot"], [], golden=True)
    (named,) = parameters.points(["teapot"], ["sets=64"], golden=True)
    assert plain.key == named.key
    (hardware,) = parameters.points(["teapot"], ["latency=50"], golden=False)
    assert hardware.memory_fields() == {"ready": 160, "latency": (50, 50)}


HARDWARE = "size, samples, divisions, memory, latency, ready"


@pytest.mark.plan("sweep-7")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--over", "sets=4"],
            f"parameter of the hardware machine must be name=value,value of {HARDWARE}, not sets=4",
        ),
        (["--golden", "--over", "latency=4"], "parameter of the golden machine must be name=value"),
        (["--golden", "--over", "sets"], "parameter of the golden machine must be name=value"),
        (["--golden", "--over", "sets="], "sets must be an integer, not \n"),
        (["--golden", "--over", "sets=3"], "sets must be a power of two, not 3\n"),
        (["--golden", "--over", "ways=0"], "ways must be above 0, not 0\n"),
        (["--golden", "--over", "coding=zip"], "coding must be one of "),
        (["--golden", "--over", "hiz=min"], "hiz must be one of both, max, none, not min\n"),
        (["--golden", "--over", "reuse=lru"], "reuse must be one of batch, fifo, not lru\n"),
        (["--golden", "--over", "fast_clear=1"], "fast_clear must be true or false, not 1\n"),
        (["--golden", "--over", "samples=3"], "samples must be one of 1, 2, 4, 8, not 3\n"),
        (["--golden", "--over", "size=64"], "size must be WIDTHxHEIGHT in pixels, not 64\n"),
        (["--golden", "--over", "divisions=0"], "divisions must lie in 1..1024, not 0\n"),
        (
            ["--golden", "--over", "sets=1", "--over", "sets=2"],
            "parameters must be named once each, not sets=1 sets=2\n",
        ),
        (["--over", "size=4096x16"], "width must be at most 2048, the largest target of the top"),
        (["--over", "latency=-1000"], "latency must lie in 0..65536 clocks, not -1000\n"),
        (
            ["--over", "memory=dram", "--over", "latency=5"],
            "latency must be that of memory near or far, not 5, with dram\n",
        ),
        (["--over", "ready=0"], "ready must lie in 1..256 clocks of 256, not 0\n"),
        (["--over", "memory=slow"], "memory must be one of near, far, dram, shared, not slow\n"),
        (["no.obj", "--golden"], "scene must be 'teapot', or a file or folder that exists, not no"),
        (["--golden", "--jobs", "0"], "jobs must be at least 1, not 0\n"),
        (["--golden", "--scheduler", "tcp://127.0.0.1:1"], "scheduler must be the address of a "),
        (["--golden", "--scheduler", "nowhere"], "scheduler must be the address of a Dask sched"),
        (["--golden", "-o", "/dev/null"], "output folder must be a folder that can be written"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(arguments, said, capsys, tmp_path, monkeypatch):
    """Before anything is drawn, and nothing is left."""
    monkeypatch.setattr(workers, "PATIENCE", 0.5)
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", *arguments]) == 2
    assert not list(tmp_path.iterdir())
    error = capsys.readouterr().err
    assert error.startswith(f"fixfunc: {said}")
    assert error.count("\n") == 1


@pytest.mark.plan("sweep-7")
def test_a_parameter_of_another_scene_is_refused(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["sweep", str(HOUSE), "--golden", "--over", "sets=4"]) == 2
    assert capsys.readouterr().err == (
        f"fixfunc: parameter must be one of size, samples, coded, texture_bytes, texture_ways, "
        f"texture_second, texture_second_ways, which {HOUSE} on the golden machine has, not sets\n"
    )
    (tmp_path / "frame.npz").write_bytes(b"")
    assert main(["sweep", "frame.npz", "--over", "size=4x4"]) == 2
    assert "one of memory, latency, ready, which frame.npz" in capsys.readouterr().err


@pytest.mark.plan("sweep-7")
def test_a_scene_that_cannot_be_drawn_is_one_line(capsys, tmp_path):
    """What was drawn before it stays."""
    path = tmp_path / "broken.obj"
    path.write_text("v 1 2\n")
    arguments = ["teapot", str(path), "--golden", "--over", "size=64x48", "--jobs", "1"]
    assert main(["sweep", *arguments, "-o", str(tmp_path / "out")]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith("fixfunc: mesh file must ")
    assert len(list((tmp_path / "out" / "points").iterdir())) == 1


def test_parameters_are_listed(capsys):
    assert main(["sweep", "--parameters"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(parameters.PARAMETERS)
    assert "sets=64: of every tile cache, a power of two (mesh; golden)" in lines
