# SPDX-License-Identifier: BSD-2-Clause
"""Runs a block's bench as a test; a failure runs again with waves and says how to repeat it."""

from fixfunc.cosim import catalogue, runner
from tests import tiers

ONE_PAIR = "^(?!.*(source|sink)=(full|bursty|starved))"  # of paces: random, where a test has several


def check_bench(stem, config, simulator):
    """Every test of a block's bench passes, and there is at least one."""
    block, seed = catalogue.block(stem), tiers.SEED
    tests, simulator = ONE_PAIR if simulator == "icarus" else None, simulator.removesuffix("_every_pace")
    result = runner.run(block, config, simulator, seed, tests=tests)
    assert result.tests, f"no test ran\n{result.log[-2000:]}"
    if result.failures:
        again = runner.run(block, config, simulator, seed, waves=True, tests=result.failures[0][0].split("/")[0])
        raise AssertionError("\n".join([
            *(f"{name}: {message}" for name, message in result.failures), f"waves: {again.waves}",
            f"reproduce: {runner.reproduce(block, config, simulator, seed)}"]))
