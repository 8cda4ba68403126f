# SPDX-License-Identifier: BSD-2-Clause
"""The fence with which a START ends, in the golden model and in hardware."""

import pytest

from fixfunc.cosim.commands import CommandList
from fixfunc.models.state import draw_state
from fixfunc.spec.commands import CommandError
from fixfunc.spec.state import Kind
from tests.frontend.test_resolve_packet import FREE, SIZE, both


def packets():
    """A target that is cleared."""
    out = CommandList().target(0, 1 << 14, 1 << 15).state(draw_state(*SIZE))
    return out.clear((0, 0, *SIZE), depth=1, stencil=1, colour=1)


@pytest.mark.plan("command-reader-15")
@pytest.mark.parametrize(
    ("ends", "count"),
    [
        (lambda given: given, 1),
        (lambda given: given.fence(7), 1),
        (lambda given: given.fence(7).fence(8), 2),
        (lambda given: given.fence(7).target(FREE, FREE + (1 << 14), FREE + (1 << 15)), 2),
    ],
    ids=["no fence", "a fence", "two", "a packet behind it"],
)
def test_the_last_fence_ends_a_start(ends, count):
    """One follows packets that do not end with a FENCE; whichever is the last says so."""
    result = both(ends(packets()))
    assert result.error == CommandError.NONE
    slots = [int(records["slot"][0]) for kind, records in result.beats if kind == Kind.FENCE]
    assert slots == [0] * (count - 1) + [1]
