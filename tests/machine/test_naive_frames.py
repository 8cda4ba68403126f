# SPDX-License-Identifier: BSD-2-Clause
"""Frames of random state, every sample of which is that of a naive renderer."""

from collections import Counter
from dataclasses import replace

import pytest

from tests.machine.frames.naive_drawing import differences
from tests.machine.frames.random_frames import frame
from tests.machine.frames.states import FEW, every
from tests.oracles.naive_frame.frame import render


@pytest.mark.plan("frames-3")
@pytest.mark.parametrize(
    ("count", "wanted"),
    [(32, FEW), pytest.param(200, every(), marks=pytest.mark.qualify)],
    ids=["32", "200"],
)
def test_every_sample_is_that_of_the_naive_renderer(count, wanted):
    reached = Counter()
    failures = []
    for seed in range(count):
        drawn = frame(seed)
        picture = render(drawn)
        reached += picture.reached
        found = differences(drawn, picture)
        if found:
            failures.append(
                f"{'; '.join(found)}\n  python -m tests.machine.frames.naive_frame {seed}"
            )
    assert not failures, "\n".join(failures)
    assert not wanted - set(reached), sorted(wanted - set(reached))


@pytest.mark.plan("frames-3")
def test_a_draw_that_is_left_out_is_seen():
    """The comparison fails if the machine draws something else."""
    drawn = frame(3)
    assert not differences(drawn, render(drawn))
    found = differences(drawn, render(replace(drawn, draws=drawn.draws[1:])))
    assert found and "samples of" in found[0]
