# SPDX-License-Identifier: BSD-2-Clause
"""Holds a block to its golden model through the volume library, at every pair of paces."""

from collections import Counter
from functools import cache
from itertools import product

import numpy as np
import pytest

from fixfunc.cosim.simulation.volume import PACES, PATIENT, SimulationError
from fixfunc.spec.commands import CommandError
from fixfunc.tb import catalogue
from tests import tiers

ROOM = 1 << 18  # beats out: far above what any block gives here
# Pairs of paces: each of either side once.
SOME = ("full", "full"), ("random", "starved"), ("bursty", "random"), ("starved", "bursty")
# Clocks without a beat after which a block has drained: above what any needs here. They are half of
# a short run.
IDLE = 1024
LIMIT = 5_000_000  # clocks: far above what any of these need, and little enough to wait for


@cache
def volume(stem, config):
    """A Verilated block; built once a process."""
    return catalogue.block(stem).volume(config)


def check(stem, config, rows, paces=("full", "full"), seed=0):
    """The beats that a block gives for ``rows`` are the golden ones; returns those of ``o``."""
    return check_outputs(stem, config, rows, paces, seed)["o"]


def check_outputs(stem, config, rows, paces, seed):
    """Hold the beats of every port, and memory, to the golden ones; returns them by port."""
    block = catalogue.block(stem)
    run, _, mismatches, first = block.compare(
        volume(stem, config), rows, config, paces, seed, limit=LIMIT, idle=IDLE
    )
    assert not mismatches, first
    assert_heard(block, run.outputs)
    return run.outputs


def assert_heard(block, outputs):
    """Every port has had a beat, but for those that may be silent."""
    silent = getattr(block.bench, "MAY_BE_SILENT", ())
    assert all(len(beats) for port, beats in outputs.items() if port not in silent)


def check_paces(stem, config, count):
    """``count`` random beats in, at pairs of paces, and out to a sink that waits for them.

    At every pair; in ``make test`` each pace of either side once.
    """
    block = catalogue.block(stem)
    total = Counter()
    for source, sink in product(PACES, PACES) if tiers.QUALIFY else SOME:
        seed = PACES.index(source)
        rows = block.bench.requests(
            np.random.default_rng((seed, PACES.index(sink))), count, block.parameters(config)
        )
        outputs = check_outputs(stem, config, rows, (source, sink), seed)
        total.update({port: len(beats) for port, beats in outputs.items()})
        if hasattr(block.bench, "ends"):
            # A ring of vertices that there is not refuses nothing.
            ring = getattr(block.parameters(config), "reader", block.parameters(config)).ring
            lacks = set() if ring else {CommandError.VERTEX}
            assert block.bench.ends(outputs) == set(CommandError) - lacks
    assert total
    assert all(total.values())
    check(stem, config, rows, ("random", PATIENT))
    check_resets(stem, config, rows, 8 if tiers.QUALIFY else 2)


def check_resets(stem, config, rows, resets):
    """Wherever a reset comes, a block then is as one that never ran: beats, memory and clocks."""
    block = catalogue.block(stem)
    paces = "random", "bursty"
    fresh = block.run(block.volume(config), rows, ROOM, config, paces, limit=LIMIT, idle=IDLE)
    assert_heard(block, fresh.outputs)
    used = volume(stem, config)
    for clocks in np.random.default_rng(len(rows)).integers(1, fresh.simulated, resets):
        with pytest.raises(SimulationError, match=f"not drained after {clocks} clocks"):
            block.run(used, rows, ROOM, config, paces, limit=int(clocks), idle=IDLE)
        again = block.run(used, rows, ROOM, config, paces, limit=LIMIT, idle=IDLE)
        for port, beats in fresh.outputs.items():
            assert np.array_equal(again.outputs[port], beats), f"{port}, reset in clock {clocks}"
        assert again.simulated == fresh.simulated, f"reset in clock {clocks}"
