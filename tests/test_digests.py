# SPDX-License-Identifier: BSD-2-Clause
"""Form may change, results may not: what the hardware gives is what it gave."""

import pytest

from tests import digests, tiers

RECORDED = digests.recorded()


@pytest.mark.parametrize(
    ("config", "stem"), tiers.by_tier([(config, stem) for stem, config in digests.BLOCKS])
)
def test_a_block_gives_what_it_gave(stem, config):
    assert digests.of_block(stem, config) == RECORDED[f"{stem} {config}"]


@pytest.mark.qualify
@pytest.mark.parametrize(("stem", "name"), [("top", name) for name in digests.FRAMES])
def test_a_frame_is_what_it_was(stem, name):
    assert stem == "top"
    assert digests.of_frame(name) == RECORDED[name]


def test_nothing_is_recorded_that_is_gone():
    assert set(RECORDED) == {f"{stem} {config}" for stem, config in digests.BLOCKS} | set(
        digests.FRAMES
    )
