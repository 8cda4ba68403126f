# SPDX-License-Identifier: BSD-2-Clause
"""Frames of the hardware over time: what adds up to its counters."""

import re

import pytest

from fixfunc.cosim.figures import bound
from fixfunc.cosim.frame import frame, mesh
from fixfunc.models.scene.scene import Scene
from fixfunc.spec.counters import CLIENTS, PROBES

pytestmark = pytest.mark.qualify  # the top takes minutes to build


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("frame")
    return frame.run(Scene(*mesh.teapot(2), 160, 90, 4), folder), folder


@pytest.mark.plan("time-7")
def test_a_timeline_adds_up_to_the_counters(drawn):
    result, _ = drawn
    assert not result.failures
    counted = result.figures["hardware"]
    found = result.timeline
    assert abs(len(found.edges) * found.interval - counted["clocks"]) < 3 * found.interval
    for name in PROBES:
        assert found.stalls[name].sum() == pytest.approx(counted[f"stall_{name}"], abs=2)
    transfers = bound.channel_transfers(result.figures["moved"])
    for client in CLIENTS:
        for way, words in (("read", "read"), ("write", "written")):
            moved = found.moved[f"{client}_memory.{way}"].sum()
            assert moved == transfers.get(f"{client} {words}", 0)
    assert found.moved["commands_memory.read"].sum() == counted["command_transfers"]
    words = [mark.words for mark in found.marks]
    assert words == ["state", "clear", "draw", "fence", "status"]


@pytest.mark.plan("time-7")
def test_the_report_has_the_chart(drawn):
    """Once, and it needs no other file."""
    page = (drawn[1] / "frame.html").read_text()
    assert page.count('aria-label="stalls and bandwidth over time"') == 1
    assert re.search(r"depth_memory, % of 32 bytes a clock", page)
