# SPDX-License-Identifier: BSD-2-Clause
"""Hostile command streams through the whole of the hardware."""

import numpy as np
import pytest

from fixfunc.cosim import codec
from fixfunc.models.payload import dtype
from fixfunc.spec.commands import STATUS, CommandError
from fixfunc.tb import catalogue
from fixfunc.tb.frontend import hostile
from tests.tiers import SEED
from tests.volume import volume

BLOCK = "top"
BATCH = 250  # streams at a time


def draw(batch, count, config="tiny"):
    """Statuses of ``count`` hostile streams, when every beat and byte has been compared.

    Nothing hangs: the clocks are bounded. No transfer lies where there is no memory. Memory is
    that of the golden machine, which stops at the error.
    """
    block = catalogue.block(BLOCK)
    params = block.parameters(config)
    rows = hostile.requests(np.random.default_rng((SEED, batch)), count, params)
    run, _, mismatches, first = block.compare(
        volume(BLOCK, config), rows, config, seed=1, limit=hostile.CLOCKS * count
    )
    assert not mismatches, f"batch {batch}, SEED={SEED}: {first}"
    status = codec.unpack(run.outputs["o"], STATUS, dtype(STATUS))
    assert status["last"].sum() == count
    return status[status["last"] == 1]


def draw_all(streams, config="tiny"):
    batches = range(-(-streams // BATCH))
    errors = np.concatenate(
        [draw(n, min(BATCH, streams - BATCH * n), config)["error"] for n in batches]
    )
    assert len(errors) == streams
    # Every way to stop but memory that fails; streams that are right.
    assert {CommandError(error) for error in errors} == set(CommandError) - {CommandError.READ}
    assert (errors == 0).mean() > 0.02


@pytest.mark.plan("top-18")
def test_hostile_streams():
    draw_all(250)


@pytest.mark.qualify
@pytest.mark.plan("top-18")
def test_many_hostile_streams():
    draw_all(100_000)


@pytest.mark.qualify
@pytest.mark.plan("top-18")
def test_hostile_streams_of_bytes():
    draw_all(10_000, "tiny_bytes")
