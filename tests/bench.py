# SPDX-License-Identifier: BSD-2-Clause
"""Runs a block's bench as a test; a failure runs again with waves and says how to repeat it.

Every pair of paces takes its turn in the volume tier, which is fast. In ``make test`` a bench runs
one pair on Icarus, which is slow and adds X, or four on Verilator; ``make qualify`` runs all.
"""

from fixfunc.cosim.simulation import runner
from fixfunc.tb import catalogue
from tests import tiers

# of paces, source and sink, as a regular expression of the names of tests; tests without paces run
# too
PAIRS = {
    "icarus": "^(?!.*(source|sink)=(full|bursty|starved))",
    "verilator": r"^(?!.*source=\w+/sink=)|source=(full/sink=full|random/sink=random|"
    "bursty/sink=starved|starved/sink=bursty)",
}


def check_bench(stem, config, simulator, tests=None):
    """Every test of a block's bench passes, and there is at least one.

    ``tests`` is a regular expression of their names; without it, those of the tier.
    """
    block = catalogue.block(stem)
    seed = tiers.SEED
    tests = tests or PAIRS.get(simulator)
    simulator = simulator.removesuffix("_every_pace")
    result = runner.run(block, config, simulator, seed, tests=tests)
    assert result.tests, f"no test ran\n{result.log[-2000:]}"
    if result.failures:
        again = runner.run(
            block, config, simulator, seed, waves=True, tests=result.failures[0][0].split("/")[0]
        )
        raise AssertionError(
            "\n".join(
                [
                    *(f"{name}: {message}" for name, message in result.failures),
                    f"waves: {again.waves}",
                    f"reproduce: {runner.reproduce(block, config, simulator, seed)}",
                ]
            )
        )
