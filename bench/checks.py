# SPDX-License-Identifier: BSD-2-Clause
"""What the volume tier's protocol checks cost: clocks a second with them, and without.

``python -m bench.checks`` prints a table. The two kinds of runs take turns, and the fastest of each
counts: other work on the machine slows both.
"""

import numpy as np

from fixfunc.cosim.simulation import volume
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.tb import catalogue

BLOCKS = {
    "edge_evaluator": "tiny",
    "triangle_setup": "tiny",
    "tile_rasterizer": "tiny",
    "tile_cache": "tiny",
    "top": "tiny",
}
BEATS = 3000
TURNS = 7
CHECKS = (
    "size_t size) {",  # of an offer, stream or channel
    "void check(const Address &burst) const {",
)


def rate(block: Bench, built: volume.Volume, config: str) -> float:
    """Clocks a second of one run."""
    rows = block.bench.requests(np.random.default_rng(0), BEATS, block.parameters(config))
    run = block.run(built, rows, 1 << 20, config)
    return run.simulated / run.seconds


def rates(block: Bench, config: str) -> tuple[float, float]:
    """Clocks a second with the checks, and without."""
    with_checks = block.volume(config)
    shim = volume.shim
    volume.shim = lambda *of: unchecked(shim(*of))
    try:
        without = block.volume(config)
    finally:
        volume.shim = shim
    turns = [[rate(block, built, config) for built in (with_checks, without)] for _ in range(TURNS)]
    return tuple(map(max, zip(*turns, strict=True)))


def unchecked(source: str) -> str:
    """The C++ around a block, its checks empty."""
    for head in CHECKS:
        source = source.replace(head, f"{head} return;")
    return source


if __name__ == "__main__":
    print("| block | clocks/s | without checks | cost |\n|---|---|---|---|")
    for stem, config in BLOCKS.items():
        checked, bare = rates(catalogue.block(stem), config)
        cost = f"{1 - checked / bare:.1%}"
        print(f"| {stem} ({config}) | {checked:,.0f} | {bare:,.0f} | {cost} |", flush=True)
