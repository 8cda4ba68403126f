"""Holds a block to its golden model through the volume library, at every pair of paces."""

from functools import cache

import numpy as np

from cosim import catalogue
from cosim.volume import PACES, Volume


@cache
def volume(stem, config):
    """A Verilated block; built once a process."""
    return Volume(catalogue.block(stem).create(config), stem)


def check(stem, config, rows, paces=("full", "full"), seed=0):
    """The beats that a block gives for ``rows`` are the golden ones; returns them."""
    block = catalogue.block(stem)
    expected = block.bench.expected(rows, block.parameters(config))
    out = volume(stem, config).run({"i": rows}, 2 * len(expected) + 65536, paces, seed, limit=200_000_000).outputs["o"]
    both = min(len(out), len(expected))
    differ = np.flatnonzero((out[:both] != expected[:both]).any(1))
    if len(differ):
        n = differ[0]
        raise AssertionError(f"beat {n}\n  got      {block.describe(out[n], config)}\n  expected {block.describe(expected[n], config)}")
    assert len(out) == len(expected) > 0
    return out


def check_paces(stem, config, count):
    """``count`` random beats in, at every pair of paces."""
    block = catalogue.block(stem)
    total = 0
    for n, source in enumerate(PACES):
        for sink in PACES:
            rows = block.bench.requests(np.random.default_rng((n, PACES.index(sink))), count, block.parameters(config))
            total += len(check(stem, config, rows, (source, sink), seed=n))
    assert total > 0
