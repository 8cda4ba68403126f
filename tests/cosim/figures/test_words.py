# SPDX-License-Identifier: BSD-2-Clause
"""Counters in words, and what bounds a frame."""

import pytest

from fixfunc.cosim.figures import bound, counters
from fixfunc.cosim.frame import hardware
from fixfunc.cosim.report.capture import DRAW_COUNTERS
from fixfunc.models.scene.render import render
from fixfunc.models.scene.scene import teapot_patches
from fixfunc.spec.counters import COUNTERS, PROBES

COUNTED = {
    "command_transfers": 120,
    "triangles": 100,
    "tiles": 900,
    "tiles_accepted": 200,
    "tiles_tested": 300,
    "tiles_shaded": 400,
}
MOVED = [
    ("depth", "fill", "RAW", 2, 384),
    ("depth", "table_fill", "", 1, 32),
    ("depth", "write_back", "PLANES_1", 3, 96),
    ("stencil", "fill", "RAW", 1, 33),
    ("colour", "fill", "CLEARED", 5, 0),
]


def test_every_counter_is_in_words_and_none_beside():
    """Those of the hardware, and those of golden frames, from patches too."""
    golden = render(teapot_patches(2, 64, 48, 1)).counters
    table = counters.table()
    assert table.keys() == {*COUNTERS, *golden, *DRAW_COUNTERS}
    for name, entry in table.items():
        assert entry.unit and entry.group, name
        assert entry.explanation[0].isupper() and entry.explanation.endswith("."), name
    assert len({(entry.group, entry.words) for entry in table.values()}) == len(table)
    assert counters.STREAMS.keys() == set(PROBES)


def test_both_sides_stand_beside_each_other():
    """What one side does not count is none; what both count and do not agree about differs."""
    figures = {
        "counters": {"tiles": 4, "faces": 9},
        "golden": {"tiles_tested": 3},
        "hardware": {"tiles": 4, "tiles_tested": 2, "clocks": 7},
    }
    rows = {row["name"]: row for row in counters.rows(figures)}
    assert rows.keys() == {"clocks", "faces", "tiles", "tiles_tested"}
    sides = {name: (row["hardware"], row["golden"]) for name, row in rows.items()}
    assert sides["clocks"] == (7, None)
    assert sides["faces"] == (None, 9)
    assert sides["tiles_tested"] == (2, 3)
    assert [name for name, row in rows.items() if row["differs"]] == ["tiles_tested"]


def test_a_stage_and_a_channel_take_a_clock_for_each():
    """Reads and writes of a client have a channel each; a part of a transfer is one."""
    found = bound.terms(COUNTED, MOVED)
    assert [term.clocks for term in found] == [120, 100, 900, 500, 400, 13, 3, 2]
    assert [term.words.split(",")[0] for term in found[5:]] == [
        "depth read",
        "depth written",
        "stencil read",
    ]


def test_one_channel_of_all_takes_two_transfers_a_clock():
    """Commands go through it, too."""
    assert bound.terms(COUNTED, MOVED, "shared")[5:] == [
        ("all of memory, 64 bytes a clock", (13 + 3 + 2 + 120) // 2)
    ]


def test_a_resolve_may_read_and_write_in_one_clock():
    """Its transfers are counted together: no channel needs fewer clocks than half of them."""
    found = bound.channel_transfers([("resolve", "transfers", "", 5, 160)])
    assert found == {"resolve, read or written": 3}


def test_golden_frames_have_the_terms_that_they_count():
    found = bound.terms({"triangles": 5, "tiles": 7, "faces": 9}, [])
    assert [term.clocks for term in found] == [5, 7]


def test_a_frame_of_nothing_has_a_bound():
    found = bound.terms(dict.fromkeys(COUNTED, 0), [])
    assert bound.of_bound(10, found) == 10
    assert "0 of its 10 clocks" in bound.sentence(10, found, {})


@pytest.mark.parametrize(
    ("clocks", "stalls", "said"),
    [
        (
            1000,
            {"setup": 0.8, "commands": 0.9, "raster": 0.1, "colours": 0.95},
            "This frame is bound by tiles rasterized, one a clock, for 900 of its 1,000 clocks "
            "(90.0%). Beats of triangle setup wait for tile rasterizer in 80.0% of the clocks.",
        ),
        (
            4000,
            {"setup": 0.8, "commands": 0.9, "raster": 0.1, "hiz": 0.7},
            "This frame is bound by waiting: most work is tiles rasterized, one a clock, for 900 "
            "of its 4,000 clocks (22.5%). Beats of HiZ wait for depth test in 70.0% of the clocks.",
        ),
        (
            4000,
            {"setup": 0.05, "colours": 0.9},
            "This frame is bound by waiting: most work is tiles rasterized, one a clock, for 900 "
            "of its 4,000 clocks (22.5%). Stages lack input: between them no beat waits for long.",
        ),
        (
            None,
            {},
            "No hardware has drawn this frame; it takes at least 900 clocks, for tiles rasterized, "
            "one a clock.",
        ),
    ],
)
def test_the_sentence_says_what_bounds_the_frame(clocks, stalls, said):
    """The last stage that beats wait for is to blame: it holds up those before it."""
    assert bound.sentence(clocks, bound.terms(COUNTED, MOVED), stalls) == said


def test_a_counter_that_differs_fails_the_frame():
    """Golden ones alone are compared; the first that differs is told in words."""
    golden = {"tiles": 4, "triangles": 9}
    same = hardware.counter_differences({"tiles": 4, "triangles": 9, "clocks": 70}, golden)
    assert same == {"beats": 2, "mismatches": 0}
    other = hardware.counter_differences({"tiles": 5, "triangles": 9, "clocks": 70}, golden)
    assert other == {"beats": 2, "mismatches": 1, "first": "counters: tiles is 5, not 4"}
