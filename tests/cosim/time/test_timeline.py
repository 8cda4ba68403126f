# SPDX-License-Identifier: BSD-2-Clause
"""A frame by intervals of clocks, and its charts."""

import re

import numpy as np
import pytest

from fixfunc.cosim.figures.counters import STREAMS
from fixfunc.cosim.time import charts, timeline
from fixfunc.spec.counters import PROBES
from tests.cosim.time import runs


@pytest.mark.plan("time-5")
def test_a_timeline_is_that_of_the_frame():
    """From the START's interval to the last status; a stall lies evenly between two samples."""
    found = timeline.of(*runs.run())
    assert found.edges.tolist() == [20, 30, 40, 50, 60, 70, 80, 90]
    assert found.stalls["commands"].tolist() == [0, 0, 10, 10, 10, 6, 0]
    assert found.stalls["colours"].sum() == pytest.approx(24)
    assert found.beats["commands"].tolist() == [0, 2, 3, 0, 1, 1, 0]
    assert found.beats["colours"].tolist() == [0, 0, 0, 0, 4, 0, 0]
    assert found.moved["commands_memory.read"].tolist() == [0, 5, 0, 0, 0, 0, 0]
    assert found.moved["depth_memory.write"].tolist() == [0, 0, 2, 0, 1, 0, 0]
    assert set(found.stalls) == set(found.beats) == set(PROBES)


@pytest.mark.plan("time-5")
def test_draws_clears_and_fences_are_marked():
    words = [(mark.clock, mark.words) for mark in timeline.of(*runs.run()).marks]
    assert words == [
        (30, "state"),
        (30, "clear"),
        (40, "draw"),
        (40, "state"),
        (60, "draw"),
        (70, "fence"),
        (80, "status"),
    ]


@pytest.mark.plan("time-5")
def test_a_frame_that_never_ends_has_a_timeline():
    outputs, events = runs.run()
    for port in ("i", "o"):
        events.streams[port]["beats"] = 0
    found = timeline.of(outputs, events)
    assert found.edges[[0, -1]].tolist() == [0, runs.INTERVALS * runs.INTERVAL]


def texts(svg):
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


@pytest.mark.plan("time-6")
def test_a_chart_has_a_panel_for_each_stall_and_each_port():
    found = timeline.of(*runs.run())
    said = texts(charts.chart(found))
    titles = [text for text in said if "%" in text]
    assert titles == [
        *(
            f"{STREAMS[name][0]} waits for {STREAMS[name][1]}, % of clocks"
            for name in ("commands",)
        ),
        "shader waits for colour write, % of clocks",
        *(f"{port}, % of 32 bytes a clock" for port in runs.PORTS),
    ]
    assert said.count("read") == said.count("written") == 2
    assert charts.chart(found) == charts.chart(found)
    for name in ("stalls", "moved"):
        for values in getattr(found, name).values():
            values[:] = 0
    assert charts.chart(found) == ""


@pytest.mark.plan("time-6")
def test_lines_of_a_chart_are_shares_of_the_clocks():
    """Read back from the picture: panels are 0 to 105 percent high."""
    svg = charts.chart(timeline.of(*runs.run((36, 0, 0, 0, 0, 0, 0), 0)))
    (line,) = re.findall(rf'<path d="([^"]*)"[^>]*stroke: {charts.STALL}', svg)
    heights = np.array([float(y) for y in re.findall(r"[ML] [\d.]+ ([\d.]+)", line)])
    shares = (heights.max() - heights) / (heights.max() - heights.min())  # of the highest
    shares = shares[1:-1].reshape(-1, 2)  # each line has two ends
    ticks = [float(y) for y in re.findall(r'<use [^>]*y="([\d.]+)"', svg)]
    assert {heights.min(), heights.max()} <= set(ticks)  # of 100 and 0 percent
    assert shares[:, 0] == pytest.approx([0, 0, 1, 1, 1, 0.6, 0])
    assert shares[:, 1] == pytest.approx(shares[:, 0])


@pytest.mark.plan("time-6")
@pytest.mark.parametrize("count", [charts.MOST_POINTS, charts.MOST_POINTS + 1, 1000])
def test_a_long_frame_has_a_chart_of_a_bounded_size(count):
    """And marks of which some are drawn."""
    found = timeline.of(*runs.run())
    values = np.random.default_rng(count).integers(0, 10, count).astype(np.uint64)
    long = found._replace(
        beats=dict.fromkeys(found.beats, values),
        stalls=dict.fromkeys(found.stalls, values.astype(float)),
        moved=dict.fromkeys(found.moved, values),
        marks=[timeline.Mark(n, "draw") for n in range(50_000)],
    )
    assert len(charts.chart(long)) < 400_000
