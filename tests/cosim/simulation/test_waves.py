# SPDX-License-Identifier: BSD-2-Clause
"""Waves of a window of clocks, read by somebody else's reader."""

import subprocess
from functools import cache

import numpy as np
import pytest
import pywellen

from fixfunc.cosim import toolchain
from fixfunc.cosim.__main__ import main
from fixfunc.cosim.simulation import library, waves
from fixfunc.cosim.simulation.events import Keep
from fixfunc.cosim.simulation.volume import Volume
from fixfunc.spec.errors import InputError
from tests.cosim.simulation.test_volume import Echo

ROWS = np.arange(200, dtype=np.uint64)[:, None]


@cache
def echo():
    return Volume(Echo(8), "echo", traced=True)


def run():
    return echo().run({"i": ROWS}, 200, ("full", "bursty"), keep=Keep(8))


def changes(path):
    """Times in picoseconds and values of every signal, by name."""
    found = pywellen.Waveform(str(path))
    assert str(found.timescale) == "1ps"
    return {str(var.full_name): list(var.tv) for var in found.all_vars()}


def at(changes, time):
    """The value of a signal at a time."""
    return [value for start, value in changes if start <= time][-1]


@pytest.mark.plan("time-12")
@pytest.mark.parametrize("window", [(40, 120), (0, 8), (64, 65_536)])
def test_waves_are_those_of_a_window(window, tmp_path):
    """Clocks of a nanosecond, whose beats are those of the run; what is asked for twice is there
    twice.
    """
    for name in ("a.fst", "b.fst"):
        echo().waves(tmp_path / name, window)
        done = run()
    first, end = window[0], min(window[1], done.simulated)
    found = changes(tmp_path / "a.fst")
    assert found == changes(tmp_path / "b.fst")
    clock = found["TOP.clk"]
    assert clock == [(500 * n, n % 2) for n in range(2 * first, 2 * end)]
    names = [f"TOP.o__{member}" for member in ("valid", "ready", "payload")]
    beats = []
    for n in range(first, min(end, first + 200)):
        valid, ready, payload = (at(found[name], 1000 * n) for name in names)
        beats += [(n, payload)] * (valid and ready)
    counted = done.events.streams["o"]["beats"]
    for interval in range(first // 8, min(end, first + 200) // 8):
        clocks = [n for n, _ in beats if n // 8 == interval]
        assert len(clocks) == counted[interval]
    before = int(counted[: first // 8].sum())
    assert [payload for _, payload in beats] == [*range(before, before + len(beats))]


@pytest.mark.plan("time-12")
def test_a_run_without_a_window_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    echo().waves(tmp_path / "a.fst", (3, 9))
    once = run()
    written = (tmp_path / "a.fst").read_bytes()
    again = run()
    assert (once.outputs["o"] == again.outputs["o"]).all()
    assert once.simulated == again.simulated
    assert [path.name for path in tmp_path.iterdir()] == ["a.fst"]
    assert (tmp_path / "a.fst").read_bytes() == written


@pytest.mark.plan("time-12")
def test_a_component_is_built_for_waves_apart():
    """The library without them is the same as ever."""
    plain, traced = (library.shim(Echo(8), "echo", traced=it) for it in (False, True))
    assert "Fst" not in plain and "Fst" in traced
    assert [line for line in traced.splitlines() if "waves" not in line.lower()][:6] == (
        plain.splitlines()[:6]
    )


@pytest.mark.plan("time-12")
@pytest.mark.parametrize("window", [(5, 5), (6, 5), (-1, 5)])
def test_a_window_has_clocks(window, tmp_path):
    with pytest.raises(InputError, match="clocks must be FIRST:END, the first less than the end"):
        echo().waves(tmp_path / "a.fst", window)
    assert not list(tmp_path.iterdir())


@pytest.mark.plan("time-12")
def test_what_waves_need_is_said_in_one_line(monkeypatch):
    refused = subprocess.CompletedProcess([], 1)
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: refused)
    with pytest.raises(toolchain.ToolError, match="apt-get install liblz4-dev zlib1g-dev"):
        waves.check()


@pytest.mark.plan("time-12")
@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--waves", "a.fst"], "waves must be of a window, --clocks FIRST:END, not None"),
        (["--clocks", "1:2"], "waves must be of a window, --clocks FIRST:END, not 1:2"),
        (["--waves", "a.fst", "--clocks", "5"], "clocks must be FIRST:END, not 5"),
        (["--waves", "a.fst", "--clocks", "7:7"], "the first less than the end, not 7:7"),
        (["--waves", "a.fst", "--clocks", "1:2", "--golden"], "waves must be of a frame that"),
        (["--waves", "no/a.fst", "--clocks", "1:2"], "output file must lie in a folder that"),
    ],
)
def test_a_window_that_is_none_is_refused(more, said, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["frame", "teapot", *more]) == 2
    assert said in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
