"""Runs a block's bench as a test; a failure runs again with waves and says how to repeat it."""

import os

from cosim import catalogue, runner


def check_bench(stem, config, simulator):
    """Every test of a block's bench passes, and there is at least one."""
    block = catalogue.block(stem)
    seed = int(os.environ.get("SEED", "1"))
    result = runner.run(block, config, simulator, seed)
    assert result.tests, f"no test ran\n{result.log[-2000:]}"
    if result.failures:
        again = runner.run(block, config, simulator, seed, waves=True, tests=result.failures[0][0].split("/")[0])
        raise AssertionError("\n".join([
            *(f"{name}: {message}" for name, message in result.failures), f"waves: {again.waves}",
            f"reproduce: {runner.reproduce(block, config, simulator, seed)}"]))
