# SPDX-License-Identifier: BSD-2-Clause
"""Every block in every configuration over many beats of a fresh seed; and the page that says so."""

from types import SimpleNamespace

import pytest

from fixfunc.cosim import catalogue
from fixfunc.cosim.simulation import batches
from fixfunc.cosim.simulation.batches import Totals
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


def test_a_run_without_beats_is_not_good():
    assert not Totals().good
    assert not Totals(beats_out=5, mismatches=1).good
    assert not Totals(beats_out=5, first="hangs").good
    assert Totals(beats_out=5).good
