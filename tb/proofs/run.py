# SPDX-License-Identifier: BSD-2-Clause
"""One run: proofs side by side, and what became of each."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from fixfunc.cosim.progress import Steps
from fixfunc.cosim.toolchain import BUILD
from fixfunc.tb.proofs.engine.proof import Proof
from fixfunc.tb.proofs.engine.solver import PROVED, Verdict, environment

FOLDER = BUILD / "proofs"


class Outcome(NamedTuple):
    """A proof, and what the solver said."""

    proof: Proof
    verdict: Verdict

    @property
    def good(self) -> bool:
        """It is proved."""
        return self.verdict.result == PROVED


def prove(proofs: list[Proof], step: Steps, workers: int | None = None) -> list[Outcome]:
    """Run proofs; each one searches with two processes of its own.

    Raises
    ------
    fixfunc.cosim.toolchain.ToolError
        A tool is missing, or fails.
    """
    environment()
    verdicts = {}
    step(f"{len(proofs)} proofs")

    def one(proof: Proof) -> None:
        verdict = verdicts[proof.name] = proof.run(FOLDER / proof.name)
        step.note(f"{len(verdicts)} of {len(proofs)} proofs")
        if verdict.result != PROVED:
            step(f"{proof.name}: {verdict.result}: {verdict.reason}")

    with ThreadPoolExecutor(workers or max(1, (os.cpu_count() or 1) // 2)) as threads:
        list(threads.map(one, proofs))
    return [Outcome(proof, verdicts[proof.name]) for proof in proofs]


def table(outcomes: list[Outcome]) -> str:
    """A line for each proof: name, method, time, result."""
    rows = [
        (one.proof.name, one.proof.method, f"{one.verdict.seconds:.1f} s", one.verdict.result)
        for one in outcomes
    ]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    )
