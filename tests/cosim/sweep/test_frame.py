# SPDX-License-Identifier: BSD-2-Clause
"""Sweeps of the hardware: named as the tests of frames are, whose top it shares."""

import pytest

from fixfunc.__main__ import main
from fixfunc.cosim.frame import job
from fixfunc.cosim.sweep import point, store
from fixfunc.cosim.toolchain import ROOT

HOUSE = ROOT / "examples" / "data" / "house.glb"


def sweep(folder, *arguments):
    size = ("--over", "size=64x48", "--over", "samples=4")
    assert main(["sweep", *arguments, *size, "--jobs", "1", "-o", str(folder)]) == 0
    return store.read(folder / store.TABLE)


@pytest.mark.plan("sweep-8")
@pytest.mark.parametrize(
    ("scene", "ready"),
    [(("teapot", "--over", "divisions=2"), "64,256"), ((str(HOUSE),), "256")],
    ids=["mesh", "scene"],
)
def test_memory_changes_clocks_and_nothing_else(scene, ready, tmp_path):
    """The picture is the golden machine's; a slower memory takes more clocks."""
    memory = ("--over", "latency=0,100", "--over", f"ready={ready}")
    rows = sweep(tmp_path / "hardware", *scene, *memory)
    (golden,) = sweep(tmp_path / "golden", *scene, "--golden")
    assert len(rows) == 2 * len(ready.split(","))
    for row in rows:
        assert row["failures"] == []
        assert row["picture"] == golden["picture"]
        assert row["clocks"] >= row["least_clocks"] > 0
        assert row["terms"]
    by = {(row["latency"], row["ready"]): row["clocks"] for row in rows}
    assert (0, 64) not in by or by[0, 256] < by[0, 64]
    assert by[0, 256] < by[100, 256]
    assert (tmp_path / "hardware" / "latency.svg").exists()


@pytest.mark.plan("sweep-8")
def test_hardware_that_differs_is_a_failure(monkeypatch):
    """Here a model that counts otherwise."""
    of = job.Job.expected

    def other(self, outputs):
        beats, outcome, counters = of(self, outputs)
        return beats, outcome, counters | {"tiles": counters["tiles"] + 1}

    monkeypatch.setattr(job.Job, "expected", other)
    values = {"size": "64x48", "samples": 1, "divisions": 2}
    memory = {"memory": "near", "latency": -1, "ready": 160}
    row = point.draw(point.Point("teapot", False, values | memory))
    assert row["failures"] == ["1 beats or transfers differ"]
