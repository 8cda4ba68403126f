# SPDX-License-Identifier: BSD-2-Clause
"""One run: mutants of a block are drawn, built together, and judged one by one."""

import os
import shlex
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from fixfunc.cosim.progress import Steps
from fixfunc.cosim.simulation.bench import Bench
from fixfunc.cosim.toolchain import ROOT
from fixfunc.cosim.verilog import sources
from fixfunc.spec.errors import InputError
from fixfunc.tb.mutation import places
from fixfunc.tb.mutation.equivalent import Waiver, waiver, waivers
from fixfunc.tb.mutation.judge import Verdict, judging, test_files
from fixfunc.tb.mutation.places import Mutant
from fixfunc.tb.mutation.trace import traced

CONFIG = "tiny"
MUTANTS = 40  # in a row of the page


class Outcome(NamedTuple):
    """A mutant, what the tests said, and its waiver, if it has one."""

    mutant: Mutant
    verdict: Verdict
    waiver: Waiver | None

    @property
    def survives(self) -> bool:
        """No test kills it, and it is not known to be equivalent."""
        return not self.verdict.killed and self.waiver is None


def digest(block: Bench, config: str = CONFIG, count: int = MUTANTS) -> str:
    """Hash of all that decides a run's outcome but its seed, found without a run."""
    tests = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in test_files(block)]
    waived = [repr(its) for its in waivers() if its.block == block.stem]
    modules = [block.bench.__name__, __name__, *tests]
    return sources.behind(modules, block.digest(config), f"{count}", *waived)


def chosen(block: Bench, config: str, count: int, seed: int, names: list[str]) -> list[Mutant]:
    """The mutants of a run: those of these names, or as many as are wanted."""
    every = places.all_mutants(block, config)
    if not names:
        return places.draw(every, count, seed)
    for name in names:
        if not any(name in (mutant.name, mutant.change) for mutant in every):
            raise InputError(f"mutant of {block.stem} ({config})", "be one that it has", name)
    return [mutant for mutant in every if mutant.name in names or mutant.change in names]


def mutate(
    block: Bench, config: str, mutants: list[Mutant], step: Steps, workers: int | None = None
) -> list[Outcome]:
    """Judge mutants by the block's own tests.

    Raises
    ------
    fixfunc.cosim.toolchain.ToolError
        The tests fail without a mutant.
    """
    numbers = {mutant.site: n for n, mutant in enumerate(mutants, 1)}
    title = f"{block.stem} ({config})"
    with (
        traced(places.own_files(block)) as trace,
        judging(block, config, numbers, trace) as judge,
    ):
        step(f"{title}: building {len(mutants)} mutants, and testing without one")
        tests = judge.baseline()
        step(f"{title}: {len(tests)} tests judge, {sum(tests.values()):.0f} s")
        verdicts = {}

        def judged(mutant: Mutant) -> None:
            verdict = verdicts[mutant] = judge.judge(numbers[mutant.site])
            killed = sum(done.killed for done in verdicts.values())
            step.note(f"{title}: {killed} killed of {len(verdicts)}, {len(mutants)} in all")
            if not verdict.killed and not waiver(mutant, block.stem):
                step(f"survives: {mutant.name}")

        with ThreadPoolExecutor(workers or os.cpu_count()) as threads:
            list(threads.map(judged, mutants))
    return [Outcome(mutant, verdicts[mutant], waiver(mutant, block.stem)) for mutant in mutants]


def repeat(block: Bench, config: str, mutant: Mutant) -> str:
    """A line that runs one mutant again."""
    return (
        f"python -m fixfunc.tb mutate {block.stem} --config {config} "
        f"--mutant {shlex.quote(mutant.name)}"
    )
